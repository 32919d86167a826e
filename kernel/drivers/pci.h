/*
 * pci.h - PCI: finding devices at boot, their configuration space, registers and interrupts.
 *
 * All of it is for start-up, by one CPU, so there is no lock. The firmware has assigned BARs and
 * bus numbers; a BAR or bridge that it left alone is not used. Interrupts are messages (MSI-X)
 * only. Source: PCI Local Bus Specification 3.0, chapter 6; configuration mechanism #1, section
 * 3.2.2.3.2.
 *
 * A function of a device is known by its place in configuration space: bus << 16 | slot << 11 |
 * number << 8.
 */
#pragma once

#include <arch/irq.h>

#define PCI_CAPABILITY_VENDOR 0x09

/* The 32-bit register at @offset of the configuration space, a multiple of 4 below 256. */
u32 pci_read(u32 function, unsigned offset);

/* One byte of it. */
static inline u8 pci_read8(u32 function, unsigned offset)
{
	return (u8)(pci_read(function, offset & ~3u) >> (offset & 3) * 8);
}

/* Call found() for every function, with vendor | device << 16. */
void pci_scan(void (*found)(u32 function, u32 id));

/* Offset of the capability behind the one at @previous (0: the first); 0: none. Its first byte says
 * which it is. */
unsigned pci_next_capability(u32 function, unsigned previous);

/* The @length bytes at @offset of memory BAR @bar, uncached; NULL when the BAR is not memory or not
 * assigned, or there is no memory for the map. */
void *pci_map(u32 function, unsigned bar, u32 offset, u32 length);

/*
 * Let the device answer to its memory BARs and read and write memory by itself, and call
 * handler(argument) on its interrupts: every message of entry 0 of its MSI-X table. 0, -ENODEV (it
 * has no MSI-X) or what irq.h returns.
 */
int pci_enable(u32 function, irq_handler_t handler, void *argument);
