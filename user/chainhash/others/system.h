/*
 * system.h - one interface to many hash systems, so that one test and one bench serve them all.
 *
 * The systems here are those that Seltzer and Yigit 1991 (section "Existing UNIX Hashing
 * Techniques") describe and measure against: each a small implementation of our own after the
 * text's description and the literature it names, with the limits that the text tells of. The
 * bench puts libraries behind the same interface (../bench/adapters).
 *
 * How a table is used:
 *
 *	const struct system *ndbm = system_named("ndbm");
 *	uint64_t values[SYSTEM_OPTIONS];
 *	struct table *table;
 *
 *	system_options(ndbm, "bucket=1024", values, message, sizeof(message));
 *	table_open(ndbm, &table, "/tmp/words", TABLE_CREATE, values);
 *	table_put(table, key, data, true);
 *	table_get(table, key, &data);
 *	table_close(table);
 *
 * Every call returns 0 or a negative errno. Those that all systems share:
 *
 *	-ENOENT		no such key; the end of a scan; no such file
 *	-EEXIST		the key is there and was not to be replaced
 *	-EMSGSIZE	a pair that no page of this system can hold; nothing has changed
 *	-ENOSPC		the table is full, or colliding keys defeat every split; nothing has changed
 *	-EBUSY		the system knows only one table at a time, and that one is open
 *	-EOPNOTSUPP	the system has no such call (System V's hsearch cannot delete)
 *	-EINVAL		an option out of its range, a wrong flag, a key too long to be a key
 *	-EBADMSG	the file is damaged, or was made with other options
 *	-EROFS		a change of a table that was opened with TABLE_READ_ONLY
 *	-ENOMEM		no memory, and whatever errno the kernel gives for I/O
 *
 * Threads: a handle belongs to one thread. SYSTEM_READERS: others may read the same table by
 * handles from table_attach() as long as nobody writes. SYSTEM_THREADS: they may write as well.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes, with no zero at the end. */
struct item {
	const void *bytes;
	size_t size;
};

enum system_traits {
	SYSTEM_DISK = 1 << 0,	/* tables in files */
	SYSTEM_MEMORY = 1 << 1, /* tables in memory, by a path of NULL */
	SYSTEM_BORROWS =
		1 << 2, /* keys and data stay the caller's, who keeps them until the close */
	SYSTEM_SINGLE = 1 << 3,	 /* one open table at a time */
	SYSTEM_READERS = 1 << 4, /* several threads may read */
	SYSTEM_THREADS = 1 << 5, /* several threads may read and write */
};

enum table_flags {
	TABLE_CREATE = 1 << 0, /* make it, empty; a file that is there is emptied */
	TABLE_READ_ONLY = 1 << 1,
};

enum { SYSTEM_OPTIONS = 8 };

/*
 * A number that a system takes at open, or a word out of @words (the number is then the word's
 * place). The bench gives the same option to every system that has it: `bucket` and `cache` are
 * bytes, `nelem` is the number of elements to expect, `fill` is elements in a bucket.
 */
struct option_rule {
	const char *name;
	const char *meaning;
	uint64_t least, most, usual;
	const char *const *words; /* ends with NULL; NULL: a number */
};

/* Where a scan is. All zero: at the begin. Any change of the table ends what is promised of it. */
struct cursor {
	uint64_t at[2];
};

struct table;

/* The calls are those of the functions below, without their checks. NULL: there is no such call. */
struct system {
	const char *name;
	const char *summary; /* one line */
	unsigned traits;
	const struct option_rule *options; /* ends with a name of NULL; NULL: none */

	int (*open)(struct table **made, const char *path, unsigned flags, const uint64_t *values);
	int (*attach)(struct table *table, struct table **made);
	int (*get)(struct table *table, struct item key, struct item *data);
	int (*put)(struct table *table, struct item key, struct item data, bool replace);
	int (*remove)(struct table *table, struct item key);
	int (*scan)(struct table *table, struct cursor *cursor, struct item *key,
		    struct item *data);
	int (*pause)(struct table *table);
	int (*sync)(struct table *table);
	int (*close)(struct table *table);
};

/* What each system's own table begins with; table_open() fills it in. */
struct table {
	const struct system *system;
	unsigned flags; /* enum table_flags */
};

extern const struct system dbm_system, ndbm_system, sdbm_system, gdbm_system, hsearch_system,
	dynahash_system;

/* The six systems of the text; ends with NULL. */
extern const struct system *const text_systems[];

/* The one of text_systems with this name; NULL: there is none. */
const struct system *system_named(const char *name);

/*
 * The values of @system's options, in the order of its rules: the usual ones, but for those that
 * @text ("bucket=512,fill=8"; NULL or "": none) sets. -EINVAL for a name that the system has not,
 * or a value out of its range: @message then says which there are.
 */
int system_options(const struct system *system, const char *text, uint64_t *values, char *message,
		   size_t room);

/* The place of option @name among the rules of @system; -1: it has none of that name. */
int system_option(const struct system *system, const char *name);

/*
 * Open the table in the file or files that belong to @path, or with a @path of NULL one in memory.
 * @values: of system_options(), the same for a file's whole life. -EINVAL: the system has no tables
 * on disk, or none in memory, or @flags ask for both creation and no writing.
 */
int table_open(const struct system *system, struct table **made, const char *path, unsigned flags,
	       const uint64_t *values);

/* A handle of the same table for another thread, to be closed before @table is. */
int table_attach(struct table *table, struct table **made);

/* The data of @key; @data is good until the handle's next call and must not be written to. */
int table_get(struct table *table, struct item key, struct item *data);

/* Store a pair. With !@replace a key that is there stays as it is: -EEXIST. */
int table_put(struct table *table, struct item key, struct item data, bool replace);

int table_remove(struct table *table, struct item key);

/*
 * The next pair in the table's own order, or -ENOENT behind the last. With a @data of NULL only the
 * key, which spares a system that keeps them apart the second access. What is handed out is good
 * until the handle's next call.
 */
int table_scan(struct table *table, struct cursor *cursor, struct item *key, struct item *data);

/*
 * Let go what an unfinished scan keeps from others (a lock, a state of the table). The cursor may
 * be used on, which costs a search. Before a put or a remove by the same handle there is no need
 * for it: they do so themselves.
 */
int table_pause(struct table *table);

/* All that was put is on the disk when it returns. In memory there is nothing to do. */
int table_sync(struct table *table);

/* Write what is not yet in the file and release everything, whatever is returned. No sync. */
int table_close(struct table *table);
