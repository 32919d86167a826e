/*
 * cpuinfo.c - /proc/cpuinfo: scripts count the lines that begin with "processor".
 */
#include <arch/cpu.h>
#include <arch/report.h>

#include "core/log/text.h"

void proc_cpuinfo_show(struct text *out, const struct proc_entry *entry)
{
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		text_printf(out, "processor\t: %u\n\n", cpu);
}
