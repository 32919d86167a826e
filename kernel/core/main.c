/*
 * main.c - start-up: from the machine's first C instruction to the first program, in this order.
 *
 * Each step may use what the steps before it brought up. Until boot_release_memory() memory comes from
 * boot_alloc(); until arch_irq_init() interrupts are off and the clock stands at 0; until the scheduler
 * has its first other task nothing may sleep. CPU 0's own thread ends as its idle task, as every other
 * CPU's does.
 */
#include <arch/boot.h>
#include <arch/cpu.h>

#include "kernel/core/cmdline.h"
#include "kernel/core/core.h"
#include "kernel/core/printk.h"
#include "kernel/core/work.h"
#include "kernel/proc/process.h"
#include "kernel/proc/scheduler.h"
#include "mm/page_alloc.h"
#include "mm/slab.h"
#include "mm/vm.h"

__noreturn void kernel_main(u32 magic, phys_addr_t info);
__noreturn void kernel_main_ap(void);

/* Rooms that are not linked yet. */
#define WEAK_STEP(name) void name(void) __attribute__((weak))
WEAK_STEP(slab_init);
WEAK_STEP(vm_init);
WEAK_STEP(page_cache_init);
WEAK_STEP(task_init);
WEAK_STEP(vfs_init);
WEAK_STEP(drivers_early_init);
WEAK_STEP(drivers_init);
WEAK_STEP(work_init);
WEAK_STEP(init_start);
void page_alloc_init(phys_addr_t end) __attribute__((weak));
void sched_init(struct task *boot_task) __attribute__((weak));
void sched_adopt_idle(struct task *task) __attribute__((weak));
void sched_idle_loop(void) __attribute__((weak));
#define STEP(name)                                                                                 \
	do {                                                                                       \
		if (name)                                                                          \
			name();                                                                    \
	} while (0)

static __noreturn void idle(void)
{
	if (sched_idle_loop)
		sched_idle_loop();
	for (;;) {
		arch_irq_disable();
		arch_halt();
	}
}

static void memory_init(void)
{
	if (!page_alloc_init)
		return;
	page_alloc_init(boot_max_phys());
	boot_release_memory();
	STEP(slab_init);
	STEP(page_cache_init);
	STEP(vm_init);
}

void kernel_main(u32 magic, phys_addr_t info)
{
	arch_early_init(magic, info);
	core_early_init(boot_info.command_line);
	STEP(drivers_early_init); /* the console */
	pr_info("Chainwalk, started by %s: %s\n", boot_info.loader, boot_info.command_line);
	memory_init();
	arch_irq_init();
	core_init();
	if (sched_init)
		sched_init(&idle_tasks[0]);
	STEP(task_init);
	STEP(vfs_init);
	if (page_alloc_init)
		arch_smp_init();
	arch_irq_enable();
	system_running = true;
	STEP(work_init);
	STEP(drivers_init);
	STEP(init_start);
	idle();
}

/* The other CPUs, on their idle tasks, from kernel/x86/smp.c. */
void kernel_main_ap(void)
{
	if (sched_adopt_idle)
		sched_adopt_idle(current);
	this_cpu()->online = true;
	arch_irq_enable();
	idle();
}
