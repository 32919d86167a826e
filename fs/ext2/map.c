/*
 * map.c - from file blocks to disk blocks: the pointers in the inode and its indirect blocks. See
 * ext2.h.
 *
 * A path is the offsets of the pointers on the way: one in the inode, then one in each indirect
 * block. Reading follows it under map_lock shared; allocating and truncating hold it exclusively.
 * Truncation clears each pointer before it frees the block, so that pointers that run in a circle
 * on a damaged disk come to an end.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/string.h"

#define DEPTH_MAX 4

static inline unsigned pointer_shift(const struct ext2_fs *fs)
{
	return fs->block_shift - 2; /* of the pointers in a block */
}

/* Offsets of the pointers to file block @index; how many, or 0 when it is too large. */
static unsigned block_path(const struct ext2_fs *fs, u64 index, u32 offsets[DEPTH_MAX])
{
	unsigned shift = pointer_shift(fs), depth;

	if (index < EXT2_DIRECT) {
		offsets[0] = (u32)index;
		return 1;
	}
	index -= EXT2_DIRECT;
	for (depth = 1; depth < DEPTH_MAX; depth++) {
		if (index < 1ULL << (depth * shift)) {
			offsets[0] = EXT2_DIRECT + depth - 1;
			for (unsigned i = 1; i <= depth; i++)
				offsets[i] =
					(u32)(index >> ((depth - i) * shift)) & ((1u << shift) - 1);
			return depth + 1;
		}
		index -= 1ULL << (depth * shift);
	}
	return 0;
}

u64 ext2_max_bytes(unsigned block_shift)
{
	unsigned shift = block_shift - 2;
	u64 blocks = EXT2_DIRECT + (1ULL << shift) + (1ULL << (2 * shift)) + (1ULL << (3 * shift));
	/* i_blocks counts 512 bytes in 32 bits, indirect blocks too */
	u64 sectors = (1ULL << 32) - 1;
	u64 most = (sectors >> (block_shift - 9)) << block_shift;

	return min(blocks << block_shift, most - (most >> shift) - (most >> (2 * shift)));
}

static int find_block(struct inode *inode, u64 index, u64 *block)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 offsets[DEPTH_MAX], pointer;
	unsigned depth = block_path(fs, index, offsets);

	*block = 0;
	if (!depth)
		return 0;
	pointer = EXT2_I(inode)->data[offsets[0]];
	for (unsigned i = 1; i < depth && pointer; i++) {
		struct buffer *buffer = ext2_bread(fs, pointer);

		if (IS_ERR(buffer))
			return (int)PTR_ERR(buffer);
		pointer = ((u32 *)buffer->data)[offsets[i]];
		brelse(buffer);
	}
	if (pointer && unlikely(!ext2_block_ok(fs, pointer)))
		return ext2_error(fs, "inode %llu: block number %u out of range",
				  (unsigned long long)inode->number, pointer);
	*block = pointer;
	return 0;
}

/* ---- allocation ------------------------------------------------------------------------------ */

/* Where the next block would best lie: behind the last one, else behind the nearest pointer before
 * its own. */
static u32 find_goal(struct inode *inode, u64 index, const u32 *pointers, u32 offset, u32 parent)
{
	struct ext2_inode *ei = EXT2_I(inode);
	struct ext2_fs *fs = EXT2_FS(inode->sb);

	if (index == ei->next_index && ei->next_goal)
		return ei->next_goal;
	for (u32 i = 0; i < 16 && offset; i++)
		if (pointers[--offset])
			return pointers[offset] + 1;
	if (parent)
		return parent + 1;
	return ext2_group_start(fs, ((u32)inode->number - 1) / fs->inodes_per_group);
}

