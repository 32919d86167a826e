/*
 * pci.c - configuration space by ports 0xcf8 and 0xcfc, and a scan of the buses behind bus 0. See
 * pci.h.
 */
#include "kernel/drivers/pci.h"

#include <arch/io.h>

#include "kernel/core/bitops.h"
#include "kernel/core/errno.h"
#include "kernel/core/printk.h"
#include "kernel/core/spinlock.h"
#include "kernel/drivers/drivers.h"
#include "mm/slab.h"

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA 0xcfc
#define CONFIG_ENABLE (1u << 31)

/* Registers of every function's header, and of a bridge's. */
#define PCI_ID 0x00
#define PCI_COMMAND 0x04
#define COMMAND_MEMORY (1u << 1)
#define COMMAND_MASTER (1u << 2)
#define COMMAND_NO_INTX (1u << 10)
#define PCI_STATUS 0x06
#define STATUS_CAPABILITIES (1u << 4)
#define PCI_CLASS 0x08
#define PCI_HEADER_TYPE 0x0e
#define HEADER_MULTIFUNCTION 0x80
#define HEADER_BRIDGE 1
#define PCI_BAR 0x10
#define BAR_PORT 1u
#define BAR_64 4u
#define PCI_SECONDARY_BUS 0x19
#define PCI_CAPABILITIES 0x34
#define PCI_INTERRUPT_LINE 0x3c
#define PCI_INTERRUPT_PIN 0x3d
#define CAPABILITIES_MAX 48 /* what fits into 256 bytes: a list in a ring ends */

#define MSIX_CONTROL 2
#define MSIX_ENABLE (1u << 15)
#define MSIX_MASK_ALL (1u << 14)
#define MSIX_TABLE 4
#define MSIX_ENTRY_BYTES 16

static LIST_HEAD(devices);
static DEFINE_SPINLOCK(config_lock); /* the address port and what follows at the data port */

static void select(const struct pci_device *device, unsigned offset)
{
	outl(CONFIG_ENABLE | (u32)device->bus << 16 | (u32)device->slot << 11 |
		     (u32)device->function << 8 | (offset & 0xfc),
	     CONFIG_ADDRESS);
}

#define DEFINE_READ(bits, suffix)                                                                  \
	u##bits pci_read##bits(const struct pci_device *device, unsigned offset)                   \
	{                                                                                          \
		unsigned long flags;                                                               \
		u##bits value;                                                                     \
                                                                                                   \
		spin_lock_irqsave(&config_lock, flags);                                            \
		select(device, offset);                                                            \
		value = in##suffix((u16)(CONFIG_DATA + (offset & 3)));                             \
		spin_unlock_irqrestore(&config_lock, flags);                                       \
		return value;                                                                      \
	}
#define DEFINE_WRITE(bits, suffix)                                                                 \
	void pci_write##bits(const struct pci_device *device, unsigned offset, u##bits value)      \
	{                                                                                          \
		unsigned long flags;                                                               \
                                                                                                   \
		spin_lock_irqsave(&config_lock, flags);                                            \
		select(device, offset);                                                            \
		out##suffix(value, (u16)(CONFIG_DATA + (offset & 3)));                             \
		spin_unlock_irqrestore(&config_lock, flags);                                       \
	}
DEFINE_READ(8, b)
DEFINE_READ(16, w)
DEFINE_READ(32, l)
DEFINE_WRITE(16, w)
DEFINE_WRITE(32, l)

struct pci_device *pci_next(struct pci_device *previous)
{
	struct list_head *next = previous ? previous->link.next : devices.next;

	return next == &devices ? NULL : list_entry(next, struct pci_device, link);
}

unsigned pci_find_capability(const struct pci_device *device, u8 id, unsigned previous)
{
	unsigned at;

	if (!(pci_read16(device, PCI_STATUS) & STATUS_CAPABILITIES))
		return 0;
	at = pci_read8(device, previous ? previous + 1 : PCI_CAPABILITIES) & 0xfc;
	for (unsigned i = 0; at && i < CAPABILITIES_MAX; i++) {
		if (pci_read8(device, at) == id)
			return at;
		at = pci_read8(device, at + 1) & 0xfc;
	}
	return 0;
}

/* ---- memory and interrupts ------------------------------------------------------------------- */

/* Address of memory BAR @bar and its size; false when it has none. The device must be idle: while
 * the size is asked for, the BAR stands elsewhere. */
static bool read_bar(const struct pci_device *device, unsigned bar, u64 *address, u64 *size)
{
	unsigned at = PCI_BAR + 4 * bar;
	u32 low = pci_read32(device, at), high = 0, high_mask = ~0u, mask;
	u16 command = pci_read16(device, PCI_COMMAND);
	bool wide = (low & 6) == BAR_64;

	if (low & BAR_PORT || (wide && bar + 1 == PCI_BARS))
		return false;
	pci_write16(device, PCI_COMMAND, command & ~COMMAND_MEMORY);
	pci_write32(device, at, ~0u);
	mask = pci_read32(device, at);
	pci_write32(device, at, low);
	if (wide) {
		high = pci_read32(device, at + 4);
		pci_write32(device, at + 4, ~0u);
		high_mask = pci_read32(device, at + 4);
		pci_write32(device, at + 4, high);
	}
	pci_write16(device, PCI_COMMAND, command);
	*address = (u64)high << 32 | (low & ~15u);
	*size = ~((u64)high_mask << 32 | (mask & ~15u)) + 1;
	return *address && mask & ~15u;
}

