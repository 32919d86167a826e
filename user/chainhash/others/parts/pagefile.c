/* pagefile.c - a table of buckets of one page each; pagefile.h tells of the files and limits. */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "file.h"
#include "page.h"
#include "pagefile.h"

struct pagefile {
	struct table table;
	const struct pagefile_kind *kind;
	unsigned splits;
	size_t size;			/* of a page */
	uint64_t page_bytes, bit_bytes; /* of the two files */
	struct blocks pages, bits;	/* of .pag and .dir: one block each */
	struct block *loaded;		/* the page in memory */
	uint8_t *page, *sibling;	/* its bytes; the other half of a split */
};

int pagefile_bit(struct pagefile *file, uint64_t bit)
{
	const uint64_t byte = bit / 8;
	struct block *block;
	int error;

	if (byte >= file->bit_bytes)
		return 0;
	error = block_read(&file->bits, byte - byte % BIT_BLOCK, &block);
	if (error < 0)
		return error;
	return ((uint8_t *)block->bytes)[byte % BIT_BLOCK] >> bit % 8 & 1;
}

static int set_bit(struct pagefile *file, uint64_t bit)
{
	const uint64_t byte = bit / 8, end = byte - byte % BIT_BLOCK + BIT_BLOCK;
	struct block *block;
	int error = block_read(&file->bits, end - BIT_BLOCK, &block);

	if (error < 0)
		return error;
	((uint8_t *)block->bytes)[byte % BIT_BLOCK] |= (uint8_t)(1u << bit % 8);
	block->dirty = true;
	error = block_write(&file->bits, block);
	if (error)
		block_forget(block);
	else if (file->bit_bytes < end)
		file->bit_bytes = end;
	return error;
}

static int load_page(struct pagefile *file, uint64_t page)
{
	const int read = block_read(&file->pages, page * file->size, &file->loaded);

	if (read < 0)
		return read;
	file->page = file->loaded->bytes;
	if (read && !page_sound(file->page, file->size)) {
		block_forget(file->loaded);
		return -EBADMSG;
	}
	return 0;
}

static void grown(struct pagefile *file, uint64_t page)
{
	if (file->page_bytes < (page + 1) * file->size)
		file->page_bytes = (page + 1) * file->size;
}

/* Write the loaded page; if it cannot be written, it is no longer loaded. */
static int write_page(struct pagefile *file, uint64_t page)
{
	int error;

	file->loaded->dirty = true;
	error = block_write(&file->pages, file->loaded);
	if (error)
		block_forget(file->loaded);
	else
		grown(file, page);
	return error;
}

/* Find and load the page of @hash. */
static int reach(struct pagefile *file, uint32_t hash, struct place *place)
{
	const int error = file->kind->walk(file, hash, place);

	return error ? error : load_page(file, place->page);
}

static uint32_t hash_of(const struct pagefile *file, struct item key)
{
	return file->kind->hash(key.bytes, key.size);
}

/*
 * Would a pair of @cost bytes and @hash fit after as many splits as may be made? Those pairs of the
 * full page that agree with it in all bits revealed by then stay with it.
 */
static bool splits_help(const struct pagefile *file, uint32_t hash, size_t cost,
			const struct place *place)
{
	const unsigned depth = place->depth + file->splits;
	const uint32_t mask = depth < HASH_BITS ? (1u << depth) - 1 : UINT32_MAX;
	struct item key, data;

	for (unsigned i = 0; page_pair(file->page, file->size, i, &key, &data); i++)
		if (!((hash_of(file, key) ^ hash) & mask))
			cost += page_cost(key, data);
	return cost <= page_capacity(file->size);
}

/*
 * Divide the loaded page at @place by the next bit of the hash. The new half is written first, so
 * that an error in between leaves pairs twice, never nowhere. -EBADMSG: all bits are taken, which
 * only a damaged bitmap says of a page that a split would help.
 */
static int split(struct pagefile *file, const struct place *place)
{
	struct item key, data;
	unsigned i = 0;
	uint32_t bit;
	int error;

	if (place->depth >= HASH_BITS)
		return -EBADMSG;
	bit = 1u << place->depth;
	page_clear(file->sibling);
	while (page_pair(file->page, file->size, i, &key, &data)) {
		if (hash_of(file, key) & bit) {
			page_add(file->sibling, file->size, key, data);
			page_remove(file->page, file->size, i);
		} else {
			i++;
		}
	}
	error = file_write(file->pages.file, file->sibling, file->size,
			   (place->page | bit) * file->size);
	if (error) {
		block_forget(file->loaded);
		return error;
	}
	grown(file, place->page | bit);
	error = write_page(file, place->page);
	return error ? error : set_bit(file, place->bit);
}

