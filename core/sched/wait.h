/*
 * wait.h - wait queues: tasks asleep until a condition holds.
 *
 *	wait_event(queue, condition);		the waiter
 *	set the condition; wake_up(&queue);	the waker, any context
 *
 * The condition is tested with no lock held, again after each wake-up.
 */
#pragma once

#include "core/base/err.h"
#include "core/sched/sched.h"
#include "core/lock/spinlock.h"

typedef struct wait_queue_head {
	spinlock_t lock;
	struct list_head waiters;
} wait_queue_head_t;

/*
 * A task that sleeps; a wake-up takes it off the queue. Or, with @wake, somebody who wants to hear
 * of every wake-up and stays: wake() is called with what has become possible (wake_up_events()),
 * under the queue's lock, interrupts off, and so takes spinlocks at most that are inside of it.
 */
struct wait_queue_entry {
	struct task *task;
	struct list_head link;
	void (*wake)(struct wait_queue_entry *entry, unsigned events);
};

#define DEFINE_WAIT_QUEUE(name)                                                                    \
	wait_queue_head_t name = {.waiters = LIST_HEAD_INIT((name).waiters)};                      \
	NAME_LOCK(name, (name).lock, #name)

static inline void init_waitqueue_head(wait_queue_head_t *queue)
{
	spin_lock_init(&queue->lock, "wait_queue");
	INIT_LIST_HEAD(&queue->waiters);
}

/* Queue @entry if it is not queued, and take it off: for who waits in several queues at once. Who
 * is to sleep sets his state before, and looks behind it. */
void add_wait_queue(wait_queue_head_t *queue, struct wait_queue_entry *entry);
void remove_wait_queue(wait_queue_head_t *queue, struct wait_queue_entry *entry);

void __wake_up_events(wait_queue_head_t *queue, unsigned events);

/* Wake everybody. Any context. */
static __always_inline void wake_up(wait_queue_head_t *queue)
{
	smp_mb(); /* the caller's writes before the look */
	if (unlikely(!list_empty(&queue->waiters)))
		__wake_up_events(queue, ~0u);
}

/* The same where only the POLL* of @events can have become true: tasks are all woken and look for
 * themselves, those with a wake function are told. wake_up() says that everything may have. */
static __always_inline void wake_up_events(wait_queue_head_t *queue, unsigned events)
{
	smp_mb();
	if (unlikely(!list_empty(&queue->waiters)))
		__wake_up_events(queue, events);
}

/* Sleep in @state by @sleep until @condition: 0, or -ERESTARTSYS when a signal ends it before. */
#define __wait_event(queue, condition, state, sleep)                                               \
	({                                                                                         \
		int _result = 0;                                                                   \
		might_sleep();                                                                     \
		if (!(condition)) {                                                                \
			struct wait_queue_entry _entry = {.task = current,                         \
							  .link = LIST_HEAD_INIT(_entry.link)};    \
			for (;;) {                                                                 \
				__set_current_state(state); /* first: a wake-up takes us off */    \
				add_wait_queue(&(queue), &_entry);                                 \
				if (condition)                                                     \
					break;                                                     \
				if ((state) == TASK_INTERRUPTIBLE && signal_pending(current)) {    \
					_result = -ERESTARTSYS;                                    \
					break;                                                     \
				}                                                                  \
				sleep;                                                             \
			}                                                                          \
			__set_current_state(TASK_RUNNING);                                         \
			remove_wait_queue(&(queue), &_entry);                                      \
		}                                                                                  \
		_result;                                                                           \
	})

#define wait_event(queue, condition)                                                               \
	((void)__wait_event(queue, condition, TASK_UNINTERRUPTIBLE, schedule()))

/* 0, or -ERESTARTSYS when a signal came first. */
#define wait_event_interruptible(queue, condition)                                                 \
	__wait_event(queue, condition, TASK_INTERRUPTIBLE, schedule())

/* In @state until the condition holds (1), a signal comes (in TASK_INTERRUPTIBLE: -ERESTARTSYS) or
 * the monotonic clock shows @deadline_ns, ~0: never (0). */
#define wait_event_until(queue, condition, state, deadline_ns)                                     \
	({                                                                                         \
		u64 _deadline = (deadline_ns);                                                     \
		bool _held = false, _waits = true;                                                 \
		int _signal = __wait_event(queue, (_held = (condition)) || !_waits, state,         \
					   _waits = schedule_until(_deadline));                    \
		_signal ?: (int)_held;                                                             \
	})
