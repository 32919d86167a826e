/*
 * table.c - a small table that is changed and synced, beside a model of each state; and the look at
 * it after a cut. The model is that of the library's own tests (tests/chainhash/model.h).
 *
 * What is promised (docs/chainhash/design.md): the state of the last sync that had returned, whole;
 * or, of a sync that had begun, that one's. Before the first sync has returned the file may not be
 * there, or be called damaged.
 */
#include "hosted/powercut/chainhash/chainhash.h"

#include <stdio.h>
#include <string.h>

#include "model.h"

enum { SYNCS = 6, CHANGES_MOST = 50 };

static const char path[] = "/mnt/table";

/* The states, and the moments at which each one's sync began and had returned. */
static struct state {
	struct model model;
	unsigned begun, returned;
} states[SYNCS + 1];
static unsigned synced; /* of them */
static struct chainhash_options options;

static void draw(uint64_t *random)
{
	static const uint32_t largest[] = {20, 60, 1500};
	struct model *model = &states[0].model;

	options = (struct chainhash_options){
		.bucket_size = 256u << random_below(random, 4),
		.fill_factor = random_below(random, 2) ? 6 : 0,
		.cache_size = 1, /* eight pages: it writes between syncs, too */
		.seed = 5,
		.split = random_below(random, 3),
	};
	*model = (struct model){.keys = 20u << random_below(random, 2),
				.largest = largest[random_below(random, 3)],
				.largest_key = 20};
}

static void change(struct chainhash *table, struct model *model, uint64_t *random, uint32_t version)
{
	uint32_t key = random_below(random, model->keys);
	int error;

	if (random_below(random, 3)) {
		error = chainhash_put(table, model_key(model, key), model_data(model, key, version),
				      CHAINHASH_REPLACE);
		CHECK(!error);
		model->versions[key] = version;
		return;
	}
	error = chainhash_delete(table, model_key(model, key));
	CHECK(error == (model->versions[key] ? 0 : -ENOENT));
	model->versions[key] = 0;
}

void table_run(uint64_t seed)
{
	struct chainhash *table;
	struct model now;
	uint64_t random = seed;
	uint32_t version = 0;

	draw(&random);
	now = states[0].model;
	CHECK(!chainhash_open(&table, path, CHAINHASH_CREATE, 0600, &options));
	for (synced = 0; synced < SYNCS; synced++) {
		struct state *state = &states[synced + 1];

		for (uint32_t i = 1 + random_below(&random, CHANGES_MOST); i; i--)
			change(table, &now, &random, ++version);
		/* One that is a change for certain. */
		CHECK(!chainhash_put(table, model_key(&now, 0), model_data(&now, 0, ++version), 0));
		now.versions[0] = version;
		state->model = now;
		state->begun = cut_moment();
		CHECK(!chainhash_sync(table));
		state->returned = cut_moment();
	}
	chainhash_abandon(table);
}

static char wrong[400];

static void note(void *context, const char *problem)
{
	(void)context;
	if (!*wrong)
		snprintf(wrong, sizeof(wrong), "verify: %s", problem);
}

/* It holds state @number, and goes on from there. */
static const char *judge_state(struct chainhash *table, unsigned number)
{
	struct model model = states[number].model;

	*wrong = 0;
	if (chainhash_verify(table, note, NULL, NULL))
		return wrong;
	if (!model_equal(&model, table))
		return "its records are not those that were synced";
	if (chainhash_put(table, model_key(&model, 1), model_data(&model, 1, 1000), 0) ||
	    chainhash_sync(table))
		return "it takes no changes";
	model.versions[1] = 1000;
	return model_equal(&model, table) ? NULL : "it is wrong after a change";
}

const char *table_judge(unsigned after)
{
	struct chainhash_status status;
	struct chainhash *table;
	unsigned last = synced;
	const char *found;
	int error;

	while (last && states[last].returned > after)
		last--;
	error = chainhash_open(&table, path, 0, 0, &options);
	if (error) {
		snprintf(wrong, sizeof(wrong), "after sync %u it cannot be opened: %s", last,
			 chainhash_message());
		return last ? wrong : NULL;
	}
	chainhash_status(table, &status);
	if (status.sequence == last ||
	    (last < synced && status.sequence == last + 1 && states[last + 1].begun <= after)) {
		found = judge_state(table, (unsigned)status.sequence);
	} else {
		snprintf(wrong, sizeof(wrong), "sync %u had returned, and it has state %llu", last,
			 (unsigned long long)status.sequence);
		found = wrong;
	}
	chainhash_abandon(table);
	return found;
}
