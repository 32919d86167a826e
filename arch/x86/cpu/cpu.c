/*
 * cpu.c - what a CPU needs before it can run the kernel's own code and a program's: segments, task
 * state with its stacks, and the protections that it has.
 *
 * Each CPU has its own TSS; GDT and IDT are common. NMI, double fault and machine check run on
 * stacks of their own (IST 1-3). Nothing is locked: each CPU
 * writes its own entries.
 */
#include <arch/elf.h>

#include "arch/x86/x86.h"
#include "core/kernel.h"

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
			     .online = true,
			     .kernel_stack = (u64)(uintptr_t)boot_stack + KERNEL_STACK_SIZE,
			     .exception_stacks = boot_stack + KERNEL_STACK_SIZE}};
unsigned nr_cpus = 1;

static const struct descriptor_pointer gdt_pointer = {sizeof(gdt) - 1, (u64)(uintptr_t)gdt};

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
	__asm__ __volatile__("lgdt %0" ::"m"(gdt_pointer));
	__asm__ __volatile__("ltr %w0" ::"r"(selector) : "memory");
	__asm__ __volatile__("lldt %w0" ::"r"(0)); /* none; a reset leaves one at address 0 */
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

	u64 features = read_cr(4) | CR4_OSXSAVE;

	if (cpu_has(CPU_SMEP))
		features |= CR4_SMEP;
	if (cpu_has(CPU_SMAP))
		features |= CR4_SMAP;
	if (cpu_has(CPU_UMIP))
		features |= CR4_UMIP;
	write_cr(4, features);
}
