/*
 * hosted.c - the same table in an ordinary process, compiled with the sanitizers: operations come
 * on standard input, a number for each goes to standard output. Objects are allocated one by one
 * and freed as soon as they are removed, so that who still leads to one is found out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "table.h"

#define MOST_OBJECTS 100000
#define MOST_MEMORY (512ul << 20) /* bytes, beside the sanitizer's own */

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:exitcode=9:allocator_may_return_null=1:handle_abort=0";
}

static struct object *objects[MOST_OBJECTS];

void *machine_memory(uint64_t bytes)
{
	return calloc(1, bytes);
}

void machine_stop(enum stopped why)
{
	fprintf(stderr, why == STOPPED_LOCKED ? "lab: a lock that is held is taken again\n"
					      : "lab: panic\n");
	_exit(3);
}

/* The number of @found; it need not be an object at all. */
static uint32_t number_of(const struct object *found)
{
	for (uint32_t i = 1; found && i < MOST_OBJECTS; i++)
		if (objects[i] == found)
			return i;
	return found ? MOST_OBJECTS : 0;
}

static uint32_t answer_to(const struct asked *asked)
{
	struct object **object = &objects[asked->object % MOST_OBJECTS];
	uint32_t steps, compares = 0;

	switch (asked->kind) {
	case ASK_CREATE:
		table_create(asked->bucket);
		return 0;
	case ASK_INSERT:
		*object = calloc(1, table_object_bytes);
		if (!*object)
			_exit(4);
		table_insert(asked, *object);
		return 0;
	case ASK_FIND:
		return number_of(table_find(asked, &steps, &compares));
	case ASK_REMOVE:
		table_remove(asked, *object);
		free(*object);
		*object = NULL;
		return 0;
	default:
		return (uint32_t)table_walk(&steps, &compares);
	}
}

/* The sanitizer's shadow is terabytes of addresses: what limits us can only be set now. */
static void limit_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages, all;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		_exit(4);
	fclose(file);
	all = pages * (unsigned long)getpagesize() + MOST_MEMORY;
	if (setrlimit(RLIMIT_AS, &(struct rlimit){all, all}))
		_exit(4);
}

int main(void)
{
	struct asked asked;

	limit_memory();
	while (fread(&asked, sizeof(asked), 1, stdin) == 1) {
		uint32_t answer = answer_to(&asked);

		fwrite(&answer, sizeof(answer), 1, stdout);
	}
	return fflush(stdout) ? 4 : 0;
}
