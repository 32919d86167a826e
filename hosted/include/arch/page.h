/*
 * page.h - hosted: "physical memory" is one arena; physical address 0 is its first byte.
 */
#pragma once

#include "core/base/types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE ((size_t)1 << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))

extern char *hosted_memory; /* page aligned */

static inline void *phys_to_virt(phys_addr_t phys)
{
	return hosted_memory + phys;
}

static inline phys_addr_t virt_to_phys(const volatile void *address)
{
	return (phys_addr_t)((const volatile char *)address - hosted_memory);
}
