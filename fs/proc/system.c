/*
 * system.c - the files of /proc that are about the machine: memory, clocks, hash caches, switches.
 */
#include "fs/block.h"
#include "fs/proc/process_info.h"
#include "fs/proc/proc.h"
#include "hash/cache.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/export.h"
#include "kernel/core/jobctl.h"
#include "kernel/core/random.h"
#include "kernel/core/system_name.h"

#undef KB
#define KB(pages) ULL((pages) << (PAGE_SHIFT - 10))

/* ---- memory ---------------------------------------------------------------------------------- */

static void meminfo_show(struct text *out, const struct proc_entry *entry)
{
	u64 used[MEMORY_USES], free = page_alloc_free_pages();

	for (unsigned i = 0; i < MEMORY_USES; i++)
		used[i] = memory_use_total(i);
	const struct {
		const char *name;
		u64 pages;
	} rows[] = {
		{"MemTotal", page_alloc_total_pages()},
		{"MemFree", free},
		{"MemAvailable", free + used[MEMORY_CACHED] - used[MEMORY_SHMEM] +
					 used[MEMORY_BUFFER] + used[MEMORY_SLAB_RECLAIMABLE]},
		{"Buffers", used[MEMORY_BUFFER]},
		{"Cached", used[MEMORY_CACHED]},
		{"SwapCached", 0},
		{"SwapTotal", 0},
		{"SwapFree", 0},
		{"Dirty", used[MEMORY_DIRTY]},
		{"AnonPages", used[MEMORY_ANON]},
		{"Mapped", used[MEMORY_MAPPED]},
		{"Shmem", used[MEMORY_SHMEM]},
		{"Slab", used[MEMORY_SLAB]},
		{"SReclaimable", used[MEMORY_SLAB_RECLAIMABLE]},
		{"SUnreclaim", used[MEMORY_SLAB] - used[MEMORY_SLAB_RECLAIMABLE]},
		{"KernelStack", used[MEMORY_KERNEL_STACKS]},
		{"PageTables", used[MEMORY_PAGE_TABLES]},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		text_printf(out, "%s:%*llu kB\n", rows[i].name, (int)(23 - strlen(rows[i].name)),
			    KB(rows[i].pages));
}

static void slab_line(const struct slab_info *info, void *out)
{
	text_printf(out, "%-17s %6llu %6llu %6llu : pages %6llu\n", info->name,
		    ULL(info->objects_active), ULL(info->objects_total), ULL(info->object_size),
		    ULL(info->pages));
}

static void slabinfo_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out,
		    "# name            <active_objs> <num_objs> <objsize> : pages <num_pages>\n");
	slab_for_each(slab_line, out);
}

/* What is written is one number. */
static bool read_number(const char *text, u64 *value)
{
	const char *end;

	*value = memparse(text, &end);
	return end != text && (!*end || *end == '\n');
}

/* 1: clean pages; 2: unused dentries and inodes; 3: both. */
static int drop_caches_write(const char *text, size_t length)
{
	u64 what;

	if (!read_number(text, &what) || what < 1 || what > 3)
		return -EINVAL;
	if (what & 2) {
		while (shrink_dcache(~0ULL))
			continue;
		while (shrink_icache(~0ULL))
			continue;
	}
	if (what & 1)
		drop_page_cache();
	return 0;
}

/* ---- time and load --------------------------------------------------------------------------- */

static void stat_show(struct text *out, const struct proc_entry *entry)
{
	struct cpu_info info[NR_CPUS + 1] = {}, *sum = &info[nr_cpus];
	struct system_info s;

	system_info(&s);
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		system_cpu_info(cpu, &info[cpu]);
		sum->user_ns += info[cpu].user_ns;
		sum->system_ns += info[cpu].system_ns;
		sum->idle_ns += info[cpu].idle_ns;
	}
	for (unsigned i = 0, cpu = nr_cpus; i <= nr_cpus; i++, cpu = i - 1) {
		text_printf(out, i ? "cpu%u" : "cpu ", cpu);
		text_printf(out, " %llu 0 %llu %llu 0 0 0 0 0 0\n", proc_ticks(info[cpu].user_ns),
			    proc_ticks(info[cpu].system_ns), proc_ticks(info[cpu].idle_ns));
	}
	text_printf(out, "intr %llu\nctxt %llu\nbtime %llu\n", ULL(s.interrupts),
		    ULL(s.context_switches), ULL((realtime_ns() - ktime_ns()) / NSEC_PER_SEC));
	text_printf(out, "processes %llu\nprocs_running %u\nprocs_blocked 0\n", ULL(s.forks),
		    s.runnable);
}

