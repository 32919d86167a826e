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
 * pointers against walks. mount_mutex -> inode locks of the file systems -> mount_lock. The latter
 * is one spinlock for each CPU: a walk takes its own CPU's, so walks do not meet; who changes the
 * tree, which is rare, takes them all.
 *
 * All mounts are private: there is no propagation. MNT_EXPIRE does not notice a use between its two
 * calls.
 */
#include "fs/buffer.h"
#include "fs/internal.h"

static struct {
	spinlock_t lock;
} __aligned(64) mount_locks[NR_CPUS];
static DEFINE_MUTEX(mount_mutex);
static LIST_HEAD(mounts);	/* all mounts, in order of mounting; mount_lock */
static LIST_HEAD(super_blocks); /* mount_mutex */
static struct filesystem *filesystems;

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

/* ---- mount_lock ------------------------------------------------------------------------------ */

void mount_init(void)
{
	for (unsigned i = 0; i < NR_CPUS; i++)
		spin_lock_init(&mount_locks[i].lock, "mount_lock");
}

void mount_lock_read(void)
{
	spin_lock(&mount_locks[cpu_id()].lock);
}

void mount_unlock_read(void)
{
	spin_unlock(&mount_locks[cpu_id()].lock); /* the same CPU: we did not sleep */
}

static void mount_lock_write(void)
{
	spin_lock(&mount_locks[0].lock); /* of which the lock-order checker knows, for all */
	for (unsigned cpu = 1; cpu < NR_CPUS; cpu++)
		__spin_lock(&mount_locks[cpu].lock);
}

static void mount_unlock_write(void)
{
	for (unsigned cpu = NR_CPUS - 1; cpu > 0; cpu--)
		__spin_unlock(&mount_locks[cpu].lock);
	spin_unlock(&mount_locks[0].lock);
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
		mount_lock_read();
		child = mount_on(path);
		if (child)
			mntget(child);
		mount_unlock_read();
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

	mount_lock_read();
	up.mount = path->mount->parent;
	up.dentry = path->mount->mountpoint;
	if (!up.mount || up.mount == path->mount) {
		mount_unlock_read();
		return false;
	}
	path_get(&up);
	mount_unlock_read();
	path_put(path);
	*path = up;
	return true;
}

bool is_mountpoint(const struct dentry *dentry)
{
	struct mount *mount;
	bool found = false;

	mount_lock_read();
	list_for_each_entry(mount, &mounts, link)
		found |= mount->mountpoint == dentry && mount->parent != mount;
	mount_unlock_read();
	return found;
}

int mount_writable(const struct mount *mount)
{
	return (mount->flags | mount->sb->flags) & SB_RDONLY ? -EROFS : 0;
}

void for_each_mount(void (*visit)(struct mount *mount, void *argument), void *argument)
{
	struct mount *mount;

	guard(mutex, &mount_mutex);
	list_for_each_entry(mount, &mounts, link)
		visit(mount, argument);
}

void for_each_super(void (*visit)(struct super_block *sb, void *argument), void *argument)
{
	struct super_block *sb;

	guard(mutex, &mount_mutex);
	list_for_each_entry(sb, &super_blocks, link)
		visit(sb, argument);
}

/* ---- superblocks ----------------------------------------------------------------------------- */

