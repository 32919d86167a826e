/*
 * dir.c - directories: blocks of variable-length entries that fill each block exactly. See ext2.h.
 *
 * Directory blocks are read through the buffer cache, as in Linux 2.2. Each entry is checked before
 * it is used: a record length that is too short, not a multiple of 4 or reaches out of the block, a
 * name that reaches out of its record, an inode number beyond the table. Removing an entry merges
 * it into the one before it; the first of a block is marked unused instead. Lookups begin at the
 * block of the last find, insertions at the first block that may have room.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/string.h"

static inline u32 block_count(const struct inode *dir)
{
	return (u32)((u64)dir->size >> EXT2_FS(dir->sb)->block_shift);
}

static inline struct ext2_dir_entry *entry_at(const struct buffer *buffer, u32 offset)
{
	return (struct ext2_dir_entry *)((char *)buffer->data + offset);
}

/* Block @index of @dir; a hole is damage. */
static struct buffer *read_block(struct inode *dir, u32 index)
{
	struct ext2_fs *fs = EXT2_FS(dir->sb);
	u64 block;
	int error = ext2_get_block(dir, index, &block, false, NULL);

	if (error)
		return ERR_PTR(error);
	if (!block)
		return ERR_PTR(ext2_error(fs, "directory %llu has a hole at block %u",
					  (unsigned long long)dir->number, index));
	return ext2_bread(fs, (u32)block);
}

/* Is the entry at @offset of the block sound, and room for another behind it, or the end? 0 or
 * -EUCLEAN. */
static inline int check_entry(struct inode *dir, const struct buffer *buffer, u32 offset)
{
	const struct ext2_dir_entry *entry = entry_at(buffer, offset);
	u32 length = entry->rec_len, end = offset + length;

	if (likely(length >= EXT2_DIR_REC_LEN(1) && !(length & 3) &&
		   (end == buffer->size || end + EXT2_DIR_REC_LEN(1) <= buffer->size) &&
		   EXT2_DIR_REC_LEN(entry->name_len) <= length &&
		   entry->inode <= EXT2_FS(dir->sb)->inodes_count))
		return 0;
	return ext2_error(
		EXT2_FS(dir->sb),
		"directory %llu: bad entry at block %llu, offset %u (inode %u, length %u)",
		(unsigned long long)dir->number, (unsigned long long)buffer->block, offset,
		entry->inode, length);
}

