/*
 * sysv.c - System V's segments of shared memory and its semaphores, as far as dbench's clients use
 * them: made without a key, attached whole and anywhere; sets of one semaphore, one operation a
 * call. They last until somebody removes them.
 *
 * An object is a file of the tmpfs that is mounted nowhere (tmpfs_file()) and its number. The
 * file's inode says whose it is and who may use it; a segment's file is also its memory: who
 * attaches it maps the file, and so keeps it.
 *
 * An operation that cannot be done waits in a list, and whoever changes a value does what can then
 * be done of it, in the order in which the calls came, before anybody runs: dbench's clients wait
 * for zero, and the first of them that runs removes the set. Who waits sleeps in one queue for all
 * sets: they are few.
 */
#include "fs/inode/permission.h"
#include "fs/tmpfs/tmpfs.h"
#include "kernel/proc/process.h"
#include "mm/space/swap_hooks.h"
#include "mm/space/vm.h"

#define OBJECTS 128
#define OBJECTS_OF_USERS 96
#define GENERATIONS (1 << 23) /* a slot's numbers come round after so many objects */
#define IPC_PRIVATE 0
#define IPC_CREAT 01000
#define IPC_NOWAIT 04000
#define IPC_RMID 0

#define SEMAPHORE_MAX 32767 /* its value */
#define SEM_UNDO 010000
#define GETVAL 12
#define GETZCNT 15 /* how many wait for it to be zero */
#define WAITS 1

enum object_kind { SEGMENT, SEMAPHORE };

static struct object {
	struct file *file; /* NULL: the slot is free */
	int number;
	enum object_kind kind;
	int value;			    /* of a semaphore */
	int undo;			    /* to be added to it when this process ends: */
	const struct process *undo_process; /* SEM_UNDO is for one at a time; NULL: none */
} objects[OBJECTS];

struct waiter { /* a call of semop */
	struct list_head link;
	int number, result; /* WAITS: it is in the list */
	const struct process *process;
	struct { /* struct sembuf */
		u16 index;
		s16 change; /* 0: wait until it is zero */
		s16 flags;
	} operation;
};

static DEFINE_MUTEX(ipc_lock);	   /* guards all of these; mm->lock may be taken below it */
static LIST_HEAD(waiters);	   /* oldest first */
static DEFINE_WAIT_QUEUE(changed); /* the result of some waiter */

/* So many of the first slots are for current: the rest stays free for root. */
static unsigned slots_for_me(void)
{
	return capable(current->cred) ? OBJECTS : OBJECTS_OF_USERS;
}

/* Would a segment of @size more be too much of what memory and swap hold together? Who makes one
 * may be gone, and it stays. ipc_lock held. */
static bool is_too_much(u64 size)
{
	u64 pages = size >> PAGE_SHIFT;

	lockdep_assert_held(&ipc_lock);
	for (const struct object *object = objects; object < objects + OBJECTS; object++)
		if (object->file && object->kind == SEGMENT)
			pages += (u64)object->file->inode->data.size >> PAGE_SHIFT;
	return pages > (page_alloc_total_pages() + swap_total_pages()) / 2;
}

/* The number of a new one, -EINVAL, -ENOENT, -ENOSPC, -ENOMEM, -ENFILE. */
static s64 create(enum object_kind kind, int key, u64 size, u32 flags)
{
	static int made;
	struct object *slot = objects;

	if (key != IPC_PRIVATE) /* there is none with a key */
		return flags & IPC_CREAT ? -EINVAL : -ENOENT;
	guard(mutex, &ipc_lock);
	while (slot->file)
		if (++slot == objects + slots_for_me())
			return -ENOSPC;
	if (kind == SEGMENT && is_too_much(size))
		return -ENOSPC;
	struct file *file = TRY_PTR(tmpfs_file(flags & 0777, size, O_RDWR));

	made = (made + 1) % GENERATIONS;
	*slot = (struct object){
		.file = file,
		.number = made * OBJECTS + (int)(slot - objects),
		.kind = kind,
	};
	return slot->number;
}

/* The one of @number, if the caller may use it for @mask (MAY_*), or ERR_PTR(-EINVAL, -EACCES).
 * ipc_lock held. */
static struct object *find(enum object_kind kind, int number, int mask)
{
	struct object *object = &objects[(unsigned)number % OBJECTS];

	lockdep_assert_held(&ipc_lock);
	if (!object->file || object->number != number || object->kind != kind)
		return ERR_PTR(-EINVAL);

	int error = inode_permission(object->file->inode, mask);

	return error ? ERR_PTR(error) : object;
}

/* 0 or -EPERM. ipc_lock held. */
static int remove(struct object *object)
{
	lockdep_assert_held(&ipc_lock);
	if (current->cred->euid != object->file->inode->uid && !capable(current->cred))
		return -EPERM;
	fput(object->file);
	object->file = NULL;
	object->undo_process = NULL;
	return 0;
}

/* ---- shared memory --------------------------------------------------------------------------- */

s64 sys_shmget(int key, u64 size, u32 flags)
{
	if (!size)
		return -EINVAL;
	return create(SEGMENT, key, size, flags);
}

