/*
 * names.c - what is done to names in directories: made, linked, removed and moved, and in which
 * order that reaches the disk. See ext2.h, and dir.h for entries.
 *
 * After a power cut a file that was moved has its old name or its new one: the block that it leaves
 * is written after the one that it comes to (RANK_LAST). Of two that are exchanged the second has
 * no name in between: two blocks cannot change at once. What a file replaces keeps its inode on
 * the disk until the name there is the new one's, whose inode is written before. See commit.c.
 */
#include "fs/ext2/dir.h"
#include "fs/inode/times.h"

/* ---- the order of names on the disk ---------------------------------------------------------- */

/* @inode has got the name at *@cursor; an old one went in the same block, or may go in another. */
enum old_name { NO_OLD_NAME, OLD_NAME_WENT, OLD_NAME_MAY_GO };
static void named(struct inode *inode, const struct cursor *cursor, enum old_name old)
{
	struct buffer *buffer = cursor->buffer;
	struct ext2_inode *ei = EXT2_I(inode);
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	bool late = old != NO_OLD_NAME && test_bit(B_DIRTY, &buffer->flags) &&
		    READ_ONCE(buffer->rank) == RANK_LAST; /* a new file is promised to nobody */
	u64 block = late ? NAMES_LATE : buffer->block;

	if (READ_ONCE(ei->named) > READ_ONCE(fs->commits_done) && ei->name_block != block)
		block = late || ei->name_block == NAMES_LATE ? NAMES_LATE : NAMES_APART;
	smp_mb(); /* ext2_commit() */
	/* others look without a lock */
	WRITE_ONCE(ei->named, READ_ONCE(fs->commits_begun) + 1);
	if (old != NO_OLD_NAME && S_ISDIR(inode->mode)) /* all below it is elsewhere, too */
		WRITE_ONCE(fs->moved, ei->named);
	if (block == NAMES_LATE)
		WRITE_ONCE(fs->untold, ei->named);
	WRITE_ONCE(ei->name_block, block);
	if (old == OLD_NAME_MAY_GO && !late)
		set_bit(B_ARRIVED, &buffer->flags);
}

/* The name at *@cursor is to go, and @inode keeps others: the rank at which those that are new are
 * on the disk before. If two blocks would have to wait for each other, a commit comes first. */
