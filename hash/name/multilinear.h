/*
 * A name hash by a multilinear function with keys drawn at boot: k0 + k1 length + sum of k_i times
 * the i-th 32 bits.
 *
 * Source: Lemire and Kaser 2014; the length keeps names apart that end in zero bytes. Cost: two
 * multiplications, two loads of keys for eight bytes. Weakness: names of at most 256 bytes.
 */
#include "hash/mix/name_word.h"

#include "hash/mix/multilinear.h"

static inline u32 name_hash(uintptr_t salt, const char *name, size_t length)
{
	const u64 *key = hash_multilinear_keys + 2;
	u64 h = hash_multilinear_keys[0] + hash_multilinear_keys[1] * length;

	(void)salt;
	for (; length >= 8; length -= 8, name += 8, key += 2)
		h += key[0] * (u32)hash_load64(name) + key[1] * (hash_load64(name) >> 32);
	if (length) {
		u64 word = hash_first_bytes64(hash_load64(name), length);

		h += key[0] * (u32)word + key[1] * (word >> 32);
	}
	return (u32)(h >> 32);
}
