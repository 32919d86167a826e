/*
 * value.h - of signatures that are values of a pseudorandom function, 256 bits: what of them is
 * used how. Private to the two that are; what includes it has defined struct signature.
 *
 * The lowest 24 bits are the index. Of a pseudorandom function nobody learns anything by those that
 * are compared as well, which are 8 in tables of more than 65,536 buckets.
 */
#pragma once

#include "fs/path/signature/bits.h"

static __always_inline u64 signature_index(const struct signature *signature)
{
	return signature->value[0] & 0xffffff;
}

static __always_inline bool signatures_differ(const struct signature *a, const struct signature *b)
{
	return top_bits_differ(a->value, b->value);
}

#define signature_top(signature) ((signature)->value[3])
#define text_leads_to(walk, path, mounts) true
