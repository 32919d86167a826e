/*
 * alloc.c - which blocks and inodes are free: the bitmaps, their counts, and where a new inode
 * goes. See ext2.h.
 *
 * Blocks and inodes are taken and given back alike: a bit of a group's bitmap, a count in its
 * descriptor, a total. A block bitmap is checked when it is first read (B_CHECKED on its buffer):
 * the bits of the group's own tables must be set, so a damaged one can never hand them out. A group
 * whose bitmap is bad counts as full.
 *
 * A file goes into its directory's group, or the next one with room, so that a directory's files
 * lie together. Directories are spread over the groups at the top of the tree and kept near their
 * parent below.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/random.h"

bool ext2_block_ok(const struct ext2_fs *fs, u32 block)
{
	u32 offset = block - fs->first[EXT2_BLOCKS];
	const struct ext2_group *group;

	if (offset >= fs->count[EXT2_BLOCKS])
		return false;
	group = &fs->groups[offset / fs->per_group[EXT2_BLOCKS]];
	return offset % fs->per_group[EXT2_BLOCKS] >= group->system_blocks &&
	       block != group->bitmap[EXT2_BLOCKS] && block != group->bitmap[EXT2_INODES] &&
	       block - group->inode_table >= fs->inode_table_blocks;
}

struct buffer *ext2_read(struct ext2_fs *fs, u32 block, bool patient)
{
	struct buffer *buffer = bread(fs->sb->bdev, block);

	for (unsigned tries = 0; patient && buffer == ERR_PTR(-ENOMEM) && tries < 1000; tries++) {
		sleep_ns(10 * NSEC_PER_MSEC);
		buffer = bread(fs->sb->bdev, block);
	}
	return buffer;
}

/* A file page may not share its block with metadata. */
static struct buffer *check_alias(struct ext2_fs *fs, struct buffer *buffer)
{
	u64 block;

	if (likely(IS_ERR(buffer) || !test_bit(B_ALIAS, &buffer->flags)))
		return buffer;
	block = buffer->block;
	brelse(buffer);
	return ERR_PTR(ext2_error(fs, "metadata in a file's block", block));
}

struct buffer *ext2_bread(struct ext2_fs *fs, u32 block, bool patient)
{
	if (unlikely(!ext2_block_ok(fs, block)))
		return ERR_PTR(ext2_error(fs, "block number out of range", block));
	return check_alias(fs, ext2_read(fs, block, patient));
}

struct buffer *ext2_clear_block(struct ext2_fs *fs, u32 block)
{
	struct buffer *buffer = check_alias(fs, buffer_get(fs->sb->bdev, block));

	if (IS_ERR(buffer))
		return buffer;
	wait_on_buffer(buffer); /* an old write of the block when it was something else */
	memset(buffer->data, 0, buffer->size);
	set_buffer_uptodate(buffer);
	mark_buffer_dirty(buffer);
	return buffer;
}

/* ---- bitmaps --------------------------------------------------------------------------------- */

/* Are the bits of the group's own tables set? */
static bool system_bits_set(const struct ext2_fs *fs, u32 number, const unsigned long *map)
{
	const struct ext2_group *group = &fs->groups[number];
	u32 start = fs->first[EXT2_BLOCKS] + number * fs->per_group[EXT2_BLOCKS];
	u32 table = group->inode_table - start, table_end = table + fs->inode_table_blocks;

	return find_next_zero_bit(map, group->system_blocks, 0) >= group->system_blocks &&
	       test_bit(group->bitmap[EXT2_BLOCKS] - start, map) &&
	       test_bit(group->bitmap[EXT2_INODES] - start, map) &&
	       find_next_zero_bit(map, table_end, table) >= table_end;
}

static struct buffer *read_bitmap(struct ext2_fs *fs, enum ext2_kind kind, u32 group, bool patient)
{
	struct buffer *buffer = ext2_read(fs, fs->groups[group].bitmap[kind], patient);

	if (IS_ERR(buffer) || likely(test_bit(B_CHECKED, &buffer->flags)))
		return buffer;
	if (kind == EXT2_BLOCKS && !system_bits_set(fs, group, buffer->data)) {
		brelse(buffer);
		return ERR_PTR(ext2_error(fs, "damaged block bitmap, of group", group));
	}
	set_bit(B_CHECKED, &buffer->flags);
	return buffer;
}

/* @bits of @group's bitmap have been cleared (or set: then it is negative). */
static void count_free(struct ext2_fs *fs, enum ext2_kind kind, struct ext2_group *group,
		       struct buffer *bitmap, int bits, bool directory)
{
	struct ext2_group_descriptor *descriptor = group->descriptor;

	descriptor->free_count[kind] = (u16)(descriptor->free_count[kind] + bits);
	if (directory)
		descriptor->used_directories_count =
			(u16)(descriptor->used_directories_count - bits);
	atomic_add(bits, &fs->free[kind]);
	mark_buffer_dirty(group->descriptor_buffer);
	mark_buffer_dirty(bitmap);
}

