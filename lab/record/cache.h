/*
 * cache.h - one cache's table around objects that have a key and nothing else: what a replay has in
 * place of pages, buffers, inodes, dentries, swapped pages and paths. For replay.c and the engine
 * of the playground (lab/playground/wasm), so that both count alike.
 *
 * Who includes it says which cache's it is (REPLAY_PAGE ...); it gives TABLE, T(name), struct
 * object, struct key, compare(), and one such cache: its table, objects and counters, and change().
 */
#pragma once

#include "hash/cache.h"
#include "core/kernel.h"
#include "lab/record/operation.h"

/* CACHE_WORDS: as DEFINE_HASH_CACHE() says them of the kernel's. */
#if defined(REPLAY_PAGE)
#define TABLE page_table
#define TABLE_HEADER PAGE_TABLE_HEADER
#define CACHE_WORDS                                                                                \
	.number = HASH_page, .name = "page", .title = "Page", .objects = "pages",                  \
	.finder = "find_page", .function = CONFIG_PAGE_HASH, .structure = CONFIG_PAGE_TABLE
#elif defined(REPLAY_BUFFER)
#define TABLE buffer_table
#define TABLE_HEADER BUFFER_TABLE_HEADER
#define CACHE_WORDS                                                                                \
	.number = HASH_buffer, .name = "buffer", .title = "Buffer", .objects = "buffers",          \
	.finder = "find_buffer", .function = CONFIG_BUFFER_HASH, .structure = CONFIG_BUFFER_TABLE
#elif defined(REPLAY_INODE)
#define TABLE inode_table
#define TABLE_HEADER INODE_TABLE_HEADER
#define CACHE_WORDS                                                                                \
	.number = HASH_inode, .name = "inode", .title = "Inode", .objects = "inodes",              \
	.finder = "find_inode", .function = CONFIG_INODE_HASH, .structure = CONFIG_INODE_TABLE
#elif defined(REPLAY_SWAP)
#define TABLE swap_table
#define TABLE_HEADER SWAP_TABLE_HEADER
#define CACHE_WORDS                                                                                \
	.number = HASH_swap, .name = "swap", .title = "Swap", .objects = "pages",                  \
	.finder = "find_swap_page", .function = CONFIG_SWAP_HASH, .structure = CONFIG_SWAP_TABLE
#elif defined(REPLAY_PATH)
#define TABLE path_table
#define TABLE_HEADER PATH_TABLE_HEADER
#define CACHE_WORDS                                                                                \
	.number = HASH_path, .name = "path", .title = "Path", .objects = "paths",                  \
	.finder = "direct_find", .function = CONFIG_PATH_HASH, .structure = CONFIG_PATH_TABLE
#else
#define TABLE dentry_table
#define TABLE_HEADER DENTRY_TABLE_HEADER
#define CACHE_WORDS                                                                                \
	.number = HASH_dentry, .name = "dentry", .title = "Dentry", .objects = "dentries",         \
	.finder = "d_lookup", .function = CONFIG_DENTRY_HASH, .structure = CONFIG_DENTRY_TABLE
#endif

/* A bucket that has places, and chains behind them (hash/table/tagged.h), takes the memory of eight
 * others: so many more are asked for. */
#ifdef REPLAY_TAGGED
#define WORDS_BITS 3
#else
#define WORDS_BITS 0
#endif

#define TABLE_PASTE_(a, b) a##_##b
#define TABLE_PASTE(a, b) TABLE_PASTE_(a, b)

struct object {
	u64 first, second; /* of a dentry parent and name hash, as this choice computes it */
	const char *name;
	u32 length;
	bool there;
	struct TABLE_PASTE(TABLE, link) link;
};

struct key {
	u64 first, second;
	const char *name;
	u32 length;
	u64 *compares;
};

#undef TABLE_PASTE
#undef TABLE_PASTE_
#define TABLE_OBJECT struct object
#define TABLE_LINK link
#define TABLE_KEY struct key
#ifdef REPLAY_SWAP
#define TABLE_ORDER(object) ((object)->second << 8 | (object)->first) /* mm/swap/swap.h: entries   \
								       */
#else
#define TABLE_ORDER(object) ((object)->second)
#endif
#define TABLE_TAG(object) ((object)->first >> 16) /* of paths: fs/path/direct/find.h */
#define TABLE_KEY_TAG(key) TABLE_TAG(key)
#include TABLE_HEADER

/* As page_compare(), buffer_compare(), inode_compare(), dentry_compare(), compare() of
 * mm/swap/table.c and compare_signatures(): what is compared first, what counts as a compare, what
 * the sign is. */
static __always_inline int compare(const struct object *object, const struct key *key)
{
#if defined(REPLAY_PAGE) || defined(REPLAY_BUFFER) || defined(REPLAY_INODE)
	if (object->second != key->second)
		return object->second < key->second ? -1 : 1;
	++*key->compares;
	if (object->first != key->first)
		return object->first < key->first ? -1 : 1;
	return 0;
#elif defined(REPLAY_SWAP)
	if (object->second != key->second)
		return object->second < key->second ? -1 : 1;
	if (object->first != key->first)
		return object->first < key->first ? -1 : 1;
	++*key->compares;
	return 0;
#elif defined(REPLAY_PATH)
	++*key->compares;
	return object->second != key->second;
#else
	if (object->second != key->second || object->first != key->first)
		return 1;
	++*key->compares;
	return object->length != key->length || memcmp(object->name, key->name, key->length) != 0;
#endif
}

/* ---- the cache: who includes this makes its table and objects -------------------------------- */

static struct TABLE table;
static struct T(root) * roots;
static struct object *objects;
static struct hash_counters counters[NR_CPUS];
static struct hash_cache cache = {CACHE_WORDS, .counters = counters};

/* The insert or remove @from, of a key whose second word is @second: NULL, or why it cannot be. */
static const char *change(const struct operation *from, u32 bucket, u64 second)
{
	struct object *object = &objects[from->object];
	bool insert = (from->kind & KIND_OPERATION) == HASH_INSERT;

	if (object->there == insert)
		return insert ? "an object is inserted that is there already"
			      : "an object is removed that is not there";
	object->there = insert;
	if (insert) {
		object->first = from->first;
		object->second = second;
		object->name = from->name;
		object->length = from->length;
		T(insert)(&table, &roots[from->root], bucket, object);
		counters[0].inserts++;
	} else {
		T(remove)(&table, &roots[from->root], bucket, object);
		counters[0].removes++;
	}
	return NULL;
}
