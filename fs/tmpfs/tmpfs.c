/*
 * tmpfs.c - the memory file system: files in the page cache, names in the dentry cache, nowhere
 * else.
 *
 * Since nothing else knows a name, each positive dentry carries one reference of the file system (a
 * pin), so it is never reclaimed; negative ones come and go as everywhere. For reading a directory
 * each name also has an entry in its directory's list, in order of creation, with a cookie that
 * only grows: the position of an open directory is the cookie to go on from, whatever is created
 * and removed meanwhile.
 *
 * A file's pages have no disk to go to: they are born uptodate, stay dirty, so that reclaim leaves
 * them alone, and are freed when the file is truncated or its last name and use are gone. The size
 * of all is limited (half of memory, or size=) since a full tmpfs must be ENOSPC and not the end of
 * the machine.
 *
 * Locks: a directory's list is under its inode->lock, like every change to it.
 */
#include "fs/tmpfs/tmpfs.h"

#include "fs/internal.h"
#include "kernel/core/assert.h"
#include "kernel/core/string.h"
#include "mm/slab.h"

struct tmpfs_super {
	atomic64_t pages; /* in use */
	u64 pages_max;
	atomic64_t inodes;
};

struct tmpfs_entry {
	struct list_head link; /* in tmpfs_directory->entries, oldest first */
	u64 cookie;
	struct dentry *dentry; /* whose private points back here */
};

struct tmpfs_directory { /* inode->private */
	struct list_head entries;
	u64 next_cookie;
	struct tmpfs_entry *hint; /* where the last reader stopped: it goes on from here */
};

#define FIRST_COOKIE 2 /* 0 and 1 are "." and ".." */
#define DIRECTORY_ENTRY_SIZE 20 /* what Linux adds to a directory's size for a name */

static const struct inode_operations directory_operations, file_inode_operations,
	symlink_operations;
static const struct file_operations directory_file_operations, file_operations;
static const struct address_space_operations page_operations;
static struct kmem_cache *entry_slab;

static struct tmpfs_super *super_of(const struct inode *inode)
{
	return inode->sb->private;
}

/* ---- inodes ---------------------------------------------------------------------------------- */

static struct inode *tmpfs_inode(struct super_block *sb, const struct inode *dir, umode_t mode,
				 dev_t rdev)
{
	struct tmpfs_directory *directory = NULL;
	struct inode *inode;

	if (S_ISDIR(mode)) {
		directory = kmalloc(sizeof(*directory), GFP_KERNEL);
		if (!directory)
			return NULL;
		INIT_LIST_HEAD(&directory->entries);
		directory->next_cookie = FIRST_COOKIE;
		directory->hint = NULL;
	}
	inode = new_inode(sb);
	if (!inode) {
		kfree(directory);
		return NULL;
	}
	inode->op = &file_inode_operations;
	if (S_ISREG(mode)) {
		inode->fop = &file_operations;
		inode->data.ops = &page_operations;
	} else if (S_ISDIR(mode)) {
		inode->op = &directory_operations;
		inode->fop = &directory_file_operations;
		inode->private = directory;
		inode->nlink = 2;
	} else if (!S_ISLNK(mode)) {
		init_special_inode(inode, mode, rdev);
	}
	inode_init_owner(inode, dir, mode);
	atomic64_inc(&super_of(inode)->inodes);
	return inode;
}

/* A directory may still have names: when it is unmounted. Their dentries are gone. */
static void free_directory(struct tmpfs_directory *directory)
{
	struct tmpfs_entry *entry, *next;

	list_for_each_entry_safe(entry, next, &directory->entries, link)
		kmem_cache_free(entry_slab, entry);
	kfree(directory);
}

static void tmpfs_free_inode(struct inode *inode)
{
	atomic64_dec(&super_of(inode)->inodes);
	if (S_ISDIR(inode->mode))
		free_directory(inode->private);
	else if (S_ISLNK(inode->mode))
		kfree(inode->link);
	inode_free_plain(inode);
}

/* ---- names ----------------------------------------------------------------------------------- */

static struct tmpfs_entry *entry_alloc(void)
{
	return kmem_cache_alloc(entry_slab, GFP_KERNEL);
}

/* @dentry is (going to be) a name in @dir. */
static void entry_add(struct inode *dir, struct dentry *dentry, struct tmpfs_entry *entry)
{
	struct tmpfs_directory *directory = dir->private;

	entry->dentry = dentry;
	entry->cookie = directory->next_cookie++;
	list_add_tail(&entry->link, &directory->entries);
	dentry->private = entry;
	dir->size += DIRECTORY_ENTRY_SIZE;
}

