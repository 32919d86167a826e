/*
 * given.h - what lab 2's sizing.h is told: what a table is for, and what machine it stands in.
 *
 * All is as the grader's simulation has it (simulate.c). The table lies in memory, and behind it
 * its objects. A lookup reads its bucket, and walks the chain: an access to each object that it
 * visits, to the first bytes, where its key is and the pointer to the next one. It ends at the
 * object that it looks for, or at the chain's end. Nothing else comes into the caches.
 */
#pragma once

#define SIZING_CACHES 3

struct sizing_load {
	u64 objects;	  /* in the table, each looked for as often as the others */
	u32 hits;	  /* of 1,000 lookups; the others find nothing */
	u32 bucket_bytes; /* no more than a line of the caches, a power of two */
	u32 object_bytes; /* from one object to the next: one line, or an odd number of lines */
	u32 least_bits;	  /* of the smallest table that there may be */
	u32 most_bits;	  /* of the largest one that there is memory for */
};

/* The nearest cache is the first, and each is larger than the one before. */
struct sizing_machine {
	u64 bytes[SIZING_CACHES];
	u32 ways[SIZING_CACHES];     /* lines of a set: the least recently used goes first */
	u32 cost[SIZING_CACHES + 1]; /* cycles of an access that finds its line there;
				      * cost[caches]: in memory */
	u32 caches;		     /* how many there are: 2 or 3 */
	u32 line;		     /* bytes that are fetched at a time, a power of two */
};
