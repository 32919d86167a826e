/*
 * info.c - what /proc tells of processes: /proc/PID and /proc/PID/task/TID.
 *
 * What belongs to a process is printed, or referenced, under process_lock: a task's mm, files, fs
 * and cred are replaced only under it. Where a process is asked for by its pid, a thread may be by
 * its own: what belongs to the process is the same, the state and the CPU are the thread's.
 */
#include "fs/proc/proc.h"
#include "kernel/proc/process.h"
#include "kernel/proc/info/status.h"
#include "mm/space/vm.h"

static int lower(int best, int number, int from)
{
	return number >= from && (best < 0 || number < best) ? number : best;
}

static int process_next(pid_t pid, int from)
{
	const struct process *process;
	const struct task *task;
	int best = -ENOENT;

	guard(spinlock_irq, &process_lock);
	list_for_each_entry (process, &process_list, all_link) {
		if (!pid)
			best = lower(best, process->pid, from);
		else if (process->pid == pid)
			list_for_each_entry (task, &process->threads, thread_link)
				best = lower(best, task->pid, from);
	}
	return best;
}

static void process_owner(pid_t pid, uid_t *uid, gid_t *gid)
{
	struct process *process;

	guard(spinlock_irq, &process_lock);
	task_or_process(pid, &process);
	if (process) {
		*uid = process_cred(process)->euid;
		*gid = process_cred(process)->egid;
	}
}

/* process_lock held: the thread @pid, NULL for a zombie. execve() changes who may look into it and
 * the mm in one step. ERR_PTR(-EACCES): current may not; ERR_PTR(-ESRCH). */
static const struct task *look_at(pid_t pid, enum told told)
{
	struct process *process;
	const struct task *task = task_or_process(pid, &process);

	lockdep_assert_held(&process_lock);
	if (!process)
		return ERR_PTR(-ESRCH);
	if (told == INSPECTOR && !may_inspect(process))
		return ERR_PTR(-EACCES);
	return task;
}

/* The thread's memory, referenced; NULL: it has none (a zombie); or ERR_PTR. */
static struct mm *get_mm(pid_t pid, enum told told)
{
	guard(spinlock_irq, &process_lock);
	const struct task *task = look_at(pid, told);

	if (IS_ERR_OR_NULL(task) || !task->mm)
		return IS_ERR(task) ? ERR_CAST(task) : NULL;
	atomic_inc(&task->mm->users);
	return task->mm;
}

struct fs_context *get_fs(pid_t pid, enum told told)
{
	guard(spinlock_irq, &process_lock);
	const struct task *task = look_at(pid, told);

	if (IS_ERR_OR_NULL(task) || !task->fs)
		return IS_ERR(task) ? ERR_CAST(task) : ERR_PTR(-ENOENT);
	fs_context_get(task->fs);
	return task->fs;
}

/* Its table of files, to be released; ERR_PTR(-ENOENT): it has none. No file in it is referenced:
 * who lists /proc/PID/fd could not let it go, for a directory is locked then (fput()). */
static struct file_table *hold_files(pid_t pid)
{
	guard(spinlock_irq, &process_lock);
	const struct task *task = look_at(pid, INSPECTOR);

	if (IS_ERR_OR_NULL(task) || !task->files)
		return IS_ERR(task) ? ERR_CAST(task) : ERR_PTR(-ENOENT);
	file_table_hold(task->files);
	return task->files;
}

DEFINE_FREE(mm, struct mm *, if (!IS_ERR_OR_NULL(*variable)) mm_put(*variable))

