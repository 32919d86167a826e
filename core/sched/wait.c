/*
 * wait.c - putting tasks on wait queues and waking them.
 *
 * Waking happens under the queue's lock, and who leaves takes it; so an entry on a stack is never
 * touched after its owner went on. Interrupts are off, because interrupt handlers wake.
 */
#include "core/kernel.h"

void add_wait_queue(wait_queue_head_t *queue, struct wait_queue_entry *entry)
{
	guard(spinlock_irqsave, &queue->lock);
	if (list_empty(&entry->link))
		list_add_tail(&entry->link, &queue->waiters);
	smp_mb(); /* against wake_up(): before the caller looks at his condition */
}

void remove_wait_queue(wait_queue_head_t *queue, struct wait_queue_entry *entry)
{
	guard(spinlock_irqsave, &queue->lock);
	list_del_init(&entry->link);
}

void __wake_up_events(wait_queue_head_t *queue, unsigned events)
{
	struct wait_queue_entry *entry, *next;

	guard(spinlock_irqsave, &queue->lock);
	list_for_each_entry_safe (entry, next, &queue->waiters, link) {
		if (unlikely(entry->wake)) {
			entry->wake(entry, events);
			continue;
		}
		/* Off the queue even if it was awake already: it will look at its condition. */
		list_del_init(&entry->link);
		wake_up_task(entry->task);
	}
}
