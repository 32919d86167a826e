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
 * them alone, and are freed when the file is truncated or its last name and use are gone. A page
 * that is not dirty is a hole. The number of pages and that of inodes are limited (to half of
 * memory's pages, or size= and nr_inodes=) since a full tmpfs must be ENOSPC and not the end of the
 * machine. As in Linux, each further name of a file counts as an inode.
 *
 * Locks: a directory's list is under its inode->lock, like every change to it; an inode's extended
 * attributes are under its own.
 */
#include "fs/tmpfs/tmpfs.h"

#include "fs/internal.h"

enum { PAGES, INODES };

struct tmpfs_super {
	atomic64_t used[2];
	u64 limit[2]; /* 0: none */
};

struct tmpfs_entry {
	struct list_head link; /* in tmpfs_directory->entries, oldest first */
	u64 cookie;
	struct dentry *dentry; /* whose private points back here */
};

struct tmpfs_directory {
	struct list_head entries;
	u64 next_cookie;
	struct tmpfs_entry *hint; /* where the last reader stopped: it goes on from here */
};

struct tmpfs_inode {
	struct xattr *xattrs;		   /* newest first */
	struct tmpfs_directory *directory; /* NULL: it is none */
	struct inode inode;
};

#define FIRST_COOKIE 2		/* 0 and 1 are "." and ".." */
#define DIRECTORY_ENTRY_SIZE 20 /* what Linux adds to a directory's size for a name */

static const struct inode_operations directory_operations, other_operations;
static const struct file_operations directory_file_operations, file_operations;
static const struct address_space_operations page_operations;
static struct kmem_cache *entry_slab, *inode_slab;

static struct tmpfs_super *super_of(const struct inode *inode)
{
	return inode->sb->private;
}

static struct tmpfs_inode *TMPFS_I(struct inode *inode)
{
	return container_of(inode, struct tmpfs_inode, inode);
}

static void uncharge(struct tmpfs_super *super, int kind)
{
	atomic_dec(&super->used[kind]);
}

/* One more page or inode (@kind) in use: 0 or -ENOSPC. */
static int charge(struct tmpfs_super *super, int kind)
{
	u64 used = (u64)atomic_inc_return(&super->used[kind]);

	if (likely(!super->limit[kind] || used <= super->limit[kind]))
		return 0;
	uncharge(super, kind);
	return -ENOSPC;
}

/* ---- inodes ---------------------------------------------------------------------------------- */

static struct inode *tmpfs_alloc_inode(struct super_block *sb)
{
	struct tmpfs_inode *ti;

	if (charge(sb->private, INODES))
		return NULL;
	ti = kmem_cache_alloc(inode_slab, GFP_KERNEL);
	if (!ti) {
		uncharge(sb->private, INODES);
		return NULL;
	}
	ti->xattrs = NULL;
	ti->directory = NULL;
	return &ti->inode;
}

/* A directory may still have names: when it is unmounted. Their dentries are gone. */
static void tmpfs_free_inode(struct inode *inode)
{
	struct tmpfs_inode *ti = TMPFS_I(inode);
	struct tmpfs_entry *entry, *next;

	xattr_free(&ti->xattrs);
	if (ti->directory) {
		list_for_each_entry_safe (entry, next, &ti->directory->entries, link)
			kmem_cache_free(entry_slab, entry);
		kfree(ti->directory);
	}
	if (S_ISLNK(inode->mode))
		kfree(inode->link);
	uncharge(super_of(inode), INODES);
	kmem_cache_free(inode_slab, ti);
}

/* @target: of a symbolic link. NULL: no memory, or too many, which is ENOSPC both in Linux. */
static struct inode *tmpfs_inode(struct super_block *sb, const struct inode *dir, umode_t mode,
				 dev_t rdev, const char *target)
{
	size_t extra =
		S_ISDIR(mode) ? sizeof(struct tmpfs_directory) : (target ? strlen(target) + 9 : 0);
	void *part = extra ? kzalloc(extra, GFP_KERNEL) : NULL;
	struct inode *inode = part || !extra ? new_inode(sb) : NULL;

	if (!inode) {
		kfree(part);
		return NULL;
	}
	inode_init_owner(inode, dir, mode);
	inode->op = &other_operations;
	if (S_ISREG(mode)) {
		inode->fop = &file_operations;
		inode->data.ops = &page_operations;
	} else if (S_ISDIR(mode)) {
		TMPFS_I(inode)->directory = part;
		INIT_LIST_HEAD(&TMPFS_I(inode)->directory->entries);
		TMPFS_I(inode)->directory->next_cookie = FIRST_COOKIE;
		inode->op = &directory_operations;
		inode->fop = &directory_file_operations;
		inode->nlink = 2;
		inode->size = 2 * DIRECTORY_ENTRY_SIZE; /* "." and ".." */
	} else if (target) {
		inode->size = (loff_t)strlen(target);
		inode->link = memcpy(part, target, (size_t)inode->size);
	} else {
		init_special_inode(inode, mode, rdev);
	}
	return inode;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* @dentry is (going to be) a name in @dir. */
static void entry_add(struct inode *dir, struct dentry *dentry, struct tmpfs_entry *entry)
{
	struct tmpfs_directory *directory = TMPFS_I(dir)->directory;

	entry->dentry = dentry;
	entry->cookie = directory->next_cookie++;
	list_add_tail(&entry->link, &directory->entries);
	dentry->private = entry;
	dir->size += DIRECTORY_ENTRY_SIZE;
}

/* Off the list; the entry is the caller's. A reader that stopped here goes on with the next. */
static struct tmpfs_entry *entry_remove(struct inode *dir, struct dentry *dentry)
{
	struct tmpfs_directory *directory = TMPFS_I(dir)->directory;
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

/* Give @dentry @inode, whose reference is taken over. */
static int add_name(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	struct tmpfs_entry *entry = kmem_cache_alloc(entry_slab, GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	entry_add(dir, dentry, entry);
	changed(dir, inode);
	d_instantiate(dentry, inode);
	dget(dentry); /* the pin */
	return 0;
}

static int make(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev,
		const char *target)
{
	struct inode *inode = tmpfs_inode(dir->sb, dir, mode, rdev, target);
	int error = inode ? add_name(dir, dentry, inode) : -ENOSPC;

	if (error && inode) {
		inode->nlink = 0;
		iput(inode);
	}
	return error;
}

static int tmpfs_mknod(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev)
{
	return make(dir, dentry, mode, rdev, NULL);
}

static int tmpfs_create(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return make(dir, dentry, mode, 0, NULL);
}

static int tmpfs_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	int error = make(dir, dentry, mode, 0, NULL);

	if (!error)
		dir->nlink++;
	return error;
}

static int tmpfs_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	return make(dir, dentry, S_IFLNK | 0777, 0, target);
}

static int tmpfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = old->inode;
	int error = charge(super_of(inode), INODES);

	if (error)
		return error;
	ihold(inode);
	error = add_name(dir, dentry, inode);
	if (!error) {
		inode->nlink++;
	} else {
		uncharge(super_of(inode), INODES);
		iput(inode);
	}
	return error;
}

static int tmpfs_unlink(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = dentry->inode;

	kmem_cache_free(entry_slab, entry_remove(dir, dentry));
	changed(dir, inode);
	if (inode->nlink > 1 && !S_ISDIR(inode->mode))
		uncharge(super_of(inode), INODES);
	inode->nlink--;
	dput(dentry);
	return 0;
}

static bool is_empty(struct inode *inode)
{
	return list_empty(&TMPFS_I(inode)->directory->entries);
}

static int tmpfs_rmdir(struct inode *dir, struct dentry *dentry)
{
	if (!is_empty(dentry->inode))
		return -ENOTEMPTY;
	dentry->inode->nlink--;
	dir->nlink--;
	return tmpfs_unlink(dir, dentry);
}

/* The entries move with the dentries, whose pins stay. */
static int tmpfs_rename(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
			struct dentry *new, unsigned flags)
{
	struct inode *inode = old->inode, *target = new->inode;
	bool directory = S_ISDIR(inode->mode);

	if (flags & RENAME_EXCHANGE) {
		entry_add(old_dir, new, entry_remove(new_dir, new));
		new_dir->nlink -= S_ISDIR(target->mode);
		old_dir->nlink += S_ISDIR(target->mode);
		changed(new_dir, target);
	} else if (target) {
		if (directory && !is_empty(target))
			return -ENOTEMPTY;
		target->nlink -= directory;
		new_dir->nlink -= directory;
		tmpfs_unlink(new_dir, new);
	}
	entry_add(new_dir, old, entry_remove(old_dir, old));
	old_dir->nlink -= directory;
	new_dir->nlink += directory;
	changed(old_dir, inode);
	changed(new_dir, NULL);
	return 0;
}

/* ---- reading a directory --------------------------------------------------------------------- */

/* inode->lock is held for reading: the hint is set by several readers at once, any value is a good
 * one. */
static int tmpfs_iterate(struct file *file, struct dir_context *context)
{
	struct tmpfs_directory *directory = TMPFS_I(file->inode)->directory;
	struct tmpfs_entry *entry = READ_ONCE(directory->hint);

	if (unlikely(context->position < FIRST_COOKIE) && !dir_emit_dots(file, context))
		return 0;
	if (!entry || entry->cookie > (u64)context->position)
		entry = list_first_entry(&directory->entries, struct tmpfs_entry, link);
	for (; &entry->link != &directory->entries; entry = list_next_entry(entry, link)) {
		struct dentry *dentry = entry->dentry;

		if (entry->cookie < (u64)context->position)
			continue;
		/* Its own cookie until it is emitted: the successor of the entry before it. */
		context->position = (loff_t)entry->cookie;
		if (!context->emit(context, dentry->name, dentry->name_length,
				   dentry->inode->number, S_DT(dentry->inode->mode))) {
			WRITE_ONCE(directory->hint, entry);
			break;
		}
		context->position++;
	}
	return 0;
}

static int tmpfs_fsync(struct file *file, bool data_only)
{
	return 0; /* memory is as far as it goes */
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* A page that is not dirty is one that was never written; it is charged when it is. */
static int tmpfs_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	if (!test_bit(PG_dirty, &page->flags)) {
		if (charge(super_of(inode), PAGES))
			return -ENOSPC;
		inode->blocks += PAGE_SIZE / 512;
	}
	if (!page_uptodate(page) && to - from < PAGE_SIZE) {
		memset(page_address(page), 0, from);
		memset((char *)page_address(page) + to, 0, PAGE_SIZE - to);
	}
	return 0;
}

static int tmpfs_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	(void)inode, (void)from, (void)to;
	if (!page_uptodate(page))
		set_bit(PG_uptodate, &page->flags);
	set_page_dirty(page);
	return 0;
}