/* Off the list; the entry is the caller's. A reader that stopped here goes on with the next. */
static struct tmpfs_entry *entry_remove(struct inode *dir, struct dentry *dentry)
{
	struct tmpfs_directory *directory = dir->private;
	struct tmpfs_entry *entry = dentry->private;

	if (directory->hint == entry)
		directory->hint = entry->link.next == &directory->entries
					  ? NULL
					  : list_next_entry(entry, link);
	list_del(&entry->link);
	dentry->private = NULL;
	dir->size -= DIRECTORY_ENTRY_SIZE;
	return entry;
}

static void changed(struct inode *dir, struct inode *inode)
{
	dir->mtime = dir->ctime = current_time();
	if (inode)
		inode->ctime = dir->ctime;
}

static int tmpfs_lookup(struct inode *dir, struct dentry *dentry)
{
	d_add(dentry, NULL);
	return 0;
}

/* Give @dentry the new @inode (NULL: there was no memory), whose reference is taken over. */
static int add_name(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	struct tmpfs_entry *entry;

	if (!inode)
		return -ENOSPC;
	entry = entry_alloc();
	if (!entry) {
		inode->nlink = 0;
		iput(inode);
		return -ENOMEM;
	}
	entry_add(dir, dentry, entry);
	d_instantiate(dentry, inode);
	dget(dentry); /* the pin */
	dir->mtime = dir->ctime = inode->ctime;
	return 0;
}

static int tmpfs_mknod(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev)
{
	return add_name(dir, dentry, tmpfs_inode(dir->sb, dir, mode, rdev));
}

static int tmpfs_create(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return add_name(dir, dentry, tmpfs_inode(dir->sb, dir, mode, 0));
}

static int tmpfs_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	int error = tmpfs_create(dir, dentry, mode);

	if (!error)
		dir->nlink++;
	return error;
}

static int tmpfs_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	size_t length = strlen(target);
	char *text = kzalloc(length + 9, GFP_KERNEL);
	struct inode *inode;

	if (!text)
		return -ENOMEM;
	memcpy(text, target, length);
	inode = tmpfs_inode(dir->sb, dir, S_IFLNK | 0777, 0);
	if (inode) {
		inode->op = &symlink_operations;
		inode->link = text;
		inode->size = (loff_t)length;
	} else {
		kfree(text);
	}
	return add_name(dir, dentry, inode);
}

static int tmpfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->inode;
	struct tmpfs_entry *entry = entry_alloc();

	if (!entry)
		return -ENOMEM;
	entry_add(dir, dentry, entry);
	ihold(inode);
	inode->nlink++;
	changed(dir, inode);
	d_instantiate(dentry, inode);
	dget(dentry);
	return 0;
}

static int tmpfs_unlink(struct inode *dir, struct dentry *dentry)
{
	kmem_cache_free(entry_slab, entry_remove(dir, dentry));
	changed(dir, dentry->inode);
	dentry->inode->nlink--;
	dput(dentry);
	return 0;
}

static bool is_empty(const struct inode *inode)
{
	return list_empty(&((struct tmpfs_directory *)inode->private)->entries);
}

static int tmpfs_rmdir(struct inode *dir, struct dentry *dentry)
{
	if (!is_empty(dentry->inode))
		return -ENOTEMPTY;
	dentry->inode->nlink--;
	dir->nlink--;
	return tmpfs_unlink(dir, dentry);
}

static int exchange(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
		    struct dentry *new)
{
	struct tmpfs_entry *a = old->private, *b = new->private;
	int old_is_dir = S_ISDIR(old->inode->mode), new_is_dir = S_ISDIR(new->inode->mode);

	/* The names stay where they are in the lists; the dentries change places. */
	a->dentry = new;
	b->dentry = old;
	new->private = a;
	old->private = b;
	old_dir->nlink += (u32)(new_is_dir - old_is_dir);
	new_dir->nlink += (u32)(old_is_dir - new_is_dir);
	changed(old_dir, old->inode);
	changed(new_dir, new->inode);
	return 0;
}

static int tmpfs_rename(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
			struct dentry *new, unsigned flags)
{
	struct inode *inode = old->inode, *target = new->inode;
	bool directory = S_ISDIR(inode->mode);

	if (flags & RENAME_EXCHANGE)
		return exchange(old_dir, old, new_dir, new);
	if (target && directory && !is_empty(target))
		return -ENOTEMPTY;
	if (target) {
		if (directory) {
			target->nlink--;
			new_dir->nlink--;
		}
		tmpfs_unlink(new_dir, new);
	}
	/* The entry moves with the dentry, whose pin stays. */
	entry_add(new_dir, old, entry_remove(old_dir, old));
	if (directory) {
		old_dir->nlink--;
		new_dir->nlink++;
	}
	changed(old_dir, inode);
	changed(new_dir, NULL);
	return 0;
}

