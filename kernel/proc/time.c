/*
 * time.c - the time a process uses, clocks, sleeping, interval timers.
 *
 * All clocks are the monotonic one, or that plus an offset, or CPU times. A sleep that a signal
 * interrupts goes on by restart_syscall(2) until its deadline, so stopping and continuing a program
 * does not prolong it.
 *
 * ITIMER_REAL runs on the monotonic clock and sends SIGALRM from the timer interrupt. A repeating
 * one starts again when its signal has been taken, so that no interval is short enough to keep the
 * CPU busy with timer interrupts alone. The other two count down by the scheduler's ticks (10 ms),
 * so they are as coarse as the ticks. Under process_lock; the kernel timer is cancelled without it,
 * by the process itself.
 */
#include "fs/vfs.h"
#include "kernel/proc/itimer.h"
#include "kernel/proc/process.h"
#include "kernel/proc/scheduler.h"

/* ---- CPU time -------------------------------------------------------------------------------- */

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
	times->minor_faults = task->minor_faults;
	times->major_faults = task->major_faults;
}

void process_times(const struct process *process, struct cpu_times *times)
{
	struct task *task;
	struct cpu_times one;

	*times = process->times;
	list_for_each_entry(task, &process->threads, thread_link) {
		task_times(task, &one);
		times_add(times, &one);
	}
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

	return to && copy_to_user(to, &usage, sizeof(usage)) ? -EFAULT : 0;
}

s64 sys_getrusage(int who, void *usage)
{
	enum { RUSAGE_SELF = 0, RUSAGE_CHILDREN = -1, RUSAGE_THREAD = 1 };
	struct process *process = current->process;
	struct cpu_times times;

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
		return -EINVAL;
	if (!usage)
		return -EFAULT;
	spin_lock_irq(&process_lock);
	if (who == RUSAGE_SELF)
		process_times(process, &times);
	else if (who == RUSAGE_THREAD)
		task_times(current, &times);
	else
		times = process->children_times;
	spin_unlock_irq(&process_lock);
	return put_rusage(usage, &times);
}

s64 sys_times(void *to)
{
	struct cpu_times times[2];
	s64 ticks[4];

	spin_lock_irq(&process_lock);
	process_times(current->process, &times[0]);
	times[1] = current->process->children_times;
	spin_unlock_irq(&process_lock);
	for (int i = 0; i < 2; i++) {
		ticks[2 * i] = (s64)(times[i].user_ns / TICK_NS);
		ticks[2 * i + 1] = (s64)(times[i].system_ns / TICK_NS);
	}
	if (to && copy_to_user(to, ticks, sizeof(ticks)))
		return -EFAULT;
	return (s64)(ktime_ns() / TICK_NS);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

enum {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
	CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,
	CLOCKS = 12 /* that Linux has */
};
#define TIMER_ABSTIME 1

s64 get_timespec(const void *from, u64 *ns)
{
	struct timespec64 time;

	if (copy_from_user(&time, from, sizeof(time)))
		return -EFAULT;
	if (time.tv_sec < 0 || (u64)time.tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*ns = timespec64_to_ns(time);
	return 0;
}

s64 put_timespec(void *to, u64 ns)
{
	struct timespec64 time = ns_to_timespec64(ns);

	return copy_to_user(to, &time, sizeof(time)) ? -EFAULT : 0;
}

static s64 read_clock(int clock, u64 *ns)
{
	struct cpu_times times;

	if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) {
		spin_lock_irq(&process_lock);
		if (clock == CLOCK_THREAD_CPUTIME_ID)
			task_times(current, &times);
		else
			process_times(current->process, &times);
		spin_unlock_irq(&process_lock);
		*ns = times.user_ns + times.system_ns;
	} else if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
		*ns = realtime_ns();
	} else if (clock >= CLOCK_MONOTONIC && clock <= CLOCK_BOOTTIME) {
		*ns = ktime_ns();
	} else {
		return -EINVAL;
	}
	return 0;
}

s64 sys_clock_gettime(int clock, void *time)
{
	u64 ns;
	s64 error = read_clock(clock, &ns);

	return error ? error : put_timespec(time, ns);
}

s64 sys_clock_getres(int clock, void *resolution)
{
	u64 ns;
	s64 error = read_clock(clock, &ns);

	if (error || !resolution)
		return error;
	ns = clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE ? TICK_NS : 1;
	return put_timespec(resolution, ns);
}

