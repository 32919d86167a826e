/*
 * process.c - tasks as the machine switches them: new ones, the switch, the way into a program, and
 * signal frames, in Linux's layout on x86-64.
 *
 * A new task's stack is laid out so that the first switch to it returns to task_start (entry.S).
 *
 * The vector registers of programs (x87, SSE, AVX) are saved by XSAVE, which every 64-bit processor
 * since 2008 has. The kernel itself never uses them. A task's image lies at the top of its kernel
 * stack. The switch saves them when a program's task is left and loads them when one is entered.
 * Only the task itself and the switch touch an image.
 *
 * A signal's frame tells what a handler returns to: registers, stack, mask and vector state; not
 * the segments, of which there is one choice, nor a trap's number and error code.
 */
#include <arch/signal.h>

#include "kernel/proc/signal.h"
#include "arch/x86/x86.h"

/* ---- vector registers ------------------------------------------------------------------------ */

/* Offsets in an image, and what Linux tells programs about that of a signal frame. */
enum { MXCSR = 24, SOFTWARE = 464, XSTATE_HEADER = 512, XSTATE_HEADER_SIZE = 64 };
#define MXCSR_MASK 0xffffu
#define XFEATURES_WANTED 7 /* x87, SSE, AVX */
#define FP_XSTATE_MAGIC1 0x46505853u
#define FP_XSTATE_MAGIC2 0x46505845u

static u64 xfeatures; /* XCR0: the components in use */
/* Of it XRSTOR loads MXCSR, 0x1f80, and gives everything else its initial value. */
static const u8 initial_state[FPU_AREA_SIZE] __aligned(64) = {[MXCSR] = 0x80, [MXCSR + 1] = 0x1f};

