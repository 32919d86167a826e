/*
 * programs_device.c - interleavings: the disk is read as a file, while its blocks are given new
 * contents as a whole, which nobody reads before: by who writes the disk as a file, and by a file
 * system that takes a block for pointers. What such a block had before is on the disk until the new
 * one is: nothing leads there before.
 */
#include <string.h>

#include "fs/file/file.h"
#include "fs/inode/inode.h"
#include "hosted/harness/harness.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/interleave/worlds/worlds.h"

#define BLOCK 1024
#define FREE_BLOCK 200 /* of the world's disk, in no file */
#define DIRECT_BLOCKS 12

static loff_t place; /* of the block that is read and written */

static void read_disk(void *unused)
{
	char found[BLOCK];

	(void)unused;
	CHECK_EQUAL(read_at("/ram0", place, found, BLOCK), BLOCK);
}

static void write_disk(void *block)
{
	CHECK_EQUAL(write_at("/ram0", O_WRONLY, place, block, BLOCK), BLOCK);
}

/* What was written to the disk is what is read there afterwards. */
RING_PROGRAM(device_written, world_ext2, 100)
{
	char block[BLOCK], found[BLOCK];

	memset(block, 'w', sizeof(block));
	place = FREE_BLOCK * BLOCK;
	world_mount();
	task_start(read_disk, NULL);
	task_start(write_disk, block);
	ring_run();
	CHECK_EQUAL(read_at("/ram0", place, found, BLOCK), BLOCK);
	CHECK(memcmp(block, found, BLOCK) == 0);
	world_unmount();
}

static void write_behind_pointers(void *unused)
{
	(void)unused;
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, DIRECT_BLOCKS * BLOCK, "new", 3), 3);
	sys_sync();
}

/* /mnt/file with all of the blocks that an inode has pointers for, and behind it on the disk, where
 * its block of pointers comes to lie, such as lead to block @pointer. */
static void make_file(u32 pointer)
{
	char blocks[DIRECT_BLOCKS * BLOCK] = "";
	u32 pointers[BLOCK / sizeof(u32)];
	u64 last;

	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, blocks, sizeof(blocks)),
		    sizeof(blocks));
	sys_sync();
	struct inode *inode = inode_by_path("/mnt/file");

	CHECK_EQUAL(inode->data.ops->get_block(inode, DIRECT_BLOCKS - 1, &last, false), 0);
	iput(inode);
	place = (loff_t)(last + 1) * BLOCK;
	for (unsigned i = 0; i < BLOCK / sizeof(u32); i++)
		pointers[i] = pointer;
	write_disk(pointers);
}

static void mount_anew(void)
{
	world_unmount();
	world_mount();
}

/* A new block of pointers leads to what the file has got, and nowhere else. */
RING_PROGRAM(device_read_beside_pointers, world_ext2, 100)
{
	char found[3];

	world_mount();
	make_file(~0u);
	mount_anew();
	task_start(read_disk, NULL);
	task_start(write_behind_pointers, NULL);
	ring_run();
	mount_anew();
	CHECK_EQUAL(read_at("/mnt/file", DIRECT_BLOCKS * BLOCK, found, 3), 3);
	CHECK(memcmp(found, "new", 3) == 0);
	world_unmount();
}

/* ---- what an fsync writes besides ---------------------------------------------------------------
 */

static void grow(void *unused)
{
	(void)unused;
	CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, DIRECT_BLOCKS * BLOCK, "new", 3), 3);
	world_write_back(NULL);
}

static struct inode *grows;

static void fsync_beside(void *mode)
{
	struct file *file = open_path("/mnt/beside", O_WRONLY, 0);
	char found[3] = "";

	CHECK_EQUAL(sys_fchmodat(AT_FDCWD, "/mnt/beside", *(umode_t *)mode), 0);
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	fput(file);
	ring_active = false; /* the power goes here */
	world_on_disk(grows->number, DIRECT_BLOCKS * BLOCK, found, 3);
	CHECK(found[0] == 0 || memcmp(found, "new", 3) == 0);
	ring_active = true;
}

/* A block of the table of inodes is written for one of them: another leads to no block of pointers
 * that is not there, which would be a stranger's bytes. */
RING_PROGRAM(device_fsync_beside_pointers, world_ext2, 100)
{
	static umode_t modes[] = {0600, 0640};
	char bytes[BLOCK];

	world_mount();
	CHECK_EQUAL(write_at("/mnt/first", O_CREAT | O_WRONLY, 0, "1", 1), 1);
	memset(bytes, 's', sizeof(bytes));
	place = FREE_BLOCK * BLOCK;
	write_disk(bytes);
	CHECK_EQUAL(write_at("/mnt/beside", O_CREAT | O_WRONLY, 0, "2", 1), 1);
	make_file(FREE_BLOCK);
	mount_anew();
	grows = inode_by_path("/mnt/file");
	task_start(grow, NULL);
	task_start(fsync_beside, &modes[0]);
	task_start(fsync_beside, &modes[1]);
	ring_run();
	iput(grows);
	world_unmount();
}
