/*
 * file_table.c - descriptors: small numbers for open files.
 *
 * A table belongs to one task, or to several (threads). The number of tasks is its refcount, and
 * what one task alone uses needs neither lock nor file references to read: only current changes it.
 * A shared table is read under its lock, and a reader takes a reference to the file, since another
 * thread may close it.
 *
 * The arrays grow by doubling from 64 to FILE_TABLE_MAX descriptors; a copy (fork, or exec of a
 * thread) is as small as what is open allows. A reserved number whose file
 * is not there yet (fd_alloc before fd_install) has its bit in `used` and a NULL file. All words
 * below `full_words` of `used` are full, so the lowest free number is found at once.
 */
#include "fs/internal.h"
#include "fs/pipe.h"

#define FILE_TABLE_FIRST 64
#define FILE_LIMIT 1024 /* RLIMIT_NOFILE of the first process */

static int fd_flags(int number, bool set, bool close_on_exec);

struct file_table {
	atomic_t refcount; /* tasks */
	spinlock_t lock;   /* all below, when shared */
	u32 size;	   /* of the arrays */
	u32 limit;	   /* numbers below it may be given out */
	u32 full_words;
	struct file **files;
	u64 *used;    /* bit set: given out */
	u64 *on_exec; /* bit set: close on exec */
	struct file *first_files[FILE_TABLE_FIRST];
	u64 first_used, first_on_exec;
};

struct file_table *file_table_create(void)
{
	struct file_table *table = kzalloc(sizeof(*table), GFP_KERNEL);

	if (!table)
		return NULL;
	atomic_set(&table->refcount, 1);
	spin_lock_init(&table->lock, "file_table->lock");
	table->size = FILE_TABLE_FIRST;
	table->limit = FILE_LIMIT;
	table->files = table->first_files;
	table->used = &table->first_used;
	table->on_exec = &table->first_on_exec;
	return table;
}

/* Make room for number @fd: one piece of memory, files and then both bitmaps. The lock is dropped
 * for the allocation. 0 or -ENOMEM. */
static int table_grow(struct file_table *table, u32 fd)
{
	u32 size = FILE_TABLE_FIRST;
	struct file **files, **old = table->files;

	while (size <= fd)
		size *= 2;
	spin_unlock(&table->lock);
	files = kzalloc(size * sizeof(*files) + 2 * size / 8, GFP_KERNEL);
	spin_lock(&table->lock);
	if (!files || size <= table->size) {
		kfree(files);
		return size <= table->size ? 0 : -ENOMEM; /* 0: another thread was faster */
	}
	memcpy(files, table->files, table->size * sizeof(*files));
	memcpy(files + size, table->used, table->size / 8);
	memcpy((char *)(files + size) + size / 8, table->on_exec, table->size / 8);
	old = table->files;
	table->files = files;
	table->used = (u64 *)(files + size);
	table->on_exec = table->used + size / 64;
	table->size = size;
	if (old != table->first_files)
		kfree(old);
	return 0;
}

/* How many words of the bitmaps reach up to the highest open number. */
static u32 words_used(const struct file_table *table)
{
	u32 words = table->size / 64;

	while (words > 1 && !table->used[words - 1])
		words--;
	return words;
}

/* Copy what is open in @parent, whose lock is held, into @table, which is large enough. */
static void copy_files(struct file_table *table, const struct file_table *parent)
{
	table->limit = parent->limit;
	for (u32 word = 0; word < words_used(parent); word++) {
		u64 open = parent->used[word];

		for (u64 bits = open; bits; bits &= bits - 1) {
			u32 fd = word * 64 + (u32)__builtin_ctzll(bits);
			struct file *file = parent->files[fd];

			if (file)
				get_file(file);
			else
				open &= ~(bits & -bits); /* reserved by another thread */
			table->files[fd] = file;
		}
		table->used[word] = open;
		table->on_exec[word] = parent->on_exec[word] & open;
	}
}

struct file_table *file_table_fork(struct file_table *parent)
{
	struct file_table *table = file_table_create();
	u32 words;
	int error = 0;

