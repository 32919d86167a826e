/*
 * dir.c - directories: blocks of variable-length entries that fill each block exactly; finding,
 * adding and changing entries, and the operations that only read. What is done to names: names.c.
 *
 * Directory blocks are read through the buffer cache, as in Linux 2.2. Each entry is checked before
 * it is used: a record length that is too short, not a multiple of 4 or reaches out of the block, a
 * name that reaches out of its record, an inode number beyond the table. Removing an entry merges
 * it into the one before it; the first of a block is marked unused instead. Lookups begin at the
 * block of the last find, insertions at the first block that may have room.
 *
 * All run under the directories' inode->lock; the VFS has checked permissions and existence. A
 * directory has one name, and its ".." must say in which directory: lookup checks that, so that
 * directories which lie in a circle on a damaged disk are not reachable.
 */
#include "fs/ext2/dir.h"
#include "fs/inode/times.h"

/* ---- entries --------------------------------------------------------------------------------- */

static inline u32 block_count(const struct inode *dir)
{
	return (u32)((u64)dir->data.size >> EXT2_FS(dir->sb)->block_shift);
}

static inline struct cursor cursor_at(struct inode *dir, u32 block, u32 left)
{
	return (struct cursor){.dir = dir, .block = block, .left = left};
}

static inline struct ext2_dir_entry *entry_at(const struct buffer *buffer, u32 offset)
{
	return (struct ext2_dir_entry *)((char *)buffer->data + offset);
}

/* Is the entry sound, and room for another behind it, or the end? */
static inline bool entry_ok(const struct cursor *cursor, const struct ext2_dir_entry *entry)
{
	u32 length = entry->rec_len, end = cursor->next + length, size = cursor->buffer->size;

	return length >= EXT2_DIR_REC_LEN(1) && !(length & 3) &&
	       (end == size || end + EXT2_DIR_REC_LEN(1) <= size) &&
	       EXT2_DIR_REC_LEN(entry->name_len) <= length &&
	       entry->inode <= EXT2_FS(cursor->dir->sb)->count[EXT2_INODES];
}

/* Go to the beginning of the next block, over the last to the first one: 1, 0 when there is none
 * left, or -errno. */
static noinline int next_block(struct cursor *cursor)
{
	if (cursor->buffer) {
		brelse(cursor->buffer);
		cursor->buffer = NULL;
		cursor->block++;
		cursor->left--;
	}
	if (!cursor->left)
		return 0;
	if (cursor->block >= block_count(cursor->dir))
		cursor->block = 0;
	cursor->buffer = TRY_PTR(ext2_inode_block(cursor->dir, cursor->block, FIND));
	cursor->at = cursor->next = 0;
	return 1;
}

/* On to the next entry, checked: 1, 0 when there are no more, or -errno. */
static inline int next_entry(struct cursor *cursor)
{
	if ((!cursor->buffer || cursor->next >= cursor->buffer->size) && !TRY(next_block(cursor)))
		return 0;
	cursor->entry = entry_at(cursor->buffer, cursor->next);
	if (unlikely(!entry_ok(cursor, cursor->entry)))
		return ext2_error(EXT2_FS(cursor->dir->sb), "bad entry in directory",
				  cursor->dir->number);
	cursor->at = cursor->next;
	cursor->next += cursor->entry->rec_len;
	return 1;
}

static inline bool matches(const struct ext2_dir_entry *entry, const char *name, unsigned length)
{
	return entry->name_len == length && entry->inode && memcmp(entry->name, name, length) == 0;
}

const struct dentry ext2_parent_entry = {.name = "..", .name_length = 2};

/* Go to the entry of @dentry's name: 0, -ENOENT, or what went wrong. */
int ext2_find_entry(struct cursor *cursor, struct inode *dir, const struct dentry *dentry)
{
	*cursor = cursor_at(dir, EXT2_I(dir)->lookup_hint, block_count(dir));
	while (TRY(next_entry(cursor)))
		if (matches(cursor->entry, dentry->name, dentry->name_length)) {
			EXT2_I(dir)->lookup_hint = cursor->block;
			return 0;
		}
	if (dentry == &ext2_parent_entry)
		return ext2_error(EXT2_FS(dir->sb), "no '..' in directory", dir->number);
	return -ENOENT;
}

