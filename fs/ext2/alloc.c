/*
 * alloc.c - which blocks and inodes are free: the bitmaps, their counts, and where a new inode
 * goes. See ext2.h.
 *
 * Blocks and inodes are taken and given back alike: a bit of a group's bitmap, a count in its
 * descriptor, a total. A block that the bitmap says is free must be one that a file may have: so a
 * damaged one never hands out the group's own tables. A group whose bitmap is bad counts as full.
 *
 * A file goes into its directory's group, or the next one with room, so that a directory's files
 * lie together. Directories are spread over the groups, as by Linux 2.2.
 */
#include "fs/ext2/ext2.h"
#include "fs/inode/permission.h"

/* Is @block, which lies in @group, @offset behind its start, none of the group's own tables? */
static inline bool group_block_ok(const struct ext2_fs *fs, const struct ext2_group *group,
				  u32 block, u32 offset)
{
	return offset >= group->system_blocks && block != group->bitmap[EXT2_BLOCKS] &&
	       block != group->bitmap[EXT2_INODES] &&
	       block - group->inode_table >= fs->inode_table_blocks;
}

bool ext2_block_ok(const struct ext2_fs *fs, u32 block)
{
	u32 offset = block - fs->first[EXT2_BLOCKS], per_group = fs->per_group[EXT2_BLOCKS];

	return offset < fs->count[EXT2_BLOCKS] &&
	       group_block_ok(fs, &fs->groups[offset / per_group], block, offset % per_group);
}

struct buffer *ext2_read(struct ext2_fs *fs, u32 block, enum ext2_patience patience)
{
	struct buffer *buffer = bread(fs->sb->bdev, block);

	for (unsigned tries = 0; patience == PATIENT && buffer == ERR_PTR(-ENOMEM) && tries < 1000;
	     tries++) {
		sleep_ns(10 * NSEC_PER_MSEC);
		buffer = bread(fs->sb->bdev, block);
	}
	return buffer;
}

/* A file page may not share its block with metadata. */
static struct buffer *check_alias(struct ext2_fs *fs, struct buffer *buffer)
{
	if (likely(IS_ERR(buffer) || !buffer->page))
		return buffer;
	int error = ext2_error(fs, "metadata in a file's block", buffer->block);

	brelse(buffer);
	return ERR_PTR(error);
}

struct buffer *ext2_bread(struct ext2_fs *fs, u32 block, enum ext2_patience patience)
{
	if (unlikely(!ext2_block_ok(fs, block)))
		return ERR_PTR(ext2_error(fs, "block number out of range", block));
	return check_alias(fs, ext2_read(fs, block, patience));
}

/* ---- bitmaps --------------------------------------------------------------------------------- */

/* @bits of @group's bitmap have been cleared (or set: then it is negative). */
static void count_free(struct ext2_fs *fs, enum ext2_kind kind, struct ext2_group *group,
		       struct buffer *bitmap, int bits, umode_t mode)
{
	struct ext2_group_descriptor *descriptor = group->descriptor;

	lockdep_assert_held(&group->lock);
	descriptor->free_count[kind] = (u16)(descriptor->free_count[kind] + bits);
	if (S_ISDIR(mode))
		descriptor->used_directories_count =
			(u16)(descriptor->used_directories_count - bits);
	atomic_add(bits, &fs->free[kind]);
	mark_buffer_dirty(group->descriptor_buffer);
	mark_buffer_dirty(bitmap);
}

/* Take a free bit of group @number, from @from on, then before it: its number in the file system;
 * -ENOSPC, -EIO... */
static s64 take_bit(struct ext2_fs *fs, enum ext2_kind kind, u32 number, u32 from, umode_t mode)
{
	struct ext2_group *group = &fs->groups[number];
	u32 start = number * fs->per_group[kind];
	u32 size = min(fs->per_group[kind], fs->count[kind] - start);

	guard(mutex, &group->lock);
	if (!group->descriptor->free_count[kind])
		return -ENOSPC;
	struct buffer *bitmap __free(buffer) = TRY_PTR(ext2_read(fs, group->bitmap[kind], GIVE_UP));
	u32 bit = (u32)find_next_zero_bit(bitmap->data, size, from);

	if (bit >= size)
		bit = (u32)find_next_zero_bit(bitmap->data, size, 0);
	start += fs->first[kind];
	if (bit >= size || (kind == EXT2_BLOCKS && !group_block_ok(fs, group, start + bit, bit)))
		return ext2_error(fs, "its bitmap and descriptor are wrong, of group", number);
	set_bit(bit, bitmap->data);
	count_free(fs, kind, group, bitmap, -1, mode);
	return (s64)start + bit;
}

/* The first one from @offset on, then before it. */
static s64 take_any(struct ext2_fs *fs, enum ext2_kind kind, u32 offset, umode_t mode)
{
	s64 error = -ENOSPC;

	if (offset >= fs->count[kind])
		offset = 0;
	for (u32 i = 0; i < fs->group_count; i++) {
		u32 group = offset / fs->per_group[kind];
		s64 number = take_bit(fs, kind, group, offset % fs->per_group[kind], mode);

		if (number >= 0)
			return number;
		if (number != -ENOSPC)
			error = number;
		offset = group + 1 < fs->group_count ? (group + 1) * fs->per_group[kind] : 0;
	}
	return error;
}

