/*
 * dir.c - directories: blocks of variable-length entries that fill each block exactly, and the
 * operations that look names up, make, remove and move them. See ext2.h.
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
 *
 * After a power cut a file that was moved has its old name or its new one: the block that it leaves
 * is written after the one that it comes to (RANK_LAST). Of two that are exchanged the second has
 * no name in between: two blocks cannot change at once. What a file replaces keeps its inode on
 * the disk until the name there is the new one's, whose inode is written before. See commit.c.
 */
#include "fs/ext2/ext2.h"
#include "fs/inode/times.h"

/* ---- entries --------------------------------------------------------------------------------- */

/* A place in a directory. */
struct cursor {
	struct inode *dir;
	struct buffer *buffer;	      /* of the current entry; NULL before the first */
	struct ext2_dir_entry *entry; /* the current one */
	u32 block, left;	      /* its block, and how many are to come, itself included */
	u32 at, next; /* offsets of the current entry, and of what follows it */
};

DEFINE_FREE(cursor, struct cursor, brelse(variable->buffer))

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
	cursor->buffer = TRY_PTR(ext2_inode_block(cursor->dir, cursor->block, false));
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

static const struct dentry parent_entry = {.name = "..", .name_length = 2};

/* Go to the entry of @dentry's name: 0, -ENOENT, or what went wrong. */
static int find_entry(struct cursor *cursor, struct inode *dir, const struct dentry *dentry)
{
	*cursor = cursor_at(dir, EXT2_I(dir)->lookup_hint, block_count(dir));
	while (TRY(next_entry(cursor)))
		if (matches(cursor->entry, dentry->name, dentry->name_length)) {
			EXT2_I(dir)->lookup_hint = cursor->block;
			return 0;
		}
	return dentry == &parent_entry
		       ? ext2_error(EXT2_FS(dir->sb), "no '..' in directory", dir->number)
		       : -ENOENT;
}

/* The inode number of such an entry, or -errno. */
static s64 entry_number(struct inode *dir, const struct dentry *dentry)
{
	struct cursor cursor __free(cursor) = {};

	TRY(find_entry(&cursor, dir, dentry));
	return cursor.entry->inode;
}

/* ---- changing entries ------------------------------------------------------------------------ */

static const u8 d_types[8] = {DT_UNKNOWN, DT_REG, DT_DIR, DT_CHR, DT_BLK, DT_FIFO, DT_SOCK, DT_LNK};

/* The entry has changed: its block is dirty, and its hash tree, which is not kept up, is gone. The
 * caller makes the inode dirty after that. */
static void entry_changed(struct cursor *cursor, enum buffer_rank rank)
{
	mark_buffer_ranked(cursor->buffer, rank);
	EXT2_I(cursor->dir)->flags &= ~EXT2_FL_INDEX;
}

/* The same, of a name: the directory has new times. */
static void name_changed(struct cursor *cursor, enum buffer_rank rank)
{
	entry_changed(cursor, rank);
	file_update_time(cursor->dir);
}

static void set_inode(struct ext2_dir_entry *entry, const struct inode *inode)
{
	entry->inode = (u32)inode->number;
	entry->file_type = 0;
	if (EXT2_FS(inode->sb)->layout.feature_incompat & EXT2_INCOMPAT_FILETYPE)
		while (d_types[entry->file_type] != S_DT(inode->mode))
			entry->file_type++;
}

static void fill_entry(struct ext2_dir_entry *entry, u32 rec_len, const char *name, unsigned length,
		       const struct inode *inode)
{
	entry->rec_len = (u16)rec_len;
	entry->name_len = (u8)length;
	memcpy(entry->name, name, length);
	set_inode(entry, inode);
}

/* Go to a new last block, of one unused entry. */
static int append_block(struct cursor *cursor)
{
	struct inode *dir = cursor->dir;

	if ((u64)dir->data.size >= MB(1024))
		return -ENOSPC;
	cursor->buffer = TRY_PTR(ext2_inode_block(dir, block_count(dir), true));
	cursor->entry = entry_at(cursor->buffer, 0);
	cursor->entry->inode = 0; /* there may have been one, behind the end of a damaged one */
	cursor->entry->rec_len = (u16)cursor->buffer->size;
	dir->data.size += cursor->buffer->size;
	return 0;
}

/* *@cursor is where @dentry's name, which is @inode's, has been put. */
static int add_entry(struct cursor *cursor, struct inode *dir, const struct dentry *dentry,
		     struct inode *inode)
{
	struct ext2_inode *ei = EXT2_I(dir);
	u32 needed = EXT2_DIR_REC_LEN(dentry->name_length), used;

