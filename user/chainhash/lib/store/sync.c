/*
 * sync.c - a new state of the file: all of it, or none.
 *
 * Order: pages, the map from below, wait, the header, wait. Nothing of that writes over a page of
 * an older state. The marks of what changed are taken away at the very end, so that a sync that
 * failed is simply repeated. See store.h.
 */
#include "header.h"
#include "buckets/overflow.h"
#include "store/pool.h"
#include "store/store.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BATCH = 64 };

/* Pages that lie side by side in the file, to be written together. */
struct batch {
	struct chainhash *table;
	struct iovec vector[BATCH];
	u32 first; /* physical page */
	unsigned count;
	u8 *pages;	     /* BATCH pages for what is not in the pool */
	struct entry *entry; /* of the page that is added next */
};

static int batch_write(struct batch *batch)
{
	struct chainhash *t = batch->table;
	int error = -EPERM;

	if (!batch->count)
		return 0;
	/* A forked child would write over what its parent has put on the same free pages. */
	if (t->owner == getpid())
		error = write_all(t->store.descriptor, batch->vector, (int)batch->count,
				  (u64)batch->first << t->page_shift);
	if (!error && batch->first + batch->count > t->store.written)
		t->store.written = batch->first + batch->count;
	t->store.writes += batch->count;
	batch->count = 0;
	return error;
}

/*
 * Make a place for the page of entry @index of @level; what does not lie before it in the file is
 * written first. The page is then made in batch_buffer(), or is in the pool, and is added.
 */
static int batch_place(struct batch *batch, struct level *level, u64 index)
{
	int error = store_place(&batch->table->store, level, index);

	batch->entry = &level->entries[index];
	if (!error &&
	    (batch->count == BATCH || batch->entry->physical != batch->first + batch->count))
		error = batch_write(batch);
	if (!batch->count)
		batch->first = batch->entry->physical;
	return error;
}

static u8 *batch_buffer(const struct batch *batch)
{
	return batch->pages + (size_t)batch->count * batch->table->page_size;
}

static void batch_add(struct batch *batch, const u8 *page)
{
	u32 size = batch->table->page_size;

	if (batch->table->checksums)
		batch->entry->checksum = checksum(page, size);
	batch->vector[batch->count++] = (struct iovec){(void *)(uintptr_t)page, size};
}

int store_write_page(struct chainhash *t, u64 logical, const u8 *page)
{
	struct batch batch = {.table = t};
	int error = batch_place(&batch, &t->store.level[0], logical);

	if (error)
		return error;
	batch_add(&batch, page);
	return batch_write(&batch);
}

static int write_pages(struct batch *batch)
{
	struct chainhash *t = batch->table;
	const struct bits *changed = &t->pool.changed;
	int error = overflow_store(t);

	for (u64 i = bit_next(changed, 0); i != UINT64_MAX && !error;
	     i = bit_next(changed, i + 1)) {
		error = batch_place(batch, &t->store.level[0], i);
		if (!error)
			batch_add(batch, t->pages[i]);
	}
	return error;
}

/* Write page @index of @level of the map. */
static int write_map_page(struct batch *batch, unsigned level, u64 index)
{
	struct level *above = &batch->table->store.level[level], *below = above - 1;
	u64 fan = batch->table->page_size / sizeof(struct entry);
	int error = batch_place(batch, above, index);
	u8 *page = batch_buffer(batch);

	if (error)
		return error;
	memset(page, 0, batch->table->page_size);
	for (u64 i = 0; i < fan && index * fan + i < below->count; i++) {
		store32(page + i * 8, below->entries[index * fan + i].physical);
		store32(page + i * 8 + 4, below->entries[index * fan + i].checksum);
	}
	batch_add(batch, page);
	return 0;
}

/* Write the map's pages of @level of whose entries any is fresh. */
static int write_level(struct batch *batch, unsigned level)
{
	const struct bits *fresh = &batch->table->store.level[level - 1].fresh;
	u64 fan = batch->table->page_size / sizeof(struct entry);
	int error = 0;

	for (u64 next = bit_next(fresh, 0); next != UINT64_MAX && !error;
	     next = bit_next(fresh, (next / fan + 1) * fan))
		error = write_map_page(batch, level, next / fan);
	return error;
}

static int write_everything(struct chainhash *t)
{
	struct batch batch = {.table = t, .pages = malloc((size_t)BATCH * t->page_size)};
	int error = batch.pages ? 0 : -ENOMEM;

	if (!error)
		error = write_pages(&batch);
	if (!error)
		error = store_levels(t);
	for (unsigned level = 1; level <= t->store.levels && !error; level++)
		error = write_level(&batch, level);
	/* An empty table: the root has nothing fresh below it. */
	if (!error && !t->store.level[t->store.levels].entries[0].physical)
		error = write_map_page(&batch, t->store.levels, 0);
	if (!error)
		error = batch_write(&batch);
	free(batch.pages);
	return error;
}

static void clear(struct bits *bits)
{
	if (bits->count)
		memset(bits->words, 0, bits->count * sizeof(u64));
}

/* Wait for the disk; after an error nobody knows what is on it. */
static int wait_for_disk(struct chainhash *t)
{
	while (!t->no_flush && fdatasync(t->store.descriptor)) {
		if (errno == EINTR)
			continue;
		t->store.failed = true;
		return -errno;
	}
	return 0;
}

int store_write_header(struct chainhash *t, u64 sequence)
{
	u8 header[HEADER_SIZE];
	struct iovec vector = {header, HEADER_SIZE};
	int error;

	header_make(t, sequence, header);
	error = write_all(t->store.descriptor, &vector, 1, sequence % 2 * HEADER_PLACE);
	return error ? error : wait_for_disk(t);
}

int store_sync(struct chainhash *t)
{
	struct store *store = &t->store;
	int error;

	if (store->failed)
		return -EIO;
	t->changing = true;
	error = write_everything(t);
	/* Pages behind the last one written were taken and given back: the file has them all the
	 * same. */
	if (!error && store->written < store->end &&
	    ftruncate(store->descriptor, (off_t)((u64)store->end << t->page_shift)))
		error = -errno;
	if (!error)
		error = wait_for_disk(t);
	if (!error)
		error = store_write_header(t, store->sequence + 1);
	if (error)
		return error;
	store->sequence++;
	store->torn = false;
	clear(&t->pool.changed);
	clear(&t->bitmap_changed);
	for (unsigned i = 0; i <= store->levels; i++)
		clear(&store->level[i].fresh);
	/* The state is in the file; pages that can't be freed now will be by a later sync. */
	(void)store_reclaim(store);
	return 0;
}
