/*
 * balloc.c - which blocks are free: the block bitmaps and their counts. See ext2.h.
 *
 * A bitmap is checked when it is first read (B_CHECKED on its buffer): the bits of the group's own
 * tables must be set, so a damaged bitmap can never hand them out. A group whose bitmap is bad
 * counts as full.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"

u32 ext2_group_blocks(const struct ext2_fs *fs, u32 group)
{
	return min(fs->blocks_per_group, fs->blocks_count - ext2_group_start(fs, group));
}

struct ext2_group_descriptor *ext2_descriptor(struct ext2_fs *fs, u32 group, struct buffer **buffer)
{
	*buffer = fs->descriptor_buffers[group / fs->descriptors_per_block];
	return (struct ext2_group_descriptor *)(*buffer)->data + group % fs->descriptors_per_block;
}

bool ext2_block_ok(const struct ext2_fs *fs, u32 block)
{
	u32 offset = block - fs->first_data_block;
	const struct ext2_group *group;

	if (block < fs->first_data_block || block >= fs->blocks_count)
		return false;
	group = &fs->groups[offset / fs->blocks_per_group];
	return offset % fs->blocks_per_group >= group->system_blocks &&
	       block != group->block_bitmap && block != group->inode_bitmap &&
	       block - group->inode_table >= fs->inode_table_blocks;
}

struct buffer *ext2_bread(struct ext2_fs *fs, u32 block)
{
	struct buffer *buffer;

	if (unlikely(!ext2_block_ok(fs, block)))
		return ERR_PTR(ext2_error(fs, "block number %u out of range", block));
	buffer = bread(fs->sb->bdev, block);
	if (unlikely(!IS_ERR(buffer) && test_bit(B_ALIAS, &buffer->flags))) {
		brelse(buffer);
		return ERR_PTR(ext2_error(fs, "block %u is metadata and a file's contents", block));
	}
	return buffer;
}

bool ext2_try_again(s64 result, unsigned *tries)
{
	if (likely(result != -ENOMEM) || ++*tries > 1000)
		return false;
	sleep_ns(10 * NSEC_PER_MSEC);
	return true;
}

static bool bitmap_ok(const struct ext2_fs *fs, u32 number, const unsigned long *map)
{
	const struct ext2_group *group = &fs->groups[number];
	u32 start = ext2_group_start(fs, number), table = group->inode_table - start;
	u32 system = group->system_blocks;

	return find_next_zero_bit(map, system, 0) >= system &&
	       test_bit(group->block_bitmap - start, map) &&
	       test_bit(group->inode_bitmap - start, map) &&
	       find_next_zero_bit(map, table + fs->inode_table_blocks, table) >=
		       table + fs->inode_table_blocks;
}

/* The group's bitmap, checked; ERR_PTR(-EIO, -EUCLEAN, -ENOMEM). */
static struct buffer *read_bitmap(struct ext2_fs *fs, u32 group)
{
	struct buffer *buffer = bread(fs->sb->bdev, fs->groups[group].block_bitmap);

	if (IS_ERR(buffer) || likely(test_bit(B_CHECKED, &buffer->flags)))
		return buffer;
	if (!bitmap_ok(fs, group, buffer->data)) {
		brelse(buffer);
		return ERR_PTR(ext2_error(fs, "block bitmap of group %u is damaged", group));
	}
	set_bit(B_CHECKED, &buffer->flags);
	return buffer;
}

/* Allocate in @group from bit @from on, then before it: the block, 0 when it is full, or *@error.
 */
static u32 allocate_in(struct ext2_fs *fs, u32 group, u32 from, int *error)
{
	struct ext2_group_descriptor *descriptor;
	struct buffer *descriptor_buffer, *bitmap;
	u32 size = ext2_group_blocks(fs, group), bit;

	descriptor = ext2_descriptor(fs, group, &descriptor_buffer);
	if (!descriptor->free_blocks_count)
		return 0;
	bitmap = read_bitmap(fs, group);
	if (IS_ERR(bitmap)) {
		*error = (int)PTR_ERR(bitmap);
		return 0;
	}
	bit = (u32)find_next_zero_bit(bitmap->data, size, from);
	if (bit >= size && from)
		bit = (u32)find_next_zero_bit(bitmap->data, from, 0);
	if (bit >= size || (from && bit == from && test_bit(bit, bitmap->data))) {
		brelse(bitmap);
		ext2_error(fs, "group %u has no free block, its descriptor says %u", group,
			   descriptor->free_blocks_count);
		return 0;
	}
	__set_bit(bit, bitmap->data);
	mark_buffer_dirty(bitmap);
	brelse(bitmap);
	descriptor->free_blocks_count--;
	mark_buffer_dirty(descriptor_buffer);
	fs->free_blocks -= fs->free_blocks != 0;
	return ext2_group_start(fs, group) + bit;
}

static bool may_use_reserve(const struct ext2_fs *fs)
{
	const struct cred *cred = current->cred;

	return !cred || cred->fsuid == 0 || cred->fsuid == fs->super->default_reserved_uid;
}

u32 ext2_new_block(struct inode *inode, u32 goal, int *error)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 block = 0, group, from;
	int failure = -ENOSPC;

	if (goal < fs->first_data_block || goal >= fs->blocks_count)
		goal = fs->first_data_block;
	group = (goal - fs->first_data_block) / fs->blocks_per_group;
	from = (goal - fs->first_data_block) % fs->blocks_per_group;
	mutex_lock(&fs->lock);
	if (fs->free_blocks > fs->reserved_blocks || may_use_reserve(fs))
		for (u32 i = 0; i < fs->group_count && !block; i++) {
			block = allocate_in(fs, group, from, &failure);
			group = group + 1 < fs->group_count ? group + 1 : 0;
			from = 0;
		}
	mutex_unlock(&fs->lock);
	if (!block)
		*error = failure;
	return block;
}

/* Free [bit, bit + count) of @group. */
static void free_in(struct ext2_fs *fs, u32 group, u32 bit, u32 count)
{
	struct ext2_group_descriptor *descriptor;
	struct buffer *descriptor_buffer, *bitmap;
	unsigned tries = 0;
	u32 freed = 0;

	do
		bitmap = read_bitmap(fs, group);
	while (ext2_try_again(PTR_ERR(bitmap), &tries));
	if (IS_ERR(bitmap)) {
		ext2_error(fs, "%u blocks of group %u could not be freed", count, group);
		return;
	}
	for (u32 i = bit; i < bit + count; i++)
		freed += __test_and_clear_bit(i, bitmap->data);
	if (freed != count)
		ext2_error(fs, "%u of %u blocks from %u on were free already", count - freed, count,
			   ext2_group_start(fs, group) + bit);
	mark_buffer_dirty(bitmap);
	brelse(bitmap);
	descriptor = ext2_descriptor(fs, group, &descriptor_buffer);
	descriptor->free_blocks_count = (u16)(descriptor->free_blocks_count + freed);
	mark_buffer_dirty(descriptor_buffer);
	fs->free_blocks += freed;
}

void ext2_free_blocks(struct ext2_fs *fs, u32 block, u32 count)
{
	mutex_lock(&fs->lock);
	while (count) {
		u32 offset = block - fs->first_data_block, bit = offset % fs->blocks_per_group;
		u32 part = min(count, fs->blocks_per_group - bit);

		free_in(fs, offset / fs->blocks_per_group, bit, part);
		block += part;
		count -= part;
	}
	mutex_unlock(&fs->lock);
}
