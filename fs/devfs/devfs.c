/*
 * devfs.c - /dev: a tmpfs in which each device has its node.
 *
 * There is one superblock for all mounts. Devices register at start-up, before it is first mounted;
 * programs may add links and nodes of their own. Its type is called devtmpfs, as scripts expect.
 */
#include "fs/block/block.h"
#include "fs/devfs/special.h"
#include "fs/tmpfs/tmpfs.h"

static int devfs_fill_super(struct super_block *sb, const char *options, bool silent)
{
	TRY(tmpfs_fill_super(sb, "mode=755", silent));
	for (const struct chrdev *device = next_chrdev(NULL); device; device = next_chrdev(device))
		TRY(tmpfs_make_node(sb, device->name, S_IFCHR | device->mode, device->dev));
	for (struct block_device *device = next_block_device(NULL); device;
	     device = next_block_device(device))
		TRY(tmpfs_make_node(sb, device->name, S_IFBLK | 0660, device->dev));
	/* One mount lasts for ever, so that programs' own links do too. */
	atomic_inc(&sb->active);
	return 0;
}

struct filesystem devtmpfs_filesystem = {
	.name = "devtmpfs",
	.magic = TMPFS_MAGIC,
	.fill_super = devfs_fill_super,
	.single = true,
	.pinned = true,
	.inode_before = TMPFS_INODE_BEFORE,
};
