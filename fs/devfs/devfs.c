/*
 * devfs.c - /dev: a tmpfs in which each registered device has its node.
 *
 * There is one superblock for all mounts. Character devices register before or after it is first
 * mounted, block devices before; programs may add links and nodes of their own. Its type is called
 * devtmpfs, as scripts expect.
 */
#include "fs/devfs/devfs.h"

#include "fs/block.h"
#include "fs/internal.h"
#include "fs/tmpfs/tmpfs.h"

struct device_node {
	struct device_node *next;
	char name[24];
	umode_t mode;
	dev_t dev;
};

static DEFINE_MUTEX(devfs_lock); /* the list, and devfs_super */
static struct device_node *nodes;
static struct super_block *devfs_super; /* NULL: not mounted */

int devfs_add(const char *name, umode_t mode, dev_t dev)
{
	struct device_node *node = kzalloc(sizeof(*node), GFP_KERNEL);
	int error = 0;

	if (!node)
		return -ENOMEM;
	strlcpy(node->name, name, sizeof(node->name));
	node->mode = mode;
	node->dev = dev;
	mutex_lock(&devfs_lock);
	node->next = nodes;
	nodes = node;
	if (devfs_super)
		error = tmpfs_make_node(devfs_super, name, mode, dev);
	mutex_unlock(&devfs_lock);
	return error;
}

static int devfs_fill_super(struct super_block *sb, const char *options, bool silent)
{
	struct block_device *device = NULL;
	int error = tmpfs_fill_super(sb, "mode=755", silent);

	if (error)
		return error;
	mutex_lock(&devfs_lock);
	for (struct device_node *node = nodes; node && !error; node = node->next)
		error = tmpfs_make_node(sb, node->name, node->mode, node->dev);
	while (!error && (device = next_block_device(device)) != NULL)
		error = tmpfs_make_node(sb, device->name, S_IFBLK | 0660, device->dev);
	devfs_super = sb;
	mutex_unlock(&devfs_lock);
	/* One mount lasts for ever, so that devfs_super stays valid and programs' own links too. */
	atomic_inc(&sb->active);
	return 0;
}

struct filesystem devtmpfs_filesystem = {
	.name = "devtmpfs", .fill_super = devfs_fill_super, .single = true, .pinned = true};