static inline void fpu_save(void *area)
{
	__asm__ __volatile__("xsave64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
}

static inline void fpu_restore(const void *area)
{
	__asm__ __volatile__("xrstor64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
}

void fpu_init_cpu(void)
{
	xfeatures = cpuid(13, 0) & XFEATURES_WANTED;
	__asm__ __volatile__("fninit; xsetbv" ::"c"(0), "a"((u32)xfeatures), "d"(0));
	fpu_restore(initial_state);
}

/* The image of @task, made ready: XSAVE leaves some of it alone, of which XRSTOR faults unless the
 * header is zero, and a signal frame shows the rest to the program. */
static void *prepare_area(struct task *task)
{
	task->arch.fpu = task_registers(task) + 1;
	return memset(task->arch.fpu, 0, FPU_AREA_SIZE);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* What arch_switch_stacks() pops. */
struct switch_frame {
	u64 r15, r14, r13, r12, bx, bp;
	u64 ip;
};

#define ARCH_SET_FS 0x1002

extern char task_start[];
struct task *arch_switch_stacks(struct task *previous, struct task *next);

/* Where a program is sent: not to a non-canonical address, at which iretq would fault in the
 * kernel, but to one where the program does. */
#define program_ip(address) min((u64)(address), (u64)USER_TOP)

struct task *arch_switch(struct task *previous, struct task *next)
{
	struct cpu *cpu = this_cpu();

	ASSERT(*(u64 *)previous->kernel_stack == KERNEL_STACK_MAGIC); /* else it has overflowed */
	if (previous->arch.fpu)
		fpu_save(previous->arch.fpu);
	if (next->arch.fpu) {
		fpu_restore(next->arch.fpu);
		write_msr(MSR_FS_BASE, next->arch.fs_base);
	}
	cpu_set_kernel_stack(cpu, (u64)(uintptr_t)(task_registers(next) + 1));
	cpu->running = next;
	return arch_switch_stacks(previous, next);
}

static struct switch_frame *prepare_frame(struct task *task)
{
	struct switch_frame *frame = (struct switch_frame *)task_registers(task) - 1;

	*frame = (struct switch_frame){.ip = (u64)(uintptr_t)task_start};
	task->arch.sp = (u64)(uintptr_t)frame;
	*(u64 *)task->kernel_stack = KERNEL_STACK_MAGIC;
	return frame;
}

void arch_prepare_kernel_thread(struct task *task, int (*function)(void *), void *argument)
{
	struct switch_frame *frame = prepare_frame(task);

	frame->r12 = (u64)(uintptr_t)function;
	frame->r13 = (u64)(uintptr_t)argument;
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
	fpu_save(prepare_area(child));
}

void arch_enter_user(u64 entry, u64 sp)
{
	struct task *task = current;
	struct registers *registers = task_registers(task);

	prepare_area(task);
	fpu_restore(initial_state);
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

/* ---- signal frames --------------------------------------------------------------------------- */

#define RED_ZONE 128 /* below a function's stack pointer; the handler must not touch it */
#define UC_FP_XSTATE 1
#define FLAGS_RF (1UL << 16)

#define FRAME_VECTORS (FPU_AREA_SIZE + sizeof(u32)) /* the image and its magic number */
#define CONTEXT_REGISTERS 18
struct sigcontext {
	u64 registers[CONTEXT_REGISTERS]; /* in the order of context_order */
	u16 cs, gs, fs, ss;
	u64 error, trap, old_mask, cr2;
	u64 fpstate;
	u64 reserved[8];
};
_Static_assert(sizeof(struct sigcontext) == 256, "struct sigcontext of x86-64");

struct ucontext {
	u64 flags;
	u64 link;
	struct signal_stack stack;
	struct sigcontext context;
	u64 blocked;
};

struct rt_sigframe {
	u64 return_address;
	struct ucontext uc;
	struct siginfo info;
	u8 info_rest[SIGINFO_USER_SIZE - sizeof(struct siginfo)];
};

_Static_assert(sizeof(struct rt_sigframe) + RED_ZONE + FRAME_VECTORS + 64 + 16 <
		       ARCH_SIGNAL_STACK_SIZE,
	       "no room for a frame");

#define AT(name) (offsetof(struct registers, name) / sizeof(u64))
static const u8 context_order[CONTEXT_REGISTERS] = {
	AT(r8), AT(r9), AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15), AT(di),
	AT(si), AT(bp), AT(bx),	 AT(dx),  AT(ax),  AT(cx),  AT(sp),  AT(ip),  AT(flags)};

/* Put the vector state at @user, as the XSAVE image that Linux puts at sigcontext.fpstate. */
static int save_vectors(void __user *user)
{
	/* With the second magic number, in 64 bits the components, without. */
	const u32 software[] = {FP_XSTATE_MAGIC1, FRAME_VECTORS, (u32)xfeatures, 0, FPU_AREA_SIZE};
	u8 *area = current->arch.fpu;

	fpu_save(area); /* a switch during the copy saves the same values again */
	memcpy(area + SOFTWARE, software, sizeof(software));
	TRY(write_user(user, area, FPU_AREA_SIZE));
	return put_user(FP_XSTATE_MAGIC2, (u32 __user *)(user + FPU_AREA_SIZE));
}

/* The reverse; what no program may load is put right, so that XRSTOR does not fault. */
static int restore_vectors(const void __user *user)
{
	u8 image[FPU_AREA_SIZE] __aligned(64); /* a switch during the copy saves over the area */
	u64 *header = (u64 *)(image + XSTATE_HEADER);

	TRY(read_user(image, user, sizeof(image)));
	*(u32 *)(image + MXCSR) &= MXCSR_MASK;
	header[0] &= xfeatures;
	memset(header + 1, 0, XSTATE_HEADER_SIZE - sizeof(u64));
	fpu_restore(image);
	return 0;
}

int arch_push_signal_frame(struct registers *registers, const struct signal_action *action,
			   const struct siginfo *info, u64 blocked)
{
	const struct signal_stack *stack = &current->signals->stack;
	bool on_it = on_signal_stack(stack, registers->sp);
	u64 sp = registers->sp - RED_ZONE, fpu;
	struct rt_sigframe frame;

	if (!(action->flags & SA_RESTORER))
		return -EFAULT;
	if (action->flags & SA_ONSTACK && !(stack->flags & SS_DISABLE) && !on_it)
		sp = stack->sp + stack->size;
	fpu = round_down(sp - FRAME_VECTORS, 64);
	sp = round_down(fpu - sizeof(frame), 16) - 8; /* as if the handler had been called */
	if (!access_ok((void *)sp, sizeof(frame)) || save_vectors((void *)fpu))
		return -EFAULT;
	memset(&frame, 0, sizeof(frame));
	frame.return_address = action->restorer;
	frame.uc.flags = UC_FP_XSTATE;
	frame.uc.stack = *stack;
	frame.uc.stack.flags |= on_it ? SS_ONSTACK : 0;
	for (unsigned i = 0; i < CONTEXT_REGISTERS; i++)
		frame.uc.context.registers[i] = ((u64 *)registers)[context_order[i]];
	frame.uc.context.fpstate = fpu;
	frame.uc.blocked = blocked;
	frame.info = *info;
	TRY(write_user((void *)sp, &frame, sizeof(frame)));
	fpu_restore(initial_state);
	registers->di = (u64)info->signo;
	registers->ax = 0;
	registers->si = sp + offsetof(struct rt_sigframe, info);
	registers->dx = sp + offsetof(struct rt_sigframe, uc);
	registers->ip = program_ip(action->handler);
	registers->sp = sp;
	registers->flags &= ~(FLAGS_TF | FLAGS_DF | FLAGS_RF);
	return 0;
}

int arch_pop_signal_frame(struct registers *registers, u64 *blocked)
{
	struct rt_sigframe *frame = (void *)(registers->sp - 8); /* the return address was popped */
	struct ucontext uc;

	TRY(read_user(&uc, &frame->uc, sizeof(uc)));
	for (unsigned i = 0; i < CONTEXT_REGISTERS; i++)
		((u64 *)registers)[context_order[i]] = uc.context.registers[i];
	registers->ip = program_ip(registers->ip);
	arch_end_syscall(registers);
	registers->flags = (registers->flags & FLAGS_USER) | FLAGS_FIXED | FLAGS_IF;
	TRY(restore_vectors((void *)uc.context.fpstate));
	uc.stack.flags &= SS_DISABLE;
	current->signals->stack = uc.stack;
	*blocked = uc.blocked;
	return 0;
}
