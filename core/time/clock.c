/*
 * clock.c - the scale of the monotonic clock, which arch_clock_ns() reads from anywhere: the
 * machine sets it when it has measured its counter.
 */
#include <arch/time.h>

u64 clock_base;
u64 clock_ns_per_cycle;
