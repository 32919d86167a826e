/*
 * apic.c - the local APIC of each CPU: interrupts between CPUs, acknowledging, its timer's
 * registers.
 *
 * By MSRs in x2APIC mode, else by memory-mapped registers. Source: Intel SDM volume 3, chapter 11.
 */
#include <arch/io.h>

#include "kernel/core/printk.h"
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
#define ICR_ASSERT (1u << 14)
#define ICR_ALL_BUT_SELF (3u << 18)
#define LVT_MASKED (1u << 16)
#define LVT_NMI 0x400u
#define LVT_EXTERNAL 0x700u
#define LVT_TSC_DEADLINE (2u << 17)
#define APIC_BASE_ENABLE (1u << 11)
#define APIC_BASE_X2APIC (1u << 10)
#define DIVIDE_BY_1 0xbu

static u8 *lapic; /* NULL: x2APIC */

static inline u32 lapic_read(unsigned reg)
{
	return lapic ? readl(lapic + reg) : (u32)read_msr(MSR_X2APIC + (reg >> 4));
}

static inline void lapic_write(unsigned reg, u32 value)
{
	if (lapic)
		writel(value, lapic + reg);
	else
		write_msr(MSR_X2APIC + (reg >> 4), value);
}

void lapic_init(void)
{
	if (!cpu_features.x2apic) {
		lapic = map_physical(acpi.lapic, 4096);
		if (!lapic)
			panic("no memory to map the local APIC");
	}
}

void lapic_init_cpu(void)
{
	u64 base = read_msr(MSR_APIC_BASE) | APIC_BASE_ENABLE;

	write_msr(MSR_APIC_BASE, base);
	if (!lapic)
		write_msr(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
	lapic_write(LAPIC_SPURIOUS, 0x100 | VECTOR_SPURIOUS);
	lapic_write(LAPIC_TASK_PRIORITY, 0);
	lapic_write(LAPIC_LINT0, LVT_MASKED | LVT_EXTERNAL);
	lapic_write(LAPIC_LINT1, LVT_NMI);
	lapic_write(LAPIC_ERROR, LVT_MASKED);
	lapic_write(LAPIC_DIVIDE, DIVIDE_BY_1);
	lapic_write(LAPIC_TIMER, VECTOR_TIMER | (cpu_features.tsc_deadline ? LVT_TSC_DEADLINE : 0));
	this_cpu()->apic_id = lapic_id();
}

u32 lapic_id(void)
{
	return lapic ? lapic_read(LAPIC_ID) >> 24 : lapic_read(LAPIC_ID);
}

void lapic_eoi(void)
{
	lapic_write(LAPIC_EOI, 0);
}

static void write_command(u32 apic_id, u32 command)
{
	unsigned long irq;

	if (!lapic) {
		write_msr(MSR_X2APIC + (LAPIC_ICR >> 4), (u64)apic_id << 32 | command);
		return;
	}
	irq = arch_irq_save(); /* two registers: an interrupt between would send its own */
	while (readl(lapic + LAPIC_ICR) & ICR_PENDING)
		cpu_relax();
	writel(apic_id << 24, lapic + LAPIC_ICR_HIGH);
	writel(command, lapic + LAPIC_ICR);
	arch_irq_restore(irq);
}

void lapic_send_ipi(u32 apic_id, u32 command)
{
	write_command(apic_id, command | ICR_ASSERT);
}

void lapic_send_nmi_others(void)
{
	write_command(0, IPI_NMI | ICR_ASSERT | ICR_ALL_BUT_SELF);
}

void lapic_timer_write(u32 count)
{
	lapic_write(LAPIC_INITIAL_COUNT, count);
}

u32 lapic_timer_read(void)
{
	return lapic_read(LAPIC_CURRENT_COUNT);
}
