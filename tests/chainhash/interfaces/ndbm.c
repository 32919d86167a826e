/*
 * ndbm.c - a program as they were written to ndbm and to dbm, and what it may rely on.
 */
#include <assert.h>
#include <dbm.h>
#include <errno.h>
#include <fcntl.h>
#include <ndbm.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS = 3000 };

#undef assert
#define assert(truth)                                                                              \
	do {                                                                                       \
		if (!(truth)) {                                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #truth);        \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static datum text(char *bytes)
{
	return (datum){bytes, (int)strlen(bytes)};
}

static datum number(char *room, const char *kind, int n)
{
	sprintf(room, "%s %d", kind, n);
	return text(room);
}

static void fill(DBM *db)
{
	char key[32], data[32];

	for (int i = 0; i < PAIRS; i++)
		assert(!dbm_store(db, number(key, "key", i), number(data, "data", i), DBM_INSERT));
	assert(dbm_store(db, number(key, "key", 5), number(data, "other", 5), DBM_INSERT) == 1);
	assert(!dbm_store(db, number(key, "key", 5), number(data, "other", 5), DBM_REPLACE));
}

static void check_pairs(DBM *db)
{
	char room[32];
	datum key, data;
	int count = 0;

	for (key = dbm_firstkey(db); key.dptr; key = dbm_nextkey(db)) {
		data = dbm_fetch(db, key);
		/* The key is still there when its data has been fetched. */
		assert(data.dptr && key.dsize > 4 && !memcmp(key.dptr, "key ", 4));
		count++;
	}
	assert(count == PAIRS);
	data = dbm_fetch(db, number(room, "key", 5));
	assert(data.dsize == 7 && !memcmp(data.dptr, "other 5", 7));
	assert(!dbm_fetch(db, number(room, "none", 5)).dptr);
}

static void check_deleting_all(DBM *db)
{
	datum key;

	for (key = dbm_firstkey(db); key.dptr; key = dbm_nextkey(db))
		assert(!dbm_delete(db, key));
	assert(!dbm_firstkey(db).dptr);
}

static void check_ndbm(void)
{
	char room[32];
	DBM *db = dbm_open("pairs", O_RDWR | O_CREAT, 0600), *other;

	assert(db && dbm_pagfno(db) >= 0 && dbm_dirfno(db) >= 0 && !dbm_rdonly(db));
	fill(db);
	check_pairs(db);
	errno = 0;
	assert(!dbm_open("pairs", O_RDWR, 0) && errno == EAGAIN);
	dbm_close(db);
	db = dbm_open("pairs", O_RDONLY, 0);
	other = dbm_open("pairs", O_RDONLY, 0);
	assert(db && other && dbm_rdonly(db));
	check_pairs(db);
	check_pairs(other);
	assert(dbm_store(db, number(room, "key", 1), number(room, "key", 1), DBM_REPLACE) == -1);
	assert(dbm_error(db) == EPERM && !dbm_clearerr(db) && !dbm_error(db));
	dbm_close(other);
	dbm_close(db);
	db = dbm_open("pairs", O_RDWR, 0);
	assert(db);
	check_deleting_all(db);
	dbm_close(db);
}

/* The library waits for the folder: by then both names are to be there. */
static int waited, both_were_there;
int fsync(int number)
{
	struct stat status;

	waited += !fstat(number, &status) && S_ISDIR(status.st_mode);
	both_were_there = !access("new.pag", F_OK) && !access("new.dir", F_OK);
	return 0;
}

static void check_names_are_waited_for(void)
{
	DBM *db;

	waited = 0;
	db = dbm_open("new", O_RDWR | O_CREAT, 0600);
	assert(db && waited == 1 && both_were_there);
	dbm_close(db);
}

/* A program that never closes what it opened. */
static void check_exit(void)
{
	char room[32];
	pid_t process = fork();
	int status;
	DBM *db;

	if (!process) {
		db = dbm_open("left", O_RDWR | O_CREAT, 0600);
		assert(db && !dbm_store(db, number(room, "key", 1), text("data"), DBM_INSERT));
		exit(0);
	}
	assert(waitpid(process, &status, 0) == process && !status);
	db = dbm_open("left", O_RDONLY, 0);
	assert(db && dbm_fetch(db, number(room, "key", 1)).dsize == 4);
	dbm_close(db);
}

/* What a child would store or delete by its parent's database is refused, not dropped at its end.
 */
static void check_child(void)
{
	DBM *db = dbm_open("shared", O_RDWR | O_CREAT, 0600);
	pid_t process;
	int status;

	assert(db && !dbm_store(db, text("key"), text("data"), DBM_INSERT));
	process = fork();
	if (!process) {
		assert(dbm_store(db, text("key"), text("other"), DBM_REPLACE) == -1);
		assert(errno == EPERM && dbm_error(db) == EPERM && !dbm_clearerr(db));
		assert(dbm_delete(db, text("key")) == -1 && errno == EPERM);
		assert(dbm_fetch(db, text("key")).dsize == 4);
		exit(0);
	}
	assert(waitpid(process, &status, 0) == process && !status);
	assert(!dbm_store(db, text("key"), text("another"), DBM_REPLACE));
	dbm_close(db);
	db = dbm_open("shared", O_RDONLY, 0);
	assert(db && dbm_fetch(db, text("key")).dsize == 7);
	dbm_close(db);
}

/* No item, or one of no size that can be, is no key and no data; an empty one is. */
static void check_no_item(void)
{
	datum none = {NULL, 0}, negative = {"key", -1}, key = {"", 0}, room = text("data");
	DBM *db = dbm_open("none", O_RDWR | O_CREAT, 0600);

	assert(db && !dbm_store(db, key, key, DBM_INSERT) && dbm_fetch(db, key).dptr);
	for (int i = 0; i < 2; i++) {
		datum wrong = i ? negative : none;

		errno = 0;
		assert(dbm_store(db, wrong, room, DBM_REPLACE) == -1 && errno == EINVAL);
		errno = 0;
		assert(dbm_store(db, room, wrong, DBM_REPLACE) == -1 && errno == EINVAL);
		errno = 0;
		assert(dbm_delete(db, wrong) == -1 && errno == EINVAL);
	}
	assert(dbm_fetch(db, key).dptr && !dbm_fetch(db, room).dptr);
	dbm_close(db);
}

/* A new database that cannot be written: dbm_error() has the errno. */
static void check_full_disk(void)
{
	struct rlimit limit = {5000, 5000};
	pid_t process = fork();
	int status;
	DBM *db;

	if (!process) {
		signal(SIGXFSZ, SIG_IGN);
		assert(!setrlimit(RLIMIT_FSIZE, &limit));
		db = dbm_open("full", O_RDWR | O_CREAT, 0600);
		_exit(!db || dbm_error(db) != EFBIG);
	}
	assert(waitpid(process, &status, 0) == process && !status);
}

/* dbm hears of it when what was stored could not be written, also where another one is opened. */
static void check_dbm_on_a_full_disk(int again)
{
	static char bytes[20000];
	struct rlimit limit = {40000, 40000};
	datum key = text("key"), data = {bytes, sizeof(bytes)};
	pid_t process = fork();
	int status;

	if (!process) {
		signal(SIGXFSZ, SIG_IGN);
		assert(!dbminit("full dbm") && !setrlimit(RLIMIT_FSIZE, &limit));
		for (int i = 0; i < 3; i++)
			assert(!store((datum){bytes, i}, data));
		errno = 0;
		assert((again ? dbminit("old") : dbmclose()) == -1 && errno == EFBIG);
		assert(!fetch(key).dptr && errno == EBADF);
		errno = ENOMSG;
		assert(!dbmclose() && errno == ENOMSG);
		_exit(0);
	}
	assert(waitpid(process, &status, 0) == process && !status);
}

/* Bytes of memory that this process may have besides what it has. */
static void limit_memory(size_t more)
{
	FILE *file = fopen("/proc/self/statm", "r");
	struct rlimit limit;
	size_t pages;

	assert(file && fscanf(file, "%zu", &pages) == 1 && !getrlimit(RLIMIT_AS, &limit));
	fclose(file);
	limit.rlim_cur = pages * (size_t)getpagesize() + more;
	assert(!setrlimit(RLIMIT_AS, &limit));
}

/* A database larger than the memory that a process may have is read all the same. */
static void check_larger_than_memory(void)
{
	enum { SIZE = 1 << 20, COUNT = 48 };
	static char bytes[SIZE];
	DBM *db = dbm_open("large", O_RDWR | O_CREAT, 0600);
	datum data = {bytes, SIZE};
	pid_t process;
	int status;

	for (int i = 0; i < COUNT; i++)
		assert(!dbm_store(db, (datum){bytes, i}, data, DBM_INSERT));
	dbm_close(db);
	process = fork();
	if (!process) {
		limit_memory(SIZE * (COUNT - 8));
		db = dbm_open("large", O_RDONLY, 0);
		assert(db && dbm_rdonly(db) && dbm_fetch(db, (datum){bytes, 7}).dsize == SIZE);
		dbm_close(db);
		_exit(0);
	}
	assert(waitpid(process, &status, 0) == process && !status);
}

static void check_dbm(void)
{
	char room[32];
	datum key;
	int count = 0;

	assert(!fetch(text("a")).dptr && errno == EBADF);
	assert(!dbminit("old"));
	for (int i = 0; i < 100; i++)
		assert(!store(number(room, "key", i), text("data")));
	for (key = firstkey(); key.dptr; key = nextkey(key))
		count++;
	assert(count == 100 && fetch(number(room, "key", 7)).dsize == 4);
	assert(!delete (number(room, "key", 7)) && delete (number(room, "key", 7)) == -1);
	assert(NULLKEY(fetch(number(room, "key", 7))));
	assert(!dbmclose());
}

/* As if no file could be written by us; dbm then opens to read. */
static int denied;
int open64(const char *path, int flags, ...)
{
	va_list rest;
	int mode;

	va_start(rest, flags);
	mode = flags & O_CREAT ? va_arg(rest, int) : 0;
	va_end(rest);
	if (denied && (flags & O_ACCMODE) == O_RDWR) {
		errno = denied;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* dbm opens to read what may not be written, and nothing else; the first reason is told. */
static void check_dbm_that_may_not_write(void)
{
	DBM *db = dbm_open("taken", O_RDWR | O_CREAT, 0600);

	assert(db && dbminit("taken") == -1 && errno == EAGAIN);
	dbm_close(db);
	denied = EACCES;
	assert(!dbminit("taken") && store(text("key"), text("data")) == -1 && errno == EPERM);
	assert(dbminit("nowhere") == -1 && errno == EACCES);
	denied = EMFILE;
	assert(dbminit("taken") == -1 && errno == EMFILE);
	denied = 0;
}

int main(void)
{
	check_ndbm();
	check_names_are_waited_for();
	check_exit();
	check_child();
	check_no_item();
	check_full_disk();
	check_larger_than_memory();
	check_dbm();
	check_dbm_on_a_full_disk(0);
	check_dbm_on_a_full_disk(1);
	check_dbm_that_may_not_write();
	puts("ok");
	return 0;
}
