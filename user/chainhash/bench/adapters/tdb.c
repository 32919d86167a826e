/* tdb.c - Samba's trivial database: chains of records in a file that is mapped into memory. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <tdb.h>
#include <unistd.h>

#include "adapters.h"

enum { NELEM };
static const struct option_rule options[] = {
	[NELEM] = {"nelem", "chains of the table; 0: its own choice, 131", 0, 1 << 30, 0, NULL},
	{.name = NULL},
};

struct handle {
	struct table table;
	TDB_CONTEXT *tdb;
	TDB_DATA key, data; /* that were handed out: the library's malloc() */
};

static TDB_DATA datum_of(struct item item)
{
	return (TDB_DATA){.dptr = (unsigned char *)item.bytes, .dsize = item.size};
}

static struct item item_of(TDB_DATA datum)
{
	return (struct item){datum.dptr, datum.dsize};
}

static int last_error(TDB_CONTEXT *tdb)
{
	switch (tdb_error(tdb)) {
	case TDB_ERR_NOEXIST:
		return -ENOENT;
	case TDB_ERR_EXISTS:
		return -EEXIST;
	case TDB_ERR_OOM:
		return -ENOMEM;
	case TDB_ERR_CORRUPT:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int how = flags & TABLE_READ_ONLY ? O_RDONLY : O_RDWR;
	int mode = TDB_INCOMPATIBLE_HASH;

	if (!handle)
		return -ENOMEM;
	if (!path)
		mode = TDB_INTERNAL;
	else if (flags & TABLE_CREATE)
		mode |= TDB_CLEAR_IF_FIRST;
	if (flags & TABLE_CREATE)
		how |= O_CREAT | O_TRUNC;
	errno = EIO;
	handle->tdb = tdb_open(path ? path : "memory", (int)values[NELEM], mode, how, 0644);
	if (!handle->tdb) {
		free(handle);
		return -errno;
	}
	*made = &handle->table;
	return 0;
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	struct handle *handle = (struct handle *)table;

	free(handle->data.dptr);
	handle->data = tdb_fetch(handle->tdb, datum_of(key));
	if (!handle->data.dptr)
		return last_error(handle->tdb);
	*data = item_of(handle->data);
	return 0;
}

static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	TDB_CONTEXT *tdb = ((struct handle *)table)->tdb;

	if (!tdb_store(tdb, datum_of(key), datum_of(data), replace ? TDB_REPLACE : TDB_INSERT))
		return 0;
	return last_error(tdb);
}

static int adapter_remove(struct table *table, struct item key)
{
	TDB_CONTEXT *tdb = ((struct handle *)table)->tdb;

	return tdb_delete(tdb, datum_of(key)) ? last_error(tdb) : 0;
}

/* at[0]: it has begun. */
static int adapter_scan(struct table *table, struct cursor *cursor, struct item *key,
			struct item *data)
{
	struct handle *handle = (struct handle *)table;
	const TDB_DATA last = handle->key;

	if (cursor->at[0]++)
		handle->key = tdb_nextkey(handle->tdb, last);
	else
		handle->key = tdb_firstkey(handle->tdb);
	free(last.dptr);
	if (!handle->key.dptr)
		return -ENOENT;
	*key = item_of(handle->key);
	return data ? adapter_get(table, *key, data) : 0;
}

/* Outside a transaction it has no call for it; what is mapped is written by fsync() as well. */
static int adapter_sync(struct table *table)
{
	const int file = tdb_fd(((struct handle *)table)->tdb);

	return file >= 0 && fsync(file) ? -errno : 0;
}

static int adapter_close(struct table *table)
{
	struct handle *handle = (struct handle *)table;
	const int result = tdb_close(handle->tdb);

	free(handle->key.dptr);
	free(handle->data.dptr);
	free(handle);
	return result ? -EIO : 0;
}

const struct system tdb_adapter = {
	.name = "tdb",
	.summary = "Samba's trivial database",
	.traits = SYSTEM_DISK | SYSTEM_MEMORY,
	.options = options,
	.open = adapter_open,
	.get = adapter_get,
	.put = adapter_put,
	.remove = adapter_remove,
	.scan = adapter_scan,
	.sync = adapter_sync,
	.close = adapter_close,
};
