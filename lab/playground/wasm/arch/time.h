/* time.h - the playground: there is no clock. */
#pragma once

#include <arch/cpu.h>

/* Never called, and so not there. */
u64 arch_cycles(void);
void arch_timer_set(u64 deadline_ns);
u64 arch_rtc_seconds(void);