	if (!table)
		return NULL;
	spin_lock(&parent->lock);
	while ((words = words_used(parent)) > table->size / 64 && !error) {
		spin_unlock(&parent->lock);
		spin_lock(&table->lock);
		error = table_grow(table, words * 64 - 1);
		spin_unlock(&table->lock);
		spin_lock(&parent->lock);
	}
	if (!error)
		copy_files(table, parent);
	spin_unlock(&parent->lock);
	if (error)
		file_table_put(table);
	return error ? NULL : table;
}

void file_table_get(struct file_table *table)
{
	atomic_inc(&table->refcount);
}

/* @file is no longer the table's: its record locks go, whichever descriptor it was. */
static void let_go(struct file_table *table, struct file *file)
{
	if (unlikely(file->inode->locks != NULL))
		locks_remove(file->inode, table);
	fput(file);
}

void file_table_put(struct file_table *table)
{
	if (!table || !atomic_dec_and_test(&table->refcount))
		return;
	for (u32 word = 0; word < table->size / 64; word++)
		for (u64 bits = table->used[word]; bits; bits &= bits - 1) {
			struct file *file = table->files[word * 64 + (u32)__builtin_ctzll(bits)];

			if (file)
				let_go(table, file);
		}
	if (table->files != table->first_files)
		kfree(table->files);
	kfree(table);
}

struct file_table *file_table_unshare(struct file_table *table)
{
	return atomic_read(&table->refcount) == 1 ? table : file_table_fork(table);
}

void file_table_exec(struct file_table *table)
{
	for (u32 word = 0; word < table->size / 64; word++)
		while (table->on_exec[word])
			sys_close((int)(word * 64 + (u32)__builtin_ctzll(table->on_exec[word])));
}

/* ---- from number to file --------------------------------------------------------------------- */

static noinline struct fd fdget_shared(struct file_table *table, u32 fd)
{
	struct file *file;

	guard(spinlock, &table->lock);
	file = fd < table->size ? table->files[fd] : NULL;
	if (file)
		get_file(file);
	return (struct fd){file, file != NULL};
}

static __always_inline struct fd fd_lookup(int fd)
{
	struct file_table *table = current->files;

	if (unlikely(atomic_read(&table->refcount) != 1))
		return fdget_shared(table, (u32)fd);
	if (unlikely((u32)fd >= table->size))
		return (struct fd){NULL, false};
	return (struct fd){table->files[fd], false};
}

struct fd fdget_raw(int fd)
{
	return fd_lookup(fd);
}

struct fd fdget(int number)
{
	struct fd fd = fd_lookup(number);

	if (unlikely(fd.file && (fd.file->mode & FMODE_PATH))) {
		fdput(fd);
		fd = (struct fd){NULL, false};
	}
	return fd;
}

struct file *fget(int number)
{
	struct fd fd = fdget(number);

	if (fd.file && !fd.counted)
		get_file(fd.file);
	return fd.file;
}

struct file *file_table_get_file(struct file_table *table, int fd)
{
	return fdget_shared(table, (u32)fd).file;
}

int file_table_next(struct file_table *table, int fd)
{
	guard(spinlock, &table->lock);
	for (; fd >= 0 && (u32)fd < table->size; fd++)
		if (table->files[fd])
			return fd;
	return -1;
}

/* ---- giving out numbers ---------------------------------------------------------------------- */

static void mark_used(struct file_table *table, u32 fd, bool close_on_exec)
{
	u64 bit = 1ULL << (fd % 64);

	table->used[fd / 64] |= bit;
	if (close_on_exec)
		table->on_exec[fd / 64] |= bit;
	else
		table->on_exec[fd / 64] &= ~bit;
}

static void mark_free(struct file_table *table, u32 fd)
{
	u64 bit = 1ULL << (fd % 64);

	table->used[fd / 64] &= ~bit;
	table->on_exec[fd / 64] &= ~bit;
	if (fd / 64 < table->full_words)
		table->full_words = fd / 64;
}

