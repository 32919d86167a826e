/*
 * tmpfs.c - the memory file system: files in the page cache, names in the dentry cache, nowhere
 * else.
 *
 * Since nothing else knows a name, each positive dentry carries one reference of the file system (a
 * pin), so it is never reclaimed; negative ones come and go as everywhere. Each name has a cookie
 * that only grows, and the names of a directory are the end of its dentry's children, in order of
 * creation: the position of an open directory is the cookie to go on from, whatever is created and
 * removed meanwhile.
 *
 * Locks: a directory's names are under its inode->lock, like every change to it, and its dentry's
 * lock.
 */

#include "fs/devfs/special.h"
#include "fs/regular/file_io.h"
#include "fs/inode/permission.h"
#include "fs/path/lockless/component.h"
#include "fs/tmpfs/pages.h"
#include "mm/space/swap_hooks.h"
#include "core/memory/slab.h"

enum { PAGES, INODES, MODE, UID, GID, OPTIONS }; /* of mount(2) */

#define FIRST_COOKIE 2		/* 0 and 1 are "." and ".." */
#define SHORT_LINK 128		/* a link of fewer bytes is paid for by its inode */
#define DIRECTORY_ENTRY_SIZE 20 /* what Linux adds to a directory's size for a name */

static const struct inode_operations inode_operations;
static const struct file_operations directory_file_operations, file_operations;

/* ---- inodes ---------------------------------------------------------------------------------- */

/* Each name more than one of a file was counted as an inode, too: those that an unmounted file has
 * left. */
static void tmpfs_free_inode(struct inode *inode)
{
	if (TMPFS_I(inode)->xattrs)
		inode->sb->type->xattrs->forget(inode);
	if (inode->nlink > 1 && !S_ISDIR(inode->mode))
		percpu_counter_add(&inode->sb->inode_count, 1 - (s64)inode->nlink);
	/* a long link's; those of a file have gone, and been given back */
	percpu_counter_add(&super_of(inode)->pages, -(s64)(inode->blocks / PAGE_BLOCKS));
}

