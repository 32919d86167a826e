/* gdbm_ndbm.c - the ndbm interface of GNU's gdbm (libgdbm-compat). */
#include <fcntl.h>
#include <ndbm.h>
#include <stdlib.h>
#include <unistd.h>

#include "adapters.h"

struct handle {
	struct table table;
	DBM *dbm;
};

static datum datum_of(struct item item)
{
	return (datum){.dptr = (char *)item.bytes, .dsize = (int)item.size};
}

static struct item item_of(datum datum)
{
	return (struct item){datum.dptr, (size_t)datum.dsize};
}

static DBM *dbm_of(struct table *table)
{
	return ((struct handle *)table)->dbm;
}

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int how = flags & TABLE_READ_ONLY ? O_RDONLY : O_RDWR;

	(void)values;
	if (!handle)
		return -ENOMEM;
	if (flags & TABLE_CREATE)
		how |= O_CREAT | O_TRUNC;
	errno = EIO;
	handle->dbm = dbm_open((char *)path, how, 0644);
	if (!handle->dbm) {
		free(handle);
		return -errno;
	}
	*made = &handle->table;
	return 0;
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	*data = item_of(dbm_fetch(dbm_of(table), datum_of(key)));
	return data->bytes ? 0 : -ENOENT;
}

static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	int result;

	errno = EIO;
	result = dbm_store(dbm_of(table), datum_of(key), datum_of(data),
			   replace ? DBM_REPLACE : DBM_INSERT);
	return result > 0 ? -EEXIST : result * errno;
}

static int adapter_remove(struct table *table, struct item key)
{
	return dbm_delete(dbm_of(table), datum_of(key)) ? -ENOENT : 0;
}

/* ndbm's own scan hands out keys; at[0]: it has begun. */
static int adapter_scan(struct table *table, struct cursor *cursor, struct item *key,
			struct item *data)
{
	*key = item_of(cursor->at[0]++ ? dbm_nextkey(dbm_of(table)) : dbm_firstkey(dbm_of(table)));
	if (!key->bytes)
		return -ENOENT;
	return data ? adapter_get(table, *key, data) : 0;
}

static int adapter_sync(struct table *table)
{
	return fsync(dbm_pagfno(dbm_of(table))) ? -errno : 0;
}

static int adapter_close(struct table *table)
{
	dbm_close(dbm_of(table));
	free(table);
	return 0;
}

const struct system gdbm_ndbm_adapter = {
	.name = "gdbm-ndbm",
	.summary = "the ndbm interface of GNU gdbm",
	.traits = SYSTEM_DISK,
	.open = adapter_open,
	.get = adapter_get,
	.put = adapter_put,
	.remove = adapter_remove,
	.scan = adapter_scan,
	.sync = adapter_sync,
	.close = adapter_close,
};
