/*
 * semaphore.c - System V's semaphores: sets of counters whose changes happen together or wait; what
 * a process did with SEM_UNDO is taken back at its end.
 *
 * Lock: sets_lock guards the table and all values. Who must wait does so in one queue for all sets
 * and looks again whenever any value changed: sets are few.
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
#define IPC_PRIVATE 0
#define IPC_CREAT 01000
#define IPC_EXCL 02000
#define IPC_NOWAIT 04000
#define SEM_UNDO 010000
#define IPC_RMID 0
#define GETVAL 12
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

static DEFINE_MUTEX(sets_lock);
static struct undo undos[UNDOS]; /* sets_lock */
static unsigned undos_used;	 /* sets_lock */
static DEFINE_WAIT_QUEUE(changed);
static struct set sets[SETS];
static u64 changes; /* ever; sets_lock */

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

/* All of them or none: 0; -EAGAIN with *@blocked, the one that must wait; -EFBIG, -ERANGE. */
static int try_operations(struct set *set, const struct operation *operations, u64 n, u64 *blocked)
{
	int error = 0;
	u64 done;

	for (done = 0; done < n && !error; done++) {
		const struct operation *operation = &operations[done];
		int value;

		if (operation->index >= set->count) {
			error = -EFBIG;
			break;
		}
		value = set->values[operation->index] + operation->change;
		if (value < 0 || (!operation->change && value))
			error = -EAGAIN;
		else if (value > VALUE_MAX)
			error = -ERANGE;
		if (error)
			break;
		set->values[operation->index] = (u16)value;
	}
	*blocked = done;
	while (error && done-- > 0)
		set->values[operations[done].index] -= (u16)operations[done].change;
	return error;
}

/* The caller's record for the semaphore, made if need be; NULL: there are too many. */
static struct undo *find_undo(int number, unsigned index)
{
	struct undo *free = NULL;

	for (struct undo *undo = undos; undo < undos + UNDOS; undo++) {
		if (undo->process == current->process && undo->number == number &&
		    undo->index == index)
			return undo;
		if (!undo->process)
			free = undo;
	}
	if (free) {
		*free = (struct undo){
			.process = current->process, .number = number, .index = index};
		undos_used++;
	}
	return free;
}

/* Records for all operations that ask for one: 0 or -ENOSPC. */
static int reserve_undos(int number, const struct operation *operations, u64 n)
{
	for (u64 i = 0; i < n; i++)
		if (operations[i].flags & SEM_UNDO && !find_undo(number, operations[i].index))
			return -ENOSPC;
	return 0;
}

static void note_undos(int number, const struct operation *operations, u64 n)
{
	for (u64 i = 0; i < n; i++)
		if (operations[i].flags & SEM_UNDO)
			find_undo(number, operations[i].index)->change -= operations[i].change;
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
		changes++;
		wake_up(&changed);
	}
}

/* Once: as try_operations(), and -EINVAL, -EACCES. *@seen: the count of changes it saw. */
static int operate(int number, const struct operation *operations, u64 n, u64 *blocked, u64 *seen)
{
	unsigned wanted = 0;
	struct set *set;
	int error;

	for (u64 i = 0; i < n; i++)
		wanted |= operations[i].change ? MAY_ALTER : MAY_LOOK;
	guard(mutex, &sets_lock);
	set = find_set(number, wanted);
	if (IS_ERR(set))
		return (int)PTR_ERR(set);
	error = reserve_undos(number, operations, n);
	if (error)
		return error;
	error = try_operations(set, operations, n, blocked);
	if (!error)
		note_undos(number, operations, n);
	*seen = changes += !error;
	return error;
}

s64 sys_semtimedop(int number, const void *user_operations, u64 n, const void *timeout)
{
	struct operation operations[OPERATIONS_MAX];
	u64 blocked = 0, seen = 0, ns = FOR_EVER;
	bool waited = false;
	s64 result;

	if (!n || n > OPERATIONS_MAX)
		return n ? -E2BIG : -EINVAL;
	if (copy_from_user(operations, user_operations, n * sizeof(operations[0])))
		return -EFAULT;
	result = timeout ? get_timespec(timeout, &ns) : 0;
	if (result)
		return result;
	while ((result = operate(number, operations, n, &blocked, &seen)) == -EAGAIN) {
		if (operations[blocked].flags & IPC_NOWAIT || !ns)
			return -EAGAIN;
		result = wait_event_interruptible_timeout(changed, READ_ONCE(changes) != seen, ns);
		if (result < 0)
			return -EINTR;
		ns = timeout ? (u64)result : ns;
		waited = true;
	}
	if (!result)
		wake_up(&changed);
	return result == -EINVAL && waited ? -EIDRM : result;
}

s64 sys_semop(int number, const void *operations, u64 n)
{
	return sys_semtimedop(number, operations, n, NULL);
}

s64 sys_semctl(int number, int index, int command, u64 argument)
{
	struct set *set;

	guard(mutex, &sets_lock);
	set = find_set(number, command == GETVAL ? MAY_LOOK : command == SETVAL ? MAY_ALTER : 0);
	if (IS_ERR(set))
		return PTR_ERR(set);
	if (command == IPC_RMID) {
		if (current->cred->euid != set->uid && !capable(current->cred))
			return -EPERM;
		kfree(set->values);
		set->values = NULL;
	} else if ((command != GETVAL && command != SETVAL) || (unsigned)index >= set->count) {
		return -EINVAL;
	} else if (command == GETVAL) {
		return set->values[index];
	} else if ((int)argument < 0 || (int)argument > VALUE_MAX) {
		return -ERANGE;
	} else {
		set->values[index] = (u16)argument;
	}
	changes++;
	wake_up(&changed);
	return 0;
}