int pagefile_get(struct table *table, struct item key, struct item *data)
{
	struct pagefile *file = (struct pagefile *)table;
	struct item same_key;
	struct place place;
	int found, error = reach(file, hash_of(file, key), &place);

	if (error)
		return error;
	found = page_find(file->page, file->size, key);
	if (found < 0)
		return -ENOENT;
	page_pair(file->page, file->size, (unsigned)found, &same_key, data);
	return 0;
}

/* Try once: 0 and negative errnos are final, 1 says that the page was split. */
static int put_or_split(struct pagefile *file, struct item key, struct item data, bool replace)
{
	const uint32_t hash = hash_of(file, key);
	const size_t cost = page_cost(key, data);
	struct place place;
	int found, error = reach(file, hash, &place);

	if (error)
		return error;
	found = page_find(file->page, file->size, key);
	if (found >= 0 && !replace)
		return -EEXIST;
	if (found >= 0) /* in memory only: it leaves the file with the write that brings the new */
		page_remove(file->page, file->size, (unsigned)found);
	if (cost <= page_free(file->page, file->size)) {
		page_add(file->page, file->size, key, data);
		return write_page(file, place.page);
	}
	if (!splits_help(file, hash, cost, &place)) {
		block_forget(file->loaded);
		return -ENOSPC;
	}
	error = split(file, &place);
	return error ? error : 1;
}

int pagefile_put(struct table *table, struct item key, struct item data, bool replace)
{
	struct pagefile *file = (struct pagefile *)table;
	int result;

	/* Each item by itself, too: sums of sizes wrap around. */
	if (key.size > PAGE_MOST || data.size > PAGE_MOST ||
	    page_cost(key, data) > page_capacity(file->size))
		return -EMSGSIZE;
	do
		result = put_or_split(file, key, data, replace);
	while (result > 0);
	return result;
}

int pagefile_remove(struct table *table, struct item key)
{
	struct pagefile *file = (struct pagefile *)table;
	struct place place;
	int found, error = reach(file, hash_of(file, key), &place);

	if (error)
		return error;
	found = page_find(file->page, file->size, key);
	if (found < 0)
		return -ENOENT;
	page_remove(file->page, file->size, (unsigned)found);
	return write_page(file, place.page);
}

/* What is on a page but is not found by its key has been damaged. */
static int data_of(struct table *table, struct item key, struct item *data)
{
	const int error = pagefile_get(table, key, data);

	return error == -ENOENT ? -EBADMSG : error;
}

/* at[0]: the page's number, at[1]: the pair's in it. The data cost an access of their own. */
int pagefile_scan(struct table *table, struct cursor *cursor, struct item *key, struct item *data)
{
	struct pagefile *file = (struct pagefile *)table;
	struct item same_data;

	for (; cursor->at[0] * file->size < file->page_bytes; cursor->at[0]++, cursor->at[1] = 0) {
		const int error = load_page(file, cursor->at[0]);

		if (error)
			return error;
		if (page_pair(file->page, file->size, (unsigned)cursor->at[1], key, &same_data)) {
			cursor->at[1]++;
			return data ? data_of(table, *key, data) : 0;
		}
	}
	return -ENOENT;
}

int pagefile_sync(struct table *table)
{
	struct pagefile *file = (struct pagefile *)table;
	const int error = file_sync(file->pages.file);

	return error ? error : file_sync(file->bits.file);
}

int pagefile_close(struct table *table)
{
	struct pagefile *file = (struct pagefile *)table;
	const int error = file_close(file->bits.file, file_close(file->pages.file, 0));

	blocks_end(&file->pages);
	blocks_end(&file->bits);
	free(file->sibling);
	free(file);
	return error;
}

/* Open one of the two files and have its block; @bytes: its size. */
static int open_file(struct blocks *blocks, const char *path, const char *suffix, unsigned flags,
		     size_t block, uint64_t *bytes)
{
	int64_t size;

	blocks->file = file_open(path, suffix, flags);
	if (blocks->file < 0)
		return blocks->file;
	size = file_size(blocks->file);
	if (size < 0)
		return (int)size;
	*bytes = (uint64_t)size;
	return blocks_begin(blocks, blocks->file, block, block);
}

int pagefile_open(const struct pagefile_kind *kind, struct table **made, const char *path,
		  unsigned flags, size_t bucket, unsigned splits)
{
	struct pagefile *file = calloc(1, sizeof(*file));
	int error = -ENOMEM;

	if (!file)
		return -ENOMEM;
	file->kind = kind;
	file->splits = splits ? splits : kind->splits;
	file->size = bucket;
	file->pages.file = file->bits.file = -1;
	file->sibling = malloc(bucket);
	if (file->sibling)
		error = open_file(&file->pages, path, ".pag", flags, bucket, &file->page_bytes);
	if (!error)
		error = open_file(&file->bits, path, ".dir", flags, BIT_BLOCK, &file->bit_bytes);
	if (error) {
		pagefile_close(&file->table);
		return error;
	}
	*made = &file->table;
	return 0;
}
