/*
 * store.h - pages in a file, of which every synced state stays whole until the next one is.
 *
 * The file has two headers and, from physical page @first on, pages of one size. The map says where
 * each logical page is: entries of eight bytes, as many to a page as there is room, those pages
 * mapped by another level, up to one root, whose place is in the header (docs: format.md).
 *
 * A page that is written after a sync goes to a physical page that no synced state has: it is
 * *fresh*, and may be written again in place until the next sync. What it leaves is *retired*, and
 * is free when the next sync has come to its end and no reader is at a state before it.
 *
 * A sync writes the pages that changed, then those of the map that did, waits for the disk, writes
 * the header that is not the newest one, and waits again.
 */
#pragma once

#include "table.h"

enum {
	HEADER_SIZE = 512,
	HEADER_PLACE = 4096, /* of the second one */
	PAGES_PLACE = 8192   /* physical pages lie at their number times their size, from here on */
};

/* What a page is that has never been written to: zero bytes. */
extern u8 empty_page[PAGE_SIZE_MOST];

/* Room for @count entries of a level: -ENOMEM. */
int level_reserve(struct level *level, u64 count);

static inline bool store_has_page(const struct store *store, u64 logical)
{
	return logical < store->level[0].count && store->level[0].entries[logical].physical;
}

/* Read a page that is there. -EBADMSG: its checksum is wrong. */
int store_read_page(struct chainhash *t, u64 logical, u8 *page);

void store_drop_page(struct store *store, u64 logical);

/* A place that is ours to write for entry @index of @level: -EFBIG beyond 2^32 pages. */
int store_place(struct store *store, struct level *level, u64 index);

/* Read the map of the state that @header describes, and see which pages are free. */
int store_load(struct chainhash *t);

/* Make free what no state needs any more. */
int store_reclaim(struct store *store);

/* How many levels the map has for so many logical pages, 2^32 at most. */
unsigned store_levels_for(const struct chainhash *t, u64 pages);

/* The map's levels for as many logical pages as there are; their entries have room. */
int store_levels(struct chainhash *t);

/* sync.c: write a page that changed. */
int store_write_page(struct chainhash *t, u64 logical, const u8 *page);

/*
 * sync.c: write the header of a state whose pages are on the disk, and wait until it is there, too.
 * After an error of the disk the handle takes no more changes.
 */
int store_write_header(struct chainhash *t, u64 sequence);

/* sync.c: write everything and the header. See chainhash_sync(). */
int store_sync(struct chainhash *t);

/* It can be loaded anew by a reader: a writer's free pages and retired ones are lost. */
void store_free(struct store *store);

/* Map the file for reading, up to its last physical page; @header has the root. */
int map_open(struct chainhash *t);
void map_close(struct chainhash *t);
u8 *map_page(struct chainhash *t, u64 logical, int *error);

/* The checksum of a page: CRC-32C; and the same, as a machine without SSE 4.2 computes it. */
u32 checksum(const u8 *bytes, size_t size);
u32 checksum_by_tables(const u8 *bytes, size_t size);

/* io.c: all of it. A file that ends before: -EBADMSG. */
struct iovec;
int read_all(int descriptor, u8 *bytes, size_t size, u64 offset);
int write_all(int descriptor, struct iovec *vector, int count, u64 offset);
