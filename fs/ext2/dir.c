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
 */
#include "fs/ext2/ext2.h"

/* ---- entries --------------------------------------------------------------------------------- */

/* A place in a directory. */
struct cursor {
	struct inode *dir;
	struct buffer *buffer; /* of the current entry; NULL before the first */
	u32 block, left;       /* its block, and how many are to come, itself included */
	u32 at, previous; /* offsets of the current entry, and of the one before it or itself */
	u32 next;
};

DEFINE_FREE(cursor, struct cursor, brelse(variable->buffer))

static inline u32 block_count(const struct inode *dir)
{
	return (u32)((u64)dir->size >> EXT2_FS(dir->sb)->block_shift);
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
	struct buffer *buffer;

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
	buffer = ext2_inode_block(cursor->dir, cursor->block, false);
	if (IS_ERR(buffer))
		return (int)PTR_ERR(buffer);
	cursor->buffer = buffer;
	cursor->at = cursor->next = 0;
	return 1;
}

/* The next entry, checked; NULL when there are no more; ERR_PTR. */
static inline struct ext2_dir_entry *next_entry(struct cursor *cursor)
{
	struct ext2_dir_entry *entry;

	if (!cursor->buffer || cursor->next >= cursor->buffer->size) {
		int more = next_block(cursor);

		if (more <= 0)
			return ERR_PTR(more);
	}
	entry = entry_at(cursor->buffer, cursor->next);
	if (unlikely(!entry_ok(cursor, entry)))
		return ERR_PTR(ext2_error(EXT2_FS(cursor->dir->sb), "bad entry in directory",
					  cursor->dir->number));
	cursor->previous = cursor->at;
	cursor->at = cursor->next;
	cursor->next += entry->rec_len;
	return entry;
}

static inline bool matches(const struct ext2_dir_entry *entry, const char *name, unsigned length)
{
	return entry->name_len == length && entry->inode && memcmp(entry->name, name, length) == 0;
}

/* The entry of @dentry's name (NULL: of "..", in the first block), with the cursor on it;
 * ERR_PTR(-ENOENT). */
static struct ext2_dir_entry *find_entry(struct cursor *cursor, struct inode *dir,
					 const struct dentry *dentry)
{
	const char *name = dentry ? dentry->name : "..";
	unsigned length = dentry ? dentry->name_length : 2;
	struct ext2_dir_entry *entry;

	*cursor = dentry ? cursor_at(dir, EXT2_I(dir)->lookup_hint, block_count(dir))
			 : cursor_at(dir, 0, 1);
	do
		entry = next_entry(cursor);
	while (!IS_ERR_OR_NULL(entry) && !matches(entry, name, length));
	if (!entry && dentry)
		return ERR_PTR(-ENOENT);
	if (!entry)
		return ERR_PTR(ext2_error(EXT2_FS(dir->sb), "no '..' in directory", dir->number));
	if (!IS_ERR(entry) && dentry)
		EXT2_I(dir)->lookup_hint = cursor->block;
	return entry;
}

/* The inode number of such an entry: 0 and *@number, or -errno. */
static int entry_number(struct inode *dir, const struct dentry *dentry, u32 *number)
{
	struct cursor cursor __free(cursor) = {};
	struct ext2_dir_entry *entry = find_entry(&cursor, dir, dentry);

	*number = IS_ERR(entry) ? 0 : entry->inode;
	return PTR_ERR_OR_ZERO(entry);
}

/* ---- changing entries ------------------------------------------------------------------------ */

static const u8 file_types[16] = {[DT_REG] = 1,	 [DT_DIR] = 2,	[DT_CHR] = 3, [DT_BLK] = 4,
				  [DT_FIFO] = 5, [DT_SOCK] = 6, [DT_LNK] = 7};

static void touch(struct inode *inode)
{
	inode->ctime = current_time();
	mark_inode_dirty(inode);
}

static int changed(struct cursor *cursor)
{
	mark_buffer_dirty(cursor->buffer);
	touch(cursor->dir);
	cursor->dir->mtime = cursor->dir->ctime;
	EXT2_I(cursor->dir)->flags &= ~EXT2_FL_INDEX; /* its hash tree is not kept up */
	return 0;
}

static void set_inode(struct ext2_dir_entry *entry, const struct inode *inode)
{
	entry->inode = (u32)inode->number;
	entry->file_type = EXT2_FS(inode->sb)->has_file_types ? file_types[S_DT(inode->mode)] : 0;
}

