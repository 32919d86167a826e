/*
 * programs_lookups.c - interleavings: buffers and inodes that are looked up, without locks if
 * BUFFER_LOCK and INODE_LOCK say so, while they go, while their memory becomes another's, and while
 * others come into their bucket and leave it. Who finds one has the one that he looked for; what
 * is there is found; each lookup is counted, once.
 */
#include <stdio.h>
#include <string.h>

#include "fs/block/dirty.h"
#include "fs/inode/inode.h"
#include "hash/cache.h"
#include "hosted/harness/harness.h"
#include "hosted/interleave/programs/lockless/lockless.h"
#include "hosted/interleave/worlds/worlds.h"
#include "hosted/interleave/ring/ring.h"

#define LOOKS 5

static struct super_block *sb; /* of /mnt */
static struct block_device *device;
static u64 wanted; /* the block, or the inode's number */

/* Lookups that were counted. */
static u64 counted(const struct hash_cache *cache)
{
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		sum += cache->counters[cpu].hits + cache->counters[cpu].misses;
	return sum;
}

/* /mnt/file with "one" in it, on the disk; its block and its number. */
static void make_wanted(u64 *block, u64 *number)
{
	world_mount();
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "one", 3), 3);
	sys_sync();
	struct inode *inode = inode_by_path("/mnt/file");

	sb = inode->sb;
	device = sb->bdev;
	*number = inode->number;
	CHECK_EQUAL(inode->data.ops->get_block(inode, 0, block, false), 0);
	iput(inode);
}

/* ---- buffers that go ---------------------------------------------------------------------------
 */

static void read_wanted(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < LOOKS; i++, ring_user()) {
		struct buffer *buffer = bread(device, wanted);

		CHECK(!IS_ERR(buffer));
		wait_on_buffer(buffer); /* time for others */
		CHECK_EQUAL(buffer->block, wanted);
		CHECK(buffer->device == device);
		CHECK(memcmp(buffer->data, "one", 3) == 0);
		brelse(buffer);
	}
}

/* The first round finds them used lately. */
static void evict_buffers(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		shrink_buffers(0);
}

static void drop_pages(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user())
		drop_clean_pages();
}

/* A block is read while its buffer is reclaimed, be it metadata's or that of the file's page. */
RING_PROGRAM(buffers_evicted, world_ext2, 60)
{
	u64 number;

	make_wanted(&wanted, &number);
	if (rng_below(&ring_program_rng, 2))
		drop_clean_pages();
	task_start(read_wanted, NULL);
	task_start(read_wanted, NULL);
	task_start(evict_buffers, NULL);
	task_start(drop_pages, NULL);
	ring_run();
	world_unmount();
}

static void find_wanted(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * LOOKS; i++, ring_user()) {
		struct buffer *buffer = find_buffer(device, wanted);

		if (!buffer)
			continue;
		wait_on_buffer(buffer);
		CHECK_EQUAL(buffer->block, wanted);
		CHECK(buffer->device == device);
		brelse(buffer);
	}
}

/* Blocks are freed, and given to another file; pages get buffers and lose them. */
static void cut_and_write(void *unused)
{
	static const char text[4 * 1024];

	(void)unused;
	for (unsigned i = 0; i < 2; i++, ring_user()) {
		CHECK_EQUAL(sys_truncate("/mnt/file", 0), 0);
		CHECK_EQUAL(write_at("/mnt/two", O_CREAT | O_WRONLY, 0, text, sizeof(text)),
			    sizeof(text));
		CHECK_EQUAL(sys_truncate("/mnt/two", 1024), 0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/two", 0), 0);
		CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, 0, text, 2048), 2048);
	}
}

/* The buffers of a file's page go with it, and none is left behind. */
RING_PROGRAM(buffers_of_files, world_ext2, 60)
{
	u64 number;

	make_wanted(&wanted, &number);
	task_start(find_wanted, NULL);
	task_start(find_wanted, NULL);
	task_start(cut_and_write, NULL);
	ring_run();
	world_unmount();
}

/* ---- a buffer that is always there ---------------------------------------------------------------
 */

static struct buffer *kept;

static u32 bucket_of_block(u64 block)
{
	return buffer_hash((u32)device->dev, block, buffer_cache_hash.bits);
}

/* A block behind @block that is in the bucket of the one that is kept; or not. */
static u64 next_block(u64 block, bool same)
{
	do
		block++;
	while ((bucket_of_block(block) == bucket_of_block(wanted)) != same);
	return block;
}

static void find_kept(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < LOOKS; i++, ring_user()) {
		struct buffer *buffer = find_buffer(device, wanted);

		CHECK(buffer == kept);
		brelse(buffer);
	}
}

#define MOVES 3

/* Into the bucket of what is looked for, out of it, and into another: a page's buffer, which is not
 * freed in between. When it goes nobody holds it up. */
static void move_buffer(void *unused)
{
	struct page *page = alloc_page(GFP_KERNEL | GFP_ZERO);
	u64 same = next_block(wanted, true), other = next_block(wanted, false);

	(void)unused;
	page->buffers = NULL;
	CHECK_EQUAL(create_page_buffers(page, device), 0);
	for (unsigned i = 0; i < MOVES; i++, ring_user()) {
		map_page_buffer(&page->buffers[0], same);
		forget_page_buffer(&page->buffers[0]);
		map_page_buffer(&page->buffers[0], other);
		forget_page_buffer(&page->buffers[0]);
	}
	CHECK(free_page_buffers(page));
	put_page(page);
}

