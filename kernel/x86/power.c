/*
 * power.c - leaving the machine: QEMU's exit port, ACPI power-off and reset, and the old ways to
 * reset.
 */
#include <arch/io.h>
#include <arch/power.h>

#include "kernel/x86/x86.h"

#define SLP_EN (1u << 13)
#define RESET_IN_PORTS 1

void arch_halt_forever(void)
{
	for (;;)
		__asm__ __volatile__("cli; hlt");
}

/* S5: the sleep type into the PM1 control registers. Returns if the firmware named none. */
static void acpi_power_off(void)
{
	if (!acpi.has_s5 || !acpi.pm1a_control)
		return;
	outw((u16)(acpi.s5_a << 10 | SLP_EN), (u16)acpi.pm1a_control);
	if (acpi.pm1b_control)
		outw((u16)(acpi.s5_b << 10 | SLP_EN), (u16)acpi.pm1b_control);
}

void arch_power_off(void)
{
	arch_irq_disable();
	outb(EXIT_NORMAL, EXIT_PORT); /* does not return where the device is there */
	acpi_power_off();
	arch_halt_forever();
}

void arch_panic_exit(void)
{
	arch_irq_disable();
	outb(EXIT_PANIC, EXIT_PORT);
	arch_halt_forever(); /* the message stays on the screen */
}

void arch_reboot(void)
{
	struct {
		u16 limit;
		u64 base;
	} __packed nothing = {0, 0};

	arch_irq_disable();
	if (acpi.reset.valid && acpi.reset.space == RESET_IN_PORTS)
		outb(acpi.reset.value, (u16)acpi.reset.address);
	outb(6, 0xcf9);
	outb(0xfe, 0x64);
	__asm__ __volatile__("lidt %0; int3" ::"m"(nothing)); /* triple fault */
	arch_halt_forever();
}