static void fill_entry(struct ext2_dir_entry *entry, u32 rec_len, const char *name, unsigned length,
		       const struct inode *inode)
{
	entry->rec_len = (u16)rec_len;
	entry->name_len = (u8)length;
	memcpy(entry->name, name, length);
	set_inode(entry, inode);
}

/* A new last block, of one unused entry. */
static struct ext2_dir_entry *append_block(struct cursor *cursor)
{
	struct inode *dir = cursor->dir;
	struct buffer *buffer;

	if ((u64)dir->size >= MB(1024))
		return ERR_PTR(-ENOSPC);
	buffer = ext2_inode_block(dir, block_count(dir), true);
	if (IS_ERR(buffer))
		return ERR_CAST(buffer);
	cursor->buffer = buffer;
	entry_at(buffer, 0)->rec_len = (u16)buffer->size;
	dir->size += buffer->size;
	return entry_at(buffer, 0);
}

static int add_entry(struct inode *dir, const struct dentry *dentry, struct inode *inode)
{
	struct ext2_inode *ei = EXT2_I(dir);
	struct cursor cursor __free(cursor) =
		cursor_at(dir, ei->insert_hint, block_count(dir) - ei->insert_hint);
	u32 needed = EXT2_DIR_REC_LEN(dentry->name_length), used;
	struct ext2_dir_entry *entry;

	do {
		entry = next_entry(&cursor);
		if (!entry)
			entry = append_block(&cursor);
		if (IS_ERR(entry))
			return (int)PTR_ERR(entry);
		used = entry->inode ? EXT2_DIR_REC_LEN(entry->name_len) : 0;
	} while (entry->rec_len < used + needed);
	if (dentry->name_length <= 32)
		ei->insert_hint = cursor.block;
	needed = entry->rec_len - used;
	if (used)
		entry->rec_len = (u16)used;
	entry = (struct ext2_dir_entry *)((char *)entry + used);
	fill_entry(entry, needed, dentry->name, dentry->name_length, inode);
	return changed(&cursor);
}

static int delete_entry(struct inode *dir, const struct dentry *dentry)
{
	struct ext2_inode *ei = EXT2_I(dir);
	struct cursor cursor __free(cursor) = {};
	struct ext2_dir_entry *entry = find_entry(&cursor, dir, dentry);

	if (IS_ERR(entry))
		return (int)PTR_ERR(entry);
	if (cursor.previous != cursor.at)
		entry_at(cursor.buffer, cursor.previous)->rec_len =
			(u16)(cursor.next - cursor.previous);
	entry->inode = 0;
	ei->insert_hint = min(ei->insert_hint, cursor.block);
	return changed(&cursor);
}

/* @dentry's name in @dir (NULL: "..") becomes @inode's. */
static int set_entry(struct inode *dir, const struct dentry *dentry, struct inode *inode)
{
	struct cursor cursor __free(cursor) = {};
	struct ext2_dir_entry *entry = find_entry(&cursor, dir, dentry);
	struct timespec64 mtime = dir->mtime;

	if (IS_ERR(entry))
		return (int)PTR_ERR(entry);
	set_inode(entry, inode);
	changed(&cursor);
	if (!dentry) /* the directory moved, its names are as they were */
		dir->mtime = mtime;
	return 0;
}

static int make_empty(struct inode *dir, struct inode *parent)
{
	struct cursor cursor __free(cursor) = cursor_at(dir, 0, 0);
	struct ext2_dir_entry *entry = append_block(&cursor);
	u32 length = EXT2_DIR_REC_LEN(1);

	if (IS_ERR(entry))
		return (int)PTR_ERR(entry);
	fill_entry(entry, length, ".", 1, dir);
	fill_entry(entry_at(cursor.buffer, length), cursor.buffer->size - length, "..", 2, parent);
	return changed(&cursor);
}

/* 0, -ENOTEMPTY, or what went wrong. */
static int must_be_empty(struct inode *dir)
{
	struct cursor cursor __free(cursor) = cursor_at(dir, 0, block_count(dir));
	const struct ext2_dir_entry *entry;

	do
		entry = next_entry(&cursor);
	while (!IS_ERR_OR_NULL(entry) &&
	       (!entry->inode || matches(entry, ".", 1) || matches(entry, "..", 2)));
	return IS_ERR_OR_NULL(entry) ? (int)PTR_ERR(entry) : -ENOTEMPTY;
}

/* ---- reading --------------------------------------------------------------------------------- */

static unsigned d_type(const struct ext2_fs *fs, const struct ext2_dir_entry *entry)
{
	for (unsigned type = 1; fs->has_file_types && type < ARRAY_SIZE(file_types); type++)
		if (file_types[type] && file_types[type] == entry->file_type)
			return type;
	return DT_UNKNOWN;
}

