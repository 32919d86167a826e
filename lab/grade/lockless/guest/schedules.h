/*
 * schedules.h - who goes on, and how far: drawn for each run. Included once, by interleave.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lists.h"

#define MOST_SEGMENTS 2048
#define FEW_SEGMENTS 50
#define BETWEEN (TASKS + 1) /* a segment's task: context 0 */
#define ALL (~0u)

/* One task does so many accesses to shared memory, or so many operations. */
struct segment {
	uint32_t task, accesses, operations;
};

static struct segment segments[MOST_SEGMENTS];
static uint32_t segment_count;
static uint64_t drawn_from;    /* the state of draw() */
static uint64_t places[TASKS]; /* accesses of each task, when they go one after the other */

/* As lab/course/draw.py. */
static uint32_t draw(uint32_t limit)
{
	uint64_t z = drawn_from += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return (uint32_t)((unsigned __int128)z * limit >> 64);
}

static void add(uint32_t task, uint32_t accesses, uint32_t operations)
{
	if (segment_count < MOST_SEGMENTS && accesses && operations)
		segments[segment_count++] = (struct segment){task, accesses, operations};
}

static uint32_t any_point(uint32_t task)
{
	return draw((uint32_t)places[task] + 1);
}

/* Many pieces: any, or a few accesses of the one who looks and a move of the other in turns. */
static void draw_pieces(uint32_t writer, bool two_writers)
{
	const bool any = draw(2);

	for (int i = 0; i < 10; i++) {
		if (any)
			add(draw(two_writers ? 3 : 2), 1 + draw(8), ALL);
		else if (i % 2)
			add(writer, ALL, 2 - draw(4) / 3);
		else
			add(0, 1 + draw(12), ALL);
	}
}

/*
 * A single lookup, and another who moves again and again, in step: so many accesses after he has
 * left, so many after he has come back. If that is one round of the lookup, all its rounds go
 * alike.
 */
static void add_steps(uint32_t writer, uint32_t first, uint32_t there, uint32_t gone, uint32_t most)
{
	segment_count = 0;
	add(0, first, ALL);
	while (segment_count + 2 <= most) {
		add(writer, ALL, 2);
		add(0, segment_count / 2 % 2 ? gone : there, ALL);
	}
}

static void draw_steps(uint32_t writer)
{
	const uint32_t there = 1 + draw(5), gone = 1 + draw(5);

	add_steps(writer, there + draw(3), there, gone, FEW_SEGMENTS);
}

/* The same to the end of what comes in between, by all such steps. */
static void all_steps(uint32_t number)
{
	const uint32_t there = 1 + number % 5, gone = 1 + number / 5 % 5;

	add_steps(BETWEEN, there + number / 25 % 3, there, gone, MOST_SEGMENTS);
}

/* How often is repeated what comes in between? If the rest removes one, or none, in this bucket. */
static uint32_t again(const struct program *of)
{
	return run ? of->again - run % 2 : 0;
}

/* Wherever a lookup may stand, two runs for each place. */
static void come_between(uint32_t number)
{
	segment_count = 0;
	add(0, 1 + number / 2, ALL);
	add(BETWEEN, ALL, ALL);
	add(0, ALL, ALL);
}

/* Task 0 looks, the others change. */
static void draw_schedule(const struct program *of, bool one_lookup, bool two_writers)
{
	const uint32_t writer = two_writers && draw(2) ? 2 : 1, kind = draw(10);
	uint32_t few;

	if (of->way == WAY_IN_STEP) {
		all_steps(run - 1);
		return;
	}
	if (of->way == WAY_BETWEEN) {
		come_between(run - 1);
		return;
	}
	if (one_lookup && draw(2)) {
		draw_steps(writer);
		return;
	}
	segment_count = 0;
	if (kind >= 6) {
		draw_pieces(writer, two_writers);
		return;
	}
	if (draw(2))
		add(writer, any_point(writer), ALL);
	add(0, any_point(0), ALL);
	if (two_writers && draw(2))
		add(3 - writer, any_point(3 - writer), ALL);
	if (kind < 3) {
		add(writer, any_point(writer), ALL);
	} else {
		add(writer, ALL, 1 + draw(3));
		few = draw(5);
		add(0, few, ALL);
		if (few)
			add(writer, ALL, 1 + draw(2));
	}
	add(0, ALL, draw(2) ? 1 : ALL);
}
