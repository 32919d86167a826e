/*
 * records.h - where a record is.
 */
#pragma once

#include "buckets/bucket.h"

/* What a lookup has found, or where it ended. */
struct lookup {
	u32 hash, bucket;
	u8 tag;
	u32 index;		  /* of the record on @view */
	struct view view, before; /* @before: the view that @view is chained to, if it is a chunk */
	struct item item;
};

/* Look for @key: 1, it is there; 0, it is not; or an error. */
int record_find(struct chainhash *t, struct lookup *lookup, struct chainhash_item key);