s64 sys_shmat(int number, u64 address, u32 flags)
{
	if (address || flags)
		return -EINVAL;
	guard(mutex, &ipc_lock);
	const struct object *segment = TRY_PTR(find(SEGMENT, number, MAY_READ | MAY_WRITE));

	return mm_map(current->mm, 0, (u64)segment->file->inode->data.size, PROT_READ | PROT_WRITE,
		      MAP_SHARED, segment->file, 0);
}

s64 sys_shmctl(int number, int command, void *unused)
{
	guard(mutex, &ipc_lock);
	struct object *segment = TRY_PTR(find(SEGMENT, number, 0));

	return command == IPC_RMID ? remove(segment) : -EINVAL;
}

/* ---- semaphores ------------------------------------------------------------------------------ */

s64 sys_semget(int key, int count, u32 flags)
{
	if (count != 1)
		return -EINVAL;
	return create(SEMAPHORE, key, 0, flags);
}

static void undo(const struct process *process);

/* 0, WAITS, -EAGAIN where that is not wanted, -ERANGE, -ENOSPC: another one has its SEM_UNDO. */
static int operate(struct object *set, const struct waiter *waiter)
{
	int change = waiter->operation.change, value = set->value + change;

	lockdep_assert_held(&ipc_lock);
	if (value < 0 || (!change && value))
		return waiter->operation.flags & IPC_NOWAIT ? -EAGAIN : WAITS;
	if (value > SEMAPHORE_MAX)
		return -ERANGE;
	if (waiter->operation.flags & SEM_UNDO && change) {
		if (set->undo_process && set->undo_process != waiter->process)
			return -ENOSPC;
		if (set->undo - change > SEMAPHORE_MAX || set->undo - change < -SEMAPHORE_MAX)
			return -ERANGE;
		set->undo -= change;
		set->undo_process = set->undo ? waiter->process : NULL;
		WRITE_ONCE(undo_semaphores, undo);
	}
	set->value = value;
	return 0;
}

/* Its value has changed, or it is gone: those who wait for that go on, in their order. */
static void serve(struct object *set)
{
	struct waiter *waiter, *next;
	bool again = true;

	lockdep_assert_held(&ipc_lock);
	while (again) {
		again = false;
		list_for_each_entry_safe (waiter, next, &waiters, link) {
			int result = -EIDRM;

			if (waiter->number != set->number)
				continue;
			if (set->file)
				result = operate(set, waiter);
			if (result == WAITS)
				continue;
			again |= !result && waiter->operation.change;
			list_del(&waiter->link);
			WRITE_ONCE(waiter->result, result);
		}
	}
	wake_up(&changed);
}

/* @process ends: what it did with SEM_UNDO is taken back. */
static void undo(const struct process *process)
{
	guard(mutex, &ipc_lock);
	for (struct object *set = objects; set < objects + OBJECTS; set++) {
		if (set->undo_process != process)
			continue;
		set->value = max(0, min(set->value + set->undo, SEMAPHORE_MAX));
		set->undo = 0;
		set->undo_process = NULL;
		serve(set);
	}
}

/* Its result, WAITS if it has been put into the list. */
static int begin(struct waiter *waiter)
{
	bool change = waiter->operation.change;

	guard(mutex, &ipc_lock);
	struct object *set =
		TRY_PTR(find(SEMAPHORE, waiter->number, change ? MAY_WRITE : MAY_READ));

	if (waiter->operation.index)
		return -EFBIG;
	waiter->result = TRY(operate(set, waiter));
	if (waiter->result == WAITS)
		list_add_tail(&waiter->link, &waiters);
	else if (change)
		serve(set);
	return waiter->result;
}

s64 sys_semtimedop(int number, const void *operations, u64 n, const void *timeout)
{
	struct waiter waiter = {.number = number, .process = current->process};

	if (n != 1)
		return n ? -E2BIG : -EINVAL;
	if (timeout)
		return -EINVAL;
	TRY(read_user(&waiter.operation, operations, sizeof(waiter.operation)));
	if (TRY(begin(&waiter)) != WAITS)
		return 0;
	(void)wait_event_interruptible(changed, READ_ONCE(waiter.result) != WAITS);
	guard(mutex, &ipc_lock);
	if (waiter.result != WAITS)
		return waiter.result;
	list_del(&waiter.link);
	return -EINTR;
}

s64 sys_semop(int number, const void *operations, u64 n)
{
	return sys_semtimedop(number, operations, n, NULL);
}

s64 sys_semctl(int number, int index, int command, u64 unused)
{
	const struct waiter *waiter;
	s64 count = 0;

	guard(mutex, &ipc_lock);
	struct object *set = TRY_PTR(find(SEMAPHORE, number, command == IPC_RMID ? 0 : MAY_READ));

	if (command == IPC_RMID) {
		TRY(remove(set));
		serve(set);
		return 0;
	}
	if (index || (command != GETVAL && command != GETZCNT))
		return -EINVAL;
	list_for_each_entry (waiter, &waiters, link)
		count += waiter->number == number && !waiter->operation.change;
	return command == GETVAL ? set->value : count;
}
