/*
 * lists.h - what each of the machine's tasks is asked, one operation after the other, and what is
 * written down of it. Included once, by interleave.c.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "../../table/guest/watched.h"
#include "records.h"

#define MOST_OPERATIONS 2048

struct list {
	struct asked asked[MOST_OPERATIONS];
	uint32_t count, next; /* the one behind the one that is being done */
	uint64_t began;
	uint64_t accesses, accesses_before; /* to what is shared; when the operation began */
	bool busy, over, waits;
	bool touched, wrote; /* shared memory, in the operation that is being done */
	bool waited;	     /* in it, for others: however often it looked */
	bool met;	     /* one who could have a lock has come to his end since then */
};

/* `between` is what context 0 does while tasks stand in the midst of something. */
static struct list before, after, between, tasks[TASKS];
static uint32_t programs, run;
static uint64_t clock_now;
static uint64_t removed_at[(GUEST_MEMORY - OBJECTS) / LINE]; /* 0: may be used */

static void *at(uint64_t address)
{
	return ram + address;
}

static void read_in(void *to, size_t size)
{
	if (size && fread(to, size, 1, stdin) != 1)
		end(END_NO_MEMORY);
}

static void write_down(uint32_t task, uint32_t operation, uint64_t began, uint64_t answer,
		       uint64_t accesses)
{
	struct seen seen = {programs, run, task, operation, began, ++clock_now, answer, accesses};

	fwrite(&seen, sizeof(seen), 1, stdout);
}

static void read_list(struct list *list, uint32_t count)
{
	if (count > MOST_OPERATIONS)
		end(END_NO_MEMORY);
	list->count = count;
	read_in(list->asked, count * sizeof(struct asked));
}

static uint64_t *removed(uint64_t object)
{
	static uint64_t nothing;

	nothing = 0;
	return object >= OBJECTS && object < GUEST_MEMORY ? &removed_at[(object - OBJECTS) / LINE]
							  : &nothing;
}

static void finish(struct list *list, uint32_t number, uint64_t answer)
{
	const struct asked *asked = &list->asked[list->next - 1];

	write_down(number, list->next - 1, list->began, answer,
		   list->waited ? 0 : list->accesses - list->accesses_before);
	if (asked->kind == ASK_REMOVE)
		*removed(asked->object) = clock_now;
	for (unsigned i = 0; i < TASKS; i++)
		tasks[i].met |= list->wrote || (list->touched && list != &tasks[0]);
	list->busy = list->touched = list->wrote = false;
}

static bool hand_over(struct list *list, struct asked *to)
{
	if (list->next == list->count)
		return false;
	*to = list->asked[list->next++];
	if (to->kind == ASK_INSERT)
		*removed(to->object) = 0;
	list->began = ++clock_now;
	list->accesses_before = list->accesses;
	list->busy = true;
	list->met = list->waited = false;
	return true;
}
