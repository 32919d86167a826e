/*
 * inode.c - inodes between the inode cache and the inode table: reading, writing, deleting. See
 * ext2.h.
 *
 * What is read is checked before it is believed: number, type, link count, size against type. A
 * file that is in use keeps what was checked; its block pointers are checked when they are followed
 * (map.c).
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/string.h"

/* Does data[] hold block pointers? (Not in devices and fast symbolic links.) */
static bool has_blocks(const struct inode *inode)
{
	return S_ISREG(inode->mode) || S_ISDIR(inode->mode) ||
	       (S_ISLNK(inode->mode) && !inode->link);
}

/* The buffer with the inode's entry in the table, and the entry. */
static struct buffer *read_raw(struct ext2_fs *fs, u32 number, struct ext2_raw_inode **raw)
{
	u32 group = (number - 1) / fs->inodes_per_group,
	    index = (number - 1) % fs->inodes_per_group;
	u64 offset = (u64)index * fs->inode_size;
	struct buffer *buffer = bread(fs->sb->bdev, fs->groups[group].inode_table +
							    (u32)(offset >> fs->block_shift));

	if (!IS_ERR(buffer))
		*raw = (void *)((char *)buffer->data + (offset & ((1u << fs->block_shift) - 1)));
	return buffer;
}

/* ---- times ----------------------------------------------------------------------------------- */

static struct timespec64 decode_time(u32 seconds, u32 extra)
{
	struct timespec64 time = {(s32)seconds, extra >> 2};

	time.tv_sec += (time64_t)(extra & 3) << 32;
	if (time.tv_nsec >= (s64)NSEC_PER_SEC)
		time.tv_nsec = 0;
	return time;
}

static u32 encode_extra(struct timespec64 time)
{
	return (u32)time.tv_nsec << 2 | ((u32)((time.tv_sec - (s32)time.tv_sec) >> 32) & 3);
}

static bool has_extra_times(const struct ext2_fs *fs, const struct ext2_inode *ei)
{
	return ei->extra_size >= EXT2_EXTRA_TIMES &&
	       fs->inode_size >= EXT2_OLD_INODE_SIZE + EXT2_EXTRA_TIMES;
}

static void read_times(const struct ext2_fs *fs, struct inode *inode,
		       const struct ext2_raw_inode *raw)
{
	bool extra = has_extra_times(fs, EXT2_I(inode));

	inode->atime = decode_time(raw->atime, extra ? raw->atime_extra : 0);
	inode->mtime = decode_time(raw->mtime, extra ? raw->mtime_extra : 0);
	inode->ctime = decode_time(raw->ctime, extra ? raw->ctime_extra : 0);
}

