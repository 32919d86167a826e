/*
 * worlds.c - interleavings: see worlds.h.
 */
#include "hosted/interleave/worlds/worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/block/buffer.h"
#include "fs/ext2/ext2.h"
#include "fs/path/dentry.h"
#include "fs/path/direct/direct.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "mm/cache/page_cache.h"
#include "hosted/interleave/ring/ring.h"

#define DISK_KB 256
#define BLOCK 1024
#define SWAP_PAGES 32

static struct hosted_disk disk;
static bool on_disk, made; /* what is in use has been marked */

void world_warm(const char *path)
{
#ifdef CONFIG_DCACHE_FASTPATH
	char text[128];
	struct kstat stat;

	/* behind the last of patience: the start, what is there, and nothing any more */
	for (unsigned i = 0; i < PREFIX_PATIENCE + 3; i++) {
		snprintf(text, sizeof(text), "%s", path);
		sys_newfstatat(AT_FDCWD, text, &stat, 0);
	}
#else
	(void)path;
#endif
}

/* Once mounted and unmounted, what is in use is there for good. */
static void mark_what_is_used(void)
{
	world_mount();
	world_unmount();
	leak_mark();
	made = true;
}

void world_ext2(void)
{
	hosted_init(1);
	disk_create(&disk, "ram0", 0, KB(DISK_KB));
	disk.asynchronous = true;
	ring_disk(&disk);
	image_make(&disk, BLOCK, DISK_KB, IMAGE_USUAL " -N 32");
	on_disk = true;
	mark_what_is_used();
}

void world_memory(void)
{
	ring_frames = 64;
	world_ext2();
}

void world_tmpfs_memory(void)
{
	ring_frames = 64;
	world_tmpfs();
}

void world_swap(void)
{
	ring_frames = 64;
	hosted_init(1);
	swap_disk_create(&disk, SWAP_PAGES);
	ring_disk(&disk);
	mark_what_is_used();
}

void world_tmpfs(void)
{
	hosted_init(1);
	mark_what_is_used();
}

void world_mount(void)
{
	if (on_disk)
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
	else
		CHECK_EQUAL(sys_mount("none", "/mnt", "tmpfs", 0, "mode=755"), 0);
}

static bool listed(const struct page *page, const struct list_head *list)
{
	const struct page *other;

	list_for_each_entry (other, list, mapping_link)
		if (other == page)
			return true;
	return false;
}

/* Nobody holds a page any more but the cache; the lists say what the flags do. */
static void check_pages(void)
{
	for (struct page *page = memmap; page < memmap + memmap_pages; page++) {
		bool dirty = test_bit(PG_dirty, &page->flags);

		if (!test_bit(PG_cache, &page->flags))
			continue;
		CHECK_EQUAL(atomic_read(&page->refcount), 1);
		CHECK_EQUAL(atomic_read(&page->mapcount), 0);
		CHECK(!test_bit(PG_locked, &page->flags));
		CHECK(dirty || !test_bit(PG_dirty_all, &page->flags));
		dirty &= page->mapping->ops->writepage != NULL; /* else it has nowhere to go */
		CHECK(listed(page,
			     dirty ? &page->mapping->dirty_pages : &page->mapping->clean_pages));
	}
}

void world_unmount(void)
{
	check_pages();
	dentry_cache_check();
	buffer_cache_check();
#ifdef CONFIG_DCACHE_FASTPATH
	direct_check();
#endif
	CHECK_EQUAL(umount_disk(), 0);
	if (!made)
		return;
	leak_check();
	if (on_disk && ring_shared->trace_hash % 8 == 0)
		image_check(&disk);
}

/* ---- the disk as it is ------------------------------------------------------------------------
 */

static u32 word_at(u64 byte)
{
	u32 word;

	memcpy(&word, disk.image + byte, sizeof(word));
	return word;
}

/* The disk's block for block @index of the inode at byte @inode of the image; 0: a hole. */
static u32 block_of(u64 inode, u32 index)
{
	u32 indirect;

	if (index < 12)
		return word_at(inode + 40 + 4 * index);
	BUG_ON(index >= 12 + BLOCK / 4);
	indirect = word_at(inode + 40 + 4 * 12);
	return indirect ? word_at((u64)indirect * BLOCK + 4 * (index - 12)) : 0;
}

/* Where inode @number begins in the image. One group: its descriptor is in block 2; inodes have 256
 * bytes. */
static u64 inode_at(ino_t number)
{
	return (u64)word_at(2 * BLOCK + 8) * BLOCK + (number - 1) * 256;
}

s64 world_on_disk(ino_t number, loff_t offset, void *data, size_t bytes)
{
	u64 inode = inode_at(number);
	u64 size = word_at(inode + 4), end = min((u64)offset + bytes, size);
	char *to = data;

	for (u64 at = (u64)offset; at < end; at++) {
		u32 block = block_of(inode, (u32)(at / BLOCK));

		*to++ = block ? (char)disk.image[(u64)block * BLOCK + at % BLOCK] : 0;
	}
	return to - (char *)data;
}

static void check_time(struct timespec64 time, u32 seconds, u32 extra)
{
	CHECK_EQUAL(seconds, (u32)time.tv_sec);
	CHECK_EQUAL(extra >> 2, time.tv_nsec);
}

void world_check_inode(const struct inode *inode)
{
	const struct ext2_raw_inode *raw = (void *)(disk.image + inode_at(inode->number));

	CHECK_EQUAL(raw->mode, inode->mode);
	CHECK_EQUAL(raw->uid | (u32)raw->uid_high << 16, inode->uid);
	CHECK_EQUAL(raw->gid | (u32)raw->gid_high << 16, inode->gid);
	CHECK_EQUAL(raw->links_count, inode->nlink);
	CHECK_EQUAL(raw->size, inode->data.size);
	CHECK_EQUAL(raw->blocks, inode->blocks);
	check_time(inode->atime, raw->atime, raw->atime_extra);
	check_time(inode->mtime, raw->mtime, raw->mtime_extra);
	check_time(inode->ctime, raw->ctime, raw->ctime_extra);
}

/* ---- tasks ---------------------------------------------------------------------------------- */

void world_write_back(void *unused)
{
	(void)unused;
	writeback_once();
}

void world_sync_all(void *unused)
{
	(void)unused;
	sys_sync();
}
