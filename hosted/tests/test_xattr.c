/*
 * test_xattr.c - extended attributes: random changes on ext2 and tmpfs against a model, e2fsck on
 * what is left; blocks made, and shared, by others; SEEK_DATA, SEEK_HOLE and the limits of tmpfs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/ext2/ext2.h"
#include "fs/xattr/xattr.h"
#include "hosted/harness/harness.h"
#include "core/syscalls.h"

#define FILES 6
#define NAMES 12
#define VALUE_MAX 900

static struct hosted_disk disk;
static struct rng rng;

static struct value {
	int size; /* -1: not set */
	char bytes[VALUE_MAX];
} model[FILES][NAMES];

static const char *const names[NAMES] = {
	"trusted.a", "trusted.bb", "trusted.ccc", "security.a", "security.selinux", "security.zz",
	"user.x",    "user.yy",	   "user.zzz",	  "user.a",	"user.longer",	    "trusted.zz"};

static const char *path_of(const char *top, unsigned file)
{
	static char path[32];

	snprintf(path, sizeof(path), "%s/f%u", top, file);
	return path;
}

static void compare(const char *top, unsigned name_count)
{
	char value[VALUE_MAX], list[1024];

	for (unsigned f = 0; f < FILES; f++) {
		size_t expected = 0;
		s64 length = sys_lgetxattr(path_of(top, f), names[0], NULL, 0);

		for (unsigned n = 0; n < name_count; n++) {
			const struct value *want = &model[f][n];

			length = sys_lgetxattr(path_of(top, f), names[n], value, sizeof(value));
			CHECK_EQUAL(length, want->size < 0 ? -ENODATA : want->size);
			if (length >= 0)
				CHECK(!memcmp(value, want->bytes, (size_t)length));
			expected += want->size < 0 ? 0 : strlen(names[n]) + 1;
		}
		length = sys_llistxattr(path_of(top, f), list, sizeof(list));
		CHECK_EQUAL(length, expected);
		CHECK_EQUAL(sys_llistxattr(path_of(top, f), NULL, 0), expected);
		for (s64 at = 0; at < length; at += (s64)strlen(list + at) + 1) {
			unsigned n = 0;

			while (n < NAMES && strcmp(names[n], list + at))
				n++;
			CHECK(n < name_count && model[f][n].size >= 0);
		}
	}
}

/* One random change, on the file system and in the model. */
static void change(const char *top, unsigned name_count, unsigned value_max, u64 *full)
{
	unsigned f = (unsigned)rng_below(&rng, FILES), n = (unsigned)rng_below(&rng, name_count);
	int size = (int)rng_below(&rng, rng_below(&rng, 4) ? 40 : value_max), flags;
	struct value *value = &model[f][n];
	char bytes[VALUE_MAX];
	s64 result, expected = 0;

	if (rng_below(&rng, 4) == 0) {
		result = sys_lremovexattr(path_of(top, f), names[n]);
		CHECK_EQUAL(result, value->size < 0 ? -ENODATA : 0);
		value->size = -1;
		return;
	}
	flags = (int)rng_below(&rng, 3);
	if (flags == XATTR_CREATE && value->size >= 0)
		expected = -EEXIST;
	if (flags == XATTR_REPLACE && value->size < 0)
		expected = -ENODATA;
	for (int i = 0; i < size; i++)
		bytes[i] = (char)rng_next(&rng);
	result = sys_lsetxattr(path_of(top, f), names[n], bytes, (size_t)size, flags);
	if (result == -ENOSPC && !expected) {
		++*full;
		return;
	}
	CHECK_EQUAL(result, expected);
	if (!result) {
		value->size = size;
		memcpy(value->bytes, bytes, (size_t)size);
	}
}

static void make_files(const char *top)
{
	for (unsigned f = 0; f < FILES; f++) {
		if (f < FILES - 2)
			CHECK_EQUAL(sys_mknodat(AT_FDCWD, path_of(top, f), S_IFREG | 0644, 0), 0);
		else
			CHECK_EQUAL(sys_mkdirat(AT_FDCWD, path_of(top, f), 0755), 0);
		for (unsigned n = 0; n < NAMES; n++)
			model[f][n].size = -1;
	}
}

static void start(unsigned block_size, unsigned kilobytes, const char *options)
{
	test_limit(60);
	hosted_quiet = true;
	hosted_init(32);
	disk_create(&disk, "ram0", 0, KB(kilobytes));
	image_make(&disk, block_size, kilobytes, options);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
}

