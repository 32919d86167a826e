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