/* Make @block a cleared indirect block. */
static int clear_block(struct ext2_fs *fs, u32 block)
{
	struct buffer *buffer = buffer_get(fs->sb->bdev, block);

	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	if (test_bit(B_ALIAS, &buffer->flags)) {
		brelse(buffer);
		return ext2_error(fs, "block %u is free and a file's contents", block);
	}
	wait_on_buffer(buffer); /* an old write of the block when it was something else */
	memset(buffer->data, 0, buffer->size);
	set_buffer_uptodate(buffer);
	mark_buffer_dirty(buffer);
	brelse(buffer);
	return 0;
}

/* A new block in *@pointer, which lies in @holder (NULL: in the inode). */
static int allocate(struct inode *inode, u64 index, u32 *pointers, u32 offset,
		    struct buffer *holder, bool indirect)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	u32 goal = find_goal(inode, index, pointers, offset, holder ? (u32)holder->block : 0),
	    block;
	int error = 0;

	block = ext2_new_block(inode, goal, &error);
	if (!block)
		return error;
	if (indirect)
		error = clear_block(fs, block);
	if (error) {
		ext2_free_blocks(fs, block, 1);
		return error;
	}
	pointers[offset] = block;
	ei->next_index = indirect ? index : index + 1;
	ei->next_goal = block + 1;
	inode->blocks += 1u << (fs->block_shift - 9);
	if (holder)
		mark_buffer_dirty(holder);
	mark_inode_dirty(inode);
	return 0;
}

static int create_block(struct inode *inode, u64 index, u64 *block, bool *fresh)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 offsets[DEPTH_MAX], *pointers = EXT2_I(inode)->data;
	unsigned depth = block_path(fs, index, offsets);
	struct buffer *holder = NULL;
	int error = depth ? 0 : -EFBIG;

	for (unsigned i = 0; i < depth; i++) {
		*fresh = !pointers[offsets[i]];
		if (*fresh)
			error = allocate(inode, index, pointers, offsets[i], holder, i + 1 < depth);
		if (error)
			break;
		*block = pointers[offsets[i]];
		if (i + 1 == depth)
			break;
		brelse(holder);
		holder = ext2_bread(fs, (u32)*block);
		if (IS_ERR(holder))
			return (int)PTR_ERR(holder);
		pointers = holder->data;
	}
	brelse(holder);
	if (!error && !ext2_block_ok(fs, (u32)*block))
		error = ext2_error(fs, "inode %llu: block number %u out of range",
				   (unsigned long long)inode->number, (u32)*block);
	return error;
}

int ext2_get_block(struct inode *inode, u64 index, u64 *block, bool create, bool *fresh)
{
	struct ext2_inode *ei = EXT2_I(inode);
	int error;

	down_read(&ei->map_lock);
	error = find_block(inode, index, block);
	up_read(&ei->map_lock);
	if (!create || error || *block) {
		if (create)
			*fresh = false;
		return error;
	}
	down_write(&ei->map_lock);
	error = create_block(inode, index, block, fresh);
	up_write(&ei->map_lock);
	return error;
}

/* ---- truncation ------------------------------------------------------------------------------ */

/* Consecutive blocks are freed together. No more than the inode owns: on a damaged disk a few
 * indirect blocks that lead to each other seem to hold billions. */
struct free_run {
	struct inode *inode;
	u32 start, count;
	u64 left; /* blocks that may still be followed */
};

static void flush_run(struct free_run *run)
{
	struct ext2_fs *fs = EXT2_FS(run->inode->sb);
	u64 sectors = (u64)run->count << (fs->block_shift - 9);

	if (!run->count)
		return;
	ext2_free_blocks(fs, run->start, run->count);
	run->inode->blocks -= min(run->inode->blocks, sectors);
	run->count = 0;
}

static void free_one(struct free_run *run, u32 block)
{
	struct ext2_fs *fs = EXT2_FS(run->inode->sb);

	if (!ext2_block_ok(fs, block)) {
		ext2_error(fs, "inode %llu: block number %u out of range",
			   (unsigned long long)run->inode->number, block);
		return;
	}
	if (run->count && block == run->start + run->count) {
		run->count++;
		return;
	}
	flush_run(run);
	run->start = block;
	run->count = 1;
}

