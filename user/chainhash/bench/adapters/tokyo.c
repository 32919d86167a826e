/*
 * tokyo.c - Tokyo Cabinet: its hash database on disk, its hash map with locks in memory.
 *
 * A database has one place for a scan: several handles that scan share it.
 */
#include <stdlib.h>
#include <tchdb.h>
#include <tcutil.h>

#include "adapters.h"

enum { NELEM, CACHE };
static const struct option_rule options[] = {
	[NELEM] = {"nelem", "elements to expect: half as many as buckets; 0: its own choice", 0,
		   1ull << 32, 0, NULL},
	[CACHE] = {"cache", "bytes of the file to map; 0: its own choice", 0, 1ull << 40, 0, NULL},
	{.name = NULL},
};

struct handle {
	struct table table;
	TCHDB *disk;
	TCMDB *memory;
	void *data;	     /* that was handed out: the library's malloc() */
	TCXSTR *key, *value; /* of a scan of the disk's */
	void *scanned;	     /* key of one of the memory's */
	bool attached;
};

static int errno_of(TCHDB *disk)
{
	switch (tchdbecode(disk)) {
	case TCENOREC:
		return -ENOENT;
	case TCEKEEP:
		return -EEXIST;
	case TCENOFILE:
		return -ENOENT;
	case TCEMETA:
	case TCERHEAD:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

static void release(struct handle *handle)
{
	free(handle->data);
	free(handle->scanned);
	if (handle->key)
		tcxstrdel(handle->key);
	if (handle->value)
		tcxstrdel(handle->value);
	if (handle->disk && !handle->attached)
		tchdbdel(handle->disk);
	if (handle->memory && !handle->attached)
		tcmdbdel(handle->memory);
	free(handle);
}

static bool open_disk(TCHDB *disk, const char *path, unsigned flags, const uint64_t *values)
{
	int how = HDBOREADER;

	if (!(flags & TABLE_READ_ONLY))
		how |= HDBOWRITER;
	if (flags & TABLE_CREATE)
		how |= HDBOCREAT | HDBOTRUNC;
	if (!tchdbsetmutex(disk))
		return false;
	if (values[NELEM] && !tchdbtune(disk, (int64_t)values[NELEM] * 2, -1, -1, HDBTLARGE))
		return false;
	if (values[CACHE] && !tchdbsetxmsiz(disk, (int64_t)values[CACHE]))
		return false;
	return tchdbopen(disk, path, how);
}

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int error = -ENOMEM;

	if (!handle)
		return -ENOMEM;
	handle->key = tcxstrnew();
	handle->value = tcxstrnew();
	if (path)
		handle->disk = tchdbnew();
	else
		handle->memory = tcmdbnew2((uint32_t)values[NELEM]);
	if (handle->disk)
		error = open_disk(handle->disk, path, flags, values) ? 0 : errno_of(handle->disk);
	else if (handle->memory)
		error = 0;
	if (error) {
		release(handle);
		return error;
	}
	*made = &handle->table;
	return 0;
}

static int adapter_attach(struct table *table, struct table **made)
{
	const struct handle *handle = (struct handle *)table;
	struct handle *fresh = calloc(1, sizeof(*fresh));

	if (!fresh)
		return -ENOMEM;
	fresh->disk = handle->disk;
	fresh->memory = handle->memory;
	fresh->key = tcxstrnew();
	fresh->value = tcxstrnew();
	fresh->attached = true;
	*made = &fresh->table;
	return 0;
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	struct handle *handle = (struct handle *)table;
	int size = 0;

	free(handle->data);
	if (handle->disk)
		handle->data = tchdbget(handle->disk, key.bytes, (int)key.size, &size);
	else
		handle->data = tcmdbget(handle->memory, key.bytes, (int)key.size, &size);
	*data = (struct item){handle->data, (size_t)size};
	if (handle->data)
		return 0;
	return handle->disk ? errno_of(handle->disk) : -ENOENT;
}

static int put_in_memory(TCMDB *memory, struct item key, struct item data, bool replace)
{
	if (replace)
		tcmdbput(memory, key.bytes, (int)key.size, data.bytes, (int)data.size);
	else if (!tcmdbputkeep(memory, key.bytes, (int)key.size, data.bytes, (int)data.size))
		return -EEXIST;
	return 0;
}

static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	struct handle *handle = (struct handle *)table;
	TCHDB *disk = handle->disk;
	bool done;

	if (!disk)
		return put_in_memory(handle->memory, key, data, replace);
	if (replace)
		done = tchdbput(disk, key.bytes, (int)key.size, data.bytes, (int)data.size);
	else
		done = tchdbputkeep(disk, key.bytes, (int)key.size, data.bytes, (int)data.size);
	return done ? 0 : errno_of(disk);
}

static int adapter_remove(struct table *table, struct item key)
{
	struct handle *handle = (struct handle *)table;

	if (!handle->disk)
		return tcmdbout(handle->memory, key.bytes, (int)key.size) ? 0 : -ENOENT;
	return tchdbout(handle->disk, key.bytes, (int)key.size) ? 0 : errno_of(handle->disk);
}

static int scan_memory(struct handle *handle, struct item *key, struct item *data)
{
	int size;

	free(handle->scanned);
	handle->scanned = tcmdbiternext(handle->memory, &size);
	if (!handle->scanned)
		return -ENOENT;
	*key = (struct item){handle->scanned, (size_t)size};
	return data ? adapter_get(&handle->table, *key, data) : 0;
}

/* at[0]: it has begun. The disk's scan reads keys and data in any case. */
static int adapter_scan(struct table *table, struct cursor *cursor, struct item *key,
			struct item *data)
{
	struct handle *handle = (struct handle *)table;

	if (!cursor->at[0]++) {
		if (handle->disk)
			tchdbiterinit(handle->disk);
		else
			tcmdbiterinit(handle->memory);
	}
	if (!handle->disk)
		return scan_memory(handle, key, data);
	if (!tchdbiternext3(handle->disk, handle->key, handle->value))
		return errno_of(handle->disk);
	*key = (struct item){tcxstrptr(handle->key), (size_t)tcxstrsize(handle->key)};
	if (data)
		*data = (struct item){tcxstrptr(handle->value), (size_t)tcxstrsize(handle->value)};
	return 0;
}

static int adapter_sync(struct table *table)
{
	struct handle *handle = (struct handle *)table;

	return !handle->disk || tchdbsync(handle->disk) ? 0 : errno_of(handle->disk);
}

static int adapter_close(struct table *table)
{
	struct handle *handle = (struct handle *)table;
	int error = 0;

	if (handle->disk && !handle->attached && !tchdbclose(handle->disk))
		error = errno_of(handle->disk);
	release(handle);
	return error;
}

const struct system tokyo_adapter = {
	.name = "tokyo-cabinet",
	.summary = "Tokyo Cabinet's hash database",
	.traits = SYSTEM_DISK | SYSTEM_MEMORY | SYSTEM_THREADS,
	.options = options,
	.open = adapter_open,
	.attach = adapter_attach,
	.get = adapter_get,
	.put = adapter_put,
	.remove = adapter_remove,
	.scan = adapter_scan,
	.sync = adapter_sync,
	.close = adapter_close,
};