static void uptime_show(struct text *out, const struct proc_entry *entry)
{
	struct system_info s;

	system_info(&s);
	text_printf(out, "%llu.%02llu %llu.%02llu\n", proc_ticks(s.uptime_ns) / USER_HZ,
		    proc_ticks(s.uptime_ns) % USER_HZ, proc_ticks(s.idle_ns) / USER_HZ,
		    proc_ticks(s.idle_ns) % USER_HZ);
}

static void loadavg_show(struct text *out, const struct proc_entry *entry)
{
	struct system_info s;

	system_info(&s);
	for (int i = 0; i < 3; i++)
		text_printf(out, "%llu.%02llu ", ULL(s.load[i] >> 16),
			    ULL((s.load[i] & 0xffff) * 100 >> 16));
	text_printf(out, "%u/%u %d\n", s.runnable, s.tasks, s.last_pid);
}

static void cpuinfo_show(struct text *out, const struct proc_entry *entry)
{
	char lines[512];

	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		text_write(out, lines, system_cpu_text(cpu, lines, sizeof(lines)));
}

/* ---- names and devices ----------------------------------------------------------------------- */

static void version_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "Linux version %s (chainwalk) %s\n", SYSTEM_RELEASE, SYSTEM_VERSION);
}

/* What a function without arguments, the node's data, says. */
static void line_show(struct text *out, const struct proc_entry *entry)
{
	const char *(*line)(void) = entry->node->data;

	text_printf(out, "%s\n", line());
}

static void hostname_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%s\n", system_node_name);
}

static int hostname_write(const char *text, size_t length)
{
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\0'))
		length--;
	return set_node_name(text, length);
}

static void filesystems_show(struct text *out, const struct proc_entry *entry)
{
	for (struct filesystem *const *type = filesystems; *type; type++)
		text_printf(out, "%s\t%s\n", (*type)->needs_device ? "" : "nodev", (*type)->name);
}

static void partitions_show(struct text *out, const struct proc_entry *entry)
{
	struct block_device *device = NULL;

	text_printf(out, "major minor  #blocks  name\n\n");
	while ((device = next_block_device(device)) != NULL)
		text_printf(out, "%4u  %7u %10llu %s\n", MAJOR(device->dev), MINOR(device->dev),
			    ULL(device->sectors / 2), device->name);
}

/* A new one for each reader, or (the node's data) the same until the end. */
static void uuid_show(struct text *out, const struct proc_entry *entry)
{
	static u8 boot_id[16];
	u8 fresh[16], *id = entry->node->data ? boot_id : fresh;

	if (id == fresh || !boot_id[6]) {
		get_random_bytes(id, 16);
		id[6] = (id[6] & 0x0f) | 0x40; /* version 4, random; RFC 4122 */
		id[8] = (id[8] & 0x3f) | 0x80;
	}
	for (int i = 0; i < 16; i++)
		text_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
	text_printf(out, "\n");
}

static void self_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%d", current_process_id());
}

static void thread_self_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%d/task/%d", current_process_id(), current->pid);
}

/* ---- the hash caches, and the end of the run ------------------------------------------------- */

static void hash_show(struct text *out, const struct proc_entry *entry)
{
	hash_report_text(entry->node->data, out);
}

static void hash_json_show(struct text *out, const struct proc_entry *entry)
{
	hash_report_json(entry->node->data, out);
	text_printf(out, "\n");
}

static void locks_show(struct text *out, const struct proc_entry *entry)
{
	lock_report_text(out);
}

static int dump_write(const char *text, size_t length)
{
	hash_report_all();
	return 0;
}

