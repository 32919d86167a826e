/*
 * walk.h - what verify.c and salvage.c share: they go over all of a table, which may be damaged,
 * note which chunks they have been led to, and report what is wrong.
 */
#pragma once

#include "buckets/big.h"

struct walk {
	struct chainhash *table;
	chainhash_report *report; /* or NULL */
	void *context;
	int64_t problems; /* reported so far */
	int error;	  /* ends it: no memory, which is no problem; of a salvage's new table */
	const char *what; /* where it is: "bucket" or "overflow page", and which; NULL: nowhere */
	u32 number;
	u8 *reached; /* slots of overflow pages, by ordinal */
	u8 *page;    /* the view at hand */
};

/* Nothing was reached yet. Errors: of reading bitmaps, and -ENOMEM. walk_end() is called in any
 * case. */
void walk_begin(struct walk *walk);
void walk_end(struct walk *walk);

/* Something cannot be looked at: for want of memory that is the walk's end. */
static inline void walk_failed(struct walk *walk, int error)
{
	if (error == -ENOMEM)
		walk->error = error;
}

/* Report what is wrong at the place at hand, unless the walk has come to its end. */
__attribute__((__format__(__printf__, 2, 3))) void problem(struct walk *walk, const char *format,
							   ...);

/*
 * Look at a sound view: at a copy of it, since to look further lets go of its page.
 */
typedef void walk_visit(struct walk *walk, const struct view *view);
void walk_view(struct walk *walk, struct view view, walk_visit *visit);

/* Look at all views of a bucket, as far as its chain can be followed. */
void walk_bucket(struct walk *walk, u32 bucket, walk_visit *visit);

/* Put a large record together, in place of what stands for it: false, it is lost, and reported. */
bool walk_big(struct walk *walk, struct item *item);
