/*
 * chainhash.h - hash tables in memory and in files, by linear hashing.
 *
 * The package of Seltzer and Yigit 1991 ("A New Hashing Package for UNIX"), made anew: one
 * interface to tables in memory and on disk, which grow a bucket at a time and never refuse a
 * record because its hash or its page is taken.
 *
 * The order in which the calls are used:
 *
 *	struct chainhash_options options = {.bucket_size = 1024, .fill_factor = 32};
 *	struct chainhash *table;
 *	struct chainhash_item key = {"moose", 5}, data = {"alces", 5};
 *
 *	chainhash_open(&table, "animals", CHAINHASH_CREATE, 0666, &options);
 *	chainhash_put(table, key, data, CHAINHASH_REPLACE);
 *	chainhash_get(table, key, &data);
 *	chainhash_sync(table);
 *	chainhash_close(table);
 *
 * Every call that can fail returns 0 or a negative errno; chainhash_message() tells in words why
 * the thread's last chainhash_open() failed. What all calls on a table may return, besides their
 * own: -ENOMEM; -EBADMSG, the file is damaged; and whatever errno the system gives for its I/O.
 * After any error but those of chainhash_sync() that its comment names, the table is as before.
 *
 * Durability. A file holds the state of the last chainhash_sync() (or chainhash_close()) that
 * returned 0, whole, whatever happens in between: a power cut, a full disk, the end of the process.
 * What was put since then is lost together. No record is half there.
 *
 * Processes and threads. One handle is for one thread at a time, with one exception: a handle
 * that was opened with CHAINHASH_READ_ONLY, and neither CHAINHASH_POOL nor CHAINHASH_DAMAGED,
 * reads by mmap and may serve chainhash_get() and chainhash_scan() of several threads at once,
 * as long as no record of the table is larger than a page (such a record is put together in the
 * handle). Otherwise each thread opens its own. A file has one writer; readers beside it see the
 * state that was synced when they opened, until they call chainhash_refresh(). No call sleeps
 * but for I/O, and chainhash_open() with CHAINHASH_WAIT. What the library never does to a file that
 * is read: to cut it off. Who reads it by mmap when something else does gets SIGBUS.
 *
 * A process that was forked shares its parent's handles, and their locks: a writer's file is open
 * for writing, and a reader's state is held, until both have closed the handle or have ended.
 * exec() closes it. Only the process that opened a file's handle may change, sync or refresh it.
 * Another's changes stay in its own memory: -EPERM from the sync (or the close;
 * chainhash_abandon() gives the handle up in silence), or from a change for which memory has to be
 * made free. What the owner has synced since, or left by a refresh, is held for no process that
 * shares the handle: its gets may find what was written there later. By the pool that is -EBADMSG
 * if pages have checksums; by mmap, whose pages are checked but once, it may be anything. So a
 * daemon opens its tables behind daemon(3).
 */
#ifndef CHAINHASH_H
#define CHAINHASH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CHAINHASH_API __attribute__((__visibility__("default")))

struct chainhash;

/* Bytes, with no zero at the end. A call also takes bytes that the handle has handed out. */
struct chainhash_item {
	const void *bytes;
	size_t size;
};

/* A user's own hash function. All bits of the value should depend on all bytes. */
typedef uint32_t chainhash_function(const void *bytes, size_t size);

/* How a table is opened. */
enum {
	CHAINHASH_CREATE = 1,	 /* make the file if it is not there */
	CHAINHASH_TRUNCATE = 2,	 /* empty it if it is, at once: until the next sync the file has */
				 /* no state; -EAGAIN while others read it */
	CHAINHASH_EXCLUSIVE = 4, /* with CREATE: -EEXIST if it is there; what was made is gone */
				 /* after an error */
	CHAINHASH_READ_ONLY = 8, /* no lock, no writes; by mmap: an error where that cannot be */
				 /* done. The file may be read-only, too */
	CHAINHASH_WAIT = 16,	 /* wait until another writer has closed the file */
	CHAINHASH_POOL = 32,	 /* with READ_ONLY: read by the pool, not by mmap */
	CHAINHASH_NO_FLUSH = 64, /* sync and close do not wait for the disk: a power cut may take */
				 /* the table, the end of the process does not */
	CHAINHASH_NO_CHECKSUM = 128, /* at creation: pages without checksums */
	CHAINHASH_DAMAGED = 256	     /* with READ_ONLY: open a damaged file, as far as it goes */
};

