/* bits.h - of signatures of 256 bits: those that are compared. */
#pragma once

#include "core/kernel.h"

#define SIGNATURE_UNCOMPARED (256 - CONFIG_SIGNATURE_BITS)

/* Of @word, the @place-th of a signature, the bits that are compared, somewhere in what comes
 * out. */
static __always_inline u64 compared_bits(u64 word, unsigned place)
{
	unsigned below = place * 64;

	if (SIGNATURE_UNCOMPARED >= below + 64)
		return 0;
	return SIGNATURE_UNCOMPARED > below ? word >> (SIGNATURE_UNCOMPARED - below) : word;
}

/* Do the upper SIGNATURE_BITS of the two numbers differ, whose lowest words come first? */
static __always_inline bool top_bits_differ(const u64 a[4], const u64 b[4])
{
	return compared_bits(a[3] ^ b[3], 3) | compared_bits(a[2] ^ b[2], 2) |
	       compared_bits(a[1] ^ b[1], 1) | compared_bits(a[0] ^ b[0], 0);
}
