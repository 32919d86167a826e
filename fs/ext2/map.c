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

#define DEPTH_MAX 4

static inline unsigned pointer_shift(const struct ext2_fs *fs)
{
	return fs->block_shift - 2; /* of the pointers in a block */
}

/* Offsets of the pointers to file block @index; how many, or 0 when it is too large. */
static unsigned block_path(const struct ext2_fs *fs, u64 index, u32 offsets[DEPTH_MAX])
{
	unsigned shift = pointer_shift(fs);

	if (index < EXT2_DIRECT) {
		offsets[0] = (u32)index;
		return 1;
	}
	index -= EXT2_DIRECT;
	for (unsigned depth = 1; depth < DEPTH_MAX; depth++) {
		if (index < 1ULL << (depth * shift)) {
			offsets[0] = EXT2_DIRECT + depth - 1;
			for (unsigned i = depth; i; i--, index >>= shift)
				offsets[i] = (u32)index & ((1u << shift) - 1);
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

/* ---- allocation ------------------------------------------------------------------------------ */

/* Where the next block would best lie: behind the last one, else behind the nearest pointer before
 * its own. */
static u32 find_goal(struct inode *inode, u64 index, const u32 *slot, u32 offset, u32 parent)
{
	struct ext2_inode *ei = EXT2_I(inode);
	struct ext2_fs *fs = EXT2_FS(inode->sb);

	if (index == ei->next_index && ei->next_goal)
		return ei->next_goal;
	for (u32 i = 1; i <= 16 && i <= offset; i++)
		if (slot[-(int)i])
			return slot[-(int)i] + 1;
	return parent ? parent + 1
		      : fs->first[EXT2_BLOCKS] +
				ext2_inode_group(inode) * fs->per_group[EXT2_BLOCKS];
}

/* A new block in *@slot, number @offset of its pointers, in @holder (NULL: in the inode). */
static int allocate(struct inode *inode, u64 index, u32 *slot, u32 offset, struct buffer *holder,
		    bool indirect)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	u32 goal = find_goal(inode, index, slot, offset, holder ? (u32)holder->block : 0);
	int error;
	u32 block = ext2_allocate(fs, EXT2_BLOCKS, goal, false, &error);

	if (!block)
		return error;
	if (indirect) {
		struct buffer *cleared = ext2_clear_block(fs, block);

		if (IS_ERR(cleared)) {
			ext2_free(fs, EXT2_BLOCKS, block, 1, false);
			return (int)PTR_ERR(cleared);
		}
		brelse(cleared);
	}
	*slot = block;
	ei->next_index = indirect ? index : index + 1;
	ei->next_goal = block + 1;
	inode->blocks += 1u << (fs->block_shift - 9);
	if (holder) {
		ei->indirect_dirty = true;
		mark_buffer_dirty(holder);
	}
	mark_inode_dirty(inode);
	return 0;
}

/* File blocks from here on that a pointer which is not there, number @level of the path, leaves
 * out. */
static u64 hole_length(const struct ext2_fs *fs, const u32 *offsets, unsigned level, unsigned depth)
{
	u64 length = 1, before = 0;

	while (++level < depth) {
		length <<= pointer_shift(fs);
		before = before << pointer_shift(fs) | offsets[level];
	}
	return length - before;
}

/*
 * The disk block of file block @index in *@block; 0: a hole, and *@hole says how long it is at
 * least from here on. With @create, missing blocks are made; *@fresh: the last one was.
 */
static int follow(struct inode *inode, u64 index, u64 *block, u64 *hole, bool create, bool *fresh)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 offsets[DEPTH_MAX], *pointers = EXT2_I(inode)->data, number = 0;
	unsigned depth = block_path(fs, index, offsets);
	struct buffer *holder = NULL;
	int error = create && !depth ? -EFBIG : 0;

	for (unsigned i = 0; i < depth; i++) {
		u32 *slot = &pointers[offsets[i]];

		if (create) {
			*fresh = !*slot;
			if (*fresh)
				error = allocate(inode, index, slot, offsets[i], holder,
						 i + 1 < depth);
		}
		number = *slot;
		if (!number)
			*hole = hole_length(fs, offsets, i, depth);
		if (!number || i + 1 == depth)
			break;
		brelse(holder);
		holder = ext2_bread(fs, number, false);
		if (IS_ERR(holder))
			return (int)PTR_ERR(holder);
		pointers = holder->data;
	}
	brelse(holder);
	if (number && unlikely(!ext2_block_ok(fs, number)))
		return ext2_error(fs, "block number out of range", number);
	*block = number;
	return error;
}

int ext2_get_block(struct inode *inode, u64 index, u64 *block, bool create, bool *fresh)
{
	struct ext2_inode *ei = EXT2_I(inode);
	u64 hole;
	int error;

	down_read(&ei->map_lock);
	error = follow(inode, index, block, &hole, false, NULL);
	up_read(&ei->map_lock);
	if (!create || error)
		return error;
	*fresh = false;
	if (*block)
		return 0;
	guard(write, &ei->map_lock);
	return follow(inode, index, block, &hole, true, fresh);
}

struct buffer *ext2_inode_block(struct inode *inode, u64 index, bool create)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct buffer *buffer;
	bool fresh;
	u64 block;
	int error = ext2_get_block(inode, index, &block, create, &fresh);

	if (error)
		return ERR_PTR(error);
	if (!block)
		return ERR_PTR(ext2_error(fs, "hole in inode", inode->number));
	if (!create)
		return ext2_bread(fs, (u32)block, false);
	buffer = ext2_clear_block(fs, (u32)block);
	if (IS_ERR(buffer))
		ext2_truncate_blocks(inode, inode->size);
	return buffer;
}