/* When a bucket is split: the text's two occasions. */
enum {
	CHAINHASH_SPLIT_CONTROLLED = 0, /* the table is fuller than the fill factor says */
	CHAINHASH_SPLIT_UNCONTROLLED,	/* a page has overflowed */
	CHAINHASH_SPLIT_BOTH		/* either: what the text does */
};

/*
 * All zero: the defaults. What stands in the file counts for a file that is there: bucket_size,
 * fill_factor and split are then not looked at; hash and hash_function must be the file's.
 */
struct chainhash_options {
	uint32_t bucket_size;		   /* bytes of a page, a power of two, 64 to 32768; 4096 */
	uint32_t fill_factor;		   /* records to a bucket, up to 65535; 0: by bytes */
	uint64_t elements;		   /* expected, up to 2^31; 0: not known */
	uint64_t cache_size;		   /* bytes of pages kept in memory; 8 MiB */
	const char *hash;		   /* a name of chainhash_hash_name(); the text's default */
	chainhash_function *hash_function; /* or one's own: to the file it is "user" */
	uint64_t seed;			   /* for the keyed functions at creation; 0: drawn */
	uint32_t split;			   /* CHAINHASH_SPLIT_... */
	uint32_t byte_order;		   /* 0 or 1234: pages are little-endian on every machine */
};

/* Whether a put may replace. */
enum { CHAINHASH_REPLACE = 0, CHAINHASH_INSERT = 1 };

/* Where a scan is. All zero: at the begin. */
struct chainhash_cursor {
	uint64_t at[2];
};

/*
 * Open the table in the file @path, or with a @path of NULL one in memory (@flags and @mode are
 * then not looked at), and store its handle in *@table. @options may be NULL. To be written is the
 * file that has the name when its turn to be has come. Errors:
 *
 *	-EINVAL		an option or a combination of flags that is out of range, or a file that is
 *			not of this package
 *	-ENOTSUP	the file's format is of another version
 *	-EDOM		the file was made with another hash function, or with one that is not here
 *	-EAGAIN		another handle has the file open for writing
 *	-ENODATA	no state has ever been synced to the file: it is empty, or whoever made it
 *			came to its end before; with CHAINHASH_CREATE no error
 *	-EBADMSG	the file is damaged
 */
CHAINHASH_API int chainhash_open(struct chainhash **table, const char *path, int flags, mode_t mode,
				 const struct chainhash_options *options);

/* Why the calling thread's last chainhash_open() failed, in words; "" if it did not. */
CHAINHASH_API const char *chainhash_message(void);

/*
 * The data of @key: -ENOENT if there is none. *@data is good until the handle's next call, but
 * chainhash_status(); on a handle that reads by mmap until chainhash_refresh() or
 * chainhash_close(), unless the record is larger than a page. It must not be written to.
 */
CHAINHASH_API int chainhash_get(struct chainhash *table, struct chainhash_item key,
				struct chainhash_item *data);

/*
 * Store a record. With CHAINHASH_INSERT a key that is there stays as it is: -EEXIST. -EMSGSIZE: key
 * and data have more than 2^31 - 1 bytes together. -EROFS: the handle is read-only. -EPERM: another
 * process has opened it (see above). -EFBIG: the table has no more room for overflow pages (2^24
 * pages between two generations of buckets).
 */
CHAINHASH_API int chainhash_put(struct chainhash *table, struct chainhash_item key,
				struct chainhash_item data, int how);

/* Take a record out: -ENOENT if there is none; -EROFS as above. */
CHAINHASH_API int chainhash_delete(struct chainhash *table, struct chainhash_item key);

/*
 * The next record in the table's own order: -ENOENT behind the last. Either of @key and @data may
 * be NULL. During a scan the record at hand may be deleted, and replaced by one that is no longer.
 * A new key, or a record that gets more bytes on its page (a longer one; one that fits on it, in
 * place of one that did not), may split a bucket or move, and the scan then meets records twice or
 * not at all, and nothing worse. The bytes are good as those of chainhash_get() are.
 */
