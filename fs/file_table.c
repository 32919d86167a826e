/*
 * file_table.c - descriptors: small numbers for open files.
 *
 * A table belongs to one task, or to several (threads). The number of tasks is its refcount, and
 * what one task alone uses needs neither lock nor file references to read: only current changes it.
 * A shared table is read under its lock, and a reader takes a reference to the file, since another
 * thread may close it.
 *
 * The arrays grow by doubling from 64 to FILE_TABLE_MAX descriptors. A reserved number whose file
 * is not there yet (fd_alloc before fd_install) has its bit in `used` and a NULL file. All words
 * below `full_words` of `used` are full, so the lowest free number is found at once.
 */
#include "fs/internal.h"
#include "kernel/core/assert.h"
#include "kernel/core/bitops.h"
#include "kernel/core/string.h"
#include "mm/slab.h"

#define FILE_TABLE_FIRST 64
#define FILE_LIMIT 1024	    /* and its soft one, which sys/ may raise per table */

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

static struct file_table *table_alloc(void)
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

struct file_table *file_table_create(void)
{
	return table_alloc();
}

static void free_arrays(struct file_table *table, struct file **files, u64 *used)
{
	if (files == table->first_files)
		return;
	kfree(files);
	kfree(used);
}

/* Make room for number @fd. The lock is dropped for the allocation. 0, -EMFILE or -ENOMEM. */
static int table_grow(struct file_table *table, u32 fd)
{
	u32 size = FILE_TABLE_FIRST, words;
	struct file **files, **old_files;
	u64 *used, *old_used;

	if (fd >= table->limit)
		return -EMFILE;
	while (size <= fd)
		size *= 2;
	spin_unlock(&table->lock);
	words = size / 64;
	files = kzalloc(size * sizeof(*files), GFP_KERNEL);
	used = kzalloc(2 * words * sizeof(*used), GFP_KERNEL);
	spin_lock(&table->lock);
	if (!files || !used || size <= table->size) {
		int error = size <= table->size ? 0 : -ENOMEM; /* another thread was faster */

		kfree(files);
		kfree(used);
		return error;
	}
	memcpy(files, table->files, table->size * sizeof(*files));
	memcpy(used, table->used, table->size / 8);
	memcpy(used + words, table->on_exec, table->size / 8);
	old_files = table->files;
	old_used = table->used;
	table->files = files;
	table->used = used;
	table->on_exec = used + words;
	table->size = size;
	free_arrays(table, old_files, old_used);
	return 0;
}

/* A copy with references to the same files. */
struct file_table *file_table_fork(struct file_table *parent)
{
	struct file_table *table = table_alloc();
	int error = 0;

