/*
 * dump.c - the reports of all caches: on the console when asked for and at a period, and at
 * shutdown.
 */
#include "core/kernel.h"
#include "core/log/text.h"
#include "core/memory/slab.h"
#include "hash/cache.h"

extern struct hash_cache *const __start_hash_caches[], *const __stop_hash_caches[];

/* The cache of this number, or NULL: there is none in this kernel. */
static struct hash_cache *cache_of(enum hash_cache_number number)
{
	for (struct hash_cache *const *at = __start_hash_caches; at < __stop_hash_caches; at++)
		if ((*at)->number == number)
			return *at;
	return NULL;
}

#define for_each_cache(cache)                                                                      \
	for (enum hash_cache_number number = 0; number < HASH_CACHES; number++)                    \
		if ((cache = cache_of(number)))

static void write_lines(const struct text *text)
{
	const char *end = text->data + text->length;

	/* A line at a time, since interrupts are off meanwhile. */
	for (const char *line = text->data; line < end;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *next = newline ? newline + 1 : end;

		console_write(line, (size_t)(next - line), AS_LINES);
		line = next;
	}
}

void hash_report_all(void)
{
	struct text out = {0};
	struct hash_cache *cache;

	for_each_cache (cache)
		hash_report_text(cache, &out);
	lock_report_text(&out, NULL);
	write_lines(&out);
	if (out.error)
		pr_err("no memory for all of the statistics\n");
	kfree(out.data);
}

void lock_report_text(struct text *out, const struct proc_entry *unused)
{
	text_printf(out, "%-24s %12s %14s\n", "lock waited for", "times", "spins");
	for (unsigned i = 0; i < READ_ONCE(lock_class_count); i++) {
		const struct lock_class *class = &lock_classes[i];
		s64 contended = atomic_read(&class->contended);

		if (contended)
			text_printf(out, "%-24s %12lld %14lld\n", class->name, contended,
				    atomic_read(&class->spins));
	}
}

/* To the program that started the machine, a record. */
static void send_record(struct hash_cache *cache)
{
	struct text out = {0};

	hash_record(cache->number, HASH_REPORT, NULL, 0, 0, NULL, 0);
	hash_report_json(cache, &out);
	if (out.error)
		pr_err("no memory for the statistics of the %s cache\n", cache->name);
	else
		control_record("stats", out.data, out.length);
	kfree(out.data);
}

void hash_report_shutdown(const char *kind)
{
	struct hash_cache *cache;

	if (strcmp(kind, "text") == 0) {
		hash_report_all();
	} else if (strcmp(kind, "json") == 0) {
		for_each_cache (cache)
			send_record(cache);
	} else {
		pr_warn("stats=%s: there are stats=json and stats=text\n", kind);
	}
}

static DEFINE_WAIT_QUEUE(report_wait);
static bool requested;

void hash_report_request(void)
{
	requested = true;
	wake_up(&report_wait);
}

void hash_report_serve(void)
{
	u64 seconds = 0;

	cmdline_u64("stats_period", &seconds);
	for (;;) {
		u64 next = seconds ? ktime_ns() + seconds * NSEC_PER_SEC : ~0ULL;

		wait_event_until(report_wait, xchg(&requested, false), TASK_UNINTERRUPTIBLE, next);
		hash_report_all();
	}
}
