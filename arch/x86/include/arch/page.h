/*
 * page.h - the page size and the direct map: all RAM, writable and never executable, at one offset.
 */
#pragma once

#include "core/base/types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE ((size_t)1 << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))

#define DIRECT_MAP_BASE 0xffff800000000000UL
#define DIRECT_MAP_SIZE GB(512)
#define KERNEL_IMAGE_BASE 0xffffffff80000000UL

#define phys_to_virt(phys) ((void *)(DIRECT_MAP_BASE + (phys)))

/* Of an address in the direct map only: not of the kernel's image (kernel_to_phys), nor of a
 * mapping made by map_device(). */
#define virt_to_phys(address) ((phys_addr_t)((uintptr_t)(address)-DIRECT_MAP_BASE))

/* Of a static object of the kernel's image. */
#define kernel_to_phys(address) ((phys_addr_t)((uintptr_t)(address)-KERNEL_IMAGE_BASE))
