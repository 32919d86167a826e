/*
 * cpu.c - what a CPU needs before it can run the kernel's own code and a program's: segments, task
 * state with its stacks, system call entry, and the protections that it has.
 *
 * Each CPU has its own TSS; GDT and IDT are common. NMI, double fault and machine check run on
 * stacks of their own (IST 1-3). Nothing is locked: each CPU
 * writes its own entries.
 */
#include <arch/elf.h>

#include "fs/proc/proc.h"
#include "arch/x86/x86.h"

static struct tss {
	u32 reserved0;
	u64 rsp0, rsp1, rsp2;
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3, io_bitmap;
} __packed __percpu_slot tss[NR_CPUS];

/* A processor begins with it in boot/start.S, which reaches it by its physical address. No 32-bit
 * code for programs: their `syscall` would go on in the kernel at CSTAR. */
u64 gdt[(TSS_SELECTOR >> 3) + 2 * NR_CPUS] = {
	[BOOT_CS32 >> 3] = 0x00cf9b000000ffff, [KERNEL_CS >> 3] = 0x00af9b000000ffff,
	[KERNEL_DS >> 3] = 0x00cf93000000ffff, [USER_DS >> 3] = 0x00cff3000000ffff,
	[USER_CS >> 3] = 0x00affb000000ffff,
};

struct cpu cpus[NR_CPUS] = {{.self = &cpus[0],
			     .kernel_stack = (u64)(uintptr_t)boot_stack + KERNEL_STACK_SIZE,
			     .exception_stacks = boot_stack + KERNEL_STACK_SIZE}};
unsigned nr_cpus = 1;

static const struct descriptor_pointer gdt_pointer = {sizeof(gdt) - 1, (u64)(uintptr_t)gdt};

extern char syscall_entry[];

u32 arch_hwcap(void)
{
	return cpuid(1, 3);
}

bool arch_random(u64 *value)
{
	bool good = false;

	for (int tries = 0; tries < 10 && cpu_has(CPU_RDRAND) && !good; tries++)
		__asm__ __volatile__("rdrand %0" : "=r"(*value), "=@ccc"(good));
	return good;
}

void cpu_init_tables(struct cpu *cpu)
{
	u64 base = (u64)(uintptr_t)&tss[cpu->id];
	unsigned selector = TSS_SELECTOR + 16 * cpu->id;
	u64 stacks = (u64)(uintptr_t)cpu->exception_stacks;

	gdt[selector >> 3] = (sizeof(struct tss) - 1) | (base & 0xffffff) << 16 | 0x89ULL << 40 |
			     (base >> 24 & 0xff) << 56;
	gdt[(selector >> 3) + 1] = base >> 32;
	tss[cpu->id].io_bitmap = sizeof(struct tss); /* none: no port for programs */
	for (unsigned i = 0; i < EXCEPTION_STACKS; i++)
		tss[cpu->id].ist[i] = stacks + (i + 1) * PAGE_SIZE;
	__asm__ __volatile__("lgdt %0; lidt %1" ::"m"(gdt_pointer), "m"(idt_pointer));
	__asm__ __volatile__("ltr %w0" ::"r"(selector) : "memory");
	write_msr(MSR_STAR, (u64)USER_CS32 << 48 | (u64)KERNEL_CS << 32);
	write_msr(MSR_LSTAR, (u64)(uintptr_t)syscall_entry);
	write_msr(MSR_SFMASK, FLAGS_IF | FLAGS_DF | FLAGS_TF | FLAGS_AC | 0x4000 /* NT */);
}

void cpu_set_kernel_stack(struct cpu *cpu, u64 top)
{
	cpu->kernel_stack = top;
	tss[cpu->id].rsp0 = top;
}

void cpu_enable_features(void)
{
	if (!cpu_has(CPU_XSAVE))
		panic("this processor has no XSAVE");
	write_cr(4, read_cr(4) | CR4_OSXSAVE | (cpu_has(CPU_SMEP) ? CR4_SMEP : 0) |
			    (cpu_has(CPU_SMAP) ? CR4_SMAP : 0) |
			    (cpu_has(CPU_UMIP) ? CR4_UMIP : 0));
	fpu_init_cpu();
}

/* Scripts count the lines that begin with "processor". */
void proc_cpuinfo_show(struct text *out, const struct proc_entry *entry)
{
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		text_printf(out, "processor\t: %u\n\n", cpu);
}
