/*
 * test_ext2_errors.c - ext2 when the disk fails and when memory fails: nothing crashes, hangs or
 * leaks, and who asks for his data to be safe is told.
 */
#include <stdio.h>
#include <string.h>

#include "fs/block/buffer.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "hosted/harness/sequence/sequence.h"

/* ---- the disk fails ---------------------------------------------------------------------------
 */

/* One sequence with errors at random; then the disk is well again, and unmounting must work. */
static void failing_disk(u64 seed, unsigned one_in)
{
	sequence_begin(seed, SEQUENCE_CHAOS);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	sequence_disk.fail_one_in = one_in;
	sequence_disk.flush_fails_one_in = seed % 2 ? one_in : 0;
	sequence_operations(seed);
	sequence_disk.fail_one_in = sequence_disk.flush_fails_one_in = 0;
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	sequence_end();
}

TEST(ext2_disk_errors)
{
	unsigned count = test_scaled(400);
	u64 first = test_seed();

	test_limit(60);
	sequence_prepare(1024, 3072, IMAGE_USUAL);
	for (u64 seed = first; seed < first + count; seed++)
		failing_disk(seed, 3 + (unsigned)(seed % 40));
	CHECK(sequence_counts.failed > count);
	printf("# %u sequences: %llu requests failed, %llu of %llu operations\n", count,
	       (unsigned long long)sequence_disk.failed, (unsigned long long)sequence_counts.failed,
	       (unsigned long long)sequence_counts.operations);
}

/* The same while unmounting, and mounting of a disk that cannot be read. */
TEST(ext2_disk_errors_at_mount)
{
	unsigned failed = 0;

	test_limit(60);
	sequence_prepare(1024, 3072, IMAGE_USUAL);
	sequence_disk.asynchronous = false;
	for (u64 seed = 1; seed <= test_scaled(300); seed++) {
		int error;

		sequence_begin(seed, SEQUENCE_CHAOS);
		sequence_disk.fail_one_in = 2 + (unsigned)(seed % 5);
		error = mount_disk("ram0", 0);
		CHECK(error == 0 || error == -EIO);
		failed += error != 0;
		if (!error) {
			write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "text", 4);
			CHECK_EQUAL(umount_disk(), 0);
		}
		sequence_disk.fail_one_in = 0;
		leak_check();
		sequence_end();
	}
	CHECK(failed > 0);
}

static u64 sector_of(const char *text)
{
	const unsigned char *at =
		memmem(sequence_disk.image, sequence_disk.bytes, text, strlen(text));

	return at ? (u64)(at - sequence_disk.image) / SECTOR_SIZE : ~0ull;
}

/* An error is reported once to who asks for his data to be safe, and EIO to who reads. */
TEST(ext2_error_is_reported)
{
	char data[4096] = "these are the bytes of the file";
	struct file *file;
	struct io io = {data, sizeof(data), IO_KERNEL, 0};
	loff_t position = 0;
	struct kstat stat;

	sequence_prepare(4096, 4096, IMAGE_USUAL);
	sequence_disk.asynchronous = false;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	file = open_path("/mnt/file", O_CREAT | O_RDWR, 0644);
	CHECK_EQUAL(vfs_write(file, &io, &position), sizeof(data));
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	io = (struct io){data, sizeof(data), IO_KERNEL, 0};
	position = 0;
	CHECK_EQUAL(vfs_write(file, &io, &position), sizeof(data));
	sequence_disk.fail_sector = sector_of(data); /* the file's own block alone */
	CHECK_EQUAL(vfs_fsync(file, false), -EIO);
	sequence_disk.fail_sector = ~0ull;
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	io = (struct io){data, sizeof(data), IO_KERNEL, 0};
	position = 0;
	CHECK_EQUAL(vfs_write(file, &io, &position), sizeof(data));
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	fput(file);
	CHECK_EQUAL(umount_disk(), 0);

	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/file", &stat, 0), 0);
	sequence_disk.fail_one_in = 1;
	CHECK_EQUAL(read_at("/mnt/file", 0, data, sizeof(data)), -EIO);
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, 10, data, 10), -EIO);
	/* the directory's block is cached */
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/other", &stat, 0), -ENOENT);
	sequence_disk.fail_one_in = 0;
	CHECK_EQUAL(read_at("/mnt/file", 0, data, sizeof(data)), sizeof(data));
	CHECK(strcmp(data, "these are the bytes of the file") == 0);
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&sequence_disk);
	leak_check();
}