/* ---- reading a directory --------------------------------------------------------------------- */

/* The oldest entry with a cookie of at least @cookie; the list's head if there is none. */
static struct list_head *seek_entry(struct tmpfs_directory *directory, u64 cookie)
{
	struct list_head *at = directory->entries.next;

	if (directory->hint && directory->hint->cookie <= cookie)
		at = &directory->hint->link;
	while (at != &directory->entries &&
	       list_entry(at, struct tmpfs_entry, link)->cookie < cookie)
		at = at->next;
	return at;
}

/* inode->lock is held for reading: the hint is set by several readers at once, any value is a good
 * one. */
static int tmpfs_iterate(struct file *file, struct dir_context *context)
{
	struct tmpfs_directory *directory = file->inode->private;
	struct list_head *at;

	if (unlikely(context->position < FIRST_COOKIE) && !dir_emit_dots(file, context))
		return 0;
	at = seek_entry(directory, (u64)context->position);
	while (at != &directory->entries) {
		struct tmpfs_entry *entry = list_entry(at, struct tmpfs_entry, link);
		struct dentry *dentry = entry->dentry;

		/* Its own cookie until it is emitted: the successor of the entry before it. */
		context->position = (loff_t)entry->cookie;
		if (!context->emit(context, dentry->name, dentry->name_length,
				   dentry->inode->number, S_DT(dentry->inode->mode))) {
			WRITE_ONCE(directory->hint, entry);
			return 0;
		}
		context->position++;
		at = at->next;
	}
	return 0;
}

static int tmpfs_fsync(struct file *file, bool data_only)
{
	return 0; /* memory is as far as it goes */
}

/* ---- pages ----------------------------------------------------------------------------------- */

static int charge_page(struct inode *inode)
{
	struct tmpfs_super *super = super_of(inode);

	if (atomic64_inc_return(&super->pages) > (s64)super->pages_max) {
		atomic64_dec(&super->pages);
		return -ENOSPC;
	}
	inode->blocks += PAGE_SIZE / 512;
	return 0;
}

/* A page that was never written: zeroes. It is not charged until it is; clean, it may be reclaimed.
 */
static int tmpfs_readpage(struct inode *inode, struct page *page)
{
	memset(page_address(page), 0, PAGE_SIZE);
	set_bit(PG_uptodate, &page->flags);
	unlock_page(page);
	return 0;
}

static int tmpfs_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	int error = 0;

	if (!test_bit(PG_dirty, &page->flags))
		error = charge_page(inode);
	if (!error && !test_bit(PG_uptodate, &page->flags)) {
		char *data = page_address(page);

		if (from)
			memset(data, 0, from);
		if (to < PAGE_SIZE)
			memset(data + to, 0, PAGE_SIZE - to);
	}
	return error;
}

static int tmpfs_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	set_bit(PG_uptodate, &page->flags);
	if (!test_bit(PG_dirty, &page->flags))
		set_page_dirty(page);
	return 0;
}

/* A dirty page goes away for good: give its charge back. */
static void tmpfs_invalidate(struct page *page, unsigned from)
{
	struct inode *inode = page->mapping->host;

	if (from == 0 && test_bit(PG_dirty, &page->flags)) {
		atomic64_dec(&super_of(inode)->pages);
		inode->blocks -= PAGE_SIZE / 512;
	}
}

static const struct address_space_operations page_operations = {
	.readpage = tmpfs_readpage,
	.write_begin = tmpfs_write_begin,
	.write_end = tmpfs_write_end,
	.invalidate = tmpfs_invalidate,
};

