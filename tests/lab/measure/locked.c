/*
 * locked.c - instructions that lock and such that only look like it, for the plugin that counts
 * them (tests/lab/measure/test_against.py). Each row is executed TIMES times between marks.
 *
 * Output: a line for each row, its name and how many locked instructions of the program its part
 * has.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../../user/region.h"

enum { TIMES = 100, PAGE = 4096 };

static uint64_t word[2] __attribute__((aligned(16)));

/* One instruction of @text, in which %rdi is the address of word. */
#define INSTRUCTION(name, text)                                                                    \
	static void name(void)                                                                     \
	{                                                                                          \
		__asm__ __volatile__(text                                                          \
				     :                                                             \
				     : "D"(word)                                                   \
				     : "rax", "rbx", "rcx", "rdx", "memory", "cc");                \
	}

/* clang-format off */
INSTRUCTION(lock_add, "lock addl $1, (%%rdi)")
INSTRUCTION(lock_add_64, "lock addq $1, (%%rdi)")
INSTRUCTION(lock_cmpxchg16b, "lock cmpxchg16b (%%rdi)")
INSTRUCTION(lock_high_register, "movq %%rdi, %%rax; .byte 0xf0, 0x48, 0x0f, 0xc1, 0x18") /* xadd */
INSTRUCTION(size_before_lock, ".byte 0x66, 0xf0, 0x83, 0x07, 0x01")
INSTRUCTION(lock_before_size, ".byte 0xf0, 0x66, 0x83, 0x07, 0x01")
INSTRUCTION(segment_before_lock, ".byte 0x3e, 0xf0, 0x83, 0x07, 0x01")
INSTRUCTION(address_size_and_lock, ".byte 0x67, 0xf0, 0x83, 0x07, 0x01")
INSTRUCTION(rex_before_lock, ".byte 0x48, 0xf0, 0x83, 0x07, 0x01")
INSTRUCTION(xacquire_lock, ".byte 0xf2, 0xf0, 0x83, 0x07, 0x01")
INSTRUCTION(lock_xrelease, ".byte 0xf0, 0xf3, 0x83, 0x07, 0x01")
INSTRUCTION(two_of_three, "lock incl (%%rdi); incl (%%rdi); lock decl (%%rdi)")
INSTRUCTION(xchg_memory, "xchgl %%eax, (%%rdi)")
INSTRUCTION(xchg_memory_byte, "xchgb %%al, 5(%%rdi)")
INSTRUCTION(xchg_memory_16, "xchgw %%ax, (%%rdi)")
INSTRUCTION(xchg_memory_64, "xchgq %%rax, 8(%%rdi)")
INSTRUCTION(lock_xchg, "lock xchgq %%rax, (%%rdi)")
INSTRUCTION(xchg_registers, ".byte 0x87, 0xd8; .byte 0x48, 0x87, 0xd8; xchgb %%al, %%bl")
INSTRUCTION(xchg_short, "xchgl %%eax, %%ebx; nop; pause")
INSTRUCTION(without_lock, "incl (%%rdi); xaddl %%eax, (%%rdi); cmpxchgl %%eax, (%%rdi)")
INSTRUCTION(in_an_immediate, "movl $0xf0f0f0f0, %%eax; addb $0xf0, %%al; pushq $0x07870787; popq %%rax")
INSTRUCTION(in_a_displacement, "movl -0x10(%%rsp), %%eax; leaq 0xf0(%%rdi), %%rax")
INSTRUCTION(in_an_operand, ".byte 0x89, 0xf0; .byte 0x0f, 0x86, 0, 0, 0, 0; .byte 0x0f, 0x87, 0, 0, 0, 0")
/* clang-format on */

/* ---- in two pages ---------------------------------------------------------------------------- */

static unsigned char *pages;

/* Code of which only the first byte lies in the first of the two pages. */
static void put_across(const void *code, size_t bytes)
{
	memcpy(pages + PAGE - 1, code, bytes);
}

static void call_across(void)
{
	__asm__ __volatile__("call *%1"
			     :
			     : "D"(word), "r"(pages + PAGE - 1)
			     : "rax", "rbx", "memory", "cc");
}

static void put_lock_across(void)
{
	put_across("\x66\xf0\x83\x07\x01\xc3", 6);
}

static void put_xchg_across(void)
{
	put_across("\x87\x07\xc3", 3);
}

static void put_registers_across(void)
{
	put_across("\x87\xd8\xc3", 3);
}

/* ---- a fault --------------------------------------------------------------------------------- */

static char *fresh;

static void map_fresh(void)
{
	fresh = mmap(NULL, (size_t)TIMES * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		exit(1);
}

static void lock_a_fresh_page(void)
{
	__asm__ __volatile__("lock incl (%0)" : : "r"(fresh) : "memory", "cc");
	fresh += PAGE;
}

static const struct row {
	const char *name;
	void (*execute)(void);
	unsigned locked; /* instructions of each time */
	void (*prepare)(void);
} rows[] = {
	{"lock add", lock_add, 1, NULL},
	{"lock add of 64 bits", lock_add_64, 1, NULL},
	{"lock cmpxchg16b", lock_cmpxchg16b, 1, NULL},
	{"lock xadd", lock_high_register, 1, NULL},
	{"size before lock", size_before_lock, 1, NULL},
	{"lock before size", lock_before_size, 1, NULL},
	{"segment before lock", segment_before_lock, 1, NULL},
	{"address size before lock", address_size_and_lock, 1, NULL},
	{"REX before lock", rex_before_lock, 1, NULL},
	{"xacquire lock", xacquire_lock, 1, NULL},
	{"lock xrelease", lock_xrelease, 1, NULL},
	{"two of three", two_of_three, 2, NULL},
	{"xchg with memory", xchg_memory, 1, NULL},
	{"xchg of a byte", xchg_memory_byte, 1, NULL},
	{"xchg of 16 bits", xchg_memory_16, 1, NULL},
	{"xchg of 64 bits", xchg_memory_64, 1, NULL},
	{"lock xchg", lock_xchg, 1, NULL},
	{"xchg of registers", xchg_registers, 0, NULL},
	{"xchg with eax, nop, pause", xchg_short, 0, NULL},
	{"without lock", without_lock, 0, NULL},
	{"in an immediate", in_an_immediate, 0, NULL},
	{"in a displacement", in_a_displacement, 0, NULL},
	{"in an operand", in_an_operand, 0, NULL},
	{"lock in two pages", call_across, 1, put_lock_across},
	{"xchg in two pages", call_across, 1, put_xchg_across},
	{"xchg of registers in two pages", call_across, 0, put_registers_across},
	{"twice, for a fault", lock_a_fresh_page, 2, map_fresh},
};

int main(void)
{
	pages = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 1;
	for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++) {
		if (row->prepare)
			row->prepare();
		region_start();
		for (int i = 0; i < TIMES; i++)
			row->execute();
		region_stop();
		printf("%s: %u\n", row->name, row->locked * TIMES);
	}
	return 0;
}
