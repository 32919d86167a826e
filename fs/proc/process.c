/*
 * process.c - the files of /proc/PID and /proc/PID/task/TID.
 */
#include "fs/proc/process_info.h"
#include "fs/proc/proc.h"
#include "kernel/core/string.h"
#include "mm/slab.h"
#include "mm/vm.h"

#define LIMIT_RESIDENT 5 /* RLIMIT_RSS */

/* ---- numbers --------------------------------------------------------------------------------- */

/* The 52 fields of proc(5); what does not exist here is 0. */
static int stat_show(struct text *out, const struct proc_entry *entry)
{
	struct process_info p;
	int error = process_info(entry->pid, &p);
	const u64 fields[] = {p.minor_faults,
			      p.children_faults,
			      p.major_faults,
			      0,
			      proc_ticks(p.user_ns),
			      proc_ticks(p.system_ns),
			      proc_ticks(p.children_user_ns),
			      proc_ticks(p.children_system_ns),
			      (u64)(20 + p.nice),
			      (u64)p.nice,
			      p.threads,
			      0,
			      proc_ticks(p.start_ns),
			      p.virtual_bytes,
			      p.resident_bytes >> PAGE_SHIFT};
	const u64 more[] = {0,
			    0,
			    p.stack_start,
			    0,
			    0,
			    p.signals_pending,
			    p.signals_blocked,
			    p.signals_ignored,
			    p.signals_caught,
			    0,
			    0,
			    0,
			    (u64)p.exit_signal,
			    (u64)p.cpu,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0};

	if (error)
		return error;
	text_printf(out, "%d (%s) %c %d %d %d %d %d 0", p.pid, p.comm, p.state, p.ppid, p.pgrp,
		    p.session, p.tty, p.foreground);
	for (unsigned i = 0; i < ARRAY_SIZE(fields); i++)
		text_printf(out, " %lld", (long long)fields[i]);
	text_printf(out, " %llu", ULL(p.limits[LIMIT_RESIDENT][0]));
	for (unsigned i = 0; i < ARRAY_SIZE(more); i++)
		text_printf(out, " %llu", ULL(more[i]));
	text_printf(out, "\n");
	return 0;
}

static int statm_show(struct text *out, const struct proc_entry *entry)
{
	struct process_info p;
	int error = process_info(entry->pid, &p);

	if (!error)
		text_printf(out, "%llu %llu %llu %llu 0 %llu 0\n",
			    ULL(p.virtual_bytes >> PAGE_SHIFT), ULL(p.resident_bytes >> PAGE_SHIFT),
			    ULL(p.file_bytes >> PAGE_SHIFT), ULL(p.code_bytes >> PAGE_SHIFT),
			    ULL(p.data_bytes >> PAGE_SHIFT));
	return error;
}

static const char *state_name(char state)
{
	static const char *const names[] = {"R (running)", "S (sleeping)", "D (disk sleep)",
					    "T (stopped)", "Z (zombie)"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i][0] == state)
			return names[i];
	return "X (dead)";
}

