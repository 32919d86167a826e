/*
 * records.h - where a record is.
 */
#pragma once

#include "buckets/overflow.h"

/* What a lookup has found, or where it ended. */
struct lookup {
	u32 hash, bucket;
	u16 tag;
	u32 index;	    /* of the record on the view at hand */
	struct chain chain; /* up to that view */
	struct item item;
};

/* Look for @key: 1, it is there; 0, it is not; or an error. */
int record_find(struct chainhash *t, struct lookup *lookup, struct chainhash_item key);
