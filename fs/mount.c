/*
 * mount.c - file systems, their superblocks, and the tree of mounts.
 *
 * A mount joins a superblock's tree to a directory of another mount. A dentry that is (or once was)
 * a mount point carries D_MOUNTED, so that a path walk asks this file only there; the mounts on it
 * are then found among the children of the mount it is seen through, which are few.
 *
 * A mount's refcount: 1 for being in the tree, 1 for each child mount, and one for each struct path
 * that goes through it (open files, working directories, walks). umount needs it to be idle: only
 * the first, and the caller's own. The last reference of the last mount of a superblock unmounts
 * that.
 *
 * Locks: mount_mutex serialises mounting and unmounting (sleeps); mount_lock guards the tree's
 * pointers against walks. mount_mutex -> inode locks of the file systems -> mount_lock.
 */
#include "fs/block.h"
#include "fs/buffer.h"
#include "fs/internal.h"
#include "kernel/core/assert.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "mm/slab.h"

DEFINE_SPINLOCK(mount_lock);
static DEFINE_MUTEX(mount_mutex);
static LIST_HEAD(mounts);	/* all mounts, in order of mounting; mount_lock */
static LIST_HEAD(super_blocks); /* mount_mutex */
static struct filesystem *filesystems;
static struct mount *root_mount;

void register_filesystem(struct filesystem *type)
{
	struct filesystem **at = &filesystems;

	while (*at)
		at = &(*at)->next;
	*at = type;
}

const struct filesystem *first_filesystem(void)
{
	return filesystems;
}

static struct filesystem *find_filesystem(const char *name)
{
	struct filesystem *type = filesystems;

	while (type && strcmp(type->name, name))
		type = type->next;
	return type;
}

/* ---- walking the tree ------------------------------------------------------------------------ */

/* The mount on @path, or NULL. mount_lock held. */
static struct mount *mount_on(const struct path *path)
{
	struct mount *child;

	list_for_each_entry(child, &path->mount->children, child_link)
		if (child->mountpoint == path->dentry)
			return child;
	return NULL;
}

void follow_mounts(struct path *path)
{
	struct mount *child;
	struct path old;

	while (path->dentry->flags & D_MOUNTED) {
		spin_lock(&mount_lock);
		child = mount_on(path);
		if (child)
			mntget(child);
		spin_unlock(&mount_lock);
		if (!child)
			return;
		old = *path;
		path->mount = child;
		path->dentry = dget(child->root);
		path_put(&old);
	}
}

bool follow_up(struct path *path)
{
	struct path up;

	spin_lock(&mount_lock);
	up.mount = path->mount->parent;
	up.dentry = path->mount->mountpoint;
	if (!up.mount || up.mount == path->mount) {
		spin_unlock(&mount_lock);
		return false;
	}
	path_get(&up);
	spin_unlock(&mount_lock);
	path_put(path);
	*path = up;
	return true;
}

bool is_mountpoint(const struct dentry *dentry)
{
	struct mount *mount;
	bool found = false;

	spin_lock(&mount_lock);
	list_for_each_entry(mount, &mounts, link)
		found |= mount->mountpoint == dentry && mount->parent != mount;
	spin_unlock(&mount_lock);
	return found;
}

int mount_writable(const struct mount *mount)
{
	return (mount->flags | mount->sb->flags) & SB_RDONLY ? -EROFS : 0;
}

void for_each_mount(void (*visit)(struct mount *mount, void *argument), void *argument)
{
	struct mount *mount;

	mutex_lock(&mount_mutex);
	list_for_each_entry(mount, &mounts, link)
		visit(mount, argument);
	mutex_unlock(&mount_mutex);
}

void for_each_super(void (*visit)(struct super_block *sb, void *argument), void *argument)
{
	struct super_block *sb;

	mutex_lock(&mount_mutex);
	list_for_each_entry(sb, &super_blocks, link)
		visit(sb, argument);
	mutex_unlock(&mount_mutex);
}

/* ---- superblocks ----------------------------------------------------------------------------- */

static dev_t anonymous_dev(void)
{
	static atomic_t minor;

	return MKDEV(0, (u32)atomic_inc_return(&minor));
}

static struct super_block *super_alloc(struct filesystem *type, struct block_device *device,
				       unsigned flags)
{
	struct super_block *sb = kzalloc(sizeof(*sb), GFP_KERNEL);

	if (!sb)
		return NULL;
	sb->type = type;
	sb->bdev = device;
	sb->dev = device ? device->dev : anonymous_dev();
	sb->flags = flags & (SB_RDONLY | SB_NOATIME | SB_NODIRATIME);
	sb->block_size = PAGE_SIZE;
	sb->max_bytes = ~0ULL >> 1;
	atomic_set(&sb->active, 0);
	mutex_init(&sb->rename_lock, "sb->rename_lock");
	spin_lock_init(&sb->inodes_lock, "sb->inodes_lock");
	INIT_LIST_HEAD(&sb->inodes);
	INIT_LIST_HEAD(&sb->dirty);
	return sb;
}

