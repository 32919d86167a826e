/*
 * acpi.c - the few facts we take from the firmware's tables: processors and the interrupt
 * controller (MADT), timer and power register (FADT). And what ends the machine with them: QEMU's
 * exit port, power-off, reset.
 *
 * Source: ACPI 6.4, sections 5.2 and 7.4. The RSDT, which all firmwares of PCs still supply, is
 * enough. Without any table the machine is one CPU with the standard I/O APIC and no clock to
 * measure by.
 */
#include <arch/io.h>
#include <arch/power.h>

#include "core/kernel.h"
#include "arch/x86/x86.h"

struct acpi_info acpi = {.ioapic = 0xfec00000};

/* Words of the tables. */
enum { TABLE_LENGTH = 1, TABLE_HEADER = 9 };
enum { FADT_PM1A_CONTROL = 16, FADT_PM_TIMER = 19 };
enum { MADT_ENTRIES = 11, MADT_CPU = 0, MADT_IOAPIC = 1 };

static void read_madt(const u8 *at, const u8 *end)
{
	for (; at < end && at[1]; at += at[1]) {
		const u32 *words = (const void *)at;

		if (at[0] == MADT_IOAPIC && words[2] == 0)
			acpi.ioapic = words[1];
		if (at[0] != MADT_CPU || !(at[4] & 1))
			continue;
		if (acpi.cpu_count < NR_CPUS)
			acpi.apic_ids[acpi.cpu_count++] = at[3];
		else
			pr_warn("acpi: only %u CPUs are used\n", NR_CPUS);
	}
}

void acpi_init(void)
{
	const u32 *root = phys_to_virt(boot_info.rsdt);
	unsigned words = boot_info.rsdt ? root[TABLE_LENGTH] / sizeof(u32) : 0;

	if (!words)
		pr_warn("acpi: no tables found, assuming a standard machine\n");
	for (unsigned i = TABLE_HEADER; i < words; i++) {
		const u32 *table = phys_to_virt(root[i]);

		if (!memcmp(table, "APIC", 4)) {
			read_madt((const void *)(table + MADT_ENTRIES),
				  (const void *)table + table[TABLE_LENGTH]);
		} else if (!memcmp(table, "FACP", 4)) {
			acpi.pm1a_control = (u16)table[FADT_PM1A_CONTROL];
			acpi.pm_timer_port = (u16)table[FADT_PM_TIMER];
		}
	}
}

/* ---- leaving the machine --------------------------------------------------------------------- */

#define SLP_EN (1u << 13)

void arch_halt_forever(void)
{
	for (;;)
		__asm__ __volatile__("cli; hlt");
}

void arch_leave(u8 status)
{
	outb(status, EXIT_PORT); /* does not return where the device is there */
	if (status == EXIT_NORMAL && acpi.pm1a_control)
		outw(SLP_EN, acpi.pm1a_control); /* sleep type 0: off, of a virtual machine */
	arch_halt_forever();			 /* a panic's message stays on the screen */
}

void arch_reboot(void)
{
	__asm__ __volatile__("lidt %0; int3" ::"m"(
		(struct descriptor_pointer){0})); /* a triple fault resets it */
	arch_halt_forever();
}
