/*
 * random.h - the processor's own random numbers, a seed for kernel/core/random.c.
 */
#pragma once

#include "kernel/core/types.h"

/* False: the CPU has no RDRAND, or it failed ten times (Intel SDM volume 1, 7.3.17). */
static inline bool arch_random(u64 *value)
{
	u32 eax = 1, ebx, ecx = 0, edx;
	int tries;
	bool good = false;

	__asm__ __volatile__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	if (!(ecx & 1u << 30))
		return false;
	for (tries = 0; tries < 10 && !good; tries++)
		__asm__ __volatile__("rdrand %0" : "=r"(*value), "=@ccc"(good));
	return good;
}
