/*
 * model.h - records that a test makes up and knows, and what a table should hold of them.
 *
 * Key number k and version v determine all bytes of a record, so that a model is an array of
 * versions; 0 stands for no record.
 */
#pragma once

#include "chainhash.h"

#include <errno.h>
#include <stdbool.h>

enum { KEYS_MOST = 4096 };

struct model {
	uint32_t versions[KEYS_MOST];
	uint32_t keys;	      /* in use */
	uint32_t largest;     /* bytes of the largest data */
	uint32_t largest_key; /* of the largest key */
};

/* Numbers by seed (SplitMix64). */
uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t limit);

/* The key and the data; each is good until the next call for the same. */
struct chainhash_item model_key(const struct model *model, uint32_t key);
struct chainhash_item model_data(const struct model *model, uint32_t key, uint32_t version);

/* The number of a key that the model made; KEYS_MOST: none is so. */
uint32_t model_number(const struct model *model, struct chainhash_item key);

/* Does the table hold just what the model does? Prints what differs. */
bool model_equal(const struct model *model, struct chainhash *table);

/* End the program unless @truth. */
#define CHECK(truth)                                                                               \
	do {                                                                                       \
		if (!(truth))                                                                      \
			check_failed(__FILE__, __LINE__, #truth);                                  \
	} while (0)

__attribute__((noreturn)) void check_failed(const char *file, int line, const char *truth);

/* What a failure is to be reported with: how the test is run again. */
extern char check_context[256];
