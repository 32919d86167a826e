/*
 * cache.h - one cache's table around objects that have a key and nothing else: what a replay has in
 * place of pages, buffers, inodes, dentries and paths. For replay.c and for the playground's engine
 * (lab/playground/wasm), so that both count alike.
 *
 * Who includes it says which cache's it is (REPLAY_PAGE ...); it gives TABLE, T(name), struct
 * object, struct key and compare().
 */
#pragma once

#include "hash/cache.h"
#include "core/kernel.h"

#if defined(REPLAY_PAGE)
#define TABLE page_table
#define TABLE_HEADER PAGE_TABLE_HEADER
#elif defined(REPLAY_BUFFER)
#define TABLE buffer_table
#define TABLE_HEADER BUFFER_TABLE_HEADER
#elif defined(REPLAY_INODE)
#define TABLE inode_table
#define TABLE_HEADER INODE_TABLE_HEADER
#elif defined(REPLAY_PATH)
#define TABLE path_table
#define TABLE_HEADER PATH_TABLE_HEADER
#else
#define TABLE dentry_table
#define TABLE_HEADER DENTRY_TABLE_HEADER
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
#define TABLE_ORDER(object) ((object)->second)
#define TABLE_TAG(object) ((object)->first >> 16) /* of paths: fs/path/direct/find.h */
#define TABLE_KEY_TAG(key) TABLE_TAG(key)
#include TABLE_HEADER

/* As page_compare(), buffer_compare(), inode_compare(), dentry_compare() and compare_signatures():
 * what is compared first, what counts as a compare, what the sign is. */
static __always_inline int compare(const struct object *object, const struct key *key)
{
#if defined(REPLAY_PAGE) || defined(REPLAY_BUFFER) || defined(REPLAY_INODE)
	if (object->second != key->second)
		return object->second < key->second ? -1 : 1;
	++*key->compares;
	if (object->first != key->first)
		return object->first < key->first ? -1 : 1;
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