static void on_ext2(unsigned block_size, const char *options)
{
	u64 full = 0;

	start(block_size, 2048, options);
	rng.state = test_seed();
	make_files("/mnt");
	for (unsigned i = 0; i < test_scaled(30); i++) {
		for (unsigned j = 0; j < 40; j++)
			change("/mnt", NAMES, block_size > 1024 ? VALUE_MAX : 300, &full);
		compare("/mnt", NAMES);
		CHECK_EQUAL(umount_disk(), 0);
		image_check(&disk);
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
		compare("/mnt", NAMES);
	}
	CHECK(full > 0 || block_size > 1024);
	for (unsigned f = 0; f < FILES; f++)
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, path_of("/mnt", f),
					 f < FILES - 2 ? 0 : AT_REMOVEDIR),
			    0);
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}

TEST(xattr_ext2_1k)
{
	on_ext2(1024, IMAGE_USUAL);
}

TEST(xattr_ext2_4k)
{
	on_ext2(4096, "-I 128 -O none,filetype"); /* the feature is set by the first attribute */
	CHECK(disk.image[1024 + 0x5c] & 8);
}

/* ---- blocks that others made ----------------------------------------------------------------- */

/* Files of which the first @sharers have one block of attributes, made by e2fsprogs: its number.
 * Nothing is mounted. */
static u32 share_block(unsigned sharers)
{
	char path[128];
	u32 block = 0;

	start(1024, 2048, "-I 128 -O none,filetype,ext_attr");
	make_files("/mnt");
	CHECK_EQUAL(umount_disk(), 0);
	snprintf(path, sizeof(path), "%s/image", scratch());
	CHECK_EQUAL(disk_save(&disk, path, MB(2)), 0);
	CHECK_EQUAL(run_command(NULL,
				"cd %s && for n in user.one trusted.two security.three; do "
				"debugfs -w -R \"ea_set f0 $n value\" image || exit 1; done; "
				"block=$(debugfs -R 'stat f0' image | sed -n 's/.*File ACL: "
				"\\([0-9]*\\).*/\\1/p'); echo $block > block; "
				"for f in $(seq 1 %u); do "
				"debugfs -w -R \"sif f$f file_acl $block\" image && "
				"debugfs -w -R \"sif f$f blocks 2\" image || exit 1; done",
				scratch(), sharers - 1),
		    0);
	CHECK_EQUAL(disk_load(&disk, path), 0);
	snprintf(path, sizeof(path), "%s/block", scratch());
	FILE *file = fopen(path, "r");
	CHECK(file && fscanf(file, "%u", &block) == 1 && block);
	fclose(file);
	((u32 *)(disk.image + block * 1024))[1] = sharers; /* the refcount */
	image_check(&disk);
	return block;
}

TEST(xattr_ext2_foreign)
{
	char value[16], list[64];
	u32 block = share_block(2);

	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	for (unsigned f = 0; f < 2; f++) {
		CHECK_EQUAL(sys_lgetxattr(path_of("/mnt", f), "user.one", value, 16), 5);
		CHECK(!memcmp(value, "value", 5));
		/* in the order of the block, as Linux lists them */
		CHECK_EQUAL(sys_llistxattr(path_of("/mnt", f), list, sizeof(list)), 9 + 12 + 15);
		CHECK(!memcmp(list, "user.one\0trusted.two\0security.three", 9 + 12 + 15));
	}
	CHECK_EQUAL(sys_lsetxattr(path_of("/mnt", 1), "user.one", "mine", 4, 0), 0);
	CHECK_EQUAL(sys_lgetxattr(path_of("/mnt", 0), "user.one", value, 16), 5);
	CHECK_EQUAL(sys_lgetxattr(path_of("/mnt", 1), "user.one", value, 16), 4);
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);

	/* a damaged block is an error, to whoever asks */
	disk.image[block * 1024 + 32 + 2] = 0xff;
	disk.image[block * 1024 + 32 + 3] = 0xff;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_lgetxattr(path_of("/mnt", 0), "user.one", value, 16), -EUCLEAN);
	CHECK_EQUAL(sys_lsetxattr(path_of("/mnt", 0), "user.one", value, 16, 0), -EUCLEAN);
	CHECK_EQUAL(sys_llistxattr(path_of("/mnt", 0), NULL, 0), -EUCLEAN);
	CHECK_EQUAL(sys_lgetxattr(path_of("/mnt", 1), "user.one", value, 16), 4);
	CHECK_EQUAL(umount_disk(), 0);
}

