/*
 * irq.c - interrupts: the local APIC of each CPU (interrupts between CPUs, acknowledging, its
 * timer's registers), the I/O APIC that turns devices' lines into vectors, and their handlers.
 * Source: Intel SDM volume 3, chapter 11.
 *
 * A vector of a device is VECTOR_DEVICE_FIRST plus the index of its handler. Handlers are added at
 * start-up only, so that needs no lock. All device interrupts go to the first CPU. The legacy
 * controllers are masked.
 */
#include <arch/io.h>

#include "core/kernel.h"
#include "arch/x86/x86.h"

enum {
	LAPIC_ID = 0x20,
	LAPIC_EOI = 0xb0,
	LAPIC_SPURIOUS = 0xf0,
	LAPIC_ICR = 0x300,
	LAPIC_ICR_HIGH = 0x310,
	LAPIC_TIMER = 0x320,
	LAPIC_LINT0 = 0x350,
	LAPIC_DIVIDE = 0x3e0,
};

#define LAPIC_ADDRESS 0xfee00000
#define ICR_PENDING (1u << 12)
#define LVT_MASKED (1u << 16)
#define DIVIDE_BY_1 0xbu

#define HANDLERS 32

u8 *lapic;
static u8 *ioapic;
static struct {
	irq_handler_t function;
	void *argument;
} handlers[HANDLERS];
static unsigned handler_count;

/* On each CPU, the boot CPU first. */
void lapic_init_cpu(void)
{
	writel(0x100 | VECTOR_SPURIOUS, lapic + LAPIC_SPURIOUS);
	writel(LVT_MASKED, lapic + LAPIC_LINT0);
	writel(DIVIDE_BY_1, lapic + LAPIC_DIVIDE);
	writel(VECTOR_TIMER, lapic + LAPIC_TIMER);
	this_cpu()->apic_id = readl(lapic + LAPIC_ID) >> 24;
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

void arch_send_reschedule(unsigned id)
{
	lapic_send_ipi(cpus[id].apic_id, IPI_FIXED | VECTOR_RESCHEDULE);
}

void irq_init(void)
{
	/* The legacy controllers, before LINT0 is masked, which would leave a pending request of
	 * theirs behind. */
	outb(0xff, 0x21);
	outb(0xff, 0xa1);
	lapic = map_device(LAPIC_ADDRESS, PAGE_SIZE);
	ioapic = map_device(acpi.ioapic, PAGE_SIZE);
	lapic_init_cpu();
}

static void ioapic_write(u32 reg, u32 value)
{
	writel(reg, ioapic);
	writel(value, ioapic + 16);
}

struct irq_message irq_request_message(irq_handler_t function, void *argument)
{
	BUG_ON(handler_count == HANDLERS);
	handlers[handler_count].function = function;
	handlers[handler_count].argument = argument;
	return (struct irq_message){
		.address = LAPIC_ADDRESS | cpus[0].apic_id << 12,
		.data = VECTOR_DEVICE_FIRST + handler_count++, /* edge, fixed */
	};
}

void irq_request_isa(unsigned isa, irq_handler_t function, void *argument)
{
	ioapic_write(17 + 2 * isa, cpus[0].apic_id << 24);
	ioapic_write(16 + 2 * isa, irq_request_message(function, argument).data);
}

void irq_dispatch(unsigned vector, struct registers *registers)
{
	unsigned index = vector - VECTOR_DEVICE_FIRST;

	REGION_MARK(4, 0); /* an interrupt */
	this_cpu()->interrupts++;
	lockdep_irq(1);
	this_cpu()->interrupted = registers;
	if (vector == VECTOR_TIMER)
		timer_interrupt();
	else if (vector == VECTOR_FLUSH)
		mmu_flush_interrupt();
	else if (index < handler_count)
		handlers[index].function(handlers[index].argument);
	/* VECTOR_RESCHEDULE: the way out looks at the task's pending bits. VECTOR_SPURIOUS: no
	 * other is being served, so that to acknowledge it ends none. */
	lockdep_irq(-1);
	writel(0, lapic + LAPIC_EOI);
	REGION_MARK(4, 1);
}
