/*
 * A name hash by SipHash-1-3 with a key drawn at boot.
 *
 * Source: Aumasson and Bernstein 2012. Cost: 14 instructions for eight bytes, 45 to finish.
 * Weakness: the cost, which buys that nobody can aim at a chain.
 */
#include "hash/any/siphash.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	struct siphash v = siphash_begin();
	u64 last = (u64)length << 56, h;

	while (length >= 8)
		siphash_word(&v, hash_take(u64, &name, &length));
	if (length)
		last |= hash_take(u64, &name, &length);
	h = siphash_end(&v, last);
	return (u32)(h ^ h >> 32);
}
