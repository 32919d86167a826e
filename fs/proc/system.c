/*
 * system.c - the files of /proc that are about the machine: memory, clocks, hash caches, switches.
 */
#include <arch/report.h>

#include "boot/boot_info.h"
#include "fs/block/dirty.h"
#include "fs/inode/lru.h"
#include "fs/direct_hooks.h"
#include "fs/proc/proc.h"
#include "core/memory/slab.h"
#include "hash/cache.h"
#include "mm/space/swap_hooks.h"
#include "core/system_name.h"

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
		{"Cached", used[MEMORY_CACHED] - swap_cached_pages()},
		{"SwapCached", swap_cached_pages()},
		{"SwapTotal", swap_total_pages()},
		{"SwapFree", swap_free_pages()},
		{"Dirty", used[MEMORY_DIRTY]},
		{"AnonPages", used[MEMORY_ANON]},
		{"Shmem", used[MEMORY_SHMEM]},
		{"Slab", used[MEMORY_SLAB]},
		{"SReclaimable", used[MEMORY_SLAB_RECLAIMABLE]},
		{"SUnreclaim", used[MEMORY_SLAB] - used[MEMORY_SLAB_RECLAIMABLE]},
		{"KernelStack", used[MEMORY_KERNEL_STACKS]},
		{"PageTables", used[MEMORY_PAGE_TABLES]},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		text_printf(out, "%s:%*llu kB\n", rows[i].name, (int)(23 - strlen(rows[i].name)),
			    rows[i].pages << (PAGE_SHIFT - 10));
}

/* What is written is one number. */
static bool read_number(const char *text, u64 *value)
{
	const char *end;

	*value = memparse(text, &end);
	return end != text && (!*end || *end == '\n');
}

static void slabinfo_show(struct text *out, const struct proc_entry *entry)
{
	rcu_barrier(); /* what only waits for its end is in use no more */
	slab_show(out, entry);
}

/* 1: clean pages and metadata blocks; 2: unused dentries and inodes; 3: both. */
static int drop_caches_write(const struct proc_entry *entry, const char *text, size_t length)
{
	u64 what;

	if (!read_number(text, &what) || what < 1 || what > 3)
		return -EINVAL;
	if (what & 2) {
		while (lru_shrink(&dentry_lru, NULL, ~0ULL, ~0ULL))
			continue;
		while (lru_shrink(&inode_lru, NULL, ~0ULL, ~0ULL))
			continue;
#ifdef CONFIG_DCACHE_FASTPATH
		direct_forget_all();
#endif
		rcu_barrier(); /* they are free, and so is what was closed before */
	}
	if (what & 1) {
		drop_clean_pages();
		for (unsigned vain = 0; vain < 2; vain++) /* the recently used have two lives */
			while (shrink_buffers(0))
				vain = 0;
	}
	return 0;
}

/* ---- mounts ---------------------------------------------------------------------------------- */

static const struct {
	unsigned flag;
	const char *name;
} mount_options[] = {
	{SB_NOSUID, "nosuid"},	 {SB_NODEV, "nodev"},		 {SB_NOEXEC, "noexec"},
	{SB_NOATIME, "noatime"}, {SB_NODIRATIME, "nodiratime"}, {MS_RELATIME, "relatime"},
};

static void print_field(struct text *out, const char *name)
{
	text_escaped(out, name, " \t\n\\");
	text_write(out, " ", 1);
}

/* @buffer: two pages. @details: as mountinfo has them. */
static void mount_line(struct text *out, struct mount *mount, const struct path *root,
		       char *buffer, bool details)
{
	struct super_block *sb = mount->sb;
	unsigned flags = mount->flags | (details ? 0 : sb->flags & SB_RDONLY);
	/* so that the way from the file system's root is told, as if nothing were above it */
	struct mount alone = {.root = sb->root, .parent = &alone};
	struct path place = {mount, mount->root}, inside = {&alone, mount->root},
		    top = {&alone, sb->root};
	char *at = d_path(&place, root, buffer, PAGE_SIZE);
	char *from = d_path(&inside, &top, buffer + PAGE_SIZE, PAGE_SIZE);
	const char *rights = sb->flags & SB_RDONLY ? "ro" : "rw";

	/* that what is mounted has lost its name is not told of where it is mounted */
	buffer[PAGE_SIZE - 1 - (d_unlinked(mount->root) ? strlen(" (deleted)") : 0)] = '\0';
	if (IS_ERR(at) || IS_ERR(from) || *at != '/')
		return; /* outside the process's root */
	if (details)
		text_printf(out, "%d %d %u:%u ", mount->id, mount->parent->id, MAJOR(sb->dev),
			    MINOR(sb->dev));
	print_field(out, details ? from : mount->device_name);
	print_field(out, at);
	if (!details)
		print_field(out, sb->type->name);
	text_printf(out, "%s", flags & SB_RDONLY ? "ro" : "rw");
	for (unsigned i = 0; i < ARRAY_SIZE(mount_options); i++)
		if (flags & mount_options[i].flag)
			text_printf(out, ",%s", mount_options[i].name);
	if (details) {
		text_printf(out, " - %s ", sb->type->name);
		print_field(out, mount->device_name);
	}
	text_printf(out, "%s\n", details ? rights : " 0 0");
}

void proc_mounts_show(struct text *out, const struct proc_entry *entry)
{
	struct path root __free(path) = {0};
	struct mount *mount;
	char *buffer __free(kfree) = kmalloc(2 * PAGE_SIZE, GFP_KERNEL);

	out->error = buffer ? proc_processes->root(entry->pid, &root) : -ENOMEM;
	if (out->error)
		return;
	guard(mutex, &mount_mutex);
	list_for_each_entry (mount, &mounts, link)
		mount_line(out, mount, &root, buffer, entry->node->data != NULL);
}

