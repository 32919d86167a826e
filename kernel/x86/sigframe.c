/*
 * sigframe.c - building and taking down rt_sigframe, in Linux's layout on x86-64.
 */
#include <arch/signal.h>

#include "kernel/proc/signal.h"
#include "kernel/x86/offsets.h"

#define RED_ZONE 128 /* below a function's stack pointer; the handler must not touch it */
#define UC_FP_XSTATE 1
#define UC_SIGCONTEXT_SS 2
#define UC_STRICT_RESTORE_SS 4
#define FLAGS_TF (1UL << 8)
#define FLAGS_DF (1UL << 10)
#define FLAGS_RF (1UL << 16)

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

size_t arch_signal_stack_size(void)
{
	return round_up(sizeof(struct rt_sigframe) + RED_ZONE + arch_fpu_frame_size() + 64 + 16,
			(size_t)64);
}

static bool on_signal_stack(const struct signal_stack *stack, u64 sp)
{
	return !(stack->flags & SS_DISABLE) && sp > stack->sp && sp - stack->sp <= stack->size;
}

static u64 choose_stack(const struct registers *registers, const struct signal_action *action)
{
	const struct signal_stack *stack = &current->signals->stack;

	if ((action->flags & SA_ONSTACK) && !(stack->flags & SS_DISABLE) &&
	    !on_signal_stack(stack, registers->sp))
		return stack->sp + stack->size;
	return registers->sp - RED_ZONE;
}

#define AT(name) offsetof(struct registers, name)
static const u8 context_order[CONTEXT_REGISTERS] = {
	AT(r8), AT(r9), AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15), AT(di),
	AT(si), AT(bp), AT(bx),	 AT(dx),  AT(ax),  AT(cx),  AT(sp),  AT(ip),  AT(flags)};

static u64 *register_at(struct registers *registers, unsigned i)
{
	return (u64 *)((char *)registers + context_order[i]);
}

int arch_push_signal_frame(struct registers *registers, const struct signal_action *action,
			   const struct siginfo *info, u64 blocked)
{
	struct rt_sigframe frame;
	u64 sp = choose_stack(registers, action), fpu;

	if (!(action->flags & SA_RESTORER))
		return -EFAULT;
	fpu = round_down(sp - arch_fpu_frame_size(), 64);
	sp = round_down(fpu - sizeof(frame), 16) - 8; /* as if the handler had been called */
	if (!access_ok((void *)sp, sizeof(frame)) || arch_fpu_save_user((void *)fpu))
		return -EFAULT;
	memset(&frame, 0, sizeof(frame));
	frame.return_address = action->restorer;
	frame.uc.flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	frame.uc.stack = current->signals->stack;
	if (on_signal_stack(&frame.uc.stack, registers->sp))
		frame.uc.stack.flags |= SS_ONSTACK;
	for (unsigned i = 0; i < CONTEXT_REGISTERS; i++)
		frame.uc.context.registers[i] = *register_at(registers, i);
	frame.uc.context.cs = (u16)registers->cs;
	frame.uc.context.ss = (u16)registers->ss;
	frame.uc.context.old_mask = blocked;
	frame.uc.context.fpstate = fpu;
	if (info->signo == SIGSEGV || info->signo == SIGBUS)
		frame.uc.context.cr2 = info->address;
	frame.uc.blocked = blocked;
	frame.info = *info;
	if (copy_to_user((void *)sp, &frame, sizeof(frame)))
		return -EFAULT;
	if (current->signals->stack.flags & (s32)SS_AUTODISARM)
		current->signals->stack = (struct signal_stack){.flags = SS_DISABLE};
	arch_fpu_reset();
	registers->di = (u64)info->signo;
	registers->ax = 0;
	registers->si = sp + offsetof(struct rt_sigframe, info);
	registers->dx = sp + offsetof(struct rt_sigframe, uc);
	registers->ip = action->handler;
	registers->sp = sp;
	registers->cs = USER_CS;
	registers->ss = USER_DS;
	registers->flags &= ~(FLAGS_TF | FLAGS_DF | FLAGS_RF);
	return 0;
}

int arch_pop_signal_frame(struct registers *registers, u64 *blocked)
{
	struct rt_sigframe *frame = (void *)(registers->sp - 8); /* the return address was popped */
	struct ucontext uc;

	if (copy_from_user(&uc, &frame->uc, sizeof(uc)))
		return -EFAULT;
	for (unsigned i = 0; i < CONTEXT_REGISTERS; i++)
		*register_at(registers, i) = uc.context.registers[i];
	arch_end_syscall(registers);
	arch_sanitize_registers(registers);
	if (!uc.context.fpstate)
		arch_fpu_reset();
	else if (arch_fpu_restore_user((void *)uc.context.fpstate))
		return -EFAULT;
	uc.stack.flags &= (s32)(SS_DISABLE | SS_AUTODISARM);
	current->signals->stack = uc.stack;
	*blocked = uc.blocked;
	return 0;
}
