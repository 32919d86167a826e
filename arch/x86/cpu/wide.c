/* wide.c - see arch/math/wide.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include <arch/math/wide.h>

#include "arch/x86/x86.h"

#define CPU_BMI1 7, 1, 3
#define CPU_BMI2 7, 1, 8

bool arch_has_mulx(void)
{
	return cpu_has(CPU_BMI1) && cpu_has(CPU_BMI2);
}

#endif
