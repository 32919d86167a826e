/* mmu.h - hosted: no page tables. */
#pragma once

#include "kernel/core/types.h"

struct mmu_root {
	int unused;
};

/* No stacks to give back. */
static inline u64 arch_shrink_stacks(unsigned spare)
{
	(void)spare;
	return 0;
}