/* NULL: no memory, or too many, which is ENOSPC both in Linux. */
static struct inode *tmpfs_inode(struct super_block *sb, const struct inode *dir, umode_t mode,
				 dev_t rdev)
{
	struct inode *inode = new_inode(sb);

	if (!inode)
		return NULL;
	inode_init_owner(inode, dir, mode);
	inode->op = &inode_operations;
	if (S_ISREG(mode)) {
		inode->fop = &file_operations;
		inode->data.ops = &tmpfs_page_operations;
	} else if (S_ISDIR(mode)) {
		inode->fop = &directory_file_operations;
		inode->nlink = 2;
		inode->data.size = 2 * DIRECTORY_ENTRY_SIZE; /* "." and ".." */
	} else if (!S_ISLNK(mode)) {
		init_special_inode(inode, mode, rdev);
	}
	return if_labels(label_made(inode)) ? NULL : inode;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The name behind @dentry in @dir, or NULL. */
static inline struct dentry *next_name(struct dentry *dir, struct dentry *dentry)
{
	struct list_head *next = dentry->child_link.next;

	return next == &dir->children ? NULL : list_entry(next, struct dentry, child_link);
}

/* @dentry becomes the youngest name in its directory, which is or will be @into, or no name (NULL).
 * A reader that stopped here goes on with the next. */
static void place(struct dentry *dentry, struct inode *into)
{
	struct dentry *dir = dentry->parent;
	struct tmpfs_inode *ti = TMPFS_I(dir->inode);

	lockdep_assert_held(&dir->inode->lock);
	guard(spinlock, &dir->lock);
	if (ti->hint == dentry)
		ti->hint = next_name(dir, dentry);
	if (into) {
		lockdep_assert_held(&into->lock);
		dentry->cookie = FIRST_COOKIE + ++into->last_cookie;
		list_move_tail(&dentry->child_link, &dir->children);
	} else {
		dentry->cookie = 0;
		list_move(&dentry->child_link, &dir->children);
	}
}

static __always_inline void changed(struct inode *dir, struct inode *inode, int names,
				    struct timespec64 now)
{
	dir->data.size += names * DIRECTORY_ENTRY_SIZE;
	spin_lock(&dir->spin);
	dir->mtime = now;
	dir->ctime = now;
	spin_unlock(&dir->spin);
	if (inode)
		set_ctime(inode, now);
}

static int tmpfs_lookup(struct inode *dir, struct dentry *dentry)
{
	d_add(dentry, NULL);
	return 0;
}

/* Give @dentry @inode, whose reference is taken over. */
static void add_name(struct inode *dir, struct dentry *dentry, struct inode *inode,
		     struct timespec64 now)
{
	place(dentry, dir);
	changed(dir, NULL, 1, now);
	d_instantiate(dentry, inode);
	dget(dentry); /* the pin */
}

/* Where the link @inode leads to. false: no memory, or the file system is full, since a long one is
 * charged its pages, as in Linux. */
static bool set_target(struct inode *inode, const char *target)
{
	size_t length = strlen(target), room = length + 9; /* it is read by words */
	u64 blocks = length < SHORT_LINK ? 0 : DIV_ROUND_UP(room, PAGE_SIZE) * PAGE_BLOCKS;

	for (; inode->blocks < blocks; inode->blocks += PAGE_BLOCKS)
		if (!percpu_counter_inc(&super_of(inode)->pages))
			return false;
	char *text = kzalloc(room, GFP_KERNEL);
	if (text)
		memcpy(text, target, length);
	inode->link = text;
	inode->data.size = (loff_t)length;
	return text;
}

static int tmpfs_make(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev,
		      const char *target)
{
	struct inode *inode = tmpfs_inode(dir->sb, dir, mode, rdev);

	if (!inode)
		return -ENOSPC;
	if (S_ISLNK(mode) && !set_target(inode, target)) {
		inode->nlink = 0;
		iput(inode);
		return -ENOSPC;
	}
	add_name(dir, dentry, inode, inode->ctime);
	dir->nlink += S_ISDIR(mode);
	return 0;
}

static struct inode *tmpfs_make_nameless(struct inode *dir, umode_t mode)
{
	struct inode *inode = tmpfs_inode(dir->sb, dir, mode, 0);

	if (!inode)
		return ERR_PTR(-ENOSPC);
	inode->nlink = 0;
	return inode;
}

static int tmpfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct timespec64 now = current_time();

	if (old->inode->nlink) /* a name more than the one that goes with the inode */
		if (!percpu_counter_inc(&dir->sb->inode_count))
			return -ENOSPC;
	ihold(old->inode);
	add_name(dir, dentry, old->inode, now);
	old->inode->nlink++;
	set_ctime(old->inode, now);
	return 0;
}

static int tmpfs_remove(struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = dentry->inode;
	bool directory = S_ISDIR(inode->mode);

	if (directory && inode->data.size > 2 * DIRECTORY_ENTRY_SIZE)
		return -ENOTEMPTY;
	place(dentry, NULL);
	changed(dir, inode, -1, current_time());
	if (inode->nlink > 1 && !directory)
		percpu_counter_add(&inode->sb->inode_count, -1);
	inode->nlink -= 1 + directory;
	dir->nlink -= directory;
	dput(dentry);
	return 0;
}

/* The dentries will move, with their cookies and pins. */
static int tmpfs_rename(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
			struct dentry *new, unsigned flags)
{
	struct timespec64 now = current_time();
	struct inode *inode = old->inode, *target = new->inode;
	bool exchange = flags & RENAME_EXCHANGE;

	if (exchange) {
		place(new, old_dir);
		new_dir->nlink -= S_ISDIR(target->mode);
		old_dir->nlink += S_ISDIR(target->mode);
	} else if (target) {
		TRY(tmpfs_remove(new_dir, new));
	}
	place(old, new_dir);
	old_dir->nlink -= S_ISDIR(inode->mode);
	new_dir->nlink += S_ISDIR(inode->mode);
	int moved = !exchange && old_dir != new_dir;
	changed(old_dir, inode, -moved, now);
	if (exchange || moved)
		changed(new_dir, target, moved, now);
	return 0;
}