static int status_show(struct text *out, const struct proc_entry *entry)
{
	struct process_info p;
	int error = process_info(entry->pid, &p);
	u64 capabilities = p.euid ? 0 : ~0ULL >> 23;
	const struct {
		const char *name;
		u64 bytes;
	} sizes[] = {{"VmSize", p.virtual_bytes},
		     {"VmRSS", p.resident_bytes},
		     {"VmData", p.data_bytes},
		     {"VmExe", p.code_bytes}};
	const struct {
		const char *name;
		u64 bits;
	} sets[] = {{"SigPnd", p.signals_pending},
		    {"SigBlk", p.signals_blocked},
		    {"SigIgn", p.signals_ignored},
		    {"SigCgt", p.signals_caught},
		    {"CapInh", 0},
		    {"CapPrm", capabilities},
		    {"CapEff", capabilities},
		    {"CapBnd", ~0ULL >> 23},
		    {"CapAmb", 0}};

	if (error)
		return error;
	text_printf(out, "Name:\t%s\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\n",
		    p.comm, p.umask, state_name(p.state), p.tgid, p.pid);
	text_printf(out, "PPid:\t%d\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n",
		    p.ppid, p.uid, p.euid, p.suid, p.fsuid, p.gid, p.egid, p.sgid, p.fsgid);
	text_printf(out, "FDSize:\t64\nGroups:\t");
	for (unsigned i = 0; i < p.group_count; i++)
		text_printf(out, "%u ", p.groups[i]);
	text_printf(out, "\n");
	for (unsigned i = 0; p.virtual_bytes && i < ARRAY_SIZE(sizes); i++)
		text_printf(out, "%s:\t%8llu kB\n", sizes[i].name, ULL(sizes[i].bytes >> 10));
	text_printf(out, "Threads:\t%u\n", p.threads);
	for (unsigned i = 0; i < ARRAY_SIZE(sets); i++)
		text_printf(out, "%s:\t%016llx\n", sets[i].name, ULL(sets[i].bits));
	return 0;
}

static int comm_show(struct text *out, const struct proc_entry *entry)
{
	struct process_info p;
	int error = process_info(entry->pid, &p);

	if (!error)
		text_printf(out, "%s\n", p.comm);
	return error;
}

static void limit_column(struct text *out, u64 value)
{
	if (value == ~0ULL)
		text_printf(out, "%-20s ", "unlimited");
	else
		text_printf(out, "%-20llu ", ULL(value));
}