static inline bool matches(const struct ext2_dir_entry *entry, const char *name, unsigned length)
{
	return entry->name_len == length && entry->inode && memcmp(entry->name, name, length) == 0;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* The entry in one block: 1 found (*@offset, *@previous: offset of the one before, or itself), 0 or
 * -errno. */
static int find_in_block(struct inode *dir, const struct buffer *buffer, const char *name,
			 unsigned length, u32 *offset, u32 *previous)
{
	u32 at = 0, before = 0;

	while (at < buffer->size) {
		const struct ext2_dir_entry *entry = entry_at(buffer, at);

		if (unlikely(check_entry(dir, buffer, at)))
			return -EUCLEAN;
		if (matches(entry, name, length)) {
			*offset = at;
			*previous = before;
			return 1;
		}
		before = at;
		at += entry->rec_len;
	}
	return 0;
}

/* The block with the entry, referenced; NULL when there is none; ERR_PTR. */
static struct buffer *find_entry(struct inode *dir, const char *name, unsigned length, u32 *offset,
				 u32 *previous)
{
	u32 count = block_count(dir), index = EXT2_I(dir)->lookup_hint;
	struct buffer *buffer;
	int found;

	for (u32 i = 0; i < count; i++, index++) {
		if (index >= count)
			index = 0;
		buffer = read_block(dir, index);
		if (IS_ERR(buffer))
			return buffer;
		found = find_in_block(dir, buffer, name, length, offset, previous);
		if (found > 0) {
			EXT2_I(dir)->lookup_hint = index;
			return buffer;
		}
		brelse(buffer);
		if (found < 0)
			return ERR_PTR(found);
	}
	return NULL;
}

int ext2_find_entry(struct inode *dir, const char *name, unsigned length, u32 *number)
{
	u32 offset, previous;
	struct buffer *buffer = find_entry(dir, name, length, &offset, &previous);

	*number = 0;
	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	if (buffer)
		*number = entry_at(buffer, offset)->inode;
	brelse(buffer);
	return 0;
}

int ext2_parent_number(struct inode *dir, u32 *number)
{
	struct buffer *buffer = read_block(dir, 0);
	struct ext2_dir_entry *entry;
	int error;

	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	error = check_entry(dir, buffer, 0);
	if (!error) {
		u32 offset = entry_at(buffer, 0)->rec_len;

		error = offset < buffer->size ? check_entry(dir, buffer, offset) : -EUCLEAN;
		entry = entry_at(buffer, offset);
		if (!error && matches(entry, "..", 2))
			*number = entry->inode;
		else
			error = ext2_error(EXT2_FS(dir->sb), "directory %llu has no '..'",
					   (unsigned long long)dir->number);
	}
	brelse(buffer);
	return error;
}

/* ---- changing -------------------------------------------------------------------------------- */

static u8 type_of(const struct inode *inode)
{
	static const u8 types[16] = {[S_DT(S_IFREG)] = 1, [S_DT(S_IFDIR)] = 2, [S_DT(S_IFCHR)] = 3,
				     [S_DT(S_IFBLK)] = 4, [S_DT(S_IFIFO)] = 5, [S_DT(S_IFSOCK)] = 6,
				     [S_DT(S_IFLNK)] = 7};

	return ext2_feature_incompat(EXT2_FS(inode->sb), EXT2_INCOMPAT_FILETYPE)
		       ? types[S_DT(inode->mode)]
		       : 0;
}

static void changed(struct inode *dir, struct buffer *buffer)
{
	mark_buffer_dirty(buffer);
	dir->mtime = dir->ctime = current_time();
	EXT2_I(dir)->flags &= ~EXT2_FL_INDEX; /* its hash tree is not kept up */
	mark_inode_dirty(dir);
}

static void fill_entry(struct ext2_dir_entry *entry, u32 rec_len, const char *name, unsigned length,
		       const struct inode *inode)
{
	entry->rec_len = (u16)rec_len;
	entry->name_len = (u8)length;
	entry->inode = (u32)inode->number;
	entry->file_type = type_of(inode);
	memcpy(entry->name, name, length);
}

/* Put the entry into a gap of the block: 1 done, 0 no room, -errno. */
static int add_to_block(struct inode *dir, struct buffer *buffer, const char *name, unsigned length,
			struct inode *inode)
{
	u32 needed = EXT2_DIR_REC_LEN(length);

	for (u32 at = 0; at < buffer->size; at += entry_at(buffer, at)->rec_len) {
		struct ext2_dir_entry *entry = entry_at(buffer, at);
		u32 used;

		if (check_entry(dir, buffer, at))
			return -EUCLEAN;
		used = entry->inode ? EXT2_DIR_REC_LEN(entry->name_len) : 0;
		if (entry->rec_len < used + needed)
			continue;
		if (used) {
			u32 rest = entry->rec_len - used;

			entry->rec_len = (u16)used;
			fill_entry(entry_at(buffer, at + used), rest, name, length, inode);
		} else {
			fill_entry(entry, entry->rec_len, name, length, inode);
		}
		changed(dir, buffer);
		return 1;
	}
	return 0;
}

/* A new last block, cleared to one unused entry. */
static struct buffer *append_block(struct inode *dir)
{
	struct ext2_fs *fs = EXT2_FS(dir->sb);
	struct buffer *buffer;
	bool fresh;
	u64 block;
	int error;

	if ((u64)dir->size >= MB(1024))
		return ERR_PTR(-ENOSPC);
	error = ext2_get_block(dir, block_count(dir), &block, true, &fresh);
	if (error)
		return ERR_PTR(error);
	buffer = buffer_get(fs->sb->bdev, block);
	if (IS_ERR(buffer)) {
		ext2_truncate_blocks(dir, dir->size);
		return buffer;
	}
	if (test_bit(B_ALIAS, &buffer->flags)) {
		brelse(buffer);
		return ERR_PTR(ext2_error(fs, "block %llu is free and a file's contents",
					  (unsigned long long)block));
	}
	wait_on_buffer(buffer);
	memset(buffer->data, 0, buffer->size);
	entry_at(buffer, 0)->rec_len = (u16)buffer->size;
	set_buffer_uptodate(buffer);
	mark_buffer_dirty(buffer);
	dir->size += buffer->size;
	mark_inode_dirty(dir);
	return buffer;
}

int ext2_add_entry(struct inode *dir, const char *name, unsigned length, struct inode *inode)
{
	struct ext2_inode *ei = EXT2_I(dir);
	struct buffer *buffer;
	int done = 0;

	for (u32 index = ei->insert_hint; index < block_count(dir); index++) {
		buffer = read_block(dir, index);
		if (IS_ERR(buffer))
			return (int)PTR_ERR(buffer);
		done = add_to_block(dir, buffer, name, length, inode);
		brelse(buffer);
		if (done) {
			ei->insert_hint = length <= 32 ? index : ei->insert_hint;
			return done < 0 ? done : 0;
		}
	}
	buffer = append_block(dir);
	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	done = add_to_block(dir, buffer, name, length, inode);
	brelse(buffer);
	return done < 0 ? done : 0;
}

int ext2_delete_entry(struct inode *dir, const char *name, unsigned length)
{
	u32 offset, previous;
	struct buffer *buffer = find_entry(dir, name, length, &offset, &previous);
	struct ext2_dir_entry *entry;

	if (IS_ERR_OR_NULL(buffer))
		return buffer ? (int)PTR_ERR(buffer) : -ENOENT;
	entry = entry_at(buffer, offset);
	if (previous != offset)
		entry_at(buffer, previous)->rec_len =
			(u16)(entry_at(buffer, previous)->rec_len + entry->rec_len);
	entry->inode = 0;
	EXT2_I(dir)->insert_hint = min(EXT2_I(dir)->insert_hint, EXT2_I(dir)->lookup_hint);
	changed(dir, buffer);
	brelse(buffer);
	return 0;
}

int ext2_set_entry(struct inode *dir, const char *name, unsigned length, struct inode *inode)
{
	u32 offset, previous;
	struct buffer *buffer = find_entry(dir, name, length, &offset, &previous);

	if (IS_ERR_OR_NULL(buffer))
		return buffer ? (int)PTR_ERR(buffer) : -ENOENT;
	entry_at(buffer, offset)->inode = (u32)inode->number;
	entry_at(buffer, offset)->file_type = type_of(inode);
	changed(dir, buffer);
	brelse(buffer);
	return 0;
}

int ext2_make_empty(struct inode *dir, struct inode *parent)
{
	struct buffer *buffer = append_block(dir);

	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	fill_entry(entry_at(buffer, 0), EXT2_DIR_REC_LEN(1), ".", 1, dir);
	fill_entry(entry_at(buffer, EXT2_DIR_REC_LEN(1)), buffer->size - EXT2_DIR_REC_LEN(1), "..",
		   2, parent);
	changed(dir, buffer);
	brelse(buffer);
	return 0;
}

static bool is_dot(const struct ext2_dir_entry *entry)
{
	return entry->name[0] == '.' &&
	       (entry->name_len == 1 || (entry->name_len == 2 && entry->name[1] == '.'));
}

int ext2_empty_dir(struct inode *dir)
{
	for (u32 index = 0; index < block_count(dir); index++) {
		struct buffer *buffer = read_block(dir, index);
		int error = 0;

		if (IS_ERR(buffer))
			return (int)PTR_ERR(buffer);
		for (u32 at = 0; at < buffer->size && !error; at += entry_at(buffer, at)->rec_len) {
			error = check_entry(dir, buffer, at);
			if (!error && entry_at(buffer, at)->inode && !is_dot(entry_at(buffer, at)))
				error = -ENOTEMPTY;
		}
		brelse(buffer);
		if (error)
			return error;
	}
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static unsigned d_type(const struct ext2_fs *fs, const struct ext2_dir_entry *entry)
{
	static const u8 types[] = {DT_UNKNOWN, DT_REG,	DT_DIR,	 DT_CHR,
				   DT_BLK,     DT_FIFO, DT_SOCK, DT_LNK};

	return ext2_feature_incompat(fs, EXT2_INCOMPAT_FILETYPE) &&
			       entry->file_type < ARRAY_SIZE(types)
		       ? types[entry->file_type]
		       : DT_UNKNOWN;
}

/* Emit the entries from offset @start on, which may have stopped to be a boundary: 1 all, 0 stop,
 * -errno. */
static int emit_block(struct inode *dir, struct dir_context *context, struct buffer *buffer,
		      u32 start, loff_t base)
{
	struct ext2_fs *fs = EXT2_FS(dir->sb);
	const struct ext2_dir_entry *entry;

	for (u32 at = 0; at < buffer->size; at += entry->rec_len) {
		entry = entry_at(buffer, at);
		if (unlikely(check_entry(dir, buffer, at)))
			return -EUCLEAN;
		if (at < start)
			continue;
		context->position = base + at;
		if (entry->inode && !context->emit(context, entry->name, entry->name_len,
						   entry->inode, d_type(fs, entry)))
			return 0;
		context->position = base + at + entry->rec_len;
	}
	return 1;
}

static int ext2_iterate(struct file *file, struct dir_context *context)
{
	struct inode *dir = file->inode;
	unsigned shift = EXT2_FS(dir->sb)->block_shift;
	int more = 1;

	while (more > 0 && context->position >= 0 && context->position < dir->size) {
		u32 index = (u32)((u64)context->position >> shift);
		u32 start = (u32)context->position & ((1u << shift) - 1);
		struct buffer *buffer = read_block(dir, index);

		if (IS_ERR(buffer))
			return (int)PTR_ERR(buffer);
		more = emit_block(dir, context, buffer, start, (loff_t)index << shift);
		brelse(buffer);
		if (more > 0)
			context->position = (loff_t)(index + 1) << shift;
	}
	return more < 0 ? more : 0;
}

const struct file_operations ext2_dir_operations = {
	.llseek = generic_file_llseek,
	.iterate = ext2_iterate,
	.fsync = ext2_fsync,
};
