/*
 * timer.c - one list of timers for each CPU, sorted by deadline.
 *
 * A list's lock guards the links and deadlines of its timers and `running`. The callback runs
 * without the lock, so that it may start timers and wake tasks; timer_cancel() waits while
 * `running` is its timer, so that a timer on a stack may be given up afterwards.
 */
#include "kernel/core/timer.h"
#include "kernel/core/kernel.h"
#include "kernel/core/percpu.h"

struct timer_list {
	spinlock_t lock;
	struct list_head timers;
	struct timer *running;
} __percpu_slot;

static struct timer_list lists[NR_CPUS];

void timers_init(void)
{
	for (unsigned i = 0; i < NR_CPUS; i++) {
		spin_lock_init(&lists[i].lock, "timer_list");
		INIT_LIST_HEAD(&lists[i].timers);
	}
}

void timer_init(struct timer *timer, void (*function)(void *argument), void *argument)
{
	*timer = (struct timer){LIST_HEAD_INIT(timer->link), 0, function, argument, -1};
}

/* Off its list, wherever that is; was it on one? Interrupts are off. */
static bool detach(struct timer *timer)
{
	if (timer->cpu < 0)
		return false;
	guard(spinlock, &lists[timer->cpu].lock);
	bool pending = !list_empty(&timer->link);

	if (pending)
		list_del_init(&timer->link);
	return pending;
}

void timer_start(struct timer *timer, u64 deadline_ns)
{
	unsigned long flags = arch_irq_save();
	struct timer_list *list = &lists[cpu_id()];

	detach(timer);
	spin_lock(&list->lock);
	timer->deadline_ns = deadline_ns;
	timer->cpu = (int)cpu_id();

	struct list_head *after = list->timers.prev; /* new deadlines are mostly late ones */

	while (after != &list->timers &&
	       list_entry(after, struct timer, link)->deadline_ns > deadline_ns)
		after = after->prev;
	list_add(&timer->link, after);
	if (list->timers.next == &timer->link)
		arch_timer_set(deadline_ns);
	spin_unlock_irqrestore(&list->lock, flags);
}

bool timer_cancel(struct timer *timer)
{
	bool pending = false, running;

	do { /* the callback may start it again */
		unsigned long flags = arch_irq_save();
		int cpu = timer->cpu;

		pending |= detach(timer);
		/* On our own CPU only we can be the callback: not to be waited for. */
		running = cpu >= 0 && cpu != (int)cpu_id() &&
			  smp_load_acquire(&lists[cpu].running) == timer;
		arch_irq_restore(flags);
		cpu_relax();
	} while (running);
	return pending;
}

void timer_interrupt(void)
{
	struct timer_list *list = &lists[cpu_id()];
	u64 now = ktime_ns(), next = ~0ULL; /* none */

	spin_lock(&list->lock);
	while (!list_empty(&list->timers)) {
		struct timer *timer = list_first_entry(&list->timers, struct timer, link);

		next = timer->deadline_ns;
		if (next > now)
			break;
		next = ~0ULL;
		list_del_init(&timer->link);
		WRITE_ONCE(list->running, timer);
		spin_unlock(&list->lock);
		timer->function(timer->argument);
		spin_lock(&list->lock);
		smp_store_release(&list->running, NULL);
	}
	arch_timer_set(next);
	spin_unlock(&list->lock);
}
