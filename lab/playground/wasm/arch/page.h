/*
 * page.h - the playground: a page is as large as in the kernel; no physical memory.
 */
#pragma once

#include "core/base/types.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE ((size_t)1 << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))

/* Never called, and so not there. */
void *phys_to_virt(phys_addr_t phys);
phys_addr_t virt_to_phys(const volatile void *address);
