/*
 * rwsem.c - waiting for a rw_semaphore, and handing it over.
 *
 * Waiters queue in order under wait_lock. Whoever changes the state so that the front of the queue
 * may have the lock gives it to them there (`granted`): a waiter does not compete. RWSEM_WAITERS is
 * set exactly while the queue is not empty, but for moments within wait_lock.
 */
#include "core/kernel.h"

struct rwsem_waiter {
	struct list_head link;
	struct task *task;
	u32 as;	      /* RWSEM_WRITER or RWSEM_READER */
	bool granted; /* off the queue, and the lock is his */
};

/* wait_lock is taken unchecked: it has the class of the lock that is being waited for. */
static unsigned long queue_lock(struct rw_semaphore *sem)
{
	unsigned long flags = arch_irq_save();

	__spin_lock(&sem->wait_lock);
	return flags;
}

static void queue_unlock(struct rw_semaphore *sem, unsigned long flags)
{
	__spin_unlock(&sem->wait_lock);
	arch_irq_restore(flags);
}

/* Grant the lock to as many at the front as may have it together, between queue_lock() and
 * queue_unlock(): which the checker knows nothing of. */
static void grant_front(struct rw_semaphore *sem)
{
	while (!list_empty(&sem->waiters)) {
		struct rwsem_waiter *waiter =
			list_first_entry(&sem->waiters, struct rwsem_waiter, link);
		u32 old = READ_ONCE(sem->state);

		do {
			if (waiter->as == RWSEM_WRITER ? old != RWSEM_WAITERS : old & RWSEM_WRITER)
				return;
		} while (!try_cmpxchg(&sem->state, &old, old + waiter->as));
		list_del(&waiter->link);
		waiter->granted = true;
		wake_up_task(waiter->task);
	}
	__atomic_fetch_and(&sem->state, ~RWSEM_WAITERS, __ATOMIC_SEQ_CST);
}

void rwsem_hand_over(struct rw_semaphore *sem)
{
	unsigned long flags = queue_lock(sem);

	grant_front(sem);
	queue_unlock(sem, flags);
}

void rwsem_wait(struct rw_semaphore *sem, u32 as)
{
	struct rwsem_waiter waiter = {.task = current, .as = as};
	turn_event(TURN_SLEEP);
	unsigned long flags = queue_lock(sem);
	lock_contended(sem->wait_lock.class, 0);
	list_add_tail(&waiter.link, &sem->waiters);
	__atomic_fetch_or(&sem->state, RWSEM_WAITERS, __ATOMIC_SEQ_CST);
	if (as == RWSEM_READER)
		__atomic_fetch_sub(&sem->state, RWSEM_READER, __ATOMIC_SEQ_CST);
	grant_front(sem); /* it may have been released just now */
	/* wait_lock guards `granted` and keeps the waker from touching @waiter after we left. */
	while (!waiter.granted) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		queue_unlock(sem, flags);
		schedule();
		flags = queue_lock(sem);
	}
	queue_unlock(sem, flags);
	turn_lock_try(&sem->state, &sem->wait_lock.class); /* which the caller says is taken */
}
