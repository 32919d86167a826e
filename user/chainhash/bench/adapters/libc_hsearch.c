/*
 * libc_hsearch.c - hsearch_r of the C library: glibc's, or musl's in a program linked with that.
 *
 * Keys are strings with a zero byte behind them, as all records of the bench are. It stores a
 * pointer for the data: to an item of ours, of which there are as many as the table has room for.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>

#include "adapters.h"

enum { NELEM };
static const struct option_rule options[] = {
	[NELEM] = {"nelem", "entries of the table", 1, 1 << 30, 1000, NULL},
	{.name = NULL},
};

struct handle {
	struct table table;
	struct hsearch_data *search;
	struct item *items;
	size_t used, room;
	bool attached;
};

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int error = -ENOMEM;

	(void)path;
	(void)flags;
	if (!handle)
		return -ENOMEM;
	/* A quarter more, as its manual advises. */
	handle->room = values[NELEM];
	handle->items = malloc(handle->room * sizeof(*handle->items));
	handle->search = calloc(1, sizeof(*handle->search));
	if (handle->items && handle->search)
		error = hcreate_r(handle->room + handle->room / 4, handle->search) ? 0 : -errno;
	if (error) {
		free(handle->items);
		free(handle->search);
		free(handle);
		return error;
	}
	*made = &handle->table;
	return 0;
}

static int adapter_attach(struct table *table, struct table **made)
{
	struct handle *handle = malloc(sizeof(*handle));

	if (!handle)
		return -ENOMEM;
	*handle = *(struct handle *)table;
	handle->attached = true;
	*made = &handle->table;
	return 0;
}

static ENTRY *find(struct handle *handle, struct item key)
{
	ENTRY *found = NULL;

	hsearch_r((ENTRY){.key = (char *)key.bytes}, FIND, &found, handle->search);
	return found;
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	const ENTRY *found = find((struct handle *)table, key);

	if (!found)
		return -ENOENT;
	*data = *(const struct item *)found->data;
	return 0;
}

static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	struct handle *handle = (struct handle *)table;
	ENTRY *found = NULL, entry = {.key = (char *)key.bytes};

	if (handle->used == handle->room)
		found = find(handle, key);
	else
		entry.data = &handle->items[handle->used];
	if (!found &&
	    (handle->used == handle->room || !hsearch_r(entry, ENTER, &found, handle->search)))
		return -ENOSPC;
	if (found->data == entry.data)
		handle->used++;
	else if (!replace)
		return -EEXIST;
	*(struct item *)found->data = data;
	return 0;
}

static int adapter_close(struct table *table)
{
	struct handle *handle = (struct handle *)table;

	if (!handle->attached) {
		hdestroy_r(handle->search);
		free(handle->search);
		free(handle->items);
	}
	free(handle);
	return 0;
}

const struct system libc_hsearch_adapter = {
	.name = "libc-hsearch",
	.summary = "hsearch_r of the C library",
	.traits = SYSTEM_MEMORY | SYSTEM_BORROWS | SYSTEM_READERS,
	.options = options,
	.open = adapter_open,
	.attach = adapter_attach,
	.get = adapter_get,
	.put = adapter_put,
	.close = adapter_close,
};
