/*
 * checksum.c - CRC-32C (Castagnoli's polynomial, reflected, begun and ended with all ones).
 *
 * By the processor's own instruction where it has one (SSE 4.2), else eight bytes at a time from
 * tables (Kounavis and Berry 2005), which are made when the library is loaded, before a program's
 * own constructors may open a table.
 */
#include "store/store.h"

static u32 tables[8][256];

__attribute__((__constructor__(101))) static void tables_make(void)
{
	for (u32 i = 0; i < 256; i++) {
		u32 crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0x82f63b78 & (0u - (crc & 1)));
		tables[0][i] = crc;
	}
	for (u32 i = 0; i < 256; i++)
		for (int n = 1; n < 8; n++)
			tables[n][i] = tables[n - 1][i] >> 8 ^ tables[0][tables[n - 1][i] & 0xff];
}

#ifdef __x86_64__
__attribute__((__target__("sse4.2"))) static u32 by_instruction(const u8 *p, size_t size)
{
	u64 crc = ~0u;

	for (; size >= 8; size -= 8, p += 8)
		crc = __builtin_ia32_crc32di(crc, load64(p));
	for (; size; size--)
		crc = __builtin_ia32_crc32qi((u32)crc, *p++);
	return ~(u32)crc;
}
#endif

u32 checksum_by_tables(const u8 *p, size_t size)
{
	u32 crc = ~0u;

	for (; size >= 8; size -= 8, p += 8) {
		u32 low = crc ^ load32(p), high = load32(p + 4);

		crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^
		      tables[5][low >> 16 & 0xff] ^ tables[4][low >> 24] ^ tables[3][high & 0xff] ^
		      tables[2][high >> 8 & 0xff] ^ tables[1][high >> 16 & 0xff] ^
		      tables[0][high >> 24];
	}
	for (; size; size--)
		crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
	return ~crc;
}

u32 checksum(const u8 *bytes, size_t size)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return by_instruction(bytes, size);
#endif
	return checksum_by_tables(bytes, size);
}
