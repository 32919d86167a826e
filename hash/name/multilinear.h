/*
 * A name hash by a multilinear function with keys drawn at boot: k0 + k1 length + sum of k_i times
 * the i-th 32 bits.
 *
 * Source: Lemire and Kaser 2014; the length keeps names apart that end in zero bytes. Cost: two
 * multiplications, two loads of keys for eight bytes. Weakness: names of at most 256 bytes.
 */
#include "hash/any/multilinear.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	const u64 *key = hash_multilinear_keys + 2;
	u64 h = hash_multilinear_keys[0] + hash_multilinear_keys[1] * length;

	for (; length; key += 2) {
		u64 word = hash_take(u64, &name, &length);

		h += key[0] * (u32)word + key[1] * (word >> 32);
	}
	return (u32)(h >> 32);
}
