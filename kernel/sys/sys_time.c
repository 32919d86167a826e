/*
 * sys_time.c - clocks, sleeping, interval timers.
 *
 * All clocks are the monotonic one, or that plus an offset, or CPU times. A sleep that a signal
 * interrupts goes on by restart_syscall(2) until its deadline, so stopping and continuing a program
 * does not prolong it.
 */
#include "fs/vfs.h"
#include "kernel/core/sched.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/itimer.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"
#include "kernel/sys/user_types.h"

#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_MONOTONIC_RAW 4
#define CLOCK_REALTIME_COARSE 5
#define CLOCK_MONOTONIC_COARSE 6
#define CLOCK_BOOTTIME 7
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

static s64 cpu_clock(bool thread, u64 *ns)
{
	struct cpu_times times;
	unsigned long flags;

	spin_lock_irqsave(&process_lock, flags);
	if (thread)
		task_times(current, &times);
	else
		process_times(current->process, &times);
	spin_unlock_irqrestore(&process_lock, flags);
	*ns = times.user_ns + times.system_ns;
	return 0;
}

static s64 read_clock(int clock, u64 *ns)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		*ns = realtime_ns();
		return 0;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		*ns = ktime_ns();
		return 0;
	case CLOCK_PROCESS_CPUTIME_ID:
	case CLOCK_THREAD_CPUTIME_ID:
		return cpu_clock(clock == CLOCK_THREAD_CPUTIME_ID, ns);
	}
	return -EINVAL;
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

s64 sys_settimeofday(const s64 *time, const void *zone)
{
	struct timeval64 new;

	(void)zone; /* the kernel keeps UTC and has no use for a zone */
	if (!capable(current->cred))
		return -EPERM;
	if (!time)
		return 0;
	if (copy_from_user(&new, time, sizeof(new)))
		return -EFAULT;
	if (new.tv_sec < 0 || (u64)new.tv_usec >= 1000000)
		return -EINVAL;
	realtime_set((u64)new.tv_sec * NSEC_PER_SEC + (u64)new.tv_usec * 1000);
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

/* An absolute deadline needs no restart block: the same call does the same again. */
static s64 sleep_to_deadline(int clock, u64 deadline)
{
	struct restart restart = {.deadline_ns = deadline};
	s64 result;

	if (clock == CLOCK_REALTIME)
		restart.deadline_ns =
			deadline > realtime_offset_ns ? deadline - realtime_offset_ns : 0;
	result = sleep_until(&restart);
	return result == -ERESTART_RESTARTBLOCK ? -ERESTARTNOHAND : result;
}

s64 sys_nanosleep(const void *request, void *left)
{
	u64 ns;
	s64 error = get_timespec(request, &ns);

	return error ? error : sleep_for(ns, left);
}

s64 sys_clock_nanosleep(int clock, int flags, const void *request, void *left)
{
	u64 ns;
	s64 error;

	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return -EINVAL;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
		return clock >= 0 && clock <= 11 ? -EOPNOTSUPP : -EINVAL;
	error = get_timespec(request, &ns);
	if (error)
		return error;
	return flags & TIMER_ABSTIME ? sleep_to_deadline(clock, ns) : sleep_for(ns, left);
}

/* ---- interval timers ------------------------------------------------------------------------- */

struct itimerval {
	struct timeval64 interval, value;
};

static s64 timeval_to_ns(const struct timeval64 *time, u64 *ns)
{
	if (time->tv_sec < 0 || (u64)time->tv_usec >= 1000000)
		return -EINVAL;
	*ns = min((u64)time->tv_sec, 1ULL << 33) * NSEC_PER_SEC + (u64)time->tv_usec * 1000;
	return 0;
}

s64 sys_getitimer(int which, void *to)
{
	struct itimerval value;
	u64 left, interval;
	s64 error = itimer_get(which, &left, &interval);

	if (error)
		return error;
	value.value = ns_to_timeval(left);
	value.interval = ns_to_timeval(interval);
	return copy_to_user(to, &value, sizeof(value)) ? -EFAULT : 0;
}

s64 sys_setitimer(int which, const void *from, void *old)
{
	struct itimerval value = {0};
	u64 ns, interval;
	s64 error;

	if (from && copy_from_user(&value, from, sizeof(value)))
		return -EFAULT;
	if (timeval_to_ns(&value.value, &ns) || timeval_to_ns(&value.interval, &interval))
		return -EINVAL;
	error = old ? sys_getitimer(which, old) : 0;
	return error ? error : itimer_set(which, ns, interval);
}

s64 sys_alarm(u32 seconds)
{
	u64 left, interval;

	itimer_get(ITIMER_REAL, &left, &interval);
	itimer_set(ITIMER_REAL, seconds * NSEC_PER_SEC, 0);
	/* Rounded, but never down to 0, which means that none was set. */
	return left ? (s64)max((left + NSEC_PER_SEC / 2) / NSEC_PER_SEC, 1ULL) : 0;
}
