/*
 * bus.h - a bus that carries one transaction at a time: which of its cycles are taken.
 *
 * A transaction takes the first gap that is long enough, from when it is asked for on. CPUs ask in
 * the order in which they are run, not in that of their clocks: one may have run for a tenth of a
 * second before another, whose clock is where that began, is run at all. So each cycle of the
 * latest BUS_CYCLES has a bit: that is more than any turn lasts. Who is behind even that finds the
 * bus free, and takes nothing: nothing is known of that time.
 */
#pragma once

#include <stdint.h>

#define BUS_CYCLES (1ull << 28)

struct bus;

/* Nothing is taken. NULL: no memory. bus_free() gives it back. */
struct bus *bus_make(void);
void bus_free(struct bus *bus);

/* All is free again, and time begins at 0. */
void bus_reset(struct bus *bus);

/* Take @length cycles, fewer than BUS_CYCLES, from @now on or later. Returns when they begin. */
uint64_t bus_take(struct bus *bus, uint64_t now, uint64_t length);
