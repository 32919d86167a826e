/*
 * irq.h - device interrupts: requesting a line or a message.
 *
 * Handlers run with interrupts disabled on the CPU that took the interrupt (device interrupts go to
 * CPU 0), may take spinlocks that are elsewhere taken with _irqsave, and may wake tasks.
 */
#pragma once

#include "kernel/core/types.h"

typedef void (*irq_handler_t)(void *argument);

/*
 * Call function(argument) on each interrupt of an ISA line (0..15, edge-triggered unless the MADT
 * says otherwise), or of a PCI INTx line (level-triggered, active low, perhaps shared) by its GSI.
 * 0, -ENODEV (no such line), -ENOSPC (too many handlers).
 */
int irq_request_isa(unsigned isa, irq_handler_t function, void *argument);
int irq_request_pci(unsigned gsi, irq_handler_t function, void *argument);

/* The same for a message-signalled interrupt: what a device writes to raise it, and where. */
struct irq_message {
	u32 address, data;
};
int irq_request_message(irq_handler_t function, void *argument, struct irq_message *message);
