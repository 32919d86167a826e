/*
 * machine.c - registers that no program has, given back by rt_sigreturn, and instructions that are not
 * for programs.
 */
#include "hostile.h"

/* ---- rt_sigreturn ---------------------------------------------------------------------------- */

static int variant;

static uint64_t wild_value(void)
{
	static const uint64_t odd[] = {0, 8, 0x7fffffffefff, 0x7ffffffff000, 0x800000000000, 0x8000000000000000,
				       0xffff800000000000, 0xffffffff80100000, 0xffffffffffffffff,
				       0xffffffffffffff00, 0x400000, 0xfee00000};

	return next_random() % 3 ? odd[next_random() % (sizeof(odd) / sizeof(odd[0]))] : next_random();
}

/* Spoil the frame that the kernel made, in one of many ways. */
static void spoil(int signo, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *registers = uc->uc_mcontext.gregs;
	uint8_t *image = (uint8_t *)uc->uc_mcontext.fpregs;

	(void)signo, (void)info;
	switch (variant % 8) {
	case 0:
		registers[REG_RIP] = (greg_t)wild_value();
		break;
	case 1:
		registers[REG_RSP] = (greg_t)wild_value();
		break;
	case 2:
		registers[REG_EFL] = (greg_t)wild_value();
		break;
	case 3:
		registers[REG_CSGSFS] = (greg_t)next_random();
		break;
	case 4:
		uc->uc_mcontext.fpregs = (void *)wild_value();
		break;
	case 5: /* the vector state: everywhere, or in the header alone */
		for (int i = 0; i < 40; i++)
			image[next_random() % 1088] = (uint8_t)next_random();
		break;
	case 6:
		for (int i = 512; i < 576; i++)
			image[i] = (uint8_t)(next_random() % 2 ? 0xff : next_random());
		memset(image + 24, 0xff, 8); /* MXCSR with its reserved bits */
		break;
	case 7:
		for (size_t i = 0; i < sizeof(*uc) / 8; i++)
			if (next_random() % 4 == 0)
				((uint64_t *)uc)[i] = wild_value();
		break;
	}
}