/* ---- names and devices ----------------------------------------------------------------------- */

static void filesystems_show(struct text *out, const struct proc_entry *entry)
{
	for (const struct filesystem *type = filesystems; type; type = type->next)
		text_printf(out, "%s\t%s\n", type->needs_device ? "" : "nodev", type->name);
}

/* The node's data, a string: of a file a line. */
static void string_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, S_ISREG(entry->node->mode) ? "%s\n" : "%s",
		    (const char *)entry->node->data);
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

static int dump_write(const struct proc_entry *entry, const char *text, size_t length)
{
	hash_report_all();
	return 0;
}

/* "exit N": the job's status, for the harness. */
static int exit_write(const struct proc_entry *entry, const char *text, size_t length)
{
	u64 status;

	if (strncmp(text, "exit ", 5) || !read_number(text + 5, &status) || status > 255)
		return -EINVAL;
	control_recordf("exit", "{\"status\":%d}", (int)status);
	return 0;
}

/* A moment's name, for the harness: when the job began, when a measured part did. */
static int mark_write(const struct proc_entry *entry, const char *text, size_t length)
{
	char name[128];

	if (!json_escape(name, sizeof(name), text,
			 length && text[length - 1] == '\n' ? length - 1 : length))
		return -EINVAL;
	control_recordf("mark", "{\"name\":\"%s\",\"ns\":%llu}", name, ktime_ns());
	return 0;
}

#ifdef CONFIG_DEBUG
/* Goes down the stack for ever. */
static noinline unsigned overflow_stack(unsigned depth)
{
	volatile unsigned frame[16] = {depth};

	if (frame[depth % 16] == ~0u)
		return 0;
	return overflow_stack(depth + 1) + frame[0];
}
#endif

/* As Linux's: c panics at once, to see what a harness makes of it. Of a debug kernel also k: the
 * kernel's stack overflows. */
static int sysrq_write(const struct proc_entry *entry, const char *text, size_t length)
{
	if (text[0] == 'c')
		panic("sysrq triggered a crash");
#ifdef CONFIG_DEBUG
	if (text[0] == 'k')
		return (int)overflow_stack(0);
#endif
	return -EINVAL;
}

#define STRING(name, text) name, PROC_FILE, .show = string_show, .data = text
#define HASH(cache) #cache, PROC_FILE, .show = hash_show, .data = &cache##_cache_hash
#define JSON(cache) #cache ".json", PROC_FILE, .show = hash_json_show, .data = &cache##_cache_hash

static const struct proc_node hash_nodes[] = {
#ifdef CONFIG_SWAP_TABLE_OWN
	{HASH(swap)},	{JSON(swap)},
#endif
#ifdef CONFIG_DCACHE_FASTPATH
	{HASH(path)},	{JSON(path)},
#endif
	{HASH(page)},	{HASH(buffer)}, {HASH(inode)},
	{HASH(dentry)}, {JSON(page)},	{JSON(buffer)},
	{JSON(inode)},	{JSON(dentry)}, {"dump", PROC_SWITCH, .write = dump_write},
	{NULL},
};

static const struct proc_node chainwalk_nodes[] = {
	{"locks", PROC_FILE, .show = lock_report_text},
	{"exit", PROC_SWITCH, .write = exit_write},
	{"mark", PROC_SWITCH, .write = mark_write},
	{NULL},
};

static struct proc_node sys_kernel_nodes[16] = {
	{STRING("hostname", SYSTEM_NODE)},
	{STRING("ostype", SYSTEM_NAME)},
	{STRING("osrelease", SYSTEM_RELEASE)},
	{STRING("version", SYSTEM_VERSION)},
	{STRING("pid_max", "32768")},
	{NULL},
};

#ifdef CONFIG_RARE_CALLS
void proc_register_kernel(const struct proc_node *nodes)
{
	proc_append(sys_kernel_nodes, ARRAY_SIZE(sys_kernel_nodes), nodes);
}
#endif

static struct proc_node sys_fs_nodes[8]; /* a room's, if there is one */

#if defined(CONFIG_INOTIFY) || defined(CONFIG_RARE_CALLS)
void proc_register_fs(const struct proc_node *nodes)
{
	proc_append(sys_fs_nodes, ARRAY_SIZE(sys_fs_nodes), nodes);
}
#endif

static const struct proc_node sys_vm_nodes[] = {
	{"drop_caches", PROC_SWITCH, .write = drop_caches_write},
	{NULL},
};

static const struct proc_node sys_nodes[] = {
	{"fs", PROC_DIR, .children = sys_fs_nodes},
	{"kernel", PROC_DIR, .children = sys_kernel_nodes},
	{"vm", PROC_DIR, .children = sys_vm_nodes},
	{NULL},
};

static const struct proc_node root_nodes[] = {
	{"mounts", PROC_LINK, .show = string_show, .data = "self/mounts"},
	{"meminfo", PROC_FILE, .show = meminfo_show},
	{"cpuinfo", PROC_FILE, .show = proc_cpuinfo_show},
	{STRING("version", "Linux version " SYSTEM_RELEASE " (chainwalk) " SYSTEM_VERSION)},
	{"filesystems", PROC_FILE, .show = filesystems_show},
	{STRING("cmdline", boot_info.command_line)},
	{"slabinfo", PROC_FILE, .show = slabinfo_show},
	{"sysrq-trigger", PROC_SWITCH, .write = sysrq_write},
	{"sys", PROC_DIR, .children = sys_nodes},
	{"hash", PROC_DIR, .children = hash_nodes},
	{"chainwalk", PROC_DIR, .children = chainwalk_nodes},
	{NULL},
};

void proc_init(void)
{
	proc_register(root_nodes);
}
