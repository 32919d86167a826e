/*
 * process.h - a process: the thread group, its place among parents, groups and sessions, its
 * limits.
 *
 * A struct process is made by fork with its first thread (struct task) and lives until its parent
 * has waited for it; the tasks are freed when they have left their CPU for the last time. A
 * thread's pid is unique among all threads; the process has the pid of its first thread.
 *
 * States of a process: running -> (stopped <-> running) -> zombie -> reaped (freed).
 *
 * process_lock (spinlock, interrupts disabled) guards the tree, the groups and sessions, the pids,
 * what signals are pending and their actions, and stop and exit states: one lock, since at most 16
 * CPUs take it, briefly. Order: tty locks -> process_lock -> wait queue locks -> run queue locks.
 *
 * Limits: pids below PID_MAX; at most max_tasks tasks and zombies (by memory); groups of
 * credentials: 32.
 */
#pragma once

#include "fs/vfs.h"
#include "kernel/proc/signal.h"

#define PID_MAX 32768

enum rlimit_kind {
	RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_RSS, RLIMIT_NPROC,
	RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_AS, RLIMIT_LOCKS, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE,
	RLIMIT_NICE, RLIMIT_RTPRIO, RLIMIT_RTTIME, RLIMIT_COUNT
};
#define RLIM_INFINITY (~0ULL)
#define ADDR_NO_RANDOMIZE 0x0040000u /* personality(2): exec puts things where it always does */

struct rlimit {
	u64 soft, hard;
};

enum { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF, ITIMERS };

struct interval_timer {
	u64 left_ns; /* counts down by ticks; ITIMER_REAL: when it is due; 0: off */
	u64 interval_ns;
};

struct cpu_times {
	u64 user_ns, system_ns;
	u64 minor_faults, major_faults;
};

/* What happened to a child, as wait4 reports it: the low byte of an end is the signal, the second
 * one the status. */
#define EVENT_STOPPED(signo) ((signo) << 8 | 0x7f)
#define EVENT_CONTINUED 0xffff

struct process {
	pid_t pid; /* constant */

	/* process_lock */
	struct list_head threads; /* task->thread_link, the first thread first */
	unsigned thread_count;	  /* 0: a zombie */
	atomic_t live;		  /* threads that have not begun to end */
	struct task *exec_task;	  /* the thread in execve, for which all others are to end */
	struct list_head all_link; /* process_list, oldest first */
	struct process *parent; /* the zombie is his to wait for */
	pid_t parent_pid;	/* == parent->pid; read without the lock by getppid */
	struct list_head children, sibling;
	bool did_exec;	   /* setpgid by the parent is over */
	bool vforked;	   /* its parent waits until it execs or exits */
	bool exiting;	   /* group_exit: all threads are to end with exit_code */
	bool stopped;	   /* by job control: its threads wait for SIGCONT */
	int exit_code;	   /* as wait4 reports it */
	int event;	   /* not yet waited for: EVENT_*; of a zombie its exit_code; 0: none */
	wait_queue_head_t wait_children;
	u64 pending;	   /* signals for any of its threads */

	/* The owner writes, others read. */
	struct timer real_timer; /* ITIMER_REAL */
	struct interval_timer timers[ITIMERS];
	struct cpu_times times;		 /* of threads that ended */
	struct cpu_times children_times; /* of children waited for */
	u64 start_ns;
	char comm[16]; /* the zombie's */
	const struct cred *zombie_cred;

	/* What a child has from its parent, and the actions. process_lock. */
	u64 handled; /* bit signo-1: actions[signo-1] is valid, else SIG_DFL */
	pid_t group, session;
	int nice; /* -20 .. 19 */
	bool not_dumpable;
	u32 personality; /* ADDR_NO_RANDOMIZE or nothing */

	/* From here on not cleared when it is made: */
	struct rlimit limits[RLIMIT_COUNT];
	struct signal_action actions[SIGNAL_COUNT];
	struct siginfo infos[SIGNAL_COUNT]; /* of signals pending for it or a thread */
};

extern spinlock_t process_lock;
extern struct list_head process_list;
extern struct process *init_process;
extern unsigned max_tasks, task_count; /* zombies, which keep their pids, count as tasks */
extern u64 total_forks;
extern pid_t last_pid; /* given out last */
extern bool tracing;   /* signals and ends of threads go to the trace (sys/trace.c) */

/* task.c */
void task_init(void);
struct process *process_find(pid_t pid); /* zombies too; NULL; process_lock held */
struct task *task_find(pid_t pid);	 /* a live thread; process_lock held */
/* A task with kernel stack and signal state, all else zero; comm copied from @comm. NULL: no
 * memory. */
struct task *task_allocate(const char *comm);
void task_free(struct task *task);
struct process *process_allocate(struct process *parent); /* NULL: no memory; init has no parent */
void process_free(struct process *process);
/* Give out a pid for @task (and @process when new) and enter both everywhere; a new one joins its
 * parent's group. -EAGAIN: too many; -ERESTARTNOINTR: a signal comes first. Takes process_lock. */
