/* test_mount.c - what mount(2) says of a device that is mounted already, in use, or none at all. */
#include <string.h>

#include "fs/path/namespace/namespace.h"
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

/* ---- namespaces ------------------------------------------------------------------------------ */

/* Current leaves its namespace: 0, or -ENOMEM, and it stands where it was. */
static int leave_namespace(void)
{
	struct fs_context *fs = fs_context_fork(current->fs);

	if (!fs)
		return -ENOMEM;
	int error = namespace_copy(fs);

	if (error) {
		fs_context_put(fs);
		return error;
	}
	fs_context_put(current->fs);
	current->fs = fs;
	return 0;
}

/* A namespace and the file that stands for it are made whole, or nothing is left of them. */
TEST(a_namespace_without_memory)
{
	struct fs_context *first;
	struct path file;
	int error = -ENOMEM;

	hosted_init(64);
	first = current->fs;
	CHECK_EQUAL(mount_at("none", "/mnt", "tmpfs", 0), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/in", 0755), 0);
	CHECK_EQUAL(mount_at("none", "/mnt/in", "tmpfs", 0), 0);
	CHECK_EQUAL(namespace_path(NULL, &file), 0); /* what is made for the first one stays */
	path_put(&file);
	fs_context_get(first);
	leak_mark();
	for (int n = 1; error; n++) {
		hosted_fail_after = n;
		error = leave_namespace();
		if (!error)
			error = namespace_path(namespace_get(current->fs->namespace), &file);
		hosted_fail_after = 0;
		CHECK(error == 0 || error == -ENOMEM);
		CHECK(error == 0 || n < 20);
		if (!error)
			path_put(&file);
		if (current->fs != first) {
			fs_context_put(current->fs);
			current->fs = first;
			fs_context_get(first);
		}
		leak_check();
	}
	fs_context_put(first);
	CHECK_EQUAL(sys_umount2("/mnt", 0), -EBUSY);
	CHECK_EQUAL(sys_umount2("/mnt/in", 0), 0);
	CHECK_EQUAL(sys_umount2("/mnt", 0), 0);
}

/* The last who has it open ends it, mounts and all; until then it can be entered. */
TEST(a_namespace_that_is_open)
{
	struct fs_context *first, *second;
	struct mount_namespace *namespace;
	struct path path;
	char text[8] = "";

	hosted_init(64);
	first = current->fs;
	fs_context_get(first);
	CHECK_EQUAL(namespace_path(NULL, &path), 0);
	path_put(&path);
	leak_mark();
	CHECK_EQUAL(leave_namespace(), 0);
	CHECK_EQUAL(mount_at("none", "/mnt", "tmpfs", 0), 0);
	CHECK_EQUAL(write_at("/mnt/f", O_WRONLY | O_CREAT, 0, "text", 4), 4);
	CHECK_EQUAL(namespace_path(namespace_get(current->fs->namespace), &path), 0);
	CHECK_EQUAL(path.dentry->inode->number, namespace_number(current->fs->namespace));

	struct file *file = file_open_path(&path, O_RDONLY);

	CHECK(!IS_ERR(file));
	fs_context_put(current->fs);
	current->fs = first;
	CHECK_EQUAL(read_at("/mnt/f", 0, text, sizeof(text)), -ENOENT);
	CHECK(namespace_of(file, &namespace));
	second = namespace_enter(namespace);
	CHECK(second);
	fput(file); /* the context has it now */
	current->fs = second;
	CHECK_EQUAL(read_at("/mnt/f", 0, text, sizeof(text)), 4);
	CHECK_EQUAL(sys_umount2("/", 0), -EBUSY);
	current->fs = first;
	fs_context_put(second);
	CHECK_EQUAL(sys_umount2("/mnt", 0), -EINVAL);
	leak_check();
}
