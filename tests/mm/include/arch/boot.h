/* boot.h - for tests of the allocators alone. */
#ifndef ARCH_BOOT_H
#define ARCH_BOOT_H

#include "kernel/core/types.h"

void *boot_alloc(size_t size, size_t align);

#endif
