/*
 * acpi.c - the few facts we take from the firmware's tables: processors and interrupt controllers
 * (MADT), timers and power registers (FADT, HPET), the sleep type that means "off" (a search in the
 * DSDT).
 *
 * Source: ACPI 6.4. A table with a wrong checksum or length is ignored. Without any table the
 * machine is one CPU with the standard I/O APIC.
 */
#include <arch/boot.h>
#include <arch/io.h>
#include <arch/page.h>

#include "kernel/core/printk.h"
#include "kernel/core/string.h"
#include "kernel/x86/x86.h"

struct acpi_info acpi;

struct sdt {
	char signature[4];
	u32 length;
	u8 revision, checksum;
	char oem[18];
	u32 creator[2];
	u8 body[];
} __packed;

struct rsdp {
	char signature[8];
	u8 checksum;
	char oem[6];
	u8 revision;
	u32 rsdt;
	u32 length;
	u64 xsdt;
} __packed;

/* Offsets of fields in the FADT, from its start. */
enum {
	FADT_DSDT = 40,
	FADT_PM1A_CONTROL = 64,
	FADT_PM1B_CONTROL = 68,
	FADT_PM_TIMER = 76,
	FADT_FLAGS = 112,
	FADT_RESET_REGISTER = 116,
	FADT_RESET_VALUE = 128,
	FADT_X_DSDT = 140,
};
#define FADT_TIMER_32 (1u << 8)
#define FADT_HAS_RESET (1u << 10)

static u32 read32(const void *base, size_t offset)
{
	u32 value;

	memcpy(&value, (const u8 *)base + offset, sizeof(value));
	return value;
}

static u64 read64(const void *base, size_t offset)
{
	u64 value;

	memcpy(&value, (const u8 *)base + offset, sizeof(value));
	return value;
}

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
	u32 length;

	if (!table || table->length < sizeof(*table) || table->length > MB(4))
		return NULL;
	length = table->length;
	if ((phys & (PAGE_SIZE - 1)) + length > PAGE_SIZE)
		table = map_physical_cached(phys, length);
	return table && checksum_good(table, length) ? table : NULL;
}

static void read_isa_override(const u8 *entry)
{
	u8 irq = entry[3];
	u16 flags = (u16)(entry[8] | entry[9] << 8);

	if (irq >= ACPI_ISA_IRQS)
		return;
	acpi.isa[irq].gsi = read32(entry, 4);
	acpi.isa[irq].low = (flags & 3) == 3;
	acpi.isa[irq].level = (flags >> 2 & 3) == 3;
}

static void add_cpu(u32 apic_id, u32 flags)
{
	if (!(flags & 1))
		return;
	if (acpi.cpu_count < NR_CPUS)
		acpi.apic_ids[acpi.cpu_count++] = apic_id;
	else
		pr_warn("acpi: only %u CPUs are used\n", NR_CPUS);
}

static void read_madt(const struct sdt *madt)
{
	const u8 *at = madt->body + 8;
	const u8 *end = (const u8 *)madt + madt->length;

	acpi.lapic = read32(madt->body, 0);
	for (; at + 2 <= end && at[1] >= 2 && at + at[1] <= end; at += at[1]) {
		switch (at[0]) {
		case 0: /* local APIC */
			add_cpu(at[3], read32(at, 4));
			break;
		case 1: /* I/O APIC */
			if (acpi.ioapic_count < ARRAY_SIZE(acpi.ioapics)) {
				acpi.ioapics[acpi.ioapic_count].address = read32(at, 4);
				acpi.ioapics[acpi.ioapic_count++].gsi_base = read32(at, 8);
			}
			break;
		case 2:
			read_isa_override(at);
			break;
		case 5: /* local APIC address, 64 bits */
			acpi.lapic = read64(at, 4);
			break;
		case 9: /* local x2APIC */
			add_cpu(read32(at, 4), read32(at, 8));
			break;
		}
	}
}

/* A small integer of AML: its value, *at moved behind it; 0 for anything else. */
static u16 read_aml_integer(const u8 **at)
{
	u8 op = *(*at)++;

	switch (op) {
	case 0x0a: /* byte */
		return *(*at)++;
	case 0x0b: /* word */
		*at += 2;
		return (u16)((*at)[-2] | (*at)[-1] << 8);
	case 0x01:
		return 1;
	default:
		return 0;
	}
}

