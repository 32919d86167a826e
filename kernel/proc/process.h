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

#include "core/memory/slab.h"
#include "core/sched/limits.h"
#include "fs/cred.h"
#include "fs/file/file_table.h"
#include "kernel/proc/signal.h"

#define PID_MAX 32768

#define ADDR_NO_RANDOMIZE 0x0040000u /* personality(2): exec puts things where it always does */

enum { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF, ITIMERS };
enum {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
	CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,
	CLOCKS = 12 /* that Linux has */
};

enum { /* clone(2)'s */
	CLONE_SIGNAL_MASK = 0xff, CLONE_VM = 0x100, CLONE_FS = 0x200, CLONE_FILES = 0x400,
	CLONE_SIGHAND = 0x800, CLONE_PIDFD = 0x1000, CLONE_PTRACE = 0x2000, CLONE_VFORK = 0x4000,
	CLONE_PARENT = 0x8000, CLONE_THREAD = 0x10000, CLONE_NEWNS = 0x20000,
	CLONE_SETTLS = 0x80000, CLONE_PARENT_SETTID = 0x100000, CLONE_CHILD_CLEARTID = 0x200000,
	CLONE_DETACHED = 0x400000, CLONE_CHILD_SETTID = 0x1000000,
	CLONE_NEW_SPACES = 0x7e020000 /* all CLONE_NEW* */
};

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
	atomic_t live;		  /* threads that have not begun to end; falls without the lock */
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

	/* process_lock as well; but start_ns is constant, and real_timer is cancelled without. */
	struct timer real_timer; /* ITIMER_REAL */
	struct interval_timer timers[ITIMERS];
	struct cpu_times times;		 /* of threads that ended */
	struct cpu_times children_times; /* of children waited for */
	u64 start_ns;
	char comm[16]; /* the zombie's */
	const struct cred *zombie_cred;

	/* What a child has from its parent, and the actions. process_lock; but not_dumpable and
	 * personality are changed by its own threads without it, and limits are read so. */
	u64 handled; /* bit signo-1: actions[signo-1] is valid, else SIG_DFL */
	pid_t group, session;
	int nice; /* -20 .. 19 */
	/* -1000 .. 1000, as /proc/PID/oom_score_adj; and what only root may go below */
	s16 oom_score_adj, oom_score_adj_min;
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
extern bool tracing;   /* signals and ends of threads go to the trace (kernel/trace) */

/* task.c */
void task_init(void);
struct process *process_find(pid_t pid); /* zombies too; NULL; process_lock held */
struct process *process_find_or_self(pid_t pid); /* or of a thread; 0: current's own */
struct task *task_find(pid_t pid);	 /* a live thread; process_lock held */

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

/* time.c; process_lock held for the first two, for the others not */
struct cpu_times process_times(const struct process *process);
struct cpu_times task_times(struct task *task);
void real_timer_expired(void *process); /* in an interrupt */
void itimer_cancel(struct process *process); /* the process ends */
s64 read_clock(int clock); /* CLOCK_*: nanoseconds, or -EINVAL */
/* A timespec of the program as nanoseconds (~0 at most), and back: 0, -EFAULT, -EINVAL. */
int get_timespec(const void *from, u64 *ns);
int put_timespec(void *to, u64 ns);
/* When a wait of @ns ends that the current call begins: ~0 never, 0 at once. A call that returned
 * -ERESTART_RESTARTBLOCK and is made again keeps the end it had. */
u64 wait_deadline(u64 ns);
/* The same of the program's timespec at @timeout, NULL: for ever. 0, -EFAULT, -EINVAL. */
int get_deadline(const void *timeout, u64 *deadline);
/* Fill the program's struct rusage; NULL is allowed. */
s64 put_rusage(void *to, const struct cpu_times *times);

static inline void times_add(struct cpu_times *sum, struct cpu_times more)
{
	sum->user_ns += more.user_ns;
	sum->system_ns += more.system_ns;
	sum->minor_faults += more.minor_faults;
	sum->major_faults += more.major_faults;
}

