/*
 * cuts.c - which cuts and subsets of one script are tried.
 *
 * After every event: nothing pending on the platter, all of it, all but one block, only one, only
 * the first ones; all subsets of up to five blocks, else some at random; and some in which requests
 * are torn between sectors. The same image with the same promises is judged once, also if another
 * script came to it before. Of what is left @budget are tried.
 */
#include <stdlib.h>
#include <string.h>

#include "hosted/harness/harness.h"
#include "hosted/powercut/powercut.h"

#define MASK_BLOCKS 5
#define RANDOM_SUBSETS 6

struct candidate {
	struct cut cut;
	u64 hash, key;
};
static struct candidate *candidates;
static unsigned count, room;

#define OWN_KEYS 16384
static u64 own_keys[OWN_KEYS]; /* of this script's candidates */

/* Put @key into the table: was it new? If there is no room, it is. */
static bool is_new(u64 *seen, u64 size, u64 key)
{
	key += !key;
	for (u64 at = key % size, tries = 0; tries < 64; at = (at + 1) % size, tries++) {
		if (seen[at] == key)
			return false;
		if (!seen[at]) {
			seen[at] = key;
			return true;
		}
	}
	return true;
}

static u64 mix(u64 hash, const void *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3ull;
	return hash;
}

/* The image, and what is promised of it: the calls that have begun, and the promises. */
static u64 key_of(const struct script *script, const struct cut *cut, u64 hash)
{
	struct promises promises;

	script_promises(script, cut->after, &promises);
	for (unsigned i = 0; i < promises.now; i++) {
		const struct op *op = &script->ops[i];

		hash = mix(hash, &op->verb, sizeof(op->verb));
		hash = mix(hash, &op->stage, sizeof(op->stage));
		hash = mix(hash, op->path[0], strlen(op->path[0]) + 1);
		hash = mix(hash, op->path[1], strlen(op->path[1]) + 1);
		hash = mix(hash, op->number, sizeof(op->number));
	}
	hash = mix(hash, promises.contents, script->objects + 1);
	hash = mix(hash, promises.object, script->objects + 1);
	return mix(hash, promises.names, sizeof(promises.names));
}

static void add(const struct script *script, struct cut cut)
{
	u64 hash = cut_image(&cut, NULL), key = key_of(script, &cut, hash);

	if (!is_new(own_keys, OWN_KEYS, key))
		return;
	if (count == room) {
		room = 2 * room + 256;
		candidates = realloc(candidates, room * sizeof(*candidates));
	}
	candidates[count++] = (struct candidate){cut, hash, key};
}

static void add_cuts(const struct script *script, unsigned after, u64 seed)
{
	unsigned blocks = cut_pending(after);

#define ADD(kind, number) add(script, (struct cut){after, kind, number})
	ADD(KEEP_NONE, 0);
	ADD(KEEP_ALL, 0);
	if (blocks <= MASK_BLOCKS) {
		for (u64 mask = 1; mask + 1 < 1ull << blocks; mask++)
			ADD(KEEP_MASK, mask);
	} else {
		for (unsigned i = 0; i < blocks; i++) {
			ADD(KEEP_ONLY, i);
			ADD(KEEP_ALL_BUT, i);
			ADD(KEEP_FIRST, i);
		}
		for (unsigned i = 0; i < RANDOM_SUBSETS; i++)
			ADD(KEEP_RANDOM, seed * 1000003 + after * 101 + i);
	}
	for (unsigned i = 0; blocks && i < 2; i++)
		ADD(KEEP_TORN, seed * 1000003 + after * 101 + i);
#undef ADD
}

static void shuffle(u64 seed)
{
	struct rng rng = {seed};

	for (unsigned i = count; i > 1; i--) {
		unsigned other = (unsigned)rng_below(&rng, i);
		struct candidate swap = candidates[i - 1];

		candidates[i - 1] = candidates[other];
		candidates[other] = swap;
	}
}

void try_cuts(struct script *script, struct hosted_disk *disk, unsigned budget, u64 seed,
	      const struct cut *only, struct cut_totals *totals, u64 *seen, u64 seen_size,
	      void (*report)(const struct script *, const struct cut *, const char *))
{
	unsigned char *image = malloc(IMAGE_BYTES);
	u64 failed = totals->failed, checks = judge_checks;

	disk->asynchronous = true;
	disk_rng.state = seed;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	journal_start(disk);
	script_run(script);
	journal_stop();
	disk->asynchronous = false;
	CHECK_EQUAL(umount_disk(), 0);
	count = 0;
	memset(own_keys, 0, sizeof(own_keys));
	if (only)
		add(script, *only);
	for (unsigned after = 0; !only && after <= journal_length; after++)
		add_cuts(script, after, seed);
	shuffle(seed);
	for (unsigned i = 0; i < count && budget; i++) {
		const char *wrong;

		if (!is_new(seen, seen_size, candidates[i].key))
			continue;
		budget--;
		cut_image(&candidates[i].cut, image);
		wrong = judge(disk, script, &candidates[i].cut, candidates[i].hash, image);
		totals->images++;
		if (wrong) {
			totals->failed++;
			report(script, &candidates[i].cut, wrong);
		}
	}
	totals->scripts++;
	totals->cuts += journal_length + 1;
	totals->failed_scripts += totals->failed != failed;
	totals->checks += judge_checks - checks;
	free(image);
}
