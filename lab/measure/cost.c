/*
 * cost.c - how many instructions a hash function executes: each is called with the processor's trap
 * flag set, which stops it after every instruction, and the stops between its first instruction and
 * its return are counted.
 *
 * lab/measure/cost.py compiles the functions with the kernel's flags, lists them in the array
 * functions[], and asks on stdin, a line each: "NUMBER FIRST SECOND BITS" of a function that takes
 * a key, "NUMBER FIRST NAME" of one that takes a name in hexadecimal digits. The answers are
 * counts.
 */
#define _GNU_SOURCE /* the names of registers */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100
#define NAME_BYTES 4096

typedef unsigned key_function(uintptr_t first, unsigned long long second, unsigned bits);
typedef unsigned name_function(uintptr_t salt, const char *name, size_t length);

extern void *const functions[];
extern const unsigned function_count;

/* What the keyed functions read (hash/shared.h); with other numbers they take the same way. */
unsigned long long hash_siphash_key[2], hash_multilinear_keys[66];
unsigned char hash_pearson_table[256];
uint32_t hash_tabulation_table[16][256];

static uintptr_t entry, return_to;
static unsigned long long count;
static unsigned sink;

static void after_each_instruction(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t next = (uintptr_t)registers[REG_RIP];

	if (!return_to) {
		if (next == entry) {
			return_to = *(uintptr_t *)registers[REG_RSP];
			count = 1;
		}
	} else if (next == return_to) {
		registers[REG_EFL] &= ~TRAP_FLAG;
	} else {
		count++;
	}
}

static inline void begin(void *function)
{
	entry = (uintptr_t)function;
	return_to = count = 0;
	__asm__ __volatile__("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG) : "memory", "cc");
}

static void fill(void *bytes, size_t size)
{
	static uint64_t state = 42;

	for (unsigned char *at = bytes; size--; at++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		*at = (unsigned char)(state >> 56);
	}
}

static size_t name_of(const char *digits, char *name)
{
	size_t length = 0;
	unsigned byte;

	for (; length < NAME_BYTES && sscanf(digits + 2 * length, "%2x", &byte) == 1; length++)
		name[length] = (char)byte;
	return length;
}

int main(void)
{
	static char line[2 * NAME_BYTES + 100], digits[2 * NAME_BYTES + 100], name[NAME_BYTES + 8];
	struct sigaction action = {.sa_sigaction = after_each_instruction, .sa_flags = SA_SIGINFO};
	unsigned long long first, second;
	unsigned number, bits;

	sigaction(SIGTRAP, &action, NULL);
	fill(hash_siphash_key, sizeof(hash_siphash_key));
	fill(hash_multilinear_keys, sizeof(hash_multilinear_keys));
	fill(hash_pearson_table, sizeof(hash_pearson_table));
	fill(hash_tabulation_table, sizeof(hash_tabulation_table));
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%u %llu %llu %u", &number, &first, &second, &bits) == 4 &&
		    number < function_count) {
			key_function *function = (key_function *)functions[number];

			begin(functions[number]);
			sink += function(first, second, bits);
		} else if (sscanf(line, "%u %llu %s", &number, &first, digits) == 3 &&
			   number < function_count) {
			name_function *function = (name_function *)functions[number];
			size_t length = name_of(digits + 1, name); /* behind an x */

			begin(functions[number]);
			sink += function(first, name, length);
		} else {
			return 1;
		}
		printf("%llu\n", count);
	}
	return 0;
}
