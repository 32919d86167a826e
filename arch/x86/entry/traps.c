/*
 * traps.c - exceptions: of a program, to signals; of the kernel, to the exception table or to
 * panic.
 *
 * A page fault of the kernel on a program's address is legitimate only at an instruction that the
 * exception table lists (uaccess.S); anything else is a bug and is not allowed to fault a page in.
 */

#include <arch/power.h>

#include "arch/x86/x86.h"
#include "core/kernel.h"
#include "core/signal.h"

#define IDT_ENTRIES 256

#define CHECK(name, structure, field)                                                              \
	_Static_assert(name == offsetof(structure, field), #name " is wrong in offsets.h")
CHECK(CPU_CURRENT, struct cpu, running);
CHECK(CPU_KERNEL_STACK, struct cpu, kernel_stack);
CHECK(CPU_USER_SP, struct cpu, user_sp);
CHECK(TASK_SP, struct task, arch.sp);
CHECK(TASK_PENDING, struct task, pending);
CHECK(REGISTERS_AX, struct registers, ax);
CHECK(REGISTERS_CS, struct registers, cs);

enum { ILL_ILLOPN = 2, FPE_INTDIV = 1, TRAP_TRACE = 2, BUS_ADRALN = 1 };

static struct idt_entry {
	u16 offset_low, selector;
	u8 ist, type;
	u16 offset_middle;
	u32 offset_high, reserved;
} idt[IDT_ENTRIES] __aligned(16);
static const struct descriptor_pointer idt_pointer = {sizeof(idt) - 1, (u64)(uintptr_t)idt};
extern const char syscall_entry[], trap_stubs[]; /* entry.S; the stubs TRAP_STUB_BYTES each */

extern const struct extable_entry {
	u64 instruction, fixup;
} extable[], extable_end[];
extern u8 *const smap_sites_start[], *const smap_sites_end[];

static const struct trap {
	const char *name;
	int signo, code; /* for a program; 0: SIGSEGV, SI_KERNEL */
} trap_table[32] = {
	[0] = {"divide error", SIGFPE, FPE_INTDIV},
	[1] = {"debug", SIGTRAP, TRAP_TRACE},
	[2] = {"NMI"},
	[3] = {"breakpoint", SIGTRAP, SI_KERNEL},
	[6] = {"invalid opcode", SIGILL, ILL_ILLOPN},
	[8] = {"double fault"},
	[11] = {"segment not present", SIGBUS, SI_KERNEL},
	[12] = {"stack segment", SIGBUS, SI_KERNEL},
	[13] = {"general protection"},
	[14] = {"page fault"},
	[16] = {"x87 error", SIGFPE, SI_KERNEL},
	[17] = {"alignment check", SIGBUS, BUS_ADRALN},
	[18] = {"machine check"},
	[19] = {"SIMD error", SIGFPE, SI_KERNEL},
};

/* All are interrupt gates: interrupts stay off until the handler says otherwise. */
void idt_init(void)
{
	for (unsigned vector = 0; vector < IDT_ENTRIES; vector++) {
		u64 stub = (u64)(uintptr_t)trap_stubs + vector * TRAP_STUB_BYTES;

		idt[vector] = (struct idt_entry){
			.offset_low = (u16)stub,
			.selector = KERNEL_CS,
			.type = 0x8e,
			.offset_middle = (u16)(stub >> 16),
			.offset_high = (u32)(stub >> 32),
		};
	}
	idt[3].type = 0xee; /* int3: from programs too */
	idt[2].ist = 1;
	idt[8].ist = 2;
	idt[18].ist = 3;
}

void traps_init_cpu(void)
{
	__asm__ __volatile__("lidt %0" ::"m"(idt_pointer));
	write_msr(MSR_STAR, (u64)USER_CS32 << 48 | (u64)KERNEL_CS << 32);
	write_msr(MSR_LSTAR, (u64)(uintptr_t)syscall_entry);
	write_msr(MSR_SFMASK, FLAGS_IF | FLAGS_DF | FLAGS_TF | FLAGS_AC | 0x4000 /* NT */);
}

/* Before the text is write-protected. */
void uaccess_patch_smap(void)
{
	if (!cpu_has(CPU_SMAP))
		for (u8 *const *site = smap_sites_start; site < smap_sites_end; site++)
			memcpy(*site, "\x0f\x1f\x00", 3); /* a no-op as long as stac and clac */
}

static __noreturn void fatal_exception(const struct registers *registers, unsigned vector)
{
	panic_registers = registers;
	if ((vector == 8 || vector == 14) && is_below_stack(read_cr(2)))
		panic("kernel stack overflow at %016llx, CR2 %016llx", registers->ip, read_cr(2));
	panic("%s at %016llx, error %llx, CR2 %016llx", trap_table[vector & 31].name ?: "exception",
	      registers->ip, registers->orig_ax, read_cr(2));
}

/* The kernel cannot reach @address. */
static void kernel_fault(struct registers *registers, unsigned vector, u64 address, unsigned access)
{
	struct mm *mm = current ? current->mm : NULL;
	const struct extable_entry *entry = extable;

	/* Where a faulting access to a program's memory goes on. */
	while (entry < extable_end && entry->instruction != registers->ip)
		entry++;
	if ((s64)address < 0 || entry == extable_end)
		fatal_exception(registers, vector);
	if (mm && address < USER_TOP && (registers->flags & FLAGS_IF)) {
		arch_irq_enable();
		if (mm_fault(mm, address, access) == 0)
			return;
	}
	registers->ip = entry->fixup;
	registers->flags &= ~FLAGS_AC; /* the program's memory is closed */
}

void trap_handle(unsigned vector, struct registers *registers)
{
	const struct trap *trap = &trap_table[vector & 31];

	if (vector >= 32) {
		irq_dispatch(vector, registers);
	} else if (vector == 2 && cpus_stopped) {
		arch_halt_forever();
	} else if (!user_mode(registers) && vector == 13) { /* of a non-canonical address */
		kernel_fault(registers, vector, USER_TOP, 0);
	} else if (!user_mode(registers) || vector == 2 || vector == 8 || vector == 18) {
		fatal_exception(registers, vector);
	} else {
		registers->orig_ax = ~0UL; /* the error code: not a system call to restart */
		arch_irq_enable();
		int signo = trap->signo ?: SIGSEGV;
		int code = trap->signo ? trap->code : SI_KERNEL;
		bool located = code != SI_KERNEL || signo == SIGFPE;
		force_signal(signo, code, located ? registers->ip : 0);
	}
}

void trap_page_fault(struct registers *registers)
{
	u64 address = read_cr(2);
	unsigned access = (unsigned)registers->orig_ax; /* the error code */

	if (unlikely(!user_mode(registers))) {
		kernel_fault(registers, 14, address, access);
		return;
	}
	registers->orig_ax = ~0UL; /* not a system call */
	arch_irq_enable();
	int error = address < USER_TOP ? mm_fault(current->mm, address, access) : -EFAULT;

	if (likely(!error))
		return;
	if (error == -ENOMEM)
		force_signal(SIGKILL, SI_KERNEL, address);
	else if (error == -EIO)
		force_signal(SIGBUS, BUS_ADRERR, address);
	else
		force_signal(SIGSEGV, error == -EACCES ? SEGV_ACCERR : SEGV_MAPERR, address);
}
