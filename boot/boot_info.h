/*
 * boot_info.h - what the boot loader told us, in one form, whichever loader it was.
 *
 * Filled by boot_info_init() from a PVH start info or a multiboot2 information structure, both
 * copied, so that the loader's memory may be reused; only the initial RAM disk stays where it is.
 */
#pragma once

#include "kernel/core/types.h"

#define BOOT_COMMAND_LINE_SIZE 2048
#define BOOT_MEMORY_RANGES 64
#define MEMORY_RAM 1 /* every other type is left alone */

struct memory_range {
	phys_addr_t start, end;
	u32 type;
};

struct boot_info {
	char command_line[BOOT_COMMAND_LINE_SIZE];
	const char *loader;				/* "PVH", "multiboot2" */
	struct memory_range memory[BOOT_MEMORY_RANGES]; /* sorted by start, not overlapping */
	unsigned memory_count;
	phys_addr_t initrd_start, initrd_end; /* both 0: none */
	u8 rsdp[36];			      /* ACPI's root pointer; all 0: none */
};

extern struct boot_info boot_info;

/* @magic and @info are what the entry code found in EAX and EBX. Panics if it cannot tell the
 * loader. */
void boot_info_init(u32 magic, phys_addr_t info);
