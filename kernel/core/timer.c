/*
 * timer.c - one list of timers for each CPU, sorted by deadline.
 *
 * A list's lock guards the links and deadlines of its timers and `running`. The callback runs
 * without the lock, so that it may start timers and wake tasks; timer_cancel() waits while
 * `running` is its timer, so that a timer on a stack may be given up afterwards.
 */
#include "kernel/core/timer.h"
#include "kernel/core/percpu.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/time.h"

struct timer_list {
	spinlock_t lock;
	struct list_head timers;
	struct timer *running;
} __percpu_slot;

static struct timer_list lists[NR_CPUS];

void timers_init(void)
{
	unsigned i;

	for (i = 0; i < NR_CPUS; i++) {
		spin_lock_init(&lists[i].lock, "timer_list");
		INIT_LIST_HEAD(&lists[i].timers);
	}
}

void timer_init(struct timer *timer, void (*function)(void *argument), void *argument)
{
	INIT_LIST_HEAD(&timer->link);
	timer->function = function;
	timer->argument = argument;
	timer->cpu = -1;
}

/* Off its list, wherever that is; was it on one? */
static bool detach(struct timer *timer)
{
	struct timer_list *list;
	bool pending;

	if (timer->cpu < 0)
		return false;
	list = &lists[timer->cpu];
	spin_lock(&list->lock);
	pending = !list_empty(&timer->link);
	if (pending)
		list_del_init(&timer->link);
	spin_unlock(&list->lock);
	return pending;
}

/* Insert from the end: new deadlines are mostly late ones. */
static void insert_sorted(struct timer_list *list, struct timer *timer)
{
	struct list_head *after = list->timers.prev;

	while (after != &list->timers &&
	       list_entry(after, struct timer, link)->deadline_ns > timer->deadline_ns)
		after = after->prev;
	list_add(&timer->link, after);
}

void timer_start(struct timer *timer, u64 deadline_ns)
{
	unsigned long flags = arch_irq_save();
	struct timer_list *list = &lists[cpu_id()];

	detach(timer);
	spin_lock(&list->lock);
	timer->deadline_ns = deadline_ns;
	timer->cpu = (int)cpu_id();
	insert_sorted(list, timer);
	if (list->timers.next == &timer->link)
		arch_timer_set(deadline_ns);
	spin_unlock_irqrestore(&list->lock, flags);
}

bool timer_cancel(struct timer *timer)
{
	unsigned long flags = arch_irq_save();
	bool pending = detach(timer);
	int cpu = timer->cpu;

	/* On the callback's own CPU interrupts are off only inside the callback: do not wait for
	 * ourselves. */
	while (cpu >= 0 && cpu != (int)cpu_id() && smp_load_acquire(&lists[cpu].running) == timer) {
		arch_irq_restore(flags);
		cpu_relax();
		flags = arch_irq_save();
	}
	pending |= detach(timer); /* the callback may have started it again */
	arch_irq_restore(flags);
	return pending;
}

void timer_interrupt(void)
{
	struct timer_list *list = &lists[cpu_id()];
	u64 now = ktime_ns();

	spin_lock(&list->lock);
	while (!list_empty(&list->timers)) {
		struct timer *timer = list_first_entry(&list->timers, struct timer, link);

		if (timer->deadline_ns > now)
			break;
		list_del_init(&timer->link);
		WRITE_ONCE(list->running, timer);
		spin_unlock(&list->lock);
		timer->function(timer->argument);
		spin_lock(&list->lock);
		smp_store_release(&list->running, NULL);
	}
	arch_timer_set(list_empty(&list->timers)
			       ? ~0ULL
			       : list_first_entry(&list->timers, struct timer, link)->deadline_ns);
	spin_unlock(&list->lock);
}
