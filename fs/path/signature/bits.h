/* bits.h - of signatures of 256 bits: those that are compared. */
#pragma once

#include "core/kernel.h"

/* Do the upper SIGNATURE_BITS of the two numbers differ, whose lowest words come first? */
static __always_inline bool top_bits_differ(const u64 a[4], const u64 b[4])
{
	const unsigned bits = CONFIG_SIGNATURE_BITS; /* % 64 is for what is not compared anyway */
	u64 differing = (a[3] ^ b[3]) >> (bits < 64 ? 64 - bits : 0);

	if (bits > 64)
		differing |= (a[2] ^ b[2]) >> (bits < 128 ? (128 - bits) % 64 : 0);
	if (bits > 128)
		differing |= (a[1] ^ b[1]) >> (bits < 192 ? (192 - bits) % 64 : 0);
	if (bits > 192)
		differing |= (a[0] ^ b[0]) >> (256 - bits) % 64;
	return differing;
}
