/*
 * test_durability.c - what of durability is no question of a cut (hosted/powercut): that write-back
 * comes by itself and in time, and that what is freed is to be had again, now or after a commit.
 */
#include <stdio.h>

#include "fs/block/dirty.h"
#include "fs/file/file.h"
#include "fs/start.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "core/sched/sched.h"

static struct hosted_disk disk;

static void start(unsigned kilobytes, const char *options)
{
	hosted_quiet = true;
	hosted_init(32);
	disk_create(&disk, "ram0", 0, MB(4));
	image_make(&disk, 1024, kilobytes, options);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
}

static void end(void)
{
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}

/* What nobody syncs is on the disk after a little more than thirty seconds, and not at once. */
TEST(written_back_within_half_a_minute)
{
	u64 writes;

	start(2048, IMAGE_USUAL);
	hosted_threads = true;
	writeback_start();
	sleep_ns(NSEC_PER_SEC); /* it waits for its time */
	writes = disk.writes;
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "text", 4), 4);
	sleep_ns(5 * NSEC_PER_SEC);
	CHECK_EQUAL(disk.writes, writes);
	sleep_ns(30 * NSEC_PER_SEC);
	CHECK(disk.writes > writes);
	CHECK(!writeback_is_busy());
	end();
}

static loff_t directory_size(void)
{
	struct kstat stat;

	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/dir", &stat, 0), 0);
	return stat.size;
}

static const char *long_name(unsigned number)
{
	static char name[80];

	snprintf(name, sizeof(name), "/mnt/dir/a-name-of-some-length-%030u", number);
	return name;
}

/* Names that come take the room of names that went, in whatever order: a directory does not grow.
 */
TEST(directories_reuse_their_room)
{
	start(2048, IMAGE_USUAL " -N 256");
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/dir", 0755), 0);
	for (unsigned i = 0; i < 100; i++)
		CHECK_EQUAL(sys_mknodat(AT_FDCWD, long_name(i), S_IFIFO | 0644, 0), 0);
	loff_t size = directory_size();
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 100; i += 2)
			CHECK_EQUAL(sys_unlinkat(AT_FDCWD, long_name(round * 1000 + i), 0), 0);
		for (unsigned i = 0; i < 100; i += 2)
			CHECK_EQUAL(sys_mknodat(AT_FDCWD, long_name(round * 1000 + 1000 + i),
						S_IFIFO | 0644, 0),
				    0);
		CHECK_EQUAL(directory_size(), size);
	}
	end();
}

/* A disk that is full but for what waits for a commit: who needs it makes the commit. */
TEST(what_waits_for_a_commit_is_to_be_had)
{
	static char data[KB(200)];
	struct kstatfs before, after;
	struct path path;

	start(512, "-I 128 -m 0 -N 32 -O none,filetype");
	for (unsigned round = 0; round < 6; round++) {
		CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, data, sizeof(data)),
			    sizeof(data));
		CHECK_EQUAL(write_at("/mnt/other", O_CREAT | O_WRONLY, 0, data, KB(150)), KB(150));
		CHECK_EQUAL(vfs_sync_all(), 0);
		CHECK_EQUAL(find_path("/mnt", 0, &path), 0);
		path.mount->sb->op->statfs(path.mount->sb, &before);
		if (round % 2)
			CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/file", 0), 0);
		else /* that takes two */
			CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/other", AT_FDCWD, "/mnt/file", 0),
				    0);
		path.mount->sb->op->statfs(path.mount->sb, &after); /* it counts as free at once */
		CHECK(after.bfree >= before.bfree + 200 && after.ffree == before.ffree + 1);
		path_put(&path);
	}
	end();
}

/* Inodes too: there are ten for files, and each is used five times. */
TEST(inodes_are_to_be_had_again)
{
	char name[32];

	start(512, "-I 128 -m 0 -N 24 -O none,filetype");
	for (unsigned i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "/mnt/%u", i);
		CHECK_EQUAL(write_at(name, O_CREAT | O_WRONLY, 0, "text", 4), 4);
		CHECK_EQUAL(vfs_sync_all(), 0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, name, 0), 0);
	}
	end();
}

static unsigned flushes;

static void count_flush(struct hosted_disk *counted, const struct block_request *request)
{
	(void)counted;
	flushes += request->operation == BLOCK_FLUSH;
}

/* How often the disk is flushed for an fsync of the file after @n bytes more at @offset. */
static unsigned flushes_after(loff_t offset, size_t n)
{
	static char data[KB(4)];
	struct file *file __free(fput) = open_path("/mnt/file", O_CREAT | O_WRONLY, 0644);

	CHECK(!IS_ERR(file));
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, offset, data, n), n);
	flushes = 0;
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	return flushes;
}

/* An order costs a flush: so there is none where nothing new is led to. */
TEST(no_more_flushes_than_there_is_order)
{
	start(2048, IMAGE_USUAL);
	disk.submitted = count_flush;
	CHECK_EQUAL(flushes_after(0, KB(2)), 3); /* data, inode, name */
	CHECK_EQUAL(flushes_after(0, KB(2)), 1);
	CHECK_EQUAL(flushes_after(KB(2), 1), 2); /* its size */
	CHECK_EQUAL(flushes_after(KB(2), 1), 1);
	CHECK_EQUAL(flushes_after(KB(3), 1), 2); /* a block */
	flushes = 0;
	CHECK_EQUAL(vfs_sync_all(), 0);
	CHECK_EQUAL(flushes, 1); /* the superblock */
	disk.submitted = NULL;
	end();
}

/* Names that change in blocks which are on the disk wait for no other block, to and fro. */
TEST(a_name_changes_in_its_place)
{
	char name[80];

	start(2048, IMAGE_USUAL " -N 256");
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/dir", 0755), 0);
	for (unsigned i = 0; i < 100; i++)
		CHECK_EQUAL(sys_mknodat(AT_FDCWD, long_name(i), S_IFREG | 0644, 0), 0);
	CHECK_EQUAL(vfs_sync_all(), 0);
	loff_t size = directory_size();
	disk.submitted = count_flush;
	flushes = 0;
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%s", long_name(i));
		name[11] = 'z';
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, long_name(i), AT_FDCWD, name, 0), 0);
	}
	CHECK_EQUAL(directory_size(), size);
	CHECK(flushes <= 10);
	disk.submitted = NULL;
	end();
}
