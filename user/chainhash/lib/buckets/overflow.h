/*
 * overflow.h - overflow pages: the text's buddy-in-waiting.
 *
 * While the table is in generation s (its last bucket is below 2^s), new overflow pages get the
 * logical numbers behind bucket 2^s - 1; the next generation's buckets come after them. spares[s]
 * counts the overflow pages up to and with split point s, so that
 *
 *	page of bucket b		b + spares[bits of b - 1]
 *	page n of split point s		2^s + spares[s - 1] + n
 *
 * An overflow page is cut into slots (eight of them, fewer on small pages), and one to eight slots
 * of a page are a *chunk*, which serves one bucket: a bucket that overflows by two records does not
 * take a whole page. A chunk's address is s << 27 | n << 3 | its first slot.
 *
 * Which slots are in use stands on overflow pages, too: a byte for each, in the order in which they
 * were made (their ordinal, spares[s - 1] + n). The page of ordinal k * page size is the bitmap of
 * as many pages from itself on. In memory it is @slots_used; sync writes what changed of it. The
 * first page of all is a bitmap, so that no chunk has address 0.
 */
#pragma once

#include "buckets/bucket.h"
#include "store/pool.h"

enum { NUMBER_BITS = 27, PAGES_MOST = 1 << (NUMBER_BITS - 3) };

/* The logical page of the overflow page with this ordinal. */
u64 overflow_page(const struct chainhash *t, u32 ordinal);

static inline u32 pages_before(const struct chainhash *t, unsigned point)
{
	return point ? t->spares[point - 1] : 0;
}

/* The ordinal of a chunk's page: UINT32_MAX if there is no such page. */
static inline u32 overflow_ordinal(const struct chainhash *t, u32 address)
{
	unsigned point = address >> NUMBER_BITS;
	u64 ordinal;

	if (point > top_bit(t->max_bucket))
		return UINT32_MAX;
	ordinal = (u64)pages_before(t, point) + (address >> 3 & (PAGES_MOST - 1));
	if (ordinal >= t->spares[point] || !(ordinal & (t->page_size - 1)))
		return UINT32_MAX;
	return (u32)ordinal;
}

/* How many overflow pages there are. */
static inline u32 overflow_count(const struct chainhash *t)
{
	return t->spares[top_bit(t->max_bucket)];
}

/*
 * Take @slots slots that are free, on a page that is in memory then, and clear them. The chunk's
 * head says how many it has. -EFBIG: the split point has 2^24 pages.
 */
int overflow_take(struct chainhash *t, u32 slots, struct view *chunk);

/* Give a chunk back. */
void overflow_give(struct chainhash *t, u32 address, u32 slots);

/* The chunk at @address, to be written to if @change: -EBADMSG if there can be none. */
int chunk_at(struct chainhash *t, u32 address, struct view *chunk, bool change);

/*
 * A way along chunks, each of which leads to the next: those of a bucket behind its primary page,
 * or those of a large record, which begin at @next. It goes on also when the page of the view at
 * hand is no longer in memory.
 */
struct chain {
	struct view view, before; /* @before: the view that @view is chained to, if it is a chunk */
	u32 next;		  /* address of the chunk behind @view */
	u32 number;		  /* of @view: 0 is a primary page */
	u32 mark;		  /* address of the view whose number was a power of two last */
};

/* Of chain_next() below: there is a chunk. */
int chain_follow(struct chainhash *t, struct chain *chain);

/* Go to a bucket's primary page: 1, or an error. */
static inline int chain_first(struct chainhash *t, u32 bucket, struct chain *chain)
{
	struct view *view = &chain->view;
	int error = 0;

	*view = (struct view){.size = t->page_size, .logical = primary_page(t, bucket)};
	view->base = page_get(t, view->logical, &error);
	if (unlikely(!view->base))
		return error;
	chain->next = view_next(view->base);
	chain->number = 0;
	return likely(view_sound(view->base, view->size)) ? 1 : -EBADMSG;
}

/* Go to the next chunk: 1; 0, there is none; or an error. */
static inline int chain_next(struct chainhash *t, struct chain *chain)
{
	return chain->next ? chain_follow(t, chain) : 0;
}

/*
 * Make room for an item of @size bytes behind a chain that ends in @view, where there is none: the
 * chunk, which @before leads to, is exchanged for a larger one, or @view gets a follower, which it
 * is then. Both may be written to; of a primary page @before is not looked at.
 */
int chain_extend(struct chainhash *t, struct view *before, struct view *view, u32 size);

/* Give back the chunks of a chain that begins at @address. */
void chain_give(struct chainhash *t, u32 address);

/* How many slots a chunk needs for @bytes, its head among them. */
static inline u32 slots_for(const struct chainhash *t, u32 bytes)
{
	return (bytes + t->slot_size - 1) / t->slot_size;
}

/* Put the account's changes on the bitmap pages. */
int overflow_store(struct chainhash *t);

/* Read all bitmap pages. */
int overflow_load(struct chainhash *t);
