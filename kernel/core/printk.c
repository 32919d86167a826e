/*
 * printk.c - the log ring and the console.
 *
 * The ring holds bytes; positions count bytes since boot and only grow, so a position is at
 * ring[position % LOG_SIZE]. Readers see only whole lines: [log_first, log_complete). log_lock
 * guards the ring, console_lock the console; both are leaves (console_lock inside log_lock). After
 * panic() has stopped the other CPUs, neither is taken any more: their holders will never release
 * them.
 */
#include "kernel/core/cmdline.h"
#include "kernel/core/kernel.h"

#include <arch/power.h>

#define MESSAGE_SIZE 1024

static DEFINE_SPINLOCK(log_lock);
static char ring[LOG_SIZE];
u64 log_first;	 /* oldest whole line */
u64 log_complete; /* after the last newline */
static u64 log_next;	 /* next byte */
static char message[MESSAGE_SIZE];
static int line_level = 6; /* of the line being written */

static DEFINE_SPINLOCK(console_lock);
int console_loglevel = 7;
bool panicking; /* set by panic.c */

static void early_output(const char *text, size_t length)
{
	while (length--)
		arch_early_putc(*text++);
}

void (*console_output)(const char *text, size_t length) = early_output;

unsigned long lock_unless_panicking(spinlock_t *lock)
{
	unsigned long flags = arch_irq_save();

	if (likely(!panicking))
		spin_lock(lock);
	return flags;
}

void unlock_unless_panicking(spinlock_t *lock, unsigned long flags)
{
	if (likely(!panicking))
		spin_unlock(lock);
	arch_irq_restore(flags);
}

void console_write_raw(const char *text, size_t length)
{
	unsigned long flags = lock_unless_panicking(&console_lock);

	console_output(text, length);
	unlock_unless_panicking(&console_lock, flags);
}

void console_write(const char *text, size_t length)
{
	unsigned long flags = lock_unless_panicking(&console_lock);
	const char *newline;

	for (; (newline = memchr(text, '\n', length)); text = newline + 1) {
		console_output(text, (size_t)(newline - text));
		console_output("\r\n", 2);
		length -= (size_t)(newline + 1 - text);
	}
	console_output(text, length);
	unlock_unless_panicking(&console_lock, flags);
}

static void ring_put(const char *text, size_t length)
{
	while (length--)
		ring[log_next++ % LOG_SIZE] = *text++;
	if (log_next - log_first <= LOG_SIZE)
		return;
	log_first = log_next - LOG_SIZE; /* lost: on to the next line's beginning */
	while (log_first < log_next && ring[log_first++ % LOG_SIZE] != '\n')
		;
}

/* One line or a part of one, of line_level, into the ring and, if it matters, onto the console. */
static void put_text(const char *text, size_t length)
{
	if (log_next == log_complete) {
		char head[32];
		u64 us = ktime_ns() / 1000;
		int n = scnprintf(head, sizeof(head), "<%d>[%5llu.%06llu] ", line_level,
				  (unsigned long long)(us / 1000000),
				  (unsigned long long)(us % 1000000));

		ring_put(head, (size_t)n);
		if (line_level < console_loglevel)
			console_write(head + 3, (size_t)n - 3);
	}
	ring_put(text, length);
	if (line_level < console_loglevel)
		console_write(text, length);
	if (text[length - 1] == '\n')
		log_complete = log_next;
}

/* @text may hold several lines; @level -1: continue. Under log_lock. */
static void put_message(int level, const char *text, size_t length)
{
	if (level >= 0) {
		if (log_next != log_complete)
			put_text("\n", 1);
		line_level = level;
	}
	while (length) {
		const char *newline = memchr(text, '\n', length);
		size_t n = newline ? (size_t)(newline - text) + 1 : length;

		put_text(text, n);
		text += n;
		length -= n;
	}
}

void printk(const char *format, ...)
{
	unsigned long flags = lock_unless_panicking(&log_lock);
	const char *text = message;
	va_list arguments;
	int level = -1;
	size_t length;

	va_start(arguments, format);
	length = (size_t)vscnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (length >= 3 && text[0] == '<' && text[2] == '>' && isdigit_ascii(text[1])) {
		level = text[1] - '0';
		text += 3;
		length -= 3;
	}
	put_message(level, text, length);
	unlock_unless_panicking(&log_lock, flags);
}

void log_write_user(int level, const char *text, size_t length)
{
	unsigned long flags = lock_unless_panicking(&log_lock);

	put_message(level, text, length);
	if (log_next != log_complete)
		put_text("\n", 1);
	unlock_unless_panicking(&log_lock, flags);
}

size_t log_read(u64 *position, char *buffer, size_t size)
{
	unsigned long flags = lock_unless_panicking(&log_lock);
	size_t n = 0, whole = 0;
	u64 at;

	if (*position < log_first)
		*position = log_first;
	for (at = *position; at < log_complete && n < size; at++) {
		buffer[n++] = ring[at % LOG_SIZE];
		if (buffer[n - 1] == '\n')
			whole = n;
	}
	*position += whole;
	unlock_unless_panicking(&log_lock, flags);
	return whole;
}

void printk_init(const char *command_line)
{
	int error = cmdline_init(command_line);
	u64 level = cmdline_flag("debug") ? 8 : cmdline_flag("quiet") ? 4 : 7;

	cmdline_u64("loglevel", &level);
	console_loglevel = (int)min_t(u64, level, 8);
	if (error)
		pr_err("command line: too many words or characters, the rest is ignored\n");
}
