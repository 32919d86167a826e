/*
 * setup.c - the order in which the machine itself comes up (arch/boot.h).
 */
#include <arch/boot.h>
#include <arch/time.h>

#include "kernel/core/printk.h"
#include "kernel/x86/x86.h"

void arch_early_init(u32 magic, phys_addr_t info)
{
	clock_tsc_base = arch_cycles();
	idle_task_init(0, boot_stack);
	cpu_detect_features();
	idt_init();
	cpu_init_tables(&cpus[0]);
	boot_info_init(magic, info);
	boot_memory_init();
	extable_init();
	uaccess_patch_smap();
	mmu_init_kernel(); /* the text is read-only from here on */
	boot_memory_all_mapped();
	cpu_enable_features();
}

void arch_irq_init(void)
{
	acpi_init();
	irq_mask_legacy();
	lapic_init();
	lapic_init_cpu();
	irq_init();
	clock_init();
	clock_init_cpu();
}
