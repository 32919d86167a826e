/*
 * word.h - the word in which hash functions compute, the constants that they share, and their keys.
 *
 * CONFIG_HASH_WORD is 32 or 64. The functions of the 2.2 era assume 32-bit words: a product loses
 * its top bits, an address its high half. With 64 both keep them, so that the same formula is
 * another function.
 *
 * Shifts by the table's size: hash_right() and hash_shift() are defined for all counts below 64, as
 * x86's own shifts of a 32-bit register are not.
 */
#pragma once

#include "core/base/types.h"

#if defined(CONFIG_HASH_WORD_32) || (defined(CONFIG_HASH_WORD) && CONFIG_HASH_WORD == 32)
typedef u32 hash_word;
#define HASH_WORD_BITS 32
#else
typedef u64 hash_word;
#define HASH_WORD_BITS 64
#endif

/* 2^32 divided by the golden ratio, as a prime: the multiplier of Lever 1999, section 5.1. */
#define HASH_G32 2654435761u

/* Linux 2.6 and 3.x (Santos 2004): primes near the same ratio with few bits set, so that shifts
 * will do. */
#define HASH_GOLDEN_PRIME ((hash_word)(HASH_WORD_BITS == 32 ? 0x9e370001u : 0x9e37fffffffc0001u))

/* Linux since 4.7: the ratio itself (its complement), not prime. */
#define HASH_GOLDEN_RATIO ((hash_word)(HASH_WORD_BITS == 32 ? 0x61c88647u : 0x61c8864680b583ebu))

/* The cache line: what addresses of slab objects are divided by. 32 on the papers' machines. */
#define HASH_L1_BYTES 64

/*
 * Linux 2.2 divides an inode's address by the lowest set bit of sizeof(struct inode), to lose the
 * bits that never differ. Ours has other sizes with lock checking and with trees in it; 8 divides
 * them all (fs/inode/icache.c asserts it) and is that bit in the plain kernel. 2.4 takes the
 * mapping in the inode: its place displaces all addresses alike, so that it need not be exact.
 */
#define HASH_INODE_LSB 8
#define HASH_MAPPING_OFFSET 160

#define hash_mask(bits) ((1u << (bits)) - 1)
#define hash_right(word, count) ((hash_word)((u64)(hash_word)(word) >> (count)))

/* Left by a count that may be negative: then right. */
static __always_inline hash_word hash_shift(hash_word value, int count)
{
	return (hash_word)(count < 0 ? (u64)value >> -count : (u64)value << count);
}

/* The highest @bits of an unsigned value of any width, @bits from 1 to 31. */
#define hash_top(value, bits) ((u32)((value) >> (8 * sizeof(value) - (bits))))

/* The same widths; @value is a variable. */
#define hash_rotate_left(value, count)                                                             \
	((value) << (count) | (value) >> (8 * sizeof(value) - (count)))

/*
 * One word of a key's two parts by adding them, for functions that take one word. @sequential is
 * the part that runs on by ones (page index, block, inode number, name hash), so that a
 * multiplicative function spreads a run evenly; @other is an address or a device. Keys whose sums
 * are equal collide, as in the old functions; addresses lie further apart than most runs are long.
 */
#define hash_sum(sequential, other) ((hash_word)(sequential) + (hash_word)(other))

/* A swap entry as Linux 2.2 and 2.4 have it, for those of their functions that hash it. */
#define hash_swap_entry(type, slot) ((u64)(type) << 1 | (slot) << 8)

/*
 * Names are read a word at a time; they have 7 readable bytes behind their end. The machine is
 * little-endian: the first byte of a name is the lowest of its word.
 */
#define hash_take(type, name, length) ((type)hash_take_bytes(name, length, sizeof(type)))

static __always_inline u64 hash_take_bytes(const char **name, size_t *length, size_t bytes)
{
	u64 word = 0;

	__builtin_memcpy(&word, *name, bytes);
	if (*length < bytes) {
		word &= (1ull << 8 * *length) - 1;
		*length = bytes;
	}
	*name += bytes;
	*length -= bytes;
	return word;
}

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
 * The random numbers of the keyed functions, drawn once at boot (hash/random.c). Each is expanded
 * from one seed by SplitMix64 (Steele 2014), so that a test can give a seed and know every number.
 */
#define HASH_TABULATION_BYTES 16
/* One to add, one for the length, 64 for the words of a name of 256 bytes. */
#define HASH_MULTILINEAR_KEYS 66

extern u64 hash_siphash_key[2];
extern u64 hash_multilinear_keys[HASH_MULTILINEAR_KEYS];
extern u8 hash_pearson_table[256]; /* a permutation, by Fisher and Yates' shuffle */
extern u32 hash_tabulation_table[HASH_TABULATION_BYTES][256];

/* Expand @seed, after random_init(), before anything is hashed. */
void hash_random_init(u64 seed);
