/*
 * acpi.c - the few facts we take from the firmware's tables: processors and interrupt controllers
 * (MADT), timers and power registers (FADT, HPET), the sleep type that means "off" (a search in the
 * DSDT). And what ends the machine with them: QEMU's exit port, power-off, reset.
 *
 * Source: ACPI 6.4. A table with a wrong checksum or length is ignored. Without any table the
 * machine is one CPU with the standard I/O APIC.
 */
#include <arch/boot.h>
#include <arch/io.h>
#include <arch/power.h>

#include "kernel/core/kernel.h"
#include "kernel/x86/x86.h"

struct acpi_info acpi = {.lapic = 0xfee00000};

struct sdt {
	char signature[4];
	u32 length;
	u8 revision, checksum, names[26];
} __packed;

struct rsdp {
	char signature[8];
	u8 checksum, oem[6], revision;
	u32 rsdt, length;
	u64 xsdt;
} __packed;

struct root {
	struct sdt header;
	union { /* RSDT, XSDT */
		u32 tables32[1];
		u64 tables64[1];
	} __packed;
} __packed;

struct fadt {
	struct sdt header;
	u32 firmware_control, dsdt;
	u8 skipped1[20];
	u32 pm1a_control, pm1b_control, pm2_control, pm_timer;
	u8 skipped2[32];
	u32 flags;
	u8 reset_space, reset_format[3];
	u64 reset_address;
	u8 reset_value;
} __packed;
#define FADT_TIMER_32 (1u << 8)
#define FADT_HAS_RESET (1u << 10)
#define RESET_IN_PORTS 1

struct hpet {
	struct sdt header;
	u8 skipped[8];
	u64 address;
} __packed;

struct madt {
	struct sdt header;
	u32 lapic, flags;
	u8 entries[];
} __packed;

struct madt_entry {
	u8 type, length;
	union {
		struct {
			u8 processor, apic_id;
			u32 flags;
		} __packed cpu; /* type 0 */
		struct {
			u8 id, reserved;
			u32 address, gsi_base;
		} __packed ioapic; /* 1 */
		struct {
			u8 bus, irq;
			u32 gsi;
			u16 flags;
		} __packed isa; /* 2 */
	};
} __packed;

static bool checksum_good(const void *table, size_t length)
{
	const u8 *bytes = table;
	u8 sum = 0;

	while (length--)
		sum += *bytes++;
	return sum == 0;
}

/* Firmware tables lie outside of RAM's ranges, so each is mapped. NULL: not a table. */
static const struct sdt *map_table(phys_addr_t phys)
{
	const struct sdt *table = phys ? map_physical_cached(phys, sizeof(*table)) : NULL;

	if (!table || table->length < sizeof(*table) || table->length > MB(4))
		return NULL;
	table = map_physical_cached(phys, table->length);
	return table && checksum_good(table, table->length) ? table : NULL;
}

static void add_cpu(u32 apic_id)
{
	if (acpi.cpu_count < NR_CPUS)
		acpi.apic_ids[acpi.cpu_count++] = apic_id;
	else
		pr_warn("acpi: only %u CPUs are used\n", NR_CPUS);
}

static void read_madt(const struct madt *madt)
{
	const u8 *at = madt->entries, *end = (const u8 *)madt + madt->header.length;

	acpi.lapic = madt->lapic;
	for (; at + 2 <= end && at[1] >= 2 && at + at[1] <= end; at += at[1]) {
		const struct madt_entry *entry = (const void *)at;

		if (entry->type == 0 && entry->cpu.flags & 1)
			add_cpu(entry->cpu.apic_id);
		else if (entry->type == 1 && acpi.ioapic_count < ARRAY_SIZE(acpi.ioapics))
			acpi.ioapics[acpi.ioapic_count++] = (struct ioapic){
				.address = entry->ioapic.address,
				.gsi_base = entry->ioapic.gsi_base,
			};
		else if (entry->type == 2 && entry->isa.irq < ACPI_ISA_IRQS)
			acpi.isa[entry->isa.irq] = (struct isa_line){
				.gsi = entry->isa.gsi,
				.low = (entry->isa.flags & 3) == 3,
				.level = (entry->isa.flags >> 2 & 3) == 3,
			};
	}
}

