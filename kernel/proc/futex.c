/*
 * futex.c - futex(2): sleep until a word in memory changes. WAIT, WAKE and their BITSET forms,
 * REQUEUE.
 *
 * Waiters are found by (address space, address) in a small table of chains. A futex in memory
 * shared between processes works only among tasks of one address space: the key is not the page
 * (limit).
 */
#include "kernel/proc/futex.h"

#include "kernel/core/errno.h"
#include "kernel/core/sched.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/time.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/process.h"

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_REQUEUE 3
#define FUTEX_CMP_REQUEUE 4
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_COMMAND 0x7f

struct futex_waiter {
	struct list_head link;
	struct task *task;
	const struct mm *mm;
	u64 address;
	u32 bits;
	bool woken;
};

static DEFINE_SPINLOCK(futex_lock);
static LIST_HEAD(futex_waiters);

s64 futex_wake(u32 *address, unsigned count, u32 bits)
{
	struct futex_waiter *waiter, *next;
	unsigned woken = 0;

	if (!bits)
		return -EINVAL;
	spin_lock(&futex_lock);
	list_for_each_entry_safe(waiter, next, &futex_waiters, link) {
		if (woken == count)
			break;
		if (waiter->mm != current->mm || waiter->address != (u64)address ||
		    !(waiter->bits & bits))
			continue;
		list_del_init(&waiter->link);
		waiter->woken = true;
		wake_up_task(waiter->task);
		woken++;
	}
	spin_unlock(&futex_lock);
	return woken;
}

static s64 futex_requeue(u32 *from, u32 *to, unsigned wake, unsigned move)
{
	s64 count = futex_wake(from, wake, ~0u);
	struct futex_waiter *waiter;

	spin_lock(&futex_lock);
	list_for_each_entry(waiter, &futex_waiters, link) {
		if (!move || waiter->mm != current->mm || waiter->address != (u64)from)
			continue;
		waiter->address = (u64)to;
		move--;
		count++;
	}
	spin_unlock(&futex_lock);
	return count;
}

static void unqueue(struct futex_waiter *waiter)
{
	spin_lock(&futex_lock);
	if (!list_empty(&waiter->link))
		list_del_init(&waiter->link);
	spin_unlock(&futex_lock);
}

/* @deadline_ns on the monotonic clock, ~0 for none. -ERESTARTSYS: a signal. */
static s64 futex_wait(u32 *address, u32 expected, u64 deadline_ns, u32 bits)
{
	struct futex_waiter waiter = {
		.task = current, .mm = current->mm, .address = (u64)address, .bits = bits};
	u64 now;
	u32 value;
	s64 error;

	if (!bits)
		return -EINVAL;
	spin_lock(&futex_lock);
	list_add_tail(&waiter.link, &futex_waiters);
	spin_unlock(&futex_lock);
	/* Queued before the look: a wake that follows the change of the word finds us. */
	error = get_user(value, address);
	if (!error && value != expected)
		error = -EAGAIN;
	while (!error) {
		set_current_state(TASK_INTERRUPTIBLE);
		now = ktime_ns();
		if (READ_ONCE(waiter.woken))
			break;
		if (now >= deadline_ns)
			error = -ETIMEDOUT;
		else if (signal_pending(current))
			error = -ERESTARTSYS;
		else
			schedule_timeout_ns(deadline_ns == ~0ULL ? ~0ULL : deadline_ns - now);
	}
	__set_current_state(TASK_RUNNING);
	unqueue(&waiter);
	return waiter.woken ? 0 : error;
}

/* FUTEX_WAIT, begun or gone on with: a relative time limit must not start anew. */
static s64 futex_wait_restart(struct restart *restart)
{
	s64 result = futex_wait((u32 *)restart->arguments[0], (u32)restart->arguments[1],
				restart->deadline_ns, ~0u);

	restart->function = futex_wait_restart;
	return result == -ERESTARTSYS && restart->deadline_ns != ~0ULL ? -ERESTART_RESTARTBLOCK
								       : result;
}

/* The deadline on the monotonic clock that @timeout means: absolute for the bit-set call, else a
 * span. */