	*cursor = cursor_at(dir, ei->insert_hint, block_count(dir) - ei->insert_hint);
	do {
		if (!TRY(next_entry(cursor)))
			TRY(append_block(cursor));
		used = cursor->entry->inode ? EXT2_DIR_REC_LEN(cursor->entry->name_len) : 0;
	} while (cursor->entry->rec_len < used + needed);
	if (dentry->name_length <= 32)
		ei->insert_hint = cursor->block;
	needed = cursor->entry->rec_len - used;
	guard(read, &ranks_lock);
	buffer_stable(cursor->buffer);
	if (used)
		cursor->entry->rec_len = (u16)used;
	fill_entry((struct ext2_dir_entry *)((char *)cursor->entry + used), needed, dentry->name,
		   dentry->name_length, inode);
	name_changed(cursor, RANK_NAMES);
	return 0;
}

/* The entry found becomes @inode's. The directory's times are the caller's. */
static void set_entry(struct cursor *cursor, struct inode *inode, enum buffer_rank rank)
{
	guard(read, &ranks_lock);
	buffer_stable(cursor->buffer);
	set_inode(cursor->entry, inode);
	entry_changed(cursor, rank);
}

/* The entry found goes, into the one before it, which is looked for anew: entries may have been
 * added to the block since. */
static void remove_entry(struct cursor *cursor, enum buffer_rank rank)
{
	struct ext2_inode *ei = EXT2_I(cursor->dir);
	u32 before = 0, next;

	guard(read, &ranks_lock);
	buffer_stable(cursor->buffer);
	while ((next = before + entry_at(cursor->buffer, before)->rec_len) < cursor->at &&
	       next > before) /* which only who writes to the disk itself makes untrue */
		before = next;
	if (cursor->at)
		entry_at(cursor->buffer, before)->rec_len += cursor->entry->rec_len;
	cursor->entry->inode = 0;
	ei->insert_hint = min(ei->insert_hint, cursor->block);
	name_changed(cursor, rank);
}

/* ---- the order of names on the disk ---------------------------------------------------------- */

/* @inode has got the name at *@cursor; an old one may go, if @moves. */
static void named(struct inode *inode, const struct cursor *cursor, bool moves)
{
	struct buffer *buffer = cursor->buffer;
	struct ext2_inode *ei = EXT2_I(inode);
	bool late = test_bit(B_DIRTY, &buffer->flags) && READ_ONCE(buffer->rank) == RANK_LAST;

	smp_mb(); /* ext2_commit() */
	/* others look without a lock */
	WRITE_ONCE(ei->named, READ_ONCE(EXT2_FS(inode->sb)->commits_begun) + 1);
	WRITE_ONCE(ei->name_block, late ? 0 : buffer->block);
	if (moves && !late)
		set_bit(B_ARRIVED, &buffer->flags);
}

/* The name at *@cursor is to go, and @inode keeps others: the rank at which its newest one is on
 * the disk before. If two blocks would have to wait for each other, a commit comes first. */
static int rank_to_leave(const struct cursor *cursor, struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u64 named_in = READ_ONCE(EXT2_I(inode)->name_block);

	if (READ_ONCE(EXT2_I(inode)->named) <= READ_ONCE(fs->commits_done) ||
	    named_in == cursor->buffer->block)
		return RANK_NAMES;
	if (named_in && !test_bit(B_ARRIVED, &cursor->buffer->flags))
		return RANK_LAST;
	return ext2_commit(fs) ?: RANK_NAMES;
}

static int make_empty(struct inode *dir, struct inode *parent)
{
	struct cursor cursor __free(cursor) = cursor_at(dir, 0, 0);
	u32 length = EXT2_DIR_REC_LEN(1);

	TRY(append_block(&cursor));
	fill_entry(cursor.entry, length, ".", 1, dir);
	fill_entry(entry_at(cursor.buffer, length), cursor.buffer->size - length, "..", 2, parent);
	name_changed(&cursor, RANK_FRESH); /* so far nothing leads there */
	return 0;
}

/* 0, -ENOTEMPTY, or what went wrong. */
static int must_be_empty(struct inode *dir)
{
	struct cursor cursor __free(cursor) = cursor_at(dir, 0, block_count(dir));

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
				   d_types[entry->file_type & 7]))
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
	else if ((ino_t)TRY(entry_number(inode, &parent_entry)) != dir->number)
		wrong = "the wrong '..' has directory";
	return wrong ? ext2_error(EXT2_FS(dir->sb), wrong, inode->number) : 0;
}

