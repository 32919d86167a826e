/*
 * join.h - make one word of a key's two parts by adding them, for functions that take one word.
 *
 * @sequential is the part that runs on by ones (page index, block, inode number, name hash), so
 * that a multiplicative function spreads a run evenly; @other is an address or a device. Keys whose
 * sums are equal collide, as in the old functions; addresses lie further apart than most runs are
 * long.
 */
#pragma once

#include "hash/word.h"

static __always_inline hash_word hash_sum(u64 sequential, u64 other)
{
	return (hash_word)sequential + (hash_word)other;
}
