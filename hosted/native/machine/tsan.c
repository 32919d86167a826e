/*
 * tsan.c - native: what the thread sanitizer is to make of volatile accesses (READ_ONCE,
 * WRITE_ONCE, test_bit), which the compiler tells apart for it (native.mk) and it does not know.
 *
 * As in the ring of interleavings (interleave/ring/hooks.c): a marked read orders what depends on
 * it, as on every machine that Linux runs on, so it acquires; and a plain write of a word may meet
 * it, so it is not looked at as a read. A marked write orders nothing; a plain access that meets it
 * is a race. It is told as adding nothing, atomically: no store of another thread's is lost.
 */
#ifdef __SANITIZE_THREAD__

#include "core/base/types.h"

void __tsan_acquire(void *address);

#define VOLATILE(size, type)                                                                       \
	void __tsan_volatile_read##size(void *address);                                            \
	void __tsan_volatile_read##size(void *address)                                             \
	{                                                                                          \
		__tsan_acquire(address);                                                           \
	}                                                                                          \
	void __tsan_volatile_write##size(void *address);                                           \
	void __tsan_volatile_write##size(void *address)                                            \
	{                                                                                          \
		__atomic_fetch_add((type *)address, 0, __ATOMIC_RELAXED);                          \
	}
VOLATILE(1, u8)
VOLATILE(2, u16)
VOLATILE(4, u32)
VOLATILE(8, u64)

#endif
