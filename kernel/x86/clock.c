/*
 * clock.c - the TSC as the clock, the local APIC's timer as its alarm.
 *
 * Frequencies are measured once, against the HPET or the ACPI timer, over a million TSC ticks (a
 * third of a millisecond at 3 GHz; one at the 1 GHz of a counted run): both ends are the best of
 * some bracketed readings. Each CPU's alarm is set for the earlier of the timer deadline
 * (kernel/core/timer.c) and the scheduler's tick, which rests while the CPU idles. Per-CPU state is
 * touched with interrupts off.
 */
#include <arch/boot.h>
#include <arch/io.h>
#include <arch/time.h>

#include "kernel/core/printk.h"
#include "kernel/core/timer.h"
#include "kernel/proc/scheduler.h"
#include "kernel/x86/x86.h"

#define CALIBRATION_TICKS 1000000ULL
#define READINGS 5
#define PM_TIMER_HZ 3579545ULL
#define FEMTOSECONDS 1000000000000000ULL
#define HPET_PERIOD 0x4
#define HPET_CONFIGURATION 0x10
#define HPET_COUNTER 0xf0
#define NEVER (~0ULL)

u64 clock_tsc_base;
u64 clock_ns_per_tick;
static u64 tsc_hz = 1000000000;
static u64 tsc_ticks_per_ns;		    /* 34.30 fixed point */
static u64 lapic_ticks_per_ns = 1ULL << 32; /* 32.32 fixed point */
static u8 *hpet;

struct reading {
	u64 tsc, reference;
	u32 lapic;
};

static u64 read_reference(void)
{
	return hpet ? readl(hpet + HPET_COUNTER) : inl((u16)acpi.pm_timer_port);
}

/* Three clocks at one moment: of several tries, the one whose bracket is tightest. */
static struct reading read_clocks(void)
{
	struct reading best = {0};
	u64 tightest = NEVER;
	unsigned i;

