/*
 * system.c - the files of /proc that are about the machine: memory, clocks, hash caches, switches.
 */
#include "fs/proc/process_info.h"
#include "fs/proc/proc.h"
#include "hash/cache.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/export.h"
#include "kernel/core/assert.h"
#include "kernel/core/string.h"
#include "kernel/core/time.h"
#include "mm/slab.h"

#define USER_HZ 100
#define KILOBYTES(pages) ((unsigned long long)(pages) << (PAGE_SHIFT - 10))

static unsigned long long ticks(u64 ns)
{
	return ns / (NSEC_PER_SEC / USER_HZ);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int meminfo_show(struct text *out, pid_t pid)
{
	struct memory_info m;

	memory_info(&m);
	text_printf(out, "MemTotal:       %8llu kB\n", KILOBYTES(m.total_pages));
	text_printf(out, "MemFree:        %8llu kB\n", KILOBYTES(m.free_pages));
	text_printf(out, "MemAvailable:   %8llu kB\n",
		    KILOBYTES(m.free_pages + m.cached_pages - m.shmem_pages + m.buffer_pages +
			      m.reclaimable_slab_pages));
	text_printf(out, "Buffers:        %8llu kB\n", KILOBYTES(m.buffer_pages));
	text_printf(out, "Cached:         %8llu kB\n", KILOBYTES(m.cached_pages));
	text_printf(out, "SwapCached:     %8llu kB\n", 0ULL);
	text_printf(out, "SwapTotal:      %8llu kB\nSwapFree:       %8llu kB\n", 0ULL, 0ULL);
	text_printf(out, "Dirty:          %8llu kB\n", KILOBYTES(m.dirty_pages));
	text_printf(out, "AnonPages:      %8llu kB\n", KILOBYTES(m.anon_pages));
	text_printf(out, "Mapped:         %8llu kB\n", KILOBYTES(m.mapped_pages));
	text_printf(out, "Shmem:          %8llu kB\n", KILOBYTES(m.shmem_pages));
	text_printf(out, "Slab:           %8llu kB\n", KILOBYTES(m.slab_pages));
	text_printf(out, "SReclaimable:   %8llu kB\n", KILOBYTES(m.reclaimable_slab_pages));
	text_printf(out, "KernelStack:    %8llu kB\n", KILOBYTES(m.kernel_stack_pages));
	text_printf(out, "PageTables:     %8llu kB\n", KILOBYTES(m.page_table_pages));
	text_printf(out, "SUnreclaim:     %8llu kB\n",
		    KILOBYTES(m.slab_pages - m.reclaimable_slab_pages));
	return 0;
}

static void slab_line(const struct slab_info *info, void *out)
{
	text_printf(out, "%-17s %6llu %6llu %6llu : pages %6llu\n", info->name,
		    (unsigned long long)info->objects_active,
		    (unsigned long long)info->objects_total, (unsigned long long)info->object_size,
		    (unsigned long long)info->pages);
}

static int slabinfo_show(struct text *out, pid_t pid)
{
	text_printf(out,
		    "# name            <active_objs> <num_objs> <objsize> : pages <num_pages>\n");
	slab_for_each(slab_line, out);
	return 0;
}

static void drop_pages(struct super_block *sb, void *unused)
{
	struct inode *inode, *previous = NULL;

	spin_lock(&sb->inodes_lock);
	list_for_each_entry(inode, &sb->inodes, sb_link) {
		bool live;

		spin_lock(&inode->spin);
		live = !(inode->flags & (I_FREEING | I_NEW)) && inode->data.nr_pages;
		if (live)
			ihold(inode);
		spin_unlock(&inode->spin);
		if (!live)
			continue;
		spin_unlock(&sb->inodes_lock);
		invalidate_inode_pages(&inode->data);
		if (previous)
			iput(previous); /* only now: it kept our place in the list */
		previous = inode;
		spin_lock(&sb->inodes_lock);
	}
	spin_unlock(&sb->inodes_lock);
	if (previous)
		iput(previous);
}

/* 1: clean pages; 2: unused dentries and inodes; 3: both. */
static int drop_caches_write(const char *text, size_t length)
{
	u64 what;

	if (kstrtou64(text, 0, &what) || what < 1 || what > 3)
		return -EINVAL;
	if (what & 2) {
		while (shrink_dcache(~0ULL))
			continue;
		while (shrink_icache(~0ULL))
			continue;
	}
	if (what & 1)
		for_each_super(drop_pages, NULL);
	return 0;
}

/* ---- time and load --------------------------------------------------------------------------- */

static int stat_show(struct text *out, pid_t pid)
{
	struct system_info s;
	struct cpu_info c, sum = {0, 0, 0};

	system_info(&s);
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		system_cpu_info(cpu, &c);
		sum.user_ns += c.user_ns;
		sum.system_ns += c.system_ns;
		sum.idle_ns += c.idle_ns;
	}
	text_printf(out, "cpu  %llu 0 %llu %llu 0 0 0 0 0 0\n", ticks(sum.user_ns),
		    ticks(sum.system_ns), ticks(sum.idle_ns));
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		system_cpu_info(cpu, &c);
		text_printf(out, "cpu%u %llu 0 %llu %llu 0 0 0 0 0 0\n", cpu, ticks(c.user_ns),
			    ticks(c.system_ns), ticks(c.idle_ns));
	}
	text_printf(
		out,
		"intr %llu\nctxt %llu\nbtime %llu\nprocesses %llu\nprocs_running %u\nprocs_blocked 0\n",
		(unsigned long long)s.interrupts, (unsigned long long)s.context_switches,
		(unsigned long long)((realtime_ns() - ktime_ns()) / NSEC_PER_SEC),
		(unsigned long long)s.forks, s.runnable);
	return 0;
}

