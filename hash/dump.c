/*
 * dump.c - the reports of all four caches: on the console when asked for and at a period, and at
 * shutdown.
 */
#include "hash/cache.h"
#include "core/log/text.h"
#include "core/kernel.h"
#include "core/memory/slab.h"

/* By enum hash_cache_number. */
static struct hash_cache *const caches[] = {&page_cache_hash, &buffer_cache_hash, &inode_cache_hash,
					    &dentry_cache_hash};

void hash_report_all(void)
{
	struct text out = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(caches); i++)
		hash_report_text(caches[i], &out);
	lock_report_text(&out, NULL);
	/* A line at a time, since interrupts are off meanwhile. */
	for (char *line = out.data, *end = line + out.length, *next; line < end; line = next) {
		next = 1 + (char *)(memchr(line, '\n', (size_t)(end - line)) ?: end - 1);
		console_write(line, (size_t)(next - line), true);
	}
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

void hash_report_shutdown(const char *kind)
{
	bool json = strcmp(kind, "json") == 0;

	if (strcmp(kind, "text") == 0)
		hash_report_all();
	else if (!json)
		pr_warn("stats=%s: there are stats=json and stats=text\n", kind);
	/* To the program that started the machine, a record for each cache. */
	for (unsigned i = 0; json && i < ARRAY_SIZE(caches); i++) {
		struct text out = {0};

		hash_record(i, HASH_REPORT, NULL, 0, 0, NULL, 0);
		hash_report_json(caches[i], &out);
		if (out.error)
			pr_err("no memory for the statistics of the %s cache\n", caches[i]->name);
		else
			control_record("stats", out.data, out.length);
		kfree(out.data);
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
