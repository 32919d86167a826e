/*
 * test_damage.c - damaged ext2 images: a fixed set, image n being made from seed n. Each is
 * mounted, walked, read, changed and unmounted (exercise.c): never a crash, a hang or a leak.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hosted/harness/exercise.h"
#include "hosted/tests/damage/damage.h"

static void start(unsigned size, unsigned kilobytes, const char *options)
{
	test_limit(120);
	hosted_quiet = !getenv("HOSTED_TRACE");
	hosted_init(32);
	disk_create(&damaged_disk, "ram0", 0, KB(kilobytes));
	pristine = malloc(damaged_disk.bytes);
	image_make(&damaged_disk, size, kilobytes, options);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	make_contents();
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&damaged_disk);
	image_keep(&damaged_disk, pristine);
	leak_mark();
}

static void damaged_images(u64 first, unsigned count, unsigned size, unsigned kilobytes,
			   const char *options)
{
	u64 sectors;

	start(size, kilobytes, options);
	sectors = damaged_disk.device.sectors;
	for (u64 seed = first; seed < first + count; seed++) {
		test_where("image %llu", (unsigned long long)seed);
		damaged_disk.device.sectors = sectors;
		damaged_disk.fail_sector = ~0ull;
		image_restore(&damaged_disk, pristine);
		damage_rng.state = seed;
		for (u64 n = 1 + pick(3); n; n--)
			damage_something();
		test_limit_step(20);
		exercise(&damaged_disk, seed);
	}
	printf("# %u images: %u refused as unknown, %u as damaged, %u mounted, of which %u showed no error; "
	       "%llu calls: %llu EUCLEAN, %llu EIO, %llu other errors\n",
	       exercise_counts.images, exercise_counts.refused[0], exercise_counts.refused[1],
	       exercise_counts.mounted, exercise_counts.unharmed,
	       (unsigned long long)exercise_counts.calls,
	       (unsigned long long)exercise_counts.euclean, (unsigned long long)exercise_counts.eio,
	       (unsigned long long)exercise_counts.others);
	/* Damage is met in what is mounted: a kernel that refused them all, or met none, is no test. */
	CHECK(exercise_counts.images == count && exercise_counts.mounted >= count / 2);
	CHECK(exercise_counts.calls > 500 * exercise_counts.mounted);
	CHECK(exercise_counts.euclean >= exercise_counts.mounted);
	CHECK(exercise_counts.unharmed < exercise_counts.mounted);
}

TEST(damaged_images_1k)
{
	damaged_images(test_seed(), test_scaled(600), 1024, 2048, IMAGE_USUAL " -g 1024");
}

TEST(damaged_images_4k)
{
	damaged_images(test_seed() + 100000, test_scaled(300), 4096, 4096, IMAGE_USUAL);
}

TEST(damaged_images_revision_0)
{
	damaged_images(test_seed() + 200000, test_scaled(100), 1024, 2048, "-r 0 -m 0 -O none");
}

/* Three indirect blocks that each lead to the next a thousand times over: a billion blocks, if one
 * believes it. */
TEST(damaged_pointers_multiply)
{
	static const u32 chain[] = {500, 501, 502, 503};
	struct ext2_raw_inode *raw;
	struct kstat stat;

	start(4096, 4096, IMAGE_USUAL);
	test_limit(20);
	for (unsigned level = 0; level < 3; level++)
		for (unsigned i = 0; i < 1024; i++)
			((u32 *)block_at(chain[level]))[i] = chain[level + 1];
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/large", &stat, 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	raw = inode_at((u32)stat.ino);
	raw->block[14] = chain[0];
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	hosted_last_error[0] = 0;
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/large", 0), 0);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/dir2/link", 0), 0);
	CHECK(hosted_last_error[0]);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
}

/* A file whose first block is nowhere can be emptied: that is the way to be rid of it. */
TEST(damaged_pointer_emptied)
{
	struct kstat stat;

	start(4096, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/large", &stat, 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	inode_at((u32)stat.ino)->block[0] = 0x7fffffff;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_truncate("/mnt/large", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
}
