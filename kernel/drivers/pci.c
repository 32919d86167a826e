/*
 * pci.c - configuration space by ports 0xcf8 and 0xcfc, and a scan of the buses. See pci.h.
 */
#include "kernel/drivers/pci.h"

#include <arch/io.h>

#include "kernel/core/kernel.h"

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA 0xcfc
#define CONFIG_ENABLE (1u << 31)

/* Registers of every function's header, and of a bridge's. The upper half of COMMAND is the status.
 */
enum { PCI_ID = 0x00, PCI_COMMAND = 0x04, PCI_HEADER_TYPE = 0x0e, PCI_BAR = 0x10, PCI_BARS = 6 };
enum { PCI_SECONDARY_BUS = 0x19, PCI_CAPABILITIES = 0x34 };
enum { COMMAND_MEMORY = 2, COMMAND_MASTER = 4, COMMAND_NO_INTX = 0x400 };
#define STATUS_CAPABILITIES (1u << 20)
enum { HEADER_BRIDGE = 1, HEADER_MULTIFUNCTION = 0x80 };
enum { BAR_PORT = 1, BAR_64 = 4 };

/* MSI-X: the capability's first register (id, next, control), and where it tells of the table. */
#define MSIX_ENABLE (1u << 31)
#define MSIX_MASK_ALL (1u << 30)
enum { PCI_CAPABILITY_MSIX = 0x11, MSIX_TABLE = 4, MSIX_ENTRY_BYTES = 16 };

u32 pci_read(u32 function, unsigned offset)
{
	outl(CONFIG_ENABLE | function | offset, CONFIG_ADDRESS);
	return inl(CONFIG_DATA);
}

static void pci_write(u32 function, unsigned offset, u32 value)
{
	outl(CONFIG_ENABLE | function | offset, CONFIG_ADDRESS);
	outl(value, CONFIG_DATA);
}

unsigned pci_next_capability(u32 function, unsigned previous)
{
	if (!previous && !(pci_read(function, PCI_COMMAND) & STATUS_CAPABILITIES))
		return 0;
	return pci_read8(function, previous ? previous + 1 : PCI_CAPABILITIES) & 0xfc;
}

void *pci_map(u32 function, unsigned bar, u32 offset, u32 length)
{
	unsigned at = PCI_BAR + 4 * bar;
	u32 low = bar < PCI_BARS ? pci_read(function, at) : BAR_PORT;
	u64 address = low & ~15u;

	if (low & BAR_PORT)
		return NULL;
	if (low & BAR_64)
		address |= (u64)pci_read(function, at + 4) << 32;
	return address && length ? map_device(address + offset, length) : NULL;
}

int pci_enable(u32 function, irq_handler_t handler, void *argument)
{
	u32 command = pci_read(function, PCI_COMMAND) & 0xffff; /* ones would clear the status */
	unsigned at = 0;

	pci_write(function, PCI_COMMAND,
		  command | COMMAND_MEMORY | COMMAND_MASTER | COMMAND_NO_INTX);
	do
		at = pci_next_capability(function, at);
	while (at && pci_read8(function, at) != PCI_CAPABILITY_MSIX);
	u32 table = at ? pci_read(function, at + MSIX_TABLE) : 0;
	u32 *entry = at ? pci_map(function, table & 7, table & ~7u, MSIX_ENTRY_BYTES) : NULL;

	if (!entry)
		return -ENODEV;
	u32 control = pci_read(function, at) & ~MSIX_MASK_ALL;
	struct irq_message message;

	TRY(irq_request_message(handler, argument, &message));
	pci_write(function, at, control | MSIX_ENABLE | MSIX_MASK_ALL);
	writel(message.address, entry);
	writel(0, entry + 1);
	writel(message.data, entry + 2);
	writel(0, entry + 3); /* not masked */
	pci_write(function, at, control | MSIX_ENABLE);
	return 0;
}

static void scan_bus(u32 bus, void (*found)(u32 function, u32 id))
{
	for (u32 at = 0; at < 32 * 8; at++) {
		u32 function = bus << 16 | at << 8, id = pci_read(function, PCI_ID);
		u8 type = pci_read8(function, PCI_HEADER_TYPE);

		if (id != ~0u) {
			found(function, id);
			if ((type & ~HEADER_MULTIFUNCTION) == HEADER_BRIDGE &&
			    pci_read8(function, PCI_SECONDARY_BUS) > bus)
				scan_bus(pci_read8(function, PCI_SECONDARY_BUS), found);
		}
		if (at % 8 == 0 && (id == ~0u || !(type & HEADER_MULTIFUNCTION)))
			at += 7; /* no other function in this slot */
	}
}

void pci_scan(void (*found)(u32 function, u32 id))
{
	scan_bus(0, found);
}