/* The lowest free number >= @lowest; table->size if all are given out. */
static u32 lowest_free(struct file_table *table, u32 lowest)
{
	u32 words = table->size / 64, word = max(lowest / 64, table->full_words);

	if (lowest >= table->size)
		return lowest;
	for (; word < words; word++) {
		u64 used = table->used[word];

		if (used == ~0ULL) {
			if (word == table->full_words)
				table->full_words++;
			continue;
		}
		if (word == lowest / 64)
			used |= (1ULL << (lowest % 64)) - 1;
		if (used != ~0ULL)
			return word * 64 + (u32)__builtin_ctzll(~used);
	}
	return table->size;
}

int fd_alloc(int lowest, bool close_on_exec)
{
	struct file_table *table = current->files;
	int error;
	u32 fd;

	guard(spinlock, &table->lock);
	for (;;) {
		fd = lowest_free(table, (u32)lowest);
		if (unlikely(fd >= table->limit))
			return -EMFILE;
		if (likely(fd < table->size))
			break;
		error = table_grow(table, fd);
		if (error)
			return error;
	}
	mark_used(table, fd, close_on_exec);
	return (int)fd;
}

void fd_install(int fd, struct file *file)
{
	struct file_table *table = current->files;

	guard(spinlock, &table->lock);
	ASSERT(!table->files[fd]);
	table->files[fd] = file;
}

void fd_release(int fd)
{
	struct file_table *table = current->files;

	guard(spinlock, &table->lock);
	mark_free(table, (u32)fd);
}

s64 sys_close(int fd)
{
	struct file_table *table = current->files;
	struct file *file = NULL;

	spin_lock(&table->lock);
	if (likely((u32)fd < table->size))
		file = table->files[fd];
	if (likely(file != NULL)) {
		table->files[fd] = NULL;
		mark_free(table, (u32)fd);
	}
	spin_unlock(&table->lock);
	if (!file)
		return -EBADF;
	let_go(table, file);
	return 0;
}

s64 sys_close_range(u32 first, u32 last, u32 flags)
{
	enum { CLOSE_RANGE_CLOEXEC = 4 };
	int fd = (int)min(first, (u32)FILE_TABLE_MAX);

	if (first > last || (flags & ~(u32)CLOSE_RANGE_CLOEXEC))
		return -EINVAL;
	while ((fd = file_table_next(current->files, fd)) >= 0 && (u32)fd <= last) {
		if (flags & CLOSE_RANGE_CLOEXEC)
			fd_flags(fd, true, true);
		else
			sys_close(fd);
		fd++;
	}
	return 0;
}

/* ---- duplicates ------------------------------------------------------------------------------ */

/* F_DUPFD, F_DUPFD_CLOEXEC */
static int fd_dup(struct file *file, u64 lowest, bool close_on_exec)
{
	int new = lowest >= current->files->limit ? -EINVAL : fd_alloc((int)lowest, close_on_exec);

	if (new >= 0) {
		get_file(file);
		fd_install(new, file);
	}
	return new;
}

/* Put @file at @new; *@replaced: what was there. */
static int fd_replace(struct file *file, u32 new, bool close_on_exec, struct file **replaced)
{
	struct file_table *table = current->files;
	int error = 0;

	if (new >= table->limit)
		return -EBADF;
	guard(spinlock, &table->lock);
	while (new >= table->size && !error)
		error = table_grow(table, new);
	if (error)
		return error;
	if (!table->files[new] && (table->used[new / 64] >> (new % 64) & 1))
		return -EBUSY; /* another thread has reserved it */
	*replaced = table->files[new];
	get_file(file);
	table->files[new] = file;
	mark_used(table, new, close_on_exec);
	return (int)new;
}

s64 sys_dup3(int old, int new, int flags)
{
	struct fd fd __free(fd) = fdget_raw(old);
	struct file *replaced = NULL;
	int result;

	if (old == new || (flags & ~O_CLOEXEC))
		return -EINVAL;
	if (!fd.file)
		return -EBADF;
	result = fd_replace(fd.file, (u32) new, flags & O_CLOEXEC, &replaced);
	if (replaced)
		let_go(current->files, replaced);
	return result;
}