/* All that is free waits for a commit. Two may be needed; another may be faster. */
static noinline s64 commit_and_take(struct ext2_fs *fs, enum ext2_kind kind, u32 offset,
				    umode_t mode)
{
	s64 number = -ENOSPC;

	for (unsigned tries = 0; number == -ENOSPC && atomic_read(&fs->leaving[kind]) && tries < 4;
	     tries++) {
		(void)ext2_commit(fs);
		number = take_any(fs, kind, offset, mode);
	}
	return number;
}

/* Are the last blocks kept from the current process? */
static bool is_reserved(const struct ext2_fs *fs)
{
	const struct cred *cred = current->cred;

	return atomic_read(&fs->free[EXT2_BLOCKS]) + atomic_read(&fs->leaving[EXT2_BLOCKS]) <=
		       fs->layout.reserved_blocks_count &&
	       cred && cred->euid && cred->euid != fs->layout.default_reserved_uid;
}

s64 ext2_allocate(struct ext2_fs *fs, enum ext2_kind kind, u32 goal, umode_t mode)
{
	u32 offset = goal - fs->first[kind];

	if (kind == EXT2_BLOCKS && is_reserved(fs))
		return -ENOSPC;
	s64 number = take_any(fs, kind, offset, mode);
	if (unlikely(number == -ENOSPC))
		return commit_and_take(fs, kind, offset, mode);
	return number;
}

void ext2_free(struct ext2_fs *fs, enum ext2_kind kind, u32 number, u32 count, umode_t mode)
{
	u32 offset = number - fs->first[kind], per_group = fs->per_group[kind], part;

	for (; count; offset += part, count -= part) {
		u32 group = offset / per_group, bit = offset % per_group, freed = 0;

		part = min(count, per_group - bit);
		guard(mutex, &fs->groups[group].lock);
		struct buffer *bitmap __free(buffer) =
			ext2_read(fs, fs->groups[group].bitmap[kind], PATIENT);

		if (IS_ERR(bitmap)) {
			ext2_error(fs, "not everything could be freed in group", group);
			continue;
		}
		for (u32 i = bit; i < bit + part; i++)
			freed += test_and_clear_bit(i, bitmap->data);
		count_free(fs, kind, &fs->groups[group], bitmap, (int)freed, mode);
		if (freed != part)
			ext2_error(fs, "was free already: bit", bit);
	}
}

struct buffer *ext2_new_block(struct ext2_fs *fs, u32 goal)
{
	s64 block = ext2_allocate(fs, EXT2_BLOCKS, goal, NO_MODE);

	if (block < 0)
		return ERR_PTR(block);
	struct buffer *buffer = check_alias(fs, buffer_get(fs->sb->bdev, (u32)block));

	if (IS_ERR(buffer)) {
		ext2_free(fs, EXT2_BLOCKS, (u32)block, 1, NO_MODE);
		return buffer;
	}
	lock_buffer(buffer); /* after an old write of the block when it was something else */
	memset(buffer->data, 0, buffer->size);
	set_bit_release(B_UPTODATE, &buffer->flags);
	unlock_buffer(buffer);
	mark_buffer_ranked(buffer, RANK_FRESH);
	return buffer;
}

/* ---- inodes ---------------------------------------------------------------------------------- */

/* An inode that the bitmap said was free: may it be used? 0, -EUCLEAN, -EIO... */
static int must_be_free(struct ext2_fs *fs, u32 number)
{
	struct ext2_raw_inode *raw;
	struct buffer *buffer __free(buffer) = TRY_PTR(ext2_read_raw(fs, number, &raw, GIVE_UP));

	if (number >= fs->layout.first_inode && (!raw->links_count || raw->dtime))
		return 0;
	return ext2_error(fs, "its bitmap says free, but in use is inode", number);
}

/* For a directory: of the groups with no fewer free inodes than others, that with most free blocks.
 */
static u32 emptiest_group(const struct ext2_fs *fs)
{
	s64 average = atomic_read(&fs->free[EXT2_INODES]) / fs->group_count;
	const u16 *best = NULL, *count;
	u32 found = 0;

	for (u32 i = 0; i < fs->group_count; i++) {
		count = fs->groups[i].descriptor->free_count; /* a hint: not locked */
		if (READ_ONCE(count[EXT2_INODES]) >= average &&
		    (!best || READ_ONCE(count[EXT2_BLOCKS]) > READ_ONCE(best[EXT2_BLOCKS]))) {
			best = count;
			found = i;
		}
	}
	return found;
}

struct inode *ext2_new_inode(struct inode *dir, umode_t mode)
{
	struct inode *inode = new_inode(dir->sb);

	if (!inode)
		return ERR_PTR(-ENOMEM);
	struct ext2_fs *fs = EXT2_FS(dir->sb);
	u32 group = S_ISDIR(mode) ? emptiest_group(fs) : ext2_inode_group(dir);
	s64 number = ext2_allocate(fs, EXT2_INODES, group * fs->per_group[EXT2_INODES] + 1, mode);
	int error = number < 0 ? (int)number : must_be_free(fs, (u32)number);

	if (error) { /* one that is in use stays marked so: the next call finds another */
		if (number >= 0 && error != -EUCLEAN)
			ext2_free(fs, EXT2_INODES, (u32)number, 1, mode);
		iput(inode);
		return ERR_PTR(error);
	}
	inode->nlink = 0;
	atomic_add(1, &fs->nameless);
	inode->number = (ino_t)number;
	EXT2_I(inode)->born = buffers_stamp();
	inode_init_owner(inode, dir, mode);
	inode->generation = (u32)random_u64();
	ext2_set_operations(inode);
	insert_inode_hash(inode);
	error = if_labels(label_made(inode));
	return error ? ERR_PTR(error) : inode;
}
