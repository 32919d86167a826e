/*
 * brent.c - the mean number of probes of successful lookups in hsearch's table, counted in the
 * table itself, with double hashing and with Brent's rearrangement: "load double brent" a line.
 */
#include <stdio.h>

#include "user/chainhash/others/hsearch.c"

enum { BITS = 14, SIZE = 1 << BITS };

static char keys[SIZE][16];

static double mean_probes(enum collision_choice collisions, uint32_t count)
{
	const uint64_t values[] = {[NELEM] = SIZE,
				   [HASH] = MULTIPLICATIVE,
				   [COLLISIONS] = collisions,
				   [ORDER] = FRONT};
	struct table *table;
	uint64_t sum = 0;

	if (hsearch_open(&table, NULL, TABLE_CREATE, values))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		const struct item key = {keys[i], sizeof(keys[i])};

		if (hsearch_put(table, key, key, false))
			return -1;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct item key = {keys[i], sizeof(keys[i])};
		uint32_t place, probes;

		if (!probe((struct hsearch *)table, key, &place, &probes))
			return -1;
		sum += probes + 1;
	}
	hsearch_close(table);
	return (double)sum / count;
}

int main(void)
{
	static const int percents[] = {50, 80, 90, 95};
	uint64_t state = 1;

	for (int i = 0; i < SIZE; i++)
		for (size_t j = 0; j < sizeof(keys[i]); j++) {
			state = state * 6364136223846793005 + 1442695040888963407;
			keys[i][j] = (char)(state >> 56);
		}
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		const uint32_t count = (uint32_t)(SIZE * percents[i] / 100);

		printf("%.2f %.4f %.4f\n", percents[i] / 100.0, mean_probes(DOUBLE, count),
		       mean_probes(BRENT, count));
	}
	return 0;
}
