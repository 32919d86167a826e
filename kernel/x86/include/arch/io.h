/*
 * io.h - device registers, for drivers: I/O ports, and memory-mapped registers through
 * map_physical().
 */
#pragma once

#include "kernel/core/types.h"

#define DEFINE_ACCESS(suffix, type)                                                                \
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
	}                                                                                          \
	static inline type read##suffix(const volatile void *address)                              \
	{                                                                                          \
		barrier();                                                                         \
		return *(const volatile type *)address;                                            \
	}                                                                                          \
	static inline void write##suffix(type value, volatile void *address)                       \
	{                                                                                          \
		barrier();                                                                         \
		*(volatile type *)address = value;                                                 \
	}

/* inb outb readb writeb, inw ..., inl ...: as in Linux, value before place. */
DEFINE_ACCESS(b, u8)
DEFINE_ACCESS(w, u16)
DEFINE_ACCESS(l, u32)

/* @n bytes to one port, one after the other. */
static inline void outsb(u16 port, const void *from, size_t n)
{
	__asm__ __volatile__("rep outsb" : "+S"(from), "+c"(n) : "d"(port) : "memory");
}

/*
 * Map @size bytes of device memory at @phys for good: device registers uncached; firmware tables
 * and other memory that is not in the direct map cached. NULL when no memory for tables or no
 * address space is left. Process context, or start-up.
 */
void *map_device(phys_addr_t phys, size_t size, bool cached);
#define map_physical(phys, size) map_device(phys, size, false)
#define map_physical_cached(phys, size) map_device(phys, size, true)
