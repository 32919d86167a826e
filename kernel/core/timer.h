/*
 * timer.h - call a function at a moment of the monotonic clock, once.
 *
 * The callback runs in interrupt context, interrupts off, on the CPU that started the timer; it may
 * start its timer again. Timers of a CPU form one list sorted by deadline: starting one costs a
 * walk, which is right for the few dozen that sleeping tasks make.
 */
#pragma once

#include "kernel/core/types.h"

struct timer {
	struct timer *next;
	u64 deadline_ns;
	void (*function)(void *argument);
	void *argument;
	int cpu; /* whose list it is, or was last, on; -1: never started */
};

void timer_init(struct timer *timer, void (*function)(void *argument), void *argument);

/* Start, or move if pending. A deadline in the past fires at the next interrupt. Any context. */
void timer_start(struct timer *timer, u64 deadline_ns);

/* Stop it. On return the callback is not running on any CPU, unless called from it.
 * Hold no lock that the callback takes. */
void timer_cancel(struct timer *timer);

/* Called by the machine when the deadline of arch_timer_set() has passed; interrupts off. */
void timer_interrupt(void);

/* Prepares the lists of all CPUs: before the first timer_start(). */
void timers_init(void);
