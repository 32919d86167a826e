/*
 * gdbm.c - the extendible hashing of GNU's gdbm: a directory of buckets, and pairs of any length.
 *
 * The algorithm. The directory has 2^depth entries, each the place of a bucket in the file; the
 * lowest `depth` bits of a key's hash choose the entry. A bucket has a depth of its own: the number
 * of bits in which all its keys agree. It stands in 2^(depth - its depth) entries. A full bucket is
 * split by one more bit; if its depth then exceeds the directory's, the directory doubles first. A
 * bucket is an array of the places, sizes and hashes of pairs, in no order; the pairs lie anywhere
 * in the file, so that their lengths do not matter.
 *
 * The file, in the host's byte order: a header, then buckets, directories and pairs as they came.
 * There are no holes in it. A pair that is replaced by one that is no longer stays where it is;
 * any other room that comes free (and the directory's before it doubled) is not used again.
 *
 * In memory are the directory and as many buckets as `cache` bytes hold, each in the one slot that
 * its place gives. A put writes its pair at once; buckets are written when their slot is wanted,
 * directory and header at a sync or the close. So a file whose program dies in between is damaged.
 *
 * Source: Seltzer and Yigit 1991, "gdbm"; Fagin and others 1979. Nelson's gdbm searches a bucket by
 * hashing and keeps lists of free room; both are left out here.
 *
 * Limits. Keys that agree in the 24 lowest bits of the hash, which is as deep as a directory may
 * be, and are more than a bucket's elements (170 by 4096 bytes) cannot be stored (ENOSPC). An item
 * has at most 1 GB (EMSGSIZE). A bucket's size is that of the file, whatever `bucket` says at a
 * later open.
 *
 * No locks: a table is one thread's, and one process's.
 */
#include <stdlib.h>
#include <string.h>

#include "parts/blocks.h"
#include "parts/file.h"
#include "parts/hash.h"
#include "parts/heap.h"
#include "system.h"

enum { BUCKET, CACHE };
static const struct option_rule options[] = {
	[BUCKET] = {"bucket", "bytes of a bucket in a new file", 256, 1 << 20, 4096, NULL},
	[CACHE] = {"cache", "bytes of buckets in memory", 0, 1ull << 40, 65536, NULL},
	{.name = NULL},
};

enum { ITEM_MOST = 1 << 30, DEPTH_MOST = 24 };
static const char magic[8] = "text-gd1";

struct header {
	char magic[8];
	uint64_t end; /* the heap's */
	uint64_t directory;
	uint32_t bucket_bytes;
	uint32_t depth;
};

struct element {
	uint64_t at; /* of key and data, one behind the other */
	uint32_t hash, key_size, data_size, unused;
};

struct bucket {
	uint32_t depth, count;
	struct element element[];
};

struct gdbm {
	struct table table;
	struct heap heap;  /* the file */
	unsigned elements; /* of a bucket, at most */
	struct header header;
	uint64_t *directory;
	struct blocks buckets;
	struct bucket *bucket; /* the one that was reached last, and its block */
	struct block *block;
};

static uint32_t low_bits(uint32_t hash, unsigned bits)
{
	return hash & ((1u << bits) - 1);
}

/* Bring the bucket for @hash into memory. */
static int reach(struct gdbm *gdbm, uint32_t hash)
{
	const uint64_t at = gdbm->directory[low_bits(hash, gdbm->header.depth)];
	const int read =
		at > gdbm->heap.end ? -EBADMSG : block_read(&gdbm->buckets, at, &gdbm->block);

	if (read < 0)
		return read;
	gdbm->bucket = gdbm->block->bytes;
	if (gdbm->bucket->depth <= gdbm->header.depth && gdbm->bucket->count <= gdbm->elements)
		return 0;
	block_forget(gdbm->block);
	return -EBADMSG;
}

static int read_pair(struct gdbm *gdbm, const struct element *element, struct item *key,
		     struct item *data)
{
	key->size = element->key_size;
	data->size = element->data_size;
	return heap_read(&gdbm->heap, element->at, key, data);
}

/* In the bucket that was reached: the element of @key, and its data. */
static int find(struct gdbm *gdbm, uint32_t hash, struct item key, struct element **found,
		struct item *data)
{
	struct element *element = gdbm->bucket->element;
	struct item there;
	int error;

	for (*found = element; *found < element + gdbm->bucket->count; (*found)++) {
		if ((*found)->hash != hash || (*found)->key_size != key.size)
			continue;
		error = read_pair(gdbm, *found, &there, data);
		if (error || !memcmp(there.bytes, key.bytes, key.size))
			return error;
	}
	return -ENOENT;
}