/* The first thread of a process that has not ended. */
#define main_thread(process) list_first_entry(&(process)->threads, struct task, thread_link)

static inline u64 signal_handler(const struct process *process, int signo)
{
	return process->handled & sigmask(signo) ? process->actions[signo - 1].handler : SIG_DFL;
}

/* Make @cred current's for good. */
void task_set_cred(struct cred *cred);

/* Must the thread end: with its process, or for another thread's execve? process_lock held; without
 * it, ask fatal_signal_pending(). */
static inline bool thread_must_end(const struct process *process, const struct task *task)
{
	lockdep_assert_held(&process_lock);
	return process->exiting || (process->exec_task && process->exec_task != task);
}

/* Takes back what @process, which ends, did with SEM_UNDO; may sleep. NULL until somebody has done
 * such a thing (kernel/ipc/sysv). */
extern void (*undo_semaphores)(const struct process *process);

/* exit.c */
/* How good it were to end @process when memory is out: the pages it has in memory, and of all there
 * are oom_score_adj thousandths; OOM_NEVER: it is not to be. process_lock held. */
#define OOM_SCORE_ADJ_MAX 1000
#define OOM_NEVER ((s64)(1ULL << 63))
s64 oom_badness(const struct process *process);
/* End the worst process by that (SIGKILL); false: there is none. For mm/, when memory is out. */
bool oom_kill(void);
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

/*
 * jobctl.c, for a terminal, which belongs to at most one session and names it by the session's
 * number (the pid of its leader): a process's controlling terminal is the one whose session is its
 * own. These take process_lock.
 */
#define current_pgrp() READ_ONCE(current->process->group)
#define current_session() READ_ONCE(current->process->session)

/* Send @signo (1..64) to every process of group @pgrp of @session: 0, or -ESRCH if it has none. Who
 * keeps a group's number, as a terminal does, may keep it until another session has it: so the
 * session is asked for. Any context. */
int signal_pgrp(pid_t pgrp, pid_t session, int signo);

/* The session of process group @pgrp, or 0 if there is no such group. */
pid_t pgrp_session(pid_t pgrp);

/* The current process, in a background group of its terminal's session, is about to do what @signo
 * (SIGTTIN, SIGTTOU) stands for. 0: it may. -ERESTARTSYS: its group has been sent the signal. -EIO:
 * it may not, since it ignores or blocks SIGTTIN, or nobody could continue the group. */
int signal_background(int signo);

/* What the terminal does for processes; it sets `terminal` before there is any. */
struct terminal_hooks {
	/* The leader of @session ends. Not under process_lock, of which the terminal's comes
	 * before. */
	void (*session_ended)(pid_t session);
	/* The device number of @session's terminal, or 0; *foreground its group, or -1. */
	u32 (*of_session)(pid_t session, pid_t *foreground);
};
extern const struct terminal_hooks *terminal; /* NULL: there is none */

/* The sleeps that the end of the process ends. */
#define STATES_KILL                                                                                \
	(STATE_BIT(TASK_INTERRUPTIBLE) | STATE_BIT(TASK_KILLABLE) | STATE_BIT(TASK_STOPPED))
/* info.c. Start-up: /proc gets its processes. */
void info_init(void);
/* load.c. Start-up: /proc tells of all CPUs, and the load is measured. */
void load_init(void);
/* What a task shares by reference. */
struct process_parts {
	struct mm *mm;
	struct file_table *files;
	struct fs_context *fs;
};
void process_parts_put(struct process_parts *parts);

/* futex.c */
void futex_wake_one(u32 *address);
/* what current holds of the futexes on its robust list is marked, waiters woken; so are those who
 * wait for its end (CLONE_CHILD_CLEARTID), if its memory has other users */
void futex_end_thread(void);

/* init.c. Boot: make process 1, which mounts the root file system and runs the first program. */
void init_start(void);
/* Write everything back, print the reports, end the control port's stream, and go. */
enum shutdown { POWER_OFF, RESTART };
__noreturn void machine_shutdown(enum shutdown kind);
