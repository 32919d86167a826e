/*
 * boot.h - the order in which the machine comes up, and memory before the page allocator.
 */
#pragma once

#include "boot/boot_info.h"
#include "core/sched/task.h"

/* Start-up's own thread on each CPU: its idle task. */
extern struct task idle_tasks[];

/* Steps of start-up, called by kernel/main.c in this order. */
/* boot_info, CPU 0's tables, kernel page tables */
void arch_early_init(u32 magic, phys_addr_t info);
void arch_irq_init(void); /* ACPI, APICs, clock; interrupts may be enabled after */
void arch_smp_init(void); /* starts the other CPUs: each ends in its idle task */
