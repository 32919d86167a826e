/*
 * irq.c - interrupts: the local APIC of each CPU (interrupts between CPUs, acknowledging, its
 * timer's registers), vectors, the I/O APICs that turn devices' lines into them, and their
 * handlers. Source: Intel SDM volume 3, chapter 11.
 *
 * A line's vector is VECTOR_DEVICE_FIRST plus its number (GSI); messages have those after the
 * lines'. Handlers stand in one short table, of which an interrupt calls all that have its vector
 * (shared PCI lines); it only ever grows, so that needs no lock. All device interrupts go to the
 * first CPU. Masked legacy controllers sit at vectors 32..47, where only their spurious interrupts
 * could arrive.
 */
#include <arch/irq.h>

#include <arch/io.h>

#include "kernel/core/kernel.h"
#include "kernel/x86/x86.h"

enum {
	LAPIC_ID = 0x20,
	LAPIC_TASK_PRIORITY = 0x80,
	LAPIC_EOI = 0xb0,
	LAPIC_SPURIOUS = 0xf0,
	LAPIC_ICR = 0x300,
	LAPIC_ICR_HIGH = 0x310,
	LAPIC_TIMER = 0x320,
	LAPIC_LINT0 = 0x350,
	LAPIC_LINT1 = 0x360,
	LAPIC_ERROR = 0x370,
	LAPIC_INITIAL_COUNT = 0x380,
	LAPIC_CURRENT_COUNT = 0x390,
	LAPIC_DIVIDE = 0x3e0,
};

#define ICR_PENDING (1u << 12)
#define LVT_MASKED (1u << 16)
#define LVT_NMI 0x400u
#define LVT_EXTERNAL 0x700u
#define APIC_BASE_ENABLE (1u << 11)
#define DIVIDE_BY_1 0xbu

static u8 *lapic;

void lapic_init_cpu(void)
{
	if (!lapic)
		lapic = map_physical(acpi.lapic, 4096);
	if (!lapic)
		panic("no memory to map the local APIC");
	write_msr(MSR_APIC_BASE, read_msr(MSR_APIC_BASE) | APIC_BASE_ENABLE);
	writel(0x100 | VECTOR_SPURIOUS, lapic + LAPIC_SPURIOUS);
	writel(0, lapic + LAPIC_TASK_PRIORITY);
	writel(LVT_MASKED | LVT_EXTERNAL, lapic + LAPIC_LINT0);
	writel(LVT_NMI, lapic + LAPIC_LINT1);
	writel(LVT_MASKED, lapic + LAPIC_ERROR);
	writel(DIVIDE_BY_1, lapic + LAPIC_DIVIDE);
	writel(VECTOR_TIMER, lapic + LAPIC_TIMER);
	this_cpu()->apic_id = readl(lapic + LAPIC_ID) >> 24;
}

void lapic_eoi(void)
{
	writel(0, lapic + LAPIC_EOI);
}

void lapic_send_ipi(u32 apic_id, u32 command)
{
	unsigned long irq = arch_irq_save(); /* two registers: an interrupt would send its own */

	while (readl(lapic + LAPIC_ICR) & ICR_PENDING)
		cpu_relax();
	writel(apic_id << 24, lapic + LAPIC_ICR_HIGH);
	writel(command, lapic + LAPIC_ICR);
	arch_irq_restore(irq);
}

void lapic_timer_write(u32 count)
{
	writel(count, lapic + LAPIC_INITIAL_COUNT);
}

u32 lapic_timer_read(void)
{
	return readl(lapic + LAPIC_CURRENT_COUNT);
}

/* ---- devices ----------------------------------------------------------------------------------
 */

#define HANDLERS 32
#define LINES 128

#define REDIRECTION_LOW (1u << 13)
#define REDIRECTION_LEVEL (1u << 15)
#define REDIRECTION_MASKED (1u << 16)

static DEFINE_SPINLOCK(irq_lock); /* adding to what follows; registers of the I/O APICs */
static struct {
	unsigned vector;
	irq_handler_t function;
	void *argument;
} handlers[HANDLERS];
static unsigned handler_count;
static unsigned next_message = VECTOR_DEVICE_FIRST + LINES;

static u32 ioapic_read(struct ioapic *ioapic, u32 reg)
{
	writel(reg, ioapic->registers);
	return readl(ioapic->registers + 16);
}

static void ioapic_write(struct ioapic *ioapic, u32 reg, u32 value)
{
	writel(reg, ioapic->registers);
	writel(value, ioapic->registers + 16);
}

