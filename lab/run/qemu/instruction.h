/*
 * instruction.h - what the lab's plugins know of an instruction of the guest by its bytes: whether
 * it is one of the marks, and whether it locks. Included once by a plugin.
 */
#pragma once

#include "plugin.h"

#include <string.h>

#define LONGEST_INSTRUCTION 15

struct bytes {
	unsigned char byte[LONGEST_INSTRUCTION];
	size_t size;
};

/* All bytes of @instruction, also where it lies in two pages. */
static inline struct bytes bytes_of(const struct qemu_plugin_insn *instruction)
{
	struct bytes bytes = {.size = qemu_plugin_insn_size(instruction)};

	if (bytes.size > LONGEST_INSTRUCTION)
		bytes.size = LONGEST_INSTRUCTION;
#if PLUGIN_VERSION < 3
	memcpy(bytes.byte, qemu_plugin_insn_data(instruction), bytes.size);
#else
	bytes.size = qemu_plugin_insn_data(instruction, bytes.byte, bytes.size);
#endif
	return bytes;
}

/* The two lower bytes of the constant of `nopl 0xc4c4RRNN(%rax,%rax)`, the marks of a region, a
 * lock or a program, and 0x10000; 0 for any other instruction. */
static inline uint32_t region_mark_of(const struct qemu_plugin_insn *instruction)
{
	static const unsigned char begin[] = {0x0f, 0x1f, 0x84, 0x00}, high[] = {0xc4, 0xc4};
	struct bytes found = bytes_of(instruction);

	if (found.size != 8 || memcmp(found.byte, begin, 4) || memcmp(found.byte + 6, high, 2))
		return 0;
	return 0x10000u | found.byte[5] << 8 | found.byte[4];
}

/* The number of `nopl 0x4357000N(%rax)`, the marks of init: 1 the job begins, 2 it has ended. 0 for
 * any other instruction. */
static inline uint32_t job_mark_of(const struct qemu_plugin_insn *instruction)
{
	static const unsigned char begin[] = {0x0f, 0x1f, 0x80}, high[] = {0x00, 0x57, 0x43};
	struct bytes found = bytes_of(instruction);

	if (found.size != 7 || memcmp(found.byte, begin, 3) || memcmp(found.byte + 4, high, 3))
		return 0;
	return found.byte[3] == 1 || found.byte[3] == 2 ? found.byte[3] : 0;
}

/* Segments, sizes, rep (which before a lock is a hint), REX. */
static inline bool is_prefix(unsigned byte)
{
	return (byte & 0xe7) == 0x26 || (byte & 0xfc) == 0x64 || (byte & 0xfe) == 0xf2 ||
	       (byte & 0xf0) == 0x40;
}

/*
 * Does an instruction of 64-bit code read and write memory in one, so that no other CPU comes
 * between? With a lock prefix it does, and xchg with memory needs none. Prefixes come in any order,
 * the lock also behind a REX (which then says nothing). What follows the opcode is not looked at
 * but for the operand of xchg. VEX, EVEX and XOP are opcodes here: what they begin never locks.
 */
static inline bool is_locked(struct bytes bytes)
{
	size_t i = 0;

	while (i < bytes.size && is_prefix(bytes.byte[i]))
		i++;
	if (i == bytes.size)
		return false;
	if (bytes.byte[i] == 0xf0)
		return true;
	return (bytes.byte[i] == 0x86 || bytes.byte[i] == 0x87) && i + 1 < bytes.size &&
	       bytes.byte[i + 1] < 0xc0;
}
