/*
 * wait.h - wait queues: tasks asleep until a condition holds.
 *
 *	wait_event(queue, condition);		the waiter
 *	set the condition; wake_up(&queue);	the waker, any context
 *
 * The condition is tested with no lock held, again after each wake-up. A waiter is taken off the
 * queue by the wake-up, so wake_up_one() called twice wakes two.
 */
#pragma once

#include "kernel/core/errno.h"
#include "kernel/core/list.h"
#include "kernel/core/sched.h"
#include "kernel/core/spinlock.h"

typedef struct wait_queue_head {
	spinlock_t lock;
	struct list_head waiters;
} wait_queue_head_t;

struct wait_queue_entry {
	struct task *task;
	struct list_head link;
	/* NULL: wake the task and take the entry off the queue. Otherwise called instead, with the
	 * queue's lock held and interrupts off (poll); the entry stays. */
	void (*wake)(struct wait_queue_entry *entry);
};

/* clang-format off */
#define WAIT_QUEUE_INIT(name, class) \
	{.lock = SPINLOCK_INIT(class), .waiters = LIST_HEAD_INIT((name).waiters)}
#define DEFINE_WAIT_QUEUE(name) wait_queue_head_t name = WAIT_QUEUE_INIT(name, #name)
#define DEFINE_WAIT(name) \
	struct wait_queue_entry name = {.task = current, .link = LIST_HEAD_INIT((name).link)}
/* clang-format on */

static inline void init_waitqueue_head(wait_queue_head_t *queue)
{
	spin_lock_init(&queue->lock, "wait_queue");
	INIT_LIST_HEAD(&queue->waiters);
}

/* Queue @entry (if it is not queued) at the end and set the task's state; call it before each test
 * of the condition. finish_wait() ends it: off the queue, TASK_RUNNING. */
void prepare_to_wait(wait_queue_head_t *queue, struct wait_queue_entry *entry,
		     enum task_state state);
void finish_wait(wait_queue_head_t *queue, struct wait_queue_entry *entry);

/* Queue an entry with its own wake function, and take it off. */
void add_wait_queue(wait_queue_head_t *queue, struct wait_queue_entry *entry);
void remove_wait_queue(wait_queue_head_t *queue, struct wait_queue_entry *entry);

void __wake_up(wait_queue_head_t *queue, bool all);

/* Is anybody waiting? Orders the caller's writes before the look. */
static __always_inline bool waitqueue_active(wait_queue_head_t *queue)
{
	smp_mb();
	return !list_empty(&queue->waiters);
}

/* Wake everybody. Any context. */
static __always_inline void wake_up(wait_queue_head_t *queue)
{
	if (unlikely(waitqueue_active(queue)))
		__wake_up(queue, true);
}

/* Wake the one who waits longest. */
static __always_inline void wake_up_one(wait_queue_head_t *queue)
{
	if (unlikely(waitqueue_active(queue)))
		__wake_up(queue, false);
}

#define __wait_event(queue, condition, state, on_signal, sleep)                                    \
	({                                                                                         \
		DEFINE_WAIT(_entry);                                                               \
		int _result = 0;                                                                   \
		for (;;) {                                                                         \
			prepare_to_wait(&(queue), &_entry, state);                                 \
			if (condition)                                                             \
				break;                                                             \
			if ((on_signal) && signal_pending(current)) {                              \
				_result = -ERESTARTSYS;                                            \
				break;                                                             \
			}                                                                          \
			sleep;                                                                     \
		}                                                                                  \
		finish_wait(&(queue), &_entry);                                                    \
		_result;                                                                           \
	})

#define wait_event(queue, condition)                                                               \
	do {                                                                                       \
		might_sleep();                                                                     \
		if (!(condition))                                                                  \
			(void)__wait_event(queue, condition, TASK_UNINTERRUPTIBLE, false,          \
					   schedule());                                            \
	} while (0)

/* 0, or -ERESTARTSYS when a signal came first. */
#define wait_event_interruptible(queue, condition)                                                 \
	({                                                                                         \
		might_sleep();                                                                     \
		(condition) ? 0                                                                    \
			    : __wait_event(queue, condition, TASK_INTERRUPTIBLE, true, schedule());\
	})

/* Nanoseconds left (at least 1) once the condition holds, 0 when @ns passed first. */
#define wait_event_timeout(queue, condition, ns)                                                   \
	({                                                                                         \
		u64 _left = (ns);                                                                  \
		bool _held = false;                                                                \
		might_sleep();                                                                     \
		(void)__wait_event(queue, (_held = (condition)) || !_left, TASK_UNINTERRUPTIBLE,   \
				   false, _left = schedule_timeout_ns(_left));                     \
		_held && !_left ? 1 : _left;                                                       \
	})

/* The same as s64, or -ERESTARTSYS when a signal came first. */
#define wait_event_interruptible_timeout(queue, condition, ns)                                     \
	({                                                                                         \
		u64 _left = (ns);                                                                  \
		bool _held = false;                                                                \
		might_sleep();                                                                     \
		int _signal = __wait_event(queue, (_held = (condition)) || !_left,                 \
					   TASK_INTERRUPTIBLE, true,                               \
					   _left = schedule_timeout_ns(_left));                    \
		_signal ? (s64)_signal : _held && !_left ? (s64)1 : (s64)_left;                    \
	})
