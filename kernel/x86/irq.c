/*
 * irq.c - device interrupts: vectors, the I/O APICs that turn lines into them, and their handlers.
 *
 * A vector has a list of handlers (shared PCI lines); it is only ever extended, at the front, so
 * the interrupt walks it without a lock. All device interrupts go to the first CPU. Masked legacy
 * controllers sit at vectors 32..47, where only their spurious interrupts could arrive.
 */
#include <arch/irq.h>

#include <arch/io.h>

#include "kernel/core/errno.h"
#include "kernel/core/printk.h"
#include "kernel/core/spinlock.h"
#include "kernel/x86/x86.h"

#define IOAPIC_MAX 8
#define MAX_ACTIONS 64
#define VECTOR_COUNT (VECTOR_DEVICE_LAST - VECTOR_DEVICE_FIRST + 1)

#define REDIRECTION_LOW (1u << 13)
#define REDIRECTION_LEVEL (1u << 15)
#define REDIRECTION_MASKED (1u << 16)

struct action {
	irq_handler_t handler;
	void *argument;
	const char *name;
	struct action *next;
};

static struct ioapic {
	u8 *registers;
	u32 gsi_base, gsi_count;
} ioapics[IOAPIC_MAX];

static DEFINE_SPINLOCK(irq_lock); /* vectors, gsi_vectors, the pool; registers of the I/O APICs */
static struct action action_pool[MAX_ACTIONS];
static unsigned action_count;
static struct action *vectors[VECTOR_COUNT];
static unsigned next_vector;
static u8 gsi_vectors[256]; /* 0: none yet */

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

static struct ioapic *ioapic_of(unsigned gsi)
{
	unsigned i;

	for (i = 0; i < acpi.ioapic_count; i++)
		if (gsi >= ioapics[i].gsi_base && gsi - ioapics[i].gsi_base < ioapics[i].gsi_count)
			return &ioapics[i];
	return NULL;
}

/* Before the local APIC's LINT0 is masked, which would leave a pending request of theirs behind. */
void irq_mask_legacy(void)
{
	outb(0x11, 0x20);
	outb(0x11, 0xa0);
	outb(0x20, 0x21);
	outb(0x28, 0xa1);
	outb(4, 0x21);
	outb(2, 0xa1);
	outb(1, 0x21);
	outb(1, 0xa1);
	outb(0xff, 0x21);
	outb(0xff, 0xa1);
}

void irq_init(void)
{
	unsigned i, pin;

	for (i = 0; i < acpi.ioapic_count; i++) {
		struct ioapic *ioapic = &ioapics[i];

		ioapic->registers = map_physical(acpi.ioapics[i].address, 4096);
		if (!ioapic->registers)
			panic("no memory to map the I/O APIC");
		ioapic->gsi_base = acpi.ioapics[i].gsi_base;
		ioapic->gsi_count = (ioapic_read(ioapic, 1) >> 16 & 0xff) + 1;
		for (pin = 0; pin < ioapic->gsi_count; pin++)
			ioapic_write(ioapic, 16 + 2 * pin, REDIRECTION_MASKED);
	}
}

/* Add a handler to @vector. irq_lock held. */
static int add_action(unsigned vector, irq_handler_t handler, void *argument, const char *name)
{
	struct action *action;

	if (action_count == MAX_ACTIONS)
		return -ENOMEM;
	action = &action_pool[action_count++];
	*action = (struct action){handler, argument, name, vectors[vector - VECTOR_DEVICE_FIRST]};
	__atomic_store_n(&vectors[vector - VECTOR_DEVICE_FIRST], action, __ATOMIC_RELEASE);
	return 0;
}

/* The next vector nobody has, or -ENOSPC. irq_lock held. */
static int take_vector(void)
{
	return next_vector < VECTOR_COUNT ? (int)(VECTOR_DEVICE_FIRST + next_vector++) : -ENOSPC;
}