static void write_times(const struct ext2_fs *fs, struct inode *inode, struct ext2_raw_inode *raw)
{
	raw->atime = (u32)inode->atime.tv_sec;
	raw->mtime = (u32)inode->mtime.tv_sec;
	raw->ctime = (u32)inode->ctime.tv_sec;
	if (!has_extra_times(fs, EXT2_I(inode)))
		return;
	raw->extra_size = EXT2_I(inode)->extra_size;
	raw->atime_extra = encode_extra(inode->atime);
	raw->mtime_extra = encode_extra(inode->mtime);
	raw->ctime_extra = encode_extra(inode->ctime);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Device numbers: the old form in data[0] when 8 bits suffice, else the new one in data[1]. */
static dev_t decode_dev(const u32 *data)
{
	if (data[0])
		return MKDEV((data[0] >> 8) & 0xff, data[0] & 0xff);
	return MKDEV((data[1] & 0xfff00) >> 8, (data[1] & 0xff) | ((data[1] >> 12) & 0xfff00));
}

void ext2_set_operations(struct inode *inode)
{
	struct ext2_inode *ei = EXT2_I(inode);

	if (S_ISREG(inode->mode)) {
		inode->op = &ext2_file_inode_operations;
		inode->fop = &ext2_file_operations;
		inode->data.ops = &ext2_mapping_operations;
	} else if (S_ISDIR(inode->mode)) {
		inode->op = &ext2_dir_inode_operations;
		inode->fop = &ext2_dir_operations;
	} else if (S_ISLNK(inode->mode)) {
		inode->link =
			inode->blocks <= (ei->attribute_block ? inode->sb->block_size / 512 : 0) &&
					inode->size < (loff_t)sizeof(ei->data)
				? (const char *)ei->data
				: NULL;
		inode->op = inode->link ? &ext2_fast_symlink_inode_operations
					: &ext2_symlink_inode_operations;
		inode->data.ops = &ext2_mapping_operations;
	} else {
		inode->op = &ext2_special_inode_operations;
		init_special_inode(inode, inode->mode, decode_dev(ei->data));
	}
}

/* Is the size one that an inode of this type may have? */
static bool size_ok(struct ext2_fs *fs, const struct inode *inode, u64 size)
{
	u32 block_size = 1u << fs->block_shift;
	u64 blocks = size >> fs->block_shift;

	if (S_ISDIR(inode->mode))
		return size && !(size & (block_size - 1)) && blocks <= fs->blocks_count &&
		       blocks <= inode->blocks >> (fs->block_shift - 9);
	if (S_ISLNK(inode->mode))
		return size && size < block_size;
	return (s64)size >= 0;
}

static bool mode_ok(u32 mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISCHR(mode) || S_ISBLK(mode) ||
	       S_ISFIFO(mode) || S_ISSOCK(mode);
}

static int decode(struct ext2_fs *fs, struct inode *inode, const struct ext2_raw_inode *raw)
{
	struct ext2_inode *ei = EXT2_I(inode);
	u64 size = raw->size;

	if (!raw->links_count || !mode_ok(raw->mode))
		return ext2_error(fs, "inode %llu: deleted, or of no known type, but has a name",
				  (unsigned long long)inode->number);
	inode->mode = raw->mode;
	inode->uid = raw->uid | (u32)raw->uid_high << 16;
	inode->gid = raw->gid | (u32)raw->gid_high << 16;
	inode->blocks = raw->blocks;
	inode->generation = raw->generation;
	if (S_ISREG(inode->mode))
		size |= (u64)raw->size_high << 32;
	if (!size_ok(fs, inode, size))
		return ext2_error(fs, "inode %llu: impossible size %llu",
				  (unsigned long long)inode->number, (unsigned long long)size);
	inode->size = (loff_t)size;
	ei->flags = raw->flags;
	ei->attribute_block = raw->attribute_block;
	ei->extra_size = fs->inode_size > EXT2_OLD_INODE_SIZE ? raw->extra_size : 0;
	memcpy(ei->data, raw->block, sizeof(ei->data));
	if (S_ISLNK(inode->mode) && size < sizeof(ei->data) &&
	    inode->blocks <= (ei->attribute_block ? inode->sb->block_size / 512 : 0))
		((char *)ei->data)[size] = 0;
	read_times(fs, inode, raw);
	inode->nlink = raw->links_count; /* last: an inode that failed must not look deleted */
	ext2_set_operations(inode);
	return 0;
}

struct inode *ext2_iget(struct super_block *sb, ino_t number)
{
	struct ext2_fs *fs = EXT2_FS(sb);
	struct ext2_raw_inode *raw;
	struct buffer *buffer;
	struct inode *inode;
	int error;

	if ((number != EXT2_ROOT_INODE && number < fs->first_inode) || number > fs->inodes_count)
		return ERR_PTR(ext2_error(fs, "inode number %llu out of range",
					  (unsigned long long)number));
	inode = iget_locked(sb, number);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	if (!(READ_ONCE(inode->flags) & I_NEW))
		return inode;
	buffer = read_raw(fs, (u32)number, &raw);
	error = PTR_ERR_OR_ZERO(buffer);
	if (!error) {
		error = decode(fs, inode, raw);
		brelse(buffer);
	}
	if (error) {
		iget_failed(inode);
		return ERR_PTR(error);
	}
	unlock_new_inode(inode);
	return inode;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void encode_dev(struct inode *inode, u32 *data)
{
	u32 major = MAJOR(inode->rdev), minor = MINOR(inode->rdev);

	memset(data, 0, sizeof(u32) * EXT2_POINTERS);
	if (major < 256)
		data[0] = major << 8 | minor;
	if (!data[0])
		data[1] = (minor & 0xff) | major << 8;
}

/* A file of 2 GB or more: older systems must know before they mount this read-write. */
static void note_large_file(struct ext2_fs *fs, const struct inode *inode)
{
	if (!S_ISREG(inode->mode) || inode->size <= 0x7fffffff ||
	    (fs->super->feature_ro_compat & EXT2_RO_LARGE_FILE))
		return;
	fs->super->feature_ro_compat |= EXT2_RO_LARGE_FILE;
	mark_buffer_dirty(fs->super_buffer);
}

static void encode(struct ext2_fs *fs, struct inode *inode, struct ext2_raw_inode *raw)
{
	struct ext2_inode *ei = EXT2_I(inode);
	u32 data[EXT2_POINTERS];

	raw->mode = (u16)inode->mode;
	raw->uid = (u16)inode->uid;
	raw->uid_high = (u16)(inode->uid >> 16);
	raw->gid = (u16)inode->gid;
	raw->gid_high = (u16)(inode->gid >> 16);
	raw->links_count = (u16)inode->nlink;
	raw->size = (u32)inode->size;
	if (S_ISREG(inode->mode))
		raw->size_high = (u32)((u64)inode->size >> 32);
	raw->blocks = (u32)inode->blocks;
	raw->dtime = ei->dtime;
	raw->flags = ei->flags;
	raw->generation = inode->generation;
	raw->attribute_block = ei->attribute_block;
	if (S_ISCHR(inode->mode) || S_ISBLK(inode->mode)) {
		encode_dev(inode, data);
		memcpy(raw->block, data, sizeof(raw->block));
	} else {
		memcpy(raw->block, ei->data, sizeof(raw->block));
	}
	write_times(fs, inode, raw);
	note_large_file(fs, inode);
}

int ext2_write_inode(struct inode *inode, bool wait)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	struct ext2_raw_inode *raw;
	struct buffer *buffer;
	int error = 0;

	if (inode->sb->flags & SB_RDONLY)
		return 0;
	buffer = read_raw(fs, (u32)inode->number, &raw);
	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	down_read(&ei->map_lock); /* pointers and block count belong together */
	if (raw->dtime || !raw->links_count) /* its first writing: what an older file left goes */
		memset(raw, 0, fs->inode_size);
	encode(fs, inode, raw);
	mark_buffer_dirty(buffer);
	up_read(&ei->map_lock);
	if (wait)
		error = sync_dirty_buffer(buffer);
	brelse(buffer);
	return error;
}

int ext2_sync_inode(struct inode *inode)
{
	int error = write_inode_now(inode), second;

	if (inode->sb->flags & SB_RDONLY)
		return error;
	second = has_blocks(inode) ? ext2_sync_indirect(inode) : 0;
	error = error ? error : second;
	second = ext2_write_inode(inode, true);
	return error ? error : second;
}

/* ---- deleting -------------------------------------------------------------------------------- */

#define ATTRIBUTE_MAGIC 0xea020000u

/* A block of extended attributes may be shared: its second word counts the inodes. */
static void free_attributes(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 block = EXT2_I(inode)->attribute_block, *header;
	struct buffer *buffer;
	unsigned tries = 0;

	EXT2_I(inode)->attribute_block = 0;
	do
		buffer = ext2_bread(fs, block);
	while (ext2_try_again(PTR_ERR(buffer), &tries));
	if (IS_ERR(buffer))
		return;
	header = buffer->data;
	if (header[0] != ATTRIBUTE_MAGIC) {
		ext2_error(fs, "inode %llu: block %u holds no attributes",
			   (unsigned long long)inode->number, block);
		brelse(buffer);
	} else if (header[1] > 1) {
		header[1]--;
		mark_buffer_dirty(buffer);
		brelse(buffer);
	} else {
		bforget(buffer);
		ext2_free_blocks(fs, block, 1);
	}
	inode->blocks -= min(inode->blocks, (u64)inode->sb->block_size / 512);
}

void ext2_evict_inode(struct inode *inode)
{
	unsigned tries = 0;

	if (inode->sb->flags & SB_RDONLY)
		return;
	EXT2_I(inode)->dtime = (u32)current_time().tv_sec;
	if (has_blocks(inode)) {
		inode->size = 0;
		ext2_truncate_blocks(inode, 0);
	}
	if (EXT2_I(inode)->attribute_block)
		free_attributes(inode);
	while (ext2_try_again(ext2_write_inode(inode, false), &tries))
		;
	ext2_free_inode(inode);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static int set_size(struct inode *inode, loff_t size)
{
	loff_t old = inode->size;
	int error = 0;

	if (size < old)
		error = block_truncate_page(inode, size, ext2_get_block);
	if (error)
		return error;
	WRITE_ONCE(inode->size, size);
	if (size < old) {
		truncate_inode_pages(&inode->data, size);
		ext2_truncate_blocks(inode, size);
	}
	mark_inode_dirty(inode);
	return 0;
}

int ext2_setattr(struct inode *inode, const struct iattr *attr)
{
	struct iattr rest = *attr;
	int error;

	if (attr->valid & ATTR_SIZE) {
		if (!S_ISREG(inode->mode))
			return S_ISDIR(inode->mode) ? -EISDIR : -EINVAL;
		error = set_size(inode, attr->size);
		if (error)
			return error;
	}
	rest.valid &= ~ATTR_SIZE;
	return simple_setattr(inode, &rest);
}
