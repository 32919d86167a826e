/*
 * time.c - the time a process uses, clocks, sleeping, interval timers.
 *
 * All clocks are the monotonic one, or that plus an offset, or CPU times. A wait that a signal
 * without a handler interrupts is begun again with the deadline it had, so stopping and continuing
 * a program does not prolong it.
 *
 * ITIMER_REAL runs on the monotonic clock and sends SIGALRM from the timer interrupt, never more
 * often than REAL_PERIOD_MIN_NS, so that no interval is short enough to keep the CPU busy with
 * timer interrupts alone. The other two are counted down by kernel/rare, where that is. Under
 * process_lock; the kernel timer is cancelled without it, by the process itself.
 */
#include "kernel/proc/process.h"

#define REAL_PERIOD_MIN_NS (100 * NSEC_PER_USEC)

/* ---- CPU time -------------------------------------------------------------------------------- */

struct cpu_times task_times(struct task *task)
{
	u64 total = task_run_ns(task);

	lockdep_assert_held(&process_lock);
	/* What no tick found in user mode of the exact total was in the kernel. What was told of
	 * that stays: a tick is charged to user mode whole, though the kernel had a part of it. */
	task->system_ns = max(task->system_ns, total - min(task->user_ns, total));
	return (struct cpu_times){total - min(task->system_ns, total), task->system_ns,
				  task->minor_faults, task->major_faults};
}

struct cpu_times process_times(const struct process *process)
{
	struct cpu_times times = process->times;
	struct task *task;

	lockdep_assert_held(&process_lock);
	list_for_each_entry (task, &process->threads, thread_link)
		times_add(&times, task_times(task));
	return times;
}

struct rusage {
	struct timeval64 user, system;
	s64 maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock, msgsnd, msgrcv,
		nsignals, nvcsw, nivcsw;
};
_Static_assert(sizeof(struct rusage) == 144, "struct rusage of x86-64");

s64 put_rusage(void *to, const struct cpu_times *times)
{
	struct rusage usage = {.user = ns_to_timeval(times->user_ns),
			       .system = ns_to_timeval(times->system_ns),
			       .minflt = (s64)times->minor_faults,
			       .majflt = (s64)times->major_faults};

	return write_user_if_given(to, &usage, sizeof(usage));
}

enum { RUSAGE_CHILDREN = -1, RUSAGE_SELF, RUSAGE_THREAD };

static struct cpu_times times_of(int who)
{
	guard(spinlock_irq, &process_lock);
	if (who == RUSAGE_SELF)
		return process_times(current->process);
	if (who == RUSAGE_THREAD)
		return task_times(current);
	return current->process->children_times;
}

s64 sys_getrusage(int who, void *usage)
{
	const struct cpu_times times = times_of(who);

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
		return -EINVAL;
	return usage ? put_rusage(usage, &times) : -EFAULT;
}

s64 sys_times(void *to)
{
	const struct cpu_times own = times_of(RUSAGE_SELF), children = times_of(RUSAGE_CHILDREN);
	const u64 ticks[4] = {own.user_ns / TICK_NS, own.system_ns / TICK_NS,
			      children.user_ns / TICK_NS, children.system_ns / TICK_NS};

	TRY(write_user_if_given(to, ticks, sizeof(ticks)));
	return (s64)(ktime_ns() / TICK_NS);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

#define TIMER_ABSTIME 1

int get_timespec(const void *from, u64 *ns)
{
	struct timespec64 time;

	TRY(read_user(&time, from, sizeof(time)));
	if (time.tv_sec < 0 || (u64)time.tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	/* What is further ahead than that, five hundred years, never comes either. */
	*ns = min((u64)time.tv_sec, ~0ULL / NSEC_PER_SEC - 1) * NSEC_PER_SEC + (u64)time.tv_nsec;
	return 0;
}

int put_timespec(void *to, u64 ns)
{
	struct timespec64 time = ns_to_timespec64(ns);

	return write_user(to, &time, sizeof(time));
}

static u64 cpu_time_of(int who)
{
	const struct cpu_times times = times_of(who);

	return times.user_ns + times.system_ns;
}

s64 read_clock(int clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		return (s64)realtime_ns();
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		return (s64)ktime_ns();
	case CLOCK_PROCESS_CPUTIME_ID:
		return (s64)cpu_time_of(RUSAGE_SELF);
	case CLOCK_THREAD_CPUTIME_ID:
		return (s64)cpu_time_of(RUSAGE_THREAD);
	}
	return -EINVAL;
}

s64 sys_clock_gettime(int clock, void *time)
{
	s64 ns = TRY(read_clock(clock));

	return put_timespec(time, (u64)ns);
}

s64 sys_gettimeofday(void *time, void *zone)
{
	const struct timeval64 now = ns_to_timeval(realtime_ns());
	const s32 greenwich[2] = {0}; /* minutes west of it, and whether it is summer time */

	TRY(write_user_if_given(time, &now, sizeof(now)));
	return write_user_if_given(zone, &greenwich, sizeof(greenwich));
}

s64 sys_time(s64 *seconds)
{
	s64 now = (s64)(realtime_ns() / NSEC_PER_SEC);

	TRY(write_user_if_given(seconds, &now, sizeof(now)));
	return now;
}

/* ---- sleeping -------------------------------------------------------------------------------- */

u64 wait_deadline(u64 ns)
{
	struct signal_state *signals = current->signals;
	u64 now = ktime_ns();

	if (!signals->repeats)
		signals->deadline_ns = ns ? now + min(ns, ~0ULL - now) : 0;
	signals->repeats = false;
	return signals->deadline_ns;
}

int get_deadline(const void *timeout, u64 *deadline)
{
	u64 ns = ~0ULL;

	if (timeout && !current->signals->repeats)
		TRY(get_timespec(timeout, &ns));
	*deadline = wait_deadline(ns);
	return 0;
}

/* @left: where to tell the time left, or NULL. */
static s64 sleep_until(u64 deadline, void *left)
{
	do {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!schedule_until(deadline))
			return 0;
	} while (!signal_pending(current));
	if (left)
		TRY(put_timespec(left, time_left(deadline)));
	return -ERESTART_RESTARTBLOCK;
}

