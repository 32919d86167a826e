/*
 * file_table.c - descriptors: small numbers for open files.
 *
 * A table belongs to one task, or to several (threads). The number of tasks is its refcount, and
 * what one task alone uses needs no file references to read: only current changes it. Of a shared
 * table a reader takes a reference to the file, since another thread may close it, unless its last
 * one is gone already. Files, and arrays that were too small, stay in memory for a grace period, so
 * that he needs no lock. So does who looks at it from outside (/proc), who keeps the table by
 * another count: when its last task ends, its files are closed, in that task and not under whatever
 * locks the looker has. A change takes the lock, unless only current uses the table: who goes
 * through it from outside takes the lock, too, but against the growth of the arrays alone.
 *
 * The arrays grow by doubling from 64 to FILE_TABLE_MAX descriptors. A number is given out together
 * with its file, so a file in its place is all that says that a number is used.
 */
#include "fs/file/file_table.h"
#include "fs/file/locks.h"
#include "core/memory/slab.h"

#define FILE_TABLE_FIRST 64
#define FILE_LIMIT 1024 /* RLIMIT_NOFILE of the first process */

struct file_table {
	atomic_t refcount; /* tasks */
	atomic_t holders;  /* who looks at it, and one for all tasks */
	spinlock_t lock;   /* of a change (begin_change()) and of growth; files, size: see above */
	u32 size;	   /* of the arrays */
	u32 limit;	   /* numbers below it may be given out */
	u32 lowest, end;   /* all numbers below the one, none from the other on, are used */
	struct file **files;
	bool *on_exec; /* close on exec */
	struct file *first_files[FILE_TABLE_FIRST];
	bool first_on_exec[FILE_TABLE_FIRST];
};

struct file_table *file_table_create(void)
{
	struct file_table *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table)
		return NULL;
	atomic_set(&table->refcount, 1);
	atomic_set(&table->holders, 1);
	spin_lock_init(&table->lock, "file_table->lock");
	table->size = FILE_TABLE_FIRST;
	table->limit = FILE_LIMIT;
	table->files = table->first_files;
	table->on_exec = table->first_on_exec;
	return table;
}

/* Twice as many descriptors, in one piece of memory. The lock is not held. 0 or -ENOMEM. */
static int table_grow(struct file_table *table)
{
	u32 size = 2 * READ_ONCE(table->size);
	struct file **files =
		TRY_PTR(kzalloc(size * (sizeof(*files) + sizeof(bool)), GFP_KERNEL));
	struct file **old = files;

	spin_lock(&table->lock);
	if (table->size < size) { /* else another thread was faster */
		old = table->files;
		memcpy(files, old, table->size * sizeof(*files));
		memcpy(files + size, table->on_exec, table->size * sizeof(bool));
		smp_store_release(&table->files, files);
		table->on_exec = (bool *)(files + size);
		smp_store_release(&table->size, size); /* after the array that has it */
	}
	spin_unlock(&table->lock);
	if (old == table->first_files)
		return 0;
	smp_mb(); /* who comes from now on finds the new one */
	if (atomic_read(&table->refcount) + atomic_read(&table->holders) > 2)
		synchronize_rcu();
	kfree(old);
	return 0;
}

struct file_table *file_table_fork(struct file_table *parent)
{
	struct file_table *table = file_table_create();

	if (!table)
		return NULL;
	while (table->size < READ_ONCE(parent->end))
		if (table_grow(table)) {
			file_table_put(table);
			return NULL;
		}
	guard(spinlock, &parent->lock);
	table->limit = parent->limit;
	/* What another thread has opened beyond that meanwhile came after the fork. */
	table->end = min(parent->end, table->size);
	table->lowest = min(parent->lowest, table->end);
	for (u32 fd = 0; fd < table->end; fd++)
		if ((table->files[fd] = parent->files[fd]) != NULL) {
			get_file(table->files[fd]);
			table->on_exec[fd] = parent->on_exec[fd];
		}
	return table;
}

void file_table_get(struct file_table *table)
{
	atomic_inc(&table->refcount);
}

void file_table_hold(struct file_table *table)
{
	atomic_inc(&table->holders);
}

