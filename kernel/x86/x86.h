/*
 * x86.h - private to kernel/x86: features, control registers, MSRs, and what its files offer each
 * other.
 */
#pragma once

#include <arch/boot.h>
#include <arch/cpu.h>
#include <arch/mmu.h>
#include <arch/process.h>

#include "kernel/x86/offsets.h"

extern struct cpu_features {
	bool smep, smap, umip, large_1gb, xsave, rdrand;
} cpu_features;

#define MSR_APIC_BASE 0x1b
#define MSR_EFER 0xc0000080
#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_SFMASK 0xc0000084
#define MSR_FS_BASE 0xc0000100
#define MSR_KERNEL_GS_BASE 0xc0000102

#define CR0_WP (1UL << 16)
#define CR4_PGE (1UL << 7)
#define CR4_UMIP (1UL << 11)
#define CR4_OSXSAVE (1UL << 18)
#define CR4_SMEP (1UL << 20)
#define CR4_SMAP (1UL << 21)

#define FLAGS_FIXED (1UL << 1)
#define FLAGS_TF (1UL << 8)
#define FLAGS_IF (1UL << 9)
#define FLAGS_DF (1UL << 10)
#define FLAGS_AC (1UL << 18)
/* What a program may change: CF PF AF ZF SF TF DF OF AC ID. */
#define FLAGS_USER 0x240dd5UL

static inline u64 read_msr(u32 msr)
{
	u32 low, high;

	__asm__ __volatile__("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (u64)high << 32 | low;
}

static inline void write_msr(u32 msr, u64 value)
{
	__asm__ __volatile__("wrmsr" ::"c"(msr), "a"((u32)value), "d"((u32)(value >> 32))
			     : "memory");
}

static inline void cpuid(u32 leaf, u32 subleaf, u32 out[4])
{
	__asm__ __volatile__("cpuid"
			     : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
			     : "a"(leaf), "c"(subleaf));
}

#define DEFINE_CONTROL_REGISTER(n)                                                                 \
	static inline u64 read_cr##n(void)                                                         \
	{                                                                                          \
		u64 value;                                                                         \
                                                                                                   \
		__asm__ __volatile__("mov %%cr" #n ", %0" : "=r"(value));                          \
		return value;                                                                      \
	}                                                                                          \
	static inline void write_cr##n(u64 value)                                                  \
	{                                                                                          \
		__asm__ __volatile__("mov %0, %%cr" #n ::"r"(value) : "memory");                   \
	}
DEFINE_CONTROL_REGISTER(0)
DEFINE_CONTROL_REGISTER(2)
DEFINE_CONTROL_REGISTER(3)
DEFINE_CONTROL_REGISTER(4)

static inline void invalidate_page(u64 address)
{
	__asm__ __volatile__("invlpg (%0)" ::"r"(address) : "memory");
}

/* What lgdt and lidt take. */
struct descriptor_pointer {
	u16 limit;
	u64 base;
} __packed;

/* Sections of the image (boot/kernel.ld) and stacks (boot/start.S). */
extern char kernel_start[], kernel_end[], text_start[], text_end[], rodata_start[], rodata_end[];
extern char data_start[], boot_stack[];
extern u64 boot_page_table[512];

#define EXCEPTION_STACKS 3 /* a page each, above every idle task's stack */
#define KERNEL_STACK_MAGIC 0x57ac6c1a1f7e11edUL /* in the lowest word of every kernel stack */

/* cpu.c */
void cpu_detect_features(void);
void cpu_init_tables(struct cpu *cpu); /* GDT, TSS, IDT, system call MSRs, of the running CPU */
void cpu_enable_features(void); /* control registers; after the kernel page tables are loaded */
void cpu_set_kernel_stack(struct cpu *cpu, u64 top);

/* traps.c */
void idt_init(void);
void idt_load(void);
void uaccess_patch_smap(void);

/* fpu.c, process.c */
void arch_thread_restore(struct cpu *cpu, struct task *task);
void fpu_init_cpu(void);
void fpu_save(void *area);
void fpu_restore(const void *area);
void fpu_prepare_area(void *area);

/* kernel_map.c, mmu.c, setup.c */
extern u64 *kernel_page_table;
void mmu_init_kernel(void);
void mmu_load_kernel(void);
extern bool page_allocator_up;
void mmu_flush_interrupt(void);

/* acpi.c: also power-off and reset */
#define ACPI_ISA_IRQS 16
extern struct acpi_info {
	u32 apic_ids[NR_CPUS];
	unsigned cpu_count;
	phys_addr_t lapic, hpet; /* hpet 0: none */
	struct ioapic {
		phys_addr_t address;
		u32 gsi_base, gsi_count;
		u8 *registers; /* irq.c, with the local APIC */
	} ioapics[8];
	unsigned ioapic_count;
	struct isa_line {
		u32 gsi;
		bool low, level;
	} isa[ACPI_ISA_IRQS];
	u16 pm_timer_port, pm1a_control, reset_port; /* 0: none */
	u32 pm_timer_mask;
	bool has_s5;
	u8 s5; /* SLP_TYP for power-off */
	u8 reset_value;
} acpi;
void acpi_init(void);

void lapic_init_cpu(void); /* each CPU, the boot CPU first */
void lapic_eoi(void);
void lapic_send_ipi(u32 apic_id, u32 command);
void lapic_timer_write(u32 count);
u32 lapic_timer_read(void);
#define IPI_FIXED 0x4000u
#define IPI_NMI 0x4400u
#define IPI_INIT 0x4500u
#define IPI_STARTUP 0x4600u

/* irq.c, with the local APIC */
void irq_mask_legacy(void);
void irq_init(void);
void irq_dispatch(unsigned vector, struct registers *registers);

/* clock.c */
void clock_init(void);
void clock_init_cpu(void);
void clock_interrupt(struct registers *registers);
void clock_delay_us(u64 microseconds);

/* smp.c, kernel/core/main.c */
void idle_task_init(unsigned id, void *stack);
__noreturn void kernel_main_ap(void);
extern volatile bool cpus_stopped; /* panic: NMIs end CPUs */