/* An inode that the bitmap says is free, but whose place cannot be read, is free again. */
TEST(ext2_inode_that_cannot_be_read_stays_free)
{
	const u32 per_block = 1024 / 256;
	char path[32];
	u32 table;
	int error = 0;

	sequence_prepare(1024, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	memcpy(&table, sequence_disk.image + 2 * 1024 + 8, sizeof(table)); /* of the first group */
	sequence_disk.fail_sector = 2 * (table + 20 / per_block); /* where inode 21 lies */
	for (unsigned i = 0; !error && i < 30; i++) {
		snprintf(path, sizeof(path), "/mnt/%u", i);
		error = sys_mknodat(AT_FDCWD, path, S_IFREG | 0644, 0);
	}
	CHECK_EQUAL(error, -EIO);
	sequence_disk.fail_sector = ~0ull;
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&sequence_disk);
	leak_check();
}

/* ---- memory fails -----------------------------------------------------------------------------
 */

/* The @n-th allocation of mounting, a sequence and unmounting fails. Was it reached? */
static bool failing_memory(u64 seed, int n, int check_each, u64 *errors)
{
	bool reached;

	sequence_begin(seed, SEQUENCE_CHAOS);
	hosted_fail_after = n;
	if (mount_disk("ram0", 0) == 0) {
		sequence_operations(seed);
		while (umount_disk() == -ENOMEM) /* of the path */
			;
	}
	reached = hosted_fail_after == 0;
	hosted_fail_after = 0;
	*errors += reached;
	if (n % check_each == 0)
		image_check(&sequence_disk); /* what failed has left no trace */
	leak_check();
	sequence_end();
	return reached;
}

static struct file *write_whole(const char *path, char data[4096])
{
	struct file *file = open_path(path, O_CREAT | O_RDWR, 0644);
	struct io io = {data, 4096, IO_KERNEL, 0};
	loff_t position = 0;

	CHECK_EQUAL(vfs_write(file, &io, &position), 4096);
	return file;
}

/* Whoever notices that a write has failed, all who had the file open then are told of it by their
 * next fsync, each once; or if nobody had, who opens it next. Who opens a file whose failure was
 * told, and who has another file, is told nothing. A write with O_DSYNC is told as an fsync is. */
static void each_is_told(void (*notice)(void))
{
	char data[4096] = "bytes that do not reach the disk", other[4096] = "bytes that do";

	sequence_prepare(4096, 4096, IMAGE_USUAL);
	sequence_disk.asynchronous = false;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	struct file *first = write_whole("/mnt/file", data), *second, *third;
	struct file *well = write_whole("/mnt/well", other);
	struct file *safe = open_path("/mnt/file", O_RDWR | O_DSYNC, 0);
	struct io io = {data, sizeof(data), IO_KERNEL, 0};
	loff_t position = 0;

	CHECK_EQUAL(vfs_fsync(first, false), 0);
	CHECK_EQUAL(vfs_fsync(well, false), 0);
	sequence_disk.fail_sector = sector_of(data);
	fput(write_whole("/mnt/file", data));
	notice();
	sequence_disk.fail_sector = ~0ull;
	second = open_path("/mnt/file", O_RDWR, 0); /* nobody was told yet */
	CHECK_EQUAL(vfs_write(safe, &io, &position), -EIO);
	CHECK_EQUAL(vfs_fsync(first, false), -EIO);
	CHECK_EQUAL(vfs_fsync(first, false), 0);
	third = open_path("/mnt/file", O_RDWR, 0);
	CHECK_EQUAL(vfs_fsync(third, false), 0);
	CHECK_EQUAL(vfs_fsync(well, false), 0);
	CHECK_EQUAL(vfs_fsync(second, false), -EIO);
	CHECK_EQUAL(vfs_fsync(second, false), 0);
	fput(first);
	fput(second);
	fput(third);
	fput(safe);
	fput(well);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	sequence_end();
}

TEST(ext2_an_error_of_write_back_is_told)
{
	each_is_told(writeback_once);
}

static void sync_all(void)
{
	sys_sync();
}

TEST(ext2_an_error_that_a_sync_saw_is_told)
{
	each_is_told(sync_all);
}

/* Everything was written and the disk's cache alone could not be emptied: who asked for his data to be
 * safe is told, and who asks next has it flushed, were it write-back that tried in vain. */
