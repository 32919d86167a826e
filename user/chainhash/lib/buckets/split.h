/*
 * split.h - linear hashing: the table grows by one bucket at a time, in order.
 */
#pragma once

#include "buckets/bucket.h"

/* Set the last bucket, and the masks that follow from it. */
void set_buckets(struct chainhash *t, u32 max_bucket);

/* Is the table to grow before a record whose item has @size bytes is put? */
bool split_wanted(const struct chainhash *t, u32 size);

/* Add a bucket and move to it what belongs there. After an error nothing has changed. */
int split(struct chainhash *t);