/* "exit N": the job's status, for the harness. */
static int exit_write(const char *text, size_t length)
{
	u64 status;

	if (strncmp(text, "exit ", 5) || !read_number(text + 5, &status) || status > 255)
		return -EINVAL;
	control_recordf("exit", "{\"status\":%d}", (int)status);
	return 0;
}

/* A moment's name, for the harness: when the job began, when a measured part did. */
static int mark_write(const char *text, size_t length)
{
	char name[128];

	if (!json_escape(name, sizeof(name), text,
			 length && text[length - 1] == '\n' ? length - 1 : length))
		return -EINVAL;
	control_recordf("mark", "{\"name\":\"%s\",\"ns\":%llu}", name,
			(unsigned long long)ktime_ns());
	return 0;
}

/* As Linux's: c panics at once, to see what a harness makes of it; t prints the four reports. */
static int sysrq_write(const char *text, size_t length)
{
	switch (length ? text[0] : 0) {
	case 'c':
		panic("sysrq triggered a crash");
	case 't':
		hash_report_all();
		return 0;
	default:
		return -EINVAL;
	}
}

#define STRING_NODE(name_, text_) FILE_NODE(name_, proc_show_string, .data = text_ "\n")
#define HASH_NODES(cache)                                                                          \
	FILE_NODE(#cache, hash_show, .data = &cache##_cache_hash),                                 \
		FILE_NODE(#cache ".json", hash_json_show, .data = &cache##_cache_hash)

static const struct proc_node hash_nodes[] = {
	HASH_NODES(page),
	HASH_NODES(buffer),
	HASH_NODES(inode),
	HASH_NODES(dentry),
	WRITE_NODE("dump", dump_write),
	END_NODE,
};

static const struct proc_node chainwalk_nodes[] = {
	FILE_NODE("locks", locks_show),
	WRITE_NODE("exit", exit_write),
	WRITE_NODE("mark", mark_write),
	END_NODE,
};

static const struct proc_node random_nodes[] = {
	FILE_NODE("boot_id", uuid_show, .data = "same"),
	FILE_NODE("uuid", uuid_show),
	STRING_NODE("entropy_avail", "256"),
	STRING_NODE("poolsize", "256"),
	END_NODE,
};

static const struct proc_node sys_kernel_nodes[] = {
	{"hostname", S_IFREG | 0644, hostname_show, .write = hostname_write},
	STRING_NODE("domainname", "(none)"),
	STRING_NODE("osrelease", SYSTEM_RELEASE),
	STRING_NODE("ostype", "Linux"),
	STRING_NODE("version", SYSTEM_VERSION),
	STRING_NODE("pid_max", "32768"),
	STRING_NODE("ngroups_max", "65536"),
	STRING_NODE("cap_last_cap", "40"),
	DIR_NODE("random", random_nodes),
	END_NODE,
};

static const struct proc_node sys_vm_nodes[] = {
	WRITE_NODE("drop_caches", drop_caches_write),
	END_NODE,
};

static const struct proc_node sys_nodes[] = {
	DIR_NODE("kernel", sys_kernel_nodes),
	DIR_NODE("vm", sys_vm_nodes),
	END_NODE,
};

const struct proc_node proc_root_nodes[] = {
	LINK_NODE("self", self_show),
	LINK_NODE("thread-self", thread_self_show),
	LINK_NODE("mounts", proc_show_string, .data = "self/mounts"),
	FILE_NODE("meminfo", meminfo_show),
	FILE_NODE("stat", stat_show),
	FILE_NODE("uptime", uptime_show),
	FILE_NODE("loadavg", loadavg_show),
	FILE_NODE("cpuinfo", cpuinfo_show),
	FILE_NODE("version", version_show),
	FILE_NODE("filesystems", filesystems_show),
	FILE_NODE("partitions", partitions_show),
	FILE_NODE("cmdline", line_show, .data = cmdline_text),
	FILE_NODE("slabinfo", slabinfo_show),
	WRITE_NODE("sysrq-trigger", sysrq_write),
	DIR_NODE("sys", sys_nodes),
	DIR_NODE("hash", hash_nodes),
	DIR_NODE("chainwalk", chainwalk_nodes),
	END_NODE,
};