static int ext2_iterate(struct file *file, struct dir_context *context)
{
	struct inode *dir = file->inode;
	unsigned shift = EXT2_FS(dir->sb)->block_shift;
	loff_t start = context->position, base;
	const struct ext2_dir_entry *entry;
	struct cursor cursor __free(cursor) = {};

	if (start < 0 || start >= dir->size)
		return 0;
	cursor = cursor_at(dir, (u32)((u64)start >> shift), 0);
	cursor.left = block_count(dir) - cursor.block;
	while (!IS_ERR_OR_NULL(entry = next_entry(&cursor))) {
		base = (loff_t)cursor.block << shift;
		if (base + cursor.at < start)
			continue; /* the position may have stopped to be a boundary */
		context->position = base + cursor.at;
		if (entry->inode && !context->emit(context, entry->name, entry->name_len,
						   entry->inode, d_type(EXT2_FS(dir->sb), entry)))
			break;
		context->position = base + cursor.next;
	}
	return PTR_ERR_OR_ZERO(entry);
}

const struct file_operations ext2_dir_operations = {
	.llseek = generic_file_llseek,
	.iterate = ext2_iterate,
	.fsync = ext2_fsync,
};

/* ---- lookup ---------------------------------------------------------------------------------- */

/* Is @inode, a directory in the same one as @dentry, known under another name already? Two dentries
 * would be two ways to one lock. */
static bool has_other_name(struct dentry *dentry, const struct inode *inode)
{
	struct dentry *parent = dentry->parent, *other;
	bool found = false;

	if (atomic_read(&inode->refcount) == 1)
		return false; /* no other dentry can have it */
	spin_lock(&parent->lock);
	list_for_each_entry(other, &parent->children, child_link)
		found |= other->inode == inode && !(other->flags & D_UNHASHED);
	spin_unlock(&parent->lock);
	return found;
}

/* May @inode be found under @dentry's name in @dir? */
static int check_child(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	const char *wrong = NULL;
	u32 parent;
	int error = 0;

	if (!S_ISDIR(inode->mode))
		return 0;
	if (has_other_name(dentry, inode))
		wrong = "two names has directory";
	else if (inode == dir || inode->number == EXT2_ROOT_INODE)
		wrong = "its own ancestor is directory";
	else
		error = entry_number(inode, NULL, &parent);
	if (!wrong && !error && parent != dir->number)
		wrong = "the wrong '..' has directory";
	return wrong ? ext2_error(EXT2_FS(dir->sb), wrong, inode->number) : error;
}

static int ext2_lookup(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode __free(iput) = NULL;
	u32 number;
	int error;

	error = entry_number(dir, dentry, &number);
	if (!error) {
		struct inode *found = ext2_iget(dir->sb, number);

		if (IS_ERR(found))
			return (int)PTR_ERR(found);
		inode = found;
		error = check_child(dir, dentry, inode);
	}
	if (error && error != -ENOENT)
		return error;
	d_add(dentry, inode);
	inode = NULL; /* the dentry's now */
	return 0;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void drop_nlink(struct inode *inode)
{
	if (inode->nlink)
		inode->nlink--;
	touch(inode);
}

/* The last step of making an object, if there was no @error so far: its name. Else, or if there is
 * no room for it, the last reference frees the inode on the disk as well. */
static int finish(struct inode *dir, struct dentry *dentry, struct inode *inode, int error)
{
	if (!error)
		error = add_entry(dir, dentry, inode);
	if (!error) {
		d_instantiate(dentry, inode);
		return 0;
	}
	set_nlink(inode, 0);
	iput(inode);
	return error;
}

static int ext2_mknod(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev)
{
	struct inode *inode = ext2_new_inode(dir, mode);

	if (IS_ERR(inode))
		return (int)PTR_ERR(inode);
	if (!S_ISREG(mode))
		init_special_inode(inode, inode->mode, rdev);
	mark_inode_dirty(inode);
	return finish(dir, dentry, inode, 0);
}

static int ext2_create(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return ext2_mknod(dir, dentry, (mode & S_IALLUGO) | S_IFREG, 0);
}

static int ext2_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	struct inode *inode;

	if (strlen(target) >= dir->sb->block_size)
		return -ENAMETOOLONG;
	inode = ext2_new_inode(dir, S_IFLNK | S_IRWXUGO);
	if (IS_ERR(inode))
		return (int)PTR_ERR(inode);
	return finish(dir, dentry, inode, ext2_write_symlink(inode, target));
}