static int sync_super(struct super_block *sb)
{
	int error, second;

	error = sync_inodes(sb);
	if (sb->op->sync_fs) {
		second = sb->op->sync_fs(sb, true);
		error = error ? error : second;
	}
	if (sb->bdev) {
		second = sync_buffers(sb->bdev, true);
		error = error ? error : second;
		second = block_flush(sb->bdev);
		error = error ? error : second;
	}
	return error;
}

/* Drop all names and inodes of @sb. Memory reclaim on another CPU may have some in its hands for a
 * moment. How many inodes are still in use. */
static u64 drop_objects(struct super_block *sb)
{
	unsigned tries = 1000;
	u64 busy;

	while ((shrink_dcache_sb(sb, sb->type->pinned) || dentry_count(sb->root) > 1) && --tries)
		sleep_ns(NSEC_PER_MSEC);
	if (!tries)
		pr_err("%s: a name is still in use after unmounting\n", sb->type->name);
	dput(sb->root);
	while ((busy = evict_inodes(sb)) != 0 && tries && --tries)
		sleep_ns(NSEC_PER_MSEC);
	return busy;
}

/* The last mount is gone. Everything is written; then nothing may be left in use. */
static void super_shutdown(struct super_block *sb)
{
	u64 busy;

	for (unsigned tries = 0; sync_super(sb) == -ENOMEM && tries < 100; tries++)
		sleep_ns(10 * NSEC_PER_MSEC); /* what is dirty can only be written now */
	busy = drop_objects(sb);
	if (busy)
		pr_err("%s: %llu inodes still in use after unmounting\n", sb->type->name,
		       (unsigned long long)busy);
#ifdef CONFIG_DEBUG
	BUG_ON(busy);
#endif
	if (sb->op->put_super)
		sb->op->put_super(sb);
	if (sb->bdev) {
		sync_buffers(sb->bdev, true);
		invalidate_buffers(sb->bdev);
		block_flush(sb->bdev);
	}
	if (!busy)
		kfree(sb);
}

/* Takes mount_mutex, so that who mounts the device again waits until it is unmounted. */
static void super_put(struct super_block *sb)
{
	mutex_lock(&mount_mutex);
	if (atomic_dec_and_test(&sb->active)) {
		if (sb->link.next)
			list_del(&sb->link);
		super_shutdown(sb);
	}
	mutex_unlock(&mount_mutex);
}

/* A superblock that serves this mount already: that of the device, or of a type that has one for
 * all. */
static struct super_block *super_find(const struct filesystem *type,
				      const struct block_device *device)
{
	struct super_block *sb;

	list_for_each_entry(sb, &super_blocks, link)
		if (sb->type == type && (device ? sb->bdev == device : type->single))
			return sb;
	return NULL;
}

/* mount_mutex held. Counted in sb->active. */
static struct super_block *super_get(struct filesystem *type, struct block_device *device,
				     unsigned flags, const char *options)
{
	struct super_block *sb = super_find(type, device);
	int error;

	if (sb) {
		if (device && ((sb->flags ^ flags) & SB_RDONLY))
			return ERR_PTR(-EBUSY);
		atomic_inc(&sb->active);
		return sb;
	}
	sb = super_alloc(type, device, flags);
	if (!sb)
		return ERR_PTR(-ENOMEM);
	error = type->fill_super(sb, options, flags & MS_SILENT);
	if (error) {
		kfree(sb);
		return ERR_PTR(error);
	}
	atomic_inc(&sb->active);
	list_add_tail(&sb->link, &super_blocks);
	return sb;
}

/* ---- mounts ---------------------------------------------------------------------------------- */

#define MOUNT_FLAGS (SB_RDONLY | SB_NOSUID | SB_NODEV | SB_NOEXEC | SB_NOATIME | SB_NODIRATIME)

