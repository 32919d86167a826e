/* mmu.h - hosted: no page tables. */
#ifndef ARCH_MMU_H
#define ARCH_MMU_H

#include "kernel/core/types.h"

struct mmu_root {
	int unused;
};

#endif
