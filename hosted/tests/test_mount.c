/* test_mount.c - what mount(2) says of a device that is mounted already, in use, or none at all. */
#include <string.h>

#include "hosted/harness/harness.h"

static struct hosted_disk disk;

static s64 mount_at(const char *device, const char *where, const char *type, unsigned flags)
{
	return sys_mount(device, where, type, flags, "");
}

static void second_mount(unsigned first, unsigned second)
{
	char text[8] = "";

	CHECK_EQUAL(mount_disk("ram0", first), 0);
	CHECK_EQUAL(mount_at("/ram0", "/other", "ext2", second), -EBUSY);
	CHECK_EQUAL(mount_at("/ram0", "/mnt", "ext2", first), -EBUSY);
	CHECK_EQUAL(mount_at("/ram0", "/other", "ext2", first), 0);
	CHECK_EQUAL(write_at("/mnt/f", O_WRONLY | O_CREAT, 0, "new", 3), first ? -EROFS : 3);
	CHECK_EQUAL(read_at("/other/f", 0, text, sizeof(text)), 3);
	CHECK_EQUAL(umount_disk(), 0);
	CHECK_EQUAL(read_at("/mnt/f", 0, text, sizeof(text)), -ENOENT);
	CHECK_EQUAL(read_at("/other/f", 0, text, sizeof(text)), 3);
	CHECK_EQUAL(sys_umount2("/other", 0), 0);
}

/* A device has one superblock, which is read-only for all or for none. */
TEST(a_device_mounted_twice)
{
	hosted_init(64);
	disk_create(&disk, "ram0", 0, MB(16));
	image_make(&disk, 1024, 8192, IMAGE_USUAL);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/other", 0755), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
	second_mount(0, SB_RDONLY);
	second_mount(SB_RDONLY, 0);
	leak_check();
	image_check(&disk);
}

TEST(a_mount_in_use)
{
	struct file *reader, *writer;

	hosted_init(64);
	disk_create(&disk, "ram0", 0, MB(16));
	image_make(&disk, 1024, 8192, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(write_at("/mnt/f", O_WRONLY | O_CREAT, 0, "text", 4), 4);
	writer = open_path("/mnt/f", O_WRONLY, 0);
	reader = open_path("/mnt/f", O_RDONLY, 0);
	CHECK(!IS_ERR(writer) && !IS_ERR(reader));
	CHECK_EQUAL(umount_disk(), -EBUSY);
	CHECK_EQUAL(mount_at("", "/mnt", "", MS_REMOUNT | SB_RDONLY), -EBUSY);
	fput(writer);
	CHECK_EQUAL(mount_at("", "/mnt", "", MS_REMOUNT | SB_RDONLY), 0);
	CHECK_EQUAL(write_at("/mnt/f", O_WRONLY, 0, "text", 4), -EROFS);
	CHECK_EQUAL(umount_disk(), -EBUSY);
	CHECK_EQUAL(mount_at("", "/mnt", "", MS_REMOUNT), 0);
	CHECK_EQUAL(write_at("/mnt/f", O_WRONLY, 0, "TEXT", 4), 4);
	fput(reader);
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}

TEST(mounts_of_nothing)
{
	hosted_init(64);
	disk_create(&disk, "ram0", 0, MB(16));
	CHECK_EQUAL(write_at("/file", O_WRONLY | O_CREAT, 0, "x", 1), 1);
	CHECK_EQUAL(sys_mknodat(AT_FDCWD, "/nobody", S_IFBLK | 0600, 0x9999), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), -EINVAL); /* no file system on it */
	leak_mark();
	CHECK_EQUAL(mount_at("none", "/mnt", "nothing", 0), -ENODEV);
	CHECK_EQUAL(mount_at("/file", "/mnt", "ext2", 0), -ENOTBLK);
	CHECK_EQUAL(mount_at("/missing", "/mnt", "ext2", 0), -ENOENT);
	CHECK_EQUAL(mount_at("/nobody", "/mnt", "ext2", 0), -ENXIO);
	CHECK_EQUAL(mount_disk("ram0", 0), -EINVAL);
	CHECK_EQUAL(mount_at("none", "/file", "tmpfs", 0), -ENOTDIR);
	CHECK_EQUAL(mount_at("none", "/gone", "tmpfs", 0), -ENOENT);
	CHECK_EQUAL(umount_disk(), -EINVAL);
	leak_check();
}
