/*
 * itimer.c - interval timers of a process.
 *
 * ITIMER_REAL runs on the monotonic clock and sends SIGALRM from the timer interrupt. A repeating
 * one starts again when its signal has been taken, so that no interval is short enough to keep the
 * CPU busy with timer interrupts alone. The other two count down by the scheduler's ticks (10 ms),
 * so they are as coarse as the ticks. Under process_lock; the kernel timer is cancelled without it,
 * by the process itself.
 */
#include "kernel/proc/itimer.h"

#include "kernel/core/errno.h"
#include "kernel/core/time.h"
#include "kernel/proc/process.h"
#include "kernel/proc/scheduler.h"

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
	unsigned long flags;

	if (process->real_timer.cpu < 0)
		return;
	spin_lock_irqsave(&process_lock, flags);
	process->real_interval_ns = process->real_deadline_ns = 0; /* nothing starts it again */
	spin_unlock_irqrestore(&process_lock, flags);
	timer_cancel(&process->real_timer);
}

static void count_down(struct process *process, struct interval_timer *timer, int signo)
{
	if (!timer->left_ns)
		return;
	if (timer->left_ns > TICK_NS) {
		timer->left_ns -= TICK_NS;
		return;
	}
	timer->left_ns = timer->interval_ns;
	signal_send_locked(process, NULL, signo, NULL);
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

int itimer_get(int which, u64 *left, u64 *interval)
{
	struct process *process = current->process;
	struct interval_timer *timer = &process->profile_timer;
	u64 now = ktime_ns();

	switch (which) {
	case ITIMER_REAL:
		*interval = process->real_interval_ns;
		*left = process->real_deadline_ns;
		if (*left) /* due but not yet delivered: a little is left, since 0 would say "off"
			    */
			*left = *left > now ? *left - now : 1000;
		return 0;
	case ITIMER_VIRTUAL:
		timer = &process->virtual_timer;
		/* fallthrough */
	case ITIMER_PROF:
		*left = timer->left_ns;
		*interval = timer->interval_ns;
		return 0;
	}
	return -EINVAL;
}

int itimer_set(int which, u64 value, u64 interval)
{
	struct process *process = current->process;
	struct interval_timer *timer =
		which == ITIMER_VIRTUAL ? &process->virtual_timer : &process->profile_timer;
	unsigned long flags;

	if (which != ITIMER_REAL && which != ITIMER_VIRTUAL && which != ITIMER_PROF)
		return -EINVAL;
	if (which == ITIMER_REAL)
		itimer_cancel(process);
	spin_lock_irqsave(&process_lock, flags);
	if (which != ITIMER_REAL) {
		timer->left_ns = value;
		timer->interval_ns = interval;
	} else if (value) {
		process->real_interval_ns = interval;
		process->real_deadline_ns = ktime_ns() + value;
		timer_start(&process->real_timer, process->real_deadline_ns);
	}
	spin_unlock_irqrestore(&process_lock, flags);
	return 0;
}
