/*
 * timer.c - one list of timers for each CPU, sorted by deadline.
 *
 * A list's lock guards the links and deadlines of its timers and `running`. The callback runs
 * without the lock, so that it may start timers and wake tasks; timer_cancel() waits while
 * `running` is its timer, so that a timer on a stack may be given up afterwards.
 */
#include "core/kernel.h"

static struct timer_list {
	spinlock_t lock;
	struct timer *first, *running;
} __percpu_slot lists[NR_CPUS];
NAME_CPU_LOCKS(lists, lock, "timer_list->lock");

void timer_init(struct timer *timer, void (*function)(void *argument), void *argument)
{
	*timer = (struct timer){.function = function, .argument = argument, .cpu = -1};
}

static void set_alarm(const struct timer_list *list)
{
	lockdep_assert_held(&list->lock);
	arch_timer_set(list->first ? list->first->deadline_ns : ~0ULL); /* ~0: none */
}

/* Off its list, if it is on one; then this CPU is not woken for it: one that idles rests. Is its
 * callback running on another CPU? On our own only we can be the callback. */
static bool detach(struct timer *timer)
{
	int cpu = READ_ONCE(timer->cpu); /* another thread may start it elsewhere */

	if (cpu < 0)
		return false;
	guard(spinlock_irqsave, &lists[cpu].lock);
	for (struct timer **at = &lists[cpu].first; *at; at = &(*at)->next) {
		lockdep_assert_held(&lists[(*at)->cpu].lock);
		if (*at == timer) {
			*at = timer->next;
			if (at == &lists[cpu].first && cpu == (int)cpu_id())
				set_alarm(&lists[cpu]);
			break;
		}
	}
	return cpu != (int)cpu_id() && lists[cpu].running == timer;
}

void timer_start(struct timer *timer, u64 deadline_ns)
{
	struct timer_list *list = &lists[cpu_id()];
	struct timer **at = &list->first;

	detach(timer);
	guard(spinlock_irqsave, &list->lock);
	timer->deadline_ns = deadline_ns;
	timer->cpu = (int)cpu_id();
	while (*at && (*at)->deadline_ns <= deadline_ns)
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;
	if (list->first == timer)
		arch_timer_set(deadline_ns);
}

void timer_cancel(struct timer *timer)
{
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) /* it may run where it was before, too */
		while (cpu != cpu_id() && READ_ONCE(lists[cpu].running) == timer)
			cpu_relax();
	while (detach(timer)) /* the callback may start it again */
		cpu_relax();
}

void timer_interrupt(void)
{
	struct timer_list *list = &lists[cpu_id()];
	u64 now = ktime_ns();

	guard(spinlock, &list->lock);
	while (list->first && list->first->deadline_ns <= now) {
		struct timer *timer = list->first;

		list->first = timer->next;
		list->running = timer;
		spin_unlock(&list->lock);
		timer->function(timer->argument);
		spin_lock(&list->lock);
		list->running = NULL;
	}
	set_alarm(list);
}
