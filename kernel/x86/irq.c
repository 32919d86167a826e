/*
 * irq.c - interrupts: the local APIC of each CPU (interrupts between CPUs, acknowledging, its
 * timer's registers), the I/O APIC that turns devices' lines into vectors, and their handlers.
 * Source: Intel SDM volume 3, chapter 11.
 *
 * A vector of a device is VECTOR_DEVICE_FIRST plus the index of its handler: first the ISA lines,
 * then messages. Handlers are added at start-up only, so that needs no lock. All device interrupts
 * go to the first CPU. The masked legacy controllers sit at vectors 32..47, where only their
 * spurious interrupts could arrive.
 */
#include <arch/io.h>

#include "kernel/core/kernel.h"
#include "kernel/x86/x86.h"

enum {
	LAPIC_ID = 0x20,
	LAPIC_EOI = 0xb0,
	LAPIC_SPURIOUS = 0xf0,
	LAPIC_ICR = 0x300,
	LAPIC_ICR_HIGH = 0x310,
	LAPIC_TIMER = 0x320,
	LAPIC_LINT0 = 0x350,
	LAPIC_INITIAL_COUNT = 0x380,
	LAPIC_CURRENT_COUNT = 0x390,
	LAPIC_DIVIDE = 0x3e0,
};

#define LAPIC_ADDRESS 0xfee00000
#define ICR_PENDING (1u << 12)
#define LVT_MASKED (1u << 16)
#define DIVIDE_BY_1 0xbu

#define ISA_LINES 16
#define HANDLERS 48 /* these, and messages */

static u8 *lapic, *ioapic;
static struct {
	irq_handler_t function;
	void *argument;
} handlers[HANDLERS];
static unsigned handler_count = ISA_LINES;

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

void lapic_timer_write(u32 count)
{
	writel(count, lapic + LAPIC_INITIAL_COUNT);
}

u32 lapic_timer_read(void)
{
	return readl(lapic + LAPIC_CURRENT_COUNT);
}

void irq_init(void)
{
	/* The legacy controllers, before LINT0 is masked, which would leave a pending request of
	 * theirs behind. */
	static const u8 program[][2] = {{0x11, 0x20}, {0x11, 0xa0}, {0x20, 0x21}, {0x28, 0xa1},
					{4, 0x21},    {2, 0xa1},    {1, 0x21},	  {1, 0xa1},
					{0xff, 0x21}, {0xff, 0xa1}};

	for (unsigned i = 0; i < ARRAY_SIZE(program); i++)
		outb(program[i][0], program[i][1]);
	lapic = map_device(LAPIC_ADDRESS, PAGE_SIZE);
	ioapic = map_device(acpi.ioapic, PAGE_SIZE);
	if (!lapic || !ioapic)
		panic("no memory to map the APICs");
	lapic_init_cpu();
}

static void ioapic_write(u32 reg, u32 value)
{
	writel(reg, ioapic);
	writel(value, ioapic + 16);
}

void irq_request_isa(unsigned isa, irq_handler_t function, void *argument)
{
	handlers[isa].function = function;
	handlers[isa].argument = argument;
	ioapic_write(17 + 2 * isa, cpus[0].apic_id << 24);
	ioapic_write(16 + 2 * isa, VECTOR_DEVICE_FIRST + isa);
}

int irq_request_message(irq_handler_t function, void *argument, struct irq_message *message)
{
	if (handler_count == HANDLERS)
		return -ENOSPC;
	handlers[handler_count].function = function;
	handlers[handler_count].argument = argument;
	*message = (struct irq_message){
		.address = LAPIC_ADDRESS | cpus[0].apic_id << 12,
		.data = VECTOR_DEVICE_FIRST + handler_count++, /* edge, fixed */
	};
	return 0;
}

void irq_dispatch(unsigned vector, struct registers *registers)
{
	unsigned index = vector - VECTOR_DEVICE_FIRST;

	this_cpu()->interrupts++;
	if (vector == VECTOR_SPURIOUS || vector < VECTOR_DEVICE_FIRST)
		return;
	lockdep_irq(1);
	if (vector == VECTOR_TIMER)
		clock_interrupt(registers);
	else if (vector == VECTOR_FLUSH)
		mmu_flush_interrupt();
	else if (index < HANDLERS && handlers[index].function)
		handlers[index].function(handlers[index].argument);
	/* VECTOR_RESCHEDULE: the way out looks at the task's pending bits. */
	lockdep_irq(-1);
	writel(0, lapic + LAPIC_EOI);
}
