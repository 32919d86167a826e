/*
 * xattr.c - the block that holds an inode's extended attributes: it is read, and let go with its
 * last inode. What is in it is the business of an optional room, fs/xattr; without that a file
 * keeps its attributes, as any kernel has left them, until it is deleted.
 */
#include "fs/ext2/ext2.h"

struct buffer *ext2_xattr_block(struct inode *inode, enum ext2_patience patience)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 block = EXT2_I(inode)->attribute_block;
	struct buffer *buffer = block ? ext2_bread(fs, block, patience) : NULL;

	if (IS_ERR_OR_NULL(buffer))
		return buffer;
	const struct ext2_xattr_header *header = buffer->data;
	if (header->magic == EXT2_XATTR_MAGIC && header->blocks == 1)
		return buffer;
	brelse(buffer);
	return ERR_PTR(ext2_error(fs, "no attributes are in block", block));
}

/* Do others have the block, too? Then it is one inode's less; it is in their hands from here on. */
static bool leave_to_others(struct ext2_fs *fs, struct buffer *buffer)
{
	u32 offset = (u32)buffer->block - fs->first[EXT2_BLOCKS];
	struct ext2_xattr_header *header = buffer->data;

	guard(mutex, &fs->groups[offset / fs->per_group[EXT2_BLOCKS]].lock);
	if (header->refcount <= 1)
		return false;
	header->refcount--;
	mark_buffer_dirty(buffer);
	return true;
}

void ext2_drop_xattr_block(struct inode *inode, struct buffer *buffer, struct ext2_gone *gone)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 block = (u32)buffer->block;

	inode->blocks -= min(inode->blocks, (u64)inode->sb->block_size / 512);
	if (leave_to_others(fs, buffer)) {
		brelse(buffer);
		return;
	}
	if (ext2_stays(gone))
		brelse(buffer);
	else
		bforget(buffer);
	ext2_gather(fs, gone, EXT2_BLOCKS, block, 1, NO_MODE);
}

void ext2_gather_attributes(struct inode *inode, struct ext2_gone *gone)
{
	struct buffer *buffer = ext2_xattr_block(inode, PATIENT);

	EXT2_I(inode)->attribute_block = 0;
	if (!IS_ERR_OR_NULL(buffer))
		ext2_drop_xattr_block(inode, buffer, gone);
}
