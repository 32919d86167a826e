/*
 * futex.c - futex(2): sleep until a word in memory changes. WAIT, WAKE and their BITSET forms,
 * REQUEUE; and what becomes of locks whose owner ends.
 *
 * A futex is known by its address space and address, or, in memory that is shared between address
 * spaces, by what is mapped there and the offset in it. The former takes no look at the memory, so
 * to wake where none is, is to find nobody; who does not say FUTEX_PRIVATE gets EFAULT. Waiters
 * stand in one list, through which each waking goes: they are at most as many as there are threads,
 * and mostly a handful.
 *
 * Lock: futex_lock guards the list and the waiters in it; it is held for the few instructions of a
 * look at the word and queueing, or of waking, and waking takes run queue locks below it.
 */
#include "kernel/proc/process.h"
#include "mm/space/vm.h"

enum {
	FUTEX_WAIT, FUTEX_WAKE, FUTEX_REQUEUE = 3, FUTEX_CMP_REQUEUE, FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET, FUTEX_COMMAND = 0x7f, FUTEX_PRIVATE = 0x80, FUTEX_CLOCK_REALTIME = 0x100
};

struct futex_key {
	const void *space; /* a struct mm, or the address_space of shared memory */
	u64 offset;
	u64 inode; /* of shared memory: its number, since another may get its address */
};

struct futex_waiter {
	struct list_head link; /* empty: woken */
	struct futex_key key;
	struct task *task;
	u32 bits;
};

static DEFINE_SPINLOCK(futex_lock);
static LIST_HEAD(waiters); /* oldest first */

/* -EINVAL, -EFAULT; if the futex may be shared, also where nothing can be read, or could ever
 * change (memory that is private and read only). */
static int make_key(u32 *address, int operation, struct futex_key *key)
{
	struct mm *mm = current->mm;
	u32 value __maybe_unused;

	*key = (struct futex_key){.space = mm, .offset = (u64)address};
	if ((u64)address % sizeof(*address))
		return -EINVAL;
	if (!access_ok(address, sizeof(*address)))
		return -EFAULT;
	if (operation & FUTEX_PRIVATE)
		return 0;
	TRY(get_user(value, address));
	guard(read, &mm->lock);

	const struct vma *vma = find_vma(mm, (u64)address);

	if (!vma || vma->start > (u64)address ||
	    !(vma->mapping || vma->flags & (VM_SHARED | VM_WRITE)))
		return -EFAULT;
	if (vma->flags & VM_SHARED)
		*key = (struct futex_key){
			vma->mapping, (u64)address - vma->start + vma->page_offset * PAGE_SIZE,
			vma->file->inode->number};
	return 0;
}

/* Wake up to @count waiters of @from that wait for some of @bits, then let up to @move of the
 * others wait for @to: how many were either. */
static s64 wake(const struct futex_key *from, unsigned count, u32 bits, const struct futex_key *to,
		unsigned move)
{
	struct futex_waiter *waiter, *next;
	unsigned done = 0;

	guard(spinlock, &futex_lock);
	list_for_each_entry_safe (waiter, next, &waiters, link) {
		if (done == count + move)
			break;
		if (memcmp(&waiter->key, from, sizeof(*from)) || !(waiter->bits & bits))
			continue;
		if (done++ < count) {
			list_del_init(&waiter->link);
			wake_up_task(waiter->task);
		} else {
			waiter->key = *to;
		}
	}
	return done;
}

void futex_wake_one(u32 *address)
{
	struct futex_key key;

	if (!make_key(address, 0, &key))
		wake(&key, 1, ~0u, NULL, 0);
}