static int limits_show(struct text *out, const struct proc_entry *entry)
{
	static const char *const names[][2] = {
		{"Max cpu time", "seconds"},	 {"Max file size", "bytes"},
		{"Max data size", "bytes"},	 {"Max stack size", "bytes"},
		{"Max core file size", "bytes"}, {"Max resident set", "bytes"},
		{"Max processes", "processes"},	 {"Max open files", "files"},
		{"Max locked memory", "bytes"},	 {"Max address space", "bytes"},
		{"Max file locks", "locks"},	 {"Max pending signals", "signals"},
		{"Max msgqueue size", "bytes"},	 {"Max nice priority", ""},
		{"Max realtime priority", ""},	 {"Max realtime timeout", "us"}};
	struct process_info p;
	int error = process_info(entry->pid, &p);

	if (error)
		return error;
	text_printf(out, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		text_printf(out, "%-25s ", names[i][0]);
		limit_column(out, p.limits[i][0]);
		limit_column(out, p.limits[i][1]);
		text_printf(out, *names[i][1] ? "%-10s\n" : "%s\n", names[i][1]);
	}
	return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The arguments (or the environment: its node has data) as they lie in the process's memory, NULs
 * between. A kernel thread has none. */
static int strings_show(struct text *out, const struct proc_entry *entry)
{
	bool environment = entry->node->data != NULL;
	int error = environment ? process_may_inspect(entry->pid) : 0;
	struct mm *mm = error ? NULL : process_mm(entry->pid);
	u64 at, end;
	char piece[256];
	size_t n;

	if (!mm)
		return error;
	at = environment ? mm->env_start : mm->arg_start;
	end = environment ? mm->env_end : mm->arg_end;
	while (at < end &&
	       (n = process_read_memory(mm, at, piece, min_t(size_t, sizeof(piece), end - at)))) {
		text_write(out, piece, n);
		at += n;
	}
	mm_put(mm);
	return 0;
}

static void map_line(struct text *out, const struct mm *mm, const struct vma *vma)
{
	const struct inode *inode = vma->file ? vma->file->inode : NULL;
	size_t before = out->length;

	text_printf(out, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ", ULL(vma->start),
		    ULL(vma->end), vma->flags & VM_READ ? 'r' : '-',
		    vma->flags & VM_WRITE ? 'w' : '-', vma->flags & VM_EXEC ? 'x' : '-',
		    vma->flags & VM_SHARED ? 's' : 'p', ULL(vma->page_offset << PAGE_SHIFT),
		    inode ? MAJOR(inode->sb->dev) : 0, inode ? MINOR(inode->sb->dev) : 0,
		    ULL(inode ? inode->number : 0));
	before = out->length - before;
	if (before < 73)
		text_printf(out, "%*s", (int)(73 - before), "");
	if (vma->file)
		proc_show_path(out, &vma->file->path);
	else if (vma->flags & VM_STACK)
		text_printf(out, "[stack]");
	else if (vma->start <= mm->brk_end && vma->end >= mm->brk_start &&
		 mm->brk_end > mm->brk_start)
		text_printf(out, "[heap]");
	text_printf(out, "\n");
}

static int maps_show(struct text *out, const struct proc_entry *entry)
{
	int error = process_may_inspect(entry->pid);
	struct mm *mm = error ? NULL : process_mm(entry->pid);
	struct vma *vma;

	if (!mm)
		return error;
	down_read(&mm->lock);
	list_for_each_entry (vma, &mm->vmas, link)
		map_line(out, mm, vma);
	up_read(&mm->lock);
	mm_put(mm);
	return 0;
}

/* ---- places and descriptors ------------------------------------------------------------------ */

static int context_jump(pid_t pid, struct path *path, bool root)
{
	struct fs_context *fs = process_fs_context(pid);

	if (!fs)
		return -ENOENT;
	proc_get_place(fs, root, path);
	fs_context_put(fs);
	return 0;
}

static int cwd_jump(const struct proc_entry *entry, struct path *path)
{
	return context_jump(entry->pid, path, false);
}

static int root_jump(const struct proc_entry *entry, struct path *path)
{
	return context_jump(entry->pid, path, true);
}

static int exe_jump(const struct proc_entry *entry, struct path *path)
{
	struct mm *mm = process_mm(entry->pid);
	int error = mm && mm->exe ? 0 : -ENOENT;

	if (!error) {
		*path = mm->exe->path;
		path_get(path);
	}
	if (mm)
		mm_put(mm);
	return error;
}

static struct file *entry_file(const struct proc_entry *entry)
{
	struct file_table *table = process_files(entry->pid);
	struct file *file = table ? file_table_get_file(table, entry->number) : NULL;

	if (table)
		file_table_put(table);
	return file;
}

static int fd_jump(const struct proc_entry *entry, struct path *path)
{
	struct file *file = entry_file(entry);

	if (!file)
		return -ENOENT;
	*path = file->path;
	path_get(path);
	fput(file);
	return 0;
}

static int fdinfo_show(struct text *out, const struct proc_entry *entry)
{
	struct file *file = entry_file(entry);

	if (!file)
		return -ENOENT;
	text_printf(out, "pos:\t%lld\nflags:\t0%o\nmnt_id:\t%d\nino:\t%llu\n",
		    (long long)file->position, file->flags, file->path.mount->id,
		    ULL(file->inode->number));
	fput(file);
	return 0;
}

static int fd_next(pid_t pid, int from)
{
	int error = process_may_inspect(pid), fd = -1;
	struct file_table *table = error ? NULL : process_files(pid);

	if (table) {
		fd = file_table_next(table, from);
		file_table_put(table);
	}
	return error ? error : fd < 0 ? -ENOENT : fd;
}

/* ---- mounts ---------------------------------------------------------------------------------- */

struct mounts_walk {
	struct text *out;
	struct path root; /* the process's */
	char *buffer;
	bool details; /* as mountinfo has them */
};

static void show_flags(struct text *out, unsigned flags)
{
	static const struct {
		unsigned flag;
		const char *text;
	} names[] = {{SB_NOSUID, ",nosuid"},	     {SB_NODEV, ",nodev"},
		     {SB_NOEXEC, ",noexec"},	     {SB_NOATIME, ",noatime"},
		     {SB_NODIRATIME, ",nodiratime"}, {MS_RELATIME, ",relatime"}};

	text_printf(out, flags & SB_RDONLY ? "ro" : "rw");
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag)
			text_printf(out, "%s", names[i].text);
}