static u64 blocks_of(const char *path)
{
	struct kstat stat;

	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, path, &stat, 0), 0);
	return stat.blocks;
}

static s64 free_blocks(void)
{
	struct kstatfs stat;

	CHECK_EQUAL(sys_statfs("/mnt", &stat), 0);
	return (s64)stat.bfree;
}

/* The disk is in order, and mounted again. */
static void check_and_mount(void)
{
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
}

/* A kernel without the room: files keep what others gave them, and the block that three of them
 * share goes with the last; so does one of its own, also if it has no name any more, or lost it to
 * another file. */
TEST(xattr_ext2_without_the_room)
{
	u32 block = share_block(3);
	const struct ext2_xattr_header *header = (void *)(disk.image + block * 1024);
	s64 free;

	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_lsetxattr(path_of("/mnt", 3), "user.own", "mine", 4, 0), 0);
	CHECK_EQUAL(sys_lsetxattr(path_of("/mnt", 4), "user.own", "mine", 4, 0), 0);
	ext2_filesystem.xattrs = NULL;
	CHECK_EQUAL(sys_lgetxattr(path_of("/mnt", 0), "user.one", NULL, 0), -EOPNOTSUPP);
	check_and_mount();
	free = free_blocks();

	CHECK_EQUAL(write_at("/mnt/f0", O_WRONLY, 0, "data", 4), 4);
	CHECK_EQUAL(blocks_of("/mnt/f0"), 4);
	CHECK_EQUAL(truncate_path("/mnt/f0", 0), 0);
	CHECK_EQUAL(blocks_of("/mnt/f0"), 2);
	for (unsigned f = 0; f < 3; f++) {
		CHECK_EQUAL(header->refcount, 3 - f);
		CHECK_EQUAL(free_blocks(), free);
		CHECK_EQUAL(blocks_of(path_of("/mnt", f)), 2);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, path_of("/mnt", f), 0), 0);
		check_and_mount();
	}
	CHECK_EQUAL(free_blocks(), free + 1);

	struct file *file = open_path("/mnt/f3", O_RDONLY, 0);
	CHECK(!IS_ERR(file));
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/f3", 0), 0);
	sys_sync();
	CHECK_EQUAL(free_blocks(), free + 1);
	fput(file);
	check_and_mount();
	CHECK_EQUAL(free_blocks(), free + 2);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/new", 0755), 0);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/new", AT_FDCWD, "/mnt/f4", 0), 0);
	check_and_mount();
	CHECK_EQUAL(free_blocks(), free + 3); /* it had two, and the new one has one */
	CHECK_EQUAL(umount_disk(), 0);
}

/* What is no block of attributes, or none that a file may have, is not freed. */
TEST(xattr_ext2_damaged_without_the_room)
{
	u32 block = share_block(1);
	u32 *magic = (u32 *)(disk.image + block * 1024);
	s64 free;

	ext2_filesystem.xattrs = NULL;
	*magic ^= 1;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	free = free_blocks();
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/f0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(free_blocks(), free);
	CHECK_EQUAL(umount_disk(), 0);
	CHECK(((struct ext2_superblock *)(disk.image + 1024))->state & EXT2_STATE_ERROR);
}

/* trusted.* and security.* alone, and no limit but memory's. */
TEST(xattr_tmpfs)
{
	u64 full = 0;

	test_limit(60);
	hosted_init(32);
	leak_mark();
	rng.state = test_seed();
	CHECK_EQUAL(sys_mount("none", "/mnt", "tmpfs", 0, "size=64k,nr_inodes=20"), 0);
	make_files("/mnt");
	for (unsigned i = 0; i < test_scaled(100); i++) {
		for (unsigned j = 0; j < 20; j++)
			change("/mnt", 6, VALUE_MAX, &full);
		compare("/mnt", 6);
	}
	CHECK_EQUAL(full, 0);
	CHECK_EQUAL(sys_lsetxattr("/mnt/f0", "user.x", "1", 1, 0), -EOPNOTSUPP);
	CHECK_EQUAL(sys_lgetxattr("/mnt/f0", "user.x", NULL, 0), -EOPNOTSUPP);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
}

/* ---- holes and limits ------------------------------------------------------------------------ */

