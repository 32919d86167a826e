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

/* process_lock held: the thread @pid, NULL for a zombie. @inspect: if current may look into it;
 * execve() changes that and the mm in one step. ERR_PTR(-EACCES), ERR_PTR(-ESRCH). */
static const struct task *look_at(pid_t pid, bool inspect)
{
	struct process *process;
	const struct task *task = task_or_process(pid, &process);

	lockdep_assert_held(&process_lock);
	if (!process)
		return ERR_PTR(-ESRCH);
	return inspect && !may_inspect(process) ? ERR_PTR(-EACCES) : task;
}

/* What the thread has, referenced; NULL: nothing of the kind (a zombie); or ERR_PTR. */
static struct mm *get_mm(pid_t pid, bool inspect)
{
	guard(spinlock_irq, &process_lock);
	const struct task *task = look_at(pid, inspect);

	if (IS_ERR_OR_NULL(task) || !task->mm)
		return IS_ERR(task) ? ERR_CAST(task) : NULL;
	atomic_inc(&task->mm->users);
	return task->mm;
}

static struct fs_context *get_fs(pid_t pid, bool inspect)
{
	guard(spinlock_irq, &process_lock);
	const struct task *task = look_at(pid, inspect);

	if (IS_ERR_OR_NULL(task) || !task->fs)
		return IS_ERR(task) ? ERR_CAST(task) : NULL;
	fs_context_get(task->fs);
	return task->fs;
}

/* To be released. Nothing else is referenced, since this is done with a directory's lock held,
 * below which no file may be let go. */
static struct file_table *hold_files(pid_t pid)
{
	guard(spinlock_irq, &process_lock);
	const struct task *task = look_at(pid, true);

	if (IS_ERR_OR_NULL(task) || !task->files)
		return IS_ERR(task) ? ERR_CAST(task) : NULL;
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

/* The arguments (or the environment: its node has data) as they lie in the process's memory, NULs
 * between. A kernel thread has none. */
static void strings_show(struct text *out, const struct proc_entry *entry)
{
	bool environment = entry->node->data != NULL;
	struct mm *mm __free(mm) = get_mm(entry->pid, environment);

	out->error = PTR_ERR_OR_ZERO(mm);
	if (IS_ERR_OR_NULL(mm))
		return;
	u64 at = environment ? mm->env_start : mm->arg_start;
	u64 end = environment ? mm->env_end : mm->arg_end;
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
		proc_show_path(out, &vma->file->path);
	else if (vma->end == mm->stack_top)
		text_printf(out, "[stack]");
	else if (vma->start <= mm->brk_end && vma->end >= mm->brk_start &&
		 mm->brk_end > mm->brk_start)
		text_printf(out, "[heap]");
	text_printf(out, "\n");
}

static void maps_show(struct text *out, const struct proc_entry *entry)
{
	struct mm *mm __free(mm) = get_mm(entry->pid, true);

	out->error = PTR_ERR_OR_ZERO(mm);
	if (IS_ERR_OR_NULL(mm))
		return;
	guard(read, &mm->lock);
	for (const struct vma *vma = find_vma(mm, 0); vma; vma = vma->above)
		map_line(out, mm, vma);
}

/* ---- places and descriptors ------------------------------------------------------------------ */

static int process_place(pid_t pid, bool inspect, bool root, struct path *path)
{
	struct fs_context *fs = get_fs(pid, inspect);

	if (IS_ERR_OR_NULL(fs))
		return fs ? (int)PTR_ERR(fs) : -ENOENT;
	spin_lock(&fs->lock);
	*path = root ? fs->root : fs->cwd;
	path_get(path);
	spin_unlock(&fs->lock);
	fs_context_put(fs);
	return 0;
}

static int process_root(pid_t pid, struct path *path)
{
	return process_place(pid, false, true, path);
}

static int place_jump(const struct proc_entry *entry, struct path *path)
{
	return process_place(entry->pid, true, entry->node->data != NULL, path);
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
	struct mm *mm __free(mm) = get_mm(entry->pid, true);

	return IS_ERR(mm) ? (int)PTR_ERR(mm) : file_place(mm ? mm->exe : NULL, path);
}

static int file_jump(const struct proc_entry *entry, struct path *path)
{
	struct file_table *files = hold_files(entry->pid);

	if (IS_ERR_OR_NULL(files))
		return files ? (int)PTR_ERR(files) : -ENOENT;

	struct fd open __free(fd) = fdget_shared(files, (u32)entry->number);

	file_table_release(files);
	return file_place(open.file, path);
}

static int fd_next(pid_t pid, int from)
{
	struct file_table *files = hold_files(pid);

	if (IS_ERR_OR_NULL(files))
		return files ? (int)PTR_ERR(files) : -ENOENT;

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
	{"cmdline", PROC_FILE, .show = strings_show},
	{"environ", S_IFREG | 0400, .show = strings_show, .data = "environment"},
	{"comm", PROC_FILE, .show = process_show, .data = print_comm},
	{"maps", PROC_FILE, .show = maps_show},
	{"mounts", PROC_FILE, .show = proc_mounts_show},
	{"mountinfo", PROC_FILE, .show = proc_mounts_show, .data = "details"},
	{"cwd", PROC_LINK, .jump = place_jump},
	{"root", PROC_LINK, .jump = place_jump, .data = "root"},
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
	.max_threads = &max_tasks,
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
