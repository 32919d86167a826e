/*
 * simulate.c - what lookups cost in a machine's memory caches, for tables of several sizes: the
 * grader's own count (lab/grade/sizing/costs.py), which never sees a submission.
 *
 * given.h says what is modelled. The caches are those of ./cw run --cache-sim (model.h). All
 * sizes get the same objects, with the same hashes, and the same lookups. Whole numbers only: the
 * same on every machine.
 */
#include "core/base/types.h"
#include "core/random.h"

#include "lab/grade/sizing/given.h"
#include "lab/run/cachesim/model.h"

#define NONE (~0u)

/* The lookups that are counted, and those before them. */
struct lookups {
	u64 seed, before, counted;
};

/* A table of chains, newest objects first. */
struct table {
	unsigned bits;
	u32 *first; /* of each bucket: an object's number, or NONE */
	u32 *next;  /* of each object */
	const u64 *hash;
};

static u64 below(u64 *state, u64 limit)
{
	return (u64)((unsigned __int128)splitmix64(state) * limit >> 64);
}

static u64 bucket_of(const struct table *table, u64 hash)
{
	return hash >> (64 - table->bits);
}

static void fill(struct table *table, u64 objects)
{
	memset(table->first, 0xff, sizeof(*table->first) << table->bits);
	for (u64 i = 0; i < objects; i++) {
		u32 *first = &table->first[bucket_of(table, table->hash[i])];

		table->next[i] = *first;
		*first = (u32)i;
	}
}

/* A lookup of @hash, which is that of object @wanted, or of none: accesses to memory. */
static u64 look_up(const struct table *table, const struct sizing_load *load,
		   const struct model *caches, struct misses *misses, u64 hash, u32 wanted)
{
	u64 objects_at = (u64)load->bucket_bytes << table->bits, accesses = 1;
	u64 bucket = bucket_of(table, hash);

	model_access(caches, misses, bucket * load->bucket_bytes);
	for (u32 i = table->first[bucket]; i != NONE; i = table->next[i]) {
		model_access(caches, misses, objects_at + (u64)i * load->object_bytes);
		accesses++;
		if (i == wanted)
			break;
	}
	return accesses;
}

/* Everything has been used once before the first lookup. */
static void touch_all(const struct table *table, const struct sizing_load *load, u32 line,
		      const struct model *caches)
{
	u64 bytes = (u64)load->bucket_bytes << table->bits;
	struct misses misses = {0};

	for (u64 at = 0; at < bytes; at += line)
		model_access(caches, &misses, at);
	for (u64 i = 0; i < load->objects; i++)
		model_access(caches, &misses, bytes + i * load->object_bytes);
}

static u64 cycles(const struct table *table, const struct sizing_load *load,
		  const struct sizing_machine *machine, const struct model *caches,
		  const struct lookups *lookups)
{
	struct misses misses = {0};
	u64 state = lookups->seed, accesses = 0, sum;

	touch_all(table, load, machine->line, caches);
	for (u64 i = 0; i < lookups->before + lookups->counted; i++) {
		bool hit = below(&state, 1000) < load->hits;
		u64 hash = splitmix64(&state);
		u32 wanted = hit ? (u32)((unsigned __int128)hash * load->objects >> 64) : NONE;

		if (i == lookups->before) {
			memset(&misses, 0, sizeof(misses));
			accesses = 0;
		}
		accesses += look_up(table, load, caches, &misses, hit ? table->hash[wanted] : hash,
				    wanted);
	}
	sum = accesses * machine->cost[0];
	for (unsigned i = 0; i < machine->caches; i++)
		sum += misses.data[i] * (machine->cost[i + 1] - machine->cost[i]);
	return sum;
}

static bool make_caches(struct model *caches, const struct sizing_machine *machine)
{
	for (unsigned i = 0; i < machine->caches; i++)
		if (!model_add(caches, machine->bytes[i], machine->ways[i], machine->line))
			return false;
	return true;
}

/*
 * The cycles of @lookups in a table of each size from the smallest to the largest, into @found.
 * false: the caches cannot be, or there is no memory.
 */
bool simulate(const struct sizing_load *load, const struct sizing_machine *machine,
	      const struct lookups *lookups, u64 *found);
bool simulate(const struct sizing_load *load, const struct sizing_machine *machine,
	      const struct lookups *lookups, u64 *found)
{
	u64 state = ~lookups->seed, *hash = malloc(load->objects * sizeof(*hash));
	struct table table = {.hash = hash,
			      .next = malloc(load->objects * sizeof(*table.next)),
			      .first = malloc(sizeof(*table.first) << load->most_bits)};
	bool good = hash && table.next && table.first;

	for (u64 i = 0; good && i < load->objects; i++)
		hash[i] = splitmix64(&state);
	for (table.bits = load->least_bits; good && table.bits <= load->most_bits; table.bits++) {
		struct model caches = {0};

		good = make_caches(&caches, machine);
		if (good) {
			fill(&table, load->objects);
			*found++ = cycles(&table, load, machine, &caches, lookups);
		}
		for (unsigned i = 0; i < caches.levels; i++)
			free(caches.level[i].tags);
	}
	free(table.first);
	free(table.next);
	free(hash);
	return good;
}
