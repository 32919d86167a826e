/*
 * open.c - a table's begin and end.
 */
#include "buckets/hash.h"
#include "header.h"
#include "store/lock.h"
#include "buckets/overflow.h"
#include "store/pool.h"
#include "buckets/split.h"
#include "store/store.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALL_FLAGS = 511, BUCKET_SIZE = 4096, CACHE_SIZE = 8 << 20 };

#define ELEMENTS_MOST (1ull << 31)

static int options_check(const struct chainhash_options *o)
{
	u32 size = o->bucket_size;

	if (size && (size < PAGE_SIZE_LEAST || size > PAGE_SIZE_MOST || (size & (size - 1))))
		return refuse(-EINVAL, "bucket size %u: a power of two from %d to %d", size,
			      PAGE_SIZE_LEAST, PAGE_SIZE_MOST);
	if (o->fill_factor > 65535)
		return refuse(-EINVAL, "fill factor %u: from 1 to 65535, or 0 for by bytes",
			      o->fill_factor);
	if (o->elements > ELEMENTS_MOST)
		return refuse(-EINVAL, "%llu elements: up to %llu, or 0 for not known",
			      (unsigned long long)o->elements, ELEMENTS_MOST);
	if (o->hash && !o->hash_function && !function_named(o->hash))
		return refuse(-EINVAL, "there is no hash function '%s'", o->hash);
	if (o->split > CHAINHASH_SPLIT_BOTH)
		return refuse(-EINVAL, "split %u: from 0 to 2", o->split);
	if (o->byte_order && o->byte_order != 1234)
		return refuse(-EINVAL, "byte order %u: 1234, which all files have, or 0",
			      o->byte_order);
	return 0;
}

static int flags_check(int flags)
{
	if (flags & ~ALL_FLAGS)
		return refuse(-EINVAL, "flags 0x%x: up to 0x%x", (unsigned)flags, ALL_FLAGS);
	if ((flags & CHAINHASH_READ_ONLY) &&
	    (flags & (CHAINHASH_CREATE | CHAINHASH_TRUNCATE | CHAINHASH_WAIT)))
		return refuse(-EINVAL, "a read-only table can't be made, emptied or waited for");
	if ((flags & CHAINHASH_EXCLUSIVE) && !(flags & CHAINHASH_CREATE))
		return refuse(-EINVAL, "exclusive is about creation");
	if ((flags & CHAINHASH_DAMAGED) && !(flags & CHAINHASH_READ_ONLY))
		return refuse(-EINVAL, "a damaged table is only read");
	return 0;
}

/* The shape of a new table. */
static int table_make(struct chainhash *t, const struct chainhash_options *o)
{
	u64 buckets = 1, wanted = 0;
	int error;

	set_page_size(t, o->bucket_size ? o->bucket_size : BUCKET_SIZE);
	t->fill_factor = o->fill_factor;
	t->split = o->split;
	t->store.end = t->store.first;
	error = hash_choose(t, o);
	if (error)
		return error;
	if (o->elements)
		wanted = o->elements / (t->fill_factor ? t->fill_factor : t->page_size / 32 + 1);
	while (buckets < wanted && buckets < 1u << 30)
		buckets <<= 1;
	set_buckets(t, (u32)buckets - 1);
	return pages_reserve(t, buckets);
}

/* Go over to the newest state, and lock it: the writer leaves its pages alone. */
static int reader_settle(struct chainhash *t)
{
	for (int tries = 0; tries < 1000; tries++) {
		int error = header_read(t);
		u64 locked = t->store.sequence;

		/* A header may be read while it is written, and is torn then. */
		if (error == -EBADMSG && !tries)
			continue;
		if (!error)
			error = lock_reader(t->store.descriptor, locked, true);
		if (error)
			return error;
		error = header_read(t);
		if (!error && t->store.sequence == locked)
			return 0;
		lock_reader(t->store.descriptor, locked, false);
		if (error)
			return error;
	}
	return refuse(-EAGAIN, "the file's writer is faster than we can read its header");
}