/* Take a free bit of group @number, from @from on, then before it: the bit; -ENOSPC, -EIO... */
static s64 take_bit(struct ext2_fs *fs, enum ext2_kind kind, u32 number, u32 from, bool directory)
{
	struct ext2_group *group = &fs->groups[number];
	u32 per_group = fs->per_group[kind];
	u32 size = min(per_group, fs->count[kind] - number * per_group), bit;
	struct buffer *bitmap __free(buffer) = NULL;

	guard(mutex, &group->lock);
	if (!group->descriptor->free_count[kind])
		return -ENOSPC;
	bitmap = read_bitmap(fs, kind, number, false);
	if (IS_ERR(bitmap))
		return PTR_ERR(bitmap);
	bit = (u32)find_next_zero_bit(bitmap->data, size, from);
	if (bit >= size) {
		bit = (u32)find_next_zero_bit(bitmap->data, from, 0);
		if (bit >= from) {
			ext2_error(fs, "nothing free, in spite of its descriptor, in group",
				   number);
			return -ENOSPC;
		}
	}
	__set_bit(bit, bitmap->data);
	count_free(fs, kind, group, bitmap, -1, directory);
	return bit;
}

u32 ext2_allocate(struct ext2_fs *fs, enum ext2_kind kind, u32 goal, bool directory, int *error)
{
	u32 offset = goal - fs->first[kind], per_group = fs->per_group[kind];
	const struct cred *cred = current->cred;

	*error = -ENOSPC;
	if (kind == EXT2_BLOCKS && atomic_read(&fs->free[kind]) <= fs->reserved_blocks && cred &&
	    cred->fsuid && cred->fsuid != fs->super->default_reserved_uid)
		return 0;
	if (offset >= fs->count[kind])
		offset = 0;
	for (u32 i = 0; i < fs->group_count; i++) {
		u32 number = offset / per_group;
		s64 bit = take_bit(fs, kind, number, offset % per_group, directory);

		if (bit >= 0)
			return fs->first[kind] + number * per_group + (u32)bit;
		if (bit != -ENOSPC)
			*error = (int)bit;
		offset = number + 1 < fs->group_count ? (number + 1) * per_group : 0;
	}
	return 0;
}

void ext2_free(struct ext2_fs *fs, enum ext2_kind kind, u32 number, u32 count, bool directory)
{
	u32 offset = number - fs->first[kind], per_group = fs->per_group[kind], part;

	for (; count; offset += part, count -= part) {
		u32 group = offset / per_group, bit = offset % per_group, freed = 0;
		struct buffer *bitmap __free(buffer) = NULL;

		part = min(count, per_group - bit);
		guard(mutex, &fs->groups[group].lock);
		bitmap = read_bitmap(fs, kind, group, true);
		if (IS_ERR(bitmap)) {
			ext2_error(fs, "not everything could be freed in group", group);
			continue;
		}
		for (u32 i = bit; i < bit + part; i++)
			freed += __test_and_clear_bit(i, bitmap->data);
		count_free(fs, kind, &fs->groups[group], bitmap, (int)freed, directory);
		if (freed != part)
			ext2_error(fs, "was free already: bit", bit);
	}
}

/* ---- inodes ---------------------------------------------------------------------------------- */

/* Where a top-level directory goes: to the group with most free blocks that has inodes. */
static u32 spread_group(struct ext2_fs *fs)
{
	u32 best = 0, most = 0;

	for (u32 group = 0; group < fs->group_count; group++) {
		const u16 *free = fs->groups[group].descriptor->free_count;

		if (free[EXT2_INODES] && free[EXT2_BLOCKS] > most) {
			most = free[EXT2_BLOCKS];
			best = group;
		}
	}
	return best;
}

/* An inode that the bitmap said was free: may it be used? 0, 1 or -errno. */
static int in_use(struct ext2_fs *fs, u32 number)
{
	struct ext2_raw_inode *raw;
	struct buffer *buffer __free(buffer) = ext2_read_raw(fs, number, &raw, false);

	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	if (number >= fs->first_inode && (!raw->links_count || raw->dtime))
		return 0;
	ext2_error(fs, "its bitmap says free, but in use is inode", number);
	return 1;
}

static u32 new_number(struct inode *dir, bool directory, int *error)
{
	struct ext2_fs *fs = EXT2_FS(dir->sb);
	bool top = directory && dir->number == EXT2_ROOT_INODE;
	u32 group = top ? spread_group(fs) : ext2_inode_group(dir), number;
	int used;

	do {
		number = ext2_allocate(fs, EXT2_INODES, group * fs->per_group[EXT2_INODES] + 1,
				       directory, error);
		used = number ? in_use(fs, number) : 0;
	} while (used > 0);
	if (!used)
		return number;
	ext2_free(fs, EXT2_INODES, number, 1, directory);
	*error = used;
	return 0;
}

struct inode *ext2_new_inode(struct inode *dir, umode_t mode)
{
	struct inode *inode = new_inode(dir->sb);
	int error;

	if (!inode)
		return ERR_PTR(-ENOMEM);
	inode->number = new_number(dir, S_ISDIR(mode), &error);
	inode->nlink = 1;
	if (!inode->number) {
		iput(inode);
		return ERR_PTR(error);
	}
	if (EXT2_FS(dir->sb)->inode_size >= EXT2_OLD_INODE_SIZE + EXT2_EXTRA_SIZE)
		EXT2_I(inode)->extra_size = EXT2_EXTRA_SIZE;
	inode_init_owner(inode, dir, mode);
	inode->generation = (u32)random_u64();
	ext2_set_operations(inode);
	insert_inode_hash(inode);
	mark_inode_dirty(inode);
	return inode;
}
