/*
 * walk.h - what verify.c and salvage.c share: they go over all of a table, which may be damaged,
 * note which chunks they have been led to, and report what is wrong.
 */
#pragma once

#include "buckets/overflow.h"

struct walk {
	struct chainhash *table;
	chainhash_report *report; /* or NULL */
	void *context;
	int64_t problems; /* reported so far */
	u8 *reached;	  /* slots of overflow pages, by ordinal; the caller frees it */
};

/* Nothing was reached yet: -ENOMEM. */
int walk_begin(struct walk *walk);

__attribute__((__format__(__printf__, 2, 3))) void problem(struct walk *walk, const char *format,
							   ...);

/* Note that @bucket leads to a chunk; a second chain that does is a problem, and false. */
bool walk_reach(struct walk *walk, const struct view *chunk, u32 bucket);

/* Report that @bucket's chain cannot be followed for @error. */
void walk_stopped(struct walk *walk, u32 bucket, int error);
