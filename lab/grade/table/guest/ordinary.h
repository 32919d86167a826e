/*
 * ordinary.h - which instructions a table may be made of: those that work with general registers
 * and memory. What else a processor keeps (vectors, control and debug registers, segments, tables
 * of pages) belongs to all tasks, is no memory that is watched, and could undo how they are
 * watched.
 *
 * By the bytes: behind all prefixes comes the opcode, whatever the prefixes are. Of one byte all
 * are ordinary but for some; of those behind 0x0f only those that are listed.
 */
#pragma once

#include "../../../run/qemu/instruction.h"

struct opcodes {
	unsigned char first, last;
};

static inline bool is_among(const struct opcodes *ranges, size_t count, unsigned char byte)
{
	for (size_t i = 0; i < count; i++)
		if (byte >= ranges[i].first && byte <= ranges[i].last)
			return true;
	return false;
}

#define IS_AMONG(ranges, byte) is_among(ranges, sizeof(ranges) / sizeof((ranges)[0]), byte)

/* @operand, the byte behind it, says what some do; 0 where there is none. */
static inline bool is_ordinary_0f(unsigned char byte, unsigned char operand)
{
	static const struct opcodes ordinary[] = {
		{0x0b, 0x0b}, {0x0d, 0x0d},
		{0x18, 0x1f},		    /* ud2, prefetches, nops */
		{0x40, 0x4f}, {0x80, 0x9f}, /* cmov, jumps, set */
		{0xa3, 0xa5}, {0xab, 0xad}, /* bits, shifts of two registers */
		{0xaf, 0xb1}, {0xb3, 0xb3},
		{0xb6, 0xc1}, /* imul, cmpxchg, btr, to movzx and xadd */
		{0xc3, 0xc3}, {0xc8, 0xcf},
		{0xff, 0xff}, /* movnti, bswap, ud0 */
	};

	if (byte == 0xae) /* fences: the rest saves vectors, or writes the bases of segments */
		return operand >= 0xe8;
	if (byte == 0xc7) /* cmpxchg of two words, in memory */
		return (operand & 0x38) == 0x08 && operand < 0xc0;
	if (byte == 0x38) /* movbe and crc32, with general registers */
		return operand == 0xf0 || operand == 0xf1;
	return IS_AMONG(ordinary, byte);
}

static inline bool is_ordinary(const struct bytes *bytes)
{
	static const struct opcodes others[] = {
		{0x62, 0x62}, {0xc4, 0xc5},		  /* vectors */
		{0x6c, 0x6f}, {0xe4, 0xe7}, {0xec, 0xef}, /* ports */
		{0x8e, 0x8e}, {0x9b, 0x9b}, {0xd8, 0xdf}, /* segments, floating point */
		{0xca, 0xcd}, {0xcf, 0xcf}, {0xf1, 0xf1}, /* far returns, interrupts */
	};
	unsigned char opcode, operand;
	size_t i = 0;

	while (i < bytes->size && (is_prefix(bytes->byte[i]) || bytes->byte[i] == 0xf0))
		i++;
	if (i == bytes->size)
		return false;
	opcode = bytes->byte[i];
	operand = i + 1 < bytes->size ? bytes->byte[i + 1] : 0;
	if (opcode == 0x0f)
		return is_ordinary_0f(operand, i + 2 < bytes->size ? bytes->byte[i + 2] : 0);
	if (opcode == 0xff) /* far calls and jumps */
		return (operand & 0x38) != 0x18 && (operand & 0x38) != 0x28;
	if (opcode == 0x8f) /* pop; but with other operands vectors again */
		return (operand & 0x38) == 0;
	return !IS_AMONG(others, opcode);
}
