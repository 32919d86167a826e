/*
 * assert.h - what must hold. ASSERT is checked in debug builds only and may cost; BUG_ON always.
 *
 * A panic names the broken invariant. What a user program, a device or a disk image can bring about
 * is never asserted: that is an errno.
 */
#pragma once

#include "core/base/types.h"

struct registers;

/* Print the message, registers and a trace, and leave the machine with a failure. Any context. */
__noreturn __cold void panic(const char *format, ...) __printf(1, 2);

/* panic() has stopped the other CPUs: nobody will release their locks (core/lock/spinlock.c). */
extern bool panicking;

/* What the machine does at the end, on the CPU that panics. */
struct panic_machine {
	void (*stop_others)(void); /* so that the console is ours */
	void (*backtrace)(const struct registers *registers); /* and they, unless NULL */
	__noreturn void (*leave)(void);
};
extern const struct panic_machine *panic_machine; /* set before anything can panic */

/* Of a fault, set before panic(): printed, and traced from, instead of the caller. */
extern const struct registers *panic_registers;

__noreturn __cold void assert_failed(const char *what, const char *file, int line,
				     const char *function);

#define BUG_ON(condition)                                                                          \
	do {                                                                                       \
		if (unlikely(condition))                                                           \
			assert_failed("not: " #condition, __FILE__, __LINE__, __func__);           \
	} while (0)
#define BUG() assert_failed("unreachable", __FILE__, __LINE__, __func__)

#ifdef CONFIG_DEBUG
#define ASSERT(condition)                                                                          \
	do {                                                                                       \
		if (unlikely(!(condition)))                                                        \
			assert_failed(#condition, __FILE__, __LINE__, __func__);                   \
	} while (0)
#else
#define ASSERT(condition) ((void)sizeof(!(condition))) /* checked by the compiler, not evaluated */
#endif

#define static_assert _Static_assert
