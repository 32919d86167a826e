/*
 * sdbm.c - Yigit's sdbm: ndbm's pages, found by a radix trie of split bits.
 *
 * The algorithm. The nodes of a binary trie lie in one array of bits, the children of node i at
 * 2 i + 1 and 2 i + 2; a set bit is a node that has been split. The bits of the hash, from the
 * lowest on, lead from the root: 0 to the left, 1 to the right, until a node that is not split. The
 * bits that were used on the way, read as a number, are the bucket's page. It is Thompson's table
 * with its bits in another order.
 *
 * Source: Seltzer and Yigit 1991, "sdbm"; Larson 1978, section 5. The hash is Yigit's 65599.
 *
 * Limits. Those of ndbm, and one more: for one pair at most so many splits are made as `splits`
 * says (10, as in sdbm), so that colliding keys do not grow the file without an end (ENOSPC). The
 * hash's low bits depend on the last byte most, which keys that count upwards spread well.
 */
#include "parts/hash.h"
#include "parts/pagefile.h"

enum { SPLITS = PAGEFILE_BUCKET + 1 };

static int walk_trie(struct pagefile *file, uint32_t hash, struct place *place)
{
	uint64_t node = 0, mask = 0;
	int split = 0;

	for (place->depth = 0; place->depth < HASH_BITS; place->depth++) {
		split = pagefile_bit(file, node);
		if (split <= 0)
			break;
		node = 2 * node + 1 + (hash >> place->depth & 1);
		mask = mask << 1 | 1;
	}
	place->page = hash & mask;
	place->bit = node;
	return split < 0 ? split : 0;
}

static const struct pagefile_kind yigit = {hash_65599, walk_trie, 10};

static const struct option_rule options[] = {
	[PAGEFILE_BUCKET] = PAGEFILE_RULE(1024),
	[SPLITS] = {"splits", "of pages, at most, to store one pair", 1, HASH_BITS, 10, NULL},
	{.name = NULL},
};

static int sdbm_open(struct table **made, const char *path, unsigned flags, const uint64_t *values)
{
	return pagefile_open(&yigit, made, path, flags, values[PAGEFILE_BUCKET],
			     (unsigned)values[SPLITS]);
}

const struct system sdbm_system = {
	.name = "sdbm",
	.summary = "Yigit's sdbm: buckets of one page by a radix trie of split bits",
	.traits = SYSTEM_DISK,
	.options = options,
	.open = sdbm_open,
	PAGEFILE_CALLS,
	.close = pagefile_close,
};