int ext2_seek(struct inode *inode, loff_t offset, bool hole, loff_t *found)
{
	unsigned shift = EXT2_FS(inode->sb)->block_shift;
	int error = page_cache_flush(&inode->data); /* what mappings wrote gets its blocks */
	u64 index = (u64)offset >> shift, block, length;

	while (!error && (loff_t)(index << shift) < inode->size) {
		length = 1;
		down_read(&EXT2_I(inode)->map_lock);
		error = follow(inode, index, &block, &length, false, NULL);
		up_read(&EXT2_I(inode)->map_lock);
		if (!error && !block == hole) {
			*found = max(offset, (loff_t)(index << shift));
			return 0;
		}
		index += length;
		cond_resched();
	}
	*found = inode->size;
	return error || hole ? error : -ENXIO;
}

/* ---- truncation ------------------------------------------------------------------------------ */

/* Consecutive blocks are freed together. No more than the inode owns: on a damaged disk a few
 * indirect blocks that lead to each other seem to hold billions. */
struct free_run {
	struct inode *inode;
	u32 start, count;
	u64 left; /* blocks that may still be followed */
};

/* @block 0: only free what has been gathered. */
static void free_block(struct free_run *run, u32 block)
{
	struct ext2_fs *fs = EXT2_FS(run->inode->sb);
	u64 sectors = (u64)run->count << (fs->block_shift - 9);

	if (block && block == run->start + run->count) {
		run->count++;
		return;
	}
	ext2_free(fs, EXT2_BLOCKS, run->start, run->count, false);
	run->inode->blocks -= min(run->inode->blocks, sectors);
	run->start = block;
	run->count = block != 0;
}

/* Free what *@slot leads to (@level 0: a file's block; else an indirect block), but for the first
 * @keep file blocks below it. */
static void free_tree(struct free_run *run, u32 *slot, unsigned level, u64 keep)
{
	struct ext2_fs *fs = EXT2_FS(run->inode->sb);
	unsigned shift = pointer_shift(fs);
	u64 span = level ? 1ULL << ((level - 1) * shift) : 1;
	u32 block = *slot, *pointers;
	struct buffer *buffer;

	if (!block || !run->left)
		return;
	if (!--run->left)
		ext2_error(fs, "more blocks than it counts has inode", run->inode->number);
	if (!keep)
		*slot = 0;
	if (!level) {
		if (ext2_block_ok(fs, block))
			free_block(run, block);
		else
			ext2_error(fs, "block number out of range", block);
		return;
	}
	buffer = ext2_bread(fs, block, true);
	if (IS_ERR(buffer)) {
		ext2_error(fs, "not freed is what it leads to: indirect block", block);
		return;
	}
	pointers = buffer->data;
	for (u64 i = keep / span; i < 1ULL << shift; i++, keep = 0)
		free_tree(run, &pointers[i], level - 1, keep % span);
	if (*slot) {
		EXT2_I(run->inode)->indirect_dirty = true;
		mark_buffer_dirty(buffer);
		brelse(buffer);
	} else {
		bforget(buffer);
		free_block(run, block);
	}
}

void ext2_truncate_blocks(struct inode *inode, loff_t size)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	struct free_run run = {.inode = inode};
	u64 keep = ((u64)size + (1u << fs->block_shift) - 1) >> fs->block_shift;

	guard(write, &ei->map_lock);
	/* the last is an error */
	run.left = min(inode->blocks >> (fs->block_shift - 9), (u64)fs->count[EXT2_BLOCKS]) + 1;
	for (unsigned i = 0; i < EXT2_POINTERS; i++) {
		unsigned level = i < EXT2_DIRECT ? 0 : i - EXT2_DIRECT + 1;
		u64 span = 1ULL << (level * pointer_shift(fs));

		if (keep < span)
			free_tree(&run, &ei->data[i], level, keep);
		keep -= min(keep, span);
	}
	free_block(&run, 0);
	ei->next_goal = 0;
	mark_inode_dirty(inode);
}
