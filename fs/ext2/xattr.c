/*
 * xattr.c - extended attributes, in a block of their own. See ext2.h.
 */
#include "fs/ext2/ext2.h"

#define ATTRIBUTE_MAGIC 0xea020000u

/* A block of extended attributes may be shared: its second word counts the inodes. */
void ext2_free_attributes(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 block = EXT2_I(inode)->attribute_block, *header;
	struct buffer *buffer;

	if (!block)
		return;
	EXT2_I(inode)->attribute_block = 0;
	buffer = ext2_bread(fs, block, true);
	if (IS_ERR(buffer))
		return;
	header = buffer->data;
	if (header[0] != ATTRIBUTE_MAGIC) {
		ext2_error(fs, "no attributes are in block", block);
		brelse(buffer);
	} else if (header[1] > 1) {
		header[1]--;
		mark_buffer_dirty(buffer);
		brelse(buffer);
	} else {
		bforget(buffer);
		ext2_free(fs, EXT2_BLOCKS, block, 1, false);
	}
	inode->blocks -= min(inode->blocks, (u64)inode->sb->block_size / 512);
}
