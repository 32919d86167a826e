/*
 * info.c - what /proc tells of processes: /proc/PID and /proc/PID/task/TID.
 *
 * What belongs to a process is printed, or referenced, under process_lock: a task's mm, files, fs
 * and cred are replaced only under it. Where a process is asked for by its pid, a thread may be by
 * its own: what belongs to the process is the same, the state and the CPU are the thread's.
 */
#include "fs/proc/proc.h"
#include "kernel/proc/process.h"
#include "mm/space/vm.h"

/* process_lock held: the thread @pid, and its process; the first thread, or NULL for a zombie, if
 * @pid is a process. */
static struct task *find(pid_t pid, struct process **process)
{
	struct task *task = task_find(pid);

	lockdep_assert_held(&process_lock);
	*process = task ? task->process : process_find(pid);
	if (!task && *process && !list_empty(&(*process)->threads))
		task = main_thread(*process);
	return task;
}

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
	find(pid, &process);
	if (process) {
		*uid = process_cred(process)->euid;
		*gid = process_cred(process)->egid;
	}
}

/* process_lock held: may current look into @process (maps, fd, cwd, environ)? */
static bool may_inspect(const struct process *process)
{
	const struct cred *mine = current->cred, *theirs = process_cred(process);
	bool same = mine->euid == theirs->uid && mine->euid == theirs->euid &&
		    mine->euid == theirs->suid && mine->egid == theirs->gid &&
		    mine->egid == theirs->egid && mine->egid == theirs->sgid;

	lockdep_assert_held(&process_lock);
	return capable(mine) || process == current->process || (same && !process->not_dumpable);
}

/* process_lock held: the thread @pid, NULL for a zombie. @inspect: if current may look into it;
 * execve() changes that and the mm in one step. ERR_PTR(-EACCES), ERR_PTR(-ESRCH). */
