/*
 * start.c - the file systems come up, are written out as a whole, and are shut down. See start.h.
 *
 * This file stands above all others of fs/: it alone knows which file systems there are.
 */
#include "fs/block/dirty.h"
#include "fs/devfs/special.h"
#include "fs/ext2/ext2.h"
#include "fs/regular/file_io.h"
#include "fs/inode/lru.h"
#include "fs/proc/proc.h"
#include "fs/start.h"
#include "fs/tmpfs/tmpfs.h"
#include "hash/cache.h"

void vfs_init(void)
{
	mounts_init();
	dentry_cache_init();
	inode_cache_init();
	buffer_cache_init();
	file_cache_init();
	mapped_files_init();
	proc_init();
	register_filesystem(&ext2_filesystem);
	register_filesystem(&tmpfs_filesystem);
	register_filesystem(&proc_filesystem);
	register_filesystem(&devtmpfs_filesystem);
}

int vfs_mount_root(const char *device_name, const char *type_name, unsigned flags)
{
	struct filesystem *type = find_filesystem(type_name);
	struct block_device *device = device_name ? find_block_device(device_name, 0) : NULL;
	/* A tmpfs of that mode, as Linux's root file system has it: not a folder for everybody. */
	const char *options = device ? "" : "mode=755";
	struct mount *mount = TRY_PTR(
		mount_make(type, device, flags, device ? device_name : type_name, options));
	mount_first(mount);
	return 0;
}

int vfs_sync_all(void)
{
	int error = for_each_super(sync_super);

	/* devices written to without a file system */
	return sync_buffers(NULL, WB_SYNC_ALL) ?: error;
}

static int make_read_only(struct super_block *sb)
{
	return remount_super(sb, SB_RDONLY, "");
}

void vfs_shutdown(void)
{
	int error = vfs_sync_all(), second = for_each_super(make_read_only);

	if (error || second)
		pr_err("vfs: not everything could be written: error %d\n", -(error ?: second));
	dentry_cache_check();
	lru_check(&inode_lru, &inode_cache_hash);
	buffer_cache_check();
}
