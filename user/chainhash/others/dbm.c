/*
 * dbm.c - Thompson's dbm of the Seventh Edition, and ndbm, its successor in 4.3BSD.
 *
 * The algorithm. As many bits of a 32-bit hash are looked at as are needed to tell buckets apart.
 * Bit (hash & mask) + mask of a bitmap says whether the bucket (hash & mask) has been split at that
 * number of bits: the bits for no bit of the hash, for one, for two, ... lie one behind the other,
 * 1, 2, 4, ... of them. While it is set, one more bit of the hash is looked at. The bucket's number
 * is the number of its page: one access to the file finds a key.
 *
 * Source: Seltzer and Yigit 1991, "dbm and ndbm", which has it from Thompson and Torek; the manual
 * pages DBM(3X) and NDBM(3). The hash is after Thompson's idea, a sum of table entries chosen by
 * four bits of the key at a time, each by the sum so far; the tables' numbers are our own.
 *
 * Limits. A pair fits a page or is refused (EMSGSIZE). Keys of one hash value fit a page together
 * or are refused (ENOSPC). The files are sparse: a deep split has a page of a high number. dbm
 * knows one open table in a process; ndbm many. Buckets are 512 bytes in dbm and 1024 in ndbm.
 */
#include "parts/pagefile.h"

enum { FOUR_BITS = 16, SUMS = 64 };

static uint32_t by_four_bits[FOUR_BITS], by_sum[SUMS];

/* The tables: xorshift (Marsaglia 2003) from a fixed begin, so that files stay readable. */
static void draw_tables(void)
{
	uint32_t state = 0x1979;

	if (by_four_bits[0])
		return;
	for (int i = FOUR_BITS + SUMS - 1; i >= 0; i--) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		if (i >= FOUR_BITS)
			by_sum[i - FOUR_BITS] = state;
		else
			by_four_bits[i] = state;
	}
}

static uint32_t hash_thompson(const void *key, size_t size)
{
	const uint8_t *bytes = key;
	uint32_t sum = 0, hash = 0;

	for (size_t i = 0; i < size; i++) {
		for (int shift = 0; shift < 8; shift += 4) {
			sum += by_four_bits[bytes[i] >> shift & 15];
			hash += by_sum[sum % SUMS];
		}
	}
	return hash;
}

static int walk_bitmap(struct pagefile *file, uint32_t hash, struct place *place)
{
	uint64_t mask = 0;
	int split = 0;

	place->depth = 0;
	while (place->depth < HASH_BITS) {
		split = pagefile_bit(file, (hash & mask) + mask);
		if (split <= 0)
			break;
		mask = mask << 1 | 1;
		place->depth++;
	}
	place->page = hash & mask;
	place->bit = place->page + mask;
	return split < 0 ? split : 0;
}

static const struct pagefile_kind thompson = {hash_thompson, walk_bitmap, HASH_BITS};

static const struct option_rule dbm_options[] = {PAGEFILE_RULE(512), {.name = NULL}};
static const struct option_rule ndbm_options[] = {PAGEFILE_RULE(1024), {.name = NULL}};

static int ndbm_open(struct table **made, const char *path, unsigned flags, const uint64_t *values)
{
	draw_tables();
	return pagefile_open(&thompson, made, path, flags, values[PAGEFILE_BUCKET], 0);
}

/* dbminit() left its descriptors in variables of the library. */
static bool dbm_is_open;

static int dbm_open(struct table **made, const char *path, unsigned flags, const uint64_t *values)
{
	int error;

	if (dbm_is_open)
		return -EBUSY;
	error = ndbm_open(made, path, flags, values);
	dbm_is_open = !error;
	return error;
}

static int dbm_close(struct table *table)
{
	dbm_is_open = false;
	return pagefile_close(table);
}

const struct system dbm_system = {
	.name = "dbm",
	.summary = "Thompson's dbm: buckets of one page by the bits of a bitmap; one table",
	.traits = SYSTEM_DISK | SYSTEM_SINGLE,
	.options = dbm_options,
	.open = dbm_open,
	PAGEFILE_CALLS,
	.close = dbm_close,
};

const struct system ndbm_system = {
	.name = "ndbm",
	.summary = "ndbm of 4.3BSD: dbm with many tables and pages of 1024 bytes",
	.traits = SYSTEM_DISK,
	.options = ndbm_options,
	.open = ndbm_open,
	PAGEFILE_CALLS,
	.close = pagefile_close,
};
