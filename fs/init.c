/*
 * init.c - bring the VFS up: tables and slabs of the caches first, then what file systems there
 * are.
 */
#include "fs/ext2/ext2.h"
#include "fs/internal.h"

void vfs_init(void)
{
	mount_init();
	dentry_cache_init();
	inode_cache_init();
	block_init();
	buffer_cache_init();
	file_cache_init();
	ext2_init();
	tmpfs_init();
	procfs_init();
	devfs_init();
}