static int request_line(unsigned gsi, u32 mode, irq_handler_t handler, void *argument,
			const char *name)
{
	struct ioapic *ioapic = ioapic_of(gsi);
	unsigned long irq;
	int vector, error;

	if (!ioapic || gsi >= ARRAY_SIZE(gsi_vectors))
		return -ENODEV;
	spin_lock_irqsave(&irq_lock, irq);
	vector = gsi_vectors[gsi] ? gsi_vectors[gsi] : take_vector();
	error = vector < 0 ? vector : add_action((unsigned)vector, handler, argument, name);
	if (!error && !gsi_vectors[gsi]) {
		u32 pin = gsi - ioapic->gsi_base;

		gsi_vectors[gsi] = (u8)vector;
		ioapic_write(ioapic, 17 + 2 * pin, cpus[0].apic_id << 24);
		ioapic_write(ioapic, 16 + 2 * pin, mode | (u32)vector);
	}
	spin_unlock_irqrestore(&irq_lock, irq);
	return error;
}

unsigned irq_isa_to_gsi(unsigned isa)
{
	return isa < ACPI_ISA_IRQS ? acpi.isa[isa].gsi : isa;
}

int irq_request(unsigned gsi, irq_handler_t handler, void *argument, const char *name)
{
	unsigned isa;
	u32 mode = 0;

	for (isa = 0; isa < ACPI_ISA_IRQS; isa++)
		if (acpi.isa[isa].gsi == gsi)
			mode = (acpi.isa[isa].low ? REDIRECTION_LOW : 0) |
			       (acpi.isa[isa].level ? REDIRECTION_LEVEL : 0);
	return request_line(gsi, mode, handler, argument, name);
}

int irq_request_pci(unsigned gsi, irq_handler_t handler, void *argument, const char *name)
{
	u32 mode = REDIRECTION_LOW | REDIRECTION_LEVEL;

	/* The firmware may have routed it to an ISA line that it declares active high. */
	if (gsi < ACPI_ISA_IRQS && acpi.isa[gsi].gsi == gsi && acpi.isa[gsi].level)
		mode = REDIRECTION_LEVEL | (acpi.isa[gsi].low ? REDIRECTION_LOW : 0);
	return request_line(gsi, mode, handler, argument, name);
}

int irq_allocate_vector(irq_handler_t handler, void *argument, const char *name)
{
	unsigned long irq;
	int vector, error;

	spin_lock_irqsave(&irq_lock, irq);
	vector = take_vector();
	error = vector < 0 ? vector : add_action((unsigned)vector, handler, argument, name);
	spin_unlock_irqrestore(&irq_lock, irq);
	return error ? error : vector;
}

u64 irq_msi_address(int vector)
{
	(void)vector;
	return 0xfee00000 | (u64)(cpus[0].apic_id & 0xff) << 12;
}

u32 irq_msi_data(int vector)
{
	return (u32)vector; /* edge, fixed */
}

static void device_interrupt(unsigned vector)
{
	struct action *action =
		__atomic_load_n(&vectors[vector - VECTOR_DEVICE_FIRST], __ATOMIC_ACQUIRE);

	WARN_ONCE(!action, "interrupt vector %u has no handler\n", vector);
	for (; action; action = action->next)
		action->handler(action->argument);
}

void irq_dispatch(unsigned vector, struct registers *registers)
{
	this_cpu()->interrupts++;
	if (vector == VECTOR_SPURIOUS || vector < VECTOR_DEVICE_FIRST)
		return;
	if (vector <= VECTOR_DEVICE_LAST) {
		/* Acknowledged after the handler: before it, a level-triggered line is still
		 * raised. */
		device_interrupt(vector);
		lapic_eoi();
		return;
	}
	lapic_eoi();
	if (vector == VECTOR_TIMER)
		clock_interrupt(registers);
	else if (vector == VECTOR_FLUSH)
		mmu_flush_interrupt();
	/* VECTOR_RESCHEDULE: the way out looks at the task's pending bits. */
}
