/*
 * program.c - the way into a program: of one that fork made, and of one that execve begins.
 */
#include "arch/x86/entry/fpu.h"
#include "arch/x86/entry/program.h"
#include "arch/x86/x86.h"
#include "core/kernel.h"

#define ARCH_SET_FS 0x1002

extern const char program_begins[];

/* The image of @task, made ready: XSAVE leaves some of it alone, of which XRSTOR faults unless the
 * header is zero, and a signal frame shows the rest to the program. */
static void *prepare_area(struct task *task)
{
	task->arch.fpu = task_registers(task) + 1;
	return memset(task->arch.fpu, 0, FPU_AREA_SIZE);
}

void arch_prepare_fork(struct task *child, u64 sp, bool set_tls, u64 tls)
{
	struct registers *registers = task_registers(child);

	switch_prepare(child, program_begins, 0, 0);
	*registers = *current_registers();
	registers->ax = 0;
	if (sp)
		registers->sp = sp;
	child->arch.fs_base = set_tls ? tls : current->arch.fs_base;
	fpu_save(prepare_area(child));
}

void arch_enter_user(u64 entry, u64 sp)
{
	struct task *task = current;
	struct registers *registers = task_registers(task);

	prepare_area(task);
	fpu_restore(fpu_initial_state);
	task->arch.fs_base = 0;
	write_msr(MSR_FS_BASE, 0);
	*registers = (struct registers){.orig_ax = ~0UL,
					.ip = program_ip(entry),
					.cs = USER_CS,
					.flags = FLAGS_FIXED | FLAGS_IF,
					.sp = sp,
					.ss = USER_DS};
	exit_to_program(registers);
}

/* The thread pointer only. */
s64 sys_arch_prctl(int code, u64 address)
{
	if (code != ARCH_SET_FS)
		return -EINVAL;
	if (address >= USER_TOP)
		return -EPERM;
	current->arch.fs_base = address;
	write_msr(MSR_FS_BASE, address);
	return 0;
}
