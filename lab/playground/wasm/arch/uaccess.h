/*
 * uaccess.h - the playground: there are no programs, and so none of their memory.
 */
#pragma once

#include "core/base/types.h"

/* Never called, and so not there. */
bool arch_access_ok(u64 address, u64 size);
size_t arch_copy_to_user(void *to, const void *from, size_t n);
size_t arch_copy_from_user(void *to, const void *from, size_t n);
s64 arch_strncpy_from_user(char *to, const char *from, size_t n);
