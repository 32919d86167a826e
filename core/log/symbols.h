/*
 * symbols.h - names of the kernel's functions, for traces and "%pS".
 */
#pragma once

#include "core/base/types.h"

/* Name of the function at @address and the offset into it, or NULL. Any context. */
const char *symbol_lookup(u64 address, u64 *offset);
