/*
 * mesi.c - see mesi.h.
 *
 * A set is an array of lines, the most recently used first; an entry is the line's number plus one
 * and, in its two lowest bits, the state; 0 is an empty place. The state of a line that is in both
 * levels of a CPU is the same in both. What is known of a line by its number (struct known) lies in
 * pieces of 2 MB of memory that are made when first touched.
 */
#include "mesi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BITS 21
#define PIECES (1u << (36 - PIECE_BITS))
#define STATE 3ull

struct sets {
	uint64_t *entries;
	uint64_t mask;
	unsigned ways; /* 0: there is no such level */
};

/* Who holds a line: a bit for each CPU, and who holds it alone (plus one; 0: nobody). */
struct known {
	uint16_t holders;
	uint8_t alone;
};

struct mesi {
	struct mesi_shape shape;
	unsigned line_bits;
	struct sets first[MOST_CPUS], second[MOST_CPUS], third[MOST_CPUS]; /* third: by group */
	struct known *pieces[PIECES];
};

/* ---- sets ------------------------------------------------------------------------------------ */

static bool is_power(uint64_t number)
{
	return number && !(number & (number - 1));
}

static bool sets_make(struct sets *sets, const struct mesi_level *level, unsigned line)
{
	uint64_t number = level->ways ? level->bytes / level->ways / line : 0;

	if (!is_power(number) || number * level->ways * line != level->bytes)
		return false;
	*sets = (struct sets){.mask = number - 1,
			      .ways = level->ways,
			      .entries = calloc(number * level->ways, sizeof(*sets->entries))};
	return sets->entries;
}

static inline uint64_t *set_of(const struct sets *sets, uint64_t line)
{
	return sets->entries + (line & sets->mask) * sets->ways;
}

/* The entry of @line, or NULL. */
static inline uint64_t *sets_find(const struct sets *sets, uint64_t line)
{
	uint64_t *set = set_of(sets, line);

	for (unsigned way = 0; way < sets->ways; way++)
		if (set[way] >> 2 == line + 1)
			return &set[way];
	return NULL;
}

/* @entry of @line's set becomes its first. */
static inline uint64_t *sets_use(const struct sets *sets, uint64_t line, uint64_t *entry)
{
	uint64_t *set = set_of(sets, line), kept = *entry;

	if (entry != set) {
		memmove(set + 1, set, (size_t)(entry - set) * sizeof(*set));
		*set = kept;
	}
	return set;
}

/* @line comes in as the first of its set. Returns the entry that had to go, or 0. */
static uint64_t sets_insert(const struct sets *sets, uint64_t line, enum mesi_state state)
{
	uint64_t *set = set_of(sets, line), last = set[sets->ways - 1];

	memmove(set + 1, set, (sets->ways - 1) * sizeof(*set));
	*set = (line + 1) << 2 | state;
	return last;
}

/* @line goes, if it is there; those behind it move up. */
static void sets_drop(const struct sets *sets, uint64_t line)
{
	uint64_t *entry = sets->ways ? sets_find(sets, line) : NULL, *end;

	if (!entry)
		return;
	end = set_of(sets, line) + sets->ways;
	memmove(entry, entry + 1, (size_t)(end - entry - 1) * sizeof(*entry));
	end[-1] = 0;
}

