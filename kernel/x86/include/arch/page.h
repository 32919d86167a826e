/*
 * page.h - the page size and the direct map: all RAM, writable and never executable, at one offset.
 */
#pragma once

#include "kernel/core/types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE ((size_t)1 << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))

#define DIRECT_MAP_BASE 0xffff800000000000UL
#define KERNEL_IMAGE_BASE 0xffffffff80000000UL

static inline void *phys_to_virt(phys_addr_t phys)
{
	return (void *)(DIRECT_MAP_BASE + phys);
}

/* Of an address in the direct map only: not of the kernel's image (kernel_to_phys), nor of a
 * mapping made by map_physical(). */
static inline phys_addr_t virt_to_phys(const volatile void *address)
{
	return (uintptr_t)address - DIRECT_MAP_BASE;
}

/* Of a static object of the kernel's image. */
static inline phys_addr_t kernel_to_phys(const volatile void *address)
{
	return (uintptr_t)address - KERNEL_IMAGE_BASE;
}
