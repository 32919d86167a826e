/*
 * cpu_timers.c - ITIMER_VIRTUAL and ITIMER_PROF, the interval timers of setitimer(2) that count the
 * CPU time of a process. They count down by the scheduler's ticks (10 ms), and are as coarse.
 */
#include "core/base/room.h"
#include "kernel/proc/process.h"

static void count_down(struct process *process, int which, int signo)
{
	struct interval_timer *timer = &process->timers[which];

	lockdep_assert_held(&process_lock);
	if (timer->left_ns > TICK_NS) {
		timer->left_ns -= TICK_NS;
	} else if (timer->left_ns) {
		timer->left_ns = timer->interval_ns;
		signal_send_locked(process, NULL, signo, NULL);
	}
}

static void timers_tick(struct task *task, bool user)
{
	struct process *process = task->process;
	const struct interval_timer *timers = process->timers;

	if (likely(!(timers[ITIMER_VIRTUAL].left_ns | timers[ITIMER_PROF].left_ns)))
		return;
	guard(spinlock_irqsave, &process_lock);
	if (user)
		count_down(process, ITIMER_VIRTUAL, SIGVTALRM);
	count_down(process, ITIMER_PROF, SIGPROF);
}

static void cpu_timers_start(void)
{
	sched_tick_hook = timers_tick;
}
ROOM_START(cpu_timers_start);
