/*
 * walk.c - reports, and which chunks were reached. See walk.h.
 */
#include "walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int walk_begin(struct walk *walk)
{
	walk->reached = calloc((size_t)overflow_count(walk->table) + 1, 1);
	return walk->reached ? 0 : -ENOMEM;
}

void problem(struct walk *walk, const char *format, ...)
{
	char text[256];
	va_list arguments;

	walk->problems++;
	if (!walk->report)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	walk->report(walk->context, text);
}

bool walk_reach(struct walk *walk, const struct view *chunk, u32 bucket)
{
	u8 *reached = &walk->reached[overflow_ordinal(walk->table, chunk->address)];
	u8 slots = (u8)(((1u << view_slots(chunk->base)) - 1) << (chunk->address & 7));
	bool first = !(*reached & slots);

	*reached |= slots;
	if (!first)
		problem(walk, "bucket %u: chunk 0x%x is in two chains", bucket, chunk->address);
	return first;
}

void walk_stopped(struct walk *walk, u32 bucket, int error)
{
	problem(walk, "bucket %u: a page of its chain cannot be read (%s)", bucket,
		strerror(-error));
}
