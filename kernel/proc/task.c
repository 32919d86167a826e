/*
 * task.c - allocating tasks and processes, giving out pids, finding them again.
 *
 * Threads are found by pid in a small chained table; processes are found through their first
 * thread's pid, in a table of their own that keeps zombies too. A pid is given out again only when
 * no thread, process, group or session has it.
 */
#include "fs/vfs.h"
#include "kernel/core/errno.h"
#include "kernel/core/lockdep.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/time.h"
#include "kernel/proc/process.h"
#include "mm/page_alloc.h"
#include "mm/slab.h"

#define PID_BUCKETS 256
#define STACK_ORDER 2
_Static_assert(KERNEL_STACK_SIZE == PAGE_SIZE << STACK_ORDER, "a kernel stack is 1 << order pages");

/* A task with what every task needs besides. */
struct task_block {
	struct task task;
	struct signal_state signals;
};

DEFINE_SPINLOCK(process_lock);
LIST_HEAD(process_list);
struct process *init_process;
unsigned max_tasks, task_count;
u64 total_forks;
pid_t last_pid;
bool tracing;

static struct list_head process_table[PID_BUCKETS];
static struct kmem_cache *task_cache, *process_cache;
static bool pids_wrapped;

/* A few stacks are kept back, so that a fork after an exit finds its stack at once. Under
 * stack_lock. */
#define SPARE_STACKS 8
static DEFINE_SPINLOCK(stack_lock);
static void *spare_stacks[SPARE_STACKS];
static unsigned spare_count;

void task_init(void)
{
	for (unsigned i = 0; i < PID_BUCKETS; i++)
		INIT_LIST_HEAD(&process_table[i]);
	task_cache = kmem_cache_create("task", sizeof(struct task_block), 64, 0, NULL);
	process_cache = kmem_cache_create("process", sizeof(struct process), 64, 0, NULL);
	signal_init();
	load_init();
	/* An eighth of memory at most for kernel stacks and tables of processes: about 32 KB each.
	 */
	max_tasks = (unsigned)min(max(page_alloc_free_pages() / 64, (u64)64), (u64)PID_MAX / 2);
}

static void *stack_allocate(void)
{
	void *stack = NULL;
	unsigned long flags;

	spin_lock_irqsave(&stack_lock, flags);
	if (spare_count)
		stack = spare_stacks[--spare_count];
	spin_unlock_irqrestore(&stack_lock, flags);
	return stack ? stack : get_free_pages(GFP_KERNEL | GFP_NOWARN, STACK_ORDER);
}

static void stack_free(void *stack)
{
	unsigned long flags;

	spin_lock_irqsave(&stack_lock, flags);
	if (spare_count < SPARE_STACKS) {
		spare_stacks[spare_count++] = stack;
		stack = NULL;
	}
	spin_unlock_irqrestore(&stack_lock, flags);
	if (stack)
		free_pages(stack, STACK_ORDER);
}

struct task *task_allocate(const char *comm)
{
	struct task_block *block = kmem_cache_alloc(task_cache, GFP_KERNEL);

	if (!block)
		return NULL;
	memset(block, 0, sizeof(*block));
	block->task.kernel_stack = stack_allocate();
	if (!block->task.kernel_stack) {
		kmem_cache_free(task_cache, block);
		return NULL;
	}
	block->task.signals = &block->signals;
	signal_queue_init(&block->signals.pending);
	block->signals.stack.flags = SS_DISABLE;
	block->task.start_ns = ktime_ns();
	block->task.state = TASK_UNINTERRUPTIBLE;
	block->task.cpu = (int)cpu_id();
	INIT_LIST_HEAD(&block->task.run_link);
	strlcpy(block->task.comm, comm, sizeof(block->task.comm));
	lockdep_task_init(&block->task);
	return &block->task;
}

void task_free(struct task *task)
{
	stack_free(task->kernel_stack);
	kmem_cache_free(task_cache, container_of(task, struct task_block, task));
}

struct process *process_allocate(void)
{
	struct process *process = kmem_cache_alloc(process_cache, GFP_KERNEL);

	if (!process)
		return NULL;
	/* The actions need not be cleared: `handled` says which are valid. */
	memset(process, 0, offsetof(struct process, actions));
	INIT_LIST_HEAD(&process->threads);
	INIT_LIST_HEAD(&process->children);
	init_waitqueue_head(&process->wait_children);
	signal_queue_init(&process->pending);
	process->start_ns = ktime_ns();
	return process;
}

void process_free(struct process *process)
{
	kmem_cache_free(process_cache, process);
}