/* \_S5 is Name(_S5_, Package { SLP_TYPa, SLP_TYPb, ... }): found by its bytes, not by interpreting
 * AML. */
static void find_s5(const struct sdt *dsdt)
{
	const u8 *at = dsdt->body;
	const u8 *end = (const u8 *)dsdt + dsdt->length - 16;

	for (; at < end; at++) {
		if (memcmp(at, "_S5_\x12", 5))
			continue;
		at += 5;
		at += (*at >> 6) + 1; /* package length */
		at++;		      /* element count */
		acpi.s5_a = read_aml_integer(&at);
		acpi.s5_b = read_aml_integer(&at);
		acpi.has_s5 = true;
		return;
	}
}

static void read_fadt(const struct sdt *fadt)
{
	u32 flags = read32(fadt, FADT_FLAGS);
	const struct sdt *dsdt;

	acpi.pm1a_control = read32(fadt, FADT_PM1A_CONTROL);
	acpi.pm1b_control = read32(fadt, FADT_PM1B_CONTROL);
	acpi.pm_timer_port = read32(fadt, FADT_PM_TIMER);
	acpi.pm_timer_32 = flags & FADT_TIMER_32;
	if (fadt->length > FADT_RESET_VALUE && flags & FADT_HAS_RESET) {
		acpi.reset.space = ((const u8 *)fadt)[FADT_RESET_REGISTER];
		acpi.reset.address = read64(fadt, FADT_RESET_REGISTER + 4);
		acpi.reset.value = ((const u8 *)fadt)[FADT_RESET_VALUE];
		acpi.reset.valid = true;
	}
	dsdt = map_table(read32(fadt, FADT_DSDT));
	if (!dsdt && fadt->length >= FADT_X_DSDT + 8)
		dsdt = map_table(read64(fadt, FADT_X_DSDT));
	if (dsdt)
		find_s5(dsdt);
}

static void read_table(phys_addr_t phys)
{
	const struct sdt *table = map_table(phys);

	if (!table)
		return;
	if (!memcmp(table->signature, "APIC", 4))
		read_madt(table);
	else if (!memcmp(table->signature, "FACP", 4))
		read_fadt(table);
	else if (!memcmp(table->signature, "HPET", 4))
		acpi.hpet = read64(table->body, 8);
}

static const struct rsdp *scan_rsdp(const u8 *start, size_t size)
{
	const u8 *at;

	for (at = start; at < start + size; at += 16)
		if (!memcmp(at, "RSD PTR ", 8) && checksum_good(at, 20))
			return (const struct rsdp *)at;
	return NULL;
}

/* From the loader, else from the BIOS's area. */
static const struct rsdp *find_rsdp(void)
{
	const u8 *bios;

	if (boot_info.rsdp_size >= 20)
		return (const struct rsdp *)boot_info.rsdp_copy;
	if (boot_info.rsdp)
		return map_physical_cached(boot_info.rsdp, sizeof(struct rsdp));
	bios = map_physical_cached(0xe0000, 0x20000);
	return bios ? scan_rsdp(bios, 0x20000) : NULL;
}

void acpi_init(void)
{
	const struct rsdp *rsdp = find_rsdp();
	const struct sdt *root = NULL;
	size_t width = 8, offset;
	unsigned i;

	for (i = 0; i < ACPI_ISA_IRQS; i++)
		acpi.isa[i].gsi = i;
	acpi.lapic = 0xfee00000;
	if (rsdp && !memcmp(rsdp->signature, "RSD PTR ", 8)) {
		if (rsdp->revision >= 2)
			root = map_table(rsdp->xsdt);
		if (!root) {
			root = map_table(rsdp->rsdt);
			width = 4;
		}
	}
	for (offset = 0; root && sizeof(*root) + offset + width <= root->length; offset += width)
		read_table(width == 8 ? read64(root->body, offset) : read32(root->body, offset));
	if (!acpi.ioapic_count) {
		pr_warn("acpi: no tables found, assuming a standard machine\n");
		acpi.ioapics[acpi.ioapic_count++].address = 0xfec00000;
		acpi.isa[0].gsi = 2;
	}
}
