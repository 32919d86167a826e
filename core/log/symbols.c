/*
 * symbols.c - looking up a function by an address in it.
 *
 * The table is made by boot/symbols.py from the linked kernel and linked in by a second link, so it
 * is in order of addresses. Nobody looks things up but who has an error to report: from the front.
 */
#include "core/log/symbols.h"

extern const char text_start[], text_end[]; /* boot/kernel.ld */

struct symbol {
	u32 offset, name; /* from text_start; in symbol_names */
};
extern const u32 symbol_count;
extern const struct symbol symbol_table[];
extern const char symbol_names[];

const char *symbol_lookup(u64 address, u64 *offset)
{
	u64 relative = address - (u64)(uintptr_t)text_start;
	u32 after = 0;

	while (after < symbol_count && symbol_table[after].offset <= relative)
		after++;
	if (address < (u64)(uintptr_t)text_start || address >= (u64)(uintptr_t)text_end || !after)
		return NULL;
	*offset = relative - symbol_table[after - 1].offset;
	return symbol_names + symbol_table[after - 1].name;
}