/* Free what *@slot leads to (@level 0: a file's block; else an indirect block), but for the first
 * @keep file blocks below it. */
static void free_tree(struct free_run *run, u32 *slot, unsigned level, u64 keep)
{
	struct ext2_fs *fs = EXT2_FS(run->inode->sb);
	u32 block = *slot, per_block = 1u << pointer_shift(fs), *pointers;
	u64 span = level ? 1ULL << ((level - 1) * pointer_shift(fs)) : 1;
	struct buffer *buffer;
	unsigned tries = 0;

	if (!block || !run->left)
		return;
	if (!--run->left)
		ext2_error(fs, "inode %llu owns more blocks than it counts",
			   (unsigned long long)run->inode->number);
	if (!keep)
		*slot = 0;
	if (!level) {
		free_one(run, block);
		return;
	}
	do
		buffer = ext2_bread(fs, block);
	while (ext2_try_again(PTR_ERR(buffer), &tries));
	if (IS_ERR(buffer)) {
		ext2_error(fs, "what indirect block %u leads to could not be freed", block);
		return;
	}
	pointers = buffer->data;
	for (u32 i = (u32)(keep / span); i < per_block; i++, keep = 0)
		if (pointers[i])
			free_tree(run, &pointers[i], level - 1, keep % span);
	if (*slot) {
		mark_buffer_dirty(buffer);
		brelse(buffer);
	} else {
		bforget(buffer);
		free_one(run, block);
	}
}

void ext2_truncate_blocks(struct inode *inode, loff_t size)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	struct free_run run = {.inode = inode};
	u64 keep = ((u64)size + (1u << fs->block_shift) - 1) >> fs->block_shift;

	down_write(&ei->map_lock);
	/* the last is an error */
	run.left = min(inode->blocks >> (fs->block_shift - 9), (u64)fs->blocks_count) + 1;
	for (u32 i = 0; i < EXT2_DIRECT; i++)
		if (keep <= i)
			free_tree(&run, &ei->data[i], 0, 0);
	keep = keep > EXT2_DIRECT ? keep - EXT2_DIRECT : 0;
	for (unsigned level = 1; level < DEPTH_MAX; level++) {
		u64 span = 1ULL << (level * pointer_shift(fs));

		if (keep < span)
			free_tree(&run, &ei->data[EXT2_DIRECT + level - 1], level, keep);
		keep = keep > span ? keep - span : 0;
	}
	flush_run(&run);
	ei->next_goal = 0;
	mark_inode_dirty(inode);
	up_write(&ei->map_lock);
}

/* ---- fsync ----------------------------------------------------------------------------------- */

/* Write the dirty indirect blocks below @block; *@budget bounds the walk on a damaged disk. */
static int sync_tree(struct ext2_fs *fs, u32 block, unsigned level, u64 *budget)
{
	struct buffer *buffer;
	int error = 0;

	if (!block || !*budget)
		return 0;
	--*budget;
	buffer = ext2_bread(fs, block);
	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	if (test_bit(B_DIRTY, &buffer->flags))
		error = sync_dirty_buffer(buffer);
	for (u32 i = 0; level > 1 && !error && i < 1u << pointer_shift(fs); i++)
		error = sync_tree(fs, ((u32 *)buffer->data)[i], level - 1, budget);
	brelse(buffer);
	return error;
}

int ext2_sync_indirect(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	u64 budget = min((inode->blocks >> (fs->block_shift - 9)) + 1, (u64)fs->blocks_count);
	int error = 0;

	down_read(&ei->map_lock);
	for (unsigned level = 1; level < DEPTH_MAX && !error; level++)
		error = sync_tree(fs, ei->data[EXT2_DIRECT + level - 1], level, &budget);
	up_read(&ei->map_lock);
	return error;
}
