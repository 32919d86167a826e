/*
 * program.h - private to arch/x86/entry.
 */
#pragma once

#include <arch/mmu.h>

#include "core/base/types.h"

/* Where a program is sent: not to a non-canonical address, at which iretq would fault in the
 * kernel, but to one where the program does. */
static inline u64 program_ip(u64 address)
{
	return min(address, (u64)USER_TOP);
}
