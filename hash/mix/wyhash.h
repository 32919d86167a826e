/*
 * wyhash.h - a folded multiply in the manner of wyhash (Wang Yi): the halves of a 128-bit product,
 * xored.
 *
 * One multiplication for a key of 16 bytes. A part that equals its constant makes the product 0
 * whatever the other part is; with addresses and small numbers that does not happen. No secret.
 */
#pragma once

#include "hash/word.h"

#define HASH_WYHASH_A 0xa0761d6478bd642full
#define HASH_WYHASH_B 0xe7037ed1a0b428dbull

static __always_inline u64 hash_fold_multiply(u64 a, u64 b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
}

static __always_inline u64 hash_wyhash(u64 a, u64 b)
{
	return hash_fold_multiply(a ^ HASH_WYHASH_A, b ^ HASH_WYHASH_B);
}
