/*
 * loaders.h - private to boot/: the two readers of what a loader left, and how they add memory.
 */
#pragma once

#include "boot/boot_info.h"

/* What the entry code passes in EAX. */
#define PVH_START_MAGIC 0x336ec578
#define MULTIBOOT2_BOOT_MAGIC 0x36d76289

void boot_info_from_pvh(phys_addr_t info);
void boot_info_from_multiboot2(phys_addr_t info);

void boot_info_add_memory(phys_addr_t start, phys_addr_t end, u32 type);
void boot_info_set_command_line(const char *text);
