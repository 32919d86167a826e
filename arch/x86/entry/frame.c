/*
 * frame.c - signal frames (arch/signal.h), in Linux's layout on x86-64.
 *
 * A frame tells what a handler returns to: registers, stack, mask and vector state; not the
 * segments, of which there is one choice, nor a trap's number and error code.
 */
#include <arch/signal.h>

#include "arch/x86/entry/fpu.h"
#include "arch/x86/entry/program.h"
#include "arch/x86/x86.h"
#include "core/kernel.h"
#include "core/signal.h"

#define MXCSR_MASK 0xffffu
#define FP_XSTATE_MAGIC1 0x46505853u
#define FP_XSTATE_MAGIC2 0x46505845u

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

/* The reverse; what no program may load is put right, so that XRSTOR does not fault. NULL stands
 * for the state that programs begin with. */
static int restore_vectors(const void __user *user)
{
	u8 image[FPU_AREA_SIZE] __aligned(64); /* a switch during the copy saves over the area */
	u64 *header = (u64 *)(image + XSTATE_HEADER);

	if (!user) {
		fpu_restore(fpu_initial_state);
		return 0;
	}
	TRY(read_user(image, user, sizeof(image)));
	*(u32 *)(image + MXCSR) &= MXCSR_MASK;
	header[0] &= xfeatures;
	memset(header + 1, 0, XSTATE_HEADER_SIZE - sizeof(u64));
	fpu_restore(image);
	return 0;
}

int arch_push_signal_frame(struct registers *registers, const struct signal_action *action,
			   const struct siginfo *info, u64 blocked,
			   const struct signal_stack *stack)
{
	bool on_it = on_signal_stack(stack, registers->sp);
	bool to_it = on_it || (action->flags & SA_ONSTACK && !(stack->flags & SS_DISABLE));
	u64 sp = registers->sp - RED_ZONE, fpu;
	struct rt_sigframe frame;

	if (!(action->flags & SA_RESTORER))
		return -EFAULT;
	if (to_it && !on_it)
		sp = stack->sp + stack->size;
	fpu = round_down(sp - FRAME_VECTORS, 64);
	sp = round_down(fpu - sizeof(frame), 16) - 8; /* as if the handler had been called */
	if (to_it && !on_signal_stack(stack, sp))
		return -EFAULT; /* it is used up: the next frame would be written over others */
	if (!access_ok((void *)sp, sizeof(frame)) || save_vectors((void *)fpu))
		return -EFAULT;
	memset(&frame, 0, sizeof(frame));
	frame.return_address = action->restorer;
	frame.uc.flags = UC_FP_XSTATE;
	frame.uc.stack = *stack;
	if (on_it)
		frame.uc.stack.flags |= SS_ONSTACK;
	for (unsigned i = 0; i < CONTEXT_REGISTERS; i++)
		frame.uc.context.registers[i] = ((u64 *)registers)[context_order[i]];
	frame.uc.context.fpstate = fpu;
	frame.uc.blocked = blocked;
	frame.info = *info;
	TRY(write_user((void *)sp, &frame, sizeof(frame)));
	fpu_restore(fpu_initial_state);
	registers->di = (u64)info->signo;
	registers->ax = 0;
	registers->si = sp + offsetof(struct rt_sigframe, info);
	registers->dx = sp + offsetof(struct rt_sigframe, uc);
	registers->ip = program_ip(action->handler);
	registers->sp = sp;
	registers->flags &= ~(FLAGS_TF | FLAGS_DF | FLAGS_RF);
	return 0;
}

int arch_pop_signal_frame(struct registers *registers, u64 *blocked, struct signal_stack *stack)
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
	*stack = uc.stack;
	*blocked = uc.blocked;
	return 0;
}