/* A page that is not there is zeros. */
static int tmpfs_readpage(struct inode *inode, struct page *page)
{
	(void)inode;
	clear_page(page_address(page));
	set_bit(PG_uptodate, &page->flags);
	unlock_page(page);
	return 0;
}

/* A dirty page goes away for good: give its charge back. */
static void tmpfs_invalidate(struct page *page, unsigned from)
{
	struct inode *inode = page->mapping->host;

	if (from == 0 && test_bit(PG_dirty, &page->flags)) {
		uncharge(super_of(inode), PAGES);
		inode->blocks -= PAGE_SIZE / 512;
	}
}

static const struct address_space_operations page_operations = {
	.readpage = tmpfs_readpage,
	.write_begin = tmpfs_write_begin,
	.write_end = tmpfs_write_end,
	.invalidate = tmpfs_invalidate,
};

/* The page at @index if it is data, else the next one behind it; referenced, or NULL. */
static struct page *next_data(struct inode *inode, pgoff_t index)
{
	struct address_space *mapping = &inode->data;
	struct page *found = find_get_page(mapping, index), *page;

	if (found && test_bit(PG_dirty, &found->flags))
		return found;
	if (found)
		put_page(found);
	found = NULL;
	spin_lock(&mapping->lock);
	list_for_each_entry(page, &mapping->clean_pages, mapping_link)
		if (page->index > index && test_bit(PG_dirty, &page->flags) &&
		    (!found || page->index < found->index))
			found = page;
	if (found)
		get_page(found);
	spin_unlock(&mapping->lock);
	return found;
}

