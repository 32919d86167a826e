/*
 * berkeley.c - Berkeley DB 5.3's hash access method.
 *
 * By itself a database has no lock, so that one thread uses it. With `threads` of 1 it is opened in
 * an environment of its own in memory with the Concurrent Data Store: many readers or one writer at
 * a time.
 */
#include <db.h>
#include <stdlib.h>
#include <string.h>

#include "adapters.h"

enum { BUCKET, FILL, NELEM, CACHE, THREADS };
static const struct option_rule options[] = {
	[BUCKET] = {"bucket", "bytes of a page; 0: the file system's", 0, 65536, 0, NULL},
	[FILL] = {"fill", "elements in a bucket; 0: its own choice", 0, 1 << 20, 0, NULL},
	[NELEM] = {"nelem", "elements to expect; 0: unknown", 0, UINT32_MAX, 0, NULL},
	[CACHE] = {"cache", "bytes of pages in memory; 0: its own choice", 0, 1ull << 40, 0, NULL},
	[THREADS] = {"threads", "1: several threads", 0, 1, 0, NULL},
	{.name = NULL},
};

struct handle {
	struct table table;
	DB_ENV *environment;
	DB *db;
	DBC *cursor;
	DBT key, data; /* that were handed out: DB_DBT_REALLOC */
	bool attached;
};

static DBT dbt_of(struct item item)
{
	DBT dbt;

	memset(&dbt, 0, sizeof(dbt));
	dbt.data = (void *)item.bytes;
	dbt.size = (u_int32_t)item.size;
	return dbt;
}

static struct item item_of(const DBT *dbt)
{
	return (struct item){dbt->data, dbt->size};
}

/* Its own errors are negative. */
static int errno_of(int result)
{
	if (result == DB_NOTFOUND)
		return -ENOENT;
	if (result == DB_KEYEXIST)
		return -EEXIST;
	return result < 0 ? -EIO : -result;
}

static DB *db_of(struct table *table)
{
	return ((struct handle *)table)->db;
}

static int set_cache(DB *db, DB_ENV *environment, uint64_t bytes)
{
	const u_int32_t gigabytes = (u_int32_t)(bytes >> 30), rest = bytes & ((1u << 30) - 1);

	if (!bytes)
		return 0;
	if (environment)
		return environment->set_cachesize(environment, gigabytes, rest, 1);
	return db->set_cachesize(db, gigabytes, rest, 1);
}

static int open_environment(struct handle *handle, uint64_t cache)
{
	int result = db_env_create(&handle->environment, 0);

	if (!result)
		result = set_cache(NULL, handle->environment, cache);
	if (result)
		return result;
	return handle->environment->open(
		handle->environment, NULL,
		DB_CREATE | DB_PRIVATE | DB_INIT_CDB | DB_INIT_MPOOL | DB_THREAD, 0);
}

static int open_db(struct handle *handle, const char *path, unsigned flags, const uint64_t *values)
{
	u_int32_t how = 0;
	DB *db;
	int result = db_create(&handle->db, handle->environment, 0);

	if (result)
		return result;
	db = handle->db;
	if (!handle->environment)
		result = set_cache(db, NULL, values[CACHE]);
	if (!result && values[BUCKET])
		result = db->set_pagesize(db, (u_int32_t)values[BUCKET]);
	if (!result && values[FILL])
		result = db->set_h_ffactor(db, (u_int32_t)values[FILL]);
	if (!result && values[NELEM])
		result = db->set_h_nelem(db, (u_int32_t)values[NELEM]);
	if (flags & TABLE_CREATE)
		how = DB_CREATE;
	else if (flags & TABLE_READ_ONLY)
		how = DB_RDONLY;
	/* In an environment DB_TRUNCATE is refused; the bench has removed the file. */
	if (how == DB_CREATE && !handle->environment && path)
		how |= DB_TRUNCATE;
	if (handle->environment)
		how |= DB_THREAD;
	return result ? result : db->open(db, NULL, path, NULL, DB_HASH, how, 0644);
}

