/*
 * clock.c - the TSC as the clock, the local APIC's timer as its alarm.
 *
 * Frequencies are measured once, against the ACPI timer, over a millisecond: both ends are the best
 * of some bracketed readings. The alarm is that of the CPU's timers (core/time/timer.c), of which
 * one is the scheduler's tick, which rests while the CPU idles.
 */
#include <arch/io.h>

#include "arch/x86/x86.h"
#include "core/kernel.h"

#define CALIBRATION_PM_TICKS 3570 /* a millisecond */
#define READINGS 5
#define PM_TIMER_HZ 3579545ULL
#define PM_TIMER_MASK 0xffffff /* not every one has more bits */
#define NEVER (~0ULL)

static u64 lapic_ticks_per_ns = 1ULL << 32; /* 32.32 fixed point */

static struct timer ticks[NR_CPUS];

struct reading {
	u64 tsc;
	u32 reference, lapic;
};

/* Three clocks at one moment: of several tries, the one whose bracket is tightest. */
static struct reading read_clocks(void)
{
	struct reading best = {0};
	u64 tightest = NEVER;

	for (unsigned i = 0; i < READINGS; i++) {
		u64 before = arch_cycles();
		u32 reference = inl(acpi.pm_timer_port);
		u32 left = readl(lapic + LAPIC_CURRENT_COUNT);
		u64 width = arch_cycles() - before;

		if (width < tightest) {
			tightest = width;
			best = (struct reading){before + width / 2, reference, left};
		}
	}
	return best;
}

/* The TSC's megahertz; lapic_ticks_per_ns is set, too. */
static u64 measure(void)
{
	writel(~0u, lapic + LAPIC_INITIAL_COUNT);
	struct reading from = read_clocks(), to;
	u32 passed;

	do {
		to = read_clocks();
		passed = (to.reference - from.reference) & PM_TIMER_MASK;
	} while (passed < CALIBRATION_PM_TICKS);
	u64 ns = passed * NSEC_PER_SEC / PM_TIMER_HZ;

	writel(0, lapic + LAPIC_INITIAL_COUNT);
	lapic_ticks_per_ns = ((u64)(from.lapic - to.lapic) << 32) / ns;
	/* Whole megahertz: so it was designed, and no finer is what we measure. */
	return ((to.tsc - from.tsc) * 1000 + ns / 2) / ns;
}

void clock_init(void)
{
	u64 tsc_mhz = acpi.pm_timer_port ? measure() : 1000;

	clock_ns_per_cycle = (1000ULL << 32) / tsc_mhz;
	pr_info("clock: TSC %llu MHz%s\n", tsc_mhz,
		acpi.pm_timer_port ? "" : ", assumed: there is nothing to measure it by");
}

void arch_timer_set(u64 deadline_ns)
{
	u64 now = arch_clock_ns(), delta = deadline_ns > now ? deadline_ns - now : 0;
	u64 ticks = (u64)(((unsigned __int128)delta * lapic_ticks_per_ns) >> 32);

	/* Too far for the counter: an early alarm sets the next one. 0 stops it. */
	writel(deadline_ns == NEVER ? 0 : (u32)max(1ULL, min(ticks, NEVER >> 32)),
	       lapic + LAPIC_INITIAL_COUNT);
}

/* The scheduler's tick of this CPU; the interrupt that calls it came from a program, or not. */
static void tick(void *cpu)
{
	timer_start(&ticks[cpu_id()], arch_clock_ns() + TICK_NS);
	scheduler_tick(user_mode(((struct cpu *)cpu)->interrupted));
}

void clock_init_cpu(void)
{
	timer_init(&ticks[cpu_id()], tick, this_cpu());
	timer_start(&ticks[cpu_id()], arch_clock_ns() + TICK_NS);
}

void arch_halt(void)
{
	timer_cancel(&ticks[cpu_id()]);
	turn_event(TURN_HALT);
	__asm__ __volatile__("sti; hlt" ::: "memory");
	timer_start(&ticks[cpu_id()], arch_clock_ns() + TICK_NS);
}

/* ---- the battery-backed clock ---------------------------------------------------------------- */

static u8 cmos_read(u8 reg)
{
	outb(reg, 0x70);
	return inb(0x71);
}

/* Days from 1970-01-01 to a date of the Gregorian calendar; March is month 0 of the year. */
static u64 days_since_1970(u64 year, u64 month, u64 day)
{
	if (month < 3) {
		month += 12;
		year--;
	}
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5 + day -
	       1 - 719468;
}

/* The clock counts 24 hours, in UTC and binary-coded decimal, as that of every virtual machine
 * does. When no update is in progress, none comes for 244 microseconds. */
u64 arch_rtc_seconds(void)
{
	static const u8 registers[] = {0, 2, 4, 7, 8, 9};
	u64 t[ARRAY_SIZE(registers)];

	while (cmos_read(0x0a) & 0x80)
		; /* at most 2 ms */
	for (unsigned i = 0; i < ARRAY_SIZE(registers); i++) {
		u8 value = cmos_read(registers[i]);

		t[i] = (value >> 4) * 10u + (value & 15);
	}
	return days_since_1970(2000 + t[5], t[4], t[3]) * 86400 + t[2] * 3600 + t[1] * 60 + t[0];
}
