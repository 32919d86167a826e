/*
 * printk.c - the log ring and the console.
 *
 * The ring holds bytes; positions count bytes since boot and only grow, so a position is at
 * ring[position % LOG_SIZE]. Readers see only whole lines: [log_first, log_complete). log_lock
 * guards the ring, console_lock the console; both are leaves (console_lock inside log_lock).
 */
#include "core/kernel.h"
#include "core/log/port.h"

log_port_t *log_port_write;

static DEFINE_SPINLOCK(log_lock);
static char ring[LOG_SIZE];
static u64 log_first; /* oldest whole line */
u64 log_complete;     /* after the last line */

static DEFINE_SPINLOCK(console_lock);
static int console_loglevel = LOG_LEVELS - 1; /* levels below it are printed there */

void console_write(const char *text, size_t length, enum console_text kind)
{
	const char *newline;

	guard(spinlock_irqsave, &console_lock);
	for (; kind == AS_LINES && (newline = memchr(text, '\n', length)); text = newline + 1) {
		log_port_write(CONSOLE, text, (size_t)(newline - text));
		log_port_write(CONSOLE, "\r\n", 2);
		length -= (size_t)(newline + 1 - text);
	}
	log_port_write(CONSOLE, text, length);
}

static void ring_put(const char *text, size_t length)
{
	while (length--)
		ring[log_complete++ % LOG_SIZE] = *text++;
	if (log_complete - log_first <= LOG_SIZE)
		return;
	log_first = log_complete - LOG_SIZE; /* lost: on to the next line's beginning */
	while (log_first < log_complete && ring[log_first++ % LOG_SIZE] != '\n')
		;
}

/* Each line of @text, behind its level "<N>", into the ring and, if it matters, onto the console.
 * log_lock held. */
static void put_message(const char *text, size_t length)
{
	int level = text[1] - '0';
	const char *end = text + length;
	u64 us = ktime_ns() / 1000;

	lockdep_assert_held(&log_lock);
	for (text += 3; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)) ?: end;
		char head[32];
		size_t n = (size_t)scnprintf(head, sizeof(head), "<%d>[%5llu.%06llu] ", level,
					     us / 1000000ull, us % 1000000ull);

		ring_put(head, n);
		ring_put(text, (size_t)(newline - text));
		ring_put("\n", 1);
		if (level < console_loglevel) {
			console_write(head + 3, n - 3, AS_IT_IS);
			console_write(text, (size_t)(newline - text), AS_IT_IS);
			console_write("\r\n", 2, AS_IT_IS);
		}
		text = newline + 1;
	}
}

void printk(const char *format, ...)
{
	static char message[1024];
	va_list arguments;

	guard(spinlock_irqsave, &log_lock);
	va_start(arguments, format);
	put_message(message, (size_t)vscnprintf(message, sizeof(message), format, arguments));
	va_end(arguments);
}

size_t log_read(u64 *position, char *buffer, size_t size)
{
	size_t n = 0, whole = 0;

	guard(spinlock_irqsave, &log_lock);
	*position = max(*position, log_first);
	for (u64 at = *position; at < log_complete && n < size; at++) {
		buffer[n++] = ring[at % LOG_SIZE];
		if (buffer[n - 1] == '\n')
			whole = n;
	}
	*position += whole;
	return whole;
}

void printk_set_level(u64 level)
{
	console_loglevel = (int)min_t(u64, level, LOG_LEVELS);
}