static int reach_key(struct gdbm *gdbm, struct item key, struct element **found, struct item *data)
{
	const uint32_t hash = hash_larson(key.bytes, key.size);
	const int error = reach(gdbm, hash);

	return error ? error : find(gdbm, hash, key, found, data);
}

static int double_directory(struct gdbm *gdbm)
{
	const size_t entries = (size_t)1 << gdbm->header.depth, bytes = entries * sizeof(uint64_t);
	uint64_t *larger = realloc(gdbm->directory, 2 * bytes);

	if (!larger)
		return -ENOMEM;
	memcpy(larger + entries, larger, bytes);
	gdbm->directory = larger;
	gdbm->header.directory = heap_take(&gdbm->heap, 2 * bytes);
	gdbm->header.depth++;
	return 0;
}

/* Does a split leave room for one of @hash, in a directory as deep as may be? */
static bool splits_help(const struct gdbm *gdbm, uint32_t hash)
{
	unsigned same = 0;

	for (unsigned i = 0; i < gdbm->bucket->count; i++)
		same += !low_bits(gdbm->bucket->element[i].hash ^ hash, DEPTH_MOST);
	return same < gdbm->elements;
}

/* Divide @old by its next bit between itself and @fresh, which is empty. */
static void divide(struct bucket *old, struct bucket *fresh)
{
	unsigned kept = 0;

	fresh->depth = ++old->depth;
	for (unsigned i = 0; i < old->count; i++) {
		if (old->element[i].hash >> (old->depth - 1) & 1)
			fresh->element[fresh->count++] = old->element[i];
		else
			old->element[kept++] = old->element[i];
	}
	old->count = kept;
}

/* Split the full bucket that was reached by @hash. */
static int split(struct gdbm *gdbm, uint32_t hash)
{
	struct bucket *old = gdbm->bucket, *fresh = calloc(1, gdbm->header.bucket_bytes);
	const uint32_t bit = 1u << old->depth;
	int error = fresh ? 0 : -ENOMEM;

	if (!error && old->depth == gdbm->header.depth)
		error = double_directory(gdbm);
	if (!error) {
		const uint64_t at = heap_take(&gdbm->heap, gdbm->header.bucket_bytes);

		divide(old, fresh);
		gdbm->block->dirty = true;
		for (uint64_t i = low_bits(hash, old->depth - 1) | bit;
		     i >> gdbm->header.depth == 0; i += 2ull * bit)
			gdbm->directory[i] = at;
		error = file_write(gdbm->heap.file, fresh, gdbm->header.bucket_bytes, at);
	}
	free(fresh);
	return error;
}

static int gdbm_get(struct table *table, struct item key, struct item *data)
{
	struct element *found;

	return reach_key((struct gdbm *)table, key, &found, data);
}

static int gdbm_put(struct table *table, struct item key, struct item data, bool replace)
{
	struct gdbm *gdbm = (struct gdbm *)table;
	struct element element = {.hash = hash_larson(key.bytes, key.size),
				  .key_size = (uint32_t)key.size,
				  .data_size = (uint32_t)data.size};
	struct element *there;
	struct item old;
	int found, error;

	if (key.size > ITEM_MOST || data.size > ITEM_MOST)
		return -EMSGSIZE;
	found = reach_key(gdbm, key, &there, &old);
	if (found != -ENOENT && (found || !replace))
		return found ? found : -EEXIST;
	while (found && gdbm->bucket->count == gdbm->elements) {
		if (!splits_help(gdbm, element.hash))
			return -ENOSPC;
		error = split(gdbm, element.hash);
		if (error || (error = reach(gdbm, element.hash)))
			return error;
	}
	element.at = !found && data.size <= old.size ? there->at
						     : heap_take(&gdbm->heap, key.size + data.size);
	error = heap_write(&gdbm->heap, element.at, key, data);
	if (error)
		return error;
	if (found)
		there = &gdbm->bucket->element[gdbm->bucket->count++];
	*there = element;
	gdbm->block->dirty = true;
	return 0;
}

static int gdbm_remove(struct table *table, struct item key)
{
	struct gdbm *gdbm = (struct gdbm *)table;
	struct element *found;
	struct item data;
	const int error = reach_key(gdbm, key, &found, &data);

	if (error)
		return error;
	*found = gdbm->bucket->element[--gdbm->bucket->count];
	gdbm->block->dirty = true;
	return 0;
}

/* at[0]: the entry of the directory, at[1]: the element. A bucket counts at its first entry. */
static int gdbm_scan(struct table *table, struct cursor *cursor, struct item *key,
		     struct item *data)
{
	struct gdbm *gdbm = (struct gdbm *)table;
	struct item unasked;

