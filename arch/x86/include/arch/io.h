/*
 * io.h - device registers and interrupts, for drivers: I/O ports, and memory-mapped registers
 * through map_device().
 */
#pragma once

#include "core/base/types.h"

/* inb outb, inw ..., inl ...: as in Linux, value before place. */
#define DEFINE_PORTS(suffix, type)                                                                 \
	static inline type in##suffix(u16 port)                                                    \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		__asm__ __volatile__("in" #suffix " %1, %0" : "=a"(value) : "Nd"(port));           \
		return value;                                                                      \
	}                                                                                          \
	static inline void out##suffix(type value, u16 port)                                       \
	{                                                                                          \
		__asm__ __volatile__("out" #suffix " %0, %1" ::"a"(value), "Nd"(port));            \
	}
DEFINE_PORTS(b, u8)
DEFINE_PORTS(w, u16)
DEFINE_PORTS(l, u32)

/* A device's register in memory, from map_device(). What was written to memory before is there. */
#define readl(address) (*(const volatile u32 *)(address))
#define writel(value, address) ({ barrier(); *(volatile u32 *)(address) = (value); })

/* @n bytes to one port, one after the other. */
static inline void outsb(u16 port, const void *from, size_t n)
{
	__asm__ __volatile__("rep outsb" : "+S"(from), "+c"(n) : "d"(port) : "memory");
}

/* Map @size bytes of device registers at @phys for good, uncached. At start-up. */
void *map_device(phys_addr_t phys, size_t size);

/*
 * Device interrupts: requesting a line or a message, at start-up. Handlers run with interrupts
 * disabled on the CPU that took the interrupt (device interrupts go to CPU 0), may take spinlocks
 * that are elsewhere taken with _irqsave, and may wake tasks.
 */
typedef void (*irq_handler_t)(void *argument);

/* Call function(argument) on each message-signalled interrupt: what a device writes to raise it,
 * and where. */
struct irq_message {
	u32 address, data;
} irq_request_message(irq_handler_t function, void *argument);

/* The same for an edge-triggered ISA line (0..15). */
void irq_request_isa(unsigned isa, irq_handler_t function, void *argument);
