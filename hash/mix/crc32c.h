/*
 * crc32c.h - CRC-32C (Castagnoli's polynomial 0x1edc6f41, reflected): the instruction, or a table
 * of 16.
 *
 * The instruction is used when the compiler may (SSE 4.2: KCFLAGS=-mcrc32): one for eight bytes.
 * The table takes two loads a byte. Linear: crc(a ^ b) = crc(a) ^ crc(b), so who knows the
 * polynomial makes collisions at will, but runs of keys spread perfectly. Neither the usual start
 * value nor the final inversion: both only permute the buckets.
 */
#pragma once

#include "hash/word.h"

#if defined(__CRC32__) && defined(__x86_64__)
static __always_inline u32 hash_crc32c_byte(u32 crc, u8 byte)
{
	return __builtin_ia32_crc32qi(crc, byte);
}

static __always_inline u32 hash_crc32c_word(u32 crc, u64 word)
{
	return (u32)__builtin_ia32_crc32di(crc, word);
}
#else
static const u32 hash_crc32c_table[16] __maybe_unused = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static __always_inline u32 hash_crc32c_byte(u32 crc, u8 byte)
{
	crc ^= byte;
	crc = crc >> 4 ^ hash_crc32c_table[crc & 15];
	return crc >> 4 ^ hash_crc32c_table[crc & 15];
}

static inline u32 hash_crc32c_word(u32 crc, u64 word)
{
	for (unsigned i = 0; i < 8; i++)
		crc = hash_crc32c_byte(crc, (u8)(word >> 8 * i));
	return crc;
}
#endif

static __always_inline u32 hash_crc32c(u64 a, u64 b)
{
	return hash_crc32c_word(hash_crc32c_word(0, a), b);
}