/* Enter the state of the header that was read. */
static int enter(struct chainhash *t, const struct chainhash_options *options)
{
	u64 size = (u64)t->store.end << t->page_shift;
	struct stat status;
	int error = 0;

	if (fstat(t->store.descriptor, &status))
		return refuse(-errno, "the file cannot be looked at");
	if (!t->store.tolerant && (u64)status.st_size < size)
		return refuse(-EBADMSG, "the file is damaged: it is cut off (%llu bytes of %llu)",
			      (unsigned long long)status.st_size, (unsigned long long)size);
	set_masks(t);
	if (options)
		error = hash_check(t, options);
	if (error || t->kind == MAPPED)
		return error ? error : map_open(t);
	error = store_load(t);
	if (!error)
		error = overflow_load(t);
	if (error == -EBADMSG)
		refuse(error, "the file is damaged: its map of pages is wrong");
	return error;
}

/* Begin a table in a file whose contents, if there are any, are to go. */
static int make_empty(struct chainhash *t, const struct chainhash_options *options)
{
	int error;

	refuse(0, "%s", ""); /* that there is nothing in it is no error here */
	error = table_make(t, options);
	if (!error)
		error = lock_readers_out(t->store.descriptor, true);
	if (error == -EAGAIN)
		refuse(error, "the file can't be emptied: it is being read");
	if (!error && ftruncate(t->store.descriptor, 0))
		error = -errno;
	t->changed = true;
	if (!error)
		error = store_write_header(t, 0);
	return error ? error : lock_readers_out(t->store.descriptor, false);
}

static int open_writer(struct chainhash *t, int flags, const struct chainhash_options *options)
{
	bool emptied = (flags & CHAINHASH_TRUNCATE) && !(flags & CHAINHASH_EXCLUSIVE);
	int error = emptied ? -ENODATA : header_read(t);

	/* What we have made another may have opened, and been the writer of, before we could be. */
	if ((flags & CHAINHASH_EXCLUSIVE) && error != -ENODATA && error != -EIO && error != -ENOMEM)
		return refuse(-EEXIST, "the file has got another writer before us");
	/* It is to be emptied, or is new, or its maker came to its end before the first sync. */
	if (error == -ENODATA && (flags & (CHAINHASH_TRUNCATE | CHAINHASH_CREATE)))
		return make_empty(t, options);
	if (!error)
		error = enter(t, options);
	/*
	 * The writer before may have come to its end, or met an error, behind its last header: a
	 * power cut would take that one, but not what is written from now on over pages of the
	 * state before. It is written again, since of a write that failed the system thinks that
	 * it needs no more waiting for; what it leads to was on the disk before it.
	 */
	return error ? error : store_write_header(t, t->store.sequence);
}

void chainhash_abandon(struct chainhash *t)
{
	map_close(t);
	pool_free(t);
	store_free(&t->store);
	free(t->keys);
	free(t->slots_used);
	free(t->bitmap_changed.words);
	free(t->big);
	free(t->scratch);
	free(t->copy);
	free(t->read.list);
	free(t->written.list);
	if (t->store.descriptor >= 0)
		close(t->store.descriptor);
	free(t);
}

/*
 * The file's name must be on the disk with it: whoever made it may not have waited. Of a folder
 * that we may not read all of its file system is synced.
 */
static int folder_flush(const struct chainhash *t, const char *path)
{
	char *copy = realpath(path, NULL) ?: strdup(path); /* a link's name may be elsewhere */
	int descriptor = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int error = descriptor < 0 ? -errno : 0;

	if (error == -EACCES)
		error = syncfs(t->store.descriptor) ? -errno : 0;
	/* EINVAL: a file system whose folders cannot be waited for. */
	else if (!error && fsync(descriptor) && errno != EINVAL)
		error = -errno;
	if (error)
		refuse(error, "the file's folder cannot be synced");
	if (descriptor >= 0)
		close(descriptor);
	free(copy);
	return error;
}

/*
 * Open the file, as its writer unless it is only to be read. 1: another file has got the name
 * before we got the lock.
 */
static int open_file(struct chainhash *t, const char *path, int flags, mode_t mode)
{
	int how = t->read_only ? O_RDONLY : O_RDWR, descriptor, error;
	struct stat ours, named = {.st_ino = 0};

	if (flags & CHAINHASH_CREATE)
		how |= O_CREAT;
	if (flags & CHAINHASH_EXCLUSIVE)
		how |= O_EXCL;
	descriptor = t->store.descriptor = open(path, how | O_CLOEXEC, mode);
	/* In the place of a standard stream that is closed it would get the program's messages. */
	if (descriptor >= 0 && descriptor <= STDERR_FILENO) {
		t->store.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(descriptor);
	}
	if (t->store.descriptor < 0)
		return refuse(-errno, "the file cannot be opened: %s", strerror(errno));
	if (t->read_only)
		return 0;
	error = lock_writer(t->store.descriptor, flags & CHAINHASH_WAIT);
	if (error == -EAGAIN)
		return refuse(error, "another handle has the file open for writing");
	if (error)
		return error;
	if (fstat(t->store.descriptor, &ours) || (stat(path, &named) && errno != ENOENT))
		return refuse(-errno, "the file cannot be looked at");
	return ours.st_ino != named.st_ino || ours.st_dev != named.st_dev;
}