static int read_deadline(int operation, const struct timespec64 *timeout, u64 *deadline)
{
	struct timespec64 t;
	u64 ns, now = ktime_ns();

	*deadline = ~0ULL;
	if (!timeout)
		return 0;
	if (copy_from_user(&t, timeout, sizeof(t)))
		return -EFAULT;
	if (t.tv_sec < 0 || (u64)t.tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	ns = timespec64_to_ns(t);
	if ((operation & FUTEX_COMMAND) == FUTEX_WAIT)
		*deadline = now + ns < now ? ~0ULL : now + ns;
	else if (operation & FUTEX_CLOCK_REALTIME)
		*deadline = ns > realtime_offset_ns ? ns - realtime_offset_ns : 0;
	else
		*deadline = ns;
	return 0;
}

s64 futex(u32 *address, int operation, u32 value, const struct timespec64 *timeout, u32 *address2,
	  u32 value3)
{
	struct restart *restart = &current->signals->restart;
	u64 deadline;
	u32 now;
	int error;

	if ((u64)address & 3)
		return -EINVAL;
	switch (operation & FUTEX_COMMAND) {
	case FUTEX_WAIT:
		error = read_deadline(operation, timeout, &restart->deadline_ns);
		restart->arguments[0] = (u64)address;
		restart->arguments[1] = value;
		return error ? error : futex_wait_restart(restart);
	case FUTEX_WAIT_BITSET:
		error = read_deadline(operation, timeout, &deadline);
		return error ? error : futex_wait(address, value, deadline, value3);
	case FUTEX_WAKE:
		return access_ok(address, 4) ? futex_wake(address, value, ~0u) : -EFAULT;
	case FUTEX_WAKE_BITSET:
		return access_ok(address, 4) ? futex_wake(address, value, value3) : -EFAULT;
	case FUTEX_CMP_REQUEUE:
		if (get_user(now, address))
			return -EFAULT;
		if (now != value3)
			return -EAGAIN;
		/* fallthrough */
	case FUTEX_REQUEUE:
		if ((s64)timeout < 0 || !access_ok(address2, 4))
			return -EINVAL;
		return futex_requeue(address, address2, value, (unsigned)(u64)timeout);
	}
	return -ENOSYS;
}

/* ---- robust lists: what a thread holds when it ends ------------------------------------------ */

#define FUTEX_TID_MASK 0x3fffffffu
#define FUTEX_OWNER_DIED 0x40000000u
#define FUTEX_WAITERS 0x80000000u
#define ROBUST_LIST_LIMIT 2048 /* longer ones are broken or hostile */

struct robust_list_head {
	u64 next;	 /* of the first lock's link, low bit: a priority-inheriting one */
	s64 offset;	 /* from a lock's link to its futex word */
	u64 pending;	 /* link of the lock being taken or released */
};
_Static_assert(sizeof(struct robust_list_head) == ROBUST_LIST_HEAD_SIZE, "as in Linux");

/* If current owns the lock whose link is at @link: say that its owner died, wake one waiter. False:
 * a fault. */
static bool give_up_lock(u64 link, s64 offset, bool pending)
{
	u32 *word = (u32 *)((link & ~1ULL) + (u64)offset);
	u32 value, seen;

	if ((u64)word & 3 || get_user(value, word))
		return false;
	if (pending && !value) {
		futex_wake(word, 1, ~0u);
		return true;
	}
	for (; (value & FUTEX_TID_MASK) == (u32)current->pid; value = seen) {
		if (cmpxchg_user(word, value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED, &seen))
			return false;
		if (seen != value)
			continue;
		if (value & FUTEX_WAITERS)
			futex_wake(word, 1, ~0u);
		break;
	}
	return true;
}

void futex_end_thread(void)
{
	u64 head = current->robust_list, link, next;
	struct robust_list_head list;

	current->robust_list = 0;
	if (likely(!head) || copy_from_user(&list, (void *)head, sizeof(list)))
		return;
	link = list.next;
	for (unsigned i = 0; (link & ~1ULL) != head && i < ROBUST_LIST_LIMIT; i++, link = next) {
		/* The next one first: the lock may be gone once it is free. */
		if (get_user(next, (u64 *)(link & ~1ULL)))
			return;
		if (link != list.pending && !give_up_lock(link, list.offset, false))
			return;
		cond_resched();
	}
	if (list.pending & ~1ULL)
		give_up_lock(list.pending, list.offset, true);
}