/* \_S5 is Name(_S5_, Package { SLP_TYPa, ... }): found by its bytes, not by interpreting AML. The
 * number is one byte after its prefix, or the byte 0 or 1 itself. */
static void find_s5(const struct sdt *dsdt)
{
	const u8 *end = (const u8 *)dsdt + dsdt->length - 16;

	for (const u8 *at = (const u8 *)(dsdt + 1); at < end; at++) {
		if (memcmp(at, "_S5_\x12", 5))
			continue;
		at += 5;
		at += (*at >> 6) + 2; /* the package's length, and the count of its elements */
		acpi.s5 = *at == 0x0a ? at[1] : *at;
		acpi.has_s5 = true;
		return;
	}
}

static void read_fadt(const struct fadt *fadt)
{
	const struct sdt *dsdt = map_table(fadt->dsdt);

	acpi.pm1a_control = (u16)fadt->pm1a_control;
	acpi.pm_timer_port = (u16)fadt->pm_timer;
	acpi.pm_timer_mask = fadt->flags & FADT_TIMER_32 ? 0xffffffff : 0xffffff;
	if (fadt->header.length >= sizeof(*fadt) && fadt->flags & FADT_HAS_RESET &&
	    fadt->reset_space == RESET_IN_PORTS) {
		acpi.reset_port = (u16)fadt->reset_address;
		acpi.reset_value = fadt->reset_value;
	}
	if (dsdt)
		find_s5(dsdt);
}

static void read_table(phys_addr_t phys)
{
	const struct sdt *table = map_table(phys);

	if (!table)
		return;
	if (!memcmp(table->signature, "APIC", 4))
		read_madt((const struct madt *)table);
	else if (!memcmp(table->signature, "FACP", 4))
		read_fadt((const struct fadt *)table);
	else if (!memcmp(table->signature, "HPET", 4))
		acpi.hpet = ((const struct hpet *)table)->address;
}

void acpi_init(void)
{
	const struct rsdp *rsdp = (const void *)boot_info.rsdp;
	bool wide = rsdp->revision >= 2 && rsdp->xsdt;
	const struct root *root = (const void *)map_table(wide ? rsdp->xsdt : rsdp->rsdt);
	size_t count = root ? (root->header.length - sizeof(root->header)) / (wide ? 8 : 4) : 0;

	for (unsigned i = 0; i < ACPI_ISA_IRQS; i++)
		acpi.isa[i].gsi = i;
	for (size_t i = 0; i < count; i++)
		read_table(wide ? root->tables64[i] : root->tables32[i]);
	if (!acpi.ioapic_count) {
		pr_warn("acpi: no tables found, assuming a standard machine\n");
		acpi.ioapics[acpi.ioapic_count++].address = 0xfec00000;
		acpi.isa[0].gsi = 2;
	}
}

/* ---- leaving the machine --------------------------------------------------------------------- */

#define SLP_EN (1u << 13)

void arch_halt_forever(void)
{
	for (;;)
		__asm__ __volatile__("cli; hlt");
}

void arch_power_off(void)
{
	arch_irq_disable();
	outb(EXIT_NORMAL, EXIT_PORT); /* does not return where the device is there */
	if (acpi.has_s5)
		outw((u16)(acpi.s5 << 10 | SLP_EN), acpi.pm1a_control);
	arch_halt_forever();
}

void arch_panic_exit(void)
{
	arch_irq_disable();
	outb(EXIT_PANIC, EXIT_PORT);
	arch_halt_forever(); /* the message stays on the screen */
}

void arch_reboot(void)
{
	struct descriptor_pointer nothing = {0, 0};

	arch_irq_disable();
	if (acpi.reset_port)
		outb(acpi.reset_value, acpi.reset_port);
	outb(6, 0xcf9);
	outb(0xfe, 0x64);
	__asm__ __volatile__("lidt %0; int3" ::"m"(nothing)); /* triple fault */
	arch_halt_forever();
}
