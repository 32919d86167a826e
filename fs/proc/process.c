/*
 * process.c - the files of /proc/PID and /proc/PID/task/TID.
 */
#include "fs/proc/process_info.h"
#include "fs/proc/proc.h"
#include "mm/vm.h"

/* ---- what process_info() tells --------------------------------------------------------------- */

/* The 52 fields of proc(5); what does not exist here is 0. */
static void stat_show(struct text *out, const struct process_info *p)
{
	text_printf(
		out, "%d (%s) %c %d %d %d %d %d 0 %llu %llu %llu 0 %llu %llu %llu %llu %d %d %u",
		p->pid, p->comm, p->state, p->ppid, p->pgrp, p->session, p->tty, p->foreground,
		ULL(p->times.minor_faults), ULL(p->children.minor_faults),
		ULL(p->times.major_faults),
		proc_ticks(p->times.user_ns), proc_ticks(p->times.system_ns),
		proc_ticks(p->children.user_ns), proc_ticks(p->children.system_ns), 20 + p->nice,
		p->nice, p->threads);
	text_printf(out,
		    " 0 %llu %llu %llu %llu 0 0 %llu 0 0 %llu %llu %llu %llu 0 0 0 %d %d"
		    " 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		    proc_ticks(p->start_ns), ULL(p->virtual_bytes),
		    ULL(p->resident_bytes >> PAGE_SHIFT), ULL(p->limits[5][0]), ULL(p->stack_start),
		    ULL(p->signals_pending), ULL(p->signals_blocked), ULL(p->signals_ignored),
		    ULL(p->signals_caught), p->exit_signal, p->cpu);
}