s64 sys_nanosleep(const void *request, void *left)
{
	u64 deadline;

	if (!request)
		return -EFAULT;
	TRY(get_deadline(request, &deadline));
	return sleep_until(deadline, left);
}

s64 sys_clock_nanosleep(int clock, int flags, const void *request, void *left)
{
	u64 ns;

	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return -EINVAL;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
		return clock >= 0 && clock < CLOCKS ? -EOPNOTSUPP : -EINVAL;
	if (!(flags & TIMER_ABSTIME))
		return sys_nanosleep(request, left);
	TRY(get_timespec(request, &ns));
	if (clock == CLOCK_REALTIME)
		ns -= min(ns, realtime_offset_ns);
	/* Without a deadline of the kernel's: the same call does the same again. */
	return sleep_until(ns, NULL) ? -ERESTARTNOHAND : 0;
}

/* ---- interval timers ------------------------------------------------------------------------- */

void real_timer_expired(void *argument)
{
	struct process *process = argument;
	struct interval_timer *timer = &process->timers[ITIMER_REAL];

	guard(spinlock_irqsave, &process_lock);
	if (!timer->left_ns || timer->left_ns > ktime_ns())
		return; /* switched off or set to later meanwhile */
	/* the last one still waits, or nobody wants them: the next is soon enough in a tick, and
	 * later where there are many of these */
	bool taken = !(process->pending & sigmask(SIGALRM)) &&
		     signal_handler(process, SIGALRM) != SIG_IGN;

	signal_send_locked(process, NULL, SIGALRM, NULL);
	if (!timer->interval_ns) {
		timer->left_ns = 0;
		return;
	}
	u64 soon = taken ? REAL_PERIOD_MIN_NS : TICK_NS * (1 + task_count / 64);
	timer->left_ns = max(timer->left_ns + timer->interval_ns, ktime_ns() + soon);
	timer_start(&process->real_timer, timer->left_ns);
}

/* Those that count CPU time are there with who counts it (kernel/rare). */
static bool there_is_timer(int which)
{
	return which == ITIMER_REAL || (which > ITIMER_REAL && which < ITIMERS && sched_tick_hook);
}

/* process_lock held. */
static struct interval_timer read_timer(const struct process *process, int which)
{
	struct interval_timer timer = process->timers[which];

	lockdep_assert_held(&process_lock);
	if (which == ITIMER_REAL && timer.left_ns) /* due, not yet sent: 0 would say "off" */
		timer.left_ns = max(time_left(timer.left_ns), NSEC_PER_USEC);
	return timer;
}

/* How it was. One that is off may expire yet, and then does nothing. */
static struct interval_timer set_timer(struct process *process, int which, u64 ns, u64 interval)
{
	if (which == ITIMER_REAL && ns)
		ns += ktime_ns();
	guard(spinlock_irq, &process_lock);
	struct interval_timer old = read_timer(process, which);
	process->timers[which] = (struct interval_timer){ns, interval};
	if (which == ITIMER_REAL && ns)
		timer_start(&process->real_timer, ns);
	return old;
}

void itimer_cancel(struct process *process)
{
	if (process->real_timer.cpu < 0)
		return;
	set_timer(process, ITIMER_REAL, 0, 0); /* nothing starts it again */
	timer_cancel(&process->real_timer);
}

static int put_timer(void *to, const struct interval_timer *timer)
{
	const struct timeval64 value[2] = {ns_to_timeval(timer->interval_ns),
					   ns_to_timeval(timer->left_ns)};

	return write_user(to, value, sizeof(value));
}

s64 sys_getitimer(int which, void *to)
{
	if (!there_is_timer(which))
		return -EINVAL;
	spin_lock_irq(&process_lock);
	struct interval_timer timer = read_timer(current->process, which);
	spin_unlock_irq(&process_lock);
	return put_timer(to, &timer);
}

static int timeval_to_ns(const struct timeval64 *time, u64 *ns)
{
	if (time->tv_sec < 0 || (u64)time->tv_usec >= 1000000)
		return -EINVAL;
	*ns = min((u64)time->tv_sec, 1ULL << 33) * NSEC_PER_SEC + (u64)time->tv_usec * 1000;
	return 0;
}

s64 sys_setitimer(int which, const void *from, void *old)
{
	struct timeval64 value[2] = {0};
	u64 ns, interval;

	TRY(read_user_if_given(value, from, sizeof(value)));
	if (!there_is_timer(which))
		return -EINVAL;
	TRY(timeval_to_ns(&value[0], &interval));
	TRY(timeval_to_ns(&value[1], &ns));
	struct interval_timer before = set_timer(current->process, which, ns,
						 ns || which != ITIMER_REAL ? interval : 0);
	return old ? put_timer(old, &before) : 0;
}

s64 sys_alarm(u32 seconds)
{
	u64 left = set_timer(current->process, ITIMER_REAL, seconds * NSEC_PER_SEC, 0).left_ns;

	/* Rounded, but never down to 0, which means that none was set. */
	return left ? (s64)max((left + NSEC_PER_SEC / 2) / NSEC_PER_SEC, 1ULL) : 0;
}