/* The inode number of such an entry, or -errno. */
static s64 entry_number(struct inode *dir, const struct dentry *dentry)
{
	struct cursor cursor __free(cursor) = {};

	TRY(ext2_find_entry(&cursor, dir, dentry));
	return cursor.entry->inode;
}

/* ---- changing entries ------------------------------------------------------------------------ */

const u8 ext2_types[8] = {DT_UNKNOWN, DT_REG, DT_DIR, DT_CHR, DT_BLK, DT_FIFO, DT_SOCK, DT_LNK};

/* The entry has changed: its block is dirty, and its hash tree, which is not kept up, is gone. The
 * caller makes the inode dirty after that. */
static void entry_changed(struct cursor *cursor, enum buffer_rank rank)
{
	mark_buffer_ranked(cursor->buffer, rank);
	EXT2_I(cursor->dir)->flags &= ~EXT2_FL_INDEX;
}

/* The same, of a name: the directory has new times. */
void ext2_name_changed(struct cursor *cursor, enum buffer_rank rank)
{
	entry_changed(cursor, rank);
	file_update_time(cursor->dir);
}

/* Go to a new last block, of one unused entry. */
static int append_block(struct cursor *cursor)
{
	struct inode *dir = cursor->dir;

	if ((u64)dir->data.size >= MB(1024))
		return -ENOSPC;
	cursor->buffer = TRY_PTR(ext2_inode_block(dir, block_count(dir), CREATE));
	cursor->entry = entry_at(cursor->buffer, 0);
	cursor->entry->inode = 0; /* there may have been one, behind the end of a damaged one */
	cursor->entry->rec_len = (u16)cursor->buffer->size;
	dir->data.size += cursor->buffer->size;
	return 0;
}

/* *@cursor is where @dentry's name, which is @inode's, has been put. */
int ext2_add_entry(struct cursor *cursor, struct inode *dir, struct dentry *dentry,
		     struct inode *inode)
{
	struct ext2_inode *ei = EXT2_I(dir);
	u32 needed = EXT2_DIR_REC_LEN(dentry->name_length), used;

	lockdep_assert_held(&dir->lock);
	*cursor = cursor_at(dir, ei->insert_hint, block_count(dir) - ei->insert_hint);
	do {
		if (!TRY(next_entry(cursor)))
			TRY(append_block(cursor) ?: ext2_write_inode(dir));
		used = cursor->entry->inode ? EXT2_DIR_REC_LEN(cursor->entry->name_len) : 0;
	} while (cursor->entry->rec_len < used + needed);
	if (dentry->name_length <= 32)
		ei->insert_hint = cursor->block;
	needed = cursor->entry->rec_len - used;
	guard(read, &ranks_lock);
	wait_on_buffer(cursor->buffer);
	if (used)
		cursor->entry->rec_len = (u16)used;
	ext2_fill_entry((void *)((char *)cursor->entry + used), needed, dentry->name,
			dentry->name_length, inode);
	ext2_name_changed(cursor, RANK_NAMES);
	/* cursor->at is not where the entry is if that is in a new block */
	child_placed(dentry, cursor->block,
		     (u32)((char *)cursor->entry - (char *)cursor->buffer->data) + used);
	return 0;
}

/* The entry found becomes @inode's. The directory's times are the caller's. */
void ext2_set_entry(struct cursor *cursor, struct inode *inode, enum buffer_rank rank)
{
	lockdep_assert_held(&cursor->dir->lock);
	guard(read, &ranks_lock);
	wait_on_buffer(cursor->buffer);
	ext2_set_inode(cursor->entry, inode);
	entry_changed(cursor, rank);
}

/* The entry found goes, into the one before it, which is looked for anew: entries may have been
 * added to the block since. */
void ext2_remove_entry(struct cursor *cursor, enum buffer_rank rank)
{
	struct ext2_inode *ei = EXT2_I(cursor->dir);
	u32 before = 0, next;

	lockdep_assert_held(&cursor->dir->lock);
	guard(read, &ranks_lock);
	wait_on_buffer(cursor->buffer);
	while ((next = before + entry_at(cursor->buffer, before)->rec_len) < cursor->at &&
	       next > before) /* which only who writes to the disk itself makes untrue */
		before = next;
	if (cursor->at)
		entry_at(cursor->buffer, before)->rec_len += cursor->entry->rec_len;
	cursor->entry->inode = 0;
	ei->insert_hint = min(ei->insert_hint, cursor->block);
	ext2_name_changed(cursor, rank);
}