	for (; cursor->at[0] >> gdbm->header.depth == 0; cursor->at[0]++, cursor->at[1] = 0) {
		const int error = reach(gdbm, (uint32_t)cursor->at[0]);

		if (error)
			return error;
		if (cursor->at[0] >> gdbm->bucket->depth)
			continue;
		if (cursor->at[1] < gdbm->bucket->count)
			return read_pair(gdbm, &gdbm->bucket->element[cursor->at[1]++], key,
					 data ? data : &unasked);
	}
	return -ENOENT;
}

/* Everything that is in memory only. */
static int write_all(struct gdbm *gdbm)
{
	int error = blocks_flush(&gdbm->buckets);

	gdbm->header.end = gdbm->heap.end;
	if (!error)
		error = file_write(gdbm->heap.file, gdbm->directory,
				   sizeof(uint64_t) << gdbm->header.depth, gdbm->header.directory);
	if (!error)
		error = file_write(gdbm->heap.file, &gdbm->header, sizeof(gdbm->header), 0);
	return error;
}

static int gdbm_sync(struct table *table)
{
	struct gdbm *gdbm = (struct gdbm *)table;
	const int error = table->flags & TABLE_READ_ONLY ? 0 : write_all(gdbm);

	return error ? error : file_sync(gdbm->heap.file);
}

static int release(struct gdbm *gdbm, int error)
{
	error = file_close(gdbm->heap.file, error);
	blocks_end(&gdbm->buckets);
	free(gdbm->directory);
	heap_end(&gdbm->heap);
	free(gdbm);
	return error;
}

static int gdbm_close(struct table *table)
{
	struct gdbm *gdbm = (struct gdbm *)table;

	return release(gdbm, table->flags & TABLE_READ_ONLY ? 0 : write_all(gdbm));
}

/* A header, one empty bucket of depth 0, and a directory of that bucket. */
static int make_file(struct gdbm *gdbm, uint64_t bucket_bytes)
{
	struct bucket *bucket = calloc(1, bucket_bytes);
	int error = -ENOMEM;

	memcpy(gdbm->header.magic, magic, sizeof(magic));
	gdbm->header.bucket_bytes = (uint32_t)bucket_bytes;
	gdbm->heap.end = sizeof(gdbm->header);
	gdbm->header.directory = heap_take(&gdbm->heap, sizeof(uint64_t));
	gdbm->directory = malloc(sizeof(uint64_t));
	if (bucket && gdbm->directory) {
		gdbm->directory[0] = heap_take(&gdbm->heap, bucket_bytes);
		error = file_write(gdbm->heap.file, bucket, bucket_bytes, gdbm->directory[0]);
	}
	free(bucket);
	return error ? error : write_all(gdbm);
}

static int read_file(struct gdbm *gdbm)
{
	struct header *header = &gdbm->header;
	const int error = file_read(gdbm->heap.file, header, sizeof(*header), 0);

	if (error)
		return error;
	if (memcmp(header->magic, magic, sizeof(magic)) || header->depth > DEPTH_MOST ||
	    header->bucket_bytes < options[BUCKET].least ||
	    header->bucket_bytes > options[BUCKET].most || header->directory > header->end ||
	    heap_resume(&gdbm->heap, header->end))
		return -EBADMSG;
	gdbm->directory = malloc(sizeof(uint64_t) << header->depth);
	if (!gdbm->directory)
		return -ENOMEM;
	return file_read(gdbm->heap.file, gdbm->directory, sizeof(uint64_t) << header->depth,
			 header->directory);
}

static int gdbm_open(struct table **made, const char *path, unsigned flags, const uint64_t *values)
{
	struct gdbm *gdbm = calloc(1, sizeof(*gdbm));
	int error;

	if (!gdbm)
		return -ENOMEM;
	gdbm->heap.file = file_open(path, "", flags);
	error = gdbm->heap.file < 0 ? gdbm->heap.file : 0;
	if (!error)
		error = flags & TABLE_CREATE ? make_file(gdbm, values[BUCKET]) : read_file(gdbm);
	if (!error) {
		gdbm->elements = (gdbm->header.bucket_bytes - sizeof(struct bucket)) /
				 sizeof(struct element);
		error = blocks_begin(&gdbm->buckets, gdbm->heap.file, gdbm->header.bucket_bytes,
				     values[CACHE]);
	}
	if (error)
		return release(gdbm, error);
	*made = &gdbm->table;
	return 0;
}

const struct system gdbm_system = {
	.name = "gdbm",
	.summary = "gdbm's extendible hashing: a directory of buckets, pairs of any length",
	.traits = SYSTEM_DISK,
	.options = options,
	.open = gdbm_open,
	.get = gdbm_get,
	.put = gdbm_put,
	.remove = gdbm_remove,
	.scan = gdbm_scan,
	.sync = gdbm_sync,
	.close = gdbm_close,
};
