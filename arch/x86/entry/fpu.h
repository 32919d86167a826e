/*
 * fpu.h - private to arch/x86: the vector registers of programs (x87, SSE, AVX).
 *
 * They are saved by XSAVE, without which the kernel does not start (cpu.c). The kernel itself uses
 * none but three, for a moment, which it saves before and loads again (arch/math/aes.h). A task's
 * image lies at the top of its kernel stack. The switch saves them when a program's task is left
 * and loads them when one is entered. Only the task itself and the switch touch an image, and a
 * fork that of the new task.
 */
#pragma once

#include <arch/process.h>

/* Offsets in an image, and what Linux tells programs about that of a signal frame. */
enum { MXCSR = 24, SOFTWARE = 464, XSTATE_HEADER = 512, XSTATE_HEADER_SIZE = 64 };

extern u64 xfeatures; /* XCR0: the components in use */
extern const u8 fpu_initial_state[FPU_AREA_SIZE];

static inline void fpu_save(void *area)
{
	__asm__ __volatile__("xsave64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
}

static inline void fpu_restore(const void *area)
{
	__asm__ __volatile__("xrstor64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
}

void fpu_init_cpu(void);
