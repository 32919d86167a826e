/*
 * bitops.c - searching bit maps, a word at a time.
 */
#include "kernel/core/bitops.h"

/* @invert is ~0 to look for clear bits. */
static unsigned long find_next(const unsigned long *map, unsigned long size, unsigned long from,
			       unsigned long invert)
{
	unsigned long word;

	if (from >= size)
		return size;
	word = (map[BIT_WORD(from)] ^ invert) & (~0UL << (from % BITS_PER_LONG));
	from = round_down(from, BITS_PER_LONG);
	while (!word) {
		from += BITS_PER_LONG;
		if (from >= size)
			return size;
		word = map[BIT_WORD(from)] ^ invert;
	}
	return min(from + __ffs(word), size);
}

unsigned long find_next_bit(const unsigned long *map, unsigned long size, unsigned long from)
{
	return find_next(map, size, from, 0);
}

unsigned long find_next_zero_bit(const unsigned long *map, unsigned long size, unsigned long from)
{
	return find_next(map, size, from, ~0UL);
}