static int adapter_close(struct table *table)
{
	struct handle *handle = (struct handle *)table;
	int result = handle->cursor ? handle->cursor->close(handle->cursor) : 0;

	if (!handle->attached && handle->db) {
		const int closed = handle->db->close(handle->db, 0);

		result = result ? result : closed;
	}
	if (!handle->attached && handle->environment)
		handle->environment->close(handle->environment, 0);
	free(handle->key.data);
	free(handle->data.data);
	free(handle);
	return errno_of(result);
}

static struct handle *new_handle(void)
{
	struct handle *handle = calloc(1, sizeof(*handle));

	if (handle)
		handle->key.flags = handle->data.flags = DB_DBT_REALLOC;
	return handle;
}

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct handle *handle = new_handle();
	int result = 0;

	if (!handle)
		return -ENOMEM;
	if (values[THREADS])
		result = open_environment(handle, values[CACHE]);
	if (!result)
		result = open_db(handle, path, flags, values);
	if (result) {
		adapter_close(&handle->table);
		return errno_of(result);
	}
	*made = &handle->table;
	return 0;
}

static int adapter_attach(struct table *table, struct table **made)
{
	struct handle *handle = new_handle();

	if (!handle)
		return -ENOMEM;
	handle->db = db_of(table);
	handle->environment = ((struct handle *)table)->environment;
	handle->attached = true;
	*made = &handle->table;
	return 0;
}

/* An open cursor keeps writers out, even those of the same thread. The last key stays. */
static int end_cursor(struct handle *handle)
{
	const int result = handle->cursor ? handle->cursor->close(handle->cursor) : 0;

	handle->cursor = NULL;
	return result;
}

static int adapter_pause(struct table *table)
{
	return errno_of(end_cursor((struct handle *)table));
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	struct handle *handle = (struct handle *)table;
	DBT wanted = dbt_of(key);
	const int result = handle->db->get(handle->db, NULL, &wanted, &handle->data, 0);

	*data = item_of(&handle->data);
	return errno_of(result);
}

static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	DBT key_dbt = dbt_of(key), data_dbt = dbt_of(data);
	DB *db = db_of(table);
	int result = end_cursor((struct handle *)table);

	if (!result)
		result = db->put(db, NULL, &key_dbt, &data_dbt, replace ? 0 : DB_NOOVERWRITE);
	return errno_of(result);
}

static int adapter_remove(struct table *table, struct item key)
{
	DBT key_dbt = dbt_of(key);
	int result = end_cursor((struct handle *)table);

	if (!result)
		result = db_of(table)->del(db_of(table), NULL, &key_dbt, 0);
	return errno_of(result);
}

/* A cursor at the last key that was handed out, or at no record yet if the scan only begins. */
static int begin_cursor(struct handle *handle, const struct cursor *cursor, DBT *nothing)
{
	int result = handle->db->cursor(handle->db, NULL, &handle->cursor, 0);

	if (!result && cursor->at[0])
		result = handle->cursor->get(handle->cursor, &handle->key, nothing, DB_SET);
	return result;
}

/*
 * at[0]: it has begun. Without data a length of nothing is asked for. A scan that was interrupted
 * ends if its last key has been removed meanwhile.
 */
static int adapter_scan(struct table *table, struct cursor *cursor, struct item *key,
			struct item *data)
{
	struct handle *handle = (struct handle *)table;
	const u_int32_t how = cursor->at[0] ? DB_NEXT : DB_FIRST;
	DBT nothing;
	int result = 0;

	memset(&nothing, 0, sizeof(nothing));
	nothing.flags = DB_DBT_PARTIAL | DB_DBT_USERMEM;
	if (!handle->cursor)
		result = begin_cursor(handle, cursor, &nothing);
	if (!result)
		result = handle->cursor->get(handle->cursor, &handle->key,
					     data ? &handle->data : &nothing, how);
	cursor->at[0] = 1;
	*key = item_of(&handle->key);
	if (data)
		*data = item_of(&handle->data);
	if (result)
		end_cursor(handle);
	return errno_of(result);
}

static int adapter_sync(struct table *table)
{
	return errno_of(db_of(table)->sync(db_of(table), 0));
}

const struct system berkeley_adapter = {
	.name = "berkeley-db",
	.summary = "Berkeley DB 5.3, access method hash",
	.traits = SYSTEM_DISK | SYSTEM_MEMORY | SYSTEM_THREADS,
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
