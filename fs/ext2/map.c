/*
 * map.c - from file blocks to disk blocks: the pointers in the inode and its indirect blocks. See
 * ext2.h.
 *
 * Reading follows the pointers under map_lock shared; allocating and truncating hold it
 * exclusively. A pointer of level 0 leads to a block of the file, one of level n to a block of
 * pointers of level n - 1. Truncation clears each pointer before it frees the block, and counts, so
 * that pointers that run in a circle on a damaged disk come to an end.
 */
#include "fs/ext2/ext2.h"

#define LEVELS 4

static inline unsigned pointer_shift(const struct ext2_fs *fs)
{
	return fs->block_shift - 2; /* of the pointers in a block */
}

/* The indirect block in @buffer has changed. An fsync that sees the count finds it dirty. */
static void indirect_changed(struct inode *inode, struct buffer *buffer)
{
	struct ext2_inode *ei = EXT2_I(inode);

	mark_buffer_dirty(buffer);
	smp_store_release(&ei->indirect_changes, ei->indirect_changes + 1);
}

/* Where the block of pointers[at], which are in @holder (NULL: in the inode), would best lie:
 * behind the block before it in the file, else behind the last one allocated, else behind its
 * pointer. */
static u32 goal_of(struct inode *inode, const u32 *pointers, u32 at, const struct buffer *holder)
{
	if (at && pointers[at - 1])
		return pointers[at - 1] + 1;
	if (EXT2_I(inode)->next_goal)
		return EXT2_I(inode)->next_goal;
	return holder ? (u32)holder->block + 1 : ext2_group_start(inode);
}

/* A new block in pointers[at], which are in @holder (NULL: in the inode). @clear: as zeroes. */
static int allocate(struct inode *inode, u32 *pointers, u32 at, struct buffer *holder, bool clear)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	u32 goal = goal_of(inode, pointers, at, holder), block;
	struct buffer *cleared __free(buffer) = NULL;

	lockdep_assert_held(&ei->map_lock);
	if (clear) {
		cleared = TRY_PTR(ext2_new_block(fs, goal));
		block = (u32)cleared->block;
	} else {
		block = (u32)TRY(ext2_allocate(fs, EXT2_BLOCKS, goal, NO_MODE));
	}
	if (holder) {
		guard(read, &ranks_lock);
		wait_on_buffer(holder);
		pointers[at] = block;
		indirect_changed(inode, holder);
	} else {
		pointers[at] = block;
	}
	ei->next_goal = pointers[at] + 1;
	inode->blocks += 1u << (fs->block_shift - 9);
	mark_inode_dirty(inode);
	return 0;
}

/*
 * The disk block of file block @index in *@block; 0: a hole, and *@hole says how long it is at
 * least from here on. With CREATE, missing blocks are made. 0; 1: the last one was; -errno. Inline
 * in both callers: a look, which most are, then asks nothing of what making needs.
 */
static __always_inline int follow(struct inode *inode, u64 index, u64 *block, u64 *hole,
				  enum ext2_access access)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	unsigned shift = pointer_shift(fs), level = 0;
	u32 *pointers = EXT2_I(inode)->data, at = (u32)index;
	u64 span = 1, rest = 0; /* file blocks below a pointer; of those, number of the one meant */
	struct buffer *holder __free(buffer) = NULL;
	bool fresh;

	lockdep_assert_held(&EXT2_I(inode)->map_lock);
	*block = 0;
	*hole = 1;
	if (index >= EXT2_DIRECT) {
		rest = index - EXT2_DIRECT;
		for (level = 1, span <<= shift; rest >= span; level++, span <<= shift)
			rest -= span;
		if (level >= LEVELS)
			return access == CREATE ? -EFBIG : 0;
		at = EXT2_DIRECT - 1 + level;
	}
	for (;; level--) {
		fresh = access == CREATE && !pointers[at];
		if (fresh)
			TRY(allocate(inode, pointers, at, holder,
				     level > 0 || !S_ISREG(inode->mode)));
		if (!level || !pointers[at])
			break;
		struct buffer *next = ext2_bread(fs, pointers[at], GIVE_UP);

		brelse(holder);
		holder = next;
		pointers = TRY_PTR(next)->data;
		span >>= shift;
		at = (u32)(rest / span);
		rest %= span;
	}
	*hole = span - rest;
	*block = pointers[at];
	if (fresh)
		return 1;
	if (*block && unlikely(!ext2_block_ok(fs, (u32)*block)))
		return ext2_error(fs, "block number out of range", *block);
	return 0;
}

