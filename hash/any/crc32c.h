/*
 * The hash by CRC-32C (Castagnoli's polynomial 0x1edc6f41, reflected), on both words of the key.
 *
 * Source: Castagnoli, Braeuer and Herrmann 1993. Cost: two instructions with -mcrc32 (SSE 4.2),
 * else 32 loads from a table of 16. Weakness: linear, crc(a ^ b) = crc(a) ^ crc(b): who knows the
 * polynomial makes collisions at will; but runs of keys spread perfectly.
 *
 * Neither the usual start value nor the final inversion: both only permute the buckets.
 */
#pragma once

static inline u32 hash_crc32c_word(u32 crc, u64 word)
{
#if defined(__CRC32__) && defined(__x86_64__)
	return (u32)__builtin_ia32_crc32di(crc, word);
#else
	static const u32 table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	for (unsigned shift = 0; shift < 64; shift += 4)
		crc = crc >> 4 ^ table[(crc ^ word >> shift) & 15];
	return crc;
#endif
}

static inline u32 any_crc32c(u64 sequential, u64 other, unsigned bits)
{
	return hash_top(hash_crc32c_word(hash_crc32c_word(0, sequential), other), bits);
}
