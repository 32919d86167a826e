/*
 * turns.h - CPUs that meet often, in the same order in each run: CONFIG_SHORT_TURNS, off by
 * default.
 *
 * Under `--icount --smp N` QEMU runs the CPUs in one thread, one after the other, and so the same
 * in each run. But a CPU's turn lasts until it has nothing to do, or for a tenth of a second: CPUs
 * hardly ever meet. A turn also ends at a `pause`. With this option there is one where a system
 * call begins and where a lock is about to be taken, at each or at a few of these places as drawn
 * from the seed: so a turn is some hundred instructions, and which CPUs meet where depends on the
 * seed.
 *
 * Where QEMU has the simulation of several CPUs beside it (lab/run/cachesim/coherent), the marks
 * here tell it when a lock is tried for, taken and given back, and which. It also answers: a CPU
 * whose simulated clock is ahead of the others' finds so in its byte of turn_ahead, and leaves its
 * turn to them until it is not. So locks are taken in the order of the clocks.
 *
 * What of this the kernel does for the simulation's sake alone lies between TURN_ASIDE and
 * TURN_BACK, and is charged to nobody.
 *
 * Without the option nothing of it is in the kernel (spinlock.h). No locks; any context, once this
 * CPU has its struct cpu. Nothing sleeps.
 */
#pragma once

#include <arch/cpu.h>

#include "core/lock/turn_event.h"

/* Here a turn may end. Changes no register. */
void ARCH_SAVES_REGISTERS turn_point(void);

/* The address that tells the simulation the class of a lock. */
const void *ARCH_SAVES_REGISTERS turn_class_address(u16 class);

/* The lock with the word @lock, whose class is in @class_word, is about to be tried for. */
static __always_inline void turn_lock_try(const void *lock, const u16 *class_word)
{
	TURN_MARK(TURN_ASIDE);
	turn_point();
	arch_turn_mark_reads(TURN_LOCK, lock, turn_class_address(*class_word));
	TURN_MARK(TURN_TRY);
}

#define turn_event(event) TURN_MARK(event)

/* The next instruction that writes @lock's line gives it back. @event: TURN_GIVE,
 * TURN_GIVE_READING; a constant. */
#define turn_lock_give(lock, class_word, event)                                                    \
	({                                                                                         \
		TURN_MARK(TURN_ASIDE);                                                             \
		arch_turn_mark_reads(TURN_LOCK, lock, turn_class_address(*(class_word)));          \
		TURN_MARK(event);                                                                  \
	})
