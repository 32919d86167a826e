/* aes.c - see arch/math/aes.h. */
#ifdef CONFIG_PATH_SIGNATURE_AES

#include <arch/math/aes.h>

#include "arch/x86/x86.h"

#define CPU_AES 1, 2, 25

bool arch_has_aes(void)
{
	return cpu_has(CPU_AES);
}

#endif