/* Takes over a count of sb->active; on failure it is the caller's still. NULL: no memory. */
static struct mount *mount_alloc(struct super_block *sb, struct dentry *root, unsigned flags,
				 const char *device)
{
	struct mount *mount = kzalloc(sizeof(*mount), GFP_KERNEL);

	if (!mount)
		return NULL;
	mount->device_name = kstrdup(device && *device ? device : "none", GFP_KERNEL);
	if (!mount->device_name) {
		kfree(mount);
		return NULL;
	}
	atomic_set(&mount->refcount, 1);
	mount->sb = sb;
	mount->root = dget(root);
	mount->parent = mount;
	mount->flags = flags & MOUNT_FLAGS;
	INIT_LIST_HEAD(&mount->children);
	INIT_LIST_HEAD(&mount->child_link);
	INIT_LIST_HEAD(&mount->link);
	return mount;
}

void mount_free(struct mount *mount)
{
	ASSERT(list_empty(&mount->children));
	dput(mount->root);
	super_put(mount->sb);
	kfree(mount->device_name);
	kfree(mount);
}

/* mount_mutex held. Under the lock of the mount point's inode, where its removal asks
 * is_mountpoint(). */
static int attach(struct mount *mount, const struct path *where)
{
	struct dentry *dentry = where->dentry;
	struct inode *inode = dentry->inode;

	if (S_ISDIR(inode->mode) != S_ISDIR(mount->root->inode->mode))
		return -ENOTDIR;
	if (where->mount->sb == mount->sb && where->dentry == where->mount->root &&
	    where->mount->root == mount->root)
		return -EBUSY; /* the same thing on top of itself */
	down_write(&inode->lock);
	if ((inode->flags & I_DEAD) || d_unlinked(dentry)) {
		up_write(&inode->lock);
		return -ENOENT;
	}
	__atomic_fetch_or(&dentry->flags, D_MOUNTED, __ATOMIC_RELAXED);
	path_get(where);
	spin_lock(&mount_lock);
	mount->parent = where->mount;
	mount->mountpoint = dentry;
	list_add(&mount->child_link, &where->mount->children);
	list_add_tail(&mount->link, &mounts);
	spin_unlock(&mount_lock);
	up_write(&inode->lock);
	return 0;
}

/*
 * mount_mutex held: take @mount off the tree, whose reference to it, and to *@where it was, are the
 * caller's. -EBUSY: it has more than two references (unless @lazy): walks come to it under
 * mount_lock.
 */
static int detach(struct mount *mount, bool lazy, struct path *where)
{
	*where = (struct path){mount->parent, mount->mountpoint};
	spin_lock(&mount_lock);
	if (!lazy && atomic_read(&mount->refcount) > 2) {
		spin_unlock(&mount_lock);
		return -EBUSY;
	}
	list_del_init(&mount->child_link);
	list_del_init(&mount->link);
	mount->parent = mount;
	mount->mountpoint = NULL;
	mount->detached = true;
	spin_unlock(&mount_lock);
	return 0;
}

static struct block_device *device_by_path(const char *name, int *error)
{
	struct block_device *device = NULL;
	struct path path;

	*error = kern_path(name, LOOKUP_FOLLOW, &path);
	if (*error)
		return NULL;
	if (!S_ISBLK(path.dentry->inode->mode)) {
		*error = -ENOTBLK;
	} else {
		device = find_block_device_by_number(path.dentry->inode->rdev);
		if (!device)
			*error = -ENXIO;
	}
	path_put(&path);
	return device;
}

/* Mount @root of @sb on @where. Takes over a count of sb->active. */
static int mount_super(struct super_block *sb, struct dentry *root, const struct path *where,
		       unsigned flags, const char *device_name)
{
	struct mount *mount = mount_alloc(sb, root, flags, device_name);
	int error;

	if (!mount) {
		super_put(sb);
		return -ENOMEM;
	}
	mutex_lock(&mount_mutex);
	error = attach(mount, where);
	mutex_unlock(&mount_mutex);
	if (error)
		mntput(mount);
	return error;
}

static int mount_new(const char *device_name, const struct path *where, const char *type_name,
		     unsigned flags, const char *options)
{
	struct filesystem *type = find_filesystem(type_name);
	struct block_device *device = NULL;
	struct super_block *sb;
	int error = 0;

	if (!type)
		return -ENODEV;
	if (type->needs_device) {
		device = device_by_path(device_name, &error);
		if (!device)
			return error;
	}
	mutex_lock(&mount_mutex);
	sb = super_get(type, device, flags, options);
	mutex_unlock(&mount_mutex);
	if (IS_ERR(sb))
		return (int)PTR_ERR(sb);
	return mount_super(sb, sb->root, where, flags, device_name);
}

static int mount_bind(const char *from, const struct path *where)
{
	struct path path;
	int error = kern_path(from, LOOKUP_FOLLOW, &path);

	if (error)
		return error;
	atomic_inc(&path.mount->sb->active); /* not the first, since the path holds the mount */
	error = mount_super(path.mount->sb, path.dentry, where, path.mount->flags,
			    path.mount->device_name);
	path_put(&path);
	return error;
}

