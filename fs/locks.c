/*
 * locks.c - advisory locks on files: fcntl's record locks and flock's locks on the whole.
 *
 * One kind of object serves all: a range, read or write, that belongs to an owner. The owner is
 *   a file table    POSIX record locks (F_SETLK): all of a process's on a file go with its first
 *                   close of any descriptor for it, so at its exit as well
 *   an open file    open-file-description locks (F_OFD_SETLK), with the last close
 *   an open file    flock(2), from 0 to the end; these do not see the other two kinds
 * An inode's locks hang on inode->locks: those of an owner in one run, in order of their start.
 * Setting a range cuts what its owner has there and joins what touches it; unlocking is setting a
 * range to nothing.
 *
 * A waiter is on one list with all others and sleeps on one queue: whoever gives up a part of a
 * lock wakes them, and each tries again. Of a POSIX waiter it is known whose lock it waits for, so
 * a circle is found before it is closed (EDEADLK), as far as CIRCLE_MAX steps go.
 *
 * LOCKS_MAX locks in all (twice as many by cutting some in two), then ENOLCK. All is under
 * locks_lock, taken by these calls and by the close of a file that has locks, never by reading and
 * writing.
 */
#include "fs/internal.h"
#include "kernel/core/jobctl.h"

#define LOCKS_MAX 16384
#define CIRCLE_MAX 64
#define RANGE_END ((loff_t)(~0ULL >> 1))

struct file_lock {
	struct file_lock *next; /* of the inode's */
	const void *owner;
	loff_t start, end; /* both within */
	pid_t pid;	   /* POSIX: as F_GETLK tells it; -1 for the others */
	short type;	   /* F_RDLCK, F_WRLCK; F_UNLCK: what is asked for is to let go */
	bool whole;	   /* flock(2)'s */
};

struct lock_waiter {
	struct list_head link;
	const void *owner, *blocker; /* blocker NULL: has been woken */
};

static DEFINE_SPINLOCK(locks_lock);
static DEFINE_WAIT_QUEUE(locks_wait);
static LIST_HEAD(waiters);
static u32 lock_count;

/* ---- under locks_lock ------------------------------------------------------------------------ */

static bool same_owner(const struct file_lock *a, const struct file_lock *b)
{
	return a->owner == b->owner && a->whole == b->whole;
}

static struct file_lock *find_conflict(const struct inode *inode, const struct file_lock *wanted)
{
	struct file_lock *lock;

	for (lock = inode->locks; lock; lock = lock->next)
		if (lock->whole == wanted->whole && lock->owner != wanted->owner &&
		    (lock->type == F_WRLCK || wanted->type == F_WRLCK) &&
		    lock->start <= wanted->end && wanted->start <= lock->end)
			break;
	return lock;
}

static void wake_waiters(void)
{
	struct lock_waiter *waiter;

	if (list_empty(&waiters))
		return;
	list_for_each_entry(waiter, &waiters, link)
		waiter->blocker = NULL;
	wake_up(&locks_wait);
}

static void unlink_lock(struct file_lock **at)
{
	struct file_lock *lock = *at;

	*at = lock->next;
	lock_count--;
	kfree(lock);
}

static void link_lock(struct inode *inode, struct file_lock *lock)
{
	struct file_lock **at = &inode->locks;

	while (*at && !same_owner(*at, lock))
		at = &(*at)->next;
	while (*at && same_owner(*at, lock) && (*at)->start < lock->start)
		at = &(*at)->next;
	lock->next = *at;
	WRITE_ONCE(*at, lock);
	lock_count++;
}

/*
 * Give @new's owner its type over its range, whatever he had there. Uses up *@new, unless that is
 * F_UNLCK, and *@spare if a lock has to be cut in two; both NULL then. 0 or -ENOLCK.
 */