TEST(ext2_a_flush_that_fails_is_told)
{
	char data[4096] = "bytes in the disk's cache";

	sequence_prepare(4096, 4096, IMAGE_USUAL);
	sequence_disk.asynchronous = false;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	struct file *file = write_whole("/mnt/file", data), *other = write_whole("/mnt/other", data);

	sequence_disk.flush_fails_one_in = 1;
	CHECK_EQUAL(vfs_fsync(file, false), -EIO);
	CHECK(!sequence_disk.flushed);
	sequence_disk.flush_fails_one_in = 0;
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	CHECK(sequence_disk.flushed);
	CHECK_EQUAL(vfs_fsync(other, false), 0);

	struct file *third = write_whole("/mnt/third", data);

	sequence_disk.flush_fails_one_in = 1;
	writeback_once(); /* orders names after what they lead to, so it flushes */
	CHECK(!sequence_disk.flushed);
	CHECK_EQUAL(vfs_fsync(third, false), -EIO);
	sequence_disk.flush_fails_one_in = 0;
	CHECK_EQUAL(vfs_fsync(third, false), 0);
	CHECK(sequence_disk.flushed);
	fput(third);
	fput(file);
	fput(other);

	fput(write_whole("/mnt/file", data));
	sequence_disk.flush_fails_one_in = 1;
	CHECK_EQUAL(umount_disk(), 0);
	sequence_disk.flush_fails_one_in = 0;
	image_check(&sequence_disk);
	leak_check();
	sequence_end();
}

/* The block that leads to a file's data is nobody's page: its failure is told by an fsync that asks
 * for it, though a sync has seen it before. */
TEST(ext2_error_of_a_pointer_is_told)
{
	char data[4096] = "behind an indirect block";
	struct io io = {data, sizeof(data), IO_KERNEL, 0};
	loff_t position = 20 * 4096;

	sequence_prepare(4096, 4096, IMAGE_USUAL);
	sequence_disk.asynchronous = false;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	struct file *file = write_whole("/mnt/file", data);

	CHECK_EQUAL(vfs_fsync(file, false), 0);
	CHECK_EQUAL(vfs_write(file, &io, &position), sizeof(data));
	sequence_disk.fail_one_in = 1;
	sys_sync();
	sequence_disk.fail_one_in = 0;
	CHECK_EQUAL(vfs_fsync(file, false), -EIO);
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	fput(file);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	sequence_end();
}

/* Two that are exchanged: the one that gets a directory for a file has one name more. */
TEST(ext2_an_exchange_has_the_limit_of_links)
{
	sequence_prepare(4096, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/full", 0755), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/dir", 0755), 0);
	fput(open_path("/mnt/full/file", O_CREAT | O_RDWR, 0644));
	struct file *full = open_path("/mnt/full", O_RDONLY, 0);
	u32 links = full->inode->nlink;

	full->inode->nlink = 32000; /* as with so many directories in it */
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/full/more", 0755), -EMLINK);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/dir", AT_FDCWD, "/mnt/full/file", 2), -EMLINK);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/full/file", AT_FDCWD, "/mnt/dir", 2), -EMLINK);
	full->inode->nlink = links;
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/full/file", AT_FDCWD, "/mnt/dir", 2), 0);
	fput(full);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	sequence_end();
}

/* An inode that could not be written for want of memory is for the next sync. */
TEST(ext2_inode_is_written_once_there_is_memory)
{
	struct kstat stat;
	int error = -ENOMEM;

	sequence_prepare(4096, 4096, IMAGE_USUAL); /* what is less than a page is not reclaimed */
	for (int n = 1; error; n++) {
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
		struct file *file = open_path("/mnt/file", O_CREAT | O_RDWR, 0644);
		CHECK_EQUAL(vfs_fsync(file, false), 0);
		CHECK_EQUAL(chmod_path("/mnt/file", (umode_t)n), 0);
		for (unsigned round = 0; round < 100; round++)
			shrink_buffers(0); /* what was used lately is spared once */
		hosted_fail_after = n;
		error = vfs_fsync(file, false);
		hosted_fail_after = 0;
		CHECK(!error || error == -ENOMEM);
		CHECK_EQUAL(vfs_fsync(file, false), 0);
		fput(file);
		CHECK_EQUAL(umount_disk(), 0);
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/file", &stat, 0), 0);
		CHECK_EQUAL(stat.mode & 07777, n);
		CHECK_EQUAL(umount_disk(), 0);
		CHECK(n > 1 || error); /* or there was nothing to fail */
	}
	leak_check();
}

TEST(ext2_memory_errors)
{
	u64 errors = 0, first = test_seed();

	test_limit(100);
	sequence_prepare(1024, 3072, IMAGE_USUAL);
	for (u64 seed = first; seed < first + test_scaled(6); seed++)
		for (int n = 1; failing_memory(seed, n, 4, &errors); n++)
			test_where("seed %llu allocation %d", (unsigned long long)seed, n);
	printf("# %llu allocations failed\n", (unsigned long long)errors);
	CHECK(errors > 50 * test_scaled(6));
}
