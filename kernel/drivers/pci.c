/*
 * pci.c - configuration space by ports 0xcf8 and 0xcfc, and a scan of the buses. See pci.h.
 */
#include "kernel/drivers/pci.h"

#include <arch/io.h>

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA 0xcfc
#define CONFIG_ENABLE (1u << 31)

/* Registers of every function's header, and of a bridge's. The upper half of COMMAND is the status.
 */
enum { PCI_ID = 0x00, PCI_COMMAND = 0x04, PCI_HEADER_TYPE = 0x0e, PCI_BAR = 0x10 };
enum { PCI_SECONDARY_BUS = 0x19, PCI_CAPABILITIES = 0x34, INTERRUPT_LINE = 0x3c, INTERRUPT_PIN };
enum { COMMAND_MEMORY = 2, COMMAND_MASTER = 4, COMMAND_NO_INTX = 0x400 };
#define STATUS_CAPABILITIES (1u << 20)
enum { HEADER_BRIDGE = 1, HEADER_MULTIFUNCTION = 0x80 };
enum { BAR_PORT = 1, BAR_64 = 4 };

/* MSI-X: the capability's first register (id, next, control), and where it tells of the table. */
#define MSIX_ENABLE (1u << 31)
#define MSIX_MASK_ALL (1u << 30)
enum { MSIX_TABLE = 4, MSIX_ENTRY_BYTES = 16 };

static void select(const struct pci_device *device, unsigned offset)
{
	outl(CONFIG_ENABLE | (u32)device->bus << 16 | (u32)device->slot << 11 |
		     (u32)device->function << 8 | offset,
	     CONFIG_ADDRESS);
}

u32 pci_read(const struct pci_device *device, unsigned offset)
{
	select(device, offset);
	return inl(CONFIG_DATA);
}

void pci_write(const struct pci_device *device, unsigned offset, u32 value)
{
	select(device, offset);
	outl(value, CONFIG_DATA);
}

unsigned pci_find_capability(const struct pci_device *device, u8 id, unsigned previous)
{
	unsigned at = previous ? previous + 1 : PCI_CAPABILITIES;

	if (!(pci_read(device, PCI_COMMAND) & STATUS_CAPABILITIES))
		return 0;
	/* They fit into 256 bytes: a list in a ring ends. */
	for (unsigned i = 0; i < 48; i++) {
		unsigned next = pci_read8(device, at) & 0xfc;

		if (!next || pci_read8(device, next) == id)
			return next;
		at = next + 1;
	}
	return 0;
}

/* ---- memory and interrupts ------------------------------------------------------------------- */

void *pci_map(const struct pci_device *device, unsigned bar, u32 offset, u32 length)
{
	unsigned at = PCI_BAR + 4 * bar;
	u32 low = bar < PCI_BARS ? pci_read(device, at) : BAR_PORT;
	u64 address = low & ~15u;

	if (low & BAR_PORT)
		return NULL;
	if (low & BAR_64)
		address |= (u64)pci_read(device, at + 4) << 32;
	return address && length ? map_physical(address + offset, length) : NULL;
}

static void set_command(const struct pci_device *device, u32 bits)
{
	/* The status half is cleared by ones. */
	pci_write(device, PCI_COMMAND, (pci_read(device, PCI_COMMAND) & 0xffff) | bits);
}

void pci_enable(const struct pci_device *device)
{
	set_command(device, COMMAND_MEMORY | COMMAND_MASTER);
}

/* -ENODEV: no MSI-X here. */
static int request_msix(const struct pci_device *device, irq_handler_t handler, void *argument,
			const char *name)
{
	unsigned at = pci_find_capability(device, PCI_CAPABILITY_MSIX, 0);
	u32 table = at ? pci_read(device, at + MSIX_TABLE) : 0, control;
	u32 *entry = at ? pci_map(device, table & 7, table & ~7u, MSIX_ENTRY_BYTES) : NULL;
	struct irq_message message;
	int error;

	if (!entry)
		return -ENODEV;
	error = irq_request_message(handler, argument, &message);
	if (error)
		return error;
	control = (pci_read(device, at) | MSIX_ENABLE) & ~MSIX_MASK_ALL;
	pci_write(device, at, control | MSIX_MASK_ALL);
	writel(message.address, entry);
	writel(0, entry + 1);
	writel(message.data, entry + 2);
	writel(0, entry + 3); /* not masked */
	pci_write(device, at, control);
	set_command(device, COMMAND_NO_INTX);
	return 0;
}

int pci_request_irq(const struct pci_device *device, irq_handler_t handler, void *argument,
		    const char *name, bool *msix)
{
	int error = request_msix(device, handler, argument, name);

	*msix = !error;
	if (!error || !pci_read8(device, INTERRUPT_PIN))
		return error;
	return irq_request_pci(pci_read8(device, INTERRUPT_LINE), handler, argument);
}

/* ---- the scan -------------------------------------------------------------------------------- */

/* Visit function @at of its slot; how many functions the slot may have. */
static unsigned scan_function(struct pci_device *at, unsigned *last_bus,
			      void (*found)(const struct pci_device *))
{
	u32 id = pci_read(at, PCI_ID);
	u8 type = pci_read8(at, PCI_HEADER_TYPE);

	at->vendor = (u16)id;
	at->device = (u16)(id >> 16);
	if (at->vendor == 0xffff)
		return at->function ? 8 : 0;
	found(at);
	if ((type & ~HEADER_MULTIFUNCTION) == HEADER_BRIDGE)
		*last_bus = max_t(unsigned, *last_bus, pci_read8(at, PCI_SECONDARY_BUS));
	return at->function || type & HEADER_MULTIFUNCTION ? 8 : 1;
}

void pci_scan(void (*found)(const struct pci_device *device))
{
	unsigned last_bus = 0;

	for (unsigned bus = 0; bus <= last_bus; bus++)
		for (unsigned slot = 0; slot < 32; slot++) {
			struct pci_device at = {.bus = (u8)bus, .slot = (u8)slot};
			unsigned functions;

			do
				functions = scan_function(&at, &last_bus, found);
			while (++at.function < functions);
		}
}
