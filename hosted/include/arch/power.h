/*
 * power.h - hosted: functions are named by the debugger.
 */
#pragma once

#include "core/base/types.h"

static inline const char *symbol_lookup(u64 address, u64 *offset)
{
	(void)address, (void)offset;
	return NULL;
}
