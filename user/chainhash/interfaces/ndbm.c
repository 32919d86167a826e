/*
 * ndbm.c - ndbm and dbm over libchainhash. See include/chainhash/ndbm.h.
 *
 * Databases that a program leaves open are synced when it ends: ndbm itself wrote each store
 * through, and old programs rely on that. All open ones are in a list for it, under a lock; a child
 * process leaves alone what its parent opened.
 */
#include "chainhash/dbm.h"
#include "chainhash.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)

struct chainhash_dbm {
	struct chainhash *table;
	struct chainhash_cursor cursor;
	char *key, *content; /* handed out: of firstkey and nextkey, and of fetch */
	int error, folder_descriptor, read_only;
	pid_t owner;
	struct chainhash_dbm *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static DBM *list; /* under list_lock */

static int failed(DBM *db, int error)
{
	if (error != -ENOENT)
		db->error = -error;
	errno = -error;
	return -1;
}

/* Open the files of @name, which @path has room for with their endings: 0 or a negative errno. */
static int open_files(DBM *db, const char *name, char *path, int flags, mode_t mode)
{
	struct chainhash_options options = {.bucket_size = 1024};
	int how = 0, error;

	db->read_only = (flags & O_ACCMODE) == O_RDONLY;
	if (flags & O_CREAT)
		how |= flags & O_EXCL ? CHAINHASH_CREATE | CHAINHASH_EXCLUSIVE : CHAINHASH_CREATE;
	if (flags & O_TRUNC)
		how |= CHAINHASH_TRUNCATE;
	/* A new database that is only to be read is empty, but is there. */
	if (db->read_only && !how)
		how = CHAINHASH_READ_ONLY;
	/* First, so that whoever makes both waits for the names of both. */
	sprintf(path, "%s.dir", name);
	db->folder_descriptor = open(path, (flags & (O_ACCMODE | O_CREAT)) | O_CLOEXEC, mode);
	if (db->folder_descriptor < 0)
		return -errno;
	sprintf(path, "%s.pag", name);
	error = chainhash_open(&db->table, path, how, mode, &options);
	/* Made by hand, as dbm's files are to be; or it cannot be mapped, perhaps for its size. */
	if (error == -ENODATA && !db->read_only)
		error = chainhash_open(&db->table, path, how | CHAINHASH_CREATE, mode, &options);
	else if (how == CHAINHASH_READ_ONLY && (error == -ENODEV || error == -ENOMEM))
		error = chainhash_open(&db->table, path, how | CHAINHASH_POOL, mode, &options);
	if (error)
		close(db->folder_descriptor);
	return error;
}

DBM *dbm_open(const char *name, int flags, mode_t mode)
{
	DBM *db = calloc(1, sizeof(*db));
	char *path = malloc(strlen(name) + sizeof(".pag"));
	int error = db && path ? open_files(db, name, path, flags, mode) : -ENOMEM;

	free(path);
	if (error) {
		free(db);
		errno = -error;
		return NULL;
	}
	/* A new database is there for readers from now on. */
	if (flags & (O_CREAT | O_TRUNC))
		db->error = -chainhash_sync(db->table);
	db->owner = getpid();
	pthread_mutex_lock(&list_lock);
	db->next = list;
	list = db;
	pthread_mutex_unlock(&list_lock);
	return db;
}

/* Take it out of the list: 0 if it is not there. */
static int unlist(DBM *db)
{
	DBM **place = &list;
	int found;

	pthread_mutex_lock(&list_lock);
	while (*place && *place != db)
		place = &(*place)->next;
	found = *place != NULL;
	if (found)
		*place = db->next;
	pthread_mutex_unlock(&list_lock);
	return found;
}

void dbm_close(DBM *db)
{
	int before = errno, error = 0;

	if (!db || !unlist(db))
		return;
	if (db->owner == getpid())
		error = chainhash_close(db->table);
	else
		chainhash_abandon(db->table);
	close(db->folder_descriptor);
	free(db->key);
	free(db->content);
	free(db);
	errno = error ? -error : before;
}

__attribute__((__destructor__)) static void close_all(void)
{
	while (list)
		dbm_close(list);
}

static struct chainhash_item item_of(datum bytes)
{
	return (struct chainhash_item){bytes.dptr, bytes.dsize > 0 ? (size_t)bytes.dsize : 0};
}

/* A copy of what a call found, which outlives the table's next call; or its error. */
static datum hand_out(DBM *db, char **kept, struct chainhash_item item, int error)
{
	char *bytes = error ? NULL : realloc(*kept, item.size + 1);

	if (!bytes) {
		failed(db, error ? error : -ENOMEM);
		return (datum){NULL, 0};
	}
	if (item.size)
		memcpy(bytes, item.bytes, item.size);
	*kept = bytes;
	return (datum){bytes, (int)item.size};
}

datum dbm_fetch(DBM *db, datum key)
{
	struct chainhash_item item = {NULL, 0};
	int error = chainhash_get(db->table, item_of(key), &item);

	return hand_out(db, &db->content, item, error);
}

/* What a forked child changes would be its own and be lost: nobody would hear of it. */
static int may_change(const DBM *db, datum key, datum content)
{
	if (db->read_only || db->owner != getpid())
		return -EPERM;
	return key.dptr && key.dsize >= 0 && content.dptr && content.dsize >= 0 ? 0 : -EINVAL;
}

int dbm_store(DBM *db, datum key, datum content, int how)
{
	int error = may_change(db, key, content);

	if (!error)
		error = chainhash_put(db->table, item_of(key), item_of(content),
				      how == DBM_INSERT ? CHAINHASH_INSERT : CHAINHASH_REPLACE);
	if (error == -EEXIST)
		return 1;
	return error ? failed(db, error) : 0;
}

int dbm_delete(DBM *db, datum key)
{
	int error = may_change(db, key, key);

	if (!error)
		error = chainhash_delete(db->table, item_of(key));
	return error ? failed(db, error) : 0;
}

datum dbm_nextkey(DBM *db)
{
	struct chainhash_item key = {NULL, 0};
	int error = chainhash_scan(db->table, &db->cursor, &key, NULL);

	return hand_out(db, &db->key, key, error);
}

datum dbm_firstkey(DBM *db)
{
	memset(&db->cursor, 0, sizeof(db->cursor));
	return dbm_nextkey(db);
}

int dbm_error(DBM *db)
{
	return db->error;
}

int dbm_clearerr(DBM *db)
{
	db->error = 0;
	return 0;
}

int dbm_dirfno(DBM *db)
{
	return db->folder_descriptor;
}

int dbm_pagfno(DBM *db)
{
	return chainhash_descriptor(db->table);
}

int dbm_rdonly(DBM *db)
{
	return db->read_only;
}

/* dbm: the one that is open. */
static DBM *current;
static const datum nothing;

static int is_open(void)
{
	if (!current)
		errno = EBADF;
	return current != NULL;
}

int dbminit(const char *name)
{
	int error;

	if (dbmclose())
		return -1;
	current = dbm_open(name, O_RDWR | O_CREAT, 0666);
	error = errno;
	if (!current && (error == EACCES || error == EROFS)) {
		current = dbm_open(name, O_RDONLY, 0);
		errno = error;
	}
	return current ? 0 : -1;
}

int dbmclose(void)
{
	int before = errno, failure;

	errno = 0;
	dbm_close(current);
	failure = errno;
	current = NULL;
	errno = failure ? failure : before;
	return failure ? -1 : 0;
}

datum fetch(datum key)
{
	return is_open() ? dbm_fetch(current, key) : nothing;
}

datum firstkey(void)
{
	return is_open() ? dbm_firstkey(current) : nothing;
}

datum nextkey(datum key)
{
	(void)key; /* always the one handed out last */
	return is_open() ? dbm_nextkey(current) : nothing;
}

int store(datum key, datum content)
{
	return is_open() ? dbm_store(current, key, content, DBM_REPLACE) : -1;
}

int delete (datum key)
{
	return is_open() ? dbm_delete(current, key) : -1;
}
