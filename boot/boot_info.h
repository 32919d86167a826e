/*
 * boot_info.h - what the boot loader told us, in one form, whichever loader it was, and the memory
 * that is given out before core/memory/page_alloc.c is up.
 *
 * Filled by boot_info_init() from a PVH start info or a multiboot2 information structure, both
 * copied, so that the loader's memory may be reused; only the initial RAM disk stays where it is.
 */
#pragma once

#include "core/base/types.h"

extern struct boot_info {
	char command_line[2048];
	phys_addr_t initrd_start, initrd_end; /* both 0: none */
	phys_addr_t max_phys;		      /* first address past the last RAM */
	u32 rsdt;			      /* ACPI's table of tables; 0: none */
} boot_info;

/* @magic and @info are what the entry code found in EAX and EBX. Panics if it cannot tell the
 * loader. */
void boot_info_init(u32 magic, phys_addr_t info);

/* Memory taken for good before page_alloc_init() is done, below 4 GB, not zeroed. Panics
 * when there is none: nothing can run then. @align is a power of two. */
void *boot_alloc(size_t size, size_t align);

/*
 * For recording keys (hash/record.c): *@size bytes of the end of RAM, for good, so that to the rest
 * of the kernel the machine is just so much smaller. Below an initial RAM disk that lies there,
 * *@size is less by what their frames take in the page allocator's array. Before page_alloc_init().
 * Panics when there are none.
 */
#ifdef CONFIG_RECORD_KEYS
void *boot_alloc_top(size_t *size);
#endif

/* Hand the RAM that is left to page_alloc_add_range(); boot_alloc() ends. After page_alloc_init().
 */
void boot_release_memory(void);
