/*
 * operation.h - an operation of a cache as the replay takes it: what a key stream's columns
 * (stream.py, docs/lab/key-streams.md) are expanded into, and what fileset.c makes.
 */
#pragma once

#include "core/base/types.h"

/* Bits of a kind: lab/record/stream.py. */
#define KIND_OPERATION 7 /* enum hash_operation (hash/cache.h) */
#define KIND_FIND 0
#define KIND_INSERT 1
#define KIND_REMOVE 2
#define KIND_REPORT 5
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

/* One cache's, in the order of its operations; each has entries for those alone that have one. */
struct columns {
	const u8 *kinds;
	const u32 *objects;
	const u64 *first, *second;
	const u32 *roots;   /* a number for each key's first word */
	const u16 *lengths; /* NULL: keys without names */
	const char *names;  /* one behind the other, and 8 bytes more */
};

/*
 * Expand @n operations of @columns into @out. @came: a zero for each object; holds 1 + the
 * operation that brought it. The number of the first operation that removes or finds an object
 * which never came; @n: none.
 */
static inline u64 operation_expand(const struct columns *columns, u64 n, u64 *came,
				   struct operation *out)
{
	struct columns at = *columns;
	u64 i = 0;

	for (; i < n; i++) {
		unsigned operation = at.kinds[i] & KIND_OPERATION;
		bool found = at.kinds[i] & KIND_FOUND;
		struct operation *to = &out[i];

		*to = (struct operation){.kind = at.kinds[i], .object = NONE};
		if (operation == KIND_REPORT)
			continue;
		if (found || operation == KIND_INSERT || operation == KIND_REMOVE) {
			to->object = *at.objects++;
			if (operation != KIND_INSERT && !came[to->object])
				break;
		}
		if (operation == KIND_INSERT || (!found && operation != KIND_REMOVE)) {
			to->first = *at.first++;
			to->second = *at.second++;
			to->root = *at.roots++;
			if (at.lengths) {
				to->name = at.names;
				to->length = *at.lengths;
				at.names += *at.lengths++;
			}
			if (operation == KIND_INSERT)
				came[to->object] = i + 1;
		} else {
			const struct operation *from = &out[came[to->object] - 1];

			to->first = from->first;
			to->second = from->second;
			to->root = from->root;
			to->name = from->name;
			to->length = from->length;
		}
	}
	operation_rows(out, i);
	return i;
}

/*
 * Behind hash/cache.h with a name hash: a component of a path as the kernel hashes it
 * (fs/path/lockless/component.h), whole by a function that takes words as they come, by another
 * only so much of it as shows that it is no name.
 */
#define LONGEST_HASHED 256 /* NAME_MAX + 1 */
#if NAME_HASH_STREAMS
#define hash_of_component(salt, name, length) name_hash((uintptr_t)(salt), name, length)
#else
#define hash_of_component(salt, name, length)                                                      \
	name_hash((uintptr_t)(salt), name, min((u32)(length), (u32)LONGEST_HASHED))
#endif
