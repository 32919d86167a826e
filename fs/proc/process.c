/*
 * process.c - the files of /proc/PID.
 */
#include "fs/proc/process_info.h"
#include "fs/proc/proc.h"
#include "kernel/core/string.h"
#include "kernel/core/time.h"
#include "mm/slab.h"
#include "mm/vm.h"

#define USER_HZ 100
#define ULL(x) ((unsigned long long)(x))

static unsigned long long ticks(u64 ns)
{
	return ns / (NSEC_PER_SEC / USER_HZ);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The 52 fields of proc(5); what does not exist here is 0. */
static int stat_show(struct text *out, pid_t pid)
{
	struct process_info p;
	int error = process_info(pid, &p);

	if (error)
		return error;
	text_printf(out, "%d (%s) %c %d %d %d %d %d 0 ", p.pid, p.comm, p.state, p.ppid, p.pgrp,
		    p.session, p.tty, p.foreground);
	text_printf(out, "%llu 0 %llu 0 %llu %llu %llu %llu ", ULL(p.minor_faults),
		    ULL(p.major_faults), ticks(p.user_ns), ticks(p.system_ns),
		    ticks(p.children_user_ns), ticks(p.children_system_ns));
	text_printf(out, "%d %d %u 0 %llu %llu %llu %llu 0 0 %llu 0 0 ", 20 + p.nice, p.nice,
		    p.threads, ticks(p.start_ns), ULL(p.virtual_bytes),
		    ULL(p.resident_bytes >> PAGE_SHIFT), ULL(p.memory_limit), ULL(p.stack_start));
	text_printf(out, "%llu %llu %llu %llu 0 0 0 %d %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		    ULL(p.signals_pending), ULL(p.signals_blocked), ULL(p.signals_ignored),
		    ULL(p.signals_caught), p.exit_signal, p.cpu);
	return 0;
}

static int statm_show(struct text *out, pid_t pid)
{
	struct process_info p;
	int error = process_info(pid, &p);

	if (!error)
		text_printf(out, "%llu %llu 0 %llu 0 %llu 0\n", ULL(p.virtual_bytes >> PAGE_SHIFT),
			    ULL(p.resident_bytes >> PAGE_SHIFT), ULL(p.code_bytes >> PAGE_SHIFT),
			    ULL(p.data_bytes >> PAGE_SHIFT));
	return error;
}

static const char *state_name(char state)
{
	switch (state) {
	case 'R':
		return "R (running)";
	case 'S':
		return "S (sleeping)";
	case 'D':
		return "D (disk sleep)";
	case 'T':
		return "T (stopped)";
	case 'Z':
		return "Z (zombie)";
	}
	return "X (dead)";
}

static int status_show(struct text *out, pid_t pid)
{
	struct process_info p;
	int error = process_info(pid, &p);

	if (error)
		return error;
	text_printf(
		out,
		"Name:\t%s\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n",
		p.comm, p.umask, state_name(p.state), p.pid, p.pid, p.ppid);
	text_printf(out, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t64\nGroups:\t",
		    p.uid, p.euid, p.suid, p.fsuid, p.gid, p.egid, p.sgid, p.fsgid);
	for (unsigned i = 0; i < p.group_count; i++)
		text_printf(out, "%u ", p.groups[i]);
	text_printf(out, "\n");
	if (p.virtual_bytes)
		text_printf(
			out,
			"VmSize:\t%8llu kB\nVmRSS:\t%8llu kB\nVmData:\t%8llu kB\nVmExe:\t%8llu kB\n",
			ULL(p.virtual_bytes >> 10), ULL(p.resident_bytes >> 10),
			ULL(p.data_bytes >> 10), ULL(p.code_bytes >> 10));
	text_printf(
		out,
		"Threads:\t%u\nSigPnd:\t%016llx\nSigBlk:\t%016llx\nSigIgn:\t%016llx\nSigCgt:\t%016llx\n",
		p.threads, ULL(p.signals_pending), ULL(p.signals_blocked), ULL(p.signals_ignored),
		ULL(p.signals_caught));
	return 0;
}

static int comm_show(struct text *out, pid_t pid)
{
	struct process_info p;
	int error = process_info(pid, &p);

	if (!error)
		text_printf(out, "%s\n", p.comm);
	return error;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The arguments as they lie in the process's memory, NULs between. A kernel thread has none. */
static int cmdline_show(struct text *out, pid_t pid)
{
	struct mm *mm = process_mm(pid);
	char *page;

	if (!mm)
		return 0;
	page = get_free_pages(GFP_KERNEL, 0);
	if (page) {
		for (u64 at = mm->arg_start; at < mm->arg_end;) {
			size_t n = process_read_memory(mm, at, page,
						       min_t(size_t, PAGE_SIZE, mm->arg_end - at));

			if (!n)
				break;
			text_write(out, page, n);
			at += n;
		}
		free_pages(page, 0);
	}
	mm_put(mm);
	return page ? 0 : -ENOMEM;
}

static void map_line(struct text *out, const struct mm *mm, const struct vma *vma,
		     const struct path *root, char *buffer)
{
	const struct inode *inode = vma->file ? vma->file->inode : NULL;
	const char *name = "";

	if (vma->file) {
		name = d_path(&vma->file->path, root, buffer, PAGE_SIZE);
		if (IS_ERR(name))
			name = "?";
	} else if (vma->flags & VM_STACK) {
		name = "[stack]";
	} else if (vma->start <= mm->brk_end && vma->end >= mm->brk_start &&
		   mm->brk_end > mm->brk_start) {
		name = "[heap]";
	}
	text_printf(out, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ", ULL(vma->start),
		    ULL(vma->end), vma->flags & VM_READ ? 'r' : '-',
		    vma->flags & VM_WRITE ? 'w' : '-', vma->flags & VM_EXEC ? 'x' : '-',
		    vma->flags & VM_SHARED ? 's' : 'p', ULL(vma->page_offset << PAGE_SHIFT),
		    inode ? MAJOR(inode->sb->dev) : 0, inode ? MINOR(inode->sb->dev) : 0,
		    ULL(inode ? inode->number : 0));
	text_printf(out, *name ? "%26s%s\n" : "%s%s\n", "", name);
}

static int maps_show(struct text *out, pid_t pid)
{
	int error = process_may_inspect(pid);
	struct fs_context *fs = current->fs;
	struct path root;
	struct vma *vma;
	struct mm *mm;
	char *buffer;

	if (error)
		return error;
	mm = process_mm(pid);
	if (!mm)
		return 0;
	buffer = get_free_pages(GFP_KERNEL, 0);
	if (!buffer) {
		mm_put(mm);
		return -ENOMEM;
	}
	spin_lock(&fs->lock);
	root = fs->root;
	path_get(&root);
	spin_unlock(&fs->lock);
	down_read(&mm->lock);
	list_for_each_entry(vma, &mm->vmas, link)
		map_line(out, mm, vma, &root, buffer);
	up_read(&mm->lock);
	path_put(&root);
	free_pages(buffer, 0);
	mm_put(mm);
	return 0;
}

/* ---- places ---------------------------------------------------------------------------------- */

static int context_jump(pid_t pid, struct path *path, bool root)
{
	struct fs_context *fs = process_fs_context(pid);

	if (!fs)
		return -ENOENT;
	spin_lock(&fs->lock);
	*path = root ? fs->root : fs->cwd;
	path_get(path);
	spin_unlock(&fs->lock);
	fs_context_put(fs);
	return 0;
}

static int cwd_jump(pid_t pid, struct path *path)
{
	return context_jump(pid, path, false);
}

static int root_jump(pid_t pid, struct path *path)
{
	return context_jump(pid, path, true);
}

static int exe_jump(pid_t pid, struct path *path)
{
	struct mm *mm = process_mm(pid);
	int error = -ENOENT;

	if (!mm)
		return error;
	if (mm->exe) {
		*path = mm->exe->path;
		path_get(path);
		error = 0;
	}
	mm_put(mm);
	return error;
}

int proc_fd_jump(pid_t pid, int fd, struct path *path)
{
	struct file_table *table = process_files(pid);
	struct file *file;

	if (!table)
		return -ENOENT;
	file = file_table_get_file(table, fd);
	if (file) {
		*path = file->path;
		path_get(path);
		fput(file);
	}
	file_table_put(table);
	return file ? 0 : -ENOENT;
}

/* ---- mounts ---------------------------------------------------------------------------------- */

struct mounts_walk {
	struct text *out;
	struct path root; /* the process's */
	char *buffer;
};

static void mount_line(struct mount *mount, void *argument)
{
	struct mounts_walk *walk = argument;
	unsigned flags = mount->flags | mount->sb->flags;
	struct path path = {mount, mount->root};
	char *place = d_path(&path, &walk->root, walk->buffer, PAGE_SIZE);

	if (IS_ERR(place) || place[0] != '/')
		return; /* outside the process's root */
	text_printf(walk->out, "%s %s %s %s%s%s%s%s 0 0\n", mount->device_name, place,
		    mount->sb->type->name, flags & SB_RDONLY ? "ro" : "rw",
		    flags & SB_NOSUID ? ",nosuid" : "", flags & SB_NODEV ? ",nodev" : "",
		    flags & SB_NOEXEC ? ",noexec" : "",
		    flags & SB_NOATIME ? ",noatime" : ",relatime");
}

int proc_mounts_show(struct text *out, pid_t pid)
{
	struct mounts_walk walk = {.out = out, .buffer = get_free_pages(GFP_KERNEL, 0)};
	int error = walk.buffer ? root_jump(pid, &walk.root) : -ENOMEM;

	if (!error) {
		for_each_mount(mount_line, &walk);
		path_put(&walk.root);
	}
	if (walk.buffer)
		free_pages(walk.buffer, 0);
	return error;
}

#define FILE_NODE(name_, function) {.name = (name_), .mode = S_IFREG | 0444, .show = (function)}
#define PLACE_NODE(name_, function) {.name = (name_), .mode = S_IFLNK | 0777, .jump = (function)}

const struct proc_node proc_process_nodes[] = {
	FILE_NODE("stat", stat_show),
	FILE_NODE("statm", statm_show),
	FILE_NODE("status", status_show),
	FILE_NODE("cmdline", cmdline_show),
	FILE_NODE("comm", comm_show),
	FILE_NODE("maps", maps_show),
	FILE_NODE("mounts", proc_mounts_show),
	PLACE_NODE("cwd", cwd_jump),
	PLACE_NODE("root", root_jump),
	PLACE_NODE("exe", exe_jump),
	{.name = "fd", .mode = S_IFDIR | 0500},
	{.name = NULL},
};
