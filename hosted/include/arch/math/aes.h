/* aes.h - AES with keys of 128 bits, two blocks at a time, as arch/x86's: by arithmetic alone. */
#pragma once

#include <string.h>

#include "core/base/types.h"

#define AES_ROUNDS 10

struct arch_aes_keys {
	u64 round[AES_ROUNDS + 1][2][2];
};

struct arch_vectors {
};
#define arch_vectors_begin(saved) ((void)(saved))
#define arch_vectors_end(saved) ((void)(saved))

static u8 aes_substitutes[256];

/* Twice @x in AES's field. */
static inline u8 aes_doubled(u8 x)
{
	return (u8)(x << 1 ^ (x >> 7) * 0x1b);
}

/* Makes the S-box: of each power of 3, whose inverse is that of 1/3 = 0xf6 (FIPS 197, section
 * 5.1.1). */
static inline bool arch_has_aes(void)
{
	u8 power = 1, inverse = 1;

	do {
		u8 x = inverse;

		for (unsigned turn = 1; turn < 5; turn++)
			x ^= (u8)(inverse << turn | inverse >> (8 - turn));
		aes_substitutes[power] = x ^ 0x63;
		power ^= aes_doubled(power);
		inverse ^= (u8)(inverse << 1); /* divided by 3 */
		inverse ^= (u8)(inverse << 2);
		inverse ^= (u8)(inverse << 4);
		inverse ^= (inverse >> 7) * 0x09;
	} while (power != 1);
	aes_substitutes[0] = 0x63;
	return true;
}

static inline u32 arch_aes_substitute(u32 word)
{
	u32 result = 0;

	for (unsigned at = 0; at < 32; at += 8)
		result |= (u32)aes_substitutes[word >> at & 0xff] << at;
	return result;
}

static inline void aes_add(u8 *block, const u64 *key)
{
	for (unsigned i = 0; i < 16; i++)
		block[i] ^= ((const u8 *)key)[i];
}

/* Bytes as in a round: substituted, and the rows shifted. */
static inline void aes_shift(u8 *to, const u8 *block)
{
	for (unsigned i = 0; i < 16; i++)
		to[i] = aes_substitutes[block[(i + 4 * (i % 4)) % 16]];
}

static inline void aes_mix(u8 *column)
{
	u8 all = column[0] ^ column[1] ^ column[2] ^ column[3], first = column[0];

	for (unsigned i = 0; i < 4; i++)
		column[i] ^= all ^ aes_doubled(column[i] ^ (i < 3 ? column[i + 1] : first));
}

/* Each of @blocks becomes itself xor @block, encrypted under its key. */
static inline void arch_aes_chain(u64 blocks[2][2], const struct arch_aes_keys *keys,
				  const u64 block[2])
{
	for (unsigned lane = 0; lane < 2; lane++) {
		u8 *state = (u8 *)blocks[lane], shifted[16];

		aes_add(state, block);
		aes_add(state, keys->round[0][lane]);
		for (unsigned round = 1; round <= AES_ROUNDS; round++) {
			aes_shift(shifted, state);
			for (unsigned i = 0; i < 4 && round < AES_ROUNDS; i++)
				aes_mix(shifted + 4 * i);
			memcpy(state, shifted, sizeof(shifted));
			aes_add(state, keys->round[round][lane]);
		}
	}
}