void *pci_map(struct pci_device *device, unsigned bar, u64 offset, u64 length)
{
	u64 address, size;

	if (bar >= PCI_BARS || !read_bar(device, bar, &address, &size) || offset > size ||
	    length > size - offset)
		return NULL;
	if (!device->bars[bar])
		device->bars[bar] = map_physical(address, size);
	return device->bars[bar] ? (u8 *)device->bars[bar] + offset : NULL;
}

void pci_enable(const struct pci_device *device)
{
	pci_write16(device, PCI_COMMAND,
		    pci_read16(device, PCI_COMMAND) | COMMAND_MEMORY | COMMAND_MASTER);
}

/* -ENODEV: no MSI-X here. */
static int request_msix(struct pci_device *device, irq_handler_t handler, void *argument,
			const char *name)
{
	unsigned at = pci_find_capability(device, PCI_CAPABILITY_MSIX, 0);
	u16 control;
	u32 table;
	u8 *entry;
	int vector;

	if (!at)
		return -ENODEV;
	table = pci_read32(device, at + MSIX_TABLE);
	entry = pci_map(device, table & 7, table & ~7u, MSIX_ENTRY_BYTES);
	if (!entry)
		return -ENODEV;
	vector = irq_allocate_vector(handler, argument, name);
	if (vector < 0)
		return vector;
	pci_enable(device); /* the table is in its memory */
	control = (pci_read16(device, at + MSIX_CONTROL) | MSIX_ENABLE) & ~MSIX_MASK_ALL;
	pci_write16(device, at + MSIX_CONTROL, control | MSIX_MASK_ALL);
	writel((u32)irq_msi_address(vector), entry);
	writel((u32)(irq_msi_address(vector) >> 32), entry + 4);
	writel(irq_msi_data(vector), entry + 8);
	writel(0, entry + 12); /* not masked */
	pci_write16(device, at + MSIX_CONTROL, control);
	pci_write16(device, PCI_COMMAND, pci_read16(device, PCI_COMMAND) | COMMAND_NO_INTX);
	return 0;
}

int pci_request_irq(struct pci_device *device, irq_handler_t handler, void *argument,
		    const char *name, bool *msix)
{
	int error = request_msix(device, handler, argument, name);

	*msix = !error;
	if (!error)
		return 0;
	if (!pci_read8(device, PCI_INTERRUPT_PIN))
		return error;
	return irq_request_pci(pci_read8(device, PCI_INTERRUPT_LINE), handler, argument, name);
}

/* ---- the scan -------------------------------------------------------------------------------- */

static DECLARE_BITMAP(buses, 256); /* found, and to be scanned */

/* Note a function, and the bus behind it. Bus numbers must rise: a wrong bridge makes no ring. */
static void add_function(const struct pci_device *found, u8 header_type)
{
	struct pci_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	unsigned behind;

	if (!device) {
		pr_err("pci: no memory for a device\n");
		return;
	}
	*device = *found;
	device->class = pci_read32(device, PCI_CLASS) >> 8;
	list_add_tail(&device->link, &devices);
	pr_debug("pci: %02x:%02x.%u %04x:%04x class %06x\n", device->bus, device->slot,
		 device->function, device->vendor, device->device, device->class);
	if ((header_type & ~HEADER_MULTIFUNCTION) != HEADER_BRIDGE)
		return;
	behind = pci_read8(device, PCI_SECONDARY_BUS);
	if (behind > device->bus)
		set_bit(behind, buses);
}

static void scan_slot(unsigned bus, unsigned slot)
{
	unsigned functions = 1;

	for (unsigned i = 0; i < functions; i++) {
		struct pci_device found = {.bus = (u8)bus, .slot = (u8)slot, .function = (u8)i};
		u32 id = pci_read32(&found, PCI_ID);
		u8 type = pci_read8(&found, PCI_HEADER_TYPE);

		if ((id & 0xffff) == 0xffff)
			continue;
		if (!i && type & HEADER_MULTIFUNCTION)
			functions = 8;
		found.vendor = (u16)id;
		found.device = (u16)(id >> 16);
		add_function(&found, type);
	}
}

void pci_init(void)
{
	struct pci_device *device = NULL;
	unsigned count = 0;

	set_bit(0, buses);
	for (unsigned bus = 0; bus < 256; bus++)
		for (unsigned slot = 0; slot < 32 && test_bit(bus, buses); slot++)
			scan_slot(bus, slot);
	while ((device = pci_next(device)) != NULL)
		count++;
	pr_info("pci: %u devices\n", count);
}
