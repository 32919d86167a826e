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
 * All waiters sleep on one queue: whoever gives up a part of a lock wakes them, and each tries
 * again. A process whose wait for a record lock would close a circle is refused it (-EDEADLK); as
 * on Linux not a circle of flock's locks, nor one in which another waits for an open file's.
 *
 * LOCKS_MAX locks in all (for root twice as many, and by cutting some in two three times), then
 * ENOLCK. All is under locks_lock, taken by these calls and by the close of a file that has locks,
 * never by reading and writing.
 */
#include "fs/file/locks.h"
#include "fs/cred.h"
#include "core/memory/slab.h"

#define LOCKS_MAX 16384
#define DEADLOCK_STEPS 11 /* from one waiter to the next */
#define RANGE_END ((loff_t)(~0ULL >> 1))

struct file_lock {
	struct file_lock *next; /* of the inode's */
	const void *owner;
	loff_t start, end; /* both within */
	pid_t pid;	   /* POSIX: as F_GETLK tells it; -1 for the others */
	short type;	   /* F_RDLCK, F_WRLCK; F_UNLCK: what is asked for is to let go */
	bool whole;	   /* flock(2)'s */
};

/* Who waits for a record lock, or for an open file's. */
struct waiter {
	struct list_head link; /* in waiters */
	const struct inode *inode;
	const struct file_lock *wanted;
};

static DEFINE_SPINLOCK(locks_lock);
static DEFINE_WAIT_QUEUE(locks_wait);
static LIST_HEAD(waiters); /* who has tried last comes first */
static u32 lock_count;

/* ---- under locks_lock ------------------------------------------------------------------------ */

static bool same_owner(const struct file_lock *a, const struct file_lock *b)
{
	return a->owner == b->owner && a->whole == b->whole;
}

static struct file_lock *find_conflict(const struct inode *inode, const struct file_lock *wanted)
{
	struct file_lock *lock;

	lockdep_assert_held(&locks_lock);
	for (lock = inode->locks; lock; lock = lock->next)
		if (lock->whole == wanted->whole && lock->owner != wanted->owner &&
		    (lock->type == F_WRLCK || wanted->type == F_WRLCK) &&
		    lock->start <= wanted->end && wanted->start <= lock->end)
			break;
	return lock;
}

/* What @owner waits for: the lock that is in his way, or NULL. */
static const struct file_lock *what_owner_waits_for(const void *owner)
{
	struct waiter *waiter;

	lockdep_assert_held(&locks_lock);
	list_for_each_entry (waiter, &waiters, link)
		if (waiter->wanted->owner == owner)
			return find_conflict(waiter->inode, waiter->wanted);
	return NULL;
}

/* Does the owner of @lock wait, over whomever, for @owner? */
static bool waits_for(const struct file_lock *lock, const void *owner)
{
	lockdep_assert_held(&locks_lock);
	for (unsigned step = 0; step < DEADLOCK_STEPS; step++) {
		lock = what_owner_waits_for(lock->owner);
		if (!lock || lock->pid < 0)
			return false;
		if (lock->owner == owner)
			return true;
	}
	return false;
}

static void unlink_lock(struct file_lock **at)
{
	struct file_lock *lock = *at;

	lockdep_assert_held(&locks_lock);
	*at = lock->next;
	lock_count--;
	kfree(lock);
}

static void link_lock(struct inode *inode, struct file_lock *lock)
{
	struct file_lock **at = &inode->locks;

	lockdep_assert_held(&locks_lock);
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
	struct file_lock *want = *new, *lock;
	struct file_lock **at = &inode->locks;

	lockdep_assert_held(&locks_lock);
	while ((lock = *at) != NULL) {
		bool joins = lock->type == want->type;
		loff_t touch = joins; /* of one type: neighbours become one */
		bool before = lock->start < want->start;
		bool behind = lock->end > want->end;

		if (!same_owner(lock, want) || lock->end < want->start - touch ||
		    lock->start - touch > want->end) {
			at = &lock->next;
			continue;
		}
		if (joins) {
			want->start = min(want->start, lock->start);
			want->end = max(want->end, lock->end);
		}
		if (joins || (!before && !behind)) {
			unlink_lock(at);
			continue;
		}
		if (before && behind) {
			if (lock_count >= 3 * LOCKS_MAX)
				return -ENOLCK; /* no other was changed: this one covers all */
			**spare = *lock;
			(*spare)->start = want->end + 1;
			link_lock(inode, *spare);
			*spare = NULL; /* no other overlaps */
		}
		if (before)
			lock->end = want->start - 1;
		else
			lock->start = want->end + 1;
		at = &lock->next;
	}
	if (want->type != F_UNLCK) {
		link_lock(inode, want);
		*new = NULL;
	}
	wake_up(&locks_wait);
	return 0;
}

/* ---- setting --------------------------------------------------------------------------------- */