static int rank_to_leave(const struct cursor *cursor, struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u64 named_in = READ_ONCE(EXT2_I(inode)->name_block);

	if (READ_ONCE(EXT2_I(inode)->named) <= READ_ONCE(fs->commits_done) ||
	    named_in == cursor->buffer->block)
		return RANK_NAMES;
	if (named_in != NAMES_LATE && !test_bit(B_ARRIVED, &cursor->buffer->flags))
		return RANK_LAST;
	return ext2_commit(fs) ?: RANK_NAMES;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* It has @nlink from now on; fs->nameless counts those without. inode->lock, or it is new. */
static void count_names(struct inode *inode, u32 nlink)
{
	int nameless = (nlink == 0) - (inode->nlink == 0);

	if (nameless)
		atomic_add(nameless, &EXT2_FS(inode->sb)->nameless);
	inode->nlink = nlink;
}

static void drop_nlink(struct inode *inode)
{
	if (inode->nlink)
		count_names(inode, inode->nlink - 1);
	inode_changed(inode);
}

/* An object of any type, @target a symbolic link's text. If it fails, the last reference frees the
 * inode on the disk as well. */
static int ext2_make(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev,
		     const char *target)
{
	lockdep_assert_held(&dir->lock);
	if (S_ISDIR(mode) && dir->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	if (S_ISLNK(mode) && strlen(target) >= dir->sb->block_size)
		return -ENAMETOOLONG;
	struct inode *inode = TRY_PTR(ext2_new_inode(dir, mode));
	struct cursor cursor __free(cursor) = {};
	int error = 0;

	count_names(inode, S_ISDIR(mode) ? 2 : 1);
	if (S_ISDIR(mode)) {
		error = ext2_make_empty(inode, dir) ?: ext2_write_inode(inode);
	} else if (S_ISLNK(mode)) {
		error = ext2_write_symlink(inode, target);
	} else if (!S_ISREG(mode)) {
		init_special_inode(inode, inode->mode, rdev);
	}
	mark_inode_dirty(inode); /* only now: write-back may be quick */
	error = error ?: ext2_add_entry(&cursor, dir, dentry, inode);
	if (error) {
		count_names(inode, 0);
		iput(inode);
		return error;
	}
	named(inode, &cursor, NO_OLD_NAME);
	d_instantiate_new(dentry, inode, EXT2_DIR_REC_LEN(1));
	if (S_ISDIR(mode))
		set_nlink(dir, dir->nlink + 1); /* its ".." */
	return 0;
}

/* To the disk it is as an open file that has lost its name. */
static struct inode *ext2_make_nameless(struct inode *dir, umode_t mode)
{
	struct inode *inode = ext2_new_inode(dir, mode);

	if (!IS_ERR(inode))
		mark_inode_dirty(inode);
	return inode;
}

static int ext2_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->inode;
	struct cursor cursor __free(cursor) = {};

	lockdep_assert_held(&dir->lock);
	if (inode->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	TRY(ext2_add_entry(&cursor, dir, dentry, inode));
	named(inode, &cursor, OLD_NAME_MAY_GO);
	count_names(inode, inode->nlink + 1);
	inode_changed(inode);
	ihold(inode);
	d_instantiate(dentry, inode);
	return 0;
}

/* ---- removing and moving --------------------------------------------------------------------- */

/* A rename is about to take a name of @inode's over. */
static void name_taken(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);

	WRITE_ONCE(EXT2_I(inode)->replaced, true);
	WRITE_ONCE(fs->untold, READ_ONCE(fs->commits_begun) + 1);
}

/* @inode has lost a name in @dir. */
static void lost_name(struct inode *dir, struct inode *inode)
{
	if (S_ISDIR(inode->mode)) {
		count_names(inode, 0);
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

	lockdep_assert_held(&dir->lock);
	if (S_ISDIR(inode->mode))
		TRY(ext2_must_be_empty(inode));
	TRY(ext2_find_entry(&cursor, dir, dentry));
	if (!S_ISDIR(inode->mode) && inode->nlink > 1)
		rank = TRY(rank_to_leave(&cursor, inode));
	ext2_remove_entry(&cursor, (enum buffer_rank)rank);
	lost_name(dir, inode);
	return 0;
}

/* The entry found, which is @inode's, gets @dentry's name, if it has room for that and lies in one
 * sector: the disk has the old name or the new one, and neither waits for another block. */
static bool change_name(struct cursor *cursor, struct dentry *dentry, struct inode *inode)
{
	struct ext2_dir_entry *entry = cursor->entry;
	u32 length = max(EXT2_DIR_REC_LEN(dentry->name_length), EXT2_DIR_REC_LEN(entry->name_len));

	if (entry->rec_len < length ||
	    cursor->at / SECTOR_SIZE != (cursor->at + length - 1) / SECTOR_SIZE)
		return false;
	guard(read, &ranks_lock);
	wait_on_buffer(cursor->buffer);
	ext2_fill_entry(entry, entry->rec_len, dentry->name, dentry->name_length, inode);
	ext2_name_changed(cursor, RANK_NAMES);
	named(inode, cursor, OLD_NAME_WENT);
	child_placed(dentry, cursor->block, cursor->at);
	return true;
}

/* A name that is to be another's, and, of a directory that gets another parent, its "..". */
struct move {
	struct cursor name, up;
};

DEFINE_FREE(move, struct move, __free_cursor(&variable->name); __free_cursor(&variable->up))

/* Find what will be changed when @dentry goes from @dir to @to, and keep its blocks: no change can
 * fail from then on. */
static int prepare_move(struct move *move, struct inode *dir, struct dentry *dentry,
			struct inode *to)
{
	TRY(ext2_find_entry(&move->name, dir, dentry));
	if (move->name.entry->inode != dentry->inode->number)
		return ext2_error(EXT2_FS(dir->sb), "a name is lost of directory", dir->number);
	if (to != dir && S_ISDIR(dentry->inode->mode))
		return ext2_find_entry(&move->up, dentry->inode, &ext2_parent_entry);
	return 0;
}

/* Before @inode gets another's name: it is to be there, with its data, when the name is. */
static int prepare_to_take(struct inode *inode)
{
	if (!(READ_ONCE(inode->flags) & (I_DIRTY | I_WRITING)))
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
		ext2_remove_entry(cursor, rank);
		return;
	}
	ext2_set_entry(cursor, target, rank);
	file_update_time(cursor->dir);
	named(target, cursor, OLD_NAME_MAY_GO);
}

/* Two names that lie in one block: that has both as they were, or both exchanged. */
static void exchange_in_block(struct cursor *there, struct inode *inode, struct cursor *back,
			      struct inode *target)
{
	guard(read, &ranks_lock);
	wait_on_buffer(there->buffer);
	ext2_set_inode(there->entry, target);
	ext2_set_inode(back->entry, inode);
	ext2_name_changed(there, RANK_NAMES);
	named(inode, back, OLD_NAME_WENT);
	named(target, there, OLD_NAME_WENT);
}

/* If it was found: the directory has moved from @from to @to. Its names are as they were, and so is
 * its mtime; the caller makes it dirty. */
static void set_parent(struct cursor *up, struct inode *from, struct inode *to)
{
	if (!up->buffer)
		return;
	ext2_set_entry(up, to, RANK_NAMES);
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
	bool back_is_dir = target && S_ISDIR(target->mode);
	struct move there __free(move) = {}, back __free(move) = {};

	lockdep_assert_held(&old_dir->lock);
	lockdep_assert_held(&new_dir->lock);
	TRY(prepare_move(&there, old_dir, old, new_dir));
	if (target) /* which stays where it is if it is replaced */
		TRY(prepare_move(&back, new_dir, new, exchange ? old_dir : new_dir));
	if (!target && !across && change_name(&there.name, new, inode)) {
		inode_changed(inode);
		return 0;
	}
	if (replaces && S_ISDIR(inode->mode))
		TRY(ext2_must_be_empty(target));
	/* one of the two gets one directory more */
	if (across && S_ISDIR(inode->mode) != back_is_dir &&
	    (moves ? new_dir : old_dir)->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	if (replaces)
		TRY(prepare_to_replace(inode, target));
	if (exchange) {
		TRY(prepare_to_take(inode) ?: prepare_to_take(target));
		name_taken(inode);
		name_taken(target);
	}
	if (exchange && there.name.buffer == back.name.buffer) {
		exchange_in_block(&there.name, inode, &back.name, target);
		inode_changed(target);
		inode_changed(inode);
		return 0;
	}
	if (target) {
		ext2_set_entry(&back.name, inode, RANK_NAMES);
		file_update_time(new_dir);
	} else {
		TRY(ext2_add_entry(&back.name, new_dir, new, inode));
	}
	if (replaces) {
		/* before it has no name: another may write it back; also if it has others still,
		 * which may all be gone before the disk knows of this */
		name_taken(target);
		lost_name(new_dir, target);
	}
	named(inode, &back.name, OLD_NAME_MAY_GO);
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
	.make_nameless = ext2_make_nameless,
	.link = ext2_link,
	.remove = ext2_remove,
	.rename = ext2_rename,
};
