/*
 * x86.h - private to arch/x86: features, control registers, MSRs, and what its files offer each
 * other.
 */
#pragma once

#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/mmu.h>
#include <arch/process.h>

#include "arch/x86/entry/offsets.h"

/* Features: CPUID leaf, which every processor with XSAVE has, register of EAX EBX ECX EDX, bit. */
#define CPU_XSAVE 1, 2, 26
#define CPU_RDRAND 1, 2, 30
#define CPU_SMEP 7, 1, 7
#define CPU_SMAP 7, 1, 20
#define CPU_UMIP 7, 2, 2

#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_SFMASK 0xc0000084
#define MSR_FS_BASE 0xc0000100

#define CR4_UMIP (1UL << 11)
#define CR4_OSXSAVE (1UL << 18)
#define CR4_SMEP (1UL << 20)
#define CR4_SMAP (1UL << 21)

#define FLAGS_FIXED (1UL << 1)
#define FLAGS_TF (1UL << 8)
#define FLAGS_DF (1UL << 10)
#define FLAGS_AC (1UL << 18)
/* What a program may change: CF PF AF ZF SF TF DF OF AC ID. */
#define FLAGS_USER 0x240dd5UL

static inline void write_msr(u32 msr, u64 value)
{
	__asm__ __volatile__("wrmsr" ::"c"(msr), "a"((u32)value), "d"((u32)(value >> 32))
			     : "memory");
}

/* Register @reg of EAX EBX ECX EDX, of the first subleaf. */
static inline u32 cpuid(u32 leaf, unsigned reg)
{
	u32 out[4];

	__asm__ __volatile__("cpuid"
			     : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
			     : "a"(leaf), "c"(0));
	return out[reg];
}

static inline bool cpu_has(u32 leaf, unsigned reg, unsigned bit)
{
	return cpuid(leaf, reg) >> bit & 1;
}

/* Control register @n. */
#define read_cr(n)                                                                                 \
	({                                                                                         \
		u64 _value;                                                                        \
		__asm__ __volatile__("mov %%cr" #n ", %0" : "=r"(_value));                         \
		_value;                                                                            \
	})
#define write_cr(n, value) __asm__ __volatile__("mov %0, %%cr" #n ::"r"((u64)(value)) : "memory")

/* What lgdt and lidt take. */
struct descriptor_pointer {
	u16 limit;
	u64 base;
} __packed;

/* Sections of the image (boot/kernel.ld) and stacks (boot/tables.S). */
extern char kernel_end[], text_start[], text_end[], rodata_start[], rodata_end[];
extern char data_start[], boot_stack[], boot_guard[];
extern u64 boot_page_table[512];

#define KERNEL_STACK_MAGIC 0x57ac6c1a1f7e11edUL /* in the lowest word of every kernel stack */

/* cpu.c */
void cpu_init_tables(struct cpu *cpu); /* GDT, TSS of the running CPU */
void cpu_enable_features(void); /* control registers; after the kernel page tables are loaded */
void cpu_set_kernel_stack(struct cpu *cpu, u64 top);

/* traps.c */
void idt_init(void);
void traps_init_cpu(void); /* IDT and system call MSRs, of the running CPU; after its GDT */
void uaccess_patch_smap(void);

/* switch.c. Before a task's first switch: it begins at @start of assembly, with these in r12 and
 * r13. */
void switch_prepare(struct task *task, const char *start, u64 r12, u64 r13);

/* mmu.c */
void mmu_init_kernel(void);
void mmu_load_kernel(void);
void mmu_flush_interrupt(void);
u64 *mmu_kernel_entry(u64 address, unsigned shift); /* at the level of 1 << @shift bytes */
void mmu_flush_kernel(u64 start, u64 end); /* as mmu_flush(), what all CPUs have of the kernel */

/* stacks.c */
#define STACKS_BASE 0xffffff9000000000UL
bool is_below_stack(u64 address); /* where nothing is mapped, so that it is not run over */

/* acpi.c: also power-off and reset */
extern struct acpi_info {
	u32 apic_ids[NR_CPUS];
	unsigned cpu_count;
	phys_addr_t ioapic;
	u16 pm_timer_port, pm1a_control; /* 0: none */
} acpi;
void acpi_init(void);

/* irq.c, with the local APIC */
void irq_init(void); /* the boot CPU */
void lapic_init_cpu(void);
void lapic_send_ipi(u32 apic_id, u32 command);
extern u8 *lapic; /* its registers; its timer's, from whose writing it counts down once: */
#define LAPIC_INITIAL_COUNT 0x380
#define LAPIC_CURRENT_COUNT 0x390
#define IPI_FIXED 0x4000u
#define IPI_NMI 0x4400u
#define IPI_INIT 0x4500u
#define IPI_STARTUP 0x4600u
void irq_dispatch(unsigned vector, struct registers *registers);

/* clock.c */
void clock_init(void);
void clock_init_cpu(void);

/* A step out along frame pointers: the next address of code, and *frame that of its frame, with bit
 * 0 set where entry code has left registers. 0: no more. Any context; reads no wild pointer. */
u64 arch_caller(u64 *frame);

/* panic.c */
void panic_init(void);
extern volatile bool cpus_stopped; /* NMIs end CPUs */
