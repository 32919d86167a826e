/*
 * word.h - the word in which hash functions compute, and what those of the default kernel share.
 * What others share, keys among it: shared.h, which is there as soon as one of them is chosen.
 *
 * CONFIG_HASH_WORD is 32 or 64. The functions of the 2.2 era assume 32-bit words: a product loses
 * its top bits, an address its high half. With 64 both keep them, so that the same formula is
 * another function.
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

/* Linux since 4.7: the ratio itself (its complement), not prime. */
#define HASH_GOLDEN_RATIO ((hash_word)(HASH_WORD_BITS == 32 ? 0x61c88647u : 0x61c8864680b583ebu))

/*
 * Linux 2.2 divides an inode's address by the lowest set bit of sizeof(struct inode), to lose the
 * bits that never differ. Ours has other sizes with lock checking and with trees in it; 8 divides
 * them all (fs/inode/icache.c asserts it) and is that bit in the plain kernel.
 */
#define HASH_INODE_LSB 8

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

/* If a function that may be keyed is chosen (shared.h), its numbers are made of @seed: after
 * random_init(), before anything is hashed. */
void hash_random_init(u64 seed);
