/*
 * rwsem.c - waiting for a rw_semaphore, and handing it over.
 *
 * Waiters queue in order under wait_lock. Whoever changes the state so that the front of the queue
 * may have the lock gives it to them there (`granted`): a waiter does not compete. RWSEM_WAITERS is
 * set exactly while the queue is not empty, but for moments within wait_lock.
 */
#include "kernel/core/rwsem.h"

struct rwsem_waiter {
	struct list_head link;
	struct task *task;
	bool writer;
	bool granted;
};

/* Can @waiter have the lock in this state? Sets the state if so. */
static bool try_grant(struct rw_semaphore *sem, struct rwsem_waiter *waiter)
{
	u32 old = READ_ONCE(sem->state);

	do {
		if (waiter->writer ? old != RWSEM_WAITERS : old & RWSEM_WRITER)
			return false;
	} while (!try_cmpxchg(&sem->state, &old,
			      old + (waiter->writer ? RWSEM_WRITER : RWSEM_READER)));
	return true;
}

/* Grant the lock to as many at the front as may have it together. Under wait_lock. */
static void grant_front(struct rw_semaphore *sem)
{
	while (!list_empty(&sem->waiters)) {
		struct rwsem_waiter *waiter =
			list_first_entry(&sem->waiters, struct rwsem_waiter, link);

		if (!try_grant(sem, waiter))
			return;
		list_del(&waiter->link);
		waiter->granted = true;
		wake_up_task(waiter->task);
	}
	__atomic_fetch_and(&sem->state, ~RWSEM_WAITERS, __ATOMIC_SEQ_CST);
}

void rwsem_hand_over(struct rw_semaphore *sem)
{
	unsigned long flags;

	spin_lock_irqsave(&sem->wait_lock, flags);
	grant_front(sem);
	spin_unlock_irqrestore(&sem->wait_lock, flags);
}

/* wait_lock guards `granted` and keeps the waker from touching @waiter after we left. */
static bool is_granted(struct rw_semaphore *sem, struct rwsem_waiter *waiter)
{
	unsigned long flags;
	bool granted;

	spin_lock_irqsave(&sem->wait_lock, flags);
	granted = waiter->granted;
	spin_unlock_irqrestore(&sem->wait_lock, flags);
	return granted;
}

static void wait_in_queue(struct rw_semaphore *sem, bool writer, u32 give_back)
{
	struct rwsem_waiter waiter = {.task = current, .writer = writer};
	unsigned long flags;

	lock_contended(lock_class_of(sem), 0);
	spin_lock_irqsave(&sem->wait_lock, flags);
	list_add_tail(&waiter.link, &sem->waiters);
	__atomic_fetch_or(&sem->state, RWSEM_WAITERS, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&sem->state, give_back, __ATOMIC_SEQ_CST);
	grant_front(sem); /* it may have been released just now */
	spin_unlock_irqrestore(&sem->wait_lock, flags);

	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (is_granted(sem, &waiter))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

/* The caller has counted itself as a reader already. */
void rwsem_read_wait(struct rw_semaphore *sem)
{
	wait_in_queue(sem, false, RWSEM_READER);
}

void rwsem_write_wait(struct rw_semaphore *sem)
{
	wait_in_queue(sem, true, 0);
}
