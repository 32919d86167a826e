/*
 * engine.h - what an engine (engine.c), which is compiled once for each cache and structure, has of
 * the rest of the module (base.c), and what it tells the page.
 */
#pragma once

#include "lab/record/operation.h"

typedef u32 (*bucket_function)(u64 first, u64 second, u32 bits);
typedef u32 (*name_function)(u64 salt, const char *name, u32 length);

#define SHOWN 64 /* objects of a chain at most */

/* A key as the page shows it; the layout is known to web/engine.js. */
struct shown {
	u64 first, second; /* of a dentry parent and name hash */
	const char *name;
	u32 length, object; /* of the name; the object's number, or NONE */
};

/* An operation, and where it leads. */
struct trace {
	u32 kind;   /* lab/record/operation.h */
	u32 bucket; /* of trees nothing */
	u32 walked; /* objects that the lookup visits, in order the first of `chain` */
	u32 length; /* of all the chain, of which SHOWN are here; of trees as many as were walked */
	struct shown key;
	struct shown chain[SHOWN];
};

/* The operations that all engines replay. */
extern struct operation *operations;
extern u32 operation_count;

/* What engines have in common at a time: one is at work. */
extern struct trace trace;
extern u32 *sizes; /* of buckets or trees, as they were last walked */

/* Zeroed memory until heap_begin() is called: an engine's, which begins anew with each choice.
 * NULL: there is none. */
void *heap_take(u64 bytes);
/* All that was taken since the operations came is free again. */
void heap_begin(void);

/* Stop the replay with a sentence for the page. */
void complain(const char *sentence);