static void holes(const char *path, s64 hole, bool punch)
{
	struct kstat stat;
	int fd;

	CHECK_EQUAL(write_at(path, O_CREAT | O_RDWR, 0, "begin", 5), 5);
	CHECK_EQUAL(write_at(path, O_RDWR, hole, "end", 3), 3);
	fd = (int)sys_openat(AT_FDCWD, path, O_RDWR, 0);
	CHECK_EQUAL(sys_lseek(fd, 0, SEEK_DATA), 0);
	CHECK_EQUAL(sys_lseek(fd, 3, SEEK_DATA), 3);
	CHECK_EQUAL(sys_lseek(fd, 0, SEEK_HOLE), 4096);
	CHECK_EQUAL(sys_lseek(fd, 5000, SEEK_HOLE), 5000);
	CHECK_EQUAL(sys_lseek(fd, 5000, SEEK_DATA), hole);
	CHECK_EQUAL(sys_lseek(fd, hole, SEEK_HOLE), hole + 3);
	CHECK_EQUAL(sys_lseek(fd, hole + 3, SEEK_DATA), -ENXIO);
	CHECK_EQUAL(sys_lseek(fd, hole + 3, SEEK_HOLE), -ENXIO);
	CHECK_EQUAL(sys_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, hole),
		    punch ? 0 : -EOPNOTSUPP);
	if (punch) {
		char text[8] = "";

		CHECK_EQUAL(read_at(path, 0, text, 8), 8);
		CHECK(!memcmp(text, "be\0\0\0\0\0\0", 8));
		CHECK_EQUAL(read_at(path, hole, text, 8), 3);
		CHECK(!memcmp(text, "\0\0d", 3));
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, path, &stat, 0), 0);
		CHECK_EQUAL(stat.blocks, 16);
		CHECK_EQUAL(sys_fallocate(fd, 3, 0, hole), 0);
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, path, &stat, 0), 0);
		CHECK_EQUAL(stat.blocks, 8);
		CHECK_EQUAL(sys_lseek(fd, 0, SEEK_DATA), hole);
		CHECK_EQUAL(sys_fallocate(fd, 3, 0, (loff_t)(~0ULL >> 1)), 0);
		CHECK_EQUAL(sys_lseek(fd, 0, SEEK_DATA), -ENXIO);
	}
	sys_close(fd);
}

TEST(holes_ext2)
{
	start(4096, 4096, IMAGE_USUAL);
	holes("/mnt/f", MB(1), false);
	holes("/mnt/g", (s64)MB(1024) * 1024, false); /* far: found all the same */
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}

TEST(holes_tmpfs)
{
	test_limit(10);
	hosted_init(32);
	holes("/f", MB(1), true);
	holes("/g", (s64)MB(1024) * MB(1), true);
}

static s64 free_inodes(void)
{
	struct kstatfs stat;

	CHECK_EQUAL(sys_statfs("/mnt", &stat), 0);
	return (s64)stat.ffree;
}

TEST(tmpfs_limits)
{
	static char data[KB(64)];

	hosted_init(32);
	CHECK_EQUAL(sys_mount("none", "/mnt", "tmpfs", 0, "sise=64k"), -EINVAL);
	CHECK_EQUAL(sys_mount("none", "/mnt", "tmpfs", 0, "size=64k,nr_inodes=4,mode=700,uid=5"),
		    0);
	CHECK_EQUAL(free_inodes(), 3);
	CHECK_EQUAL(write_at("/mnt/a", O_CREAT | O_WRONLY, 0, data, KB(64)), KB(64));
	CHECK_EQUAL(write_at("/mnt/a", O_WRONLY, KB(64), data, 1), -ENOSPC);
	CHECK_EQUAL(sys_linkat(AT_FDCWD, "/mnt/a", AT_FDCWD, "/mnt/b", 0), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0700), 0);
	CHECK_EQUAL(free_inodes(), 0);
	CHECK_EQUAL(sys_linkat(AT_FDCWD, "/mnt/a", AT_FDCWD, "/mnt/c", 0), -ENOSPC);
	CHECK_EQUAL(sys_symlinkat("x", AT_FDCWD, "/mnt/c"), -ENOSPC);
	CHECK_EQUAL(sys_mount("none", "/mnt", "tmpfs", MS_REMOUNT, "size=60k"), -EINVAL);
	CHECK_EQUAL(sys_mount("none", "/mnt", "tmpfs", MS_REMOUNT, NULL), 0);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/a", 0), 0);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/b", 0), 0);
	CHECK_EQUAL(free_inodes(), 2);
	CHECK_EQUAL(write_at("/mnt/d/e", O_CREAT | O_WRONLY, 0, data, KB(64)), KB(64));
	CHECK_EQUAL(umount_disk(), 0);
}