/* @deadline_ns on the monotonic clock, ~0 for none. -ERESTARTSYS: a signal. */
static s64 wait(u32 *address, int operation, u32 expected, u64 deadline_ns, u32 bits)
{
	struct futex_waiter waiter = {.task = current, .bits = bits};
	int error;
	u32 value;

	TRY(make_key(address, operation, &waiter.key));
	/*
	 * Looked at and queued under one lock: a wake that follows the change of the word finds us,
	 * and none is taken by who will not sleep. The word is brought into memory before.
	 */
	do {
		TRY(get_user(value, address));
		guard(spinlock, &futex_lock);
		current->pagefault_disabled = true;
		error = get_user(value, address);
		current->pagefault_disabled = false;
		if (!error && value == expected)
			list_add_tail(&waiter.link, &waiters);
	} while (error);
	if (value != expected)
		return -EAGAIN;
	while (!error) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (list_empty(&waiter.link))
			break;
		if (signal_pending(current))
			error = -ERESTARTSYS;
		else if (!schedule_until(deadline_ns))
			error = -ETIMEDOUT;
	}
	__set_current_state(TASK_RUNNING);
	guard(spinlock, &futex_lock);
	if (list_empty(&waiter.link))
		return 0;
	list_del(&waiter.link);
	return error;
}

s64 sys_futex(u32 *address, int operation, u32 value, const void *timeout, u32 *address2,
	      u32 value3)
{
	struct futex_key key, key2;
	u64 deadline;
	s64 result;
	u32 now;

	if (operation & FUTEX_CLOCK_REALTIME && (operation & FUTEX_COMMAND) != FUTEX_WAIT_BITSET)
		return -ENOSYS;
	switch (operation & FUTEX_COMMAND) {
	case FUTEX_WAIT:
		TRY(get_deadline(timeout, &deadline));
		result = wait(address, operation, value, deadline, ~0u);
		return result == -ERESTARTSYS && timeout ? -ERESTART_RESTARTBLOCK : result;
	case FUTEX_WAIT_BITSET:
		deadline = ~0ULL;
		if (timeout)
			TRY(get_timespec(timeout, &deadline));
		if (timeout && operation & FUTEX_CLOCK_REALTIME)
			deadline -= min(deadline, realtime_offset_ns);
		result = value3 ? wait(address, operation, value, deadline, value3) : -EINVAL;
		return result == -ERESTARTSYS && timeout ? -ERESTARTNOHAND : result;
	case FUTEX_WAKE:
		value3 = ~0u;
		__attribute__((fallthrough));
	case FUTEX_WAKE_BITSET:
		TRY(make_key(address, operation, &key));
		return value3 ? wake(&key, (u32)max((int)value, 1), value3, NULL, 0) : -EINVAL;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		if ((int)(u64)timeout < 0 || (int)value < 0)
			return -EINVAL;
		TRY(make_key(address, operation, &key));
		TRY(make_key(address2, operation, &key2));
		if ((operation & FUTEX_COMMAND) == FUTEX_CMP_REQUEUE) {
			TRY(get_user(now, address));
			if (now != value3)
				return -EAGAIN;
		}
		return wake(&key, value, ~0u, &key2, (unsigned)(u64)timeout);
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
enum lock_state { IN_LIST, PENDING };
static bool give_up_lock(u64 link, s64 offset, enum lock_state state)
{
	u32 *word = (u32 *)((link & ~1ULL) + (u64)offset);
	u32 value, seen;

	if ((u64)word & 3 || get_user(value, word))
		return false;
	if (state == PENDING && !value) {
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

static void give_up_locks(void)
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
		if (link != list.pending && !give_up_lock(link, list.offset, IN_LIST))
			return;
		cond_resched();
	}
	if (list.pending & ~1ULL)
		give_up_lock(list.pending, list.offset, PENDING);
}

void futex_end_thread(void)
{
	struct task *task = current;
	u32 *address = (u32 *)task->clear_child_tid;

	give_up_locks();
	task->clear_child_tid = NULL;
	/* of use only if somebody is there to look at it */
	if (address && task->mm && atomic_read(&task->mm->users) > 1 && !put_user(0u, address))
		futex_wake_one(address);
}

/* The list itself is looked at when the thread ends. */
s64 sys_set_robust_list(u64 head, size_t size)
{
	if (size != sizeof(struct robust_list_head))
		return -EINVAL;
	current->robust_list = head;
	return 0;
}
