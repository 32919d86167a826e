/*
 * core.h - starting kernel/core, in the order main.c needs.
 */
#pragma once

#include "kernel/core/types.h"

/* After arch_early_init(): the command line, the lock checker, the log's options. */
void core_early_init(const char *command_line);

/* After arch_irq_init(): clocks, timers, random numbers. */
void core_init(void);

/* Set by main.c when all CPUs and the scheduler run: from then on sleeping with interrupts off is a
 * bug. */
extern bool system_running;
