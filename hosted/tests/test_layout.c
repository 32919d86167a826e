/*
 * test_layout.c - where ext2 puts things, and in how many requests they come and go: what e2fsck
 * finds right anyway, and what would only be slow.
 */
#include <string.h>

#include "fs/start.h"
#include "fs/ext2/ext2.h"
#include "hosted/harness/harness.h"
#include "mm/cache/page_cache.h"

#define BLOCK 1024u
#define GROUPS 4u

static struct hosted_disk disk;

static void begin(void)
{
	hosted_init(64);
	disk_create(&disk, "ram0", 0, MB(32));
	image_make(&disk, BLOCK, 32768, IMAGE_USUAL); /* groups of 8 MB */
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
}

static void end(void)
{
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
}

static void fill(const char *path, unsigned blocks)
{
	char bytes[BLOCK];
	struct file *file = open_path(path, O_CREAT | O_RDWR, 0644);

	CHECK(!IS_ERR(file));
	for (unsigned n = 0; n < blocks; n++) {
		struct io io = {.base = bytes, .length = sizeof(bytes)};
		loff_t at = n * BLOCK;

		memset(bytes, (int)('a' + n % 26), sizeof(bytes));
		CHECK_EQUAL(vfs_write(file, &io, &at), BLOCK);
	}
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	fput(file);
}

static struct kstat status(const char *path)
{
	struct kstat stat;

	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, path, &stat, AT_SYMLINK_NOFOLLOW), 0);
	return stat;
}

/* The disk's block of the file's, by its number there. */
static u64 block_of(const char *path, u64 index)
{
	struct file *file = open_path(path, O_RDONLY, 0);
	u64 block = 0;

	CHECK(!IS_ERR(file));
	CHECK_EQUAL(ext2_get_block(file->inode, index, &block, false), 0);
	fput(file);
	return block;
}

static unsigned group_of_inode(const char *path)
{
	const struct ext2_fs *fs;
	struct file *file = open_path(path, O_RDONLY, 0);
	unsigned group;

	CHECK(!IS_ERR(file));
	fs = EXT2_FS(file->inode->sb);
	CHECK_EQUAL(fs->group_count, GROUPS);
	group = (unsigned)(file->inode->number - 1) / fs->per_group[EXT2_INODES];
	fput(file);
	return group;
}

/* One block behind the other, but where an indirect one lies between. */
TEST(a_file_lies_together)
{
	unsigned breaks = 0;

	begin();
	fill("/mnt/gap", 50);
	fill("/mnt/f", 5);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/gap", 0), 0); /* the file does not jump into it */
	CHECK_EQUAL(vfs_sync_all(), 0);
	for (unsigned round = 0; round < 2; round++) {
		fill("/mnt/f", 600);
		breaks = 0;
		for (unsigned n = 1; n < 600; n++)
			breaks += block_of("/mnt/f", n) != block_of("/mnt/f", n - 1) + 1;
		/* of 12 direct ones, of 256 below the first indirect one, and of twice 256 below
		 * the second */
		CHECK_EQUAL(breaks, 3);
		CHECK_EQUAL(block_of("/mnt/f", 12), block_of("/mnt/f", 11) + 2);
		CHECK_EQUAL(block_of("/mnt/f", 268), block_of("/mnt/f", 267) + 3);
		CHECK_EQUAL(block_of("/mnt/f", 524), block_of("/mnt/f", 523) + 2);
		CHECK_EQUAL(truncate_path("/mnt/f", 100), 0); /* the same place again */
		CHECK_EQUAL(vfs_sync_all(), 0); /* what is freed may be used from here on */
	}
	end();
}

/* New directories go to the group with most room, what is in them to theirs. */
TEST(directories_spread)
{
	char name[32], file[48];
	unsigned seen = 0;

	begin();
	for (unsigned n = 1; n < GROUPS; n++) { /* the root's has fewer inodes than others */
		snprintf(name, sizeof(name), "/mnt/d%u", n);
		snprintf(file, sizeof(file), "%s/file", name);
		CHECK_EQUAL(sys_mkdirat(AT_FDCWD, name, 0755), 0);
		fill(file, 200);
		seen |= 1u << group_of_inode(name);
		CHECK_EQUAL(group_of_inode(file), group_of_inode(name));
		CHECK_EQUAL(block_of(file, 0) / (8 * BLOCK), group_of_inode(name));
	}
	CHECK_EQUAL(seen, (1u << GROUPS) - 2);
	end();
}

static void make_names(unsigned first, unsigned count, unsigned step, unsigned length)
{
	char name[300];

	for (unsigned n = first; n < count; n += step) {
		snprintf(name, sizeof(name), "/mnt/d/%0*u", (int)length, n);
		CHECK_EQUAL(write_at(name, O_CREAT | O_WRONLY, 0, "", 0), 0);
	}
}

