/*
 * operation.h - an operation of a cache as the replay takes it: what stream.py's columns are
 * expanded into, and what fileset.c makes.
 */
#pragma once

#include "core/base/types.h"

/* Bits of a kind: lab/record/stream.py. */
#define KIND_OPERATION 7 /* enum hash_operation (hash/cache.h) */
#define KIND_FIND 0
#define KIND_FOUND 8

struct operation {
	u64 first, second; /* the key; of a dentry parent and recorded name hash */
	const char *name;  /* of a dentry; with 8 readable bytes behind */
	u32 object;	   /* its number, or NONE */
	u32 root;	   /* of a page: which file's */
	u16 length;	   /* of its name */
	u8 kind;
	u8 unused;
	u32 finds; /* counted finds in a row that are all hits or all misses, from this one on */
};
#define NONE 0xffffffffu
#define FIND_ROW 256

/* Set `finds` of @count operations, of which a replay takes all or begins anywhere. */
static inline void operation_rows(struct operation *operations, u64 count)
{
	for (u64 i = count; i-- > 0;) {
		struct operation *at = &operations[i];
		bool goes_on = i + 1 < count && (i + 1) % FIND_ROW && at[1].kind == at->kind;

		at->finds = 0;
		if ((at->kind & KIND_OPERATION) == KIND_FIND)
			at->finds = 1 + (goes_on ? at[1].finds : 0);
	}
}
