/* mmu.h - hosted: no page tables. */
#pragma once

#include "kernel/core/types.h"

struct mmu_root {
	int unused;
};