s64 sys_dup2(int old, int new)
{
	struct fd fd __free(fd) = fdget_raw(old);

	if (old == new)
		return fd.file ? new : -EBADF;
	return sys_dup3(old, new, 0);
}

s64 sys_pipe2(int *fds, int flags)
{
	struct file *files[2];
	int numbers[2], made, error;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	error = pipe_create(files, flags);
	if (error)
		return error;
	for (made = 0; made < 2; made++) {
		numbers[made] = fd_alloc(0, flags & O_CLOEXEC);
		if (numbers[made] < 0) {
			error = numbers[made];
			break;
		}
	}
	if (!error && copy_to_user(fds, numbers, sizeof(numbers)))
		error = -EFAULT;
	for (int i = 0; i < 2; i++) {
		if (!error)
			fd_install(numbers[i], files[i]);
		else
			fput(files[i]);
		if (error && i < made)
			fd_release(numbers[i]);
	}
	return error;
}

/* ---- fcntl, ioctl ---------------------------------------------------------------------------- */

/* F_GETFD; or, with @set, F_SETFD. */
static int fd_flags(int number, bool set, bool close_on_exec)
{
	struct file_table *table = current->files;

	guard(spinlock, &table->lock);
	if ((u32)number >= table->size || !table->files[number])
		return -EBADF;
	if (set)
		mark_used(table, (u32)number, close_on_exec);
	else if (table->on_exec[number / 64] >> (number % 64) & 1)
		return FD_CLOEXEC;
	return 0;
}

/* The status flags that F_SETFL may change. */
#define SETFL_MASK (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_ASYNC)

static s64 set_status_flags(struct file *file, u64 flags)
{
	if ((flags & O_NOATIME) && !(file->flags & O_NOATIME) && !owner_or_root(file->inode))
		return -EPERM;
	if (flags & (O_DIRECT | O_ASYNC) & ~file->flags)
		return -EINVAL; /* neither is supported */
	file->flags = (file->flags & ~(u32)SETFL_MASK) | ((u32)flags & SETFL_MASK);
	return 0;
}

s64 sys_fcntl(int number, u32 command, u64 argument)
{
	struct fd fd __free(fd) = fdget_raw(number);

	if (!fd.file)
		return -EBADF;
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return fd_dup(fd.file, argument, command == F_DUPFD_CLOEXEC);
	case F_GETFD:
	case F_SETFD:
		return fd_flags(number, command == F_SETFD, argument & FD_CLOEXEC);
	case F_GETFL:
		return fd.file->flags;
	case F_SETPIPE_SZ:
	case F_GETPIPE_SZ:
		return pipe_fcntl(fd.file, command, argument);
	}
	if (fd.file->mode & FMODE_PATH)
		return -EBADF;
	return command == F_SETFL ? set_status_flags(fd.file, argument)
				  : fcntl_lock(number, fd.file, command, (void *)argument);
}

s64 sys_ioctl(int number, u32 command, u64 argument)
{
	struct fd fd __free(fd) = fdget(number);
	struct file *file = fd.file;
	int on;

	if (!file)
		return -EBADF;
	switch (command) {
	case FIOCLEX:
	case FIONCLEX:
		return fd_flags(number, true, command == FIOCLEX);
	case FIONBIO:
		if (get_user(on, (int *)argument))
			return -EFAULT;
		file->flags = on ? file->flags | O_NONBLOCK : file->flags & ~(u32)O_NONBLOCK;
		return 0;
	case FIONREAD:
		if (S_ISREG(file->inode->mode))
			return put_user((int)(file->inode->size - file->position), (int *)argument);
	}
	return file->fop->ioctl ? file->fop->ioctl(file, command, argument) : -ENOTTY;
}

void file_table_set_limit(struct file_table *table, u32 limit)
{
	WRITE_ONCE(table->limit, min(limit, (u32)FILE_TABLE_MAX));
}
