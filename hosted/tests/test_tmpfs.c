/* test_tmpfs.c - random sequences of operations on tmpfs against a model; space comes back, nothing
 * leaks. */
#include <stdio.h>

#include "hosted/harness/harness.h"
#include "hosted/harness/sequence/sequence.h"

TEST(tmpfs_sequences)
{
	u64 first = test_seed();
	unsigned count = test_scaled(600);

	test_limit(60);
	sequence_prepare_tmpfs();
	for (u64 seed = first; seed < first + count; seed++)
		sequence_tmpfs(seed, seed % 2);
	printf("# %u sequences from seed %llu: %llu operations\n", count, (unsigned long long)first,
	       (unsigned long long)sequence_counts.operations);
}