static int ext2_lookup(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode __free(iput) = NULL;
	s64 number = entry_number(dir, dentry);

	if (number != -ENOENT) {
		inode = TRY_PTR(iget(dir->sb, (ino_t)TRY(number)));
		TRY(check_child(dir, dentry, inode));
	}
	d_add(dentry, inode);
	inode = NULL; /* the dentry's now */
	return 0;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void drop_nlink(struct inode *inode)
{
	if (inode->nlink)
		inode->nlink--;
	inode_changed(inode);
}

/* An object of any type, @target a symbolic link's text. If it fails, the last reference frees the
 * inode on the disk as well. */
static int ext2_make(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev,
		     const char *target)
{
	if (S_ISDIR(mode) && dir->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	if (S_ISLNK(mode) && strlen(target) >= dir->sb->block_size)
		return -ENAMETOOLONG;
	struct inode *inode = TRY_PTR(ext2_new_inode(dir, mode));
	struct cursor cursor __free(cursor) = {};
	int error = 0;

	if (S_ISDIR(mode)) {
		inode->nlink = 2;
		error = make_empty(inode, dir);
	} else if (S_ISLNK(mode)) {
		error = ext2_write_symlink(inode, target);
	} else if (!S_ISREG(mode)) {
		init_special_inode(inode, inode->mode, rdev);
	}
	mark_inode_dirty(inode); /* only now: write-back may be quick */
	error = error ?: add_entry(&cursor, dir, dentry, inode);
	if (error) {
		set_nlink(inode, 0);
		iput(inode);
		return error;
	}
	named(inode, &cursor, false);
	d_instantiate(dentry, inode);
	if (S_ISDIR(mode))
		set_nlink(dir, dir->nlink + 1); /* its ".." */
	return 0;
}

static int ext2_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->inode;
	struct cursor cursor __free(cursor) = {};

	if (inode->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	TRY(add_entry(&cursor, dir, dentry, inode));
	named(inode, &cursor, true);
	inode->nlink++;
	inode_changed(inode);
	ihold(inode);
	d_instantiate(dentry, inode);
	return 0;
}

/* ---- removing and moving --------------------------------------------------------------------- */

/* @inode has lost a name in @dir. */
static void lost_name(struct inode *dir, struct inode *inode)
{
	if (S_ISDIR(inode->mode)) {
		inode->nlink = 0;
		inode->data.size = 0;
		drop_nlink(dir);
	}
	drop_nlink(inode);
}

static int ext2_remove(struct inode *dir, struct dentry *dentry)
{
	struct cursor cursor __free(cursor) = {};
	struct inode *inode = dentry->inode;
	int rank = RANK_NAMES;

	if (S_ISDIR(inode->mode))
		TRY(must_be_empty(inode));
	TRY(find_entry(&cursor, dir, dentry));
	if (!S_ISDIR(inode->mode) && inode->nlink > 1)
		rank = TRY(rank_to_leave(&cursor, inode));
	remove_entry(&cursor, (enum buffer_rank)rank);
	lost_name(dir, inode);
	return 0;
}

/* The entry found, which is @inode's, gets @dentry's name, if it has room for that and lies in one
 * sector: the disk has the old name or the new one, and neither waits for another block. */
static bool change_name(struct cursor *cursor, const struct dentry *dentry, struct inode *inode)
{
	struct ext2_dir_entry *entry = cursor->entry;
	u32 length = max(EXT2_DIR_REC_LEN(dentry->name_length), EXT2_DIR_REC_LEN(entry->name_len));

	if (entry->rec_len < length ||
	    cursor->at / SECTOR_SIZE != (cursor->at + length - 1) / SECTOR_SIZE)
		return false;
	guard(read, &ranks_lock);
	buffer_stable(cursor->buffer);
	fill_entry(entry, entry->rec_len, dentry->name, dentry->name_length, inode);
	name_changed(cursor, RANK_NAMES);
	named(inode, cursor, false);
	return true;
}

/* A name that is to be another's, and, of a directory that gets another parent, its "..". */
struct move {
	struct cursor name, up;
};

DEFINE_FREE(move, struct move, __free_cursor(&variable->name); __free_cursor(&variable->up))

/* Find what will be changed, and keep its blocks: no change can fail from then on. */
static int prepare_move(struct move *move, struct inode *dir, struct dentry *dentry, bool parent)
{
	TRY(find_entry(&move->name, dir, dentry));
	if (move->name.entry->inode != dentry->inode->number)
		return ext2_error(EXT2_FS(dir->sb), "a name is lost of directory", dir->number);
	return parent ? find_entry(&move->up, dentry->inode, &parent_entry) : 0;
}

/* Before @inode gets another's name: it is to be there, with its data, when the name is. */
static int prepare_to_take(struct inode *inode)
{
	if (!(READ_ONCE(inode->flags) & I_DIRTY))
		return 0;
	if (S_ISREG(inode->mode))
		TRY(page_cache_flush(&inode->data));
	return ext2_write_inode(inode);
}

/* The same for @target's other names, if it has any. */
static int prepare_to_replace(struct inode *inode, struct inode *target)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);

	if (!S_ISDIR(target->mode) && target->nlink > 1 &&
	    READ_ONCE(EXT2_I(target)->named) > READ_ONCE(fs->commits_done))
		TRY(ext2_commit(fs));
	return prepare_to_take(inode);
}

