/*
 * load.c - what /proc tells of all CPUs together: stat, uptime.
 *
 * The counts are the run queues' own (add_cpu_info()), each right, though not all of one moment.
 */
#include "fs/proc/proc.h"
#include "kernel/proc/process.h"

/* Of all CPUs. */
static struct cpu_info all_cpus(void)
{
	struct cpu_info sum = {0};

	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		add_cpu_info(&sum, cpu);
	return sum;
}

static void cpu_line(struct text *out, const struct cpu_info *info)
{
	text_printf(out, " %llu 0 %llu %llu 0 0 0 0 0 0\n", proc_ticks(info->user_ns),
		    proc_ticks(info->system_ns), proc_ticks(info->idle_ns));
}

static void stat_show(struct text *out, const struct proc_entry *entry)
{
	struct cpu_info sum = all_cpus();
	u64 interrupts = 0;

	text_printf(out, "cpu ");
	cpu_line(out, &sum);
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		struct cpu_info one = {0};

		add_cpu_info(&one, cpu);
		text_printf(out, "cpu%u", cpu);
		cpu_line(out, &one);
		interrupts += cpus[cpu].interrupts;
	}
	text_printf(out, "intr %llu\nctxt %llu\nbtime %llu\n", interrupts, sum.switches,
		    (realtime_ns() - ktime_ns()) / NSEC_PER_SEC);
	text_printf(out, "processes %llu\nprocs_running %u\nprocs_blocked 0\n", total_forks,
		    sum.runnable);
}

static void uptime_show(struct text *out, const struct proc_entry *entry)
{
	unsigned long long up = proc_ticks(ktime_ns()), idle = proc_ticks(all_cpus().idle_ns);

	text_printf(out, "%llu.%02llu %llu.%02llu\n", up / USER_HZ, up % USER_HZ, idle / USER_HZ,
		    idle % USER_HZ);
}

static const struct proc_node load_nodes[] = {
	{"stat", PROC_FILE, .show = stat_show},
	{"uptime", PROC_FILE, .show = uptime_show},
	{NULL},
};

void load_init(void)
{
	proc_register(load_nodes);
}
