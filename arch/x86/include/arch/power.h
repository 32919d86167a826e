/*
 * power.h - the end of the machine. None of these writes anything back: the caller has synced.
 */
#pragma once

#include "core/base/types.h"

/* Values written to QEMU's isa-debug-exit port (0xf4); QEMU exits with 2 * value + 1. */
#define EXIT_PORT 0xf4
#define EXIT_NORMAL 0x10 /* 33 */
#define EXIT_PANIC 0x2a	 /* 85 */

/* Leave through QEMU's exit port with @status, EXIT_*; where it has none, after EXIT_NORMAL, switch
 * off by ACPI. */
__noreturn void arch_leave(u8 status);
__noreturn void arch_reboot(void);
__noreturn void arch_halt_forever(void);

/* For panic() of kernel/core: stop the other CPUs, so that the console is ours, print registers
 * (NULL: none) and a trace. */
struct registers;
void arch_panic_stop_others(void);
void arch_backtrace(const struct registers *registers);

/* Name of the function at @address and the offset into it, or NULL. */
const char *symbol_lookup(u64 address, u64 *offset);
