/*
 * ialloc.c - which inodes are free: the inode bitmaps, and where a new inode goes. See ext2.h.
 *
 * A file goes into its directory's group, or the next one with room, so that a directory's files
 * lie together. Directories are spread over the groups at the top of the tree and kept near their
 * parent below.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/random.h"
#include "kernel/core/string.h"

static inline u32 group_of(const struct ext2_fs *fs, ino_t number)
{
	return ((u32)number - 1) / fs->inodes_per_group;
}

/* The emptiest group with at least the average of free inodes: where a top-level directory goes. */
static u32 spread_group(struct ext2_fs *fs)
{
	u64 average = fs->free_inodes / fs->group_count;
	u32 best = 0, most = 0;
	struct buffer *buffer;

	for (u32 group = 0; group < fs->group_count; group++) {
		struct ext2_group_descriptor *descriptor = ext2_descriptor(fs, group, &buffer);

		if (descriptor->free_inodes_count && descriptor->free_inodes_count >= average &&
		    descriptor->free_blocks_count > most) {
			most = descriptor->free_blocks_count;
			best = group;
		}
	}
	return best;
}

/* What the inode's entry in the table says: 1, 0 or -errno. */
static int in_use_on_disk(struct ext2_fs *fs, u32 number)
{
	u32 index = (number - 1) % fs->inodes_per_group,
	    per_block = (1u << fs->block_shift) / fs->inode_size;
	struct buffer *buffer = bread(fs->sb->bdev, fs->groups[group_of(fs, number)].inode_table +
							    index / per_block);
	const struct ext2_raw_inode *raw;
	bool used;

	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	raw = (const void *)((char *)buffer->data + (index % per_block) * fs->inode_size);
	used = raw->links_count != 0 && raw->dtime == 0;
	brelse(buffer);
	return used;
}

/* A free inode of @group: its number, 0 if there is none, or *@error. */
static u32 allocate_in(struct ext2_fs *fs, u32 group, bool directory, int *error)
{
	struct ext2_group_descriptor *descriptor;
	struct buffer *descriptor_buffer, *bitmap;
	u32 bit = 0, number = 0;
	int used;

	descriptor = ext2_descriptor(fs, group, &descriptor_buffer);
	if (!descriptor->free_inodes_count)
		return 0;
	bitmap = bread(fs->sb->bdev, fs->groups[group].inode_bitmap);
	if (IS_ERR(bitmap)) {
		*error = (int)PTR_ERR(bitmap);
		return 0;
	}
	while ((bit = (u32)find_next_zero_bit(bitmap->data, fs->inodes_per_group, bit)) <
	       fs->inodes_per_group) {
		number = group * fs->inodes_per_group + bit + 1;
		used = in_use_on_disk(fs, number);
		if (used < 0) {
			*error = used;
			number = 0;
			break;
		}
		__set_bit(bit, bitmap->data);
		mark_buffer_dirty(bitmap);
		if (number >= fs->first_inode && !used)
			break;
		ext2_error(fs, "inode %u is in use, its bitmap says free", number);
		number = 0;
	}
	brelse(bitmap);
	if (!number)
		return 0;
	descriptor->free_inodes_count--;
	if (directory)
		descriptor->used_directories_count++;
	mark_buffer_dirty(descriptor_buffer);
	fs->free_inodes -= fs->free_inodes != 0;
	return number;
}

static u32 allocate_number(struct inode *dir, bool directory, int *error)
{
	struct ext2_fs *fs = EXT2_FS(dir->sb);
	u32 number = 0, group;

	*error = -ENOSPC;
	mutex_lock(&fs->lock);
	group = directory && dir->number == EXT2_ROOT_INODE ? spread_group(fs)
							    : group_of(fs, dir->number);
	for (u32 i = 0; i < fs->group_count && !number; i++) {
		number = allocate_in(fs, group, directory, error);
		group = group + 1 < fs->group_count ? group + 1 : 0;
	}
	mutex_unlock(&fs->lock);
	return number;
}

static void free_number(struct ext2_fs *fs, u32 number, bool directory)
{
	u32 group = group_of(fs, number), bit = (number - 1) % fs->inodes_per_group;
	struct ext2_group_descriptor *descriptor;
	struct buffer *descriptor_buffer, *bitmap;
	unsigned tries = 0;

	mutex_lock(&fs->lock);
	do
		bitmap = bread(fs->sb->bdev, fs->groups[group].inode_bitmap);
	while (ext2_try_again(PTR_ERR(bitmap), &tries));
	if (IS_ERR(bitmap)) {
		ext2_error(fs, "inode %u could not be freed", number);
		goto out;
	}
	if (__test_and_clear_bit(bit, bitmap->data)) {
		descriptor = ext2_descriptor(fs, group, &descriptor_buffer);
		descriptor->free_inodes_count++;
		if (directory && descriptor->used_directories_count)
			descriptor->used_directories_count--;
		mark_buffer_dirty(descriptor_buffer);
		mark_buffer_dirty(bitmap);
		fs->free_inodes++;
	} else {
		ext2_error(fs, "inode %u was free already", number);
	}
	brelse(bitmap);
out:
	mutex_unlock(&fs->lock);
}

struct inode *ext2_new_inode(struct inode *dir, umode_t mode)
{
	struct super_block *sb = dir->sb;
	struct ext2_fs *fs = EXT2_FS(sb);
	struct inode *inode = new_inode(sb);
	struct ext2_inode *ei;
	int error;

	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode->number = allocate_number(dir, S_ISDIR(mode), &error);
	if (!inode->number) {
		inode->nlink = 1; /* nothing to free */
		iput(inode);
		return ERR_PTR(error);
	}
	ei = EXT2_I(inode);
	ei->extra_size =
		fs->inode_size >= EXT2_OLD_INODE_SIZE + EXT2_EXTRA_SIZE ? EXT2_EXTRA_SIZE : 0;
	inode_init_owner(inode, dir, mode);
	inode->nlink = 1;
	inode->generation = (u32)random_u64();
	ext2_set_operations(inode);
	insert_inode_hash(inode);
	mark_inode_dirty(inode);
	return inode;
}

void ext2_free_inode(struct inode *inode)
{
	free_number(EXT2_FS(inode->sb), (u32)inode->number, S_ISDIR(inode->mode));
}
