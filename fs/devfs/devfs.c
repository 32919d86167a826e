/*
 * devfs.c - /dev: the character devices, and a tmpfs in which each device has its node.
 *
 * There is one superblock for all mounts. Devices register at start-up, before it is first mounted;
 * programs may add links and nodes of their own. Its type is called devtmpfs, as scripts expect.
 */
#include "fs/block/block.h"
#include "fs/vfs.h"

static struct chrdev {
	dev_t dev;
	const char *name;
	umode_t mode;
	const struct file_operations *fop;
} chrdevs[16];
static unsigned chrdev_count;

void register_chrdev(dev_t dev, const char *name, umode_t mode, const struct file_operations *fop)
{
	BUG_ON(chrdev_count == ARRAY_SIZE(chrdevs));
	chrdevs[chrdev_count++] = (struct chrdev){dev, name, mode, fop};
}

const struct file_operations *find_chrdev(dev_t dev)
{
	for (unsigned i = 0; i < chrdev_count; i++)
		if (chrdevs[i].dev == dev)
			return chrdevs[i].fop;
	return NULL;
}

static int devfs_fill_super(struct super_block *sb, const char *options, bool silent)
{
	TRY(tmpfs_fill_super(sb, "mode=755", silent));
	for (const struct chrdev *device = chrdevs; device < chrdevs + chrdev_count; device++)
		TRY(tmpfs_make_node(sb, device->name, S_IFCHR | device->mode, device->dev));
	for (struct block_device *device = NULL; (device = next_block_device(device)) != NULL;)
		TRY(tmpfs_make_node(sb, device->name, S_IFBLK | 0660, device->dev));
	/* One mount lasts for ever, so that programs' own links do too. */
	atomic_inc(&sb->active);
	return 0;
}

struct filesystem devtmpfs_filesystem = {
	.name = "devtmpfs", .magic = TMPFS_MAGIC, .fill_super = devfs_fill_super, .single = true, .pinned = true,
	.inode_before = TMPFS_INODE_BEFORE};
