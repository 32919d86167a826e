/*
 * lmdb.c - LMDB, a B+tree that is mapped into memory, with copies of changed pages.
 *
 * A single thread's puts are one transaction, until the next sync; as soon as there is a second
 * handle, each put is a transaction of its own, without a sync (MDB_NOSYNC), since an open one
 * keeps all other writers out. A handle that does not write reads in one transaction; of several
 * handles each renews it for each get, so that it sees what others have committed. A scan keeps it
 * until it is paused or the handle writes.
 */
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters.h"

enum { MAP };
static const struct option_rule options[] = {
	[MAP] = {"map", "bytes of the mapping, which the file cannot exceed", 1 << 20, 1ull << 44,
		 16ull << 30, NULL},
	{.name = NULL},
};

struct shared {
	MDB_env *environment;
	MDB_dbi database;
	unsigned handles;
};

struct handle {
	struct table table;
	struct shared *shared;
	MDB_txn *write, *read; /* @read may be reset */
	bool read_is_open;
	MDB_cursor *cursor;
	MDB_val last; /* a copy of the key at which a cursor was ended */
};

static MDB_val value_of(struct item item)
{
	return (MDB_val){.mv_size = item.size, .mv_data = (void *)item.bytes};
}

static struct item item_of(MDB_val value)
{
	return (struct item){value.mv_data, value.mv_size};
}

/* Its own errors are negative. */
static int errno_of(int result)
{
	switch (result) {
	case MDB_NOTFOUND:
		return -ENOENT;
	case MDB_KEYEXIST:
		return -EEXIST;
	case MDB_BAD_VALSIZE:
		return -EMSGSIZE;
	case MDB_MAP_FULL:
		return -ENOSPC;
	default:
		return result < 0 ? -EIO : -result;
	}
}

static int end_write(struct handle *handle)
{
	const int result = handle->write ? mdb_txn_commit(handle->write) : 0;

	handle->write = NULL;
	return result;
}

/* Close the cursor and keep where it was, if there is memory for that. */
static void end_cursor(struct handle *handle)
{
	MDB_val key = {0, NULL};

	free(handle->last.mv_data);
	handle->last = key;
	if (!mdb_cursor_get(handle->cursor, &key, NULL, MDB_GET_CURRENT)) {
		handle->last.mv_data = malloc(key.mv_size);
		if (handle->last.mv_data) {
			memcpy(handle->last.mv_data, key.mv_data, key.mv_size);
			handle->last.mv_size = key.mv_size;
		}
	}
	mdb_cursor_close(handle->cursor);
	handle->cursor = NULL;
}

static void end_read(struct handle *handle)
{
	if (handle->cursor)
		end_cursor(handle);
	if (handle->read_is_open)
		mdb_txn_reset(handle->read);
	handle->read_is_open = false;
}

static int adapter_pause(struct table *table)
{
	end_read((struct handle *)table);
	return 0;
}

/* The transaction in which this handle reads. */
static int begin_read(struct handle *handle, MDB_txn **transaction)
{
	int result = 0;

	*transaction = handle->write;
	if (handle->write)
		return 0;
	if (!handle->read)
		result =
			mdb_txn_begin(handle->shared->environment, NULL, MDB_RDONLY, &handle->read);
	else if (!handle->read_is_open)
		result = mdb_txn_renew(handle->read);
	handle->read_is_open = !result;
	*transaction = handle->read;
	return result;
}

static int begin_write(struct handle *handle)
{
	end_read(handle);
	if (handle->write)
		return 0;
	return mdb_txn_begin(handle->shared->environment, NULL, 0, &handle->write);
}

static int adapter_close(struct table *table)
{
	struct handle *handle = (struct handle *)table;
	struct shared *shared = handle->shared;
	const int result = end_write(handle);

	end_read(handle);
	free(handle->last.mv_data);
	if (handle->read)
		mdb_txn_abort(handle->read);
	if (!--shared->handles) {
		mdb_env_close(shared->environment);
		free(shared);
	}
	free(handle);
	return errno_of(result);
}

static int new_handle(struct shared *shared, struct table **made)
{
	struct handle *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return -ENOMEM;
	handle->shared = shared;
	shared->handles++;
	*made = &handle->table;
	return 0;
}

