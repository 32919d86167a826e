/*
 * smp.c - starting the other CPUs, one after another, and interrupting them.
 *
 * The boot CPU prepares a stack, exception stacks and an idle task for one CPU, sends INIT and the
 * start-up interrupt, and waits until that CPU says it is online (or does not: then it goes
 * without). Afterwards the boot page table, the only one with memory that is writable and
 * executable, is emptied.
 */
#include <arch/boot.h>
#include <arch/irq.h>

#include "kernel/x86/x86.h"
#include "mm/page_alloc.h"

#define LOW_MEMORY_END 0xa0000
#define TRAMPOLINE_FIRST 0x8000
#define STACK_ORDER 3 /* the idle task's, and above it those of exceptions */

struct task idle_tasks[NR_CPUS];
volatile bool cpus_stopped;

extern char ap_start[], ap_end[]; /* boot/start.S, as the rest */
extern u64 start_stack;
extern struct cpu *start_percpu;
extern __noreturn void (*start_function)(void);

void arch_send_reschedule(unsigned id)
{
	lapic_send_ipi(cpus[id].apic_id, IPI_FIXED | VECTOR_RESCHEDULE);
}

/* The boot CPU's own thread, which becomes its idle task. */
void idle_task_init(unsigned id, void *stack)
{
	struct task *task = &idle_tasks[id];

	task->kernel_stack = stack;
	*(u64 *)stack = KERNEL_STACK_MAGIC;
	task->cpu = (int)id;
	snprintf(task->comm, sizeof(task->comm), "idle/%u", id);
	cpus[id].running = task;
}

/* First C code of an application processor, on the boot page table and its idle task's stack. */
static __noreturn void ap_main(void)
{
	mmu_load_kernel();
	cpu_init_tables(this_cpu());
	cpu_enable_features();
	lapic_init_cpu();
	clock_init_cpu();
	kernel_main_ap();
}

/* A page of RAM below 640 KB; 0: none. */
static phys_addr_t find_trampoline(void)
{
	for (unsigned i = 0; i < boot_info.memory_count; i++) {
		const struct memory_range *range = &boot_info.memory[i];
		phys_addr_t start = max_t(u64, round_up(range->start, PAGE_SIZE), TRAMPOLINE_FIRST);

		if (range->type == MEMORY_RAM && start + PAGE_SIZE <= range->end &&
		    start + PAGE_SIZE <= LOW_MEMORY_END)
			return start;
	}
	return 0;
}

static bool wait_online(struct cpu *cpu, u64 microseconds)
{
	for (; !cpu->online && microseconds >= 10; microseconds -= 10)
		clock_delay_us(10);
	return cpu->online;
}

static bool start_cpu(struct cpu *cpu, unsigned id, u32 apic_id, phys_addr_t trampoline)
{
	u8 *stack = get_free_pages(GFP_KERNEL, STACK_ORDER);
	u32 startup = IPI_STARTUP | (u32)(trampoline >> PAGE_SHIFT);

	if (!stack)
		return false;
	*cpu = (struct cpu){
		.self = cpu, .id = id, .apic_id = apic_id, .fs_base = ~0UL, .gs_base = ~0UL};
	idle_task_init(id, stack);
	start_stack = (u64)(uintptr_t)stack + KERNEL_STACK_SIZE;
	start_percpu = cpu;
	start_function = ap_main;
	lapic_send_ipi(apic_id, IPI_INIT);
	clock_delay_us(200);
	lapic_send_ipi(apic_id, startup);
	if (wait_online(cpu, 2000))
		return true;
	lapic_send_ipi(apic_id, startup);
	return wait_online(cpu, 1000000);
}

void arch_smp_init(void)
{
	phys_addr_t trampoline = find_trampoline();

	if (trampoline)
		memcpy(phys_to_virt(trampoline), ap_start, (size_t)(ap_end - ap_start));
	for (unsigned i = 0; trampoline && i < acpi.cpu_count; i++) {
		if (acpi.apic_ids[i] == cpus[0].apic_id)
			continue;
		if (start_cpu(&cpus[nr_cpus], nr_cpus, acpi.apic_ids[i], trampoline))
			nr_cpus++;
		else
			pr_warn("smp: the CPU with APIC id %u did not start\n", acpi.apic_ids[i]);
	}
	memset(boot_page_table, 0, sizeof(boot_page_table));
	pr_info("smp: %u CPU%s\n", nr_cpus, nr_cpus == 1 ? "" : "s");
}