static int uptime_show(struct text *out, pid_t pid)
{
	struct system_info s;

	system_info(&s);
	text_printf(out, "%llu.%02llu %llu.%02llu\n", ticks(s.uptime_ns) / USER_HZ,
		    ticks(s.uptime_ns) % USER_HZ, ticks(s.idle_ns) / USER_HZ,
		    ticks(s.idle_ns) % USER_HZ);
	return 0;
}

static int loadavg_show(struct text *out, pid_t pid)
{
	struct system_info s;

	system_info(&s);
	for (int i = 0; i < 3; i++)
		text_printf(out, "%llu.%02llu ", (unsigned long long)(s.load[i] >> 16),
			    (unsigned long long)((s.load[i] & 0xffff) * 100 >> 16));
	text_printf(out, "%u/%u %d\n", s.runnable, s.tasks, s.last_pid);
	return 0;
}

static int cpuinfo_show(struct text *out, pid_t pid)
{
	char *page = get_free_pages(GFP_KERNEL, 0);

	if (!page)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		text_write(out, page, system_cpu_text(cpu, page, PAGE_SIZE));
	free_pages(page, 0);
	return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static int version_show(struct text *out, pid_t pid)
{
	text_printf(out, "Linux version %s (chainwalk) %s\n", system_release(), system_version());
	return 0;
}

static int cmdline_show(struct text *out, pid_t pid)
{
	text_printf(out, "%s\n", cmdline_text());
	return 0;
}

static int filesystems_show(struct text *out, pid_t pid)
{
	for (const struct filesystem *type = first_filesystem(); type; type = type->next)
		text_printf(out, "%s\t%s\n", type->needs_device ? "" : "nodev", type->name);
	return 0;
}

static int hostname_show(struct text *out, pid_t pid)
{
	text_printf(out, "%s\n", system_hostname());
	return 0;
}

static int hostname_write(const char *text, size_t length)
{
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\0'))
		length--;
	return system_set_hostname(text, length);
}

static int osrelease_show(struct text *out, pid_t pid)
{
	text_printf(out, "%s\n", system_release());
	return 0;
}

static int ostype_show(struct text *out, pid_t pid)
{
	text_printf(out, "Linux\n");
	return 0;
}

static int kernel_version_show(struct text *out, pid_t pid)
{
	text_printf(out, "%s\n", system_version());
	return 0;
}

static int pid_max_show(struct text *out, pid_t pid)
{
	text_printf(out, "32768\n");
	return 0;
}

static int self_link(pid_t pid, char *buffer, size_t size)
{
	return snprintf(buffer, size, "%d", process_current());
}

static int mounts_link(pid_t pid, char *buffer, size_t size)
{
	return snprintf(buffer, size, "self/mounts");
}

/* ---- the hash caches, and the end of the run ------------------------------------------------- */

#define HASH_SHOW(cache)                                                                           \
	static int cache##_show(struct text *out, pid_t pid)                                       \
	{                                                                                          \
		hash_report_text(&cache##_cache_hash, out);                                        \
		return 0;                                                                          \
	}                                                                                          \
	static int cache##_json_show(struct text *out, pid_t pid)                                  \
	{                                                                                          \
		hash_report_json(&cache##_cache_hash, out);                                        \
		text_printf(out, "\n");                                                            \
		return 0;                                                                          \
	}
HASH_SHOW(page)
HASH_SHOW(buffer)
HASH_SHOW(inode)
HASH_SHOW(dentry)

static int dump_write(const char *text, size_t length)
{
	hash_report_all();
	return 0;
}

/* "exit N": the job's status, for the harness. */
static int exit_write(const char *text, size_t length)
{
	s64 status;

	if (strncmp(text, "exit ", 5) || kstrtos64(text + 5, 10, &status) || status < 0 ||
	    status > 255)
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

#define FILE_NODE(name_, function) {.name = (name_), .mode = S_IFREG | 0444, .show = (function)}
#define DIR_NODE(name_, nodes) {.name = (name_), .mode = S_IFDIR | 0555, .children = (nodes)}
#define END_NODE {.name = NULL}

static const struct proc_node hash_nodes[] = {
	FILE_NODE("page", page_show),	  FILE_NODE("page.json", page_json_show),
	FILE_NODE("buffer", buffer_show), FILE_NODE("buffer.json", buffer_json_show),
	FILE_NODE("inode", inode_show),	  FILE_NODE("inode.json", inode_json_show),
	FILE_NODE("dentry", dentry_show), FILE_NODE("dentry.json", dentry_json_show),
	{.name = "dump", .mode = S_IFREG | 0200, .write = dump_write},
	END_NODE,
};

static const struct proc_node chainwalk_nodes[] = {
	{.name = "exit", .mode = S_IFREG | 0200, .write = exit_write},
	{.name = "mark", .mode = S_IFREG | 0200, .write = mark_write},
	END_NODE,
};

static const struct proc_node sys_kernel_nodes[] = {
	{.name = "hostname",
	 .mode = S_IFREG | 0644,
	 .show = hostname_show,
	 .write = hostname_write},
	FILE_NODE("osrelease", osrelease_show),
	FILE_NODE("ostype", ostype_show),
	FILE_NODE("version", kernel_version_show),
	FILE_NODE("pid_max", pid_max_show),
	END_NODE,
};

static const struct proc_node sys_vm_nodes[] = {
	{.name = "drop_caches", .mode = S_IFREG | 0200, .write = drop_caches_write},
	END_NODE,
};

static const struct proc_node sys_nodes[] = {
	DIR_NODE("kernel", sys_kernel_nodes),
	DIR_NODE("vm", sys_vm_nodes),
	END_NODE,
};

const struct proc_node proc_root_nodes[] = {
	{.name = "self", .mode = S_IFLNK | 0777, .link = self_link},
	{.name = "mounts", .mode = S_IFLNK | 0777, .link = mounts_link},
	FILE_NODE("meminfo", meminfo_show),
	FILE_NODE("stat", stat_show),
	FILE_NODE("uptime", uptime_show),
	FILE_NODE("loadavg", loadavg_show),
	FILE_NODE("cpuinfo", cpuinfo_show),
	FILE_NODE("version", version_show),
	FILE_NODE("filesystems", filesystems_show),
	FILE_NODE("cmdline", cmdline_show),
	FILE_NODE("slabinfo", slabinfo_show),
	{.name = "sysrq-trigger", .mode = S_IFREG | 0200, .write = sysrq_write},
	DIR_NODE("sys", sys_nodes),
	DIR_NODE("hash", hash_nodes),
	DIR_NODE("chainwalk", chainwalk_nodes),
	END_NODE,
};
