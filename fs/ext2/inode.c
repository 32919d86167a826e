/*
 * inode.c - inodes between the inode cache and the inode table: reading, writing, deleting; regular
 * files and symbolic links. See ext2.h.
 *
 * What is read is checked before it is believed: number, type, link count, size against type. A
 * file that is in use keeps what was checked; its block pointers are checked when they are followed
 * (map.c). A symbolic link's text lies in the inode if it is shorter than 60 bytes, else in a block
 * of the buffer cache, of which the inode has a copy.
 */
#include "fs/ext2/ext2.h"
#include "fs/regular/file_io.h"
#include "core/memory/slab.h"

/* Is the text of the symbolic link in the inode? */
static bool is_fast_link(const struct inode *inode)
{
	return inode->data.size < (loff_t)sizeof(((struct ext2_inode *)NULL)->data);
}

struct buffer *ext2_read_raw(struct ext2_fs *fs, u32 number, struct ext2_raw_inode **raw,
			     enum ext2_patience patience)
{
	u32 group = (number - 1) / fs->per_group[EXT2_INODES];
	u64 offset = (u64)((number - 1) % fs->per_group[EXT2_INODES]) * fs->layout.inode_size;
	struct buffer *buffer = ext2_read(
		fs, fs->groups[group].inode_table + (u32)(offset >> fs->block_shift), patience);

	if (!IS_ERR(buffer))
		*raw = (void *)((char *)buffer->data + (offset & ((1u << fs->block_shift) - 1)));
	return buffer;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_extra_times(const struct ext2_fs *fs, const struct ext2_raw_inode *raw)
{
	return fs->layout.inode_size > EXT2_OLD_INODE_SIZE && raw->extra_size >= EXT2_EXTRA_TIMES;
}

/* @extra: 0 if there is none. */
static struct timespec64 decode_time(u32 seconds, u32 extra)
{
	u32 nanoseconds = extra >> 2 < NSEC_PER_SEC ? extra >> 2 : 0;

