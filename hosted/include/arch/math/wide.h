/* wide.h - arithmetic on numbers of several words, as arch/x86's. */
#pragma once

#include "core/base/types.h"

/* sum += factor * word, modulo 2^320; the lowest word first. */
static inline void arch_multiply_add_320(u64 sum[5], const u64 factor[5], u64 word)
{
	u64 carried = 0;

	for (int i = 0; i < 5; i++) {
		unsigned __int128 part = (unsigned __int128)factor[i] * word + sum[i] + carried;

		sum[i] = (u64)part;
		carried = (u64)(part >> 64);
	}
}

/* What the kernel has for newer CPUs: here the same. */
#define ARCH_MULX
#define arch_multiply_add_320_mulx arch_multiply_add_320
#define arch_has_mulx() false