static void statm_show(struct text *out, const struct process_info *p)
{
	text_printf(out, "%llu %llu %llu %llu 0 %llu 0\n", ULL(p->virtual_bytes >> PAGE_SHIFT),
		    ULL(p->resident_bytes >> PAGE_SHIFT), ULL(p->file_bytes >> PAGE_SHIFT),
		    ULL(p->code_bytes >> PAGE_SHIFT), ULL(p->data_bytes >> PAGE_SHIFT));
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

static void status_show(struct text *out, const struct process_info *p)
{
	unsigned long long all = ~0ULL >> 23, capabilities = p->cred.euid ? 0 : all;

	text_printf(out, "Name:\t%s\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\n",
		    p->comm, p->umask, state_name(p->state), p->tgid, p->pid);
	text_printf(out, "PPid:\t%d\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n",
		    p->ppid, p->cred.uid, p->cred.euid, p->cred.suid, p->cred.fsuid, p->cred.gid,
		    p->cred.egid, p->cred.sgid, p->cred.fsgid);
	text_printf(out, "FDSize:\t64\nGroups:\t");
	for (unsigned i = 0; i < p->cred.group_count; i++)
		text_printf(out, "%u ", p->cred.groups[i]);
	if (p->virtual_bytes)
		text_printf(out,
			    "\nVmSize:\t%8llu kB\nVmRSS:\t%8llu kB\nVmData:\t%8llu kB\n"
			    "VmExe:\t%8llu kB",
			    ULL(p->virtual_bytes >> 10), ULL(p->resident_bytes >> 10),
			    ULL(p->data_bytes >> 10), ULL(p->code_bytes >> 10));
	text_printf(out,
		    "\nThreads:\t%u\nSigPnd:\t%016llx\nSigBlk:\t%016llx\nSigIgn:\t%016llx\n"
		    "SigCgt:\t%016llx\nCapInh:\t%016llx\nCapPrm:\t%016llx\nCapEff:\t%016llx\n"
		    "CapBnd:\t%016llx\nCapAmb:\t%016llx\n",
		    p->threads, ULL(p->signals_pending), ULL(p->signals_blocked),
		    ULL(p->signals_ignored), ULL(p->signals_caught), 0ULL, capabilities,
		    capabilities, all, 0ULL);
}

static void comm_show(struct text *out, const struct process_info *p)
{
	text_printf(out, "%s\n", p->comm);
}

static void limits_show(struct text *out, const struct process_info *p)
{
	static const char *const names[] = {
		"cpu time",	  "file size",	   "data size",		"stack size",
		"core file size", "resident set",  "processes",		"open files",
		"locked memory",  "address space", "file locks",	"pending signals",
		"msgqueue size",  "nice priority", "realtime priority", "realtime timeout"};
	static const char *const units[] = {
		"seconds", "bytes", "bytes", "bytes",	"bytes", "bytes", "processes", "files",
		"bytes",   "bytes", "locks", "signals", "bytes", "",	  "",	       "us"};

	text_printf(out, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		text_printf(out, "Max %-21s ", names[i]);
		for (unsigned hard = 0; hard < 2; hard++)
			if (p->limits[i][hard] == ~0ULL)
				text_printf(out, "%-20s ", "unlimited");
			else
				text_printf(out, "%-20llu ", ULL(p->limits[i][hard]));
		text_printf(out, *units[i] ? "%-10s\n" : "%s\n", units[i]);
	}
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The arguments (or the environment: its node has data) as they lie in the process's memory, NULs
 * between. A kernel thread has none. */
static void strings_show(struct text *out, const struct proc_entry *entry)
{
	bool environment = entry->node->data != NULL;
	struct mm *mm;
	u64 at, end;
	char piece[256];
	size_t n;

	out->error = environment ? process_may_inspect(entry->pid) : 0;
	mm = out->error ? NULL : process_mm(entry->pid);
	if (!mm)
		return;
	at = environment ? mm->env_start : mm->arg_start;
	end = environment ? mm->env_end : mm->arg_end;
	for (; at < end; at += n) {
		n = process_read_memory(mm, at, piece, min_t(size_t, sizeof(piece), end - at));
		if (!n)
			break;
		text_write(out, piece, n);
	}
	mm_put(mm);
}

static void map_line(struct text *out, const struct mm *mm, const struct vma *vma)
{
	const struct inode *inode = vma->file ? vma->file->inode : NULL;
	size_t before = out->length;

	text_printf(out, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ", ULL(vma->start),
		    ULL(vma->end), vma->flags & VM_READ ? 'r' : '-',
		    vma->flags & VM_WRITE ? 'w' : '-', vma->flags & VM_EXEC ? 'x' : '-',
		    vma->flags & VM_SHARED ? 's' : 'p',
		    inode ? ULL(vma->page_offset << PAGE_SHIFT) : 0,
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

static void maps_show(struct text *out, const struct proc_entry *entry)
{
	struct mm *mm;

	out->error = process_may_inspect(entry->pid);
	mm = out->error ? NULL : process_mm(entry->pid);
	if (!mm)
		return;
	down_read(&mm->lock);
	for (unsigned i = 0; i < mm->area_count; i++)
		map_line(out, mm, mm->areas[i]);
	up_read(&mm->lock);
	mm_put(mm);
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

static void fdinfo_show(struct text *out, const struct proc_entry *entry)
{
	struct file *file = entry_file(entry);

	out->error = file ? 0 : -ENOENT;
	if (!file)
		return;
	text_printf(out, "pos:\t%lld\nflags:\t0%o\nmnt_id:\t%d\nino:\t%llu\n",
		    (long long)file->position, file->flags, file->path.mount->id,
		    ULL(file->inode->number));
	fput(file);
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
	char *buffer;	  /* two pages */
	bool details;	  /* as mountinfo has them */
};

static void mount_line(struct mount *mount, void *argument)
{
	struct mounts_walk *walk = argument;
	struct super_block *sb = mount->sb;
	unsigned flags = mount->flags | (sb->flags & SB_RDONLY);
	/* so that the way from the file system's root is told, as if nothing were above it */
	struct mount alone = {.root = sb->root, .parent = &alone};
	struct path place = {mount, mount->root}, inside = {&alone, mount->root},
		    top = {&alone, sb->root};
	char *at = d_path(&place, &walk->root, walk->buffer, PAGE_SIZE);
	char *from = d_path(&inside, &top, walk->buffer + PAGE_SIZE, PAGE_SIZE);

	if (IS_ERR(at) || IS_ERR(from) || *at != '/')
		return; /* outside the process's root */
	if (walk->details)
		text_printf(walk->out, "%d %d %u:%u %s %s ", mount->id, mount->parent->id,
			    MAJOR(sb->dev), MINOR(sb->dev), from, at);
	else
		text_printf(walk->out, "%s %s %s ", mount->device_name, at, sb->type->name);
	text_printf(walk->out, "%s%s%s%s%s%s", flags & SB_RDONLY ? "ro" : "rw",
		    flags & SB_NOSUID ? ",nosuid" : "", flags & SB_NODEV ? ",nodev" : "",
		    flags & SB_NOEXEC ? ",noexec" : "", flags & SB_NOATIME ? ",noatime" : "",
		    flags & MS_RELATIME ? ",relatime" : "");
	if (walk->details)
		text_printf(walk->out, " - %s %s %s\n", sb->type->name, mount->device_name,
			    sb->flags & SB_RDONLY ? "ro" : "rw");
	else
		text_printf(walk->out, " 0 0\n");
}

static void mounts_show(struct text *out, const struct proc_entry *entry)
{
	struct mounts_walk walk = {.out = out, .details = entry->node->data != NULL};

	out->error = root_jump(entry, &walk.root);
	if (out->error)
		return;
	walk.buffer = get_free_pages(GFP_KERNEL, 1);
	if (walk.buffer)
		for_each_mount(mount_line, &walk);
	else
		out->error = -ENOMEM;
	free_pages(walk.buffer, 1);
	path_put(&walk.root);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static const struct proc_node fd_node = {.mode = S_IFLNK | 0700, .jump = fd_jump};
static const struct proc_node fdinfo_node = {.mode = S_IFREG | 0400, .show = fdinfo_show};
static const struct proc_node thread_node;

static const struct proc_node process_nodes[] = {
	NUMBERS_NODE("task", 0555, thread_next, &thread_node), /* the first: threads lack it */
	INFO_NODE("stat", stat_show),
	INFO_NODE("statm", statm_show),
	INFO_NODE("status", status_show),
	FILE_NODE("cmdline", strings_show),
	{"environ", S_IFREG | 0400, .show = strings_show, .data = "environment"},
	INFO_NODE("comm", comm_show),
	INFO_NODE("limits", limits_show),
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