/* @inode's new name is there: its old one at *@cursor goes, or becomes @target's. A disk that fails
 * to be committed to keeps no order, but the names are as they should be. */
static void leave_name(struct cursor *cursor, struct inode *inode, struct inode *target)
{
	int result = rank_to_leave(cursor, inode);
	enum buffer_rank rank = result < 0 ? RANK_LAST : (enum buffer_rank)result;

	if (!target) {
		remove_entry(cursor, rank);
		return;
	}
	set_entry(cursor, target, rank);
	file_update_time(cursor->dir);
	named(target, cursor, true);
}

/* Two names that lie in one block: that has both as they were, or both exchanged. */
static void exchange_in_block(struct cursor *there, struct inode *inode, struct cursor *back,
			      struct inode *target)
{
	guard(read, &ranks_lock);
	buffer_stable(there->buffer);
	set_inode(there->entry, target);
	set_inode(back->entry, inode);
	name_changed(there, RANK_NAMES);
	named(inode, back, false);
	named(target, there, false);
}

/* If it was found: the directory has moved from @from to @to. Its names are as they were, and so is
 * its mtime; the caller makes it dirty. */
static void set_parent(struct cursor *up, struct inode *from, struct inode *to)
{
	if (!up->buffer)
		return;
	set_entry(up, to, RANK_NAMES);
	drop_nlink(from);
	set_nlink(to, to->nlink + 1);
}

/* Directories whose parent changes are locked, as what is replaced. A failure leaves all as it was:
 * what can fail comes first, the new name, for which there may be no room, last of it. */
static int ext2_rename(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
		       struct dentry *new, unsigned flags)
{
	struct inode *inode = old->inode, *target = new->inode;
	bool exchange = flags & RENAME_EXCHANGE, across = old_dir != new_dir;
	bool moves = across && S_ISDIR(inode->mode), replaces = target && !exchange;
	struct move there __free(move) = {}, back __free(move) = {};

	TRY(prepare_move(&there, old_dir, old, moves));
	if (target)
		TRY(prepare_move(&back, new_dir, new,
				 across && exchange && S_ISDIR(target->mode)));
	if (!target && !across && change_name(&there.name, new, inode)) {
		inode_changed(inode);
		return 0;
	}
	if (replaces && S_ISDIR(inode->mode))
		TRY(must_be_empty(target));
	if (!target && moves && new_dir->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	if (replaces)
		TRY(prepare_to_replace(inode, target));
	if (exchange) {
		TRY(prepare_to_take(inode) ?: prepare_to_take(target));
		WRITE_ONCE(EXT2_I(inode)->replaced, true);
		WRITE_ONCE(EXT2_I(target)->replaced, true);
	}
	if (exchange && there.name.buffer == back.name.buffer) {
		exchange_in_block(&there.name, inode, &back.name, target);
		inode_changed(target);
		inode_changed(inode);
		return 0;
	}
	if (target) {
		set_entry(&back.name, inode, RANK_NAMES);
		file_update_time(new_dir);
	} else {
		TRY(add_entry(&back.name, new_dir, new, inode));
	}
	if (replaces) {
		/* before it has no name: another may write it back */
		WRITE_ONCE(EXT2_I(target)->replaced,
			   S_ISDIR(target->mode) || target->nlink == 1);
		lost_name(new_dir, target);
	}
	named(inode, &back.name, true);
	leave_name(&there.name, inode, exchange ? target : NULL);
	set_parent(&there.up, old_dir, new_dir);
	set_parent(&back.up, new_dir, old_dir);
	if (exchange)
		inode_changed(target);
	inode_changed(inode);
	return 0;
}

const struct inode_operations ext2_dir_inode_operations = {
	.lookup = ext2_lookup,
	.make = ext2_make,
	.link = ext2_link,
	.remove = ext2_remove,
	.rename = ext2_rename,
	.load_xattrs = ext2_load_xattrs,
	.set_xattr = ext2_set_xattr,
};