int process_link_task(struct process *process, struct task *task);
/* Does @pid mean @process, as in kill(2) and wait4(2): > 0 that one, 0 our group, -1 any, < -1 that
 * group? process_lock held. */
bool process_is_meant(const struct process *process, pid_t pid);
/* the first thread's, a zombie's too; process_lock held */
const struct cred *process_cred(const struct process *process);

/* time.c; process_lock held */
struct cpu_times process_times(const struct process *process);
struct cpu_times task_times(const struct task *task);
void real_timer_expired(void *process); /* in an interrupt */
void itimer_cancel(struct process *process); /* the process ends; process_lock not held */
/* A tick, in an interrupt, for the timers that count CPU time. */
void process_tick(struct process *process, bool user);
/* Fill the program's struct rusage; NULL is allowed. */
s64 put_rusage(void *to, const struct cpu_times *times);

static inline void times_add(struct cpu_times *sum, const struct cpu_times *more)
{
	sum->user_ns += more->user_ns;
	sum->system_ns += more->system_ns;
	sum->minor_faults += more->minor_faults;
	sum->major_faults += more->major_faults;
}

static inline void task_set_pending(struct task *task, u32 bits)
{
	__atomic_fetch_or(&task->pending, bits, __ATOMIC_SEQ_CST);
}

static inline void task_clear_pending(struct task *task, u32 bits)
{
	__atomic_fetch_and(&task->pending, ~bits, __ATOMIC_SEQ_CST);
}

/* The first thread of a process that has not ended. */
#define main_thread(process) list_first_entry(&(process)->threads, struct task, thread_link)

static inline u64 signal_handler(const struct process *process, int signo)
{
	return process->handled & sigmask(signo) ? process->actions[signo - 1].handler : SIG_DFL;
}

#define process_limit(kind) (current->process->limits[kind].soft)

/* Make @cred current's for good. */
void task_set_cred(struct cred *cred);

/* fork.c */
/* Must the current thread end: with its process, or for another thread's execve? */
static inline bool thread_must_end(const struct process *process, const struct task *task)
{
	return process->exiting || (process->exec_task && process->exec_task != task);
}

/* ipc.c: take back what @process, which ends, did with SEM_UNDO. May sleep. */
void semaphores_exit(const struct process *process);

/* exit.c */
__noreturn void process_exit(int code);	 /* this thread; the process with its last thread */
__noreturn void process_exit_group(int code); /* the whole process */
/* @process is to end with @code, from wherever its threads are. process_lock held. */
void process_end(struct process *process, int code);
/* @event has happened to @process: tell its parent, who may wait for it. process_lock held; an
 * ended process may be gone afterwards. */
void process_event(struct process *process, int event);

/* jobctl.c; process_lock held */
bool group_is_orphaned(pid_t group, const struct process *ignored);
void group_check_orphaned(struct process *process, struct process *parent);

/* sched.c. Boot: queues of all CPUs; @boot_task, which runs on CPU 0, is to be its idle task. */
void sched_init(struct task *boot_task);
/* Each further CPU: the task it runs becomes its idle task; then it calls sched_idle_loop(). */
void sched_adopt_idle(struct task *task);
__noreturn void sched_idle_loop(void);
/* Called by the machine (arch/process.h, arch/time.h). */
void schedule_tail(struct task *previous);
void scheduler_tick(bool user);
void exit_to_user(struct registers *registers);
/* For proc/ alone: */
#define STATE_BIT(state) (1u << (state))
/* The sleeps that the end of the process ends. */
#define STATES_KILL                                                                                \
	(STATE_BIT(TASK_INTERRUPTIBLE) | STATE_BIT(TASK_KILLABLE) | STATE_BIT(TASK_STOPPED))
/* Have @task look at its signals, waking it from the sleeps @states. */
void sched_tell(struct task *task, u32 states);

/* info.c */
void load_init(void);
/* What a task shares by reference. */
struct process_parts {
	struct mm *mm;
	struct file_table *files;
	struct fs_context *fs;
};
void process_parts_put(struct process_parts *parts);

struct cpu_info {
	u64 user_ns, system_ns; /* by ticks */
	u64 idle_ns, switches;
	unsigned runnable; /* tasks that run or want to */
};
void add_cpu_info(struct cpu_info *sum, unsigned cpu); /* sched.c */

/* futex.c */
void futex_wake_one(u32 *address);
/* what current holds of the futexes on its robust list is marked, waiters woken */
void futex_end_thread(void);

/* init.c. Boot: make process 1, which mounts the root file system and runs the first program. */
void init_start(void);
/* Write everything back, print the reports, end the control port's stream, and go. */
__noreturn void machine_shutdown(bool reboot);