static struct super_block *super_alloc(struct filesystem *type, struct block_device *device,
				       unsigned flags)
{
	static atomic_t minor; /* of those without a device */
	struct super_block *sb = kzalloc(sizeof(*sb), GFP_KERNEL);

	if (!sb)
		return NULL;
	sb->type = type;
	sb->bdev = device;
	sb->dev = device ? device->dev : MKDEV(0, (u32)atomic_inc_return(&minor));
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
	int errors[4] = {sync_inodes(sb)}, error = 0;

	if (sb->op->sync_fs)
		errors[1] = sb->op->sync_fs(sb, true);
	if (sb->bdev) {
		errors[2] = sync_buffers(sb->bdev, true);
		errors[3] = block_flush(sb->bdev);
	}
	for (int i = 0; i < 4 && !error; i++)
		error = errors[i];
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

/* The last one takes mount_mutex, so that who mounts the device again waits until it is unmounted.
 */
static void super_put(struct super_block *sb)
{
	if (atomic_add_unless(&sb->active, -1, 1))
		return;
	guard(mutex, &mount_mutex);
	if (!atomic_dec_and_test(&sb->active))
		return;
	list_del(&sb->link);
	super_shutdown(sb);
}

/* The superblock that serves this mount already (that of the device, or of a type that has one for
 * all), or a new one. mount_mutex held. Counted in sb->active. */
static struct super_block *super_get(struct filesystem *type, struct block_device *device,
				     unsigned flags, const char *options)
{
	struct super_block *sb;
	int error;

	list_for_each_entry(sb, &super_blocks, link) {
		if (sb->type != type || (device ? sb->bdev != device : !type->single))
			continue;
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

#define ATIME_FLAGS (SB_NOATIME | SB_NODIRATIME | MS_RELATIME)
#define MOUNT_FLAGS (SB_RDONLY | SB_NOSUID | SB_NODEV | SB_NOEXEC | ATIME_FLAGS)

/* What mount(2)'s flags say of the mount: relatime unless something else is said. */
static unsigned mount_flags(unsigned flags)
{
	if (!(flags & (SB_NOATIME | MS_STRICTATIME)))
		flags |= MS_RELATIME;
	return flags & MOUNT_FLAGS;
}

/* Takes over a count of sb->active, also on failure. NULL: no memory. */
static struct mount *mount_alloc(struct super_block *sb, struct dentry *root, unsigned flags,
				 const char *device)
{
	struct mount *mount = kzalloc(sizeof(*mount), GFP_KERNEL);
	static atomic_t last_id;
	char *name = kstrdup(device && *device ? device : "none", GFP_KERNEL);

	if (!mount || !name) {
		kfree(mount);
		kfree(name);
		super_put(sb);
		return NULL;
	}
	mount->id = atomic_inc_return(&last_id);
	atomic_set(&mount->refcount, 1);
	mount->device_name = name;
	mount->sb = sb;
	mount->root = dget(root);
	mount->parent = mount;
	mount->flags = flags;
	INIT_LIST_HEAD(&mount->children);
	INIT_LIST_HEAD(&mount->child_link);
	INIT_LIST_HEAD(&mount->link);
	return mount;
}

static struct mount *mount_clone(struct mount *from, struct dentry *root)
{
	atomic_inc(&from->sb->active); /* not the first, since somebody holds @from */
	return mount_alloc(from->sb, root, from->flags, from->device_name);
}

void mount_free(struct mount *mount)
{
	ASSERT(list_empty(&mount->children));
	dput(mount->root);
	super_put(mount->sb);
	kfree(mount->device_name);
	kfree(mount);
}

/* Is @mount part of the tree? mount_mutex held. */
static bool is_attached(const struct mount *mount)
{
	return !list_empty(&mount->link);
}

/* mount_mutex held. Under the lock of the mount point's inode, where its removal asks
 * is_mountpoint(). */
static int attach(struct mount *mount, const struct path *where)
{
	struct dentry *dentry = where->dentry;
	struct inode *inode = dentry->inode;

	guard(write, &inode->lock);
	if ((inode->flags & I_DEAD) || d_unlinked(dentry))
		return -ENOENT;
	if (S_ISDIR(inode->mode) != S_ISDIR(mount->root->inode->mode))
		return -ENOTDIR;
	__atomic_fetch_or(&dentry->flags, D_MOUNTED, __ATOMIC_RELAXED);
	path_get(where);
	mount_lock_write();
	mount->parent = where->mount;
	mount->mountpoint = dentry;
	list_add(&mount->child_link, &where->mount->children);
	list_add_tail(&mount->link, &mounts);
	mount_unlock_write();
	return 0;
}

/*
 * mount_mutex held: take @mount off the tree, whose reference to it, and to *@where it was, are the
 * caller's. -EBUSY: it has more than @references: walks come to it under mount_lock.
 */
static int detach(struct mount *mount, int references, struct path *where)
{
	mount_lock_write();
	if (atomic_read(&mount->refcount) > references) {
		mount_unlock_write();
		return -EBUSY;
	}
	*where = (struct path){mount->parent, mount->mountpoint};
	list_del_init(&mount->child_link);
	list_del_init(&mount->link);
	mount->parent = mount;
	mount->mountpoint = NULL;
	mount_unlock_write();
	return 0;
}

#define ANY_NUMBER (1 << 30) /* of references */

/* Take @top, which the caller holds, and all that is mounted below it off the tree. */
static void detach_tree(struct mount *top)
{
	struct mount *mount;
	struct path where;

	do {
		mutex_lock(&mount_mutex);
		mount = top;
		while (!list_empty(&mount->children))
			mount = list_first_entry(&mount->children, struct mount, child_link);
		where.mount = NULL;
		if (is_attached(mount))
			detach(mount, ANY_NUMBER, &where);
		mutex_unlock(&mount_mutex);
		if (where.mount) {
			path_put(&where);
			mntput(mount);
		}
	} while (mount != top);
}

static struct block_device *device_by_path(const char *name)
{
	struct path path __free(path) = {0};
	struct block_device *device;
	int error = kern_path(name, LOOKUP_FOLLOW, &path);

	if (error)
		return ERR_PTR(error);
	if (!S_ISBLK(path.dentry->inode->mode))
		return ERR_PTR(-ENOTBLK);
	device = find_block_device_by_number(path.dentry->inode->rdev);
	return device ? device : ERR_PTR(-ENXIO);
}

/* Mount @mount on @where; its reference goes over to the tree, or is dropped. */
static int mount_on_path(struct mount *mount, const struct path *where)
{
	int error = -EINVAL;

	if (!mount)
		return -ENOMEM;
	mutex_lock(&mount_mutex);
	if (is_attached(where->mount))
		error = attach(mount, where);
	mutex_unlock(&mount_mutex);
	if (error)
		mntput(mount);
	return error;
}

/* A mount of a new or known superblock, not yet on the tree; ERR_PTR. */
static struct mount *mount_make(struct filesystem *type, struct block_device *device,
				unsigned flags, const char *device_name, const char *options)
{
	struct super_block *sb;
	struct mount *mount;

	if (IS_ERR(device))
		return ERR_CAST(device);
	mutex_lock(&mount_mutex);
	sb = super_get(type, device, flags, options);
	mutex_unlock(&mount_mutex);
	if (IS_ERR(sb))
		return ERR_CAST(sb);
	mount = mount_alloc(sb, sb->root, mount_flags(flags), device_name);
	return mount ? mount : ERR_PTR(-ENOMEM);
}

static int mount_new(const char *device_name, const struct path *where, const char *type_name,
		     unsigned flags, const char *options)
{
	struct filesystem *type = find_filesystem(type_name);
	struct mount *mount;

	if (!type)
		return -ENODEV;
	mount = mount_make(type, type->needs_device ? device_by_path(device_name) : NULL, flags,
			   device_name, options);
	if (IS_ERR(mount))
		return (int)PTR_ERR(mount);
	if (where->dentry == mount->root) { /* the same thing on top of itself */
		mntput(mount);
		return -EBUSY;
	}
	return mount_on_path(mount, where);
}

/* The next mount below @from that has no copy yet, though what it is mounted on has one. */
static struct mount *next_to_copy(const struct path *from)
{
	struct mount *mount;

	list_for_each_entry(mount, &mounts, link)
		if (!mount->copy && mount->parent->copy &&
		    (mount->parent != from->mount || is_subdir(mount->mountpoint, from->dentry)))
			return mount;
	return NULL;
}

/* Copy all that is mounted below @from onto @top, a copy of its mount; mount_mutex held. */
static int copy_children(const struct path *from, struct mount *top)
{
	struct mount *mount;
	struct path where;
	int error = 0;

	from->mount->copy = top;
	while (!error && (mount = next_to_copy(from)) != NULL) {
		mount->copy = mount_clone(mount, mount->root);
		where = (struct path){mount->parent->copy, mount->mountpoint};
		error = mount->copy ? attach(mount->copy, &where) : -ENOMEM;
		if (error && mount->copy)
			mntput(mount->copy);
	}
	list_for_each_entry(mount, &mounts, link)
		mount->copy = NULL;
	from->mount->copy = NULL;
	return error;
}

static int mount_bind(const struct path *from, const struct path *where, bool with_children)
{
	struct mount *mount = mount_clone(from->mount, from->dentry);
	int error = 0;

	if (!mount)
		return -ENOMEM;
	mntget(mount);
	if (with_children) {
		guard(mutex, &mount_mutex);
		error = copy_children(from, mount);
	}
	if (!error)
		error = mount_on_path(mount, where);
	else
		mntput(mount);
	if (error)
		detach_tree(mount);
	mntput(mount);
	return error;
}

/* The mount that @from is the root of moves to @to. */
static int mount_move(const struct path *from, const struct path *to)
{
	struct mount *mount = from->mount;
	struct path where __free(path) = {0};
	int error;

	guard(mutex, &mount_mutex);
	if (d_unlinked(to->dentry))
		return -ENOENT;
	if (from->dentry != mount->root || mount->parent == mount || !is_attached(to->mount) ||
	    S_ISDIR(to->dentry->inode->mode) != S_ISDIR(from->dentry->inode->mode))
		return -EINVAL;
	for (struct mount *up = to->mount; up != up->parent; up = up->parent)
		if (up == mount)
			return -ELOOP;
	detach(mount, ANY_NUMBER, &where);
	error = attach(mount, to);
	if (error && attach(mount, &where)) /* its old place cannot have gone */
		BUG_ON(true);
	return error;
}

/* Is a file open for writing through @mount (NULL: through any of @sb)? mount_mutex held. */
static bool has_writers(const struct super_block *sb, const struct mount *mount)
{
	const struct mount *other;

	list_for_each_entry(other, &mounts, link)
		if ((mount ? other == mount : other->sb == sb) && atomic_read(&other->writers))
			return true;
	return false;
}

/* With MS_BIND the file system's own flags stay. */
static int remount(const struct path *path, unsigned flags, const char *options)
{
	struct mount *mount = path->mount;
	struct super_block *sb = mount->sb;
	unsigned read_only = flags & SB_RDONLY;
	int error = 0;

	if (path->dentry != mount->root)
		return -EINVAL;
	if (!(flags & (ATIME_FLAGS | MS_STRICTATIME)))
		flags |= mount->flags & ATIME_FLAGS;
	guard(mutex, &mount_mutex);
	if (read_only && has_writers(sb, flags & MS_BIND ? mount : NULL))
		return -EBUSY;
	if (!(flags & MS_BIND)) {
		if ((sb->flags ^ flags) & SB_RDONLY)
			error = sync_super(sb);
		if (!error && sb->op->remount)
			error = sb->op->remount(sb, read_only, options);
		if (error)
			return error;
		sb->flags = (sb->flags & ~SB_RDONLY) | read_only;
	}
	mount->flags = mount_flags(flags);
	return 0;
}

/* What mount(2) is given as strings, NULL where the program gave none. */
struct mount_strings {
	char *device, *type, *options;
	char text[2 * PAGE_SIZE + 64];
};

static int mount_path(const struct mount_strings *strings, const struct path *where, unsigned flags)
{
	const unsigned propagation = MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE;
	const char *device = strings->device, *options = strings->options ? strings->options : "";
	struct path top __free(path) = *where, from __free(path) = {0};
	int error;

	path_get(&top);
	if (!capable(current->cred))
		return -EPERM;
	if (flags & MS_REMOUNT)
		return remount(where, flags, options);
	if (!(flags & MS_BIND) && (flags & propagation)) /* private is all there is */
		return (flags & propagation) == MS_PRIVATE && where->dentry == where->mount->root
			       ? 0
			       : -EINVAL;
	follow_mounts(&top);
	if (flags & (MS_BIND | MS_MOVE)) {
		error = device && *device ? kern_path(device, LOOKUP_FOLLOW, &from) : -EINVAL;
		if (error)
			return error;
		return flags & MS_BIND ? mount_bind(&from, &top, flags & MS_REC)
				       : mount_move(&from, &top);
	}
	return strings->type
		       ? mount_new(device ? device : "none", &top, strings->type, flags, options)
		       : -EINVAL;
}

/* *@to: @from, a string of the program's, put at *@at, or NULL. */
static int copy_string(const char __user *from, char **to, char **at, size_t limit)
{
	s64 length;

	*to = NULL;
	if (!from)
		return 0;
	length = strncpy_from_user(*at, from, limit);
	*to = *at;
	*at += limit;
	return length < 0 ? (int)length : (size_t)length == limit ? -EINVAL : 0;
}

s64 sys_mount(const char *device, const char *where, const char *type, u64 flags,
	      const char *options)
{
	struct mount_strings *strings __free(kfree) = kmalloc(sizeof(*strings), GFP_KERNEL);
	struct path path __free(path) = {0};
	char *at;
	s64 error;

	if (!strings)
		return -ENOMEM;
	at = strings->text;
	error = copy_string(type, &strings->type, &at, 64);
	if (!error)
		error = copy_string(device, &strings->device, &at, PAGE_SIZE);
	if (!error)
		error = copy_string(options, &strings->options, &at, PAGE_SIZE);
	if (!error)
		error = user_path_at(AT_FDCWD, where, LOOKUP_FOLLOW, &path);
	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~(u64)MS_MGC_MSK;
	return error ? error : mount_path(strings, &path, (unsigned)flags);
}

/* May @mount, of which the caller has one reference and the tree another, go now? If so, and it has
 * no others below it, it is off the tree. */
static int umount_begin(struct mount *mount, unsigned flags, struct path *parent)
{
	bool marked = mount->expiring;

	guard(mutex, &mount_mutex);
	mount->expiring = false;
	if (!is_attached(mount))
		return -EINVAL;
	if (mount->parent == mount)
		return -EBUSY;
	if (flags & MNT_DETACH)
		return 0;
	if (!list_empty(&mount->children) || atomic_read(&mount->refcount) > 2)
		return -EBUSY;
	if ((flags & MNT_EXPIRE) && !marked) {
		mount->expiring = true;
		return -EAGAIN;
	}
	return detach(mount, 2, parent);
}

s64 sys_umount2(const char *where, u32 flags)
{
	struct path path __free(path) = {0}, parent __free(path) = {0};
	s64 error;

	if (flags & ~(u32)(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW))
		return -EINVAL;
	error = user_path_at(AT_FDCWD, where, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &path);
	if (!error && !capable(current->cred))
		error = -EPERM;
	if (!error)
		follow_mounts(&path); /* "." stands below what is mounted on it */
	if (!error && path.dentry != path.mount->root)
		error = -EINVAL;
	if (!error && (flags & MNT_EXPIRE) && (flags & (MNT_FORCE | MNT_DETACH)))
		error = -EINVAL;
	if (!error)
		error = umount_begin(path.mount, flags, &parent);
	if (error)
		return error;
	if (flags & MNT_DETACH)
		detach_tree(path.mount);
	else
		mntput(path.mount); /* the tree's */
	return 0;
}

struct mount *vfs_mount_internal(const char *type)
{
	return mount_make(find_filesystem(type), NULL, 0, type, "");
}

int vfs_mount_root(const char *device_name, const char *type_name, unsigned flags)
{
	struct filesystem *type = find_filesystem(type_name);
	struct block_device *device = NULL;
	struct fs_context *fs = current->fs;
	struct mount *mount;

	if (!type)
		return -ENODEV;
	if (type->needs_device) {
		device = find_block_device(device_name);
		if (!device)
			return -ENXIO;
	}
	mount = mount_make(type, device, flags, device ? device_name : type_name, "");
	if (IS_ERR(mount))
		return (int)PTR_ERR(mount);
	list_add(&mount->link, &mounts); /* nothing else runs yet */
	fs->root = fs->cwd = (struct path){mount, mount->root};
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

s64 sys_sync(void)
{
	vfs_sync_all(); /* has no way to fail; errors are reported by fsync() */
	return 0;
}

s64 sys_syncfs(int number)
{
	struct fd fd __free(fd) = fdget(number);

	return fd.file ? sync_super(fd.file->inode->sb) : -EBADF;
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
