/*
 * cpu.c - what a CPU needs before it can run the kernel's own code and a program's: segments, task
 * state with its stacks, system call entry, and the protections that it has.
 *
 * Each CPU has its own GDT and TSS; the IDT is common. NMI, double fault and machine check run on
 * stacks of their own (IST 1-3). Nothing is locked: each CPU writes its own tables.
 */
#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/page.h>

#include "kernel/core/string.h"
#include "kernel/x86/x86.h"
#include "mm/page_alloc.h"

#define IST_STACKS 3
#define IST_STACK_SIZE PAGE_SIZE

struct tss {
	u32 reserved0;
	u64 rsp0, rsp1, rsp2;
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3, io_bitmap;
} __packed;

struct cpu_tables {
	u64 gdt[10];
	struct tss tss;
} __aligned(64);

struct cpu cpus[NR_CPUS] = {[0] = {.self = &cpus[0], .fs_base = ~0UL, .gs_base = ~0UL}};
unsigned nr_cpus = 1;
struct cpu_features cpu_features;

static struct cpu_tables cpu_tables[NR_CPUS];
static u8 boot_ist_stacks[IST_STACKS * IST_STACK_SIZE] __aligned(16);

extern char syscall_entry[];

static bool cpuid_bit(u32 leaf, unsigned reg, unsigned bit)
{
	u32 out[4], highest[4];

	cpuid(leaf & 0x80000000, 0, highest);
	if (highest[0] < leaf)
		return false;
	cpuid(leaf, 0, out);
	return out[reg] >> bit & 1;
}

enum { EAX, EBX, ECX, EDX };

void cpu_detect_features(void)
{
	struct cpu_features *f = &cpu_features;

	f->nx = cpuid_bit(0x80000001, EDX, 20);
	f->large_1gb = cpuid_bit(0x80000001, EDX, 26);
	f->smep = cpuid_bit(7, EBX, 7);
	f->smap = cpuid_bit(7, EBX, 20);
	f->umip = cpuid_bit(7, ECX, 2);
	f->xsave = cpuid_bit(1, ECX, 26);
	f->x2apic = cpuid_bit(1, ECX, 21);
	f->tsc_deadline = cpuid_bit(1, ECX, 24);
	f->rdrand = cpuid_bit(1, ECX, 30);
	fpu_init_features();
}

static void fill_tables(struct cpu_tables *tables)
{
	u64 base = (u64)(uintptr_t)&tables->tss;

	tables->gdt[KERNEL_CS >> 3] = 0x00af9b000000ffff;
	tables->gdt[KERNEL_DS >> 3] = 0x00cf93000000ffff;
	tables->gdt[USER_CS32 >> 3] = 0x00cffb000000ffff;
	tables->gdt[USER_DS >> 3] = 0x00cff3000000ffff;
	tables->gdt[USER_CS >> 3] = 0x00affb000000ffff;
	tables->gdt[TSS_SELECTOR >> 3] = (sizeof(struct tss) - 1) | (base & 0xffffff) << 16 |
					 0x89ULL << 40 | (base >> 24 & 0xff) << 56;
	tables->gdt[(TSS_SELECTOR >> 3) + 1] = base >> 32;
	tables->tss.io_bitmap = sizeof(struct tss); /* none: no port for programs */
}

static void load_segments(struct cpu_tables *tables)
{
	struct {
		u16 limit;
		u64 base;
	} __packed pointer = {sizeof(tables->gdt) - 1, (u64)(uintptr_t)tables->gdt};

	__asm__ __volatile__("lgdt %0\n\t"
			     "pushq %1\n\t"
			     "leaq 1f(%%rip), %%rax\n\t"
			     "pushq %%rax\n\t"
			     "lretq\n"
			     "1:\tmovl %2, %%eax\n\t"
			     "movl %%eax, %%ss\n\t"
			     "movl %3, %%eax\n\t"
			     "ltr %%ax"
			     :
			     : "m"(pointer), "i"(KERNEL_CS), "i"(KERNEL_DS), "i"(TSS_SELECTOR)
			     : "rax", "memory");
}

static void init_system_calls(void)
{
	write_msr(MSR_EFER, read_msr(MSR_EFER) | 1);
	write_msr(MSR_STAR, (u64)USER_CS32 << 48 | (u64)KERNEL_CS << 32);
	write_msr(MSR_LSTAR, (u64)(uintptr_t)syscall_entry);
	write_msr(MSR_SFMASK, FLAGS_IF | FLAGS_DF | FLAGS_TF | FLAGS_AC | 0x4000 /* NT */);
}

void cpu_init_tables(struct cpu *cpu)
{
	struct cpu_tables *tables = &cpu_tables[cpu->id];
	unsigned i;

	if (cpu->id == 0)
		for (i = 0; i < IST_STACKS; i++)
			tables->tss.ist[i] =
				(u64)(uintptr_t)(boot_ist_stacks + (i + 1) * IST_STACK_SIZE);
	fill_tables(tables);
	load_segments(tables);
	idt_load();
	init_system_calls();
}

/* Stacks for an application processor's exceptions: 0 or -ENOMEM. */
int cpu_allocate_stacks(struct cpu *cpu)
{
	unsigned i;

	for (i = 0; i < IST_STACKS; i++) {
		u8 *stack = get_free_pages(GFP_KERNEL, 0);

		if (!stack)
			return -12;
		cpu_tables[cpu->id].tss.ist[i] = (u64)(uintptr_t)(stack + IST_STACK_SIZE);
	}
	return 0;
}

void cpu_set_kernel_stack(struct cpu *cpu, u64 top)
{
	cpu->kernel_stack = top;
	cpu_tables[cpu->id].tss.rsp0 = top;
}

void cpu_enable_features(void)
{
	u64 cr4 = read_cr4() | CR4_PGE;

	if (cpu_features.smep)
		cr4 |= CR4_SMEP;
	if (cpu_features.smap)
		cr4 |= CR4_SMAP;
	if (cpu_features.umip)
		cr4 |= CR4_UMIP;
	if (cpu_features.xsave)
		cr4 |= CR4_OSXSAVE;
	write_cr4(cr4);
	write_cr0(read_cr0() | CR0_WP);
	fpu_init_cpu();
}