/* Before the local APIC's LINT0 is masked, which would leave a pending request of theirs behind. */
void irq_mask_legacy(void)
{
	static const u8 program[][2] = {{0x11, 0x20}, {0x11, 0xa0}, {0x20, 0x21}, {0x28, 0xa1},
					{4, 0x21},    {2, 0xa1},    {1, 0x21},	  {1, 0xa1},
					{0xff, 0x21}, {0xff, 0xa1}};

	for (unsigned i = 0; i < ARRAY_SIZE(program); i++)
		outb(program[i][0], program[i][1]);
}

void irq_init(void)
{
	for (unsigned i = 0; i < acpi.ioapic_count; i++) {
		struct ioapic *ioapic = &acpi.ioapics[i];

		ioapic->registers = map_physical(ioapic->address, 4096);
		if (!ioapic->registers)
			panic("no memory to map the I/O APIC");
		ioapic->gsi_count = (ioapic_read(ioapic, 1) >> 16 & 0xff) + 1;
		for (unsigned pin = 0; pin < ioapic->gsi_count; pin++)
			ioapic_write(ioapic, 16 + 2 * pin, REDIRECTION_MASKED);
	}
}

/* irq_lock held. */
static int add_handler(unsigned vector, irq_handler_t function, void *argument)
{
	if (handler_count == HANDLERS || vector > VECTOR_DEVICE_LAST)
		return -ENOSPC;
	handlers[handler_count].vector = vector;
	handlers[handler_count].function = function;
	handlers[handler_count].argument = argument;
	smp_store_release(&handler_count, handler_count + 1);
	return 0;
}

static int request_line(unsigned gsi, u32 mode, irq_handler_t function, void *argument)
{
	unsigned vector = VECTOR_DEVICE_FIRST + gsi, i;
	unsigned long flags;
	int error = -ENODEV;

	spin_lock_irqsave(&irq_lock, flags);
	for (i = 0; i < acpi.ioapic_count && gsi < LINES; i++) {
		struct ioapic *ioapic = &acpi.ioapics[i];
		u32 pin = gsi - ioapic->gsi_base;

		if (pin >= ioapic->gsi_count)
			continue;
		error = add_handler(vector, function, argument);
		if (error)
			break;
		ioapic_write(ioapic, 17 + 2 * pin, cpus[0].apic_id << 24);
		ioapic_write(ioapic, 16 + 2 * pin, mode | vector);
	}
	spin_unlock_irqrestore(&irq_lock, flags);
	return error;
}

int irq_request_isa(unsigned isa, irq_handler_t function, void *argument)
{
	const struct isa_line *line = &acpi.isa[isa];

	return request_line(line->gsi,
			    (line->low ? REDIRECTION_LOW : 0) |
				    (line->level ? REDIRECTION_LEVEL : 0),
			    function, argument);
}

int irq_request_pci(unsigned gsi, irq_handler_t function, void *argument)
{
	/* The firmware may have routed it to an ISA line that it declares active high. */
	bool high = gsi < ACPI_ISA_IRQS && acpi.isa[gsi].gsi == gsi && acpi.isa[gsi].level &&
		    !acpi.isa[gsi].low;

	return request_line(gsi, REDIRECTION_LEVEL | (high ? 0 : REDIRECTION_LOW), function,
			    argument);
}

int irq_request_message(irq_handler_t function, void *argument, struct irq_message *message)
{
	unsigned long flags;
	int error;

	spin_lock_irqsave(&irq_lock, flags);
	error = add_handler(next_message, function, argument);
	if (!error)
		*message = (struct irq_message){
			.address = 0xfee00000 | cpus[0].apic_id << 12,
			.data = next_message++, /* edge, fixed */
		};
	spin_unlock_irqrestore(&irq_lock, flags);
	return error;
}

static void device_interrupt(unsigned vector)
{
	unsigned count = smp_load_acquire(&handler_count);

	for (unsigned i = 0; i < count; i++)
		if (handlers[i].vector == vector)
			handlers[i].function(handlers[i].argument);
}

void irq_dispatch(unsigned vector, struct registers *registers)
{
	this_cpu()->interrupts++;
	if (vector == VECTOR_SPURIOUS || vector < VECTOR_DEVICE_FIRST)
		return;
	lockdep_irq(1);
	if (vector <= VECTOR_DEVICE_LAST)
		device_interrupt(vector);
	else if (vector == VECTOR_TIMER)
		clock_interrupt(registers);
	else if (vector == VECTOR_FLUSH)
		mmu_flush_interrupt();
	/* VECTOR_RESCHEDULE: the way out looks at the task's pending bits. */
	lockdep_irq(-1);
	lapic_eoi(); /* after the handler: before it, a level-triggered line is still raised */
}
