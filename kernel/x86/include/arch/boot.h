/*
 * boot.h - memory before the page allocator, and the order in which the machine comes up.
 */
#pragma once

#include "boot/boot_info.h"
#include "kernel/core/task.h"

/* Memory taken for good before page_alloc_init() is done, in the direct map, not zeroed. Panics
 * when there is none: nothing can run then. @align is a power of two. */
void *boot_alloc(size_t size, size_t align);

/* First address past the last RAM. */
phys_addr_t boot_max_phys(void);

/* Start-up's own thread on each CPU: its idle task. */
extern struct task idle_tasks[];

/* Hand the RAM that is left to page_alloc_add_range(); boot_alloc() ends. After page_alloc_init().
 */
void boot_release_memory(void);

/* Steps of start-up, called by kernel/core/main.c in this order. */
void arch_early_init(u32 magic,
		     phys_addr_t info); /* boot_info, CPU 0's tables, kernel page tables */
void arch_irq_init(void);		/* ACPI, APICs, clock; interrupts may be enabled after */
void arch_smp_init(void);		/* starts the other CPUs: each ends in its idle task */