struct process *process_find(pid_t pid)
{
	struct process *process;

	list_for_each_entry(process, &process_table[(u32)pid % PID_BUCKETS], hash_link) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

struct task *task_find(pid_t pid)
{
	struct process *process = process_find(pid);
	struct task *task;

	if (process && !list_empty(&process->threads)) {
		task = list_first_entry(&process->threads, struct task, thread_link);
		if (task->pid == pid)
			return task;
	}
	/* Not the first thread of its process: rare enough for a walk. */
	list_for_each_entry(process, &process_list, all_link) {
		if (process->thread_count < 2)
			continue;
		list_for_each_entry(task, &process->threads, thread_link) {
			if (task->pid == pid)
				return task;
		}
	}
	return NULL;
}

static bool pid_in_use(pid_t pid)
{
	struct process *process;

	if (process_find(pid) || task_find(pid))
		return true;
	list_for_each_entry(process, &process_list, all_link) {
		if (process->group == pid || process->session == pid)
			return true;
	}
	return false;
}

static pid_t pid_allocate(void)
{
	for (unsigned tries = 0; tries < PID_MAX; tries++) {
		if (++last_pid >= PID_MAX) {
			last_pid = 300; /* the low ones stay with the first programs, as in Linux */
			pids_wrapped = true;
		}
		if (!pids_wrapped || !pid_in_use(last_pid))
			return last_pid;
	}
	return 0;
}

/* The actions that are not the default ones. */
static void copy_actions(struct process *child, const struct process *parent)
{
	u64 handled = parent->handled;

	child->handled = handled;
	while (handled) {
		unsigned i = (unsigned)__builtin_ctzll(handled);

		child->actions[i] = parent->actions[i];
		handled &= handled - 1;
	}
}

static void link_process(struct process *process, pid_t pid)
{
	struct process *parent = process->parent;

	process->pid = pid;
	list_add_tail(&process->all_link, &process_list);
	list_add(&process->hash_link, &process_table[(u32)pid % PID_BUCKETS]);
	if (!parent)
		return;
	process->parent_pid = parent->pid;
	process->group = parent->group;
	process->session = parent->session;
	copy_actions(process, parent);
	list_add_tail(&process->sibling, &parent->children);
}

int process_link_task(struct process *process, struct task *task)
{
	unsigned long flags;
	int error = -EAGAIN;

	spin_lock_irqsave(&process_lock, flags);
	/* A signal to our group must reach the child as well: it has not been in it, so let it be
	 * made after. */
	if (signal_before_fork()) {
		error = -ERESTARTNOINTR;
		goto out;
	}
	if (task_count >= max_tasks)
		goto out;
	task->pid = pid_allocate();
	if (!task->pid)
		goto out;
	if (list_empty(&process->threads))
		link_process(process, task->pid);
	task->process = process;
	list_add_tail(&task->thread_link, &process->threads);
	process->thread_count++;
	atomic_inc(&process->live);
	task_count++;
	total_forks++;
	error = 0;
out:
	spin_unlock_irqrestore(&process_lock, flags);
	return error;
}

void process_unlink_task(struct task *task)
{
	lockdep_assert_held(&process_lock);
	list_del(&task->thread_link);
	task->process->thread_count--;
	task_count--;
}

void process_unlink(struct process *process)
{
	lockdep_assert_held(&process_lock);
	list_del(&process->all_link);
	list_del(&process->hash_link);
	if (process->parent)
		list_del(&process->sibling);
}

void task_set_cred(struct cred *cred)
{
	const struct cred *old;
	unsigned long flags;

	spin_lock_irqsave(&process_lock, flags);
	old = current->cred;
	current->cred = cred;
	spin_unlock_irqrestore(&process_lock, flags);
	put_cred(old);
}

void task_times(const struct task *task, struct cpu_times *times)
{
	u64 total = task->run_ns, user = task->user_ns, sampled = user + task->system_ns;

	if (task->on_cpu)
		total += ktime_ns() - task->last_switch_ns;
	/* The exact total, split as the ticks were; a program too short for a tick was in the
	 * kernel. */
	for (; sampled >> 32; sampled >>= 1)
		user >>= 1;
	times->user_ns = sampled ? total / sampled * user + total % sampled * user / sampled : 0;
	times->system_ns = total - times->user_ns;
}

void process_times(const struct process *process, struct cpu_times *times)
{
	struct task *task;
	struct cpu_times one;

	*times = process->times;
	list_for_each_entry(task, &process->threads, thread_link) {
		task_times(task, &one);
		times->user_ns += one.user_ns;
		times->system_ns += one.system_ns;
	}
}
