/*
 * ipc.c - the tables of System V's objects, and its semaphores: sets of counters whose changes
 * happen or wait, and are taken back at the end of the process if it says SEM_UNDO. The file of a
 * set holds the counters.
 *
 * A call that cannot be done waits in a list, and whoever changes a value does what can then be
 * done of it, in the order in which the calls came, before anybody runs: dbench's clients wait for
 * zero, and the first of them that runs removes the set. Who waits sleeps in one queue for all
 * sets: they are few.
 */
#include "kernel/proc/ipc.h"

#include "fs/tmpfs/tmpfs.h"
#include "kernel/proc/process.h"

#define NUMBERS (1 << 23) /* a slot's numbers come round after so many objects */
#define IPC_PRIVATE 0
#define IPC_CREAT 01000
#define IPC_EXCL 02000

DEFINE_MUTEX(ipc_lock);

struct ipc_object *ipc_find(struct ipc_table *table, int number, int mask)
{
	struct ipc_object *object = &table->objects[(unsigned)number % IPC_OBJECTS];

	if (number < 0 || !object->file || object->number != number)
		return ERR_PTR(-EINVAL);

	int error = inode_permission(object->file->inode, mask);

	return error ? ERR_PTR(error) : object;
}

s64 ipc_get(struct ipc_table *table, int key, u64 size, u32 flags)
{
	struct ipc_object *slot = NULL, *found = NULL;

	guard(mutex, &ipc_lock);
	for (int i = IPC_OBJECTS - 1; i >= 0; i--) {
		if (!table->objects[i].file)
			slot = &table->objects[i];
		else if (key != IPC_PRIVATE && table->objects[i].key == key)
			found = &table->objects[i];
	}
	if (found && (flags & (IPC_CREAT | IPC_EXCL)) == (IPC_CREAT | IPC_EXCL))
		return -EEXIST;
	if (found) {
		if (size > found->size)
			return -EINVAL;
		return inode_permission(found->file->inode, (flags & 0444 ? MAY_READ : 0) |
								    (flags & 0222 ? MAY_WRITE : 0))
			       ?: found->number;
	}
	if (key != IPC_PRIVATE && !(flags & IPC_CREAT))
		return -ENOENT;
	if (!size || !slot)
		return size ? -ENOSPC : -EINVAL;
	if (size >> PAGE_SHIFT > page_alloc_total_pages())
		return -ENOMEM;

	struct file *file = TRY_PTR(tmpfs_file(flags & 0777, (loff_t)size));

	file->private = table; /* not a memfd's */
	table->generation = (table->generation + 1) % NUMBERS;
	*slot = (struct ipc_object){
		.file = file,
		.key = key,
		.number = table->generation * IPC_OBJECTS + (int)(slot - table->objects),
		.size = size,
	};
	return slot->number;
}

int ipc_remove(struct ipc_object *object)
{
	if (current->cred->euid != object->file->inode->uid && !capable(current->cred))
		return -EPERM;
	fput(object->file);
	object->file = NULL;
	return 0;
}

/* ---- semaphores ------------------------------------------------------------------------------ */

#define COUNT_MAX 250 /* of a set */
#define VALUE_MAX 32767
#define SEM_UNDO 010000
#define GETVAL 12
#define GETNCNT 14 /* how many wait for it to grow */
#define GETZCNT 15 /* ... for it to be zero */
#define SETVAL 16
#define WAITS 1

struct operation { /* struct sembuf */
	u16 index;
	s16 change; /* 0: wait until it is zero */
	s16 flags;
};

struct undo { /* of one process on one semaphore */
	struct list_head link;
	const struct process *process;
	int number, change;
	u16 index;
};

struct waiter { /* a call of semop */
	struct list_head link;
	int number, result; /* WAITS: it is in the list */
	struct operation operation;
	struct undo *undo; /* NULL: not SEM_UNDO */
};

static struct ipc_table sets;
static LIST_HEAD(undos);	   /* ipc_lock */
static LIST_HEAD(waiters);	   /* oldest first; ipc_lock */
static DEFINE_WAIT_QUEUE(changed); /* the result of some waiter */

s64 sys_semget(int key, int count, u32 flags)
{
	if (count < 0 || count > COUNT_MAX)
		return -EINVAL;
	return ipc_get(&sets, key, (u64)count * sizeof(u16), flags);
}

static int get_value(const struct ipc_object *set, unsigned index)
{
	u16 value;

	if (index >= set->size / sizeof(value))
		return -EFBIG;
	TRY(kernel_read(set->file, &value, sizeof(value), (loff_t)(index * sizeof(value))));
	return value;
}

static int set_value(const struct ipc_object *set, unsigned index, int value)
{
	u16 stored = (u16)value;
	struct io io = {.base = &stored, .length = sizeof(stored)};
	loff_t at = (loff_t)(index * sizeof(stored));

	if (value < 0 || value > VALUE_MAX)
		return -ERANGE;
	TRY(set->file->fop->write(set->file, &io, &at));
	return 0;
}

