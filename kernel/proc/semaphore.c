/*
 * semaphore.c - System V's semaphores: sets of counters whose changes happen together or wait; what
 * a process did with SEM_UNDO is taken back at its end.
 *
 * A call that cannot be done waits in a list, and whoever changes a value does what can then be
 * done of it, in the order in which the calls came, before anybody runs: dbench's clients wait for
 * zero, and the first of them that runs removes the set.
 *
 * Lock: sets_lock guards all. Who waits sleeps in one queue for all sets: they are few.
 */
#include "fs/vfs.h"
#include "kernel/core/user_time.h"
#include "kernel/proc/process.h"

#define SETS 128
#define NUMBERS (1 << 23)
#define COUNT_MAX 250 /* of a set */
#define OPERATIONS_MAX 64
#define UNDOS 512
#define VALUE_MAX 32767
#define FOR_EVER (1ull << 60) /* nanoseconds */
#define WAITS 1
#define IPC_PRIVATE 0
#define IPC_CREAT 01000
#define IPC_EXCL 02000
#define IPC_NOWAIT 04000
#define SEM_UNDO 010000
#define IPC_RMID 0
#define GETVAL 12
#define GETNCNT 14 /* how many wait for it to grow */
#define GETZCNT 15 /* ... for it to be zero */
#define SETVAL 16
#define MAY_ALTER 2u
#define MAY_LOOK 4u

struct set {
	u16 *values; /* NULL: the slot is free */
	unsigned count, mode;
	int key, number;
	uid_t uid;
	gid_t gid;
};

struct operation { /* struct sembuf */
	u16 index;
	s16 change; /* 0: wait until it is zero */
	s16 flags;
};

struct undo {			       /* of one process on one semaphore */
	const struct process *process; /* NULL: the record is free */
	int number, change;
	unsigned index;
};

struct waiter { /* a call of semop */
	struct list_head link;
	const struct process *process;
	int number, result;			      /* WAITS: it is in the list */
	const struct operation *operations, *blocked; /* the one that it waits for */
	u64 n;
};

static DEFINE_MUTEX(sets_lock);
static LIST_HEAD(waiters);	 /* oldest first; sets_lock */
static struct undo undos[UNDOS]; /* sets_lock */
static unsigned undos_used;	 /* sets_lock */
static DEFINE_WAIT_QUEUE(changed);
static struct set sets[SETS];

static bool allowed(const struct set *set, unsigned wanted)
{
	unsigned bits = current->cred->euid == set->uid	  ? set->mode >> 6
			: current->cred->egid == set->gid ? set->mode >> 3
							  : set->mode;

	return capable(current->cred) || (bits & wanted) == wanted;
}

/* ERR_PTR(-EINVAL): there is none, -EACCES: not for the caller. */
static struct set *find_set(int number, unsigned wanted)
{
	struct set *set = &sets[(unsigned)number % SETS];

	if (number < 0 || !set->values || set->number != number)
		return ERR_PTR(-EINVAL);
	return allowed(set, wanted) ? set : ERR_PTR(-EACCES);
}

static s64 make_set(struct set *slot, int key, int count, u32 flags)
{
	static int generation;
	u16 *values;

	if (count <= 0 || count > COUNT_MAX)
		return -EINVAL;
	if (!slot)
		return -ENOSPC;
	values = kzalloc((size_t)count * sizeof(*values), GFP_KERNEL);
	if (!values)
		return -ENOMEM;
	generation = (generation + 1) % NUMBERS;
	*slot = (struct set){
		.values = values,
		.count = (unsigned)count,
		.mode = flags & 0777,
		.key = key,
		.number = generation * SETS + (int)(slot - sets),
		.uid = current->cred->euid,
		.gid = current->cred->egid,
	};
	return slot->number;
}

s64 sys_semget(int key, int count, u32 flags)
{
	unsigned wanted = (flags & 0444 ? MAY_LOOK : 0) | (flags & 0222 ? MAY_ALTER : 0);
	struct set *slot = NULL, *found = NULL;

	guard(mutex, &sets_lock);
	for (struct set *set = sets; set < sets + SETS; set++) {
		if (!set->values)
			slot = slot ? slot : set;
		else if (key != IPC_PRIVATE && set->key == key)
			found = set;
	}
	if (!found)
		return key == IPC_PRIVATE || flags & IPC_CREAT ? make_set(slot, key, count, flags)
							       : -ENOENT;
	if ((flags & (IPC_CREAT | IPC_EXCL)) == (IPC_CREAT | IPC_EXCL))
		return -EEXIST;
	if (count < 0 || (unsigned)count > found->count)
		return -EINVAL;
	return allowed(found, wanted) ? found->number : -EACCES;
}

/* The process's record for the semaphore, made if need be; NULL: there are too many. */
static struct undo *find_undo(const struct waiter *waiter, unsigned index)
{
	struct undo *free = NULL;

	for (struct undo *undo = undos; undo < undos + UNDOS; undo++) {
		if (undo->process == waiter->process && undo->number == waiter->number &&
		    undo->index == index)
			return undo;
		if (!undo->process)
			free = undo;
	}
	if (free) {
		*free = (struct undo){
			.process = waiter->process, .number = waiter->number, .index = index};
		undos_used++;
	}
	return free;
}