	if (!table)
		return NULL;
	table->limit = FILE_TABLE_MAX; /* the parent's may be below numbers that are open already */
	spin_lock(&parent->lock);
	while (table->size < parent->size && !error) {
		u32 size = parent->size;

		spin_unlock(&parent->lock);
		spin_lock(&table->lock);
		error = table_grow(table, size - 1);
		spin_unlock(&table->lock);
		spin_lock(&parent->lock);
	}
	table->limit = parent->limit;
	if (error) {
		spin_unlock(&parent->lock);
		free_arrays(table, table->files, table->used);
		kfree(table);
		return NULL;
	}
	for (u32 word = 0; word < parent->size / 64; word++) {
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
	spin_unlock(&parent->lock);
	return table;
}

void file_table_get(struct file_table *table)
{
	atomic_inc(&table->refcount);
}

void file_table_put(struct file_table *table)
{
	if (!table || !atomic_dec_and_test(&table->refcount))
		return;
	for (u32 word = 0; word < table->size / 64; word++)
		for (u64 bits = table->used[word]; bits; bits &= bits - 1) {
			struct file *file = table->files[word * 64 + (u32)__builtin_ctzll(bits)];

			if (file)
				fput(file);
		}
	free_arrays(table, table->files, table->used);
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
			fd_close((int)(word * 64 + (u32)__builtin_ctzll(table->on_exec[word])));
}

/* ---- from number to file --------------------------------------------------------------------- */

static noinline struct fd fdget_shared(struct file_table *table, u32 fd)
{
	struct file *file = NULL;

	spin_lock(&table->lock);
	if (fd < table->size)
		file = table->files[fd];
	if (file)
		get_file(file);
	spin_unlock(&table->lock);
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
	int found = -1;

	spin_lock(&table->lock);
	for (; fd >= 0 && (u32)fd < table->size && found < 0; fd++)
		if (table->files[fd])
			found = fd;
	spin_unlock(&table->lock);
	return found;
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

	spin_lock(&table->lock);
	for (;;) {
		fd = lowest_free(table, (u32)lowest);
		if (likely(fd < table->size && fd < table->limit))
			break;
		error = table_grow(table, fd);
		if (error) {
			spin_unlock(&table->lock);
			return error;
		}
	}
	mark_used(table, fd, close_on_exec);
	spin_unlock(&table->lock);
	return (int)fd;
}

void fd_install(int fd, struct file *file)
{
	struct file_table *table = current->files;

	spin_lock(&table->lock);
	ASSERT(!table->files[fd]);
	table->files[fd] = file;
	spin_unlock(&table->lock);
}

void fd_release(int fd)
{
	struct file_table *table = current->files;

	spin_lock(&table->lock);
	mark_free(table, (u32)fd);
	spin_unlock(&table->lock);
}

int fd_close(int fd)
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
	fput(file);
	return 0;
}

int fd_dup(int old, int lowest, bool close_on_exec)
{
	struct fd fd = fdget_raw(old);
	int new;

	if (!fd.file)
		return -EBADF;
	if (lowest < 0 || (u32)lowest >= current->files->limit) {
		fdput(fd);
		return -EINVAL;
	}
	new = fd_alloc(lowest, close_on_exec);
	if (new >= 0) {
		get_file(fd.file);
		fd_install(new, fd.file);
	}
	fdput(fd);
	return new;
}

/* dup2 to itself is the caller's case (dup2: the number, dup3: EINVAL). */
int fd_dup2(int old, int new, bool close_on_exec)
{
	struct file_table *table = current->files;
	struct file *file, *replaced;
	struct fd fd;
	int error = 0;

	if ((u32)new >= table->limit)
		return -EBADF;
	fd = fdget_raw(old);
	file = fd.file;
	if (!file)
		return -EBADF;
	get_file(file);
	fdput(fd);
	spin_lock(&table->lock);
	while ((u32)new >= table->size && !error)
		error = table_grow(table, (u32)new);
	if (!error && !table->files[new] && (table->used[new / 64] >> (new % 64) & 1))
		error = -EBUSY; /* another thread has reserved it */
	if (error) {
		spin_unlock(&table->lock);
		fput(file);
		return error;
	}
	replaced = table->files[new];
	table->files[new] = file;
	mark_used(table, (u32)new, close_on_exec);
	spin_unlock(&table->lock);
	if (replaced)
		fput(replaced);
	return new;
}

int fd_get_flags(int number)
{
	struct file_table *table = current->files;
	int flags = -EBADF;

	spin_lock(&table->lock);
	if ((u32)number < table->size && table->files[number])
		flags = table->on_exec[number / 64] >> (number % 64) & 1 ? FD_CLOEXEC : 0;
	spin_unlock(&table->lock);
	return flags;
}

int fd_set_flags(int number, bool close_on_exec)
{
	struct file_table *table = current->files;
	int error = -EBADF;

	spin_lock(&table->lock);
	if ((u32)number < table->size && table->files[number]) {
		mark_used(table, (u32)number, close_on_exec);
		error = 0;
	}
	spin_unlock(&table->lock);
	return error;
}

void file_table_set_limit(struct file_table *table, u32 limit)
{
	WRITE_ONCE(table->limit, min(limit, (u32)FILE_TABLE_MAX));
}
