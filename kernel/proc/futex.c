/*
 * futex.c - futex(2): sleep until a word in memory changes. WAIT, WAKE and their BITSET forms,
 * REQUEUE; and what becomes of locks whose owner ends.
 *
 * A futex is known by its address space and address, or, in memory that is shared between address
 * spaces, by what is mapped there and the offset in it. Waiters stand in a table of chains, each
 * with a lock of its own.
 */
#include "fs/vfs.h"
#include "kernel/proc/process.h"
#include "mm/vm.h"

enum {
	FUTEX_WAIT, FUTEX_WAKE, FUTEX_REQUEUE = 3, FUTEX_CMP_REQUEUE, FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET, FUTEX_COMMAND = 0x7f, FUTEX_PRIVATE = 0x80, FUTEX_CLOCK_REALTIME = 0x100
};
#define BUCKETS 64

struct futex_key {
	const void *space; /* a struct mm, or the address_space of shared memory */
	u64 offset;
};

struct futex_bucket {
	spinlock_t lock;
	struct list_head waiters; /* oldest first */
} __aligned(64);

struct futex_waiter {
	struct list_head link;
	struct futex_bucket *bucket; /* changes under the locks of both */
	struct futex_key key;
	struct task *task;
	u32 bits;
	bool woken;
};

static struct futex_bucket buckets[BUCKETS];

void futex_init(void)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		spin_lock_init(&buckets[i].lock, "futex");
		INIT_LIST_HEAD(&buckets[i].waiters);
	}
}

static struct futex_bucket *bucket_of(const struct futex_key *key)
{
	u64 hash = ((u64)key->space ^ key->offset) * 0x9e3779b97f4a7c15ULL;

	return &buckets[hash >> 58];
}

static bool is_for(const struct futex_waiter *waiter, const struct futex_key *key)
{
	return waiter->key.space == key->space && waiter->key.offset == key->offset;
}

/* -EINVAL, -EFAULT. */
static int make_key(u32 *address, bool private, struct futex_key *key)
{
	struct mm *mm = current->mm;
	const struct vma *vma;

	*key = (struct futex_key){mm, (u64)address};
	if ((u64)address % sizeof(*address))
		return -EINVAL;
	if (!access_ok(address, sizeof(*address)))
		return -EFAULT;
	if (private)
		return 0;
	down_read(&mm->lock);
	vma = find_vma(mm, (u64)address);
	if (vma && vma->start <= (u64)address && (vma->flags & VM_SHARED))
		*key = (struct futex_key){vma->mapping, (u64)address - vma->start +
								vma->page_offset * PAGE_SIZE};
	up_read(&mm->lock);
	return 0;
}

/* ---- waking ---------------------------------------------------------------------------------- */

static s64 wake(const struct futex_key *key, unsigned count, u32 bits)
{
	struct futex_bucket *bucket = bucket_of(key);
	struct futex_waiter *waiter, *next;
	unsigned woken = 0;

	if (!bits)
		return -EINVAL;
	spin_lock(&bucket->lock);
	list_for_each_entry_safe(waiter, next, &bucket->waiters, link) {
		if (woken == count)
			break;
		if (!is_for(waiter, key) || !(waiter->bits & bits))
			continue;
		list_del_init(&waiter->link);
		waiter->woken = true;
		wake_up_task(waiter->task);
		woken++;
	}
	spin_unlock(&bucket->lock);
	return woken;
}

void futex_wake_one(u32 *address)
{
	struct futex_key key;

	if (!make_key(address, false, &key))
		wake(&key, 1, ~0u);
}

static void lock_both(struct futex_bucket *a, struct futex_bucket *b)
{
	spin_lock(a < b ? &a->lock : &b->lock);
	if (a != b)
		spin_lock_nested(a < b ? &b->lock : &a->lock, 1);
}