void file_table_release(struct file_table *table)
{
	if (!atomic_dec_and_test(&table->holders))
		return;
	if (table->files != table->first_files)
		kfree(table->files);
	kfree(table);
}

void file_table_set_limit(struct file_table *table, u32 limit)
{
	WRITE_ONCE(table->limit, min(limit, (u32)FILE_TABLE_MAX));
}

/* ---- from number to file --------------------------------------------------------------------- */

/* Of current's alone, or in a reader's section, or without change meanwhile. */
static __always_inline struct file *file_at(const struct file_table *table, u32 fd)
{
	if (unlikely(fd >= smp_load_acquire(&table->size)))
		return NULL;
	return smp_load_acquire(&smp_load_acquire(&table->files)[fd]);
}

noinline struct fd fdget_shared(struct file_table *table, u32 fd)
{
	struct file *file;

	rcu_read_lock();
	do
		file = file_at(table, fd);
	while (file && !atomic_inc_not_zero(&file->refcount)); /* then it is there no more */
	rcu_read_unlock();
	return (struct fd){file, file != NULL};
}

/* current's file of that number, unless its mode has one of @refused. */
static __always_inline struct fd get_unless(int number, unsigned refused)
{
	struct file_table *table = current->files;
	struct fd fd = {NULL, false};

	if (likely(smp_load_acquire(&table->refcount.counter) == 1))
		fd.file = file_at(table, (u32)number);
	else
		fd = fdget_shared(table, (u32)number);
	if (likely(!fd.file || !(fd.file->mode & refused)))
		return fd;
	fdput(fd);
	return (struct fd){NULL, false};
}

struct fd fdget_raw(int number)
{
	return get_unless(number, 0);
}

struct fd fdget(int number)
{
	return get_unless(number, FMODE_PATH);
}

bool fd_peek_path(int number, struct path *path)
{
	/* the count first: while others use the table, the path of a file that they close is
	 * overwritten, although its memory stays */
	bool alone = smp_load_acquire(&current->files->refcount.counter) == 1;
	struct file *file = alone ? file_at(current->files, (u32)number) : NULL;

	if (!file)
		return false;
	*path = file->path;
	return true;
}

u32 file_table_size(const struct file_table *table)
{
	return READ_ONCE(table->size);
}

int file_table_next(struct file_table *table, int fd)
{
	guard(spinlock, &table->lock);
	for (; fd >= 0 && (u32)fd < READ_ONCE(table->end); fd++)
		if (READ_ONCE(table->files[fd]))
			return fd;
	return -1;
}

/* ---- giving out numbers, and taking them back ------------------------------------------------ */

/* current's table is about to change: is it locked? Not if only current uses it: who looks at it
 * from outside, perhaps under the lock, finds a number before or after. Only current shares it. */
static __always_inline bool begin_change(struct file_table *table)
{
	bool shared = smp_load_acquire(&table->refcount.counter) != 1;

	if (unlikely(shared))
		spin_lock(&table->lock);
	return shared;
}

static __always_inline void end_change(struct file_table *table, bool locked)
{
	if (unlikely(locked))
		spin_unlock(&table->lock);
}

/* The lowest free number from @from on; it may be beyond the arrays. For a change, as below. */
static __always_inline u32 free_number(struct file_table *table, u32 from)
{
	u32 fd = max(from, table->lowest);

	ASSERT(atomic_read(&table->refcount) == 1 || lockdep_is_held(&table->lock));
	while (fd < table->size && table->files[fd])
		fd++;
	if (from <= table->lowest)
		table->lowest = fd;
	return fd;
}

/* Put @file (NULL: nothing) at @fd, a number within the arrays: what was there. */
static __always_inline struct file *put_at(struct file_table *table, u32 fd, struct file *file,
					   int flags)
{
	struct file *old = table->files[fd];

	ASSERT(atomic_read(&table->refcount) == 1 || lockdep_is_held(&table->lock));
	smp_store_release(&table->files[fd], file);
	table->on_exec[fd] = flags & O_CLOEXEC;
	if (file)
		WRITE_ONCE(table->end, max(table->end, fd + 1));
	else
		table->lowest = min(table->lowest, fd);
	return old;
}

