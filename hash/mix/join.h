/*
 * join.h - make one word of a key's two parts, for functions that take one word.
 *
 * @sequential is the part that runs on by ones (page index, block, inode number, name hash), so that a
 * multiplicative function spreads a run evenly; @other is an address or a device.
 */
#ifndef HASH_MIX_JOIN_H
#define HASH_MIX_JOIN_H

#include "hash/word.h"

/* As the old functions do: keys whose sums are equal collide. */
static __always_inline hash_word hash_sum(u64 sequential, u64 other)
{
	return (hash_word)sequential + (hash_word)other;
}

/* A large odd factor keeps the parts of any two real keys from cancelling. One instruction more. */
#define HASH_JOIN_FACTOR 0x5bd1e995u

static __always_inline hash_word hash_join(u64 sequential, u64 other)
{
	return (hash_word)sequential + (hash_word)other * HASH_JOIN_FACTOR;
}

#endif /* HASH_MIX_JOIN_H */
