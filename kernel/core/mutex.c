/*
 * mutex.c - waiting for a mutex.
 *
 * A waiter sets the state to 2 each time it tries, so that whoever unlocks next knows to wake
 * somebody; it then owns the mutex in state 2, which costs at most one needless wake-up.
 */
#include "kernel/core/mutex.h"

int mutex_lock_wait(struct mutex *mutex, enum task_state state)
{
	DEFINE_WAIT(entry);
	int error = 0;

	lock_contended(lock_class_of(mutex), 0);
	for (;;) {
		prepare_to_wait(&mutex->wait, &entry, state);
		if (__atomic_exchange_n(&mutex->state, 2, __ATOMIC_SEQ_CST) == 0)
			break;
		if (state == TASK_INTERRUPTIBLE && signal_pending(current)) {
			error = -EINTR;
			break;
		}
		schedule();
	}
	finish_wait(&mutex->wait, &entry);
	/* The wake-up may have been ours alone: pass it on, the mutex may be free. */
	if (error)
		wake_up_one(&mutex->wait);
	return error;
}
