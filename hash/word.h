/*
 * word.h - the word in which hash functions compute, and the constants that they share.
 *
 * CONFIG_HASH_WORD is 32 or 64. The functions of the 2.2 era assume 32-bit words: a product loses
 * its top bits, an address its high half. With 64 both keep them, so that the same formula is
 * another function.
 *
 * Shifts by the table's size: hash_right() and hash_shift() are defined for all counts below 64, as
 * x86's own shifts of a 32-bit register are not.
 */
#pragma once

#include "kernel/core/types.h"

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
#define HASH_GOLDEN_PRIME                                                                          \
	((hash_word)(HASH_WORD_BITS == 32 ? 0x9e370001u : 0x9e37fffffffc0001u))

/* Linux since 4.7: the ratio itself (its complement), not prime. */
#define HASH_GOLDEN_RATIO                                                                          \
	((hash_word)(HASH_WORD_BITS == 32 ? 0x61c88647u : 0x61c8864680b583ebu))

/* The cache line: what addresses of slab objects are divided by. 32 on the papers' machines. */
#define HASH_L1_BYTES 64

/*
 * Linux 2.2 divides an inode's address by the lowest set bit of sizeof(struct inode), to lose the
 * bits that never differ. Ours has other sizes with lock checking and with trees in it; 8 divides
 * them all (fs/icache.c asserts it) and is that bit in the plain kernel. 2.4 takes the mapping in
 * the inode: its place displaces all addresses alike, so that it need not be exact.
 */
#define HASH_INODE_LSB 8
#define HASH_MAPPING_OFFSET 160

static __always_inline u32 hash_mask(unsigned bits)
{
	return (1u << bits) - 1;
}

static __always_inline hash_word hash_right(hash_word value, unsigned count)
{
	return (hash_word)((u64)value >> count);
}

/* Left by a count that may be negative: then right. */
static __always_inline hash_word hash_shift(hash_word value, int count)
{
	return (hash_word)(count < 0 ? (u64)value >> -count : (u64)value << count);
}

/* The highest @bits of a word, @bits from 1 to 31. */
static __always_inline u32 hash_top(hash_word value, unsigned bits)
{
	return (u32)(value >> (HASH_WORD_BITS - bits));
}

static __always_inline u32 hash_top32(u32 value, unsigned bits)
{
	return value >> (32 - bits);
}

static __always_inline u32 hash_top64(u64 value, unsigned bits)
{
	return (u32)(value >> (64 - bits));
}

static __always_inline hash_word hash_rotate_left(hash_word value, unsigned count)
{
	return (value << count) | (value >> (HASH_WORD_BITS - count));
}

static __always_inline u32 hash_rotate_left32(u32 value, unsigned count)
{
	return (value << count) | (value >> (32 - count));
}

static __always_inline u64 hash_rotate_left64(u64 value, unsigned count)
{
	return (value << count) | (value >> (64 - count));
}

/*
 * One word of a key's two parts by adding them, for functions that take one word. @sequential is
 * the part that runs on by ones (page index, block, inode number, name hash), so that a
 * multiplicative function spreads a run evenly; @other is an address or a device. Keys whose sums
 * are equal collide, as in the old functions; addresses lie further apart than most runs are long.
 */
static __always_inline hash_word hash_sum(u64 sequential, u64 other)
{
	return (hash_word)sequential + (hash_word)other;
}

/*
 * Names are read a word at a time; they have 7 readable bytes behind their end. The machine is
 * little-endian: the first byte of a name is the lowest of its word.
 */
#define HASH_WORD_BYTES (HASH_WORD_BITS / 8)

static __always_inline hash_word hash_load_word(const char *name)
{
	hash_word word;

	__builtin_memcpy(&word, name, sizeof(word));
	return word;
}

/* A word of which only the first @count bytes count, 0 <= count < HASH_WORD_BYTES. */
static __always_inline hash_word hash_first_bytes(hash_word word, size_t count)
{
	return word & (((hash_word)1 << 8 * count) - 1);
}

/* The next up to eight bytes of a name, whatever the word. */
static __always_inline u64 hash_take64(const char **name, size_t *length)
{
	u64 word;

	__builtin_memcpy(&word, *name, sizeof(word));
	if (*length < 8) {
		word &= (1ull << 8 * *length) - 1;
		*length = 8;
	}
	*name += 8;
	*length -= 8;
	return word;
}