void process_parts_put(struct process_parts *parts)
{
	if (parts->mm)
		mm_put(parts->mm);
	if (parts->files)
		file_table_put(parts->files);
	fs_context_put(parts->fs);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Copy from the page that @address is in, which is there; false if it is not. */
static bool copy_present(struct mm *mm, u64 address, void *to, size_t n)
{
	guard(spinlock, &mm->page_table_lock);

	const pte_t *slot = mmu_slot(&mm->mmu, address, MMU_FIND);

	if (!slot || !pte_present(*slot))
		return false;
	memcpy(to, (u8 *)phys_to_virt(pte_page(*slot)) + address % PAGE_SIZE, n);
	return true;
}

/* Strings as they lie in the process's memory, NULs between. */
static void print_strings(struct text *out, struct mm *mm, u64 at, u64 end)
{
	for (u64 n; at < end; at += n, out->length += n) {
		n = min(end - at, PAGE_SIZE - at % PAGE_SIZE);
		if (!text_reserve(out, n))
			return;
		char *to = out->data + out->length;
		if (!copy_present(mm, at, to, n) &&
		    (mm_fault(mm, at, 0) || !copy_present(mm, at, to, n)))
			return;
	}
}

/* A kernel thread has neither arguments nor environment. */
static void arguments_show(struct text *out, const struct proc_entry *entry)
{
	struct mm *mm __free(mm) = get_mm(entry->pid, ANYBODY);

	out->error = PTR_ERR_OR_ZERO(mm);
	if (!IS_ERR_OR_NULL(mm))
		print_strings(out, mm, mm->arg_start, mm->arg_end);
}

static void environment_show(struct text *out, const struct proc_entry *entry)
{
	struct mm *mm __free(mm) = get_mm(entry->pid, INSPECTOR);

	out->error = PTR_ERR_OR_ZERO(mm);
	if (!IS_ERR_OR_NULL(mm))
		print_strings(out, mm, mm->env_start, mm->env_end);
}

static void map_line(struct text *out, const struct mm *mm, const struct vma *vma)
{
	size_t before = out->length;
	ino_t number = 0;
	u64 offset = 0;
	dev_t dev = 0;

	if (vma->file) {
		dev = vma->file->inode->sb->dev;
		number = vma->file->inode->number;
		offset = vma->page_offset << PAGE_SHIFT;
	}
	text_printf(out, "%08llx-%08llx ", vma->start, vma->end);
	text_printf(out, "%c", vma->flags & VM_READ ? 'r' : '-');
	text_printf(out, "%c", vma->flags & VM_WRITE ? 'w' : '-');
	text_printf(out, "%c", vma->flags & VM_EXEC ? 'x' : '-');
	text_printf(out, "%c", vma->flags & VM_SHARED ? 's' : 'p');
	text_printf(out, " %08llx %02x:%02x %llu ", offset, MAJOR(dev), MINOR(dev), number);
	before = out->length - before;
	if (before < 73)
		text_printf(out, "%*s", (int)(73 - before), "");
	if (vma->file)
		proc_show_path(out, &vma->file->path, "\n");
	else if (vma->end == mm->stack_top)
		text_printf(out, "[stack]");
	else if (vma->start <= mm->brk_end && vma->end >= mm->brk_start &&
		 mm->brk_end > mm->brk_start)
		text_printf(out, "[heap]");
	text_printf(out, "\n");
}

static void maps_show(struct text *out, const struct proc_entry *entry)
{
	struct mm *mm __free(mm) = get_mm(entry->pid, INSPECTOR);

	out->error = PTR_ERR_OR_ZERO(mm);
	if (IS_ERR_OR_NULL(mm))
		return;
	guard(read, &mm->lock);
	for (const struct vma *vma = find_vma(mm, 0); vma; vma = vma->above, cond_resched())
		map_line(out, mm, vma);
}

/* ---- places and descriptors ------------------------------------------------------------------ */

enum place { ROOT, CWD };

static int process_place(pid_t pid, enum told told, enum place place, struct path *path)
{
	struct fs_context *fs = TRY_PTR(get_fs(pid, told));

	context_path(path, fs, place == ROOT ? &fs->root : &fs->cwd);
	fs_context_put(fs);
	return 0;
}

static int process_root(pid_t pid, struct path *path)
{
	return process_place(pid, ANYBODY, ROOT, path);
}

static int root_jump(const struct proc_entry *entry, struct path *path)
{
	return process_place(entry->pid, INSPECTOR, ROOT, path);
}

static int cwd_jump(const struct proc_entry *entry, struct path *path)
{
	return process_place(entry->pid, INSPECTOR, CWD, path);
}

static int file_place(const struct file *file, struct path *path)
{
	if (!file)
		return -ENOENT;
	*path = file->path;
	path_get(path);
	return 0;
}

static int program_jump(const struct proc_entry *entry, struct path *path)
{
	struct mm *mm __free(mm) = get_mm(entry->pid, INSPECTOR);

	if (IS_ERR_OR_NULL(mm))
		return mm ? (int)PTR_ERR(mm) : -ENOENT;
	return file_place(mm->exe, path);
}

static int file_jump(const struct proc_entry *entry, struct path *path)
{
	struct file_table *files = TRY_PTR(hold_files(entry->pid));
	struct fd open __free(fd) = fdget_shared(files, (u32)entry->number);

	file_table_release(files);
	return file_place(open.file, path);
}

static int fd_next(pid_t pid, int from)
{
	struct file_table *files = TRY_PTR(hold_files(pid));
	int fd = file_table_next(files, from);

	file_table_release(files);
	return fd < 0 ? -ENOENT : fd;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static const struct proc_node fd_node = {NULL, S_IFLNK | 0700, .jump = file_jump};
static const struct proc_node thread_node;

#define PROCESS_NODES 24 /* those of optional rooms and the end included */

/* Constant once /proc has been mounted. */
static struct proc_node process_nodes[PROCESS_NODES] = {
	/* the first: threads lack it */
	{"task", PROC_DIR, .next = process_next, .each = &thread_node},
	{"stat", PROC_FILE, .show = process_show, .data = print_stat},
	{"statm", PROC_FILE, .show = process_show, .data = print_statm},
	{"status", PROC_FILE, .show = process_show, .data = print_status},
	{"cmdline", PROC_FILE, .show = arguments_show},
	{"environ", S_IFREG | 0400, .show = environment_show},
	{"comm", PROC_FILE, .show = process_show, .data = print_comm},
	{"maps", PROC_FILE, .show = maps_show},
	{"mounts", PROC_FILE, .show = proc_mounts_show},
	{"mountinfo", PROC_FILE, .show = proc_mounts_show, .data = "details"},
	{"cwd", PROC_LINK, .jump = cwd_jump},
	{"root", PROC_LINK, .jump = root_jump},
	{"exe", PROC_LINK, .jump = program_jump},
	{"fd", S_IFDIR | 0500, .next = fd_next, .each = &fd_node},
};

static const struct proc_node thread_node = {NULL, PROC_DIR, .children = process_nodes + 1};
static const struct proc_node process_node = {NULL, PROC_DIR, .children = process_nodes};

/* ---- registration ---------------------------------------------------------------------------- */

static void self_show(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%d", current->process->pid);
}

static const struct proc_node root_nodes[] = {
	{"self", PROC_LINK, .show = self_show},
	{NULL},
};

static const struct proc_processes processes = {
	.node = &process_node,
	.next = process_next,
	.owner = process_owner,
	.root = process_root,
};

void info_register(const struct proc_node *nodes)
{
	proc_append(process_nodes, PROCESS_NODES, nodes);
}

void info_init(void)
{
	proc_register(root_nodes);
	proc_register_processes(&processes);
}
