/*
 * shared.h - what hash functions share that are not the default kernel's: constants of old kernels,
 * shifts, loops over a name, the numbers of the keyed ones. hash/choose.py has it included before
 * the chosen functions, where one of them is not a default.
 *
 * Shifts by the table's size: hash_right() and hash_shift() are defined for all counts below 64, as
 * x86's own shifts of a 32-bit register are not.
 */
#pragma once

#include "hash/word.h"

#define HASH_SHARED /* for hash/random.c: some function may be keyed */

/* 2^32 divided by the golden ratio, as a prime: the multiplier of Lever 1999, section 5.1. */
#define HASH_G32 2654435761u

/* Linux 2.6 and 3.x (Santos 2004): primes near the same ratio with few bits set, so that shifts
 * will do. */
#define HASH_GOLDEN_PRIME ((hash_word)(HASH_WORD_BITS == 32 ? 0x9e370001u : 0x9e37fffffffc0001u))

/* The cache line: what addresses of slab objects are divided by. 32 on the papers' machines. */
#define HASH_L1_BYTES 64

/* Linux 2.4 takes the mapping in the inode: its place displaces all addresses alike, so that it
 * need not be exact. */
#define HASH_MAPPING_OFFSET 160

#define hash_mask(bits) ((1u << (bits)) - 1)
#define hash_right(word, count) ((hash_word)((u64)(hash_word)(word) >> (count)))

/* Left by a count that may be negative: then right. */
static __always_inline hash_word hash_shift(hash_word value, int count)
{
	return (hash_word)(count < 0 ? (u64)value >> -count : (u64)value << count);
}

/* A swap entry as Linux 2.2 and 2.4 have it, for those of their functions that hash it. */
#define hash_swap_entry(type, slot) ((u64)(type) << 1 | (slot) << 8)

/*
 * Name hashes that are a step repeated: h is @begin, then for each byte c, or each word w of eight
 * bytes, @next of h and it; the hash is @end of the last h. i is the number of the byte.
 */
#define HASH_BYTES(type, begin, next, end)                                                         \
	static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)               \
	{                                                                                          \
		type h = begin;                                                                    \
                                                                                                   \
		for (size_t i = 0; i < length; i++) {                                              \
			const u8 c = (u8)name[i];                                                  \
                                                                                                   \
			h = next;                                                                  \
		}                                                                                  \
		return end;                                                                        \
	}
#define HASH_WORDS(type, begin, next, end)                                                         \
	static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)               \
	{                                                                                          \
		type h = begin;                                                                    \
                                                                                                   \
		while (length) {                                                                   \
			const u64 w = hash_take(u64, &name, &length);                              \
                                                                                                   \
			h = next;                                                                  \
		}                                                                                  \
		return end;                                                                        \
	}

/*
 * The random numbers of the keyed functions, drawn once at boot (hash/keys.h). Each is expanded
 * from one seed by SplitMix64 (Steele 2014), so that a test can give a seed and know every number.
 */
#define HASH_TABULATION_BYTES 16
/* One to add, one for the length, 64 for the words of a name of 256 bytes. */
#define HASH_MULTILINEAR_KEYS 66

extern u64 hash_siphash_key[2];
extern u64 hash_multilinear_keys[HASH_MULTILINEAR_KEYS];
extern u8 hash_pearson_table[256]; /* a permutation, by Fisher and Yates' shuffle */
extern u32 hash_tabulation_table[HASH_TABULATION_BYTES][256];
