/*
 * setup.c - the order in which the machine itself comes up (arch/boot.h): the boot CPU, then the
 * other ones, one after another.
 *
 * The boot CPU prepares a stack, exception stacks and an idle task for one CPU, sends INIT and the
 * start-up interrupt, and waits until that CPU says it is online (or does not: then it goes
 * without). Afterwards the boot page table, the only one with memory that is writable and
 * executable, is emptied.
 */
#include "arch/x86/entry/fpu.h"
#include "arch/x86/x86.h"
#include "core/kernel.h"
#include "core/memory/slab.h"

#define TRAMPOLINE 0x8000 /* a page of RAM below 1 MB, which nobody else uses */

struct task idle_tasks[NR_CPUS];

extern char ap_start[], ap_end[]; /* boot/start.S, as the rest */
extern struct cpu *start_percpu;
extern __noreturn void (*start_function)(void);

/* CPU @id's own thread, which becomes its idle task. */
static void idle_task_init(unsigned id, void *stack)
{
	struct task *task = &idle_tasks[id];

	task->kernel_stack = stack;
	*(u64 *)stack = KERNEL_STACK_MAGIC;
	task->cpu = (int)id;
	snprintf(task->comm, sizeof(task->comm), "idle/%u", id);
	cpus[id].running = task;
}

void arch_early_init(u32 magic, phys_addr_t info)
{
	clock_base = arch_cycles();
	panic_init();
	idle_task_init(0, boot_stack);
	idt_init();
	cpu_init_tables(&cpus[0]);
	traps_init_cpu();
	boot_info_init(magic, info);
	uaccess_patch_smap();
	mmu_init_kernel(); /* the text is read-only from here on */
	cpu_enable_features();
	fpu_init_cpu();
}

void arch_irq_init(void)
{
	acpi_init();
	irq_init();
	clock_init();
	clock_init_cpu();
}

/* First C code of an application processor, on the boot page table and its idle task's stack. */
static __noreturn void ap_main(void)
{
	mmu_load_kernel();
	cpu_init_tables(this_cpu());
	traps_init_cpu();
	cpu_enable_features();
	fpu_init_cpu();
	lapic_init_cpu();
	clock_init_cpu();
	sched_adopt_idle(current);
	this_cpu()->online = true;
	arch_irq_enable();
	sched_idle_loop();
}

static bool start_cpu(struct cpu *cpu, unsigned id, u32 apic_id)
{
	char *exception_stacks = kmalloc(EXCEPTION_STACKS * PAGE_SIZE, GFP_KERNEL);
	char *stack = exception_stacks ? arch_stack_alloc() : NULL;

	if (!stack) {
		kfree(exception_stacks);
		return false;
	}
	*cpu = (struct cpu){
		.self = cpu, .id = id, .apic_id = apic_id, .exception_stacks = exception_stacks};
	cpu->kernel_stack = (u64)(uintptr_t)stack + KERNEL_STACK_SIZE;
	idle_task_init(id, stack);
	start_percpu = cpu;
	start_function = ap_main;
	lapic_send_ipi(apic_id, IPI_INIT);
	/* In steps of 10 us: once more if the first is not heard; in all a second. */
	for (unsigned i = 0; i < 100000 && !cpu->online; i++) {
		if (i == 20 || i == 220)
			lapic_send_ipi(apic_id, IPI_STARTUP | TRAMPOLINE >> PAGE_SHIFT);
		for (u64 end = arch_clock_ns() + 10000; arch_clock_ns() < end;)
			cpu_relax();
	}
	if (!cpu->online) /* nor later: what it would use is the next one's */
		lapic_send_ipi(apic_id, IPI_INIT);
	return cpu->online;
}

void arch_smp_init(void)
{
	memcpy(phys_to_virt(TRAMPOLINE), ap_start, (size_t)(ap_end - ap_start));
	for (unsigned i = 0; i < acpi.cpu_count && nr_cpus < NR_CPUS; i++) {
		if (acpi.apic_ids[i] == cpus[0].apic_id)
			continue;
		if (start_cpu(&cpus[nr_cpus], nr_cpus, acpi.apic_ids[i]))
			nr_cpus++;
		else
			pr_warn("smp: the CPU with APIC id %u did not start\n", acpi.apic_ids[i]);
	}
	memset(boot_page_table, 0, sizeof(boot_page_table));
	pr_info("smp: %u CPU%s\n", nr_cpus, nr_cpus == 1 ? "" : "s");
}
