/*
 * panic.c - the machine's part of a panic: the other CPUs stopped, registers, a trace with names.
 *
 * The trace follows frame pointers. Entry code leaves a frame pointer with bit 0 set to say that it
 * points to a struct registers: the trace goes on in the code that was interrupted. Addresses are
 * checked before they are read, since whatever broke may have broken the stack.
 */
#include <arch/boot.h>
#include <arch/io.h>
#include <arch/page.h>
#include <arch/power.h>

#include "kernel/core/printk.h"
#include "kernel/x86/x86.h"

#define MOST_FRAMES 40
#define COM1 0x3f8

struct symbol {
	u32 offset, name;
};
extern const u32 symbol_count;
extern const struct symbol symbol_table[];
extern const char symbol_names[];

/* The table and the names follow the count; the linker knows where. */
const char *symbol_lookup(u64 address, u64 *offset)
{
	u64 relative = address - (u64)(uintptr_t)text_start;
	const struct symbol *table = symbol_table;
	size_t low = 0, high = symbol_count;

	if (address < (u64)(uintptr_t)text_start || address >= (u64)(uintptr_t)text_end || !high)
		return NULL;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (table[middle].offset <= relative)
			low = middle;
		else
			high = middle;
	}
	if (table[low].offset > relative)
		return NULL;
	*offset = relative - table[low].offset;
	return symbol_names + table[low].name;
}

static void print_address(u64 address)
{
	u64 offset = 0;
	const char *name = symbol_lookup(address, &offset);

	printk(KERN_EMERG "  %016llx %s+0x%llx\n", (unsigned long long)address, name ? name : "?",
	       (unsigned long long)offset);
}

static void print_registers(const struct registers *r)
{
#define LL(x) ((unsigned long long)(x))
	printk(KERN_EMERG "ip %016llx sp %016llx flags %08llx cs %llx ss %llx error %llx\n",
	       LL(r->ip), LL(r->sp), LL(r->flags), LL(r->cs), LL(r->ss), LL(r->orig_ax));
	printk(KERN_EMERG "ax %016llx bx %016llx cx %016llx dx %016llx\n", LL(r->ax), LL(r->bx),
	       LL(r->cx), LL(r->dx));
	printk(KERN_EMERG "si %016llx di %016llx bp %016llx r8 %016llx\n", LL(r->si), LL(r->di),
	       LL(r->bp), LL(r->r8));
	printk(KERN_EMERG "r9 %016llx 10 %016llx 11 %016llx 12 %016llx\n", LL(r->r9), LL(r->r10),
	       LL(r->r11), LL(r->r12));
	printk(KERN_EMERG "13 %016llx 14 %016llx 15 %016llx\n", LL(r->r13), LL(r->r14), LL(r->r15));
	printk(KERN_EMERG "cr0 %08llx cr2 %016llx cr3 %llx cr4 %llx\n", LL(read_cr0()),
	       LL(read_cr2()), LL(read_cr3()), LL(read_cr4()));
#undef LL
}

/* Could @address be on a kernel stack: RAM in the direct map, or the image's data? */
static bool readable(u64 address)
{
	if (address & 7)
		return false;
	if (address >= DIRECT_MAP_BASE && address < DIRECT_MAP_BASE + boot_max_phys())
		return true;
	return address >= (u64)(uintptr_t)data_start && address < (u64)(uintptr_t)kernel_end;
}

void arch_backtrace(const struct registers *registers)
{
	u64 frame = (u64)(uintptr_t)__builtin_frame_address(0);
	unsigned i;

	if (registers)
		print_registers(registers);
	printk(KERN_EMERG "Trace, CPU %u:\n", cpu_id());
	if (registers) {
		print_address(registers->ip);
		frame = user_mode(registers) ? 0 : registers->bp;
	}
	for (i = 0; i < MOST_FRAMES && frame; i++) {
		if (frame & 1) {
			const struct registers *saved = (const void *)(uintptr_t)(frame - 1);

			if (!readable(frame - 1))
				break;
			printk(KERN_EMERG "  -- interrupted:\n");
			print_address(saved->ip);
			frame = user_mode(saved) ? 0 : saved->bp;
			continue;
		}
		if (!readable(frame))
			break;
		if (((const u64 *)(uintptr_t)frame)[1])
			print_address(((const u64 *)(uintptr_t)frame)[1]);
		frame = *(const u64 *)(uintptr_t)frame;
	}
}

void fatal_exception(struct registers *registers, unsigned vector, const char *what)
{
	if (vector == 14)
		panic_registers(registers, "%s at %016llx, %s of %016llx, error %llx", what,
				(unsigned long long)registers->ip,
				registers->orig_ax & 2	  ? "write"
				: registers->orig_ax & 16 ? "fetch"
							  : "read",
				(unsigned long long)read_cr2(),
				(unsigned long long)registers->orig_ax);
	panic_registers(registers, "%s at %016llx, error %llx", what,
			(unsigned long long)registers->ip, (unsigned long long)registers->orig_ax);
}

void arch_panic_stop_others(void)
{
	if (__atomic_exchange_n(&cpus_stopped, true, __ATOMIC_SEQ_CST) || nr_cpus == 1)
		return;
	lapic_send_nmi_others();
	for (volatile unsigned i = 0; i < 100000; i++)
		;
}

void arch_early_putc(char c)
{
	unsigned spins = 100000; /* a port that is not there never gets ready */

	while (!(inb(COM1 + 5) & 0x20) && --spins)
		;
	outb((u8)c, COM1);
}