static int open_disk(struct chainhash *t, const char *path, int flags, mode_t mode,
		     const struct chainhash_options *options)
{
	int error, tries = 1000;

	t->cache_size = options->cache_size ? options->cache_size : CACHE_SIZE;
	t->kind = IN_POOL;
	t->no_flush = flags & CHAINHASH_NO_FLUSH;
	t->checksums = !(flags & CHAINHASH_NO_CHECKSUM);
	t->read_only = flags & CHAINHASH_READ_ONLY;
	while ((error = open_file(t, path, flags, mode)) > 0) {
		if (!--tries)
			return refuse(-EAGAIN, "the file is replaced faster than we can open it");
		close(t->store.descriptor);
	}
	if (!error && t->read_only) {
		t->kind = flags & (CHAINHASH_POOL | CHAINHASH_DAMAGED) ? IN_POOL : MAPPED;
		error = reader_settle(t);
		return error ? error : enter(t, options);
	}
	if (!error)
		error = open_writer(t, flags, options);
	if (!error && !t->no_flush)
		error = folder_flush(t, path);
	/* Unless it was there before, or is another's by now, it is ours alone. */
	if (error && error != -EEXIST && error != -EAGAIN && t->store.descriptor >= 0 &&
	    (flags & CHAINHASH_EXCLUSIVE))
		unlink(path);
	return error;
}

int chainhash_open(struct chainhash **table, const char *path, int flags, mode_t mode,
		   const struct chainhash_options *options)
{
	static const struct chainhash_options defaults;
	struct chainhash *t;
	int error;

	*table = NULL;
	options = options ? options : &defaults;
	refuse(0, "%s", "");
	error = options_check(options);
	if (!error && path)
		error = flags_check(flags);
	if (error)
		return error;
	t = calloc(1, sizeof(*t));
	if (!t)
		return refuse(-ENOMEM, "no memory");
	t->owner = getpid();
	t->store.descriptor = -1;
	t->store.tolerant = flags & CHAINHASH_DAMAGED;
	t->operation = 1;
	pool_reset(t);
	error = path ? open_disk(t, path, flags, mode, options) : table_make(t, options);
	if (error) {
		if (!*chainhash_message())
			refuse(error, "%s", strerror(-error));
		chainhash_abandon(t);
		return error;
	}
	*table = t;
	return refuse(0, "%s", "");
}

int chainhash_sync(struct chainhash *t)
{
	int error;

	if (t->kind == IN_MEMORY || t->read_only)
		return t->read_only ? -EROFS : 0;
	if (!t->changed && !t->store.failed)
		return 0;
	error = t->owner == getpid() ? store_sync(t) : -EPERM;
	t->changed = error != 0;
	return error;
}

int chainhash_refresh(struct chainhash *t)
{
	struct chainhash before = *t;
	int error;

	if (!t->read_only)
		return -EINVAL;
	/* The lock on the state at hand is its owner's, too. */
	if (t->owner != getpid())
		return -EPERM;
	error = header_read(t);
	if (!error && t->store.sequence == before.store.sequence && !t->store.failed)
		return 0;
	if (!error)
		error = reader_settle(t);
	if (error) {
		/* Of the table only its shape may be another one by now. */
		*t = before;
		return error;
	}
	if (t->store.sequence != before.store.sequence)
		lock_reader(t->store.descriptor, before.store.sequence, false);
	map_close(t);
	pool_reset(t);
	store_free(&t->store);
	t->store.failed = false;
	t->store.lost = 0;
	error = enter(t, NULL);
	t->store.failed = error != 0;
	return error;
}

int chainhash_close(struct chainhash *t)
{
	int error = t->read_only ? 0 : chainhash_sync(t);

	chainhash_abandon(t);
	return error;
}

int chainhash_descriptor(const struct chainhash *t)
{
	return t->store.descriptor;
}
