/*
 * big.h - records that fit on no page: key and data in chunks of their own, one after the other.
 *
 * Chunks are as large as a page but for the last. Each has a chunk's head (bucket.h) with no
 * records and the address of the next; what follows is the key's bytes and then the data's.
 */
#pragma once

#include "buckets/overflow.h"

/* Write a record. Nothing is taken if it fails. */
int big_write(struct chainhash *t, struct chainhash_item key, struct chainhash_item data,
	      u32 *address);

/*
 * Give the chunks back of the record that was last written (t->written) or read (t->read). They are
 * known from then, so that no page has to be read, which might fail.
 */
void big_give(struct chainhash *t, struct chunks *chunks);

/*
 * The next chunk of a record of which @left bytes are to come, one at least: how many of them are
 * on it, or an error.
 */
int big_part(struct chainhash *t, struct chain *chain, u64 left);

/* Does it have this key? 1: it does; 0; or an error. */
int big_equal(struct chainhash *t, const struct item *item, struct chainhash_item key);

/*
 * Put its key and data together in t->big, where @item has them then. Pages that the caller has
 * looked at may be gone from memory.
 */
int big_read(struct chainhash *t, struct item *item);