static void let_go_of_page(void *page)
{
	forget_page_buffer(&((struct page *)page)->buffers[0]);
	CHECK(free_page_buffers(page));
}

static void find_once(void *unused)
{
	(void)unused;
	struct buffer *buffer = find_buffer(device, wanted);

	CHECK(!buffer || buffer->block == wanted);
	brelse(buffer);
}

/* A page's buffer goes with the page: who has come to it too late does not hold it up. */
RING_PROGRAM(buffers_let_go, world_ext2, 400)
{
	struct page *page = alloc_page(GFP_KERNEL | GFP_ZERO);
	u64 number;

	make_wanted(&wanted, &number);
	wanted = 200; /* nobody's */
	page->buffers = NULL;
	CHECK_EQUAL(create_page_buffers(page, device), 0);
	map_page_buffer(&page->buffers[0], wanted);
	for (unsigned i = 0; i < 4; i++)
		task_start(find_once, NULL);
	task_start(let_go_of_page, page);
	ring_run();
	put_page(page);
	world_unmount();
}

static void keep_block(void)
{
	u64 number;

	make_wanted(&wanted, &number);
	wanted = 200; /* nobody's */
	kept = bread(device, wanted);
	CHECK(!IS_ERR(kept));
}

RING_PROGRAM(buffers_beside, world_ext2, 100)
{
	keep_block();
	u64 before = counted(&buffer_cache_hash);

	task_start(find_kept, NULL);
	task_start(find_kept, NULL);
	task_start(move_buffer, NULL);
	ring_run();
	CHECK_EQUAL(counted(&buffer_cache_hash) - before, 2 * LOOKS + 2 * MOVES);
	brelse(kept);
	world_unmount();
}

static void read_and_evict(void *unused)
{
	u64 block = wanted;

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		block = next_block(block, true);
		brelse(bread(device, block));
		shrink_buffers(0);
		shrink_buffers(0);
	}
}

/* Metadata comes into its bucket, and is reclaimed. */
RING_PROGRAM(buffers_come_and_go, world_ext2, 100)
{
	keep_block();
	task_start(find_kept, NULL);
	task_start(find_kept, NULL);
	task_start(read_and_evict, NULL);
	ring_run();
	brelse(kept);
	world_unmount();
}

/* ---- inodes ------------------------------------------------------------------------------------
 */

static void get_wanted(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < LOOKS; i++, ring_user()) {
		struct inode *inode = iget(sb, wanted);

		CHECK(!IS_ERR(inode));
		/* iget() looks at I_NEW without a lock: for the checker what was read in is seen by
		 * who has had spin since */
		spin_lock(&inode->spin);
		spin_unlock(&inode->spin);
		CHECK_EQUAL(inode->number, wanted);
		CHECK(inode->sb == sb);
		CHECK_EQUAL(inode->nlink, 1);
		CHECK_EQUAL(inode->data.size, 3);
		CHECK(!(READ_ONCE(inode->flags) & (I_NEW | I_FREEING)));
		iput(inode);
	}
}

/* An inode is looked up while it is reclaimed, and read in again. */
RING_PROGRAM(inodes_evicted, world_ext2, 60)
{
	u64 block;

	make_wanted(&block, &wanted);
	drop_clean_pages(); /* what has pages is left alone at first */
	task_start(get_wanted, NULL);
	task_start(get_wanted, NULL);
	task_start(forget_names, NULL);
	ring_run();
	world_unmount();
}

static struct inode *kept_inode;

static void get_kept(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < LOOKS; i++, ring_user()) {
		struct inode *inode = iget(sb, wanted);

		CHECK(inode == kept_inode);
		iput(inode);
	}
}

#define FILES 17 /* more than buckets */

static ino_t beside; /* of an inode in the bucket of the one that is kept */

/* Two files in one bucket: one is kept, and no other is in memory. */
static void keep_inode(void)
{
	ino_t in_bucket[16] = {0};
	u64 block;

	make_wanted(&block, &wanted);
	for (unsigned n = 0; n < FILES; n++) {
		char name[16];

		snprintf(name, sizeof(name), "/mnt/%u", n);
		CHECK_EQUAL(sys_mknodat(AT_FDCWD, name, S_IFREG | 0600, 0), 0);
		struct inode *inode = inode_by_path(name);
		u32 bucket = inode_hash((uintptr_t)sb, inode->number, inode_cache_hash.bits);

		wanted = in_bucket[bucket] ?: wanted;
		beside = in_bucket[bucket] ? inode->number : beside;
		in_bucket[bucket] = inode->number;
		iput(inode);
	}
	sys_sync();
	forget_names(NULL);
	kept_inode = iget(sb, wanted);
	CHECK(!IS_ERR(kept_inode));
}

static void come_and_go(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		struct inode *inode = iget(sb, beside);

		CHECK(!IS_ERR(inode));
		CHECK_EQUAL(inode->number, beside);
		iput(inode);
		shrink_icache(100);
		shrink_icache(100);
	}
}

/* One that is always there is always found, and counted, while another comes into its bucket and is
 * reclaimed. */
RING_PROGRAM(inodes_beside, world_ext2, 100)
{
	keep_inode();
	u64 before = counted(&inode_cache_hash);

	task_start(get_kept, NULL);
	task_start(get_kept, NULL);
	task_start(come_and_go, NULL);
	ring_run();
	CHECK_EQUAL(counted(&inode_cache_hash) - before, 2 * LOOKS + ROUNDS);
	iput(kept_inode);
	world_unmount();
}
