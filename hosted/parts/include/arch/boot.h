/* boot.h - for tests of the allocators alone. */
#pragma once

#include "core/base/types.h"

void *boot_alloc(size_t size, size_t align);