static int set_range(struct inode *inode, struct file_lock **new, struct file_lock **spare)
{
	struct file_lock *want = *new, *lock, *rest;
	struct file_lock **at = &inode->locks;

	while ((lock = *at) != NULL) {
		bool joins = lock->type == want->type;
		loff_t touch = joins ? 1 : 0; /* of one type: neighbours become one */

		if (!same_owner(lock, want) || lock->end < want->start - touch ||
		    lock->start - touch > want->end) {
			at = &lock->next;
			continue;
		}
		if (joins) {
			want->start = min(want->start, lock->start);
			want->end = max(want->end, lock->end);
			unlink_lock(at);
		} else if (lock->start < want->start && lock->end > want->end) {
			if (lock_count >= 2 * LOCKS_MAX)
				return -ENOLCK; /* no other was changed: this one covers all */
			rest = *spare;
			*spare = NULL;
			*rest = *lock;
			rest->start = want->end + 1;
			lock->end = want->start - 1;
			link_lock(inode, rest);
			at = &rest->next;
		} else if (lock->start < want->start) {
			lock->end = want->start - 1;
			at = &lock->next;
		} else if (lock->end > want->end) {
			lock->start = want->end + 1;
			at = &lock->next;
		} else {
			unlink_lock(at);
		}
	}
	if (want->type != F_UNLCK) {
		link_lock(inode, want);
		*new = NULL;
	}
	wake_waiters();
	return 0;
}

/* Would @owner, waiting for @blocker, wait for itself? */
static bool closes_circle(const void *owner, const void *blocker)
{
	struct lock_waiter *waiter;

	for (unsigned steps = 0; blocker && steps < CIRCLE_MAX; steps++) {
		const void *next = NULL;

		list_for_each_entry(waiter, &waiters, link)
			if (waiter->owner == blocker && waiter->blocker)
				next = waiter->blocker;
		if (next == owner)
			return true;
		blocker = next;
	}
	return false;
}

/* ---- setting --------------------------------------------------------------------------------- */

/* One try: 0, -EDEADLK, or -EAGAIN with @waiter queued for who is in the way (if @wait). */
static int try_range(struct inode *inode, struct file_lock **new, struct file_lock **spare,
		     bool wait, struct lock_waiter *waiter)
{
	const struct file_lock *want = *new, *conflict;
	bool posix = want->pid >= 0;

	guard(spinlock, &locks_lock);
	list_del_init(&waiter->link);
	conflict = want->type == F_UNLCK ? NULL : find_conflict(inode, want);
	if (!conflict)
		return want->type != F_UNLCK && lock_count >= LOCKS_MAX
			       ? -ENOLCK
			       : set_range(inode, new, spare);
	if (!wait)
		return -EAGAIN;
	if (posix && closes_circle(want->owner, conflict->owner))
		return -EDEADLK;
	waiter->owner = posix ? want->owner : NULL;
	waiter->blocker = conflict->owner;
	list_add(&waiter->link, &waiters);
	return -EAGAIN;
}

/* Set @wanted, waiting for others if @wait. 0, -EAGAIN, -EDEADLK, -ENOLCK, -ERESTARTSYS. */
static int set_lock(struct inode *inode, const struct file_lock *wanted, bool wait)
{
	struct lock_waiter waiter = {.link = LIST_HEAD_INIT(waiter.link)};
	struct file_lock *new __free(kfree) = kmalloc(sizeof(*new), GFP_KERNEL);
	struct file_lock *spare __free(kfree) = kmalloc(sizeof(*spare), GFP_KERNEL);
	int error;

	if (!new || !spare)
		return -ENOLCK;
	*new = *wanted;
	do {
		error = try_range(inode, &new, &spare, wait, &waiter);
		if (error != -EAGAIN || !wait)
			return error;
		error = wait_event_interruptible(locks_wait, !READ_ONCE(waiter.blocker));
	} while (!error);
	guard(spinlock, &locks_lock);
	list_del(&waiter.link);
	return error;
}

void locks_remove(struct inode *inode, const void *owner)
{
	struct file_lock **at = &inode->locks;

	guard(spinlock, &locks_lock);
	while (*at) {
		if ((*at)->owner == owner)
			unlink_lock(at);
		else
			at = &(*at)->next;
	}
	wake_waiters();
}

/* ---- fcntl ----------------------------------------------------------------------------------- */

struct flock_abi {
	s16 type, whence;
	s64 start, length; /* 0: to the end; negative: before start */
	pid_t pid;
};

static int range_from_abi(const struct file *file, const struct flock_abi *abi,
			  struct file_lock *lock)
{
	const loff_t bases[] = {
		[SEEK_SET] = 0, [SEEK_CUR] = file->position, [SEEK_END] = file->inode->size};