/* Reserve: make every page of the range exist. */
static int tmpfs_fallocate(struct inode *inode, int mode, loff_t offset, loff_t length)
{
	if (mode & FALLOC_FL_PUNCH_HOLE)
		return -EOPNOTSUPP;
	if ((u64)length >> PAGE_SHIFT > super_of(inode)->pages_max)
		return -ENOSPC; /* before it has taken all there is */
	for (pgoff_t i = (u64)offset >> PAGE_SHIFT; i << PAGE_SHIFT < (u64)(offset + length); i++) {
		struct page *page = read_cache_page(&inode->data, i);
		int error;

		if (IS_ERR(page))
			return (int)PTR_ERR(page);
		lock_page(page);
		error = tmpfs_write_begin(inode, page, 0, 0);
		if (!error)
			tmpfs_write_end(inode, page, 0, 0);
		unlock_page(page);
		put_page(page);
		if (error)
			return error;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	if (!(mode & FALLOC_FL_KEEP_SIZE) && offset + length > inode->size)
		inode->size = offset + length;
	inode->mtime = inode->ctime = current_time();
	return 0;
}

/* ---- tables of operations -------------------------------------------------------------------- */

static const struct inode_operations directory_operations = {
	.lookup = tmpfs_lookup,
	.create = tmpfs_create,
	.mkdir = tmpfs_mkdir,
	.mknod = tmpfs_mknod,
	.symlink = tmpfs_symlink,
	.link = tmpfs_link,
	.unlink = tmpfs_unlink,
	.rmdir = tmpfs_rmdir,
	.rename = tmpfs_rename,
};

static const struct inode_operations file_inode_operations = {.fallocate = tmpfs_fallocate};

static const struct file_operations directory_file_operations = {
	.llseek = generic_file_llseek,
	.iterate = tmpfs_iterate,
	.fsync = tmpfs_fsync,
};

static const struct file_operations file_operations = {
	.read = page_cache_read,
	.write = page_cache_write,
	.llseek = generic_file_llseek,
	.mmap = generic_file_mmap,
	.fsync = tmpfs_fsync,
};

/* ---- the superblock -------------------------------------------------------------------------- */

static int tmpfs_statfs(struct super_block *sb, struct kstatfs *stat)
{
	struct tmpfs_super *super = sb->private;
	s64 pages = atomic64_read(&super->pages);
	u64 used = pages > 0 ? (u64)pages : 0; /* pages dirtied through a mapping are not counted */

	stat->type = TMPFS_MAGIC;
	stat->blocks = super->pages_max;
	stat->bfree = stat->bavail = super->pages_max - min(used, super->pages_max);
	stat->files = super->pages_max;
	stat->ffree = super->pages_max - min((u64)atomic64_read(&super->inodes), super->pages_max);
	return 0;
}

static void tmpfs_put_super(struct super_block *sb)
{
	kfree(sb->private);
}

static const struct super_operations super_operations = {
	.free_inode = tmpfs_free_inode,
	.statfs = tmpfs_statfs,
	.put_super = tmpfs_put_super,
};

/* size=N[KMG], mode=OCTAL; others are ignored as far as they do not matter (nr_inodes=, uid=,
 * gid=). */
static int parse_options(struct tmpfs_super *super, const char *options, umode_t *mode)
{
	while (options && *options) {
		const char *end = options;
		u64 value = 0;

		if (!strncmp(options, "size=", 5)) {
			super->pages_max = memparse(options + 5, &end) >> PAGE_SHIFT;
			if (end == options + 5)
				return -EINVAL;
		} else if (!strncmp(options, "mode=", 5)) {
			for (end = options + 5; *end >= '0' && *end <= '7'; end++)
				value = value * 8 + (u64)(*end - '0');
			*mode = (umode_t)value & S_IALLUGO;
		}
		options = strchr(end, ',');
		options = options ? options + 1 : NULL;
	}
	return 0;
}

int tmpfs_fill_super(struct super_block *sb, const char *options, bool silent)
{
	struct tmpfs_super *super = kzalloc(sizeof(*super), GFP_KERNEL);
	struct memory_info memory;
	umode_t mode = S_ISVTX | 0777;
	struct inode *root;
	int error;

	if (!super)
		return -ENOMEM;
	memory_info(&memory);
	super->pages_max = memory.total_pages / 2;
	error = parse_options(super, options, &mode);
	if (error) {
		kfree(super);
		return error;
	}
	sb->op = &super_operations;
	sb->private = super;
	root = tmpfs_inode(sb, NULL, S_IFDIR | mode, 0);
	sb->root = root ? d_alloc_root(root) : NULL;
	if (sb->root)
		return 0;
	if (root)
		iput(root);
	kfree(super);
	return -ENOMEM;
}

int tmpfs_make_node(struct super_block *sb, const char *name, umode_t mode, dev_t rdev)
{
	struct inode *dir = sb->root->inode;
	struct dentry *dentry;
	char text[NAME_MAX + 9];
	int error;

	strlcpy(text, name, sizeof(text) - 8);
	down_write_nested(&dir->lock, LOCK_PARENT);
	dentry = lookup_locked(sb->root, text, (u32)strlen(text));
	error = IS_ERR(dentry) ? (int)PTR_ERR(dentry) : 0;
	if (!error) {
		if (!dentry->inode)
			error = tmpfs_mknod(dir, dentry, mode, rdev);
		dput(dentry);
	}
	up_write(&dir->lock);
	return error;
}

static struct filesystem tmpfs = {.name = "tmpfs", .fill_super = tmpfs_fill_super, .pinned = true};

void tmpfs_init(void)
{
	entry_slab = kmem_cache_create("tmpfs_entry", sizeof(struct tmpfs_entry), 8, 0, NULL);
	register_filesystem(&tmpfs);
}