CHAINHASH_API int chainhash_scan(struct chainhash *table, struct chainhash_cursor *cursor,
				 struct chainhash_item *key, struct chainhash_item *data);

/*
 * Make what was put so far the file's state, and wait until it is on the disk. An error: the file
 * has the state before, the table in memory goes on, and the call may be repeated. Where the disk
 * failed to say what it has written (an error of fdatasync), the handle takes no more changes:
 * every further put, delete and sync gives -EIO. -EPERM: another process has opened the handle. A
 * table in memory: 0.
 */
CHAINHASH_API int chainhash_sync(struct chainhash *table);

/*
 * Go over to the newest synced state, on a handle with CHAINHASH_READ_ONLY; else -EINVAL. -EPERM:
 * another process has opened it. Other errors as of chainhash_open(): the handle may have lost its
 * state then, and gives -EIO until a call succeeds.
 */
CHAINHASH_API int chainhash_refresh(struct chainhash *table);

/* Sync (unless the handle is read-only) and give up the handle, which is gone after an error, too.
 */
CHAINHASH_API int chainhash_close(struct chainhash *table);

/* Give up the handle without a sync: the file keeps its last state. */
CHAINHASH_API void chainhash_abandon(struct chainhash *table);

/* The file's descriptor, for fstat() and the like; -1: a table in memory. */
CHAINHASH_API int chainhash_descriptor(const struct chainhash *table);

/* What a table is like. Buckets and chains are counted by chainhash_histogram(). */
struct chainhash_status {
	uint32_t bucket_size, fill_factor, split, checksums;
	uint64_t records, record_bytes; /* bytes that records take in pages */
	uint64_t buckets, overflow_pages;
	uint64_t sequence;		  /* number of the last sync */
	uint64_t file_bytes;		  /* 0: a table in memory */
	uint64_t page_reads, page_writes; /* of this handle, from and to the file */
	uint32_t torn;			  /* one header is not whole, as chainhash_verify() notes */
	char hash[32];			  /* "user": a function of the program's own */
};

CHAINHASH_API void chainhash_status(const struct chainhash *table, struct chainhash_status *status);

/* counts[n]: buckets with n records, the last for that many and more. */
struct chainhash_histogram {
	uint64_t counts[256];
	uint64_t largest;	   /* records in the fullest bucket */
	uint64_t chained;	   /* buckets with overflow chunks */
	uint64_t chunks;	   /* overflow chunks in use */
	uint64_t big;		   /* records in pages of their own */
	uint64_t overflow_records; /* records that do not lie on their bucket's primary page */
	uint64_t page_bytes;	   /* bytes of primary pages and chunks in use */
};

CHAINHASH_API int chainhash_histogram(struct chainhash *table, struct chainhash_histogram *found);

/*
 * Called for each thing that is wrong; @context is the caller's. What begins with "note: " is not
 * counted as wrong: that one header is not whole, which it is after a power cut during a sync, too.
 */
typedef void chainhash_report(void *context, const char *problem);

/*
 * Check everything about the file of an open table: checksums, the table of pages, every chain, the
 * place of every record, the account of overflow pages, and the counts. Returns how many things are
 * wrong, or a negative errno. @progress (may be NULL) is called now and then with what part of the
 * buckets is done.
 */
CHAINHASH_API int64_t chainhash_verify(struct chainhash *table, chainhash_report *report,
				       void (*progress)(void *context, uint64_t done, uint64_t all),
				       void *context);

/*
 * Copy every record that can still be read of @from, opened with CHAINHASH_DAMAGED, into the new
 * table @to, and @report what can't. Of a record that is met twice the first stays. Returns the
 * number of records copied, or a negative errno of @to.
 */
CHAINHASH_API int64_t chainhash_salvage(struct chainhash *from, struct chainhash *to,
					chainhash_report *report, void *context);

/* The name of hash function @number, from 0, the default first; NULL behind the last. */
CHAINHASH_API const char *chainhash_hash_name(unsigned number);

#ifdef __cplusplus
}
#endif

#endif
