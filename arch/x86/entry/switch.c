/*
 * switch.c - tasks as the machine switches them; kernel threads.
 *
 * A new task's stack is laid out so that the first switch to it returns to where it begins
 * (switch_stacks.S, exit.S).
 */
#include "arch/x86/entry/fpu.h"
#include "arch/x86/x86.h"
#include "core/kernel.h"

#define XFEATURES_WANTED 7 /* x87, SSE, AVX */

u64 xfeatures;
/* Of it XRSTOR loads MXCSR, 0x1f80, and gives everything else its initial value. */
const u8 fpu_initial_state[FPU_AREA_SIZE] __aligned(64) = {[MXCSR] = 0x80, [MXCSR + 1] = 0x1f};

void fpu_init_cpu(void)
{
	xfeatures = cpuid(13, 0) & XFEATURES_WANTED;
	__asm__ __volatile__("fninit; xsetbv" ::"c"(0), "a"((u32)xfeatures), "d"(0));
	fpu_restore(fpu_initial_state);
}

/* What arch_switch_stacks() pops. */
struct switch_frame {
	u64 r15, r14, r13, r12, bx, bp;
	u64 ip;
};

extern const char kernel_thread_begins[];
struct task *arch_switch_stacks(struct task *previous, struct task *next);

struct task *arch_switch(struct task *previous, struct task *next)
{
	struct cpu *cpu = this_cpu();

	ASSERT(*(u64 *)previous->kernel_stack == KERNEL_STACK_MAGIC); /* else it has overflowed */
	if (previous->arch.fpu)
		fpu_save(previous->arch.fpu);
	if (next->arch.fpu) {
		fpu_restore(next->arch.fpu);
		/* Selectors mean nothing, and are nobody's: what one program loads is not for the
		 * next one's eyes. The program's GS base is where swapgs has it. */
		__asm__ __volatile__("mov %0, %%ds; mov %0, %%es; mov %0, %%fs;"
				     "swapgs; mov %0, %%gs; swapgs" ::"r"(0));
		write_msr(MSR_FS_BASE, next->arch.fs_base);
	}
	cpu_set_kernel_stack(cpu, (u64)(uintptr_t)(task_registers(next) + 1));
	cpu->running = next;
	return arch_switch_stacks(previous, next);
}

void switch_prepare(struct task *task, const char *start, u64 r12, u64 r13)
{
	struct switch_frame *frame = (struct switch_frame *)task_registers(task) - 1;

	*frame = (struct switch_frame){.ip = (u64)(uintptr_t)start, .r12 = r12, .r13 = r13};
	task->arch.sp = (u64)(uintptr_t)frame;
	*(u64 *)task->kernel_stack = KERNEL_STACK_MAGIC;
}

void arch_prepare_kernel_thread(struct task *task, int (*function)(void *), void *argument)
{
	switch_prepare(task, kernel_thread_begins, (u64)(uintptr_t)function,
		       (u64)(uintptr_t)argument);
}
