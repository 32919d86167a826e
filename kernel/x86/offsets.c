/*
 * offsets.c - proof that offsets.h tells assembly the truth. No code.
 */
#include "kernel/x86/offsets.h"

#include <arch/cpu.h>
#include <arch/process.h>

#define CHECK(name, structure, field)                                                              \
	_Static_assert(name == offsetof(structure, field), #name " is wrong in offsets.h")

CHECK(CPU_CURRENT, struct cpu, running);
CHECK(CPU_KERNEL_STACK, struct cpu, kernel_stack);
CHECK(CPU_USER_SP, struct cpu, user_sp);
CHECK(TASK_SP, struct task, arch.sp);
CHECK(TASK_PENDING, struct task, pending);
CHECK(REGISTERS_R12, struct registers, r12);
CHECK(REGISTERS_R13, struct registers, r13);
CHECK(REGISTERS_AX, struct registers, ax);
CHECK(REGISTERS_IP, struct registers, ip);
CHECK(REGISTERS_CS, struct registers, cs);
_Static_assert(REGISTERS_SIZE == sizeof(struct registers), "REGISTERS_SIZE is wrong in offsets.h");
