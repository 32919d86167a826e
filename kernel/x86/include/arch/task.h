/*
 * task.h - what the architecture keeps in each struct task (its first member).
 *
 * Owned by the task itself; the scheduler's switch saves and loads it. The register state that a
 * program sees is not here but in struct registers at the top of the kernel stack (arch/process.h).
 */
#pragma once

#include "kernel/core/types.h"

struct arch_task {
	u64 sp;	     /* kernel stack pointer while the task is not running */
	u64 fs_base; /* thread pointer of the program (arch_prctl, CLONE_SETTLS) */
	void *fpu;   /* XSAVE area in the kernel stack's top; NULL in a kernel thread */
};
