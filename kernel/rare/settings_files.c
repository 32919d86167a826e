/*
 * settings_files.c - what few programs ask /proc: of /proc/sys kernel/random, which has UUIDs and
 * tells how much chance there is, and how much there may be of what else; loadavg.
 */
#include <arch/time.h>

#include "core/base/room.h"
#include "core/lock/rwsem.h"
#include "core/random.h"
#include "fs/file/file.h"
#include "fs/proc/proc.h"
#include "kernel/proc/process.h"

/* Of the next 256 bits those that nobody could know: all by the CPU's own generator, else 0. */
static void entropy_show(struct text *out, const struct proc_entry *entry)
{
	u64 value;

	text_printf(out, "%u\n", !random_fixed && arch_random(&value) ? 256 : 0);
}

/* A random UUID (RFC 4122, version 4): a new one, or the first one, which the node's data keeps. */
static void uuid_show(struct text *out, const struct proc_entry *entry)
{
	static DEFINE_MUTEX(uuid_lock);
	u64 *kept = entry->node->data, fresh[2], *id = kept ?: fresh;

	guard(mutex, &uuid_lock);
	if (id == fresh || !id[0]) {
		id[0] = (random_u64() & ~0xf000ULL) | 0x4000;
		id[1] = random_u64() << 2 >> 2 | 1ULL << 63;
	}
	text_printf(out, "%08llx-%04llx-%04llx-%04llx-%012llx\n", id[0] >> 32,
		    id[0] >> 16 & 0xffff, id[0] & 0xffff, id[1] >> 48, id[1] << 16 >> 16);
}

static u64 boot_id[2];

static const struct proc_node random_nodes[] = {
	{"boot_id", PROC_FILE, .show = uuid_show, .data = boot_id},
	{"uuid", PROC_FILE, .show = uuid_show},
	{"entropy_avail", PROC_FILE, .show = entropy_show},
	{NULL},
};

/* The node's data, as a number. */
static void number_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%lu\n", (unsigned long)entry->node->data);
}
#define NUMBER(name, value) name, PROC_FILE, .show = number_show, .data = (void *)(value)

static void max_threads_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%u\n", max_tasks);
}

static void max_files_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%lld\n", (long long)open_files.limit);
}

static void open_files_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%lld\t0\t", (long long)percpu_counter_sum(&open_files));
	max_files_show(out, entry);
}

static const struct proc_node kernel_nodes[] = {
	{"random", PROC_DIR, .children = random_nodes},
	{"threads-max", PROC_FILE, .show = max_threads_show},
	{NUMBER("ngroups_max", NGROUPS_MAX_INLINE)},
	{NUMBER("cap_last_cap", CAP_LAST_CAP)},
	{NULL},
};

static const struct proc_node fs_nodes[] = {
	{"file-nr", PROC_FILE, .show = open_files_show},
	{"file-max", PROC_FILE, .show = max_files_show},
	{NUMBER("nr_open", FILE_TABLE_MAX)},
	{NUMBER("pipe-max-size", PIPE_BYTES)},
	{NULL},
};

/* ---- how busy the CPUs were ------------------------------------------------------------------ */

#define LOAD_PERIOD_NS (5 * NSEC_PER_SEC)

static struct timer load_timer;
static u64 loads[3]; /* << 16 */

static unsigned count_runnable(void)
{
	struct cpu_info sum = {0};

	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		add_cpu_info(&sum, cpu);
	return sum.runnable;
}

/* Exponential decay over 1, 5 and 15 minutes, sampled every 5 seconds: factors exp(-5 s/60 s) ...
 * << 16. */
static void sample_load(void *unused)
{
	static const u64 decay[3] = {60296, 64453, 65173};
	u64 runnable = count_runnable();

	for (int i = 0; i < 3; i++)
		loads[i] = (loads[i] * decay[i] >> 16) + runnable * (65536 - decay[i]);
	timer_start(&load_timer, load_timer.deadline_ns + LOAD_PERIOD_NS);
}

static void loadavg_show(struct text *out, const struct proc_entry *entry)
{
	for (int i = 0; i < 3; i++)
		text_printf(out, "%llu.%02llu ", loads[i] >> 16, (loads[i] & 0xffff) * 100 >> 16);
	text_printf(out, "%u/%u %d\n", count_runnable(), task_count, last_pid);
}

static const struct proc_node load_nodes[] = {
	{"loadavg", PROC_FILE, .show = loadavg_show},
	{NULL},
};

static void settings_files_start(void)
{
	proc_register_kernel(kernel_nodes);
	proc_register_fs(fs_nodes);
	proc_register(load_nodes);
	timer_init(&load_timer, sample_load, NULL);
	timer_start(&load_timer, ktime_ns() + LOAD_PERIOD_NS);
}
ROOM_START(settings_files_start);