int fd_room(void)
{
	struct file_table *table = current->files;

	if (likely(READ_ONCE(table->end) < READ_ONCE(table->limit)))
		return 0;
	guard(spinlock, &table->lock);
	return free_number(table, 0) < table->limit ? 0 : -EMFILE;
}

/* As fd_add(), but @file stays the caller's if it fails; -ENOBUFS: the arrays are too small. For a
 * change. */
static __always_inline int add_at_lowest(struct file_table *table, struct file *file, u32 lowest,
					 int flags)
{
	u32 fd = free_number(table, lowest);

	if (unlikely(fd >= table->limit))
		return -EMFILE;
	if (unlikely(fd >= table->size))
		return -ENOBUFS;
	put_at(table, fd, file, flags);
	return (int)fd;
}

int fd_add(struct file *file, u32 lowest, int flags)
{
	struct file_table *table = current->files;

	for (;;) {
		bool locked = begin_change(table);
		int fd = add_at_lowest(table, file, lowest, flags);
		end_change(table, locked);
		if (unlikely(fd == -ENOBUFS) && !(fd = table_grow(table)))
			continue;
		if (unlikely(fd < 0))
			fput(file);
		return fd;
	}
}

/* @file is no longer the table's: its record locks go, whichever descriptor it was (but O_PATH). */
static void let_go(struct file_table *table, struct file *file)
{
	if (unlikely(file->inode->locks != NULL) && !(file->mode & FMODE_PATH))
		locks_remove(file->inode, table);
	fput(file);
}

void file_table_put(struct file_table *table)
{
	might_lock(&mount_mutex); /* as fput() */
	if (!table || !atomic_dec_and_test(&table->refcount))
		return;
	for (u32 fd = 0; fd < table->end; fd++) {
		struct file *file = table->files[fd];

		WRITE_ONCE(table->files[fd], NULL); /* who still looks at it takes no lock */
		if (file)
			let_go(table, file);
	}
	file_table_release(table);
}

s64 fd_close(int fd)
{
	struct file_table *table = current->files;
	struct file *file = NULL;

	bool locked = begin_change(table);
	if (likely((u32)fd < table->size))
		file = put_at(table, (u32)fd, NULL, 0);
	end_change(table, locked);
	if (!file)
		return -EBADF;
	let_go(table, file);
	return 0;
}

int fd_replace(u32 number, struct file *file, int flags)
{
	struct file_table *table = current->files;

	if (number >= table->limit)
		return -EBADF;
	while (number >= READ_ONCE(table->size))
		TRY(table_grow(table));
	get_file(file);
	bool locked = begin_change(table);
	struct file *replaced = put_at(table, number, file, flags);
	end_change(table, locked);
	if (replaced)
		let_go(table, replaced);
	return (int)number;
}

int fd_duplicate(struct file *file, u64 lowest, int flags)
{
	if (lowest >= current->files->limit)
		return -EINVAL;
	get_file(file);
	return fd_add(file, (u32)lowest, flags);
}

int fd_add_pair(struct file *first, struct file *second, int flags, int *to)
{
	int numbers[2];

	get_file(first);
	numbers[0] = TRY(fd_add(first, 0, flags));
	get_file(second);
	numbers[1] = fd_add(second, 0, flags);
	if (numbers[1] >= 0 && !copy_to_user(to, numbers, sizeof(numbers)))
		return 0;
	fd_close(numbers[0]);
	if (numbers[1] < 0)
		return numbers[1];
	fd_close(numbers[1]);
	return -EFAULT;
}

/* ---- close on exec --------------------------------------------------------------------------- */

int fd_get_flags(int number)
{
	struct file_table *table = current->files;

	guard(spinlock, &table->lock);
	if (!file_at(table, (u32)number))
		return -EBADF;
	return table->on_exec[number] ? FD_CLOEXEC : 0;
}

int fd_set_flags(int number, int flags)
{
	struct file_table *table = current->files;

	guard(spinlock, &table->lock);
	if (!file_at(table, (u32)number))
		return -EBADF;
	table->on_exec[number] = flags & FD_CLOEXEC;
	return 0;
}

void file_table_exec(struct file_table *table)
{
	for (u32 fd = 0; fd < table->end; fd++)
		if (table->on_exec[fd])
			fd_close((int)fd);
}
