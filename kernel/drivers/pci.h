/*
 * pci.h - PCI: finding devices at boot, their configuration space, registers and interrupts.
 *
 * All of it is for start-up, by one CPU, so there is no lock. The firmware has assigned BARs and
 * bus numbers; a BAR or bridge that it left alone is not used. Source: PCI Local Bus Specification
 * 3.0, chapter 6; configuration mechanism #1, section 3.2.2.3.2.
 */
#pragma once

#include <arch/irq.h>

#include "kernel/core/kernel.h"

#define PCI_BARS 6
#define PCI_CAPABILITY_VENDOR 0x09
#define PCI_CAPABILITY_MSIX 0x11

struct pci_device {
	u8 bus, slot, function;
	u16 vendor, device;
};

/* The 32-bit register at @offset of the configuration space, a multiple of 4 below 256. */
u32 pci_read(const struct pci_device *device, unsigned offset);
void pci_write(const struct pci_device *device, unsigned offset, u32 value);

/* One byte of it. */
static inline u8 pci_read8(const struct pci_device *device, unsigned offset)
{
	return (u8)(pci_read(device, offset & ~3u) >> (offset & 3) * 8);
}

/* Call found() for every function, bus by bus; it copies what it wants to keep. */
void pci_scan(void (*found)(const struct pci_device *device));

/* Offset of the first capability @id behind the one at @previous (0: from the start), or 0. */
unsigned pci_find_capability(const struct pci_device *device, u8 id, unsigned previous);

/* The @length bytes at @offset of memory BAR @bar, uncached; NULL when the BAR is not memory or not
 * assigned, or there is no memory for the map. */
void *pci_map(const struct pci_device *device, unsigned bar, u32 offset, u32 length);

/* Let the device answer to its memory BARs and read and write memory by itself. */
void pci_enable(const struct pci_device *device);

/*
 * Call handler(argument) on the device's interrupts: by MSI-X (every message of its table's entry
 * 0; *msix becomes true) or, where it has none, by its INTx line, which may be shared. The device
 * is enabled. 0, or what irq.h returns.
 */
int pci_request_irq(const struct pci_device *device, irq_handler_t handler, void *argument,
		    const char *name, bool *msix);
