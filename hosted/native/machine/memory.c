/*
 * memory.c - native: one stretch of the process's memory is the machine's, for the kernel's own
 * allocators. In large pages where the host has them, as the machine maps its memory.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include <arch/boot.h>

#include "core/log/assert.h"
#include "core/memory/page_alloc.h"
#include "core/memory/slab.h"
#include "hosted/native/machine/machine.h"

#define LARGE_PAGE MB(2)

char *hosted_memory;

void *native_map(size_t bytes)
{
	char *start = mmap(NULL, bytes + LARGE_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	BUG_ON(start == MAP_FAILED);
	start = (char *)round_up((uintptr_t)start, (uintptr_t)LARGE_PAGE);
	madvise(start, bytes, MADV_HUGEPAGE); /* if not: small ones do as well, only slower */
	return start;
}

void *boot_alloc(size_t size, size_t align)
{
	BUG_ON(align > PAGE_SIZE);
	return native_map(size);
}

void hosted_memory_init(unsigned megabytes)
{
	hosted_memory = native_map(MB(megabytes));
	page_alloc_init(MB(megabytes));
	page_alloc_add_range(0, MB(megabytes));
	slab_init();
}
