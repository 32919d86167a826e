/*
 * start.c - which file systems keep extended attributes, and how.
 */
#include "core/base/room.h"
#include "fs/devfs/special.h"
#include "fs/ext2/ext2.h"
#include "fs/tmpfs/tmpfs.h"
#include "fs/xattr/xattr.h"

void xattr_init(void)
{
	ext2_filesystem.xattrs = &ext2_xattrs;
	tmpfs_filesystem.xattrs = &tmpfs_xattrs;
	devtmpfs_filesystem.xattrs = &tmpfs_xattrs;
}
ROOM_START(xattr_init);