/* One of a call's: 0, WAITS, -EAGAIN where that is not wanted, -EFBIG, -ERANGE, -ENOSPC. */
static int try_operation(struct set *set, struct waiter *waiter, const struct operation *operation)
{
	int value;

	if (operation->index >= set->count)
		return -EFBIG;
	if (operation->flags & SEM_UNDO && !find_undo(waiter, operation->index))
		return -ENOSPC;
	value = set->values[operation->index] + operation->change;
	if (value < 0 || (!operation->change && value)) {
		waiter->blocked = operation;
		return operation->flags & IPC_NOWAIT ? -EAGAIN : WAITS;
	}
	if (value > VALUE_MAX)
		return -ERANGE;
	set->values[operation->index] = (u16)value;
	return 0;
}

/* All of them or none. */
static int operate(struct set *set, struct waiter *waiter)
{
	const struct operation *operations = waiter->operations;
	u64 done = 0;
	int result = 0;

	while (done < waiter->n && !result) {
		result = try_operation(set, waiter, &operations[done]);
		done += !result;
	}
	if (result)
		while (done-- > 0)
			set->values[operations[done].index] -= (u16)operations[done].change;
	else
		for (u64 i = 0; i < waiter->n; i++)
			if (operations[i].flags & SEM_UNDO)
				find_undo(waiter, operations[i].index)->change -=
					operations[i].change;
	return waiter->result = result;
}

/* Values of @set have changed, or it goes (@removed): the calls that need not wait any longer. */
static void settle(struct set *set, bool removed)
{
	struct waiter *waiter, *next;
	bool progress;

	do {
		progress = false;
		list_for_each_entry_safe (waiter, next, &waiters, link) {
			if (waiter->number != set->number)
				continue;
			if (removed)
				waiter->result = -EIDRM;
			else if (operate(set, waiter) == WAITS)
				continue;
			list_del(&waiter->link);
			progress = true;
		}
	} while (progress);
	wake_up(&changed);
}

void semaphores_exit(const struct process *process)
{
	if (likely(!READ_ONCE(undos_used)))
		return;
	guard(mutex, &sets_lock);
	for (struct undo *undo = undos; undo < undos + UNDOS; undo++) {
		struct set *set = &sets[(unsigned)undo->number % SETS];
		int value;

		if (undo->process != process)
			continue;
		undo->process = NULL;
		undos_used--;
		if (!set->values || set->number != undo->number || undo->index >= set->count)
			continue;
		value = set->values[undo->index] + undo->change;
		set->values[undo->index] = (u16)max(0, min(value, VALUE_MAX));
		settle(set, false);
	}
}

/* Do it at once, or put it into the list (WAITS). */
static int begin(struct waiter *waiter)
{
	unsigned wanted = 0;
	struct set *set;

	for (u64 i = 0; i < waiter->n; i++)
		wanted |= waiter->operations[i].change ? MAY_ALTER : MAY_LOOK;
	guard(mutex, &sets_lock);
	set = find_set(waiter->number, wanted);
	if (IS_ERR(set))
		return (int)PTR_ERR(set);
	if (operate(set, waiter) == WAITS)
		list_add_tail(&waiter->link, &waiters);
	else if (!waiter->result)
		settle(set, false);
	return waiter->result;
}

s64 sys_semtimedop(int number, const void *user_operations, u64 n, const void *timeout)
{
	struct operation operations[OPERATIONS_MAX];
	struct waiter waiter = {
		.process = current->process, .number = number, .operations = operations, .n = n};
	u64 ns = FOR_EVER;
	s64 left;
	int result;

	if (!n || n > OPERATIONS_MAX)
		return n ? -E2BIG : -EINVAL;
	if (copy_from_user(operations, user_operations, n * sizeof(operations[0])))
		return -EFAULT;
	if (timeout)
		TRY(get_timespec(timeout, &ns));
	result = begin(&waiter);
	if (result != WAITS)
		return result;
	left = wait_event_interruptible_timeout(changed, READ_ONCE(waiter.result) != WAITS, ns);
	guard(mutex, &sets_lock);
	if (waiter.result != WAITS)
		return waiter.result;
	list_del(&waiter.link);
	return left < 0 ? -EINTR : -EAGAIN;
}

s64 sys_semop(int number, const void *operations, u64 n)
{
	return sys_semtimedop(number, operations, n, NULL);
}

static s64 count_waiters(int number, int index, bool for_zero)
{
	struct waiter *waiter;
	s64 count = 0;

	list_for_each_entry (waiter, &waiters, link)
		count += waiter->number == number && waiter->blocked->index == index &&
			 !waiter->blocked->change == for_zero;
	return count;
}

s64 sys_semctl(int number, int index, int command, u64 argument)
{
	bool looks = command == GETVAL || command == GETNCNT || command == GETZCNT;
	struct set *set;

	guard(mutex, &sets_lock);
	set = find_set(number, looks ? MAY_LOOK : command == SETVAL ? MAY_ALTER : 0);
	if (IS_ERR(set))
		return PTR_ERR(set);
	if (command == IPC_RMID) {
		if (current->cred->euid != set->uid && !capable(current->cred))
			return -EPERM;
		kfree(set->values);
		set->values = NULL;
		settle(set, true);
		return 0;
	}
	if ((!looks && command != SETVAL) || (unsigned)index >= set->count)
		return -EINVAL;
	if (command == GETVAL)
		return set->values[index];
	if (looks)
		return count_waiters(number, index, command == GETZCNT);
	if ((int)argument < 0 || (int)argument > VALUE_MAX)
		return -ERANGE;
	set->values[index] = (u16)argument;
	settle(set, false);
	return 0;
}
