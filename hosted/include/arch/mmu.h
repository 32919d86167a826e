/*
 * mmu.h - hosted: page tables as x86 has them, in frames of the arena, walked by mmu.c.
 *
 * The contract and the form of the entries are the machine's own header. Only the addresses differ:
 * a program's lie where no allocation of the process that we are does, so that an address says by
 * itself whose it is (see uaccess.h).
 */
#pragma once

#include "arch/x86/include/arch/mmu.h"

#undef USER_TOP
#define USER_TOP 0x00000ffffffff000ULL
