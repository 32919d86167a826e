/* boot.h - native: memory from before there is an allocator. */
#pragma once

#include "core/base/types.h"

void *boot_alloc(size_t size, size_t align);