static int look_up(struct inode *inode, u64 index, u64 *block, u64 *hole)
{
	guard(read, &EXT2_I(inode)->map_lock);
	return follow(inode, index, block, hole, FIND);
}

int ext2_get_block(struct inode *inode, u64 index, u64 *block, bool create)
{
	u64 hole;

	if (!create)
		return look_up(inode, index, block, &hole);
	guard(write, &EXT2_I(inode)->map_lock);
	return follow(inode, index, block, &hole, CREATE);
}

struct buffer *ext2_inode_block(struct inode *inode, u64 index, enum ext2_access access)
{
	u64 block;
	int error = ext2_get_block(inode, index, &block, access == CREATE);

	if (error >= 0 && !block)
		error = ext2_error(EXT2_FS(inode->sb), "hole in inode", inode->number);
	if (error < 0)
		return ERR_PTR(error);
	return ext2_bread(EXT2_FS(inode->sb), (u32)block, GIVE_UP);
}

int ext2_seek(struct inode *inode, loff_t offset, bool hole, loff_t *found)
{
	unsigned shift = EXT2_FS(inode->sb)->block_shift;
	u64 block, length;

	TRY(page_cache_flush(&inode->data)); /* what mappings wrote gets its blocks */
	for (*found = offset; *found < READ_ONCE(inode->data.size);) {
		u64 index = (u64)*found >> shift;

		TRY(look_up(inode, index, &block, &length));
		if (!block == hole)
			return 0;
		*found = (loff_t)((index + (block ? 1 : length)) << shift);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	*found = READ_ONCE(inode->data.size);
	return hole ? 0 : -ENXIO;
}

/* ---- truncation ------------------------------------------------------------------------------ */

/* Consecutive blocks are freed together. No more than the inode owns: on a damaged disk a few
 * indirect blocks that lead to each other seem to hold billions. */
struct free_run {
	struct inode *inode;
	struct ext2_gone *gone;
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
	if (run->count)
		ext2_gather(fs, run->gone, EXT2_BLOCKS, run->start, run->count, NO_MODE);
	run->inode->blocks -= min(run->inode->blocks, sectors);
	run->start = block;
	run->count = block != 0;
}

/* Free what *@slot, of @level, leads to, but for the first @keep file blocks below it. */
static void free_tree(struct free_run *run, u32 *slot, unsigned level, u64 keep)
{
	struct ext2_fs *fs = EXT2_FS(run->inode->sb);
	unsigned shift = pointer_shift(fs);
	u64 span = level ? 1ULL << ((level - 1) * shift) : 1;
	bool stays = ext2_stays(run->gone);
	u32 block = *slot;

	if (!block || !run->left)
		return;
	if (!--run->left)
		ext2_error(fs, "more blocks than it counts has inode", run->inode->number);
	if (!keep && !stays)
		*slot = 0;
	if (!ext2_block_ok(fs, block)) {
		ext2_error(fs, "block number out of range", block);
		return;
	}
	if (level) {
		struct buffer *buffer = ext2_bread(fs, block, PATIENT);

		if (IS_ERR(buffer)) {
			ext2_error(fs, "not freed is what it leads to: indirect block", block);
			return;
		}
		u32 *pointers = buffer->data;

		if (!keep && !stays)
			abandon_buffer(buffer); /* the file on the disk may come back whole */
		for (u64 i = keep / span, part = keep % span; i < 1ULL << shift; i++, part = 0)
			if (pointers[i])
				free_tree(run, &pointers[i], level - 1, part);
		if (keep) {
			indirect_changed(run->inode, buffer);
			brelse(buffer);
			return;
		}
		if (stays)
			brelse(buffer);
		else
			bforget(buffer);
	}
	free_block(run, block);
}

void ext2_gather_blocks(struct inode *inode, loff_t size, struct ext2_gone *gone)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	struct free_run run = {.inode = inode, .gone = gone};
	u64 keep = ((u64)size + (1u << fs->block_shift) - 1) >> fs->block_shift;

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

void ext2_truncate_blocks(struct inode *inode, loff_t size)
{
	struct ext2_gone gone;

	guard(write, &EXT2_I(inode)->map_lock);
	ext2_gone_begin(inode, &gone);
	ext2_gather_blocks(inode, size, &gone);
	ext2_forget_pointers(inode);
	ext2_let_go(EXT2_FS(inode->sb), &gone);
}