/* ---- whole directories ----------------------------------------------------------------------- */

int ext2_make_empty(struct inode *dir, struct inode *parent)
{
	struct cursor cursor __free(cursor) = cursor_at(dir, 0, 0);
	u32 length = EXT2_DIR_REC_LEN(1);

	TRY(append_block(&cursor));
	ext2_fill_entry(cursor.entry, length, ".", 1, dir);
	ext2_fill_entry(entry_at(cursor.buffer, length), cursor.buffer->size - length, "..", 2, parent);
	ext2_name_changed(&cursor, RANK_FRESH); /* so far nothing leads there */
	return 0;
}

/* 0, -ENOTEMPTY, or what went wrong. */
int ext2_must_be_empty(struct inode *dir)
{
	struct cursor cursor __free(cursor) = cursor_at(dir, 0, block_count(dir));

	lockdep_assert_held(&dir->lock);
	while (TRY(next_entry(&cursor)))
		if (cursor.entry->inode && !matches(cursor.entry, ".", 1) &&
		    !matches(cursor.entry, "..", 2))
			return -ENOTEMPTY;
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int ext2_iterate(struct file *file, struct dir_context *context)
{
	struct inode *dir = file->inode;
	const struct ext2_fs *fs = EXT2_FS(dir->sb);
	u64 start = (u64)context->position;
	struct cursor cursor __free(cursor) = cursor_at(dir, (u32)(start >> fs->block_shift), 0);

	lockdep_assert_held(&dir->lock);
	if (start >= (u64)dir->data.size)
		return 0;
	cursor.left = block_count(dir) - cursor.block;
	while (TRY(next_entry(&cursor))) {
		const struct ext2_dir_entry *entry = cursor.entry;
		loff_t base = (loff_t)cursor.block << fs->block_shift;

		if (base + cursor.at < (loff_t)start)
			continue; /* the position may have stopped to be a boundary */
		context->position = base + cursor.at;
		if (entry->inode &&
		    !context->emit(context, entry->name, entry->name_len, entry->inode,
				   ext2_types[entry->file_type & 7]))
			break;
		context->position = base + cursor.next;
	}
	return 0;
}

const struct file_operations ext2_dir_operations = {
	.seekable = true,
	.iterate = ext2_iterate,
	.fsync = ext2_fsync,
};

/* ---- lookup ---------------------------------------------------------------------------------- */

/* Is @inode, a directory in the same one as @dentry, known under another name already? Two dentries
 * would be two ways to one lock. */
static bool has_other_name(struct dentry *dentry, const struct inode *inode)
{
	struct dentry *parent = dentry->parent, *other;

	if (atomic_read(&inode->refcount) == 1)
		return false; /* no other dentry can have it */
	guard(spinlock, &parent->lock);
	list_for_each_entry (other, &parent->children, child_link)
		if (other->inode == inode && !(other->flags & D_UNHASHED))
			return true;
	return false;
}

/* May @inode be found under @dentry's name in @dir? */
static int check_child(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	const char *wrong = NULL;

	if (!S_ISDIR(inode->mode))
		return 0;
	if (has_other_name(dentry, inode))
		wrong = "two names has directory";
	else if (inode == dir || inode->number == EXT2_ROOT_INODE)
		wrong = "its own ancestor is directory";
	else if ((ino_t)TRY(entry_number(inode, &ext2_parent_entry)) != dir->number)
		wrong = "the wrong '..' has directory";
	if (wrong)
		return ext2_error(EXT2_FS(dir->sb), wrong, inode->number);
	return 0;
}

int ext2_lookup(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode __free(iput) = NULL;
	s64 number = (s64)d_number(dentry) ?: entry_number(dir, dentry);

	lockdep_assert_held(&dir->lock);
	if (number != -ENOENT) {
		TRY(number);
		inode = TRY_PTR(iget(dir->sb, (ino_t)number));
		TRY(check_child(dir, dentry, inode));
	}
	d_add_found(dentry, inode, EXT2_DIR_REC_LEN(1));
	inode = NULL; /* the dentry's now */
	return 0;
}
