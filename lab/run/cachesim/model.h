/*
 * model.h - the caches of the simulation: up to three levels, each set-associative with true LRU.
 *
 * A miss in one level is looked up in the next, and the line comes into all levels that missed,
 * reads and writes alike (write-allocate). The levels are neither inclusive nor exclusive: what one
 * drops stays in the others. Written lines are not told from others, so writing them back costs
 * nothing. docs/lab/cache-simulation.md says what else is not modelled.
 *
 * A set is an array of tags, the most recently used first; 0 is an empty place. Plain C without a
 * word of QEMU: cachesim.c includes it, and so does tests/lab/run/cachesim_model.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 3

struct level {
	uint32_t *tags; /* ways of them a set */
	unsigned ways, line_bits, set_bits;
	uint64_t set_mask;
};

struct model {
	struct level level[LEVELS];
	unsigned levels;
};

/* What happened in one region. */
struct counts {
	uint64_t lookups, accesses, instructions;
	uint64_t misses[LEVELS];
};

static unsigned log_2(uint64_t number)
{
	return 63 - (unsigned)__builtin_clzll(number);
}

/*
 * One more level of so many bytes, behind those that are there. Sets and line are powers of two,
 * and a line is at least as long as that of the level before. false: they are not, or there is no
 * memory.
 */
static bool model_add(struct model *model, uint64_t bytes, unsigned ways, unsigned line)
{
	struct level *level = &model->level[model->levels];
	uint64_t sets = ways && line ? bytes / ways / line : 0;

	if (model->levels == LEVELS || !sets || sets & (sets - 1) || line & (line - 1) ||
	    sets * ways * line != bytes)
		return false;
	*level = (struct level){.ways = ways,
				.line_bits = log_2(line),
				.set_bits = log_2(sets),
				.set_mask = sets - 1,
				.tags = calloc(sets * ways, sizeof(*level->tags))};
	if (!level->tags || (model->levels && level->line_bits < level[-1].line_bits))
		return false;
	model->levels++;
	return true;
}

/* Empty caches. */
static void model_clear(struct model *model)
{
	for (unsigned i = 0; i < model->levels; i++) {
		struct level *level = &model->level[i];

		memset(level->tags, 0, (level->set_mask + 1) * level->ways * sizeof(*level->tags));
	}
}

static inline uint32_t *level_set(const struct level *level, uint64_t line)
{
	return level->tags + (line & level->set_mask) * level->ways;
}

/* 2^36 bytes are far more than a machine's 16 GB: the tag of a line of 16 bytes or more fits. */
static inline uint32_t level_tag(const struct level *level, uint64_t line)
{
	return (uint32_t)(line >> level->set_bits) + 1;
}

/* @tag becomes the first of its set, whose last one goes unless it was there. true: it was. */
static inline bool level_use(uint32_t *set, unsigned ways, uint32_t tag)
{
	uint32_t moved = set[0];
	unsigned way = 0;

	if (moved == tag)
		return true;
	while (++way < ways) {
		uint32_t here = set[way];

		set[way] = moved;
		if (here == tag)
			break;
		moved = here;
	}
	set[0] = tag;
	return way < ways;
}

static __attribute__((noinline)) void model_use(struct model *model, struct counts *counts,
						uint64_t physical)
{
	for (unsigned i = 0; i < model->levels; i++) {
		struct level *level = &model->level[i];
		uint64_t line = physical >> level->line_bits;

		if (level_use(level_set(level, line), level->ways, level_tag(level, line)))
			return;
		counts->misses[i]++;
	}
}

/* The line of @physical is read or written. */
static inline void model_access(struct model *model, struct counts *counts, uint64_t physical)
{
	const struct level *first = &model->level[0];
	uint64_t line = physical >> first->line_bits;

	if (*level_set(first, line) != level_tag(first, line))
		model_use(model, counts, physical);
}
