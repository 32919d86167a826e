/*
 * test_ext2.c - random sequences of operations on ext2 against a model (sequence.h), on images of
 * all forms.
 */
#include <stdio.h>

#include "hosted/harness/harness.h"
#include "hosted/harness/sequence/sequence.h"

static void sequences(unsigned block_size, unsigned kilobytes, const char *options, unsigned count,
		      enum sequence_mode mode)
{
	u64 first = test_seed();

	test_limit(100);
	sequence_prepare(block_size, kilobytes, options);
	count = test_scaled(count);
	for (u64 i = 0; i < count; i++)
		sequence(first + i, mode, i % 16 == 0 || i + 1 == count);
	printf("# %u sequences from seed %llu: %llu operations, %llu without space, %llu reads, %llu writes\n",
	       count, (unsigned long long)first, (unsigned long long)sequence_counts.operations,
	       (unsigned long long)sequence_counts.failed, (unsigned long long)sequence_disk.reads,
	       (unsigned long long)sequence_disk.writes);
}

TEST(ext2_1k)
{
	sequences(1024, 3072, IMAGE_USUAL, 1000, SEQUENCE_EXACT);
}

TEST(ext2_2k)
{
	sequences(2048, 6144, IMAGE_USUAL " -g 1024", 1000, SEQUENCE_EXACT);
}

TEST(ext2_4k)
{
	sequences(4096, 12288, IMAGE_USUAL, 1000, SEQUENCE_EXACT);
}

/* Older and smaller forms of the file system. */
TEST(ext2_revision_0)
{
	sequences(1024, 3072, "-r 0 -m 0 -O none", 200, SEQUENCE_EXACT);
}

TEST(ext2_no_features)
{
	sequences(1024, 12000, "-I 128 -m 0 -O none -g 2048", 200, SEQUENCE_EXACT);
}

TEST(ext2_few_inodes_a_group)
{
	sequences(1024, 8192, IMAGE_USUAL " -g 512 -N 800", 200, SEQUENCE_EXACT);
}

/* Blocks run out; inodes run out. Nothing may be lost or half done. */
TEST(ext2_full_disk)
{
	sequences(1024, 100, IMAGE_USUAL " -N 48", 600, SEQUENCE_SMALL);
}

TEST(ext2_full_disk_4k)
{
	sequences(4096, 256, IMAGE_USUAL " -N 64", 300, SEQUENCE_SMALL);
}

TEST(ext2_full_disk_groups)
{
	sequences(1024, 1600, IMAGE_USUAL " -N 64 -g 512", 100, SEQUENCE_SMALL);
}
