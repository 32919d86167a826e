/*
 * files.c - native: what a cached file takes of memory, and how much longer a look at one takes
 * among very many than among a thousand.
 *
 * Looks are at files drawn at random, by names made before; so what is slower with many is what the
 * processor has to fetch from further away. How far that is, is measured beside it: a chain of
 * pointers, at random places of as much memory as the files take (`chase_ns`, one step). Steps in
 * the dentry cache's chains are counted, too: if they don't grow, instructions don't.
 */
#include <stdio.h>
#include <string.h>

#include "hosted/native/measure.h"

#define LOOKS (1u << 18) /* names made before */
#define LINE 64
#define THOUSAND 1000
#define BATCH 256
#define BATCHES_MAX 65536

static char (*names)[32];
static uint64_t random_state = 1;

void file_name(char path[PATH_BYTES], uint64_t file)
{
	snprintf(path, PATH_BYTES, "d%llu/f%llu", (unsigned long long)(file / FILES_A_FOLDER),
		 (unsigned long long)(file % FILES_A_FOLDER));
}

static void draw_names(uint64_t files)
{
	char path[PATH_BYTES];

	for (unsigned i = 0; i < LOOKS; i++) {
		file_name(path, random_next(&random_state) % files);
		memcpy(names[i], path, sizeof(names[i]) - 1);
	}
}

/* ns of a look: the median of batches, of all names at least once, and for so long. */
static double median_ns(void (*look)(uint64_t at, void *argument), void *argument,
			unsigned milliseconds)
{
	uint64_t until = measure_ns() + milliseconds * 1000000ULL, looks = 0;
	static float batches[BATCHES_MAX];
	unsigned count = 0;

	while (count < BATCHES_MAX && (looks < 2 * LOOKS || measure_ns() < until)) {
		uint64_t began = measure_ns();

		for (unsigned i = 0; i < BATCH; i++)
			look(looks++ % LOOKS, argument);
		if (looks > LOOKS) /* the first time warms up */
			batches[count++] = (float)(measure_ns() - began) / BATCH;
	}
	return measure_median(batches, count);
}

static void stat_one(uint64_t at, void *side)
{
	((const struct side *)side)->file_stat(names[at]);
}

struct objects {
	const struct side *side;
	uint64_t count, random;
};

static void find_one(uint64_t at, void *of)
{
	struct objects *objects = of;

	(void)at;
	objects->side->object_find(random_next(&objects->random) % objects->count);
}

struct chain {
	struct chain *next;
	char rest[LINE - sizeof(void *)];
};

/* One circle through all lines of @bytes of memory, in an order drawn at random (Sattolo). */
static struct chain *make_chain(uint64_t bytes)
{
	uint64_t lines = bytes / LINE;
	struct chain *chain = native_map(lines * LINE);

	for (uint64_t i = 0; i < lines; i++)
		chain[i].next = &chain[i];
	for (uint64_t i = lines - 1; i > 0; i--) {
		uint64_t other = random_next(&random_state) % i;
		struct chain *next = chain[i].next;

		chain[i].next = chain[other].next;
		chain[other].next = next;
	}
	return chain;
}

static void follow(uint64_t at, void *of)
{
	struct chain **chain = of;

	(void)at;
	*chain = *(struct chain *volatile *)&(*chain)->next;
}

/*
 * Bytes of the system's memory a file, of @made since @before. 0: not known, since others of the
 * host's programs gave back meanwhile more than the files took.
 */
static double bytes_a_file(const struct side *side, uint64_t before, uint64_t made)
{
	uint64_t used = side->memory_used();

	return used > before ? (double)(used - before) / (double)made : 0;
}

void files_measure(const struct side *side, uint64_t files, unsigned milliseconds)
{
	const uint64_t counts[] = {THOUSAND, files};
	uint64_t before = side->memory_used(), made = 0;

	names = native_map(LOOKS * sizeof(*names));
	for (unsigned i = 0; i < 2; i++) {
		struct objects objects = {side, counts[i], 1};
		double bytes, stat_ns, steps = 0, inode_ns = 0, chase_ns = 0;

		for (; made < counts[i]; made++)
			side->file_make(made);
		bytes = bytes_a_file(side, before, made);
		draw_names(made);
		if (side->dentry_steps)
			side->dentry_steps();
		stat_ns = median_ns(stat_one, (void *)side, milliseconds);
		if (side->dentry_steps)
			steps = side->dentry_steps();
		if (bytes) {
			struct chain *chain = make_chain((uint64_t)(bytes * (double)made) + LINE);

			chase_ns = median_ns(follow, &chain, milliseconds);
		}
		if (side->objects_make) {
			before -= side->memory_used(); /* they are no files */
			side->objects_make(i ? counts[0] : 0, counts[i]);
			before += side->memory_used();
			inode_ns = median_ns(find_one, &objects, milliseconds);
		}
		printf("{\"files\": %llu, \"bytes\": %.1f, \"stat_ns\": %.2f, \"steps\": %.3f, "
		       "\"inode_ns\": %.2f, \"chase_ns\": %.2f}\n",
		       (unsigned long long)made, bytes, stat_ns, steps, inode_ns, chase_ns);
		fflush(stdout);
	}
	while (made--)
		side->file_remove(made);
}
