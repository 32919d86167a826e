/*
 * test_tasks.c - several tasks at once on one ext2, and the write-back thread: each sees in its own
 * directory what the model says, whatever the others do; nothing deadlocks, is lost, or leaks. See
 * sequence.h and tasks.c.
 */
#include <stdio.h>

#include "fs/block/dirty.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "hosted/harness/sequence/sequence.h"

static void several(unsigned count, unsigned block_size, unsigned tasks)
{
	u64 first = test_seed();

	test_limit(60);
	sequence_prepare(block_size, 8192, IMAGE_USUAL " -i 4096");
	hosted_threads = true;
	writeback_start();
	count = test_scaled(count);
	for (u64 seed = first; seed < first + count; seed++)
		sequence_tasks(seed, tasks);
	printf("# %u sequences of %u tasks from seed %llu: %llu operations\n", count, tasks,
	       (unsigned long long)first, (unsigned long long)sequence_counts.operations);
}

TEST(tasks_two)
{
	several(150, 1024, 2);
}

TEST(tasks_six)
{
	several(60, 1024, 6);
}

TEST(tasks_four_4k)
{
	several(60, 4096, 4);
}