s64 sys_clock_settime(int clock, const void *time)
{
	u64 ns;
	s64 error;

	if (clock != CLOCK_REALTIME)
		return -EINVAL;
	error = get_timespec(time, &ns);
	if (error)
		return error;
	if (!capable(current->cred))
		return -EPERM;
	realtime_set(ns);
	return 0;
}

s64 sys_gettimeofday(void *time, void *zone)
{
	struct timeval64 now = ns_to_timeval(realtime_ns());

	if (time && copy_to_user(time, &now, sizeof(now)))
		return -EFAULT;
	return zone && put_user(0ULL, (u64 *)zone) ? -EFAULT : 0;
}

static s64 timeval_to_ns(const struct timeval64 *time, u64 *ns)
{
	if (time->tv_sec < 0 || (u64)time->tv_usec >= 1000000)
		return -EINVAL;
	*ns = min((u64)time->tv_sec, 1ULL << 33) * NSEC_PER_SEC + (u64)time->tv_usec * 1000;
	return 0;
}

s64 sys_settimeofday(const s64 *time, const void *zone)
{
	struct timeval64 new;
	u64 ns;

	(void)zone; /* the kernel keeps UTC and has no use for a zone */
	if (!capable(current->cred))
		return -EPERM;
	if (!time)
		return 0;
	if (copy_from_user(&new, time, sizeof(new)))
		return -EFAULT;
	if (timeval_to_ns(&new, &ns))
		return -EINVAL;
	realtime_set(ns);
	return 0;
}

s64 sys_time(s64 *seconds)
{
	s64 now = (s64)(realtime_ns() / NSEC_PER_SEC);

	return seconds && put_user(now, seconds) ? -EFAULT : now;
}

/* ---- sleeping -------------------------------------------------------------------------------- */

/* Until @restart->deadline_ns of the monotonic clock; arguments[0]: where to tell the time left, or
 * NULL. */
static s64 sleep_until(struct restart *restart)
{
	u64 now;

	while ((now = ktime_ns()) < restart->deadline_ns && !signal_pending(current)) {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_timeout_ns(restart->deadline_ns - now);
	}
	if (now >= restart->deadline_ns)
		return 0;
	if (restart->arguments[0] &&
	    put_timespec((void *)restart->arguments[0], restart->deadline_ns - now))
		return -EFAULT;
	restart->function = sleep_until;
	return -ERESTART_RESTARTBLOCK;
}

static s64 sleep_for(u64 ns, void *left)
{
	struct restart *restart = &current->signals->restart;
	u64 now = ktime_ns();

	restart->deadline_ns = now + ns < now ? ~0ULL - 1 : now + ns;
	restart->arguments[0] = (u64)left;
	return sleep_until(restart);
}

s64 sys_nanosleep(const void *request, void *left)
{
	u64 ns;
	s64 error = get_timespec(request, &ns);

	return error ? error : sleep_for(ns, left);
}

s64 sys_clock_nanosleep(int clock, int flags, const void *request, void *left)
{
	struct restart restart = {0};
	u64 ns;
	s64 result;

	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return -EINVAL;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
		return clock >= 0 && clock < CLOCKS ? -EOPNOTSUPP : -EINVAL;
	result = get_timespec(request, &ns);
	if (result)
		return result;
	if (!(flags & TIMER_ABSTIME))
		return sleep_for(ns, left);
	if (clock == CLOCK_REALTIME)
		ns -= min(ns, realtime_offset_ns);
	restart.deadline_ns = ns;
	result = sleep_until(&restart);
	/* needs no restart block: the same call does the same again */
	return result == -ERESTART_RESTARTBLOCK ? -ERESTARTNOHAND : result;
}

/* ---- interval timers ------------------------------------------------------------------------- */

enum { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };

static void real_timer_expired(void *argument)
{
	struct process *process = argument;

	spin_lock(&process_lock);
	signal_send_locked(process, NULL, SIGALRM, NULL);
	if (!process->real_interval_ns)
		process->real_deadline_ns = 0;
	spin_unlock(&process_lock);
}

/* The next moment of the timer's own rhythm that has not passed. */
void itimer_alarm_taken(struct process *process)
{
	u64 now = ktime_ns(), interval = process->real_interval_ns, late;

	lockdep_assert_held(&process_lock);
	if (!interval || process->real_deadline_ns > now)
		return;
	late = now - process->real_deadline_ns;
	process->real_deadline_ns += (late / interval + 1) * interval;
	timer_start(&process->real_timer, process->real_deadline_ns);
}

void itimer_init(struct process *process)
{
	timer_init(&process->real_timer, real_timer_expired, process);
}

