/*
 * bus.c - see bus.h. The bits are a ring: that of a cycle is at its number modulo BUS_CYCLES.
 */
#include "bus.h"

#include <stdlib.h>
#include <string.h>

#define WORDS (BUS_CYCLES / 64)

struct bus {
	uint64_t end; /* nothing is taken from here on, and the bits before are of BUS_CYCLES */
	uint64_t taken[WORDS];
};

struct bus *bus_make(void)
{
	return calloc(1, sizeof(struct bus));
}

void bus_free(struct bus *bus)
{
	free(bus);
}

void bus_reset(struct bus *bus)
{
	memset(bus, 0, sizeof(*bus));
}

static uint64_t *word_of(struct bus *bus, uint64_t cycle)
{
	return &bus->taken[cycle / 64 % WORDS];
}

/* The first of @length cycles from @now on that are all free. */
static uint64_t first_gap(struct bus *bus, uint64_t now, uint64_t length)
{
	uint64_t begin = now, at = now;

	while (at < begin + length && at < bus->end) {
		if (at % 64 == 0 && *word_of(bus, at) == ~0ull)
			at += 63; /* of a word that is all taken, the last */
		if (*word_of(bus, at) >> at % 64 & 1)
			begin = at + 1;
		at++;
	}
	return begin;
}

/* Time is known up to @end from now on: the bits of what comes new are cleared. */
static void go_on_to(struct bus *bus, uint64_t end)
{
	if (end - bus->end >= BUS_CYCLES)
		memset(bus->taken, 0, sizeof(bus->taken));
	else
		for (uint64_t word = (bus->end + 63) / 64; word < (end + 63) / 64; word++)
			bus->taken[word % WORDS] = 0;
	bus->end = end;
}

uint64_t bus_take(struct bus *bus, uint64_t now, uint64_t length)
{
	/* one word more: what lies in the word of the end is there already */
	if (!length || now + BUS_CYCLES < bus->end + 64)
		return now;
	uint64_t begin = first_gap(bus, now, length);

	if (begin + length > bus->end)
		go_on_to(bus, begin + length);
	for (uint64_t cycle = begin; cycle < begin + length; cycle++)
		*word_of(bus, cycle) |= 1ull << cycle % 64;
	return begin;
}
