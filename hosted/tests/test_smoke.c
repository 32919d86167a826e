/* test_smoke.c - the shortest way through everything: mount, make, write, rename, unlink, unmount,
 * check. */
#include <string.h>

#include "fs/start.h"
#include "hosted/harness/harness.h"

static struct hosted_disk disk;

static void use_files(void)
{
	char text[64] = "";
	struct kstat stat;

	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
	CHECK_EQUAL(write_at("/mnt/d/f", O_WRONLY | O_CREAT, 0, "hello", 5), 5);
	CHECK_EQUAL(read_at("/mnt/d/f", 0, text, sizeof(text)), 5);
	CHECK(strcmp(text, "hello") == 0);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/f", AT_FDCWD, "/mnt/g", 0), 0);
	CHECK_EQUAL(read_at("/mnt/d/f", 0, text, sizeof(text)), -ENOENT);
	CHECK_EQUAL(sys_linkat(AT_FDCWD, "/mnt/g", AT_FDCWD, "/mnt/d/h", 0), 0);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/d/h", &stat, 0), 0);
	CHECK_EQUAL(stat.nlink, 2);
	CHECK_EQUAL(sys_symlinkat("../g", AT_FDCWD, "/mnt/d/s"), 0);
	CHECK_EQUAL(read_at("/mnt/d/s", 0, text, sizeof(text)), 5);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/g", 0), 0);
	CHECK_EQUAL(read_at("/mnt/d/s", 0, text, sizeof(text)), -ENOENT);
}

/* What a call has promised to be on the disk is behind a flush, and not only at the end. */
static void sync_files(void)
{
	struct file *file;

	file = open_path("/mnt/d/h", O_WRONLY, 0);
	CHECK(!IS_ERR(file));
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	CHECK(disk.flushed);
	for (unsigned way = 0; way < 3; way++) {
		u64 writes = disk.writes;

		CHECK_EQUAL(write_at("/mnt/d/h", O_WRONLY, 0, "hello", 5), 5);
		if (way < 2)
			CHECK_EQUAL(vfs_fsync(file, way), 0);
		else
			CHECK_EQUAL(vfs_sync_all(), 0);
		CHECK(disk.flushed);
		CHECK(disk.writes > writes);
	}
	fput(file);
}

static void smoke(bool asynchronous)
{
	char text[64] = "";

	disk.asynchronous = asynchronous;
	image_make(&disk, 1024, 8192, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	use_files();
	sync_files();
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
	CHECK(disk.flushed);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(read_at("/mnt/d/h", 0, text, sizeof(text)), 5);
	CHECK(strcmp(text, "hello") == 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
}

TEST(smoke)
{
	hosted_init(64);
	disk_create(&disk, "ram0", 0, MB(16));
	smoke(false);
	smoke(true);
}
