/*
 * test_ext2_foreign.c - ext2 on images of other systems: what cannot be supported is refused or not
 * written to.
 */
#include <stdio.h>
#include <string.h>

#include "hosted/harness/harness.h"

static struct hosted_disk disk;

static void start(const char *options)
{
	hosted_quiet = true;
	hosted_init(32);
	disk_create(&disk, "ram0", 0, MB(16));
	image_make(&disk, 1024, 8192, options);
}

/* A feature that the layout depends on: not mounted at all. */
static void refused(const char *feature)
{
	char options[128];

	snprintf(options, sizeof(options), "-I 256 -O none,filetype,%s", feature);
	start(options);
	CHECK_EQUAL(mount_disk("ram0", 0), -EINVAL);
	CHECK_EQUAL(mount_disk("ram0", SB_RDONLY), -EINVAL);
	CHECK(strstr(hosted_last_error, "features") != NULL);
	image_check(&disk);
}

TEST(ext2_refuses_extents)
{
	refused("extent");
}

TEST(ext2_refuses_meta_bg)
{
	refused("meta_bg");
}

TEST(ext2_refuses_64bit)
{
	refused("extent,64bit");
}

/* A feature that who writes must know: read only. */
TEST(ext2_read_only_features)
{
	u64 writes;

	start("-I 256 -O none,filetype,huge_file,dir_nlink,extra_isize");
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	writes = disk.writes;
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), -EROFS);
	CHECK_EQUAL(umount_disk(), 0);
	CHECK_EQUAL(disk.writes, writes);
	image_check(&disk);
}

/* A journal that needs no recovery is a file like others; one that does is refused. */
TEST(ext2_journal)
{
	start("-I 256 -O none,filetype,has_journal -J size=1");
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "text", 4), 4);
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
	disk.image[1024 + 0x60] |= 4; /* needs_recovery */
	CHECK_EQUAL(mount_disk("ram0", 0), -EINVAL);
}

/* A directory with a hash index: found linearly, and the index is dropped when it is no longer
 * true. */
TEST(ext2_hashed_directory)
{
	char name[128], image[128];
	struct kstat stat;

	hosted_quiet = true;
	hosted_init(32);
	disk_create(&disk, "ram0", 0, MB(16));
	snprintf(image, sizeof(image), "%s/image", scratch());
	CHECK_EQUAL(run_command(NULL,
				"mkdir -p %s/tree/dir && cd %s/tree/dir && "
				"seq -f 'a-name-of-some-length-%%g' 500 | xargs touch",
				scratch(), scratch()),
		    0);
	snprintf(name, sizeof(name), "-I 128 -O none,filetype,dir_index -d %s/tree", scratch());
	image_make(&disk, 1024, 8192, name);
	CHECK_EQUAL(run_command(NULL, "e2fsck -fyD %s", image) & ~1, 0);
	CHECK_EQUAL(disk_load(&disk, image), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	for (unsigned i = 1; i <= 500; i++) {
		snprintf(name, sizeof(name), "/mnt/dir/a-name-of-some-length-%u", i);
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, name, &stat, 0), 0);
	}
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	for (unsigned i = 1; i <= 500; i++) {
		snprintf(name, sizeof(name), "/mnt/dir/a-name-of-some-length-%u", i);
		if (i % 3 == 0)
			CHECK_EQUAL(sys_unlinkat(AT_FDCWD, name, 0), 0);
		snprintf(name, sizeof(name), "/mnt/dir/new-%u", i);
		CHECK_EQUAL(write_at(name, O_CREAT | O_WRONLY, 0, "x", 1), 1);
	}
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}

/* Nothing of it may change on a read-only mount, not even the mount count. */
TEST(ext2_read_only_mount)
{
	static unsigned char before[MB(16)];
	char text[8];

	start(IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "text", 4), 4);
	CHECK_EQUAL(umount_disk(), 0);
	image_keep(&disk, before);
	CHECK_EQUAL(mount_disk("ram0", SB_RDONLY), 0);
	CHECK_EQUAL(read_at("/mnt/file", 0, text, sizeof(text)), 4);
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, 0, "x", 1), -EROFS);
	CHECK_EQUAL(write_at("/mnt/new", O_CREAT | O_WRONLY, 0, "x", 1), -EROFS);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/file", 0), -EROFS);
	CHECK_EQUAL(truncate_path("/mnt/file", 0), -EROFS);
	CHECK_EQUAL(chmod_path("/mnt/file", 0600), -EROFS);
	CHECK_EQUAL(umount_disk(), 0);
	CHECK(memcmp(before, disk.image, MB(8)) == 0);
}

/* Files beyond 2 GB are marked in the superblock, for systems that know no such files. */
TEST(ext2_large_file)
{
	start("-I 128 -O none,filetype");
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(
		write_at("/mnt/file", O_CREAT | O_WRONLY, 0x7ffffff0, "1234567890123456789", 19),
		19);
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, 0x7fffffffffff, "1", 1), -EFBIG);
	CHECK_EQUAL(umount_disk(), 0);
	CHECK(disk.image[1024 + 0x64] & 2);
	image_check(&disk);
}

/* Blocks reserved for root are not given to others. */
TEST(ext2_reserved_blocks)
{
	static char data[4096];
	struct kstatfs stat;
	struct cred *cred;
	s64 at = 0, n;

	start("-I 128 -m 20 -O none,filetype");
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(chmod_path("/mnt", 0777), 0);
	cred = prepare_cred();
	cred->euid = 1000;
	set_cred(cred);
	while ((n = write_at("/mnt/file", O_CREAT | O_WRONLY, at, data, sizeof(data))) > 0)
		at += n;
	CHECK_EQUAL(n, -ENOSPC);
	CHECK_EQUAL(sys_statfs("/mnt", &stat), 0);
	CHECK(stat.bavail < 4); /* a page has room or has not */
	CHECK_EQUAL(stat.bfree - stat.bavail, 8192 / 5);
	set_cred(&init_cred);
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, at, data, sizeof(data)), sizeof(data));
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}
