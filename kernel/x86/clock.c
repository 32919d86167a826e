/*
 * clock.c - the TSC as the clock, the local APIC's timer as its alarm.
 *
 * Frequencies are measured once, against the HPET or the ACPI timer, over a million TSC ticks (a
 * third of a millisecond at 3 GHz; one at the 1 GHz of a counted run): both ends are the best of
 * some bracketed readings. The alarm is that of the CPU's timers (kernel/core/timer.c), of which
 * one is the scheduler's tick, which rests while the CPU idles.
 */
#include <arch/boot.h>
#include <arch/io.h>
#include <arch/time.h>

#include "kernel/core/percpu.h"
#include "kernel/core/timer.h"
#include "kernel/proc/process.h"
#include "kernel/x86/x86.h"

#define CALIBRATION_TICKS 1000000ULL
#define READINGS 5
#define PM_TIMER_HZ 3579545ULL
#define HPET_PERIOD 0x4 /* femtoseconds */
#define HPET_CONFIGURATION 0x10
#define HPET_COUNTER 0xf0
#define NEVER (~0ULL)

u64 clock_tsc_base;
u64 clock_ns_per_tick;
static u64 tsc_hz = 1000000000;
static u64 lapic_ticks_per_ns = 1ULL << 32; /* 32.32 fixed point */
static u8 *hpet;

static struct {
	struct timer timer;
} __percpu_slot ticks[NR_CPUS];

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
		u32 reference = hpet ? readl(hpet + HPET_COUNTER) : inl(acpi.pm_timer_port);
		u32 lapic = lapic_timer_read();
		u64 after = arch_cycles();

		if (after - before < tightest) {
			tightest = after - before;
			best = (struct reading){before + (after - before) / 2, reference, lapic};
		}
	}
	return best;
}

static void spin_ticks(u64 ticks)
{
	u64 start = arch_cycles();

	while (arch_cycles() - start < ticks)
		for (unsigned i = 0; i < 100; i++) /* few readings: each is slow under emulation */
			__asm__ __volatile__("");
}

/* Sets tsc_hz and lapic_ticks_per_ns; false when there is nothing to measure by. */
static bool measure(void)
{
	struct reading from, to;
	u64 ns, rounded;

	if (acpi.hpet)
		hpet = map_physical(acpi.hpet, 4096);
	if (hpet)
		writel(readl(hpet + HPET_CONFIGURATION) | 1, hpet + HPET_CONFIGURATION);
	else if (!acpi.pm_timer_port)
		return false;
	lapic_timer_write(~0u);
	from = read_clocks();
	spin_ticks(CALIBRATION_TICKS);
	to = read_clocks();
	lapic_timer_write(0);
	if (hpet)
		ns = (u64)(to.reference - from.reference) * readl(hpet + HPET_PERIOD) / 1000000;
	else
		ns = ((to.reference - from.reference) & acpi.pm_timer_mask) * NSEC_PER_SEC /
		     PM_TIMER_HZ;
	if (ns < 1000 || from.lapic == to.lapic)
		return false;
	tsc_hz = (to.tsc - from.tsc) * NSEC_PER_SEC / ns;
	/* Counted in whole megahertz by whoever designed it, if it comes that close (10 ppm). */
	rounded = (tsc_hz + 500000) / 1000000 * 1000000;
	if (max(tsc_hz, rounded) - min(tsc_hz, rounded) < rounded / 100000)
		tsc_hz = rounded;
	lapic_ticks_per_ns = ((u64)(from.lapic - to.lapic) << 32) / ns;
	return true;
}

void clock_init(void)
{
	if (!measure())
		pr_warn("clock: nothing to measure the TSC by, taking it for 1 GHz\n");
	clock_ns_per_tick = (NSEC_PER_SEC << 32) / tsc_hz;
	pr_info("clock: TSC %llu.%03llu MHz\n", (unsigned long long)(tsc_hz / 1000000),
		(unsigned long long)(tsc_hz / 1000 % 1000));
}

void arch_timer_set(u64 deadline_ns)
{
	u64 now = arch_clock_ns(), delta = deadline_ns > now ? deadline_ns - now : 0;
	u64 ticks = (u64)(((unsigned __int128)delta * lapic_ticks_per_ns) >> 32);

	/* Too far for the counter: an early alarm sets the next one. 0 stops it. */
	lapic_timer_write(deadline_ns == NEVER ? 0 : (u32)max(1ULL, min(ticks, NEVER >> 32)));
}

/* The scheduler's tick of this CPU; the interrupt that calls it came from a program, or not. */
static void tick(void *cpu)
{
	timer_start(&ticks[cpu_id()].timer, arch_clock_ns() + TICK_NS);
	scheduler_tick(((struct cpu *)cpu)->interrupted_user);
}

void clock_init_cpu(void)
{
	timer_init(&ticks[cpu_id()].timer, tick, this_cpu());
	timer_start(&ticks[cpu_id()].timer, arch_clock_ns() + TICK_NS);
}

void clock_interrupt(struct registers *registers)
{
	this_cpu()->interrupted_user = user_mode(registers);
	timer_interrupt();
}

void arch_halt(void)
{
	timer_cancel(&ticks[cpu_id()].timer);
	__asm__ __volatile__("sti; hlt" ::: "memory");
	timer_start(&ticks[cpu_id()].timer, arch_clock_ns() + TICK_NS);
}

/* Busy, for start-up's delays. */
void clock_delay_us(u64 microseconds)
{
	spin_ticks(tsc_hz / 1000000 * microseconds);
}

/* ---- the battery-backed clock ---------------------------------------------------------------- */

static u8 cmos_read(u8 reg)
{
	outb(reg, 0x70);
	return inb(0x71);
}

#define RTC_FIELDS 6
#define RTC_BINARY 4 /* of register B; else binary-coded decimal */

static void rtc_read_once(u8 fields[RTC_FIELDS])
{
	static const u8 registers[RTC_FIELDS] = {0, 2, 4, 7, 8, 9};

	while (cmos_read(0x0a) & 0x80)
		; /* an update is in progress: at most 2 ms */
	for (unsigned i = 0; i < RTC_FIELDS; i++)
		fields[i] = cmos_read(registers[i]);
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

/* The clock counts 24 hours, in UTC, as that of every virtual machine does. */
u64 arch_rtc_seconds(void)
{
	u8 t[RTC_FIELDS], again[RTC_FIELDS];

	do { /* the same twice: not torn by an update */
		rtc_read_once(t);
		rtc_read_once(again);
	} while (__builtin_memcmp(t, again, sizeof(t)));
	for (unsigned i = 0; i < RTC_FIELDS && !(cmos_read(0x0b) & RTC_BINARY); i++)
		t[i] = (u8)((t[i] >> 4) * 10 + (t[i] & 15));
	return days_since_1970(2000 + t[5], t[4], t[3]) * 86400 + t[2] * 3600 + t[1] * 60 + t[0];
}
