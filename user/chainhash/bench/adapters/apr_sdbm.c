/* apr_sdbm.c - Yigit's sdbm as the Apache Portable Runtime has it (libaprutil1). */
#include <apr_file_io.h>
#include <apr_general.h>
#include <apr_sdbm.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters.h"

struct handle {
	struct table table;
	apr_pool_t *pool;
	apr_sdbm_t *sdbm;
	char *path;
};

static apr_sdbm_datum_t datum_of(struct item item)
{
	return (apr_sdbm_datum_t){.dptr = (char *)item.bytes, .dsize = (int)item.size};
}

static struct item item_of(apr_sdbm_datum_t datum)
{
	return (struct item){datum.dptr, (size_t)datum.dsize};
}

/* Statuses of APR are errnos up to where its own begin. */
static int errno_of(apr_status_t status)
{
	return status < APR_OS_START_ERROR ? -status : -EIO;
}

static apr_sdbm_t *sdbm_of(struct table *table)
{
	return ((struct handle *)table)->sdbm;
}

static int open_sdbm(struct handle *handle, const char *path, unsigned flags)
{
	apr_int32_t how = APR_READ;
	apr_status_t status = apr_initialize();

	if (!(flags & TABLE_READ_ONLY))
		how |= APR_WRITE;
	if (flags & TABLE_CREATE)
		how |= APR_CREATE | APR_TRUNCATE;
	if (!status)
		status = apr_pool_create(&handle->pool, NULL);
	if (!status)
		status = apr_sdbm_open(&handle->sdbm, path, how, APR_OS_DEFAULT, handle->pool);
	return errno_of(status);
}

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int error;

	(void)values;
	if (!handle)
		return -ENOMEM;
	handle->path = strdup(path);
	error = handle->path ? open_sdbm(handle, path, flags) : -ENOMEM;
	if (error) {
		free(handle->path);
		free(handle);
		return error;
	}
	*made = &handle->table;
	return 0;
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	apr_sdbm_datum_t found;
	const apr_status_t status = apr_sdbm_fetch(sdbm_of(table), &found, datum_of(key));

	if (status)
		return errno_of(status);
	*data = item_of(found);
	return found.dptr ? 0 : -ENOENT;
}

/* A pair that is too long is EINVAL to APR, colliding keys ENOSPC. */
static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	const apr_status_t status = apr_sdbm_store(sdbm_of(table), datum_of(key), datum_of(data),
						   replace ? APR_SDBM_REPLACE : APR_SDBM_INSERT);

	return status == APR_EINVAL ? -EMSGSIZE : errno_of(status);
}

static int adapter_remove(struct table *table, struct item key)
{
	const apr_status_t status = apr_sdbm_delete(sdbm_of(table), datum_of(key));

	return status == APR_EGENERAL ? -ENOENT : errno_of(status);
}

/* Its scan hands out keys; at[0]: it has begun. */
static int adapter_scan(struct table *table, struct cursor *cursor, struct item *key,
			struct item *data)
{
	apr_sdbm_datum_t next;
	const apr_status_t status = cursor->at[0]++ ? apr_sdbm_nextkey(sdbm_of(table), &next)
						    : apr_sdbm_firstkey(sdbm_of(table), &next);

	if (status && status != APR_EOF)
		return errno_of(status);
	if (status || !next.dptr)
		return -ENOENT;
	*key = item_of(next);
	return data ? adapter_get(table, *key, data) : 0;
}

/* There is no call for it: its files are synced by their names. */
static int adapter_sync(struct table *table)
{
	struct handle *handle = (struct handle *)table;
	static const char *const suffixes[] = {APR_SDBM_PAGFEXT, APR_SDBM_DIRFEXT};
	char name[4200];

	for (size_t i = 0; i < 2; i++) {
		int file, error;

		snprintf(name, sizeof(name), "%s%s", handle->path, suffixes[i]);
		file = open(name, O_RDONLY);
		if (file < 0)
			return -errno;
		error = fsync(file) ? -errno : 0;
		close(file);
		if (error)
			return error;
	}
	return 0;
}

static int adapter_close(struct table *table)
{
	struct handle *handle = (struct handle *)table;
	const apr_status_t status = apr_sdbm_close(handle->sdbm);

	apr_pool_destroy(handle->pool);
	apr_terminate();
	free(handle->path);
	free(handle);
	return errno_of(status);
}

const struct system apr_sdbm_adapter = {
	.name = "apr-sdbm",
	.summary = "sdbm of the Apache Portable Runtime",
	.traits = SYSTEM_DISK,
	.open = adapter_open,
	.get = adapter_get,
	.put = adapter_put,
	.remove = adapter_remove,
	.scan = adapter_scan,
	.sync = adapter_sync,
	.close = adapter_close,
};