static int ext2_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->inode;
	int error = inode->nlink >= EXT2_LINK_MAX ? -EMLINK : add_entry(dir, dentry, inode);

	if (error)
		return error;
	inode->nlink++;
	touch(inode);
	ihold(inode);
	d_instantiate(dentry, inode);
	return 0;
}

static int ext2_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct inode *inode;
	int error;

	if (dir->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	inode = ext2_new_inode(dir, (mode & S_IALLUGO) | S_IFDIR);
	if (IS_ERR(inode))
		return (int)PTR_ERR(inode);
	inode->nlink = 2;
	error = finish(dir, dentry, inode, make_empty(inode, dir));
	if (!error)
		set_nlink(dir, dir->nlink + 1); /* its ".." */
	return error;
}

/* ---- removing and moving --------------------------------------------------------------------- */

static int ext2_unlink(struct inode *dir, struct dentry *dentry)
{
	int error = delete_entry(dir, dentry);

	if (!error)
		drop_nlink(dentry->inode);
	return error;
}

static int ext2_rmdir(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = dentry->inode;
	int error = must_be_empty(inode);

	if (!error)
		error = delete_entry(dir, dentry);
	if (error)
		return error;
	inode->nlink = 0;
	touch(inode);
	drop_nlink(dir);
	return 0;
}

/* @inode, a directory, has moved from @from to @to. */
static int move_parent(struct inode *inode, struct inode *from, struct inode *to)
{
	int error = set_entry(inode, NULL, to);

	if (error)
		return error;
	drop_nlink(from);
	set_nlink(to, to->nlink + 1);
	return 0;
}

/* Before anything changes: is what will be changed there, and can it be read? */
static int must_find(struct inode *dir, struct dentry *dentry, bool moves)
{
	u32 number;
	int error = entry_number(dir, dentry, &number);

	if (error == -ENOENT || (!error && number != dentry->inode->number))
		error = ext2_error(EXT2_FS(dir->sb), "a name is lost of directory", dir->number);
	if (!error && moves)
		error = entry_number(dentry->inode, NULL, &number);
	return error;
}

static int exchange(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
		    struct dentry *new)
{
	struct inode *a = old->inode, *b = new->inode;
	int error = must_find(new_dir, new, S_ISDIR(b->mode) && old_dir != new_dir);

	if (!error)
		error = set_entry(new_dir, new, a);
	if (!error)
		error = set_entry(old_dir, old, b);
	if (!error && old_dir != new_dir && S_ISDIR(a->mode))
		error = move_parent(a, old_dir, new_dir);
	if (!error && old_dir != new_dir && S_ISDIR(b->mode))
		error = move_parent(b, new_dir, old_dir);
	touch(a);
	touch(b);
	return error;
}

/* The name @new, which names something else, becomes @inode's. */
static int replace(struct inode *new_dir, struct dentry *new, struct inode *inode)
{
	struct inode *victim = new->inode;
	int error = S_ISDIR(inode->mode) ? must_be_empty(victim) : 0;

	if (!error)
		error = set_entry(new_dir, new, inode);
	if (error)
		return error;
	if (S_ISDIR(victim->mode)) {
		victim->nlink = 0;
		drop_nlink(new_dir);
	}
	drop_nlink(victim);
	return 0;
}

static int ext2_rename(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
		       struct dentry *new, unsigned flags)
{
	struct inode *inode = old->inode;
	bool moves = S_ISDIR(inode->mode) && old_dir != new_dir;
	int error = must_find(old_dir, old, moves);

	if (error)
		return error;
	if (flags & RENAME_EXCHANGE)
		return exchange(old_dir, old, new_dir, new);
	if (moves && !new->inode && new_dir->nlink >= EXT2_LINK_MAX)
		return -EMLINK;
	error = new->inode ? replace(new_dir, new, inode) : add_entry(new_dir, new, inode);
	if (error)
		return error;
	error = delete_entry(old_dir, old);
	if (!error && moves)
		error = move_parent(inode, old_dir, new_dir);
	touch(inode);
	return error;
}

const struct inode_operations ext2_dir_inode_operations = {
	.lookup = ext2_lookup,
	.create = ext2_create,
	.mkdir = ext2_mkdir,
	.mknod = ext2_mknod,
	.symlink = ext2_symlink,
	.link = ext2_link,
	.unlink = ext2_unlink,
	.rmdir = ext2_rmdir,
	.rename = ext2_rename,
	.setattr = ext2_setattr,
	EXT2_XATTR_OPERATIONS,
};
