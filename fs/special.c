/*
 * special.c - inodes that are not files of a file system: device nodes, FIFOs, and what stands in
 * for operations that a file does not have.
 *
 * A character device's operations are found by its number (fs/devfs/devfs.c); a node's open puts
 * them into the open file. Block devices share block_device_file_operations (fs/block.c).
 */
#include "fs/block.h"
#include "fs/devfs/devfs.h"
#include "fs/internal.h"

/* A node's open: put the device's operations into the file and open that. */
static int chrdev_open(struct inode *inode, struct file *file)
{
	const struct file_operations *fop = find_chrdev(inode->rdev);

	if (!fop)
		return -ENXIO;
	file->fop = fop;
	return fop->open ? fop->open(inode, file) : 0;
}

static int blkdev_open(struct inode *inode, struct file *file)
{
	struct block_device *device = find_block_device_by_number(inode->rdev);

	if (!device)
		return -ENXIO;
	inode->bdev = device;
	file->fop = &block_device_file_operations;
	return file->fop->open ? file->fop->open(inode, file) : 0;
}

static int no_open(struct inode *inode, struct file *file)
{
	return -ENXIO;
}

static const struct file_operations chrdev_file_operations = {.open = chrdev_open};
static const struct file_operations blkdev_file_operations = {.open = blkdev_open};
static const struct file_operations socket_file_operations = {.open = no_open};

/* What an inode has until its file system gives it something else. */
const struct file_operations bad_file_operations;
const struct inode_operations no_inode_operations;

void init_special_inode(struct inode *inode, umode_t mode, dev_t rdev)
{
	inode->mode = mode;
	if (S_ISCHR(mode)) {
		inode->fop = &chrdev_file_operations;
		inode->rdev = rdev;
	} else if (S_ISBLK(mode)) {
		inode->fop = &blkdev_file_operations;
		inode->rdev = rdev;
	} else if (S_ISFIFO(mode)) {
		inode->fop = &pipe_file_operations;
	} else {
		inode->fop = &socket_file_operations;
	}
}

/* ---- sockets: there are none ----------------------------------------------------------------- */

s64 sys_socket(int family, int type, int protocol)
{
	return -EAFNOSUPPORT;
}

s64 sys_socketpair(int family, int type, int protocol, int *fds)
{
	return -EAFNOSUPPORT;
}
