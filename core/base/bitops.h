/*
 * bitops.h - single bits in arrays of unsigned long, and integer logarithms, with Linux's names.
 *
 * All are atomic. test_and_* are fully ordered, set_bit orders nothing, clear_bit releases.
 */
#pragma once

#define BITS_PER_LONG (8 * (unsigned)sizeof(unsigned long))
#define BIT(n) (1UL << (n))
#define BIT_MASK(n) BIT((n) % BITS_PER_LONG)
#define BIT_WORD(n) ((n) / BITS_PER_LONG)

static inline void set_bit(unsigned long n, volatile unsigned long *map)
{
	__atomic_fetch_or(map + BIT_WORD(n), BIT_MASK(n), __ATOMIC_RELAXED);
}

/* What was stored before is there for who finds the bit set. */
static inline void set_bit_release(unsigned long n, volatile unsigned long *map)
{
	__atomic_fetch_or(map + BIT_WORD(n), BIT_MASK(n), __ATOMIC_RELEASE);
}

static inline void clear_bit(unsigned long n, volatile unsigned long *map)
{
	__atomic_fetch_and(map + BIT_WORD(n), ~BIT_MASK(n), __ATOMIC_RELEASE);
}

static inline bool test_bit(unsigned long n, const volatile unsigned long *map)
{
	return map[BIT_WORD(n)] & BIT_MASK(n);
}

static inline bool test_and_set_bit(unsigned long n, volatile unsigned long *map)
{
	return __atomic_fetch_or(map + BIT_WORD(n), BIT_MASK(n), __ATOMIC_SEQ_CST) & BIT_MASK(n);
}

static inline bool test_and_clear_bit(unsigned long n, volatile unsigned long *map)
{
	return __atomic_fetch_and(map + BIT_WORD(n), ~BIT_MASK(n), __ATOMIC_SEQ_CST) & BIT_MASK(n);
}

/* Index of the lowest set bit; undefined for 0. */
#define __ffs(word) ((unsigned)__builtin_ctzl(word))

/* 1 + index of the highest set bit; 0 for 0. */
static inline unsigned fls64(u64 word)
{
	return word ? 64 - (unsigned)__builtin_clzll(word) : 0;
}

/* Logarithm to base 2, rounded down; undefined for 0. A constant for constants. */
#define ilog2(n) (63u - (unsigned)__builtin_clzll((u64)(n)))

static inline bool is_power_of_2(u64 n)
{
	return n && !(n & (n - 1));
}

static inline u64 roundup_pow_of_two(u64 n)
{
	return n <= 1 ? 1 : 1ULL << fls64(n - 1);
}

/* First clear bit of map[0..size) at or after @from; @size when there is none. */
static inline unsigned long find_next_zero_bit(const unsigned long *map, unsigned long size,
					       unsigned long from)
{
	for (; from < size; from = round_down(from, BITS_PER_LONG) + BITS_PER_LONG) {
		unsigned long word = ~map[BIT_WORD(from)] >> from % BITS_PER_LONG;

		if (word)
			return min(from + __ffs(word), size);
	}
	return size;
}

/* The largest integer whose square is not above @n. */
static inline u64 int_sqrt(u64 n)
{
	u64 root = 0;

	for (u64 bit = 1ULL << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= n)
			root += bit;
	return root;
}
