/*
 * The hash that does nothing: the low bits of the sum of the key's words.
 *
 * Source: Lever 1999, section 5 ("an untransformed key"). Cost: an add, the mask. Weakness:
 * whatever regularity the keys have is the regularity of the table.
 */
#pragma once

static inline u32 any_untransformed(u64 sequential, u64 other, unsigned bits)
{
	return (u32)hash_sum(sequential, other) & hash_mask(bits);
}