void itimer_cancel(struct process *process)
{
	if (process->real_timer.cpu < 0)
		return;
	spin_lock_irq(&process_lock);
	process->real_interval_ns = process->real_deadline_ns = 0; /* nothing starts it again */
	spin_unlock_irq(&process_lock);
	timer_cancel(&process->real_timer);
}

static void count_down(struct process *process, struct interval_timer *timer, int signo)
{
	if (timer->left_ns > TICK_NS) {
		timer->left_ns -= TICK_NS;
	} else if (timer->left_ns) {
		timer->left_ns = timer->interval_ns;
		signal_send_locked(process, NULL, signo, NULL);
	}
}

/* SIGXCPU at the soft limit and each second after it, SIGKILL at the hard one. */
static void enforce_cpu_limit(struct process *process)
{
	const struct rlimit *limit = &process->limits[RLIMIT_CPU];
	struct cpu_times times;
	u64 used, second;

	process_times(process, &times);
	used = times.user_ns + times.system_ns;
	second = used / NSEC_PER_SEC;
	if (second >= limit->hard)
		signal_send_locked(process, NULL, SIGKILL, NULL);
	else if (second >= limit->soft && used % NSEC_PER_SEC < TICK_NS)
		signal_send_locked(process, NULL, SIGXCPU, NULL);
}

void process_tick(struct process *process, bool user)
{
	bool limited = process->limits[RLIMIT_CPU].soft != RLIM_INFINITY;

	if (likely(!(process->virtual_timer.left_ns | process->profile_timer.left_ns) && !limited))
		return;
	spin_lock(&process_lock);
	if (limited)
		enforce_cpu_limit(process);
	if (user)
		count_down(process, &process->virtual_timer, SIGVTALRM);
	count_down(process, &process->profile_timer, SIGPROF);
	spin_unlock(&process_lock);
}

/* Of a timer that counts ticks; NULL: it is ITIMER_REAL, or none. */
static struct interval_timer *counted_timer(int which)
{
	return which == ITIMER_VIRTUAL ? &current->process->virtual_timer
	       : which == ITIMER_PROF  ? &current->process->profile_timer
				       : NULL;
}

static struct interval_timer read_timer(int which)
{
	const struct process *process = current->process;
	u64 now = ktime_ns(), deadline = process->real_deadline_ns;
	struct interval_timer real = {.interval_ns = process->real_interval_ns};

	if (counted_timer(which))
		return *counted_timer(which);
	if (deadline) /* due but not yet delivered: a little is left, since 0 would say "off" */
		real.left_ns = deadline > now ? deadline - now : 1000;
	return real;
}

static void set_timer(int which, u64 ns, u64 interval)
{
	struct process *process = current->process;
	struct interval_timer *timer = counted_timer(which);

	if (!timer)
		itimer_cancel(process);
	spin_lock_irq(&process_lock);
	if (timer) {
		*timer = (struct interval_timer){ns, interval};
	} else if (ns) {
		process->real_interval_ns = interval;
		process->real_deadline_ns = ktime_ns() + ns;
		timer_start(&process->real_timer, process->real_deadline_ns);
	}
	spin_unlock_irq(&process_lock);
}

s64 sys_getitimer(int which, void *to)
{
	struct interval_timer timer = read_timer(which);
	const struct timeval64 value[2] = {ns_to_timeval(timer.interval_ns),
					   ns_to_timeval(timer.left_ns)};

	if (which < ITIMER_REAL || which > ITIMER_PROF)
		return -EINVAL;
	return copy_to_user(to, value, sizeof(value)) ? -EFAULT : 0;
}

s64 sys_setitimer(int which, const void *from, void *old)
{
	struct timeval64 value[2] = {0};
	u64 ns, interval;
	s64 error;

	if (from && copy_from_user(value, from, sizeof(value)))
		return -EFAULT;
	if (which < ITIMER_REAL || which > ITIMER_PROF || timeval_to_ns(&value[0], &interval) ||
	    timeval_to_ns(&value[1], &ns))
		return -EINVAL;
	error = old ? sys_getitimer(which, old) : 0;
	if (!error)
		set_timer(which, ns, interval);
	return error;
}

s64 sys_alarm(u32 seconds)
{
	u64 left = read_timer(ITIMER_REAL).left_ns;

	set_timer(ITIMER_REAL, seconds * NSEC_PER_SEC, 0);
	/* Rounded, but never down to 0, which means that none was set. */
	return left ? (s64)max((left + NSEC_PER_SEC / 2) / NSEC_PER_SEC, 1ULL) : 0;
}
