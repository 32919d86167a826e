/*
 * special.c - character devices, and inodes that are not files of a file system: device nodes and
 * FIFOs. See special.h.
 */
#include "fs/block/block.h"
#include "fs/devfs/special.h"
#include "fs/file/file.h"

/* ---- character devices ----------------------------------------------------------------------- */

static struct chrdev chrdevs[16];
static unsigned chrdev_count;

void register_chrdev(dev_t dev, const char *name, umode_t mode, const struct file_operations *fop)
{
	BUG_ON(chrdev_count == ARRAY_SIZE(chrdevs));
	chrdevs[chrdev_count++] = (struct chrdev){dev, name, mode, fop};
}

/* Or NULL. */
static const struct file_operations *find_chrdev(dev_t dev)
{
	for (unsigned i = 0; i < chrdev_count; i++)
		if (chrdevs[i].dev == dev)
			return chrdevs[i].fop;
	return NULL;
}

const struct chrdev *next_chrdev(const struct chrdev *previous)
{
	const struct chrdev *next = previous ? previous + 1 : chrdevs;

	return next < chrdevs + chrdev_count ? next : NULL;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* A node's open: put the device's operations into the file and open that. A socket's name is bound
 * and connected to, not opened (kernel/socket). */
static int special_open(struct inode *inode, struct file *file)
{
	const struct file_operations *fop = NULL;

	if (S_ISCHR(inode->mode))
		fop = find_chrdev(inode->rdev);
	else if (S_ISBLK(inode->mode) && inode->bdev)
		fop = &block_device_file_operations;
	if (!fop)
		return -ENXIO;
	file->fop = fop;
	return fop->open ? fop->open(inode, file) : 0;
}

static const struct file_operations special_file_operations = {.open = special_open};

void init_special_inode(struct inode *inode, umode_t mode, dev_t rdev)
{
	inode->mode = mode;
	if (S_ISCHR(mode) || S_ISBLK(mode))
		inode->rdev = rdev;
	if (S_ISBLK(mode))
		inode->bdev = find_block_device(NULL, rdev);
	inode->fop = S_ISFIFO(mode) ? &pipe_file_operations : &special_file_operations;
}