static void sets_set_state(const struct sets *sets, uint64_t line, enum mesi_state state)
{
	uint64_t *entry = sets_find(sets, line);

	if (entry)
		*entry = (*entry & ~STATE) | state;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static struct known *known_of(struct mesi *mesi, uint64_t line)
{
	unsigned bits = PIECE_BITS - mesi->line_bits;
	uint64_t number = line >> bits;
	struct known **piece = &mesi->pieces[number % PIECES];

	if (!*piece)
		*piece = calloc(1ull << bits, sizeof(**piece));
	if (!*piece) {
		fprintf(stderr, "mesi: no memory\n");
		exit(1);
	}
	return &(*piece)[line & ((1ull << bits) - 1)];
}

static unsigned group_of(const struct mesi *mesi, unsigned cpu)
{
	return cpu / mesi->shape.group;
}

bool mesi_near(const struct mesi *mesi, unsigned a, unsigned b)
{
	return group_of(mesi, a) == group_of(mesi, b);
}

unsigned mesi_line_bits(const struct mesi *mesi)
{
	return mesi->line_bits;
}

static void set_state(struct mesi *mesi, unsigned cpu, uint64_t line, enum mesi_state state)
{
	sets_set_state(&mesi->first[cpu], line, state);
	sets_set_state(&mesi->second[cpu], line, state);
}

/* The third level of @group gets @line; if it is @newer than memory, all other groups' copies go.
 * What it drops was kept up to date in memory. Without such a level memory gets it. */
static void give_third(struct mesi *mesi, unsigned group, uint64_t line, bool newer,
		       struct mesi_result *result)
{
	const struct sets *third = &mesi->third[group];
	uint64_t *entry;

	result->written_back += newer;
	if (!third->ways)
		return;
	for (unsigned other = 0; newer && other * mesi->shape.group < mesi->shape.cpus; other++)
		if (other != group)
			sets_drop(&mesi->third[other], line);
	entry = sets_find(third, line);
	if (entry)
		sets_use(third, line, entry);
	else
		sets_insert(third, line, MESI_SHARED);
}

/* @cpu holds @line no more. */
static void forget_holder(struct mesi *mesi, unsigned cpu, uint64_t line)
{
	struct known *known = known_of(mesi, line);

	known->holders &= (uint16_t) ~(1u << cpu);
	if (known->alone == cpu + 1)
		known->alone = 0;
}

/* Every other CPU loses @line, and every other group's third level. */
static void invalidate(struct mesi *mesi, unsigned cpu, uint64_t line, struct mesi_result *result)
{
	uint16_t others = known_of(mesi, line)->holders & (uint16_t) ~(1u << cpu);

	result->invalidated = others;
	for (unsigned other = 0; other < mesi->shape.cpus; other++) {
		if (!(others >> other & 1))
			continue;
		result->far |= !mesi_near(mesi, cpu, other);
		sets_drop(&mesi->first[other], line);
		sets_drop(&mesi->second[other], line);
		forget_holder(mesi, other, line);
	}
	for (unsigned group = 0; group * mesi->shape.group < mesi->shape.cpus; group++)
		if (group != group_of(mesi, cpu))
			sets_drop(&mesi->third[group], line);
}

/* A line that @cpu holds is written. */
static void write_held(struct mesi *mesi, unsigned cpu, uint64_t line, enum mesi_state state,
		       struct mesi_result *result)
{
	if (state == MESI_SHARED) {
		result->upgraded = true;
		invalidate(mesi, cpu, line, result);
		known_of(mesi, line)->alone = (uint8_t)(cpu + 1);
	}
	set_state(mesi, cpu, line, MESI_MODIFIED);
}

/* Where a line is fetched from that @cpu does not hold; who held it alone keeps it as shared. */
static enum mesi_found source_of(struct mesi *mesi, unsigned cpu, uint64_t line,
				 struct mesi_result *result)
{
	struct known *known = known_of(mesi, line);
	bool has_third = mesi->third[0].ways;

	if (known->alone) {
		unsigned owner = known->alone - 1u;
		uint64_t *entry = sets_find(&mesi->second[owner], line);
		bool newer = (*entry & STATE) == MESI_MODIFIED;

		give_third(mesi, group_of(mesi, owner), line, newer, result);
		set_state(mesi, owner, line, MESI_SHARED);
		known->alone = 0;
		result->was_alone = true;
		return mesi_near(mesi, cpu, owner) ? FOUND_NEAR : FOUND_FAR;
	}
	if (!has_third)
		return FOUND_MEMORY;
	if (sets_find(&mesi->third[group_of(mesi, cpu)], line))
		return FOUND_THIRD;
	for (unsigned other = 0; other < mesi->shape.cpus; other++)
		if (known->holders >> other & 1 && mesi_near(mesi, cpu, other))
			return FOUND_NEAR;
	return FOUND_MEMORY;
}

static void bring_first(struct mesi *mesi, unsigned cpu, uint64_t line, enum mesi_state state)
{
	sets_insert(&mesi->first[cpu], line, state); /* what it drops is in the second */
}

static void bring_in(struct mesi *mesi, unsigned cpu, uint64_t line, enum mesi_state state,
		     struct mesi_result *result)
{
	uint64_t dropped = sets_insert(&mesi->second[cpu], line, state);

	if (dropped) {
		uint64_t old = (dropped >> 2) - 1;
		bool newer = (dropped & STATE) == MESI_MODIFIED;

		sets_drop(&mesi->first[cpu], old);
		forget_holder(mesi, cpu, old);
		give_third(mesi, group_of(mesi, cpu), old, newer, result);
	}
	bring_first(mesi, cpu, line, state);
}

static void miss(struct mesi *mesi, unsigned cpu, uint64_t line, bool write,
		 struct mesi_result *result)
{
	struct known *known = known_of(mesi, line);
	enum mesi_state state = MESI_MODIFIED;

	result->found = source_of(mesi, cpu, line, result);
	if (write)
		invalidate(mesi, cpu, line, result);
	else
		state = known->holders ? MESI_SHARED : MESI_EXCLUSIVE;
	if (result->found == FOUND_MEMORY || result->found == FOUND_FAR)
		give_third(mesi, group_of(mesi, cpu), line, false, result);
	known->holders |= (uint16_t)(1u << cpu);
	if (state != MESI_SHARED)
		known->alone = (uint8_t)(cpu + 1);
	bring_in(mesi, cpu, line, state, result);
}

struct mesi_result mesi_access(struct mesi *mesi, unsigned cpu, uint64_t physical, bool write)
{
	struct mesi_result result = {.found = FOUND_FIRST};
	uint64_t line = physical >> mesi->line_bits, *entry = sets_find(&mesi->first[cpu], line);
	enum mesi_state state;

	if (entry) {
		entry = sets_use(&mesi->first[cpu], line, entry);
		state = (enum mesi_state)(*entry & STATE);
	} else {
		result.found = FOUND_SECOND;
		entry = sets_find(&mesi->second[cpu], line);
		if (!entry) {
			miss(mesi, cpu, line, write, &result);
			return result;
		}
		state = (enum mesi_state)(*sets_use(&mesi->second[cpu], line, entry) & STATE);
		bring_first(mesi, cpu, line, state);
	}
	if (write && state != MESI_MODIFIED)
		write_held(mesi, cpu, line, state, &result);
	return result;
}

enum mesi_state mesi_state_of(const struct mesi *mesi, unsigned cpu, uint64_t physical)
{
	const uint64_t *entry = sets_find(&mesi->second[cpu], physical >> mesi->line_bits);

	return entry ? (enum mesi_state)(*entry & STATE) : MESI_INVALID;
}

/* ---- making ---------------------------------------------------------------------------------- */

static bool make_levels(struct mesi *mesi)
{
	const struct mesi_shape *shape = &mesi->shape;

	for (unsigned cpu = 0; cpu < shape->cpus; cpu++)
		if (!sets_make(&mesi->first[cpu], &shape->first, shape->line) ||
		    !sets_make(&mesi->second[cpu], &shape->second, shape->line))
			return false;
	for (unsigned group = 0; shape->third.bytes && group * shape->group < shape->cpus; group++)
		if (!sets_make(&mesi->third[group], &shape->third, shape->line))
			return false;
	return true;
}

struct mesi *mesi_make(const struct mesi_shape *shape)
{
	struct mesi *mesi;

	if (!shape->cpus || shape->cpus > MOST_CPUS || !shape->group || !is_power(shape->line) ||
	    shape->line < 16 || shape->second.bytes < shape->first.bytes)
		return NULL;
	mesi = calloc(1, sizeof(*mesi));
	if (!mesi)
		return NULL;
	mesi->shape = *shape;
	mesi->line_bits = (unsigned)__builtin_ctz(shape->line);
	if (make_levels(mesi))
		return mesi;
	mesi_free(mesi);
	return NULL;
}

void mesi_free(struct mesi *mesi)
{
	for (unsigned i = 0; i < MOST_CPUS; i++) {
		free(mesi->first[i].entries);
		free(mesi->second[i].entries);
		free(mesi->third[i].entries);
	}
	for (unsigned i = 0; i < PIECES; i++)
		free(mesi->pieces[i]);
	free(mesi);
}
