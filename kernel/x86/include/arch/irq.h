/*
 * irq.h - device interrupts: requesting a line or a message, and stopping the machine.
 *
 * Handlers run with interrupts disabled on the CPU that took the interrupt (device interrupts go to
 * CPU 0), may take spinlocks that are elsewhere taken with _irqsave, and may wake tasks.
 */
#pragma once

#include "kernel/core/types.h"

typedef void (*irq_handler_t)(void *argument);

/* GSI of ISA interrupt @isa (0..15), by the MADT's overrides. */
unsigned irq_isa_to_gsi(unsigned isa);

/*
 * Call handler(argument) on each interrupt of @gsi. ISA lines are edge-triggered, unless
 * overridden; GSIs that are PCI INTx lines level-triggered, and may be shared. 0, -ENODEV (no such
 * GSI), -ENOSPC (no vector left), -ENOMEM.
 */
int irq_request(unsigned gsi, irq_handler_t handler, void *argument, const char *name);

/* A PCI INTx line: like irq_request() but level-triggered, active low, whatever @gsi's number. */
int irq_request_pci(unsigned gsi, irq_handler_t handler, void *argument, const char *name);

/* A vector for a message-signalled interrupt: its number, or -ENOSPC. */
int irq_allocate_vector(irq_handler_t handler, void *argument, const char *name);

/* Address and data that a device writes to raise @vector (on CPU 0). */
u64 irq_msi_address(int vector);
u32 irq_msi_data(int vector);