static void remove_names(unsigned first, unsigned count, unsigned step, unsigned length)
{
	char name[300];

	for (unsigned n = first; n < count; n += step) {
		snprintf(name, sizeof(name), "/mnt/d/%0*u", (int)length, n);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, name, 0), 0);
	}
}

/* Places of names that have gone are used again, those of short ones and of long ones. */
TEST(a_directory_does_not_grow_for_nothing)
{
	static const unsigned lengths[] = {8, 32, 33, 200};

	begin();
	for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
		s64 size;

		CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
		CHECK_EQUAL(status("/mnt/d").size, BLOCK);
		make_names(0, 120, 1, lengths[i]);
		size = status("/mnt/d").size;
		/* two names of the directory itself; an entry: 8 bytes and the name, by 4 */
		unsigned entry = (8 + lengths[i] + 3) & ~3u, per_block = BLOCK / entry;
		CHECK(size >= 120u / per_block * BLOCK && size <= (120u / per_block + 2) * BLOCK);
		remove_names(0, 120, 2, lengths[i]);
		make_names(0, 120, 2, lengths[i]);
		CHECK_EQUAL(status("/mnt/d").size, size);
		remove_names(0, 120, 1, lengths[i]);
		make_names(0, 120, 1, lengths[i]);
		CHECK_EQUAL(status("/mnt/d").size, size);
		remove_names(0, 120, 1, lengths[i]);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d", AT_REMOVEDIR), 0);
	}
	end();
}

/* Up to 59 bytes lie in the inode. */
TEST(links_in_the_inode)
{
	char target[64];

	begin();
	for (unsigned length = 58; length <= 61; length++) {
		memset(target, 't', length);
		target[length] = 0;
		CHECK_EQUAL(sys_symlinkat(target, AT_FDCWD, "/mnt/link"), 0);
		CHECK_EQUAL(status("/mnt/link").size, length);
		CHECK_EQUAL(status("/mnt/link").blocks, length < 60 ? 0 : BLOCK / 512);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/link", 0), 0);
	}
	end();
}

/* The blocks of a page go in one request, and those of many pages come in one: a window grows as
 * long as it is read from one end to the other, and what is read here and there does not bring its
 * neighbours. */
TEST(few_requests)
{
	enum { PAGES = 128 };
	static char bytes[PAGES * PAGE_SIZE];
	u64 writes, reads[2];
	struct file *file;

	begin();
	memset(bytes, 'r', sizeof(bytes));
	CHECK_EQUAL(write_at("/mnt/f", O_CREAT | O_RDWR, 0, bytes, sizeof(bytes)), sizeof(bytes));
	writes = disk.writes;
	CHECK_EQUAL(vfs_sync_all(), 0);
	writes = disk.writes - writes;
	for (unsigned way = 0; way < 2; way++) {
		drop_clean_pages();
		file = open_path("/mnt/f", O_RDONLY, 0);
		CHECK(!IS_ERR(file));
		reads[way] = disk.reads;
		for (unsigned n = 0; n < PAGES; n++) {
			struct io io = {.base = bytes, .length = PAGE_SIZE};
			loff_t at = (way ? n * 37 % PAGES : n) * PAGE_SIZE;

			CHECK_EQUAL(vfs_read(file, &io, &at), PAGE_SIZE);
		}
		reads[way] = disk.reads - reads[way];
		fput(file);
	}
	CHECK(writes <= PAGES + 8); /* one for each page, and what tells of them */
	CHECK(reads[0] <= PAGES / 12);
	CHECK(reads[1] >= PAGES - 8 && reads[1] <= PAGES);
	end();
}

/* The least entry is twelve bytes long: one may be the last of its block, with nothing behind it. */
TEST(least_entry_ends_a_block)
{
	struct kstat stat;
	char path[32];

	begin();
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
	/* after "." and ".." there are 1000 bytes: 61 * 16 + 2 * 12 */
	for (unsigned i = 0; i < 61; i++) {
		snprintf(path, sizeof(path), "/mnt/d/name%02u", i);
		CHECK_EQUAL(sys_mknodat(AT_FDCWD, path, S_IFREG | 0644, 0), 0);
	}
	CHECK_EQUAL(sys_mknodat(AT_FDCWD, "/mnt/d/a", S_IFREG | 0644, 0), 0);
	CHECK_EQUAL(sys_mknodat(AT_FDCWD, "/mnt/d/z", S_IFREG | 0644, 0), 0);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/d", &stat, 0), 0);
	CHECK_EQUAL(stat.size, 1024);
	CHECK_EQUAL(umount_disk(), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/d/z", &stat, 0), 0);
	end();
}
