/*
 * process.c - tasks as the machine switches them: new ones, the switch, the way into a program.
 *
 * A new task's stack is laid out so that the first switch to it returns to task_start (entry.S).
 */
#include <arch/process.h>
#include <arch/uaccess.h>

#include "kernel/core/kernel.h"
#include "kernel/x86/x86.h"

/* What arch_switch_stacks() pops. */
struct switch_frame {
	u64 r15, r14, r13, r12, bx, bp;
	u64 ip;
};

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

extern char task_start[];
struct task *arch_switch_stacks(struct task *previous, struct task *next);
__noreturn void exit_to_program(struct registers *registers);

static void *fpu_area(const struct task *task)
{
	return task_registers(task) + 1;
}

/* Load a segment base, unless @loaded says that it is there. */
static void set_base(u64 *loaded, u32 msr, u64 base)
{
	if (*loaded == base)
		return;
	*loaded = base;
	write_msr(msr, base);
}

/* The vector registers hold @task's state: note that, and load its segment bases. */
void arch_thread_restore(struct cpu *cpu, struct task *task)
{
	cpu->fpu_owner = task;
	task->arch.fpu_cpu = cpu->id;
	set_base(&cpu->fs_base, MSR_FS_BASE, task->arch.fs_base);
	set_base(&cpu->gs_base, MSR_KERNEL_GS_BASE, task->arch.gs_base);
}

struct task *arch_switch(struct task *previous, struct task *next)
{
	struct cpu *cpu = this_cpu();

	ASSERT(*(u64 *)previous->kernel_stack == KERNEL_STACK_MAGIC); /* else it has overflowed */
	if (previous->arch.fpu)
		fpu_save(previous->arch.fpu);
	if (next->arch.fpu) {
		if (cpu->fpu_owner != next || next->arch.fpu_cpu != (int)cpu->id)
			fpu_restore(next->arch.fpu);
		arch_thread_restore(cpu, next);
	}
	cpu_set_kernel_stack(cpu, (u64)(uintptr_t)fpu_area(next));
	cpu->running = next;
	return arch_switch_stacks(previous, next);
}

static struct switch_frame *prepare_frame(struct task *task)
{
	struct switch_frame *frame = (struct switch_frame *)task_registers(task) - 1;

	*frame = (struct switch_frame){.ip = (u64)(uintptr_t)task_start};
	task->arch.sp = (u64)(uintptr_t)frame;
	task->arch.fpu_cpu = -1;
	*(u64 *)task->kernel_stack = KERNEL_STACK_MAGIC;
	return frame;
}

void arch_prepare_kernel_thread(struct task *task, int (*function)(void *), void *argument)
{
	struct switch_frame *frame = prepare_frame(task);

	frame->r12 = (u64)(uintptr_t)function;
	frame->r13 = (u64)(uintptr_t)argument;
	task->arch.fpu = NULL;
	task->arch.fs_base = 0;
	task->arch.gs_base = 0;
}

void arch_prepare_fork(struct task *child, u64 sp, bool set_tls, u64 tls)
{
	struct registers *registers = task_registers(child);

	prepare_frame(child);
	*registers = *current_registers();
	registers->ax = 0;
	if (sp)
		registers->sp = sp;
	child->arch.fs_base = set_tls ? tls : current->arch.fs_base;
	child->arch.gs_base = current->arch.gs_base;
	child->arch.fpu = fpu_area(child);
	fpu_prepare_area(child->arch.fpu);
	fpu_save(child->arch.fpu);
}

void arch_enter_user(u64 entry, u64 sp)
{
	struct task *task = current;
	struct registers *registers = task_registers(task);

	task->arch.fpu = fpu_area(task);
	fpu_prepare_area(task->arch.fpu);
	arch_fpu_reset();
	task->arch.fs_base = task->arch.gs_base = 0;
	arch_thread_restore(this_cpu(), task);
	*registers = (struct registers){.orig_ax = ~0UL,
					.ip = entry,
					.cs = USER_CS,
					.flags = FLAGS_FIXED | FLAGS_IF,
					.sp = sp,
					.ss = USER_DS};
	exit_to_program(registers);
}

void arch_return_to_user(void)
{
	exit_to_program(current_registers());
}

int arch_prctl(int code, u64 address)
{
	bool gs = code == ARCH_SET_GS || code == ARCH_GET_GS;
	u64 *base = gs ? &current->arch.gs_base : &current->arch.fs_base;

	if (code == ARCH_GET_FS || code == ARCH_GET_GS)
		return arch_put_user(*base, (u64 *)(uintptr_t)address);
	if (code != ARCH_SET_FS && code != ARCH_SET_GS)
		return -EINVAL;
	if (address >= USER_TOP)
		return -EPERM;
	*base = address;
	arch_thread_restore(this_cpu(), current);
	return 0;
}

void arch_sanitize_registers(struct registers *registers)
{
	registers->cs = USER_CS;
	registers->ss = USER_DS;
	registers->flags = (registers->flags & FLAGS_USER) | FLAGS_FIXED | FLAGS_IF;
}