static void mount_line(struct mount *mount, void *argument)
{
	struct mounts_walk *walk = argument;
	struct super_block *sb = mount->sb;
	/* so that the way from the file system's root is told, as if nothing were above it */
	struct mount alone = {.root = sb->root, .parent = &alone};
	struct path place = {mount, mount->root}, inside = {&alone, mount->root},
		    top = {&alone, sb->root};
	char *text = d_path(&place, &walk->root, walk->buffer, PAGE_SIZE);

	if (IS_ERR(text) || text[0] != '/')
		return; /* outside the process's root */
	if (!walk->details) {
		text_printf(walk->out, "%s %s %s ", mount->device_name, text, sb->type->name);
		show_flags(walk->out, mount->flags | sb->flags);
		text_printf(walk->out, " 0 0\n");
		return;
	}
	text_printf(walk->out, "%d %d %u:%u ", mount->id, mount->parent->id, MAJOR(sb->dev),
		    MINOR(sb->dev));
	text = d_path(&inside, &top, walk->buffer, PAGE_SIZE);
	text_printf(walk->out, "%s ", IS_ERR(text) ? "/" : text);
	text = d_path(&place, &walk->root, walk->buffer, PAGE_SIZE);
	text_printf(walk->out, "%s ", IS_ERR(text) ? "/" : text);
	show_flags(walk->out, mount->flags | sb->flags);
	text_printf(walk->out, " - %s %s ", sb->type->name, mount->device_name);
	show_flags(walk->out, sb->flags & SB_RDONLY);
	text_printf(walk->out, "\n");
}

static int mounts_show(struct text *out, const struct proc_entry *entry)
{
	struct mounts_walk walk = {.out = out, .details = entry->node->data != NULL};
	int error = root_jump(entry, &walk.root);

	if (error)
		return error;
	walk.buffer = get_free_pages(GFP_KERNEL, 0);
	if (walk.buffer) {
		for_each_mount(mount_line, &walk);
		free_pages(walk.buffer, 0);
	}
	path_put(&walk.root);
	return walk.buffer ? 0 : -ENOMEM;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static const struct proc_node fd_node = {.mode = S_IFLNK | 0700, .jump = fd_jump};
static const struct proc_node fdinfo_node = {.mode = S_IFREG | 0400, .show = fdinfo_show};
static const struct proc_node thread_node;

static const struct proc_node process_nodes[] = {
	NUMBERS_NODE("task", 0555, thread_next, &thread_node), /* the first: threads lack it */
	FILE_NODE("stat", stat_show),
	FILE_NODE("statm", statm_show),
	FILE_NODE("status", status_show),
	FILE_NODE("cmdline", strings_show),
	{"environ", S_IFREG | 0400, .show = strings_show, .data = "environment"},
	FILE_NODE("comm", comm_show),
	FILE_NODE("limits", limits_show),
	FILE_NODE("maps", maps_show),
	FILE_NODE("mounts", mounts_show),
	FILE_NODE("mountinfo", mounts_show, .data = "details"),
	PLACE_NODE("cwd", cwd_jump),
	PLACE_NODE("root", root_jump),
	PLACE_NODE("exe", exe_jump),
	NUMBERS_NODE("fd", 0500, fd_next, &fd_node),
	NUMBERS_NODE("fdinfo", 0500, fd_next, &fdinfo_node),
	END_NODE,
};

static const struct proc_node thread_node = {.mode = S_IFDIR | 0555, .children = process_nodes + 1};
const struct proc_node proc_process_node = {.mode = S_IFDIR | 0555, .children = process_nodes};
