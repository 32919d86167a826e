/* gdbm.c - GNU's gdbm by its own interface. */
#include <gdbm.h>
#include <stdlib.h>

#include "adapters.h"

enum { BUCKET, CACHE };
static const struct option_rule options[] = {
	[BUCKET] = {"bucket", "bytes of a block; 0: the file system's", 0, 65536, 0, NULL},
	[CACHE] = {"cache", "bytes of buckets in memory; 0: its own choice", 0, 1ull << 40, 0,
		   NULL},
	{.name = NULL},
};

struct handle {
	struct table table;
	GDBM_FILE gdbm;
	datum key, data; /* that were handed out: the library's malloc() */
};

static datum datum_of(struct item item)
{
	return (datum){.dptr = (char *)item.bytes, .dsize = (int)item.size};
}

static struct item item_of(datum datum)
{
	return (struct item){datum.dptr, (size_t)datum.dsize};
}

static int last_error(void)
{
	if (gdbm_errno == GDBM_ITEM_NOT_FOUND)
		return -ENOENT;
	if (gdbm_errno == GDBM_CANNOT_REPLACE)
		return -EEXIST;
	return errno ? -errno : -EIO;
}

static int set_cache(GDBM_FILE gdbm, size_t bytes)
{
	const int block = 4096;
	size_t buckets = bytes / block;

	if (!bytes)
		return 0;
	if (buckets < 10)
		buckets = 10;
	return gdbm_setopt(gdbm, GDBM_SETCACHESIZE, &buckets, sizeof(buckets)) ? -EINVAL : 0;
}

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int how = GDBM_WRITER, error;

	if (!handle)
		return -ENOMEM;
	if (flags & TABLE_CREATE)
		how = GDBM_NEWDB;
	else if (flags & TABLE_READ_ONLY)
		how = GDBM_READER;
	errno = 0;
	handle->gdbm = gdbm_open(path, (int)values[BUCKET], how, 0644, NULL);
	error = handle->gdbm ? set_cache(handle->gdbm, values[CACHE]) : last_error();
	if (error) {
		if (handle->gdbm)
			gdbm_close(handle->gdbm);
		free(handle);
		return error;
	}
	*made = &handle->table;
	return 0;
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	struct handle *handle = (struct handle *)table;

	free(handle->data.dptr);
	handle->data = gdbm_fetch(handle->gdbm, datum_of(key));
	if (!handle->data.dptr)
		return last_error();
	*data = item_of(handle->data);
	return 0;
}

static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	const int result = gdbm_store(((struct handle *)table)->gdbm, datum_of(key), datum_of(data),
				      replace ? GDBM_REPLACE : GDBM_INSERT);

	return result ? last_error() : 0;
}

static int adapter_remove(struct table *table, struct item key)
{
	return gdbm_delete(((struct handle *)table)->gdbm, datum_of(key)) ? last_error() : 0;
}

/* at[0]: it has begun; the last key leads to the next. */
static int adapter_scan(struct table *table, struct cursor *cursor, struct item *key,
			struct item *data)
{
	struct handle *handle = (struct handle *)table;
	const datum last = handle->key;

	if (cursor->at[0]++)
		handle->key = gdbm_nextkey(handle->gdbm, last);
	else
		handle->key = gdbm_firstkey(handle->gdbm);
	free(last.dptr);
	if (!handle->key.dptr)
		return last_error();
	*key = item_of(handle->key);
	return data ? adapter_get(table, *key, data) : 0;
}

static int adapter_sync(struct table *table)
{
	return gdbm_sync(((struct handle *)table)->gdbm) ? last_error() : 0;
}

static int adapter_close(struct table *table)
{
	struct handle *handle = (struct handle *)table;
	const int error = gdbm_close(handle->gdbm) ? last_error() : 0;

	free(handle->key.dptr);
	free(handle->data.dptr);
	free(handle);
	return error;
}

const struct system gdbm_adapter = {
	.name = "libgdbm",
	.summary = "GNU gdbm by its own interface",
	.traits = SYSTEM_DISK,
	.options = options,
	.open = adapter_open,
	.get = adapter_get,
	.put = adapter_put,
	.remove = adapter_remove,
	.scan = adapter_scan,
	.sync = adapter_sync,
	.close = adapter_close,
};