/* One try: 0, -EAGAIN or -ENOLCK; @waiter, who will wait: -EDEADLK. */
static int try_range(struct inode *inode, struct file_lock **new, struct file_lock **spare,
		     struct waiter *waiter)
{
	bool unlock = (*new)->type == F_UNLCK;

	guard(spinlock, &locks_lock);
	const struct file_lock *conflict = unlock ? NULL : find_conflict(inode, *new);
	if (waiter)
		list_del_init(&waiter->link);
	if (conflict && waiter && !(*new)->whole) {
		if ((*new)->pid >= 0 && waits_for(conflict, (*new)->owner))
			return -EDEADLK;
		list_add(&waiter->link, &waiters);
	}
	if (conflict)
		return -EAGAIN;
	if (!unlock && lock_count >= (capable(current->cred) ? 2 : 1) * LOCKS_MAX)
		return -ENOLCK;
	return set_range(inode, new, spare);
}

/* 0, -EAGAIN (others have it), -EDEADLK, -ENOLCK, -ERESTARTSYS. */
static int set_lock(struct inode *inode, const struct file_lock *wanted, enum patience patience)
{
	struct file_lock *new __free(kfree) = kmalloc(sizeof(*new), GFP_KERNEL);
	struct file_lock *spare __free(kfree) = kmalloc(sizeof(*spare), GFP_KERNEL);
	struct waiter waiter = {.inode = inode, .wanted = wanted};
	int error;

	if (!new || !spare)
		return -ENOLCK;
	*new = *wanted;
	if (patience == DO_NOT_WAIT)
		return try_range(inode, &new, &spare, NULL);
	INIT_LIST_HEAD(&waiter.link);
	int interrupted = wait_event_interruptible(
		locks_wait, (error = try_range(inode, &new, &spare, &waiter)) != -EAGAIN);
	guard(spinlock, &locks_lock);
	list_del(&waiter.link);
	return interrupted ? interrupted : error;
}

void locks_remove(struct inode *inode, const void *owner)
{
	guard(spinlock, &locks_lock);
	for (struct file_lock **at = &inode->locks; *at;) {
		if ((*at)->owner == owner)
			unlink_lock(at);
		else
			at = &(*at)->next;
	}
	wake_up(&locks_wait);
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
		[SEEK_SET] = 0, [SEEK_CUR] = file->position, [SEEK_END] = file->inode->data.size};

	if (abi->whence < SEEK_SET || abi->whence > SEEK_END || abi->type < F_RDLCK ||
	    abi->type > F_UNLCK)
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
	guard(spinlock, &locks_lock);
	const struct file_lock *lock = find_conflict(inode, wanted);
	abi->type = F_UNLCK;
	if (!lock)
		return;
	abi->type = lock->type;
	abi->whence = SEEK_SET;
	abi->start = lock->start;
	abi->length = lock->end == RANGE_END ? 0 : lock->end - lock->start + 1;
	abi->pid = lock->pid;
}

s64 fcntl_lock(struct file *file, u32 command, void __user *user)
{
	static const u8 needed[] = {[F_RDLCK] = FMODE_READ, [F_WRLCK] = FMODE_WRITE, [F_UNLCK] = 0};
	bool open_file = command >= F_OFD_GETLK && command <= F_OFD_SETLKW;
	struct file_lock lock = {.owner = current->files, .pid = current->process_id};
	struct flock_abi abi;

	if (open_file) {
		command -= F_OFD_GETLK - F_GETLK;
		lock.owner = file;
		lock.pid = -1;
	}
	if (command < F_GETLK || command > F_SETLKW)
		return -EINVAL;
	TRY(read_user(&abi, user, sizeof(abi)));
	if ((open_file && abi.pid) || (command == F_GETLK && abi.type == F_UNLCK))
		return -EINVAL;
	TRY(range_from_abi(file, &abi, &lock));
	if (command == F_GETLK) {
		report_conflict(file->inode, &lock, &abi);
		return write_user(user, &abi, sizeof(abi));
	}
	if (!(file->mode & needed[lock.type]) && lock.type != F_UNLCK)
		return -EBADF;
	TRY(set_lock(file->inode, &lock, command == F_SETLKW ? WAIT_FOR_OTHERS : DO_NOT_WAIT));
	return !open_file && lock.type != F_UNLCK;
}

/* ---- flock ----------------------------------------------------------------------------------- */

int flock_file(struct file *file, int type, enum patience patience)
{
	struct inode *inode = file->inode;
	struct file_lock lock = {
		.owner = file, .end = RANGE_END, .pid = -1, .type = (short)type, .whole = true};
	int error = set_lock(inode, &lock, DO_NOT_WAIT);

	if (error != -EAGAIN)
		return error;
	/* A change from one type to the other lets the old lock go before it waits, or fails: as on
	 * Linux. */
	struct file_lock none = lock;
	none.type = F_UNLCK;
	set_lock(inode, &none, DO_NOT_WAIT);
	return set_lock(inode, &lock, patience);
}