static void return_wildly(void)
{
	struct sigaction action = {.sa_sigaction = spoil, .sa_flags = SA_SIGINFO};

	for (int i = 0; i < variant + 5; i++)
		next_random();
	alarm(2);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

/* rt_sigreturn without any frame. */
static void return_from_nothing(void)
{
	__asm__ __volatile__("movq %0, %%rsp; movl $15, %%eax; syscall" ::"r"(wild_value() & 0x7fffffffffff));
}

static void blocked_return(void)
{
	__asm__ __volatile__("xorl %%esp, %%esp; movl $15, %%eax; syscall" :::"memory");
}

void test_sigreturn(void)
{
	int ended = 0;

	for (variant = 0; variant < 800; variant++)
		ended += WIFSIGNALED(in_child(return_wildly));
	printf("  800 frames: %d ended their program\n", ended);
	for (int i = 0; i < 20; i++) {
		next_random();
		check(WIFSIGNALED(in_child(return_from_nothing)), "rt_sigreturn without a frame", i);
	}
	check(WIFSIGNALED(in_child(blocked_return)), "rt_sigreturn at 0", 0);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static volatile int traps;

static void count_trap(int signo)
{
	(void)signo;
	traps++;
}

static void single_step(void)
{
	signal(SIGTRAP, count_trap);
	/* With the trap flag on, through a system call as well. */
	__asm__ __volatile__("pushfq; orq $0x100, (%%rsp); popfq; nop; nop; movl $39, %%eax; syscall; nop\n\t"
			     "pushfq; andq $~0x100, (%%rsp); popfq" ::: "rax", "rcx", "r11", "memory");
	_exit(traps >= 4 ? 0 : 1);
}

static void nested_task_flag(void)
{
	/* An iretq with NT set faults: neither short nor long ways out of the kernel may meet it. */
	__asm__ __volatile__("pushfq; orq $0x4000, (%%rsp); popfq; movl $39, %%eax; syscall; movl $24, %%eax; syscall\n\t"
			     "pushfq; andq $~0x4000, (%%rsp); popfq" ::: "rax", "rcx", "r11", "memory");
	kill(getpid(), SIGCONT);
	_exit(0);
}

static void alignment_and_direction(void)
{
	char buffer[64];

	/* AC would open user memory to the kernel under SMAP, DF make its copies run backwards. */
	__asm__ __volatile__("pushfq; orq $0x40400, (%%rsp); popfq; movl $63, %%eax; syscall\n\t"
			     "pushfq; andq $~0x40400, (%%rsp); popfq" ::"D"(malloc(4096))
			     : "rax", "rcx", "r11", "memory");
	check(read(open("/etc/passwd", O_RDONLY), buffer, 63) > 0, "read after the flags", 0);
	_exit(wrong ? 1 : 0);
}

#define INSTRUCTION(name, text)                                                                    \
	static void name(void)                                                                     \
	{                                                                                          \
		__asm__ __volatile__(text ::: "rax", "rbx", "rcx", "rdx", "memory");               \
	}
INSTRUCTION(do_cli, "cli")
INSTRUCTION(do_hlt, "hlt")
INSTRUCTION(do_in, "inb $0x60, %%al")
INSTRUCTION(do_out, "outb %%al, $0x64")
INSTRUCTION(do_rdmsr, "movl $0xc0000080, %%ecx; rdmsr")
INSTRUCTION(do_wrmsr, "movl $0xc0000082, %%ecx; wrmsr")
INSTRUCTION(do_cr3, "movq %%cr3, %%rax")
INSTRUCTION(do_swapgs, "swapgs")
INSTRUCTION(do_sysretq, "xorl %%ecx, %%ecx; sysretq")
INSTRUCTION(do_ud2, "ud2")
INSTRUCTION(do_divide, "xorl %%ecx, %%ecx; movl $1, %%eax; xorl %%edx, %%edx; divl %%ecx")
INSTRUCTION(do_int80, "movl $20, %%eax; int $0x80") /* a call on Linux */
/* QEMU pops these as the kernel would, faults under SMAP, and tries for ever. */
INSTRUCTION(do_iretq, "pushq $0; pushq $0; pushq $2; pushq $8; pushq $0; iretq")
INSTRUCTION(do_lretq, "pushq $8; pushq $0; lretq")
INSTRUCTION(do_int14, "int $14")
INSTRUCTION(do_int32, "int $0x20")
INSTRUCTION(do_int255, "int $0xff")
INSTRUCTION(do_int3, "int3")
INSTRUCTION(do_load_ds, "movw $0x10, %%ax; movw %%ax, %%ds; movw $0x8, %%ax; movw %%ax, %%ss")
INSTRUCTION(do_noncanonical, "movq $0x800000000000, %%rax; movq (%%rax), %%rax")
INSTRUCTION(do_kernel_read, "movq $0xffffffff80100000, %%rax; movq (%%rax), %%rax")
INSTRUCTION(do_kernel_write, "movq $0xffff800000100000, %%rax; movq %%rax, (%%rax)")
INSTRUCTION(do_kernel_jump, "movq $0xffffffff80100000, %%rax; jmp *%%rax")
INSTRUCTION(do_wild_jump, "movq $0x8000000000000000, %%rax; jmp *%%rax")
INSTRUCTION(do_invlpg, "invlpg (%%rsp)")
INSTRUCTION(do_lgdt, "lgdt (%%rsp)")
INSTRUCTION(do_wbinvd, "wbinvd")
/* Linux's 32-bit code segment, in which a call would come to where the kernel expects none. */
INSTRUCTION(do_compat, "leaq 1f(%%rip), %%rax; movabsq $0x2300000000, %%rcx; orq %%rcx, %%rax; pushq %%rax\n\t"
		       "ljmpl *(%%rsp)\n.code32\n1: movl $20, %%eax; syscall; ud2\n.code64")
INSTRUCTION(do_xsetbv, "xorl %%ecx, %%ecx; xsetbv")

/* Each must end its program, by whatever signal. */
static void (*const forbidden[])(void) = {
	do_cli, do_hlt, do_in, do_out, do_rdmsr, do_wrmsr, do_cr3, do_swapgs, do_sysretq, do_ud2,
	do_divide, do_int14, do_int32, do_int255, do_int3, do_load_ds, do_noncanonical,
	do_kernel_read, do_kernel_write, do_kernel_jump, do_wild_jump, do_invlpg, do_lgdt, do_wbinvd, do_compat,
	do_xsetbv,
};

/* These may end in any way. */
static void (*const unjudged[])(void) = {do_int80, do_iretq, do_lretq};

static void wild_bases(void)
{
	static const int codes[] = {0x1001, 0x1002};

	for (int i = 0; i < 2; i++) {
		check(syscall(SYS_arch_prctl, codes[i], 0x800000000000) == -1, "a base out of reach", i);
		check(syscall(SYS_arch_prctl, codes[i], 0xffffffff80000000) == -1, "a base in the kernel", i);
	}
	check(syscall(SYS_clone, 0x80000 | SIGCHLD, 0, 0, 0, 1L << 63) == -1, "a thread's base out of reach", 0);
	/* Null selectors and others: the bases go, the kernel's own stays. */
	__asm__ __volatile__("movw %%ax, %%gs; movw %%bx, %%gs; movl $39, %%eax; syscall" ::"a"(0), "b"(0x2b)
			     : "rcx", "r11", "memory");
	_exit(wrong ? 1 : 0);
}

static void with_time_limit(void)
{
	alarm(1);
	unjudged[variant]();
}

void test_instructions(void)
{
	int status;

	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		status = in_child(forbidden[i]);
		check(WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM && WTERMSIG(status) != SIGKILL,
		      "an instruction not for programs", (long)i << 16 | status);
	}
	for (variant = 0; variant < 3; variant++)
		in_child(with_time_limit);
	status = in_child(single_step);
	check(!status, "single steps", status);
	status = in_child(nested_task_flag);
	check(!status, "the NT flag", status);
	status = in_child(alignment_and_direction);
	check(!status, "the AC and DF flags", status);
	status = in_child(wild_bases);
	check(!status, "segment bases", status);
}
