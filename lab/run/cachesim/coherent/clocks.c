/*
 * clocks.c - see clocks.h. Lines and locks that have been waited for, or could be, are kept in
 * tables by address: open addressing, doubled when half full, never given back before the reset.
 */
#include "clocks.h"

#include "bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lock {
	uint64_t key;			 /* the address plus one; 0: an empty place */
	uint64_t given, given_by_reader; /* when it was last */
};

struct contended_line {
	uint64_t key; /* as of struct lock */
	struct timeline timeline;
};

/* Elements of @size bytes whose first member is their key. */
struct table {
	char *elements;
	size_t size, places, used;
};

struct clocks {
	struct costs costs;
	unsigned line_bits;
	uint64_t now[MOST_CPUS];
	struct bus *bus;
	struct table lines, locks;
};

/* ---- tables ---------------------------------------------------------------------------------- */

static uint64_t *table_place(const struct table *table, uint64_t key)
{
	size_t place = (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & (table->places - 1);
	uint64_t *element;

	for (;; place = (place + 1) & (table->places - 1)) {
		element = (uint64_t *)(void *)(table->elements + place * table->size);
		if (!*element || *element == key)
			return element;
	}
}

static void table_make(struct table *table, size_t size, size_t places)
{
	*table = (struct table){.size = size, .places = places};
	table->elements = calloc(places, size);
	if (!table->elements) {
		fprintf(stderr, "clocks: no memory\n");
		exit(1);
	}
}

static void table_grow(struct table *table)
{
	struct table larger;

	table_make(&larger, table->size, 2 * table->places);
	for (size_t i = 0; i < table->places; i++) {
		uint64_t *element = (uint64_t *)(void *)(table->elements + i * table->size);

		if (*element)
			memcpy(table_place(&larger, *element), element, table->size);
	}
	larger.used = table->used;
	free(table->elements);
	*table = larger;
}

/* The element of @key, zeroed if it is new. */
static void *table_get(struct table *table, uint64_t key)
{
	uint64_t *element = table_place(table, key + 1);

	if (*element)
		return element;
	if (2 * ++table->used > table->places) {
		table_grow(table);
		element = table_place(table, key + 1);
	}
	*element = key + 1;
	return element;
}

static void table_clear(struct table *table)
{
	memset(table->elements, 0, table->places * table->size);
	table->used = 0;
}

/* ---- timelines ------------------------------------------------------------------------------- */

static void forget_first(struct timeline *timeline)
{
	timeline->forgotten = timeline->taken[0].end;
	memmove(timeline->taken, timeline->taken + 1,
		(--timeline->pieces) * sizeof(timeline->taken[0]));
}

/* A piece before number @at, joined with its neighbours where they touch. */
static void insert(struct timeline *timeline, unsigned at, uint64_t begin, uint64_t end)
{
	bool before = at && timeline->taken[at - 1].end == begin;
	bool behind = at < timeline->pieces && timeline->taken[at].begin == end;
	unsigned following = timeline->pieces - at;

	if (before && behind) {
		timeline->taken[at - 1].end = timeline->taken[at].end;
		memmove(&timeline->taken[at], &timeline->taken[at + 1],
			(following - 1) * sizeof(timeline->taken[0]));
		timeline->pieces--;
	} else if (before) {
		timeline->taken[at - 1].end = end;
	} else if (behind) {
		timeline->taken[at].begin = begin;
	} else {
		memmove(&timeline->taken[at + 1], &timeline->taken[at],
			following * sizeof(timeline->taken[0]));
		timeline->taken[at].begin = begin;
		timeline->taken[at].end = end;
		timeline->pieces++;
	}
}

uint64_t timeline_take(struct timeline *timeline, uint64_t now, uint64_t length)
{
	uint64_t begin;
	unsigned at = 0;

	if (!length)
		return now;
	if (timeline->pieces == TIMELINE)
		forget_first(timeline);
	begin = now > timeline->forgotten ? now : timeline->forgotten;
	for (; at < timeline->pieces && timeline->taken[at].begin < begin + length; at++)
		if (timeline->taken[at].end > begin)
			begin = timeline->taken[at].end;
	insert(timeline, at, begin, begin + length);
	return begin;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

uint64_t clocks_now(const struct clocks *clocks, unsigned cpu)
{
	return clocks->now[cpu];
}

void clocks_run(struct clocks *clocks, unsigned cpu, uint64_t instructions)
{
	clocks->now[cpu] += instructions;
}

uint64_t clocks_sleep_until(struct clocks *clocks, unsigned cpu, uint64_t time)
{
	uint64_t slept = time > clocks->now[cpu] ? time - clocks->now[cpu] : 0;

	clocks->now[cpu] += slept;
	return slept;
}

static uint64_t cost_of(const struct costs *costs, const struct mesi_result *result)
{
	uint64_t cost = 0, upgrade = result->far ? costs->far : costs->upgrade;

	switch (result->found) {
	case FOUND_FIRST:
		break;
	case FOUND_SECOND:
		cost = costs->second;
		break;
	case FOUND_THIRD:
		cost = costs->third;
		break;
	case FOUND_MEMORY:
		cost = costs->memory;
		break;
	case FOUND_NEAR:
		cost = costs->near;
		break;
	case FOUND_FAR:
		cost = costs->far;
		break;
	}
	/* To take copies away and to fetch the line go on at the same time. */
	return (result->upgraded || result->invalidated) && upgrade > cost ? upgrade : cost;
}

struct delay clocks_access(struct clocks *clocks, unsigned cpu, uint64_t physical,
			   const struct mesi_result *result)
{
	uint64_t now = clocks->now[cpu], begin = now, granted;
	struct delay delay = {.cycles = cost_of(&clocks->costs, result)};

	if (result->invalidated || result->was_alone) {
		struct contended_line *line =
			table_get(&clocks->lines, physical >> clocks->line_bits);

		begin = timeline_take(&line->timeline, now, delay.cycles);
		delay.for_line = begin - now;
	}
	granted = begin;
	if (result->upgraded || result->invalidated || result->found > FOUND_THIRD) {
		granted = bus_take(clocks->bus, begin, clocks->costs.bus);
		delay.for_bus = granted - begin;
	}
	/* Nobody waits for what is written back; but it takes the bus. */
	for (unsigned i = 0; i < result->written_back; i++)
		bus_take(clocks->bus, granted, clocks->costs.bus);
	delay.cycles += delay.for_line + delay.for_bus;
	clocks->now[cpu] = now + delay.cycles;
	return delay;
}

uint64_t clocks_take_lock(struct clocks *clocks, unsigned cpu, uint64_t address, bool reads)
{
	const struct lock *lock = table_get(&clocks->locks, address);
	uint64_t free = lock->given;

	if (!reads && lock->given_by_reader > free)
		free = lock->given_by_reader;
	return clocks_sleep_until(clocks, cpu, free);
}

void clocks_give_lock(struct clocks *clocks, unsigned cpu, uint64_t address, bool reads)
{
	struct lock *lock = table_get(&clocks->locks, address);
	uint64_t *given = reads ? &lock->given_by_reader : &lock->given;

	if (clocks->now[cpu] > *given)
		*given = clocks->now[cpu];
}

/* ---- making ---------------------------------------------------------------------------------- */

struct clocks *clocks_make(const struct costs *costs, unsigned line_bits)
{
	struct clocks *clocks = calloc(1, sizeof(*clocks));

	if (!clocks)
		return NULL;
	clocks->bus = bus_make();
	if (!clocks->bus) {
		free(clocks);
		return NULL;
	}
	clocks->costs = *costs;
	clocks->line_bits = line_bits;
	table_make(&clocks->lines, sizeof(struct contended_line), 1024);
	table_make(&clocks->locks, sizeof(struct lock), 1024);
	return clocks;
}

void clocks_reset(struct clocks *clocks)
{
	memset(clocks->now, 0, sizeof(clocks->now));
	bus_reset(clocks->bus);
	table_clear(&clocks->lines);
	table_clear(&clocks->locks);
}

void clocks_free(struct clocks *clocks)
{
	bus_free(clocks->bus);
	free(clocks->lines.elements);
	free(clocks->locks.elements);
	free(clocks);
}