static int tmpfs_seek(struct inode *inode, loff_t offset, bool hole, loff_t *found)
{
	pgoff_t index = (u64)offset >> PAGE_SHIFT, next = index;
	struct page *page;

	while ((page = next_data(inode, next)) != NULL) {
		pgoff_t data = page->index;

		put_page(page);
		if (!hole)
			next = data;
		if (!hole || data != next)
			break;
		next++;
	}
	if (next > index)
		offset = (loff_t)(next << PAGE_SHIFT);
	if (hole)
		*found = min(offset, inode->size);
	else if (!page || offset >= inode->size)
		return -ENXIO;
	else
		*found = offset;
	return 0;
}

/* Reserve: make every page of the range exist. */
static int reserve(struct inode *inode, u64 start, u64 end)
{
	for (pgoff_t i = start >> PAGE_SHIFT; i << PAGE_SHIFT < end; i++) {
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
	return 0;
}

/* The range becomes a hole: whole pages go, parts of others are zeroed. */
static int punch_hole(struct inode *inode, u64 start, u64 end)
{
	pgoff_t index = start >> PAGE_SHIFT;
	struct page *page;

	mm_unmap_file(&inode->data, index, end >> PAGE_SHIFT, true);
	while ((page = next_data(inode, index)) && page->index << PAGE_SHIFT < end) {
		u64 base = page->index << PAGE_SHIFT;
		u64 from = max(start, base) - base, to = min(end, base + PAGE_SIZE) - base;

		index = page->index + 1;
		lock_page(page);
		if (page->mapping == &inode->data && to - from == PAGE_SIZE) {
			mm_unmap_file(&inode->data, page->index, page->index, true);
			tmpfs_invalidate(page, 0);
			remove_from_page_cache(page, false);
		} else if (page->mapping == &inode->data) {
			memset((char *)page_address(page) + from, 0, to - from);
		}
		unlock_page(page);
		put_page(page);
		page = NULL;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	if (page)
		put_page(page);
	return 0;
}

static int tmpfs_fallocate(struct inode *inode, int mode, loff_t offset, loff_t length)
{
	u64 limit = super_of(inode)->limit[PAGES], end = (u64)(offset + length);
	int error;

	if (mode & FALLOC_FL_PUNCH_HOLE)
		error = punch_hole(inode, (u64)offset, end);
	else if (limit && (u64)length >> PAGE_SHIFT > limit)
		error = -ENOSPC; /* before it has taken all there is */
	else
		error = reserve(inode, (u64)offset, end);
	if (error)
		return error;
	if (!(mode & FALLOC_FL_KEEP_SIZE) && (loff_t)end > inode->size)
		inode->size = (loff_t)end;
	inode->mtime = inode->ctime = current_time();
	return 0;
}

/* ---- extended attributes: trusted.* and security.*, as in Linux 6.1 -------------------------- */

static int tmpfs_load_xattrs(struct inode *inode, struct xattr **list)
{
	struct xattr **end = list;

	for (const struct xattr *each = TMPFS_I(inode)->xattrs; each; each = each->next) {
		TRY(xattr_set(end, each->name, each->value, each->size, 0));
		end = &(*end)->next;
	}
	return 0;
}

static int tmpfs_store_xattrs(struct inode *inode, struct xattr **list)
{
	struct xattr *old = TMPFS_I(inode)->xattrs;

	TMPFS_I(inode)->xattrs = *list;
	*list = old;
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
	.load_xattrs = tmpfs_load_xattrs,
	.store_xattrs = tmpfs_store_xattrs,
};

static const struct inode_operations other_operations = {
	.fallocate = tmpfs_fallocate,
	.seek = tmpfs_seek,
	.load_xattrs = tmpfs_load_xattrs,
	.store_xattrs = tmpfs_store_xattrs,
};

static const struct file_operations directory_file_operations = {
	.llseek = generic_file_llseek,
	.iterate = tmpfs_iterate,
	.fsync = tmpfs_fsync,
};

static const struct file_operations file_operations = {
	.read = page_cache_read,
	.write = page_cache_write,
	.llseek = generic_file_llseek,
	.mmap = MAPPED_PAGES,
	.fsync = tmpfs_fsync,
};

/* ---- the superblock -------------------------------------------------------------------------- */

static int tmpfs_statfs(struct super_block *sb, struct kstatfs *stat)
{
	struct tmpfs_super *super = sb->private;
	u64 free[2];

	for (int kind = PAGES; kind <= INODES; kind++)
		free[kind] = super->limit[kind] -
			     min((u64)atomic_read(&super->used[kind]), super->limit[kind]);
	stat->type = TMPFS_MAGIC;
	stat->blocks = super->limit[PAGES];
	stat->bfree = stat->bavail = free[PAGES];
	stat->files = super->limit[INODES];
	stat->ffree = free[INODES];
	return 0;
}

static void tmpfs_put_super(struct super_block *sb)
{
	kfree(sb->private);
}

enum { MODE = 2, UID, GID, OPTIONS };

/* size=N[KMG] or N%, nr_blocks=, nr_inodes=, mode=OCTAL, uid=, gid=: 0, or -EINVAL for others. */
static int parse_options(const char *at, u64 values[OPTIONS])
{
	static const char *const names[] = {
		"size=", "nr_inodes=", "mode=", "uid=", "gid=", "nr_blocks="};
	const char *end;

	for (; at && *at; at = *end ? end + 1 : end) {
		unsigned i = 0;
		u64 value;

		while (i < ARRAY_SIZE(names) && strncmp(at, names[i], strlen(names[i])))
			i++;
		if (i == ARRAY_SIZE(names))
			return -EINVAL;
		at += strlen(names[i]);
		value = memparse(at, &end);
		if (i == MODE)
			for (value = 0, end = at; *end >= '0' && *end <= '7'; end++)
				value = value * 8 + (u64)(*end - '0');
		else if (i == PAGES && *end == '%' && end++)
			value = page_alloc_total_pages() * value / 100;
		else if (i == PAGES)
			value = DIV_ROUND_UP(value, PAGE_SIZE);
		if (end == at || (*end && *end != ','))
			return -EINVAL;
		values[i % OPTIONS] = value;
	}
	return 0;
}

/* The limits alone may change, not below what is in use, nor where there were none. */
static int tmpfs_remount(struct super_block *sb, unsigned flags, const char *text)
{
	struct tmpfs_super *super = sb->private;
	u64 values[OPTIONS] = {super->limit[PAGES], super->limit[INODES]};

	if (parse_options(text, values))
		return -EINVAL;
	for (int kind = PAGES; kind <= INODES; kind++)
		if (values[kind] &&
		    (!super->limit[kind] || values[kind] < (u64)atomic_read(&super->used[kind])))
			return -EINVAL;
	memcpy(super->limit, values, sizeof(super->limit));
	return 0;
}

static const struct super_operations super_operations = {
	.alloc_inode = tmpfs_alloc_inode,
	.free_inode = tmpfs_free_inode,
	.statfs = tmpfs_statfs,
	.remount = tmpfs_remount,
	.put_super = tmpfs_put_super,
};

int tmpfs_fill_super(struct super_block *sb, const char *text, bool silent)
{
	struct tmpfs_super *super = kzalloc(sizeof(*super), GFP_KERNEL);
	u64 values[OPTIONS] = {};
	struct inode *root;
	int error;

	if (!super)
		return -ENOMEM;
	values[PAGES] = values[INODES] = page_alloc_total_pages() / 2;
	values[MODE] = S_ISVTX | 0777;
	error = parse_options(text, values);
	memcpy(super->limit, values, sizeof(super->limit));
	sb->op = &super_operations;
	sb->private = super;
	sb->flags |= SB_NO_USER_XATTRS;
	root = error ? NULL : tmpfs_inode(sb, NULL, S_IFDIR | (values[MODE] & S_IALLUGO), 0, NULL);
	if (root) {
		root->uid = (uid_t)values[UID];
		root->gid = (gid_t)values[GID];
		sb->root = d_alloc_root(root);
		if (sb->root)
			return 0;
		iput(root);
	}
	kfree(super);
	return error ? error : -ENOMEM;
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

/* Where the files of tmpfs_file() are, made for the first of them. */
static struct mount *nowhere(void)
{
	static DEFINE_MUTEX(lock);
	static struct mount *mount;

	guard(mutex, &lock);
	if (IS_ERR_OR_NULL(mount))
		mount = vfs_mount_internal("tmpfs");
	return mount;
}

struct file *tmpfs_file(umode_t mode, loff_t size)
{
	struct path path = {.mount = nowhere()};
	struct file *file = ERR_PTR(-ENOMEM);
	struct inode *inode;

	inode = IS_ERR_OR_NULL(path.mount)
			? NULL
			: tmpfs_inode(path.mount->sb, NULL, S_IFREG | mode, 0, NULL);
	if (!inode)
		return file;
	path.dentry = d_alloc_root(inode);
	inode->size = size;
	inode->nlink = 0; /* it goes with its last user */
	if (path.dentry) {
		file = file_open_path(&path, O_RDWR);
		dput(path.dentry);
	} else {
		iput(inode);
	}
	return file;
}

struct filesystem tmpfs_filesystem = {.name = "tmpfs", .fill_super = tmpfs_fill_super, .pinned = true};

void tmpfs_init(void)
{
	entry_slab = kmem_cache_create("tmpfs_entry", sizeof(struct tmpfs_entry), 8, 0);
	inode_slab = kmem_cache_create("tmpfs_inode", sizeof(struct tmpfs_inode), 0,
				       SLAB_RECLAIMABLE);
}
