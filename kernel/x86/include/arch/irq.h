/*
 * irq.h - device interrupts: requesting a line or a message. All at start-up, by one CPU.
 *
 * Handlers run with interrupts disabled on the CPU that took the interrupt (device interrupts go to
 * CPU 0), may take spinlocks that are elsewhere taken with _irqsave, and may wake tasks.
 */
#pragma once

#include "kernel/core/types.h"

typedef void (*irq_handler_t)(void *argument);

/* Call function(argument) on each interrupt of an edge-triggered ISA line (0..15). */
void irq_request_isa(unsigned isa, irq_handler_t function, void *argument);

/* The same for a message-signalled interrupt: what a device writes to raise it, and where. 0, or
 * -ENOSPC (too many handlers). */
struct irq_message {
	u32 address, data;
};
int irq_request_message(irq_handler_t function, void *argument, struct irq_message *message);
