/*
 * pci.h - PCI: the devices found at boot, their configuration space, registers and interrupts.
 *
 * Devices are found once, by pci_init(), and never go away, so the list needs no lock. The firmware
 * has assigned BARs and bus numbers; a BAR or bridge that it left alone is not used. Source: PCI
 * Local Bus Specification 3.0, chapter 6; configuration mechanism #1, section 3.2.2.3.2.
 */
#pragma once

#include <arch/irq.h>

#include "kernel/core/list.h"
#include "kernel/core/types.h"

#define PCI_BARS 6
#define PCI_CAPABILITY_VENDOR 0x09
#define PCI_CAPABILITY_MSIX 0x11

struct pci_device {
	u8 bus, slot, function;
	u16 vendor, device;
	u32 class;	      /* class, subclass, programming interface: 24 bits */
	void *bars[PCI_BARS]; /* mapped by pci_map() so far */
	struct list_head link;
};

/* Registers of the configuration space, at a multiple of their size below 256. Any context. */
u8 pci_read8(const struct pci_device *device, unsigned offset);
u16 pci_read16(const struct pci_device *device, unsigned offset);
u32 pci_read32(const struct pci_device *device, unsigned offset);
void pci_write16(const struct pci_device *device, unsigned offset, u16 value);
void pci_write32(const struct pci_device *device, unsigned offset, u32 value);

/* The device after @previous (NULL: the first) in order of discovery, or NULL. */
struct pci_device *pci_next(struct pci_device *previous);

/* Offset of the first capability @id behind the one at @previous (0: from the start), or 0. */
unsigned pci_find_capability(const struct pci_device *device, u8 id, unsigned previous);

/*
 * The @length bytes at @offset of memory BAR @bar, uncached; NULL when the BAR is not memory, not
 * assigned or too small, or there is no memory for the map. Start-up or process context.
 */
void *pci_map(struct pci_device *device, unsigned bar, u64 offset, u64 length);

/* Let the device answer to its memory BARs and read and write memory by itself. */
void pci_enable(const struct pci_device *device);

/*
 * Call handler(argument) on the device's interrupts: by MSI-X (every message of its table's entry
 * 0; *msix becomes true) or, where it has none, by its INTx line, which may be shared. 0, or what
 * irq.h returns.
 */
int pci_request_irq(struct pci_device *device, irq_handler_t handler, void *argument,
		    const char *name, bool *msix);
