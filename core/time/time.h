/*
 * time.h - two clocks in nanoseconds: monotonic since the kernel began, and real time since 1970
 * UTC.
 *
 * Real time is the monotonic clock plus an offset read from the battery-backed clock at boot; under
 * `seed=` (a reproducible run) it begins at a fixed moment instead. clock_settime moves the offset.
 */
#pragma once

#include <arch/time.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

struct timespec64 {
	time64_t tv_sec;
	s64 tv_nsec; /* 0 .. 999,999,999 */
};

extern u64 realtime_offset_ns; /* read it through realtime_ns() */

static __always_inline u64 ktime_ns(void)
{
	return arch_clock_ns();
}

static __always_inline u64 realtime_ns(void)
{
	return arch_clock_ns() + READ_ONCE(realtime_offset_ns);
}

/* Until @deadline_ns of the monotonic clock; 0 when it has passed. */
static inline u64 time_left(u64 deadline_ns)
{
	u64 now = ktime_ns();

	return deadline_ns > now ? deadline_ns - now : 0;
}

static inline struct timespec64 ns_to_timespec64(u64 ns)
{
	return (struct timespec64){(time64_t)(ns / NSEC_PER_SEC), (s64)(ns % NSEC_PER_SEC)};
}

/* Seconds and microseconds. */
struct timeval64 {
	s64 tv_sec, tv_usec;
};

static inline struct timeval64 ns_to_timeval(u64 ns)
{
	return (struct timeval64){(s64)(ns / NSEC_PER_SEC), (s64)(ns % NSEC_PER_SEC / 1000)};
}

/* Make it @ns since 1970 now. */
void realtime_set(u64 ns);

/* Read the battery-backed clock. After arch_irq_init() and cmdline_init(). */
void time_init(void);

/*
 * Timers: call a function at a moment of the monotonic clock, once.
 *
 * The callback runs in interrupt context, interrupts off, on the CPU that started the timer; it may
 * start its timer again. Timers of a CPU form one list sorted by deadline: starting one costs a
 * walk, which is right for the few dozen that sleeping tasks make.
 */
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