/* 0, WAITS, -EAGAIN where that is not wanted, -EFBIG, -ERANGE. */
static int operate(const struct ipc_object *set, const struct waiter *waiter)
{
	const struct operation *operation = &waiter->operation;
	int value = TRY(get_value(set, operation->index));

	if (value + operation->change < 0 || (!operation->change && value))
		return operation->flags & IPC_NOWAIT ? -EAGAIN : WAITS;
	TRY(set_value(set, operation->index, value + operation->change));
	if (waiter->undo)
		waiter->undo->change -= operation->change;
	return 0;
}

/* A value of the set has changed, or it is @gone: those who wait for that go on, in their order. */
static void serve(const struct ipc_object *set, bool gone)
{
	struct waiter *waiter, *next;
	bool again = true;

	while (again) {
		again = false;
		list_for_each_entry_safe(waiter, next, &waiters, link) {
			int result = waiter->number != set->number ? WAITS
				     : gone ? -EIDRM : operate(set, waiter);

			if (result == WAITS)
				continue;
			again |= !result && waiter->operation.change;
			list_del(&waiter->link);
			WRITE_ONCE(waiter->result, result);
		}
	}
	wake_up(&changed);
}

/* The caller's record for the semaphore; NULL: no memory. */
static struct undo *find_undo(const struct waiter *waiter)
{
	struct undo *undo;

	list_for_each_entry (undo, &undos, link)
		if (undo->process == current->process && undo->number == waiter->number &&
		    undo->index == waiter->operation.index)
			return undo;
	undo = kzalloc(sizeof(*undo), GFP_KERNEL);
	if (!undo)
		return NULL;
	undo->process = current->process;
	undo->number = waiter->number;
	undo->index = waiter->operation.index;
	list_add(&undo->link, &undos);
	return undo;
}

void semaphores_exit(const struct process *process)
{
	struct undo *undo, *next;

	if (likely(list_empty(&undos)))
		return;
	guard(mutex, &ipc_lock);
	list_for_each_entry_safe (undo, next, &undos, link) {
		if (undo->process != process)
			continue;

		const struct ipc_object *set = ipc_find(&sets, undo->number, 0);

		if (!IS_ERR(set)) {
			int value = get_value(set, undo->index) + undo->change;

			set_value(set, undo->index, max(0, min(value, VALUE_MAX)));
			serve(set, false);
		}
		list_del(&undo->link);
		kfree(undo);
	}
}

/* Its result, WAITS if it has been put into the list. */
static int begin(struct waiter *waiter)
{
	bool change = waiter->operation.change;

	guard(mutex, &ipc_lock);

	const struct ipc_object *set =
		TRY_PTR(ipc_find(&sets, waiter->number, change ? MAY_WRITE : MAY_READ));

	if (waiter->operation.flags & SEM_UNDO)
		waiter->undo = TRY_PTR(find_undo(waiter));
	waiter->result = TRY(operate(set, waiter));
	if (waiter->result == WAITS)
		list_add_tail(&waiter->link, &waiters);
	else if (change)
		serve(set, false);
	return waiter->result;
}

s64 sys_semtimedop(int number, const void *operations, u64 n, const void *timeout)
{
	struct waiter waiter = {.number = number};
	u64 deadline;

	if (n != 1)
		return n ? -E2BIG : -EINVAL;
	if (copy_from_user(&waiter.operation, operations, sizeof(waiter.operation)))
		return -EFAULT;
	TRY(get_deadline(timeout, &deadline));
	if (TRY(begin(&waiter)) != WAITS)
		return 0;

	s64 left = wait_event_interruptible_timeout(changed, READ_ONCE(waiter.result) != WAITS,
						    min(time_left(deadline), 1ULL << 62));

	guard(mutex, &ipc_lock);
	if (waiter.result != WAITS)
		return waiter.result;
	list_del(&waiter.link);
	return left < 0 ? -EINTR : -EAGAIN;
}

s64 sys_semop(int number, const void *operations, u64 n)
{
	return sys_semtimedop(number, operations, n, NULL);
}

s64 sys_semctl(int number, int index, int command, u64 argument)
{
	int mask = command == IPC_RMID ? 0 : command == SETVAL ? MAY_WRITE : MAY_READ;
	struct undo *undo, *next;
	struct waiter *waiter;
	s64 count = 0;

	guard(mutex, &ipc_lock);

	struct ipc_object *set = TRY_PTR(ipc_find(&sets, number, mask));
	int value = get_value(set, (unsigned)index);

	if (command == IPC_RMID) {
		TRY(ipc_remove(set));
	} else if (value < 0) {
		return -EINVAL;
	} else if (command == SETVAL) {
		TRY(set_value(set, (unsigned)index, (int)argument));
	} else if (command == GETNCNT || command == GETZCNT) {
		list_for_each_entry(waiter, &waiters, link)
			count += waiter->number == number && waiter->operation.index == index &&
				 !waiter->operation.change == (command == GETZCNT);
		return count;
	} else {
		return command == GETVAL ? value : -EINVAL;
	}
	serve(set, command == IPC_RMID);
	list_for_each_entry_safe (undo, next, &undos, link)
		if (command == IPC_RMID && undo->number == number) {
			list_del(&undo->link);
			kfree(undo);
		}
	return 0;
}
