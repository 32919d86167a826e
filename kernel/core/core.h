/*
 * core.h - how far start-up has come.
 */
#pragma once

#include "kernel/core/types.h"

/* Set by main.c when all CPUs and the scheduler run: from then on sleeping with interrupts off is a
 * bug. */
extern bool system_running;
