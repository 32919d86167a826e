/*
 * elf.h - which ELF files this machine runs, and what their programs are told about it.
 */
#pragma once

#include "core/base/types.h"

#define ARCH_ELF_MACHINE 62 /* EM_X86_64 */
#define ARCH_PLATFORM "x86_64"
#define ARCH_PIE_BASE 0x555555554000ULL /* where position-independent programs go, as on Linux */

/* AT_HWCAP: the feature bits that a program of this machine looks at (CPUID leaf 1, EDX). */
u32 arch_hwcap(void);
