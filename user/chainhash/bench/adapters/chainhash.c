/*
 * chainhash.c - the library of this folder's parent, where it is in the checkout.
 *
 * A file has one writer: handles of further threads are opened for reading, and see what had been
 * synced by then. A table in memory is one thread's.
 */
#include <chainhash.h>
#include <stdlib.h>
#include <string.h>

#include "adapters.h"

enum { BUCKET, FILL, NELEM, CACHE, SPLIT, CHECKSUMS, FLUSH, HASH };
static const char *const split_words[] = {"controlled", "uncontrolled", "both", NULL};
static const char *const yes_or_no[] = {"no", "yes", NULL};
static const struct option_rule options[] = {
	[BUCKET] = {"bucket", "bytes of a page, a power of two", 64, 32768, 4096, NULL},
	[FILL] = {"fill", "elements in a bucket; 0: by bytes", 0, 65535, 0, NULL},
	[NELEM] = {"nelem", "elements to expect; 0: unknown", 0, 1ull << 31, 0, NULL},
	[CACHE] = {"cache", "bytes of pages in memory; 0: its own choice", 0, 1ull << 40, 8 << 20,
		   NULL},
	[SPLIT] = {"split", "when a bucket is split", 0, 2, CHAINHASH_SPLIT_CONTROLLED,
		   split_words},
	[CHECKSUMS] = {"checksums", "of pages", 0, 1, 1, yes_or_no},
	[FLUSH] = {"flush", "wait for the disk at a sync", 0, 1, 1, yes_or_no},
	[HASH] = {"hash", "number of the hash function", 0, 63, 0, NULL},
	{.name = NULL},
};

struct handle {
	struct table table;
	struct chainhash *chainhash;
	struct chainhash_options options;
	char *path; /* NULL: in memory */
};

static struct chainhash_item their(struct item item)
{
	return (struct chainhash_item){item.bytes, item.size};
}

static struct item ours(struct chainhash_item item)
{
	return (struct item){item.bytes, item.size};
}

static struct chainhash *of(struct table *table)
{
	return ((struct handle *)table)->chainhash;
}

static void release(struct handle *handle)
{
	free(handle->path);
	free(handle);
}

static int open_handle(struct table **made, const char *path, int how,
		       const struct chainhash_options *options)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int error = 0;

	if (!handle)
		return -ENOMEM;
	handle->options = *options;
	if (path) {
		handle->path = strdup(path);
		error = handle->path ? 0 : -ENOMEM;
	}
	if (!error)
		error = chainhash_open(&handle->chainhash, path, how, 0644, &handle->options);
	if (error) {
		release(handle);
		return error;
	}
	*made = &handle->table;
	return 0;
}

static int adapter_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	const struct chainhash_options options = {
		.bucket_size = (uint32_t)values[BUCKET],
		.fill_factor = (uint32_t)values[FILL],
		.elements = values[NELEM],
		.cache_size = values[CACHE],
		.split = (uint32_t)values[SPLIT],
		.hash = chainhash_hash_name((unsigned)values[HASH]),
	};
	int how = 0;

	if (!options.hash)
		return -EINVAL;
	if (flags & TABLE_CREATE)
		how |= CHAINHASH_CREATE | CHAINHASH_TRUNCATE;
	if (flags & TABLE_READ_ONLY)
		how |= CHAINHASH_READ_ONLY;
	if (!values[CHECKSUMS] && (flags & TABLE_CREATE))
		how |= CHAINHASH_NO_CHECKSUM;
	if (!values[FLUSH] && !(flags & TABLE_READ_ONLY))
		how |= CHAINHASH_NO_FLUSH;
	return open_handle(made, path, how, &options);
}

static int adapter_attach(struct table *table, struct table **made)
{
	const struct handle *handle = (struct handle *)table;

	if (!handle->path)
		return -EOPNOTSUPP;
	return open_handle(made, handle->path, CHAINHASH_READ_ONLY, &handle->options);
}

static int adapter_get(struct table *table, struct item key, struct item *data)
{
	struct chainhash_item found;
	const int error = chainhash_get(of(table), their(key), &found);

	if (!error)
		*data = ours(found);
	return error;
}

static int adapter_put(struct table *table, struct item key, struct item data, bool replace)
{
	return chainhash_put(of(table), their(key), their(data),
			     replace ? CHAINHASH_REPLACE : CHAINHASH_INSERT);
}

static int adapter_remove(struct table *table, struct item key)
{
	return chainhash_delete(of(table), their(key));
}

static int adapter_scan(struct table *table, struct cursor *cursor, struct item *key,
			struct item *data)
{
	struct chainhash_cursor at = {{cursor->at[0], cursor->at[1]}};
	struct chainhash_item found_key, found;
	const int error = chainhash_scan(of(table), &at, &found_key, data ? &found : NULL);

	if (error)
		return error;
	memcpy(cursor->at, at.at, sizeof(cursor->at));
	*key = ours(found_key);
	if (data)
		*data = ours(found);
	return 0;
}

static int adapter_sync(struct table *table)
{
	return chainhash_sync(of(table));
}

static int adapter_close(struct table *table)
{
	const int error = chainhash_close(of(table));

	release((struct handle *)table);
	return error;
}

const struct system chainhash_adapter = {
	.name = "chainhash",
	.summary = "libchainhash: linear hashing on disk and in memory",
	.traits = SYSTEM_DISK | SYSTEM_MEMORY | SYSTEM_READERS,
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