/* ---- reading a directory --------------------------------------------------------------------- */

/* The first name in @dir from @position on, or NULL: looked for backwards, from where a reader
 * stopped if that helps. The hint is set by several readers at once, any value is a good one. */
static struct dentry *first_name(struct dentry *dir, u64 position)
{
	struct dentry *found = NULL, *hint = READ_ONCE(TMPFS_I(dir->inode)->hint);

	lockdep_assert_held(&dir->inode->lock);
	guard(spinlock, &dir->lock);
	struct list_head *link =
		hint && hint->cookie >= position ? &hint->child_link : dir->children.prev;

	for (; link != &dir->children; link = link->prev) {
		struct dentry *dentry = list_entry(link, struct dentry, child_link);

		if (dentry->cookie < position)
			break;
		found = dentry;
	}
	return found;
}

static int tmpfs_iterate(struct file *file, struct dir_context *context)
{
	struct dentry *dir = file->path.dentry, *dentry;

	if (unlikely(context->position < FIRST_COOKIE)) {
		/* what gets a name later is not listed, or who renames what he lists never ends */
		file->private = (void *)(FIRST_COOKIE + dir->inode->last_cookie);
		if (!dir_emit_dots(file, context))
			return 0;
	}
	for (dentry = first_name(dir, (u64)context->position);
	     dentry && (!file->private || dentry->cookie <= (u64)file->private);
	     dentry = next_name(dir, dentry)) {
		/* Its own cookie until it is emitted: the successor of the entry before it. */
		context->position = (loff_t)dentry->cookie;
		if (!context->emit(context, dentry->name, dentry->name_length,
				   dentry->inode->number, S_DT(READ_ONCE(dentry->inode->mode)))) {
			WRITE_ONCE(TMPFS_I(dir->inode)->hint, dentry);
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

/* ---- tables of operations -------------------------------------------------------------------- */

static const struct inode_operations inode_operations = {
	.lookup = tmpfs_lookup,
	.make = tmpfs_make,
	.make_nameless = tmpfs_make_nameless,
	.link = tmpfs_link,
	.remove = tmpfs_remove,
	.rename = tmpfs_rename,
	.truncate = tmpfs_truncate,
#ifdef CONFIG_FALLOCATE
	.fallocate = tmpfs_fallocate,
#endif
	.seek = tmpfs_seek,
};

static const struct file_operations directory_file_operations = {
	.seekable = true,
	.iterate = tmpfs_iterate,
	.fsync = tmpfs_fsync,
};

static const struct file_operations file_operations = {
	.read = page_cache_read,
	.write = page_cache_write,
	.seekable = true,
	.mmap = MAPPED_PAGES,
	.fsync = tmpfs_fsync,
};

/* ---- the superblock -------------------------------------------------------------------------- */

static void report(struct percpu_counter *counter, u64 *limit, u64 *left)
{
	if (counter->limit == NO_LIMIT)
		return;
	*limit = (u64)counter->limit;
	*left = *limit - min((u64)percpu_counter_sum(counter), *limit);
}

static void tmpfs_statfs(struct super_block *sb, struct kstatfs *stat)
{
	struct tmpfs_super *super = sb->private;

	report(&super->pages, &stat->blocks, &stat->bfree);
	report(&sb->inode_count, &stat->files, &stat->ffree);
	stat->bavail = stat->bfree;
}

/* size=N[KMG] or N%, nr_inodes=, mode=OCTAL, uid=, gid=: 0, or -EINVAL for others. */
static int parse_options(const char *at, u64 values[OPTIONS])
{
	static const char *const names[OPTIONS] = {"size=", "nr_inodes=", "mode=", "uid=", "gid="};
	const char *end;

	for (; at && *at; at = *end ? end + 1 : end) {
		unsigned i = 0;

		while (i < OPTIONS && strncmp(at, names[i], strlen(names[i])))
			i++;
		if (i == OPTIONS)
			return -EINVAL;
		at += strlen(names[i]);
		values[i] = memparse(at, &end);
		if (i == MODE)
			for (values[i] = 0, end = at; *end >= '0' && *end <= '7'; end++)
				values[i] = values[i] * 8 + (u64)(*end - '0');
		else if (i == PAGES && *end == '%' && end++)
			values[i] = page_alloc_total_pages() * values[i] / 100;
		else if (i == PAGES)
			values[i] = DIV_ROUND_UP(values[i], PAGE_SIZE);
		if (end == at || (*end && *end != ','))
			return -EINVAL;
	}
	return 0;
}

static void tmpfs_put_super(struct super_block *sb)
{
	ASSERT(!percpu_counter_sum(&((struct tmpfs_super *)sb->private)->pages));
}

static const struct super_operations super_operations = {
	.put_super = tmpfs_put_super,
	.free_inode = tmpfs_free_inode,
	.statfs = tmpfs_statfs,
};

int tmpfs_fill_super(struct super_block *sb, const char *text, bool silent)
{
	u64 half = page_alloc_total_pages() / 2;
	u64 values[OPTIONS] = {half, half, [MODE] = S_ISVTX | 0777};
	struct tmpfs_super *super = sb->private = TRY_PTR(kzalloc(sizeof(*super), GFP_KERNEL));

	TRY(parse_options(text, values));
	percpu_counter_init(&super->pages, (s64)values[PAGES]);
	percpu_counter_init(&sb->inode_count, (s64)values[INODES]);
	sb->op = &super_operations;
	struct inode *root =
		TRY_PTR(tmpfs_inode(sb, NULL, S_IFDIR | (values[MODE] & S_IALLUGO), 0));

	root->uid = (uid_t)values[UID];
	root->gid = (gid_t)values[GID];
	sb->root = TRY_PTR(d_alloc_root(root));
	return 0;
}

int tmpfs_make_node(struct super_block *sb, const char *name, umode_t mode, dev_t rdev)
{
	char text[32 + 8];

	strlcpy(text, name, 32);
	guard(parent, sb->root->inode);
	struct component component = take_component(sb->root, text);
	struct dentry *dentry = TRY_PTR(lookup_locked(sb->root, &component, FIRST_LOOK));
	int error = tmpfs_make(sb->root->inode, dentry, mode, rdev, NULL);

	dput(dentry);
	return error;
}

/* ---- files without a name -------------------------------------------------------------------- */

int tmpfs_nameless(umode_t mode, struct path *path)
{
	static struct mount *nowhere; /* without limits; made for the first of them */
	static DEFINE_MUTEX(nowhere_lock);

	if (!READ_ONCE(nowhere)) {
		guard(mutex, &nowhere_lock);
		if (!nowhere) {
			nowhere = TRY_PTR(mount_make(&tmpfs_filesystem, NULL, 0, "none",
						     "size=0,nr_inodes=0"));
			percpu_ref_spread(&nowhere->references);
		}
	}
	path->dentry = TRY_PTR(d_alloc_root(tmpfs_inode(nowhere->sb, NULL, mode, 0)));
	path->mount = nowhere;
	mntget(nowhere);
	return 0;
}

struct file *tmpfs_file(umode_t mode, u64 size, int access)
{
	struct path path __free(path) = {0};
	if (size > (page_alloc_total_pages() + swap_total_pages()) << PAGE_SHIFT)
		return ERR_PTR(-ENOMEM);
	int error = tmpfs_nameless(S_IFREG | mode, &path);
	if (error)
		return ERR_PTR(error);
	path.dentry->inode->data.size = (loff_t)size;
	path.dentry->inode->nlink = 0; /* it goes with its last user */
	return file_open_path(&path, access);
}

struct filesystem tmpfs_filesystem = {
	.name = "tmpfs",
	.magic = TMPFS_MAGIC,
	.fill_super = tmpfs_fill_super,
	.pinned = true,
	.inode_before = TMPFS_INODE_BEFORE,
};
