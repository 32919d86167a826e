/*
 * turns.c - where a turn ends; see turns.h.
 */
#include "core/kernel.h"

#ifdef CONFIG_SHORT_TURNS

#define MOST_PLACES 4 /* that a turn goes through */

/* Only its own CPU writes it: a plain word each, since an interrupt that comes between a read and
 * its write does no harm but to draw the same number again. */
static struct turn {
	u64 random; /* SplitMix64's state */
	u32 left;   /* places that this turn still goes through */
} __aligned(64) turns[NR_CPUS];

/* Written by the simulation, if there is one. */
static u8 turn_ahead[NR_CPUS];

const void *ARCH_SAVES_REGISTERS turn_class_address(u16 class)
{
	return &lock_classes[class];
}

/* Is this CPU's clock ahead of others'? Never, where nobody has a clock. */
static bool is_ahead(unsigned cpu)
{
	return arch_turn_mark_reads(TURN_MAY_END, &turn_ahead[cpu], &turn_ahead[cpu]);
}

static u32 draw(unsigned cpu)
{
	u64 *state = &turns[cpu].random;

	if (!*state) {
		u64 seed = 0;

		cmdline_u64("seed", &seed);
		*state = seed * NR_CPUS + cpu + 1;
	}
	return (u32)(splitmix64(state) % MOST_PLACES);
}

void ARCH_SAVES_REGISTERS turn_point(void)
{
	unsigned cpu;

	if (nr_cpus == 1)
		return;
	cpu = cpu_id();
	if (turns[cpu].left) {
		turns[cpu].left--;
		if (!is_ahead(cpu))
			return;
	} else {
		turns[cpu].left = draw(cpu);
	}
	do
		cpu_relax();
	while (is_ahead(cpu));
}

#endif