	for (i = 0; i < READINGS; i++) {
		u64 before = arch_cycles();
		u64 reference = read_reference();
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
	unsigned i;

	while (arch_cycles() - start < ticks)
		for (i = 0; i < 100; i++) /* few readings: each is slow under emulation */
			__asm__ __volatile__("");
}

/* Nanoseconds of reference clock between two readings; 0: no reference. */
static u64 reference_ns(const struct reading *from, const struct reading *to)
{
	u64 mask = hpet || acpi.pm_timer_32 ? 0xffffffff : 0xffffff;
	u64 ticks = (to->reference - from->reference) & mask;

	if (hpet)
		return ticks * readl(hpet + HPET_PERIOD) / 1000000;
	return acpi.pm_timer_port ? ticks * 1000000000 / PM_TIMER_HZ : 0;
}

static void measure(void)
{
	struct reading from, to;
	u64 ns, rounded;

	if (acpi.hpet)
		hpet = map_physical(acpi.hpet, 4096);
	if (hpet && (!readl(hpet + HPET_PERIOD) || readl(hpet + HPET_PERIOD) > 100000000))
		hpet = NULL;
	if (hpet)
		writel(readl(hpet + HPET_CONFIGURATION) | 1, hpet + HPET_CONFIGURATION);
	else if (!acpi.pm_timer_port)
		goto unknown;
	lapic_timer_write(~0u);
	from = read_clocks();
	spin_ticks(CALIBRATION_TICKS);
	to = read_clocks();
	lapic_timer_write(0);
	ns = reference_ns(&from, &to);
	if (ns < 1000 || from.lapic == to.lapic)
		goto unknown;
	tsc_hz = (to.tsc - from.tsc) * 1000000000 / ns;
	/* Counted in whole megahertz by whoever designed it, if it comes that close (10 ppm). */
	rounded = (tsc_hz + 500000) / 1000000 * 1000000;
	if (max(tsc_hz, rounded) - min(tsc_hz, rounded) < rounded / 100000)
		tsc_hz = rounded;
	lapic_ticks_per_ns = ((u64)(from.lapic - to.lapic) << 32) / ns;
	return;
unknown:
	pr_warn("clock: nothing to measure the TSC by, taking it for 1 GHz\n");
}

void clock_init(void)
{
	measure();
	clock_ns_per_tick = (1000000000ULL << 32) / tsc_hz;
	tsc_ticks_per_ns = (tsc_hz << 30) / 1000000000;
	pr_info("clock: TSC %llu.%03llu MHz\n", (unsigned long long)(tsc_hz / 1000000),
		(unsigned long long)(tsc_hz / 1000 % 1000));
}

/* Program the alarm for the earlier of this CPU's two deadlines. Interrupts off. */
static void set_alarm(struct cpu *cpu, u64 now)
{
	u64 deadline = min(cpu->next_timer_ns, cpu->next_tick_ns);
	u64 ticks, delta;

	if (deadline == cpu->next_event_ns)
		return;
	cpu->next_event_ns = deadline;
	delta = deadline > now ? deadline - now : 0;
	if (cpu_features.tsc_deadline) {
		ticks = (u64)(((unsigned __int128)delta * tsc_ticks_per_ns) >> 30);
		write_msr(MSR_TSC_DEADLINE, deadline == NEVER ? 0 : arch_cycles() + ticks);
		return;
	}
	if (deadline == NEVER) {
		lapic_timer_write(0);
		return;
	}
	/* Too far for the counter: an early alarm sets the next one. */
	ticks = (u64)(((unsigned __int128)delta * lapic_ticks_per_ns) >> 32);
	lapic_timer_write((u32)max(1ULL, min(ticks, (u64)0xffffffff)));
}

void arch_timer_set(u64 deadline_ns)
{
	struct cpu *cpu = this_cpu();

	cpu->next_timer_ns = deadline_ns;
	set_alarm(cpu, arch_clock_ns());
}

void clock_init_cpu(void)
{
	struct cpu *cpu = this_cpu();
	u64 now = arch_clock_ns();

	cpu->next_timer_ns = NEVER;
	cpu->next_event_ns = NEVER;
	cpu->next_tick_ns = now + TICK_NS;
	set_alarm(cpu, now);
}

void clock_interrupt(struct registers *registers)
{
	struct cpu *cpu = this_cpu();
	u64 now = arch_clock_ns();

	cpu->next_event_ns = 0; /* spent: whatever is due next must be programmed */
	if (now >= cpu->next_tick_ns) {
		cpu->next_tick_ns += TICK_NS;
		if (cpu->next_tick_ns <= now)
			cpu->next_tick_ns = now + TICK_NS;
		scheduler_tick(user_mode(registers));
	}
	if (now >= cpu->next_timer_ns) {
		cpu->next_timer_ns = NEVER;
		timer_interrupt();
	}
	if (!cpu->next_event_ns)
		set_alarm(cpu, now);
}

void arch_halt(void)
{
	struct cpu *cpu = this_cpu();

	cpu->next_tick_ns = NEVER;
	set_alarm(cpu, arch_clock_ns());
	__asm__ __volatile__("sti; hlt" ::: "memory");
	arch_irq_disable();
	cpu->next_tick_ns = arch_clock_ns() + TICK_NS;
	set_alarm(cpu, arch_clock_ns());
	arch_irq_enable();
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

struct rtc_time {
	u8 second, minute, hour, day, month, year;
};

static void rtc_read_once(struct rtc_time *time)
{
	while (cmos_read(0x0a) & 0x80)
		; /* an update is in progress: at most 2 ms */
	time->second = cmos_read(0);
	time->minute = cmos_read(2);
	time->hour = cmos_read(4);
	time->day = cmos_read(7);
	time->month = cmos_read(8);
	time->year = cmos_read(9);
}

static u8 from_bcd(u8 value)
{
	return (u8)((value >> 4) * 10 + (value & 15));
}

/* Days from 1970-01-01 to a date of the proleptic Gregorian calendar; March is month 0 of the year.
 */
static u64 days_since_1970(u64 year, u64 month, u64 day)
{
	if (month < 3) {
		month += 12;
		year--;
	}
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5 + day -
	       1 - 719468;
}

u64 arch_rtc_seconds(void)
{
	struct rtc_time time, again;
	u8 status;
	bool afternoon;

	do { /* the same twice: not torn by an update */
		rtc_read_once(&time);
		rtc_read_once(&again);
	} while (__builtin_memcmp(&time, &again, sizeof(time)));
	status = cmos_read(0x0b);
	afternoon = !(status & 2) && time.hour & 0x80;
	time.hour &= 0x7f;
	if (!(status & 4)) {
		time = (struct rtc_time){from_bcd(time.second), from_bcd(time.minute),
					 from_bcd(time.hour),	from_bcd(time.day),
					 from_bcd(time.month),	from_bcd(time.year)};
	}
	if (!(status & 2))
		time.hour = (u8)(time.hour % 12 + (afternoon ? 12 : 0));
	return days_since_1970(2000 + time.year, time.month, time.day) * 86400 + time.hour * 3600 +
	       time.minute * 60 + time.second;
}
