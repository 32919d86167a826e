/*
 * special.c - inodes that are not files of a file system: device nodes, FIFOs, and what stands in
 * for operations that a file does not have.
 *
 * A character device's operations are found by its number (fs/devfs/devfs.c); a node's open puts
 * them into the open file. Block devices share block_device_file_operations (fs/block/block.c).
 */
#include "fs/block/block.h"
#include "fs/internal.h"

/* A node's open: put the device's operations into the file and open that. There are no sockets. */
static int special_open(struct inode *inode, struct file *file)
{
	const struct file_operations *fop = NULL;

	if (S_ISCHR(inode->mode))
		fop = find_chrdev(inode->rdev);
	else if (S_ISBLK(inode->mode) &&
		 (inode->bdev = find_block_device(NULL, inode->rdev)) != NULL)
		fop = &block_device_file_operations;
	if (!fop)
		return -ENXIO;
	file->fop = fop;
	return fop->open ? fop->open(inode, file) : 0;
}

static const struct file_operations special_file_operations = {.open = special_open};

/* What an inode has until its file system gives it something else. */
const struct file_operations bad_file_operations;
const struct inode_operations no_inode_operations;

void init_special_inode(struct inode *inode, umode_t mode, dev_t rdev)
{
	inode->mode = mode;
	if (S_ISCHR(mode) || S_ISBLK(mode))
		inode->rdev = rdev;
	inode->fop = S_ISFIFO(mode) ? &pipe_file_operations : &special_file_operations;
}

/* ---- sockets: there are none ----------------------------------------------------------------- */

SYSCALL_IS(socket, (int family, int type, int protocol), -EAFNOSUPPORT)
SYSCALL_IS(socketpair, (int family, int type, int protocol, int *fds), -EAFNOSUPPORT)