	if (abi->whence < SEEK_SET || abi->whence > SEEK_END)
		return -EINVAL;
	if (__builtin_add_overflow(bases[abi->whence], abi->start, &lock->start))
		return -EOVERFLOW;
	if (lock->start < 0)
		return -EINVAL;
	lock->end = RANGE_END;
	if (abi->length > 0 && __builtin_add_overflow(lock->start, abi->length - 1, &lock->end))
		return -EOVERFLOW;
	if (abi->length < 0) {
		lock->end = lock->start - 1;
		lock->start += abi->length;
	}
	lock->type = abi->type;
	return lock->start < 0 ? -EINVAL : 0;
}

/* F_GETLK: the first lock in the way of *@abi, or F_UNLCK. */
static void report_conflict(const struct inode *inode, const struct file_lock *wanted,
			    struct flock_abi *abi)
{
	const struct file_lock *lock;

	guard(spinlock, &locks_lock);
	lock = find_conflict(inode, wanted);
	abi->type = F_UNLCK;
	if (!lock)
		return;
	abi->type = lock->type;
	abi->whence = SEEK_SET;
	abi->start = lock->start;
	abi->length = lock->end == RANGE_END ? 0 : lock->end - lock->start + 1;
	abi->pid = lock->pid;
}

static int may_lock(const struct file *file, int type)
{
	switch (type) {
	case F_RDLCK:
		return file->mode & FMODE_READ ? 0 : -EBADF;
	case F_WRLCK:
		return file->mode & FMODE_WRITE ? 0 : -EBADF;
	}
	return type == F_UNLCK ? 0 : -EINVAL;
}

s64 fcntl_lock(int number, struct file *file, u32 command, void __user *user)
{
	struct file_table *table = current->files;
	struct file_lock lock = {.owner = table, .pid = current_process_id()};
	bool open_file = command >= F_OFD_GETLK && command <= F_OFD_SETLKW;
	struct flock_abi abi;
	int error;

	if (open_file) {
		command -= F_OFD_GETLK - F_GETLK;
		lock.owner = file;
		lock.pid = -1;
	}
	if (command < F_GETLK || command > F_SETLKW)
		return -EINVAL;
	if (copy_from_user(&abi, user, sizeof(abi)))
		return -EFAULT;
	if (open_file && abi.pid)
		return -EINVAL;
	if (command == F_GETLK && abi.type != F_RDLCK && abi.type != F_WRLCK)
		return -EINVAL;
	error = range_from_abi(file, &abi, &lock);
	if (!error && command == F_GETLK) {
		report_conflict(file->inode, &lock, &abi);
		return copy_to_user(user, &abi, sizeof(abi)) ? -EFAULT : 0;
	}
	if (!error)
		error = may_lock(file, lock.type);
	if (!error)
		error = set_lock(file->inode, &lock, command == F_SETLKW);
	if (!error && !open_file && lock.type != F_UNLCK) {
		/* Another thread's close that came first would never take the lock away. */
		struct fd again __free(fd) = fdget(number);

		if (again.file == file)
			return 0;
		locks_remove(file->inode, table);
		error = -EBADF;
	}
	return error;
}

/* ---- flock ----------------------------------------------------------------------------------- */

/* A change from one type to the other lets the old lock go before it waits, or fails: as on Linux.
 */
static int set_flock(struct inode *inode, const struct file_lock *wanted, bool wait)
{
	struct file_lock none = *wanted;
	const struct file_lock *lock;
	bool has_it = false;

	spin_lock(&locks_lock);
	for (lock = inode->locks; lock; lock = lock->next)
		has_it |= same_owner(lock, wanted) && lock->type == wanted->type;
	spin_unlock(&locks_lock);
	if (has_it)
		return 0;
	none.type = F_UNLCK;
	set_lock(inode, &none, false);
	return wanted->type == F_UNLCK ? 0 : set_lock(inode, wanted, wait);
}

s64 sys_flock(int number, u32 operation)
{
	enum { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8 };
	static const short types[] = {-1, F_RDLCK, F_WRLCK, -1, -1, -1, -1, -1, F_UNLCK};
	struct file_lock lock = {.end = RANGE_END, .pid = -1, .whole = true};
	struct fd fd __free(fd) = fdget(number);
	u32 kind = operation & ~(u32)LOCK_NB;

	if (!fd.file)
		return -EBADF;
	lock.owner = fd.file;
	lock.type = kind > LOCK_UN ? -1 : types[kind];
	if (lock.type < 0)
		return -EINVAL;
	if (kind != LOCK_UN && !(fd.file->mode & (FMODE_READ | FMODE_WRITE)))
		return -EBADF;
	return set_flock(fd.file->inode, &lock, !(operation & LOCK_NB));
}