	return (struct timespec64){(s32)seconds + ((time64_t)(extra & 3) << 32), nanoseconds};
}

static void decode_times(struct inode *inode, const struct ext2_raw_inode *raw, bool extra)
{
	inode->atime = decode_time(raw->atime, extra ? raw->atime_extra : 0);
	inode->mtime = decode_time(raw->mtime, extra ? raw->mtime_extra : 0);
	inode->ctime = decode_time(raw->ctime, extra ? raw->ctime_extra : 0);
}

/* Device numbers: of 16 bits in data[0], or, as they are written here, in data[1]. */
static dev_t decode_dev(const u32 *data)
{
	u32 number = data[0] ? data[0] & 0xffff : data[1];

	return MKDEV((number >> 8) & 0xfff, (number & 0xff) | (number >> 20) << 8);
}

/* Is the size one that an inode of this type may have? */
static bool size_ok(struct ext2_fs *fs, const struct inode *inode)
{
	u32 block_size = 1u << fs->block_shift;
	u64 size = (u64)inode->data.size, blocks = size >> fs->block_shift;

	if (S_ISDIR(inode->mode))
		return size && !(size & (block_size - 1)) && blocks <= fs->count[EXT2_BLOCKS] &&
		       blocks <= inode->blocks >> (fs->block_shift - 9);
	if (S_ISLNK(inode->mode))
		return size && size < block_size;
	return inode->data.size >= 0;
}

/* A link's text stays in memory with its inode. */
static int load_link(struct inode *inode)
{
	char *text = (char *)EXT2_I(inode)->data;

	if (!is_fast_link(inode)) {
		struct buffer *buffer __free(buffer) = TRY_PTR(ext2_inode_block(inode, 0, FIND));

		/* eight readable bytes behind the end, as everywhere (dentry.h) */
		text = TRY_PTR(kzalloc((size_t)inode->data.size + 9, GFP_KERNEL));
		memcpy(text, buffer->data, (size_t)inode->data.size);
	}
	text[inode->data.size] = 0;
	inode->link = text;
	return 0;
}

int ext2_read_inode(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	struct ext2_raw_inode *raw;

	if ((inode->number != EXT2_ROOT_INODE && inode->number < fs->layout.first_inode) ||
	    inode->number > fs->count[EXT2_INODES])
		return ext2_error(fs, "inode number out of range", inode->number);

	struct buffer *buffer __free(buffer) =
		TRY_PTR(ext2_read_raw(fs, (u32)inode->number, &raw, GIVE_UP));

	if (!raw->links_count || S_DT(raw->mode) == DT_UNKNOWN ||
	    !memchr(ext2_types, S_DT(raw->mode), sizeof(ext2_types)) ||
	    (inode->number == EXT2_ROOT_INODE && !S_ISDIR(raw->mode)))
		return ext2_error(fs, "deleted, or of no known type, but named is inode",
				  inode->number);
	inode->mode = raw->mode;
	inode->uid = raw->uid | (u32)raw->uid_high << 16;
	inode->gid = raw->gid | (u32)raw->gid_high << 16;
	inode->blocks = raw->blocks;
	inode->generation = raw->generation;
	inode->data.size = raw->size;
	if (S_ISREG(inode->mode))
		inode->data.size |= (loff_t)((u64)raw->size_high << 32);
	if (!size_ok(fs, inode))
		return ext2_error(fs, "impossible size of inode", inode->number);
	inode->attributes = raw->flags & EXT2_FL_ATTRIBUTES;
	ei->flags = raw->flags & ~EXT2_FL_ATTRIBUTES;
	ei->attribute_block = raw->attribute_block;
	memcpy(ei->data, raw->block, sizeof(ei->data));
	decode_times(inode, raw, has_extra_times(fs, raw));
	ext2_set_operations(inode);
	if (S_ISLNK(inode->mode))
		TRY(load_link(inode));
	/* it may have been here before: its names, what took them, and its pointers with it */
	ei->replaced = READ_ONCE(fs->untold) > READ_ONCE(fs->commits_done);
	ei->name_block = ei->replaced ? NAMES_LATE : NAMES_APART;
	if (writeback_is_busy())
		ei->named = READ_ONCE(fs->commits_begun) + 1;
	inode->nlink = raw->links_count; /* last: an inode that failed must not look deleted */
	return 0;
}

/* What of @time its 32 bits of seconds do not hold. */
static u32 extra_time(struct timespec64 time)
{
	return (u32)time.tv_nsec << 2 | ((u32)((time.tv_sec - (s32)time.tv_sec) >> 32) & 3);
}

/* Does @inode lead to other places than it does in the table? */
static bool leads_elsewhere(struct inode *inode, const struct ext2_raw_inode *raw)
{
	struct ext2_inode *ei = EXT2_I(inode);
	u64 size = (u64)READ_ONCE(inode->data.size);

	return size != (raw->size | (u64)raw->size_high << 32) ||
	       ei->attribute_block != raw->attribute_block ||
	       memcmp(ei->data, raw->block, sizeof(raw->block));
}

static void encode(struct ext2_fs *fs, struct inode *inode, struct ext2_raw_inode *raw)
{
	struct ext2_inode *ei = EXT2_I(inode);
	u64 size = (u64)READ_ONCE(inode->data.size);
	u32 nlink = READ_ONCE(inode->nlink);
	u32 uid = READ_ONCE(inode->uid), gid = READ_ONCE(inode->gid);
	umode_t mode = READ_ONCE(inode->mode);

	raw->mode = (u16)mode;
	raw->uid = (u16)uid;
	raw->uid_high = (u16)(uid >> 16);
	raw->gid = (u16)gid;
	raw->gid_high = (u16)(gid >> 16);
	raw->links_count = nlink ? (u16)nlink : READ_ONCE(ei->replaced);
	raw->size = (u32)size;
	raw->size_high = (u32)(size >> 32);
	raw->blocks = (u32)inode->blocks;
	raw->dtime = ei->dtime;
	raw->flags = READ_ONCE(ei->flags) | inode->attributes;
	raw->generation = inode->generation;
	raw->attribute_block = ei->attribute_block;
	memcpy(raw->block, ei->data, sizeof(raw->block));
	if (S_ISCHR(mode) || S_ISBLK(mode)) {
		u32 minor = MINOR(inode->rdev);

		raw->block[0] = 0;
		raw->block[1] = (minor & 0xff) | MAJOR(inode->rdev) << 8 | (minor >> 8) << 20;
	}
	guard(spinlock, &inode->spin); /* a time is that of one moment */
	raw->atime = (u32)inode->atime.tv_sec;
	raw->mtime = (u32)inode->mtime.tv_sec;
	raw->ctime = (u32)inode->ctime.tv_sec;
	if (has_extra_times(fs, raw)) {
		raw->atime_extra = extra_time(inode->atime);
		raw->mtime_extra = extra_time(inode->mtime);
		raw->ctime_extra = extra_time(inode->ctime);
	}
}

/* An inode is about to be put into its buffer: for who writes that alone, and not in a commit.
 * What it leads to may be on its way to the disk only. */
static void note_encoding(struct ext2_fs *fs, struct inode *inode)
{
	atomic_inc(&fs->encodings);
	if (!list_empty(&inode->data.dirty_pages) || atomic_read(&inode->data.writes))
		WRITE_ONCE(fs->leads_ahead, READ_ONCE(fs->commits_begun) + 1);
	smp_mb();
}

int ext2_write_inode(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_raw_inode *raw;

	if (inode->sb->flags & SB_RDONLY) /* since damage was found: before that all was written */
		return -EROFS;
	/* the inode of a file that is being freed */
	enum ext2_patience patience = READ_ONCE(inode->nlink) ? GIVE_UP : PATIENT;
	struct buffer *buffer __free(buffer) =
		TRY_PTR(ext2_read_raw(fs, (u32)inode->number, &raw, patience));

	/* pointers and block count belong together; another may write it, too */
	guard(write, &EXT2_I(inode)->map_lock);
	guard(read, &ranks_lock);
	note_encoding(fs, inode);
	wait_on_buffer(buffer);
	if (raw->dtime || !raw->links_count) { /* its first writing: what was there goes */
		memset(raw, 0, fs->layout.inode_size);
		if (fs->layout.inode_size > EXT2_OLD_INODE_SIZE)
			raw->extra_size = EXT2_EXTRA_SIZE;
	}
	bool leads = leads_elsewhere(inode, raw);

	encode(fs, inode, raw);
	EXT2_I(inode)->encoded = true;
	if (leads) /* after the change, or a write that begins just now would take it for done */
		set_bit(B_LEADS, &buffer->flags);
	mark_buffer_dirty(buffer);
	return 0;
}

void ext2_forget_pointers(struct inode *inode)
{
	struct ext2_inode *ei = EXT2_I(inode);
	struct ext2_raw_inode *raw;

	if (!ei->encoded && ei->born)
		return; /* it has none */
	struct buffer *buffer __free(buffer) =
		ext2_read_raw(EXT2_FS(inode->sb), (u32)inode->number, &raw, PATIENT);
	if (IS_ERR(buffer)) {
		ext2_error(EXT2_FS(inode->sb), "what it had is lost, of inode", inode->number);
		return;
	}
	if (raw->dtime || !raw->links_count)
		return; /* nothing there is its own yet */
	bool file = S_ISREG(inode->mode);

	guard(read, &ranks_lock);
	wait_on_buffer(buffer);
	/* What the inode has got since is not put there before its data are written. */
	for (unsigned i = 0; i < EXT2_POINTERS && file; i++)
		if (raw->block[i] != ei->data[i])
			raw->block[i] = 0;
	bool leads = raw->attribute_block != ei->attribute_block;

	raw->attribute_block = ei->attribute_block;
	if (file && inode->data.size < (loff_t)(raw->size | (u64)raw->size_high << 32)) {
		raw->size = (u32)inode->data.size;
		raw->size_high = (u32)((u64)inode->data.size >> 32);
	}
	if (leads) {
		atomic_inc(&EXT2_FS(inode->sb)->encodings);
		set_bit(B_LEADS, &buffer->flags);
	}
	mark_buffer_dirty(buffer);
}

/* A file whose name a rename took may come back by that, with its blocks of pointers as they are in
 * their buffers: so what they lead to is written. */
void ext2_before_evict(struct inode *inode)
{
	struct ext2_inode *ei = EXT2_I(inode);

	if (S_ISREG(inode->mode) && ei->replaced && ei->indirect_changes != ei->indirect_synced)
		page_cache_flush(&inode->data);
}

/* The inode on the disk goes first, and then what it had. But if a rename took its name, the disk
 * may still have that name for it: then it goes with the commit (commit.c). */
void ext2_evict_inode(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_gone gone;

	if (inode->sb->flags & SB_RDONLY)
		return;
	ext2_gone_begin(inode, &gone);
	if (EXT2_I(inode)->replaced)
		gone.commits = 2;
	EXT2_I(inode)->dtime = (u32)current_time().tv_sec;
	ext2_gather_attributes(inode, &gone);
	if (S_ISREG(inode->mode) || S_ISDIR(inode->mode) ||
	    (S_ISLNK(inode->mode) && !is_fast_link(inode))) {
		inode->data.size = 0;
		ext2_gather_blocks(inode, 0, &gone);
	}
	if (!gone.at_once && !ext2_stays(&gone))
		ext2_write_inode(inode);
	ext2_gather(fs, &gone, EXT2_INODES, (u32)inode->number, 1, inode->mode);
	ext2_let_go(fs, &gone);
	atomic_add(-1, &fs->nameless);
}

/* The directories above, and their own names, up to the root: into their buffers. */
static int write_parents(struct dentry *dentry)
{
	struct dentry *place __free(dput) = dget(dentry);

	for (;;) {
		struct dentry *parent = dget_parent(place);
		bool root = parent == place;

		dput(place);
		place = parent;
		if (root)
			return 0;
		TRY(write_inode_now(place->inode));
	}
}

/* All that is dirty, with what lies beside the inode, wherever that is. */
static int sync_widely(struct inode *inode, u32 indirect_changes)
{
	int error = ext2_commit(EXT2_FS(inode->sb));

	error = block_take_error(inode->sb->bdev) ?: error;
	if (!error)
		WRITE_ONCE(EXT2_I(inode)->indirect_synced, indirect_changes);
	return error;
}

/* @buffer, of the table of inodes, to the disk; but 1 if it leads to what may not be there: an
 * inode was put into a buffer since there were @encodings (-1: if any leads elsewhere by now), or
 * one of a file that is being written. */
static int write_unless_ahead(struct ext2_fs *fs, struct buffer *buffer, s64 encodings)
{
	guard(write, &ranks_lock); /* no inode is put there between look and write */
	if (test_bit(B_LEADS, &buffer->flags) &&
	    (READ_ONCE(fs->leads_ahead) > READ_ONCE(fs->commits_done) ||
	     atomic_read(&fs->encodings) != encodings))
		return 1;
	return sync_dirty_buffer(buffer);
}

/* The block of the table of inodes that has @inode, whose data are written: onto the platters, all
 * its inodes. If one of them leads where it did not before, what is there is waited for first; else
 * it does not matter which of the two the disk has first. 0; 1: it cannot be written alone, since a
 * block that is new is not yet written on some disk, more was put there meanwhile, or what leads to
 * a file that is being written; -EIO. */
static int sync_narrowly(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	s64 encodings = atomic_read(&fs->encodings);
	struct ext2_raw_inode *raw;
	struct buffer *buffer __free(buffer) =
		TRY_PTR(ext2_read_raw(fs, (u32)inode->number, &raw, GIVE_UP));

	if (!test_bit(B_LEADS, &buffer->flags))
		encodings = -1; /* what it comes to lead to from now on is not there */
	else if (any_dirty(RANK_FRESH))
		return 1;
	else
		TRY(settle(inode->sb->bdev));
	return write_unless_ahead(fs, buffer, encodings) ?: block_flush(inode->sb->bdev);
}

int ext2_fsync(struct file *file, bool data_only)
{
	struct inode *inode = file->inode;
	struct ext2_inode *ei = EXT2_I(inode);

	TRY(write_inode_now(inode));
	if (inode->sb->flags & SB_RDONLY)
		return 0;
	u32 changes = smp_load_acquire(&ei->indirect_changes);
	u64 named = max(READ_ONCE(ei->named), READ_ONCE(EXT2_FS(inode->sb)->moved));
	bool renamed = named > READ_ONCE(EXT2_FS(inode->sb)->commits_done);

	if (S_ISDIR(READ_ONCE(inode->mode))) /* and what its names lead to */
		TRY(sync_inodes(inode->sb));
	if (renamed)
		TRY(write_parents(file->path.dentry));
	if (S_ISDIR(READ_ONCE(inode->mode)) || renamed || changes != READ_ONCE(ei->indirect_synced))
		return sync_widely(inode, changes); /* it lies anywhere among them */
	int result = sync_narrowly(inode);

	return result == 1 ? sync_widely(inode, changes) : result;
}

/* No block may lie behind the end of the file. */
static void drop_excess(struct inode *inode)
{
	truncate_inode_pages(&inode->data, (u64)inode->data.size, FILE_END);
	ext2_truncate_blocks(inode, inode->data.size);
}

static int ext2_truncate(struct inode *inode, loff_t size)
{
	bool shorter = size < inode->data.size;

	if (shorter)
		TRY(block_truncate_page(inode, size));
	WRITE_ONCE(inode->data.size, size);
	if (shorter)
		drop_excess(inode);
	return 0;
}

/* ---- regular files: the page cache over ext2_get_block() ------------------------------------- */

static const struct address_space_operations mapping_operations = {
	.get_block = ext2_get_block,
	.readpages = block_read_pages,
	.writepage = block_write_page,
	.page_dirtied = mark_inode_dirty,
	.write_begin = block_write_begin,
	.write_end = block_write_end,
	.write_failed = drop_excess,
	.invalidate = block_invalidate_page,
	.free_buffers = free_page_buffers,
};

static const struct file_operations file_operations = {
	.read = page_cache_read,
	.write = page_cache_write,
	.seekable = true,
	.mmap = MAPPED_PAGES,
	.fsync = ext2_fsync,
};

int ext2_write_symlink(struct inode *inode, const char *target)
{
	inode->data.size = (loff_t)strlen(target);
	if (is_fast_link(inode)) {
		memcpy(EXT2_I(inode)->data, target, (size_t)inode->data.size);
	} else {
		struct buffer *buffer __free(buffer) = TRY_PTR(ext2_inode_block(inode, 0, CREATE));

		memcpy(buffer->data, target, (size_t)inode->data.size);
		mark_buffer_ranked(buffer, RANK_FRESH); /* so far nothing leads there */
	}
	return load_link(inode);
}

/* ---- operations by type ---------------------------------------------------------------------- */

static const struct inode_operations inode_operations = {
	.truncate = ext2_truncate,
	.seek = ext2_seek,
};

void ext2_set_operations(struct inode *inode)
{
	inode->op = &inode_operations;
	if (S_ISREG(inode->mode)) {
		inode->fop = &file_operations;
		inode->data.ops = &mapping_operations;
	} else if (S_ISDIR(inode->mode)) {
		inode->op = &ext2_dir_inode_operations;
		inode->fop = &ext2_dir_operations;
	} else if (!S_ISLNK(inode->mode)) {
		init_special_inode(inode, inode->mode, decode_dev(EXT2_I(inode)->data));
	}
}
