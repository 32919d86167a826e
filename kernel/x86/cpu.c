/*
 * cpu.c - what a CPU needs before it can run the kernel's own code and a program's: segments, task
 * state with its stacks, system call entry, and the protections that it has.
 *
 * Each CPU has its own GDT and TSS; the IDT is common. NMI, double fault and machine check run on
 * stacks of their own (IST 1-3), which lie above the idle task's. Nothing is locked: each CPU
 * writes its own tables.
 */
#include <arch/boot.h>
#include <arch/elf.h>

#include "fs/proc/process_info.h"
#include "kernel/x86/x86.h"

struct tss {
	u32 reserved0;
	u64 rsp0, rsp1, rsp2;
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3, io_bitmap;
} __packed;

static struct cpu_tables {
	u64 gdt[10];
	struct tss tss;
} __aligned(64) cpu_tables[NR_CPUS];

struct cpu cpus[NR_CPUS] = {[0] = {.self = &cpus[0], .fs_base = ~0UL, .gs_base = ~0UL}};
unsigned nr_cpus = 1;
struct cpu_features cpu_features;
u32 arch_hwcap;

extern char syscall_entry[];

static bool cpuid_bit(u32 leaf, unsigned reg, unsigned bit)
{
	u32 out[4];

	cpuid(leaf & 0x80000000, 0, out);
	if (out[0] < leaf)
		return false;
	cpuid(leaf, 0, out);
	return out[reg] >> bit & 1;
}

enum { EAX, EBX, ECX, EDX };

void cpu_detect_features(void)
{
	u32 out[4];

	cpu_features.large_1gb = cpuid_bit(0x80000001, EDX, 26);
	cpu_features.smep = cpuid_bit(7, EBX, 7);
	cpu_features.smap = cpuid_bit(7, EBX, 20);
	cpu_features.umip = cpuid_bit(7, ECX, 2);
	cpu_features.xsave = cpuid_bit(1, ECX, 26);
	cpu_features.rdrand = cpuid_bit(1, ECX, 30);
	cpuid(1, 0, out);
	arch_hwcap = out[EDX];
}

bool arch_random(u64 *value)
{
	bool good = false;

	for (int tries = 0; tries < 10 && cpu_features.rdrand && !good; tries++)
		__asm__ __volatile__("rdrand %0" : "=r"(*value), "=@ccc"(good));
	return good;
}

static void fill_tables(struct cpu_tables *tables, u64 exception_stacks)
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
	for (unsigned i = 0; i < EXCEPTION_STACKS; i++)
		tables->tss.ist[i] = exception_stacks + (i + 1) * PAGE_SIZE;
}

static void load_segments(struct cpu_tables *tables)
{
	struct descriptor_pointer pointer = {sizeof(tables->gdt) - 1, (u64)(uintptr_t)tables->gdt};

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

	fill_tables(tables, (u64)(uintptr_t)idle_tasks[cpu->id].kernel_stack + KERNEL_STACK_SIZE);
	load_segments(tables);
	idt_load();
	init_system_calls();
}

void cpu_set_kernel_stack(struct cpu *cpu, u64 top)
{
	cpu->kernel_stack = top;
	cpu_tables[cpu->id].tss.rsp0 = top;
}

void cpu_enable_features(void)
{
	write_cr4(read_cr4() | CR4_PGE | (cpu_features.smep ? CR4_SMEP : 0) |
		  (cpu_features.smap ? CR4_SMAP : 0) | (cpu_features.umip ? CR4_UMIP : 0) |
		  CR4_OSXSAVE);
	write_cr0(read_cr0() | CR0_WP);
	fpu_init_cpu();
}

/* One CPU's lines of /proc/cpuinfo; the name is that of CPUID leaves 0x80000002..4. */
size_t system_cpu_text(unsigned cpu, char *buf, size_t size)
{
	u32 vendor[4], name[13] = {0}, out[4];

	for (u32 i = 0; i < 3; i++)
		cpuid(0x80000002 + i, 0, name + 4 * i);
	cpuid(0, 0, vendor);
	cpuid(1, 0, out);
	return (size_t)scnprintf(
		buf, size,
		"processor\t: %u\nvendor_id\t: %.4s%.4s%.4s\ncpu family\t: %u\nmodel\t\t: %u\n"
		"model name\t: %s\nstepping\t: %u\napicid\t\t: %u\n\n",
		cpu, (char *)&vendor[1], (char *)&vendor[3], (char *)&vendor[2],
		(out[0] >> 8 & 15) + (out[0] >> 20 & 255),
		(out[0] >> 4 & 15) | (out[0] >> 12 & 0xf0), (char *)name, out[0] & 15,
		cpus[cpu].apic_id);
}
