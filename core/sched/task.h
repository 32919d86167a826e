/*
 * task.h - a thread of execution, as every room sees it.
 *
 * A task is what the scheduler runs. Rooms below proc/ reach the running task through `current` and
 * know the objects hung on it only as the opaque pointers they themselves define: mm/ owns struct
 * mm, fs/ owns struct cred, struct fs_context and struct file_table, proc/ owns the rest. Tasks of
 * one process share struct process (the thread group).
 */
#pragma once

#include <arch/cpu.h>

#include "core/base/list.h"

struct mm;
struct mmu_root;
struct cred;
struct fs_context;
struct file_table;
struct process;
struct held_locks;
struct rlimit;
struct signal_state;

enum task_state {
	TASK_RUNNING,	      /* on a CPU or on a run queue */
	TASK_INTERRUPTIBLE,   /* asleep; wake_up() or a signal ends it */
	TASK_UNINTERRUPTIBLE, /* asleep; only wake_up() ends it */
	TASK_KILLABLE,	      /* asleep; wake_up() or TASK_PENDING_END ends it */
	TASK_STOPPED,	      /* stopped by a signal; SIGCONT or TASK_PENDING_END ends it */
	TASK_DEAD,	      /* will not run again */
};

struct task {
	/* Read by assembly; offsets are checked in arch/x86. Owned by the task itself. */
	struct arch_task arch; /* saved stack pointer, FS base, FPU area */
	void *kernel_stack;    /* lowest address; KERNEL_STACK_SIZE bytes */

	/* Read by the owner on hot paths; changed only by the owner (proc/ replaces them whole),
	 * but for `pending`, by anybody. */
	struct mm *mm; /* NULL in a kernel thread */
	const struct cred *cred;      /* what it acts by: its own, or for a moment another */
	const struct cred *real_cred; /* its own, which others look at */
	struct fs_context *fs;	  /* root, working directory, umask */
	struct file_table *files; /* descriptors */
	struct process *process;  /* thread group; NULL in a kernel thread before it has one */
	pid_t pid;		  /* thread id */
	volatile u32 pending;	  /* TASK_PENDING_* bits tested on return to user mode */
	struct mmu_root *mmu;	  /* page tables that the switch loads: those of mm, or NULL */
	pid_t process_id;	  /* what getpid() says; 0: of no process */
	const struct rlimit *limits; /* of its process (limits.h); NULL: none */
	u64 minor_faults, major_faults; /* major: a page had to be read */
	bool in_reclaim;	 /* reclaiming, write-back, swap: allocations do not reclaim */
	bool pagefault_disabled; /* mm/: a fault in a user copy fails at once (locks are held) */

	/* Under the run queue's lock of `cpu`; but without it the task sets its own state, ticks
	 * are counted, and the switch away from the task clears on_cpu. */
	enum task_state state;
	int cpu;
	struct list_head run_link;
	volatile bool on_cpu; /* its registers and stack are in use by `cpu` */
	u32 run_ticks;	   /* ticks left of the time slice */
	u64 run_ns;	   /* CPU time used, exact, up to last_switch_ns; its queue's lock */
	u64 last_switch_ns;
	u64 user_ns;	   /* the part in user mode, sampled by ticks */
	u32 slice_ticks;   /* of a whole time slice (task_set_nice()); any time, by anybody */

	/* proc/ */
	struct list_head thread_link; /* in process->threads */
	u64 system_ns;	      /* CPU time in the kernel as it was last told (task_times()) */
	struct signal_state *signals;
	u64 robust_list;      /* user address of set_robust_list(2)'s head, 0: none */
	int *clear_child_tid; /* user address, CLONE_CHILD_CLEARTID */
	int *set_child_tid;   /* CLONE_CHILD_SETTID: written when the child first runs */
	char comm[16];

	struct held_locks *held_locks; /* lock-order checker, debug builds only */
};

#define TASK_PENDING_SIGNAL (1u << 0) /* a signal may be deliverable: look at it */
#define TASK_PENDING_RESCHED (1u << 1) /* give up the CPU */
#define TASK_PENDING_START (1u << 2)   /* a new task: store set_child_tid */
#define TASK_PENDING_RCU (1u << 4)     /* pass through a quiescent state: rcu_quiescent() */
/* The thread is to end, with its process or for another thread's execve. Set for good, together
 * with TASK_PENDING_SIGNAL, by proc/. */
#define TASK_PENDING_END (1u << 3)

#define KERNEL_STACK_SIZE 16384

/* Any context, of any task. */
static inline void task_set_pending(struct task *task, u32 bits)
{
	__atomic_fetch_or(&task->pending, bits, __ATOMIC_SEQ_CST);
}

static inline void task_clear_pending(struct task *task, u32 bits)
{
	__atomic_fetch_and(&task->pending, ~bits, __ATOMIC_SEQ_CST);
}

/* Is there a signal that would interrupt an interruptible sleep? Any context. */
static inline bool signal_pending(const struct task *task)
{
	return task->pending & TASK_PENDING_SIGNAL;
}

/* Is the thread to end? Ends waits that are otherwise uninterruptible. */
static inline bool fatal_signal_pending(const struct task *task)
{
	return task->pending & TASK_PENDING_END;
}