static int remount(struct mount *mount, unsigned flags, const char *options)
{
	struct super_block *sb = mount->sb;
	int error = 0;

	mutex_lock(&mount_mutex);
	if ((sb->flags ^ flags) & SB_RDONLY) {
		error = (flags & SB_RDONLY) && open_for_writing(sb) ? -EBUSY : sync_super(sb);
		if (!error && sb->op->remount)
			error = sb->op->remount(sb, flags & SB_RDONLY, options);
		if (!error)
			sb->flags = (sb->flags & ~SB_RDONLY) | (flags & SB_RDONLY);
	}
	if (!error)
		mount->flags = flags & MOUNT_FLAGS;
	mutex_unlock(&mount_mutex);
	return error;
}

int vfs_mount(const char *device, const struct path *where, const char *type, unsigned flags,
	      const char *options)
{
	struct path top = *where;
	int error;

	if (!capable(current->cred))
		return -EPERM;
	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~MS_MGC_MSK;
	if (flags & MS_REMOUNT)
		return where->dentry == where->mount->root ? remount(where->mount, flags, options)
							   : -EINVAL;
	if (flags & MS_MOVE)
		return -EINVAL;
	path_get(&top);
	follow_mounts(&top);
	if (flags & MS_BIND)
		error = device ? mount_bind(device, &top) : -EINVAL;
	else
		error = type ? mount_new(device ? device : "none", &top, type, flags,
					 options ? options : "")
			     : -EINVAL;
	path_put(&top);
	return error;
}

/* @where holds one reference of the mount, the tree another. */
int vfs_umount(const struct path *where, unsigned flags)
{
	struct mount *mount = where->mount;
	struct path parent;
	int error = 0;

	if (flags & ~(unsigned)(MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW))
		return -EINVAL;
	if (!capable(current->cred))
		return -EPERM;
	mutex_lock(&mount_mutex);
	if (where->dentry != mount->root || mount->detached)
		error = -EINVAL;
	else if (mount->parent == mount)
		error = mount == root_mount ? -EBUSY : -EINVAL;
	else if (!list_empty(&mount->children))
		error = -EBUSY;
	else
		error = detach(mount, flags & MNT_DETACH, &parent);
	mutex_unlock(&mount_mutex);
	if (!error) {
		path_put(&parent);
		mntput(mount);
	}
	return error;
}

int vfs_mount_root(const char *device_name, const char *type_name, unsigned flags)
{
	struct filesystem *type = find_filesystem(type_name);
	struct block_device *device = NULL;
	struct super_block *sb;
	struct fs_context *fs = current->fs;

	if (!type)
		return -ENODEV;
	if (type->needs_device) {
		device = find_block_device(device_name);
		if (!device)
			return -ENXIO;
	}
	mutex_lock(&mount_mutex);
	sb = super_get(type, device, flags, "");
	mutex_unlock(&mount_mutex);
	if (IS_ERR(sb))
		return (int)PTR_ERR(sb);
	root_mount = mount_alloc(sb, sb->root, flags, device ? device_name : type_name);
	if (!root_mount)
		return -ENOMEM;
	spin_lock(&mount_lock);
	list_add(&root_mount->link, &mounts);
	spin_unlock(&mount_lock);
	fs->root = fs->cwd = (struct path){root_mount, root_mount->root};
	path_get(&fs->root);
	path_get(&fs->cwd);
	return 0;
}

/* ---- everything ------------------------------------------------------------------------------ */

static void sync_visit(struct super_block *sb, void *result)
{
	int error = sync_super(sb);

	if (error && !*(int *)result)
		*(int *)result = error;
}

int vfs_sync_all(void)
{
	int error = 0, second;

	for_each_super(sync_visit, &error);
	second = sync_buffers(NULL, true); /* devices written to without a file system */
	return error ? error : second;
}

static void make_read_only(struct super_block *sb, void *argument)
{
	if (!sb->bdev || (sb->flags & SB_RDONLY))
		return;
	if (sb->op->remount && sb->op->remount(sb, SB_RDONLY, ""))
		pr_err("%s: could not be made read-only\n", sb->type->name);
	sb->flags |= SB_RDONLY;
	sync_super(sb);
}

void vfs_shutdown(void)
{
	int error = vfs_sync_all();

	if (error)
		pr_err("vfs: not everything could be written: error %d\n", -error);
	for_each_super(make_read_only, NULL);
#ifdef CONFIG_DEBUG
	dentry_cache_check();
	inode_cache_check();
	buffer_cache_check();
#endif
}
