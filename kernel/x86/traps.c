/*
 * traps.c - exceptions: of a program, to signals; of the kernel, to the exception table or to
 * panic.
 *
 * A page fault of the kernel on a program's address is legitimate only at an instruction that the
 * exception table lists; anything else is a bug and is not allowed to fault a page in.
 */
#include <arch/boot.h>
#include <arch/mmu.h>

#include "kernel/core/errno.h"
#include "kernel/core/printk.h"
#include "kernel/x86/x86.h"
#include "mm/vm.h"

#define IDT_ENTRIES 256

#define FAULT_CODE_PRESENT (1u << 0)
#define FAULT_CODE_WRITE (1u << 1)
#define FAULT_CODE_FETCH (1u << 4)

/* Signals and codes, Linux's numbers. */
enum { SIGILL = 4, SIGTRAP = 5, SIGBUS = 7, SIGFPE = 8, SIGKILL = 9, SIGSEGV = 11 };
enum {
	SI_KERNEL = 0x80,
	ILL_ILLOPN = 2,
	FPE_INTDIV = 1,
	SEGV_MAPERR = 1,
	SEGV_ACCERR = 2,
	BUS_ADRALN = 1,
	BUS_ADRERR = 2,
	TRAP_TRACE = 2,
};

struct idt_entry {
	u16 offset_low, selector;
	u8 ist, type;
	u16 offset_middle;
	u32 offset_high, reserved;
};

static struct idt_entry idt[IDT_ENTRIES] __aligned(16);
extern const u64 trap_stubs[IDT_ENTRIES];

void force_signal(int signo, int code, u64 address);
bool extable_covers(u64 ip);

struct trap {
	const char *name;
	int signo, code; /* for a program; signo 0: never from a program */
};

static const struct trap trap_table[32] = {
	[0] = {"divide error", SIGFPE, FPE_INTDIV},
	[1] = {"debug", SIGTRAP, TRAP_TRACE},
	[2] = {"NMI", 0, 0},
	[3] = {"breakpoint", SIGTRAP, SI_KERNEL},
	[4] = {"overflow", SIGSEGV, SI_KERNEL},
	[5] = {"bound range", SIGSEGV, SI_KERNEL},
	[6] = {"invalid opcode", SIGILL, ILL_ILLOPN},
	[7] = {"device not available", SIGSEGV, SI_KERNEL},
	[8] = {"double fault", 0, 0},
	[10] = {"invalid TSS", SIGSEGV, SI_KERNEL},
	[11] = {"segment not present", SIGBUS, SI_KERNEL},
	[12] = {"stack segment", SIGBUS, SI_KERNEL},
	[13] = {"general protection", SIGSEGV, SI_KERNEL},
	[14] = {"page fault", 0, 0},
	[16] = {"x87 error", SIGFPE, SI_KERNEL},
	[17] = {"alignment check", SIGBUS, BUS_ADRALN},
	[18] = {"machine check", 0, 0},
	[19] = {"SIMD error", SIGFPE, SI_KERNEL},
};

static void idt_set(unsigned vector, u64 stub, u8 ist, u8 type)
{
	idt[vector] = (struct idt_entry){
		.offset_low = (u16)stub,
		.selector = KERNEL_CS,
		.ist = ist,
		.type = type,
		.offset_middle = (u16)(stub >> 16),
		.offset_high = (u32)(stub >> 32),
	};
}

/* All are interrupt gates: interrupts stay off until the handler says otherwise. */
void idt_init(void)
{
	unsigned vector;

	for (vector = 0; vector < IDT_ENTRIES; vector++)
		idt_set(vector, trap_stubs[vector], 0, 0x8e);
	idt[3].type = idt[4].type = 0xee; /* int3, into: from programs too */
	idt[2].ist = 1;
	idt[8].ist = 2;
	idt[18].ist = 3;
}

void idt_load(void)
{
	struct {
		u16 limit;
		u64 base;
	} __packed pointer = {sizeof(idt) - 1, (u64)(uintptr_t)idt};

	__asm__ __volatile__("lidt %0" ::"m"(pointer));
}

static void trap_exception(struct registers *registers, unsigned vector)
{
	const struct trap *trap = &trap_table[vector & 31];

	if (vector == 2 && cpus_stopped)
		for (;;)
			__asm__ __volatile__("cli; hlt");
	if (!user_mode(registers)) {
		if (vector == 13 && extable_fixup(registers)) /* a non-canonical address */
			return;
		fatal_exception(registers, vector, trap->name ? trap->name : "reserved exception");
	}
	if (!trap->signo)
		fatal_exception(registers, vector, trap->name ? trap->name : "reserved exception");
	registers->orig_ax = ~0UL; /* the error code must not look like a system call to restart */
	arch_irq_enable();
	force_signal(trap->signo, trap->code, registers->ip);
}

void trap_handle(unsigned vector, struct registers *registers)
{
	if (vector >= 32)
		irq_dispatch(vector, registers);
	else
		trap_exception(registers, vector);
}

/* The program's registers say that it goes on at an address that does not exist. */
void trap_bad_user_ip(struct registers *registers)
{
	u64 address = registers->ip;

	registers->ip = 0;
	force_signal(SIGSEGV, SI_KERNEL, address);
}

static void signal_fault(int error, u64 address)
{
	switch (error) {
	case -EACCES:
		force_signal(SIGSEGV, SEGV_ACCERR, address);
		break;
	case -EIO:
		force_signal(SIGBUS, BUS_ADRERR, address);
		break;
	case -ENOMEM:
		force_signal(SIGKILL, SI_KERNEL, address);
		break;
	default:
		force_signal(SIGSEGV, SEGV_MAPERR, address);
	}
}

static void kernel_page_fault(struct registers *registers, u64 address, unsigned access)
{
	struct mm *mm = current ? current->mm : NULL;

	if ((s64)address < 0 || !extable_covers(registers->ip))
		fatal_exception(registers, 14, "page fault");
	if (mm && address < USER_TOP && !current->in_page_fault && (registers->flags & FLAGS_IF)) {
		arch_irq_enable();
		if (mm_fault(mm, address, access) == 0)
			return;
	}
	extable_fixup(registers);
}

void trap_page_fault(struct registers *registers)
{
	u64 address = read_cr2();
	u32 code = (u32)registers->orig_ax;
	unsigned access = code & FAULT_CODE_WRITE ? FAULT_WRITE : 0;
	int error;

	registers->orig_ax = ~0UL; /* not a system call */
	if (code & FAULT_CODE_FETCH)
		access |= FAULT_EXEC;
	if (code & FAULT_CODE_PRESENT)
		access |= FAULT_PRESENT;
	if (unlikely(!user_mode(registers))) {
		registers->orig_ax = code;
		kernel_page_fault(registers, address, access);
		return;
	}
	arch_irq_enable();
	error = address < USER_TOP ? mm_fault(current->mm, address, access | FAULT_USER) : -EFAULT;
	if (unlikely(error))
		signal_fault(error, address);
}
