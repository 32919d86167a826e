/*
 * panic.c - the machine's part of a panic: the other CPUs stopped, registers, a trace with names.
 *
 * The trace follows frame pointers. Entry code leaves a frame pointer with bit 0 set to say that it
 * points to a struct registers: the trace goes on in the code that was interrupted. Addresses are
 * checked before they are read, since whatever broke may have broken the stack.
 */

#include <arch/power.h>

#include "core/kernel.h"
#include "arch/x86/x86.h"

#define MOST_FRAMES 40

volatile bool cpus_stopped;

/* All of struct registers, three to a line, and where a fault was and in which address space. */
static void print_registers(const struct registers *registers)
{
	static const char names[][6] = {"r15", "r14", "r13", "r12", "bp",    "bx", "r11",
					"r10", "r9",  "r8",  "ax",  "cx",    "dx", "si",
					"di",  "err", "ip",  "cs",  "flags", "sp", "ss"};
	const u64 *values = (const void *)registers;

	for (unsigned i = 0; i < ARRAY_SIZE(names); i += 3)
		printk(KERN_EMERG "%5s %016llx %5s %016llx %5s %016llx\n", names[i], values[i],
		       names[i + 1], values[i + 1], names[i + 2], values[i + 2]);
	printk(KERN_EMERG "  cr2 %016llx   cr3 %016llx\n", read_cr(2), read_cr(3));
}

/* Are @size bytes at @address on a stack: this task's, or this CPU's of exceptions? A program may
 * have put anything into rbp. */
static bool readable(u64 address, u64 size)
{
	return !(address & 7) &&
	       (address - (u64)current->kernel_stack <= KERNEL_STACK_SIZE - size ||
		address - (u64)this_cpu()->exception_stacks <= EXCEPTION_STACKS * PAGE_SIZE - size);
}

u64 arch_caller(u64 *frame)
{
	const u64 *words = (const u64 *)(uintptr_t)(*frame & ~1UL);
	const struct registers *saved = (const void *)words;

	if (!readable(*frame & ~1UL, *frame & 1 ? sizeof(*saved) : 2 * sizeof(*words)))
		return 0;
	if (!(*frame & 1)) {
		*frame = words[0];
		return words[1];
	}
	*frame = user_mode(saved) ? 0 : saved->bp;
	return saved->ip;
}

static void backtrace(const struct registers *registers)
{
	u64 frame = (u64)(uintptr_t)__builtin_frame_address(0);

	if (registers) {
		frame = (u64)(uintptr_t)registers | 1; /* as if entry code had left it */
		print_registers(registers);
	}
	printk(KERN_EMERG "Trace, CPU %u:\n", cpu_id());
	for (unsigned i = 0; i < MOST_FRAMES; i++) {
		bool interrupted = frame & 1;
		u64 ip = arch_caller(&frame);

		if (!ip)
			break;
		printk(KERN_EMERG "  %016llx %pS%s\n", ip, (void *)(uintptr_t)ip,
		       interrupted ? ", interrupted" : "");
	}
}

static void stop_others(void)
{
	cpus_stopped = true;
	for (unsigned i = 0; i < nr_cpus; i++)
		if (i != cpu_id())
			lapic_send_ipi(cpus[i].apic_id, IPI_NMI);
	for (volatile unsigned i = 0; i < 100000; i++)
		;
}

static __noreturn void leave(void)
{
	arch_leave(EXIT_PANIC);
}

void panic_init(void)
{
	static const struct panic_machine machine = {
		.stop_others = stop_others,
		.backtrace = backtrace,
		.leave = leave,
	};

	panic_machine = &machine;
}