static s64 requeue(const struct futex_key *from, const struct futex_key *to, unsigned count,
		   unsigned move)
{
	struct futex_bucket *source = bucket_of(from), *target = bucket_of(to);
	struct futex_waiter *waiter, *next;
	s64 done = wake(from, count, ~0u);

	lock_both(source, target);
	list_for_each_entry_safe(waiter, next, &source->waiters, link) {
		if (!move || !is_for(waiter, from))
			continue;
		waiter->key = *to;
		if (source != target) {
			list_del(&waiter->link);
			list_add_tail(&waiter->link, &target->waiters);
			WRITE_ONCE(waiter->bucket, target);
		}
		move--;
		done++;
	}
	spin_unlock(&source->lock);
	if (source != target)
		spin_unlock(&target->lock);
	return done;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void unqueue(struct futex_waiter *waiter)
{
	struct futex_bucket *bucket;

	for (;;) {
		bucket = READ_ONCE(waiter->bucket);
		spin_lock(&bucket->lock);
		if (bucket == waiter->bucket)
			break;
		spin_unlock(&bucket->lock); /* requeued meanwhile */
	}
	if (!list_empty(&waiter->link))
		list_del_init(&waiter->link);
	spin_unlock(&bucket->lock);
}

/* @deadline_ns on the monotonic clock, ~0 for none. -ERESTARTSYS: a signal. */
static s64 wait(u32 *address, bool private, u32 expected, u64 deadline_ns, u32 bits)
{
	struct futex_waiter waiter = {.task = current, .bits = bits};
	s64 error = make_key(address, private, &waiter.key);
	u64 now;
	u32 value;

	if (error || !bits)
		return error ? error : -EINVAL;
	waiter.bucket = bucket_of(&waiter.key);
	spin_lock(&waiter.bucket->lock);
	list_add_tail(&waiter.link, &waiter.bucket->waiters);
	spin_unlock(&waiter.bucket->lock);
	/* Queued before the look: a wake that follows the change of the word finds us. */
	error = get_user(value, address);
	if (!error && value != expected)
		error = -EAGAIN;
	while (!error) {
		set_current_state(TASK_INTERRUPTIBLE);
		now = deadline_ns == ~0ULL ? 0 : ktime_ns();
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
static s64 wait_restart(struct restart *restart)
{
	s64 result = wait((u32 *)restart->arguments[0], restart->arguments[2],
			  (u32)restart->arguments[1], restart->deadline_ns, ~0u);

	restart->function = wait_restart;
	return result == -ERESTARTSYS && restart->deadline_ns != ~0ULL ? -ERESTART_RESTARTBLOCK
								       : result;
}

/* The deadline on the monotonic clock that @timeout means: absolute for the bit-set call, else a
 * span. */
static s64 read_deadline(int operation, const void *timeout, u64 *deadline)
{
	u64 ns, now = ktime_ns();
	s64 error;

	*deadline = ~0ULL;
	error = timeout ? get_timespec(timeout, &ns) : 0;
	if (!timeout || error)
		return error;
	if ((operation & FUTEX_COMMAND) == FUTEX_WAIT)
		*deadline = now + ns < now ? ~0ULL : now + ns;
	else if (operation & FUTEX_CLOCK_REALTIME)
		*deadline = ns - min(ns, realtime_offset_ns);
	else
		*deadline = ns;
	return 0;
}

s64 sys_futex(u32 *address, int operation, u32 value, const void *timeout, u32 *address2,
	      u32 value3)
{
	struct restart *restart = &current->signals->restart;
	bool private = operation & FUTEX_PRIVATE;
	struct futex_key key, key2;
	u64 deadline;
	u32 now;
	s64 error;

	switch (operation & FUTEX_COMMAND) {
	case FUTEX_WAIT:
		error = read_deadline(operation, timeout, &restart->deadline_ns);
		restart->arguments[0] = (u64)address;
		restart->arguments[1] = value;
		restart->arguments[2] = private;
		return error ? error : wait_restart(restart);
	case FUTEX_WAIT_BITSET:
		error = read_deadline(operation, timeout, &deadline);
		return error ? error : wait(address, private, value, deadline, value3);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		error = make_key(address, private, &key);
		if ((operation & FUTEX_COMMAND) == FUTEX_WAKE)
			value3 = ~0u;
		return error ? error : wake(&key, max(value, 1u), value3);
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		if ((int)(u64)timeout < 0 || (int)value < 0)
			return -EINVAL;
		error = make_key(address, private, &key);
		if (!error)
			error = make_key(address2, private, &key2);
		if (!error && (operation & FUTEX_COMMAND) == FUTEX_CMP_REQUEUE) {
			error = get_user(now, address);
			if (!error && now != value3)
				error = -EAGAIN;
		}
		return error ? error : requeue(&key, &key2, value, (unsigned)(u64)timeout);
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

/* If current owns the lock whose link is at @link: say that its owner died, wake one waiter. False:
 * a fault. */
static bool give_up_lock(u64 link, s64 offset, bool pending)
{
	u32 *word = (u32 *)((link & ~1ULL) + (u64)offset);
	u32 value, seen;

	if ((u64)word & 3 || get_user(value, word))
		return false;
	if (pending && !value) {
		futex_wake_one(word);
		return true;
	}
	for (; (value & FUTEX_TID_MASK) == (u32)current->pid; value = seen) {
		if (cmpxchg_user(word, value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED, &seen))
			return false;
		if (seen != value)
			continue;
		if (value & FUTEX_WAITERS)
			futex_wake_one(word);
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

/* The list itself is looked at when the thread ends. */
s64 sys_set_robust_list(u64 head, size_t size)
{
	if (size != sizeof(struct robust_list_head))
		return -EINVAL;
	current->robust_list = head;
	return 0;
}

s64 sys_get_robust_list(int pid, u64 *head, size_t *size)
{
	struct task *task;
	s64 error = -ESRCH;
	u64 value = 0;

	spin_lock_irq(&process_lock);
	task = pid ? task_find(pid) : current;
	if (task) {
		value = task->robust_list;
		error = task->process == current->process || capable(current->cred) ? 0 : -EPERM;
	}
	spin_unlock_irq(&process_lock);
	if (error)
		return error;
	return put_user(sizeof(struct robust_list_head), size) || put_user(value, head) ? -EFAULT
											: 0;
}