static int open_environment(struct shared *shared, const char *path, unsigned flags, uint64_t map)
{
	unsigned how = MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOTLS;
	MDB_txn *transaction;
	int result;

	if (flags & TABLE_READ_ONLY)
		how |= MDB_RDONLY;
	if (flags & TABLE_CREATE)
		unlink(path);
	result = mdb_env_create(&shared->environment);
	if (!result)
		result = mdb_env_set_mapsize(shared->environment, map);
	if (!result)
		result = mdb_env_open(shared->environment, path, how, 0644);
	if (!result)
		result = mdb_txn_begin(shared->environment, NULL,
				       flags & TABLE_READ_ONLY ? MDB_RDONLY : 0, &transaction);
	if (result)
		return result;
	result = mdb_dbi_open(transaction, NULL, 0, &shared->database);
	if (!result)
		return mdb_txn_commit(transaction);
	mdb_txn_abort(transaction);
	return result;
}

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct shared *shared = calloc(1, sizeof(*shared));
	int error;

	if (!shared)
		return -ENOMEM;
	error = errno_of(open_environment(shared, path, flags, values[MAP]));
	if (!error)
		error = new_handle(shared, made);
	if (error) {
		if (shared->environment)
			mdb_env_close(shared->environment);
		free(shared);
	}
	return error;
}

static int adapter_attach(struct table *table, struct table **made)
{
	struct handle *handle = (struct handle *)table;
	const int result = end_write(handle);

	return result ? errno_of(result) : new_handle(handle->shared, made);
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	struct handle *handle = (struct handle *)table;
	MDB_val key_value = value_of(key), found;
	MDB_txn *transaction;
	int result;

	if (!handle->cursor && handle->shared->handles > 1)
		end_read(handle);
	result = begin_read(handle, &transaction);
	if (!result)
		result = mdb_get(transaction, handle->shared->database, &key_value, &found);
	if (!result)
		*data = item_of(found);
	return errno_of(result);
}

/* A transaction of which a call failed may only be ended; of several handles each put is one. */
static int end_change(struct handle *handle, int result)
{
	return handle->shared->handles > 1 && !result ? end_write(handle) : result;
}

static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	struct handle *handle = (struct handle *)table;
	MDB_val key_value = value_of(key), data_value = value_of(data);
	int result = begin_write(handle);

	if (!result)
		result = mdb_put(handle->write, handle->shared->database, &key_value, &data_value,
				 replace ? 0 : MDB_NOOVERWRITE);
	return errno_of(end_change(handle, result));
}

static int adapter_remove(struct table *table, struct item key)
{
	struct handle *handle = (struct handle *)table;
	MDB_val key_value = value_of(key);
	int result = begin_write(handle);

	if (!result)
		result = mdb_del(handle->write, handle->shared->database, &key_value, NULL);
	return errno_of(end_change(handle, result));
}

/* A cursor behind the last key, at @key and @data, or at the first pair. */
static int begin_cursor(struct handle *handle, const struct cursor *cursor, MDB_val *key,
			MDB_val *data)
{
	MDB_txn *transaction;
	int result = end_write(handle);

	if (!result)
		result = begin_read(handle, &transaction);
	if (!result)
		result = mdb_cursor_open(transaction, handle->shared->database, &handle->cursor);
	if (result)
		return result;
	if (!cursor->at[0] || !handle->last.mv_data)
		return mdb_cursor_get(handle->cursor, key, data, MDB_FIRST);
	*key = handle->last;
	result = mdb_cursor_get(handle->cursor, key, data, MDB_SET_RANGE);
	if (!result && key->mv_size == handle->last.mv_size &&
	    !memcmp(key->mv_data, handle->last.mv_data, key->mv_size))
		result = mdb_cursor_get(handle->cursor, key, data, MDB_NEXT);
	return result;
}

/* at[0]: it has begun. */
static int adapter_scan(struct table *table, struct cursor *cursor, struct item *key,
			struct item *data)
{
	struct handle *handle = (struct handle *)table;
	MDB_val key_value, found;
	int result;

	if (handle->cursor)
		result = mdb_cursor_get(handle->cursor, &key_value, &found,
					cursor->at[0] ? MDB_NEXT : MDB_FIRST);
	else
		result = begin_cursor(handle, cursor, &key_value, &found);
	cursor->at[0] = 1;
	if (result) {
		end_read(handle);
		return errno_of(result);
	}
	*key = item_of(key_value);
	if (data)
		*data = item_of(found);
	return 0;
}

static int adapter_sync(struct table *table)
{
	struct handle *handle = (struct handle *)table;
	int result = end_write(handle);

	if (!result)
		result = mdb_env_sync(handle->shared->environment, 1);
	return errno_of(result);
}

const struct system lmdb_adapter = {
	.name = "lmdb",
	.summary = "LMDB: a B+tree mapped into memory",
	.traits = SYSTEM_DISK | SYSTEM_THREADS,
	.options = options,
	.open = adapter_open,
	.attach = adapter_attach,
	.get = adapter_get,
	.put = adapter_put,
	.remove = adapter_remove,
	.scan = adapter_scan,
	.pause = adapter_pause,
	.sync = adapter_sync,
	.close = adapter_close,
};
