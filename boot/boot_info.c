/*
 * boot_info.c - one struct boot_info from either loader: sorted memory, overlaps resolved.
 */
#include "boot/boot_info.h"

#include <arch/page.h>

#include "boot/loaders.h"
#include "kernel/core/printk.h"
#include "kernel/core/string.h"

struct boot_info boot_info;

/* Ranges past the table's end are dropped: less memory, not a wrong map. Kept sorted by insertion.
 */
void boot_info_add_memory(phys_addr_t start, phys_addr_t end, u32 type)
{
	struct memory_range *memory = boot_info.memory;
	unsigned i = boot_info.memory_count;

	if (type < MEMORY_RAM || type > MEMORY_BAD)
		type = MEMORY_RESERVED;
	if (end <= start || i == BOOT_MEMORY_RANGES)
		return;
	for (; i > 0 && memory[i - 1].start > start; i--)
		memory[i] = memory[i - 1];
	memory[i] = (struct memory_range){start, end, type};
	boot_info.memory_count++;
}

void boot_info_set_command_line(const char *text)
{
	strlcpy(boot_info.command_line, text, sizeof(boot_info.command_line));
}

/* Where a range of RAM overlaps another range, the other one has the say: RAM is cut. */
static void resolve_overlaps(void)
{
	struct memory_range *memory = boot_info.memory;
	unsigned i;

	for (i = 0; i + 1 < boot_info.memory_count; i++) {
		struct memory_range *low = &memory[i], *high = &memory[i + 1];

		if (low->end <= high->start)
			continue;
		if (low->type == MEMORY_RAM) {
			phys_addr_t rest = low->end;

			low->end = high->start;
			if (rest > high->end)
				boot_info_add_memory(high->end, rest, MEMORY_RAM);
		} else if (low->end < high->end) {
			high->start = low->end;
		} else {
			memmove(high, high + 1, (--boot_info.memory_count - i - 1) * sizeof(*high));
			i--;
		}
	}
}

void boot_info_init(u32 magic, phys_addr_t info)
{
	if (magic == PVH_START_MAGIC)
		boot_info_from_pvh(info);
	else if (magic == MULTIBOOT2_BOOT_MAGIC)
		boot_info_from_multiboot2(info);
	else
		panic("unknown boot loader: magic %x", magic);
	resolve_overlaps();
}