static const struct task *look_at(pid_t pid, bool inspect)
{
	struct process *process;
	const struct task *task = find(pid, &process);

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

/* ---- states and numbers ---------------------------------------------------------------------- */

#define PRINT_MAX 2048 /* of the functions below: a few numbers, and 32 groups */

struct view { /* of a process, or of one of its threads */
	pid_t pid;
	const struct process *process;
	const struct task *task; /* NULL: a zombie */
	const struct mm *mm;	 /* all zero: none */
	const char *name, *state;
	u64 pending, blocked, ignored, caught; /* signals */
};

typedef void print_function(struct text *out, const struct view *view);

/* Have the node's data, a print_function, print under process_lock. */
static void process_show(struct text *out, const struct proc_entry *entry)
{
	static const char *const states[] = {/* by enum task_state */
					     "R (running)",    "S (sleeping)", "D (disk sleep)",
					     "D (disk sleep)", "T (stopped)",  "X (dead)"};
	static const struct mm no_memory;
	print_function *print = entry->node->data;
	struct process *process;

	if (!text_reserve(out, PRINT_MAX)) /* nothing may be allocated under the lock */
		return;
	guard(spinlock_irq, &process_lock);
	const struct task *task = find(entry->pid, &process);
	if (!process) {
		out->error = -ESRCH;
		return;
	}
	struct view view = {
		.pid = entry->pid,
		.process = process,
		.task = task,
		.mm = task && task->mm ? task->mm : &no_memory,
		.name = task ? task->comm : process->comm,
		.state = !task		    ? "Z (zombie)"
			 : process->stopped ? "T (stopped)"
					    : states[task->state],
		.pending = task ? process->pending | task->signals->pending : 0,
		.blocked = task ? task->signals->blocked : 0,
	};
	for (int signo = 1; task && signo <= SIGNAL_COUNT; signo++) {
		u64 handler = signal_handler(process, signo);

		view.ignored |= handler == SIG_IGN ? sigmask(signo) : 0;
		view.caught |= handler > SIG_IGN ? sigmask(signo) : 0;
	}
	print(out, &view);
}

/* The 52 fields of proc(5); what does not exist here is 0. */
static void print_stat(struct text *out, const struct view *view)
{
	const struct process *p = view->process;
	const struct cpu_times own = process_times(p), *children = &p->children_times;
	pid_t foreground = -1;
	u32 tty = terminal ? terminal->of_session(p->session, &foreground) : 0;

	lockdep_assert_held(&process_lock);
	text_printf(out, "%d (%s) %c %d %d %d %u %d 0 ", view->pid, view->name, *view->state,
		    p->parent_pid, p->group, p->session, tty, foreground);
	text_printf(out, "%llu %llu %llu 0 %llu %llu %llu %llu %d %d %u 0 ", own.minor_faults,
		    children->minor_faults, own.major_faults, proc_ticks(own.user_ns),
		    proc_ticks(own.system_ns), proc_ticks(children->user_ns),
		    proc_ticks(children->system_ns), 20 + p->nice, p->nice, p->thread_count);
	text_printf(out, "%llu %llu %llu %llu 0 0 %llu 0 0 ", proc_ticks(p->start_ns),
		    view->mm->total_pages * PAGE_SIZE, view->mm->resident_pages,
		    p->limits[RLIMIT_RSS].soft, may_inspect(p) ? view->mm->stack_top : 0);
	text_printf(out, "%llu %llu %llu %llu 0 0 0 %d %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		    view->pending, view->blocked, view->ignored, view->caught, SIGCHLD,
		    view->task ? view->task->cpu : 0);
}

static void print_statm(struct text *out, const struct view *view)
{
	const struct mm *mm = view->mm;

	text_printf(out, "%llu %llu %llu 0 0 %llu 0\n", mm->total_pages, mm->resident_pages,
		    mm->file_pages, mm->data_pages);
}

static void print_status(struct text *out, const struct view *view)
{
	const struct process *p = view->process;
	const struct cred *cred = process_cred(p);
	const struct task *task = view->task;
	const struct mm *mm = view->mm;
	unsigned long long all = ~0ULL >> 23, capabilities = cred->euid ? 0 : all;

	lockdep_assert_held(&process_lock);
	text_printf(out, "Name:\t%s\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\n",
		    view->name, task && task->fs ? task->fs->umask : 0, view->state, p->pid,
		    view->pid);
	text_printf(out, "PPid:\t%d\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n",
		    p->parent_pid, cred->uid, cred->euid, cred->suid, cred->euid, cred->gid,
		    cred->egid, cred->sgid, cred->egid);
	text_printf(out, "FDSize:\t64\nGroups:\t");
	for (unsigned i = 0; i < cred->group_count; i++)
		text_printf(out, "%u ", cred->groups[i]);
	if (mm->total_pages)
		text_printf(out, "\nVmSize:\t%8llu kB\nVmRSS:\t%8llu kB\nVmData:\t%8llu kB",
			    mm->total_pages * 4, mm->resident_pages * 4, mm->data_pages * 4);
	text_printf(out,
		    "\nThreads:\t%u\nSigPnd:\t%016llx\nSigBlk:\t%016llx\nSigIgn:\t%016llx\n"
		    "SigCgt:\t%016llx\nCapInh:\t%016llx\nCapPrm:\t%016llx\nCapEff:\t%016llx\n"
		    "CapBnd:\t%016llx\nCapAmb:\t%016llx\n",
		    p->thread_count, view->pending, view->blocked, view->ignored, view->caught,
		    0ULL, capabilities, capabilities, all, 0ULL);
}

static void print_comm(struct text *out, const struct view *view)
{
	text_printf(out, "%s\n", view->name);
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
	const struct inode *inode = vma->file ? vma->file->inode : NULL;
	size_t before = out->length;

	text_printf(out, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ", vma->start, vma->end,
		    vma->flags & VM_READ ? 'r' : '-', vma->flags & VM_WRITE ? 'w' : '-',
		    vma->flags & VM_EXEC ? 'x' : '-', vma->flags & VM_SHARED ? 's' : 'p',
		    inode ? vma->page_offset << PAGE_SHIFT : 0, inode ? MAJOR(inode->sb->dev) : 0,
		    inode ? MINOR(inode->sb->dev) : 0, inode ? inode->number : 0);
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

static const struct proc_node process_nodes[] = {
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
	{NULL},
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

void info_init(void)
{
	proc_register(root_nodes);
	proc_register_processes(&processes);
}
