/*
 * mount.c - file systems, their superblocks, and the tree of mounts.
 *
 * A mount joins a superblock's tree to a directory of another mount. A dentry that is (or once was)
 * a mount point carries D_MOUNTED, so that a path walk asks this file only there; what is mounted
 * on it is then looked for among all mounts, which are few.
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
 * All mounts are private: there is no propagation, and a bind has no mounts below it.
 */
#include "fs/block/dirty.h"
#include "fs/internal.h"
#include "fs/inode/lru.h"
#include "hash/cache.h"

static struct mount_lock {
	spinlock_t lock;
} __aligned(64) mount_locks[NR_CPUS];
DEFINE_MUTEX(mount_mutex);
LIST_HEAD(mounts);	/* all mounts, in order of mounting; mount_lock */
static LIST_HEAD(super_blocks); /* mount_mutex */

struct filesystem *const filesystems[] = {&ext2_filesystem, &tmpfs_filesystem, &proc_filesystem,
					  &devtmpfs_filesystem, NULL};

static struct filesystem *find_filesystem(const char *name)
{
	struct filesystem *const *type = filesystems;

	while (*type && strcmp((*type)->name, name))
		type++;
	return *type;
}

/* ---- mount_lock ------------------------------------------------------------------------------ */

spinlock_t *mount_lock(void)
{
	return &mount_locks[cpu_id()].lock;
}

static void lock_every_cpu(struct mount_lock *locks)
{
	spin_lock(&locks[0].lock); /* of which the lock-order checker knows, for all */
	for (unsigned cpu = 1; cpu < NR_CPUS; cpu++)
		__spin_lock(&locks[cpu].lock);
}

static void unlock_every_cpu(struct mount_lock *locks)
{
	for (unsigned cpu = NR_CPUS - 1; cpu > 0; cpu--)
		__spin_unlock(&locks[cpu].lock);
	spin_unlock(&locks[0].lock);
}

DEFINE_GUARD(every_cpu, struct mount_lock, lock_every_cpu(object), unlock_every_cpu)

/* ---- walking the tree ------------------------------------------------------------------------ */

/* The newest mount at @mountpoint (NULL: anywhere) of @parent (NULL: any), or NULL. mount_lock or
 * mount_mutex held. */
static struct mount *find_mount(const struct mount *parent, const struct dentry *mountpoint)
{
	struct mount *mount, *found = NULL;

	list_for_each_entry(mount, &mounts, link)
		if ((!mountpoint || mount->mountpoint == mountpoint) &&
		    (!parent || mount->parent == parent) && mount->parent != mount)
			found = mount;
	return found;
}

bool follow_down(struct path *path)
{
	struct path above __free(path) = {0}; /* let go without the lock */

	guard(spinlock, mount_lock());
	struct mount *mount = find_mount(path->mount, path->dentry);
	if (!mount)
		return false;
	above = *path;
	*path = (struct path){mount, mount->root};
	path_get(path);
	return true;
}

bool follow_up(struct path *path)
{
	struct path below __free(path) = {0}; /* let go without the lock */

	guard(spinlock, mount_lock());
	if (path->mount->parent == path->mount)
		return false;
	below = *path;
	*path = (struct path){below.mount->parent, below.mount->mountpoint};
	path_get(path);
	return true;
}

bool is_mountpoint(const struct dentry *dentry)
{
	if (likely(!(READ_ONCE(dentry->flags) & D_MOUNTED)))
		return false;
	guard(spinlock, mount_lock());
	return find_mount(NULL, dentry);
}

int mount_writable(const struct mount *mount)
{
	return (mount->flags | mount->sb->flags) & SB_RDONLY ? -EROFS : 0;
}

int for_each_super(int (*visit)(struct super_block *sb))
{
	struct super_block *sb;
	int error = 0;

	guard(mutex, &mount_mutex);
	list_for_each_entry(sb, &super_blocks, link) {
		int one = visit(sb);

		error = error ?: one;
	}
	return error;
}

/* ---- superblocks ----------------------------------------------------------------------------- */

/* Writes all, whatever fails; the first error. */
static int sync_super(struct super_block *sb)
{
	int inodes = sync_inodes(sb);

	if (sb->op->sync_fs)
		sb->op->sync_fs(sb);
	int buffers = sb->bdev ? sync_buffers(sb->bdev, true) : 0;
	int flushed = sb->bdev ? block_flush(sb->bdev) : 0;

	return inodes ?: buffers ?: flushed;
}

/* The last mount is gone. Everything is written; then nothing may be left in use, but memory
 * reclaim on another CPU may have some in its hands for a moment. */
static void super_shutdown(struct super_block *sb)
{
	unsigned tries = 2000;
	int busy;

	/* what is dirty can only be written now */
	while (((sync_super(sb) == -ENOMEM && tries > 1000) ||
		shrink_dcache_sb(sb, sb->type->pinned) || dentry_count(sb->root) > 1) &&
	       --tries)
		sleep_ns(NSEC_PER_MSEC);
	dput(sb->root);
	/* evict what is left; others may be at it too */
	while (lru_shrink(&inode_lru, sb, ~0ULL, ~0ULL),
	       (busy = atomic_read(&sb->inode_count)) != 0 && tries && --tries)
		sleep_ns(NSEC_PER_MSEC);
	if (!tries)
		pr_err("%s: %d inodes still in use after unmounting\n", sb->type->name, busy);
	ASSERT(!busy);
	sync_super(sb); /* what was freed */
	if (sb->op->put_super)
		sb->op->put_super(sb);
	if (busy)
		return;
	kfree(sb->private);
	kfree(sb);
}

/* Under mount_mutex, so that who mounts the device again waits until it is unmounted. */
static void super_put(struct super_block *sb)
{
	guard(mutex, &mount_mutex);
	if (!atomic_dec_and_test(&sb->active))
		return;
	list_del(&sb->link);
	super_shutdown(sb);
}

/* The superblock that serves this mount already (that of the device, or of a type that has one for
 * all), or a new one; ERR_PTR or NULL: no memory. Counted in sb->active. */
static struct super_block *super_get(struct filesystem *type, struct block_device *device,
				     unsigned flags, const char *options)
{
	static u32 minor; /* of those without a device */
	struct super_block *sb;

	guard(mutex, &mount_mutex);
	list_for_each_entry(sb, &super_blocks, link) {
		if (sb->type != type || (device ? sb->bdev != device : !type->single))
			continue;
		if (device && ((sb->flags ^ flags) & SB_RDONLY))
			return ERR_PTR(-EBUSY);
		atomic_inc(&sb->active);
		return sb;
	}
	sb = kzalloc(sizeof(*sb), GFP_KERNEL);
	if (!sb)
		return NULL;
	sb->type = type;
	sb->bdev = device;
	sb->dev = device ? device->dev : MKDEV(0, ++minor);
	sb->flags = flags & (SB_RDONLY | SB_NOATIME | SB_NODIRATIME);
	sb->block_size = PAGE_SIZE;
	sb->max_bytes = ~0ULL >> 1;
	atomic_set(&sb->active, 1);
	mutex_init(&sb->rename_lock, "sb->rename_lock");
	mutex_init(&sb->sync_lock, "sb->sync_lock");
	spin_lock_init(&sb->inodes_lock, "sb->inodes_lock");
	INIT_LIST_HEAD(&sb->dirty);
	int error = type->fill_super(sb, options, flags & MS_SILENT);
	if (error) {
		kfree(sb->private);
		kfree(sb);
		return ERR_PTR(error);
	}
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

/* Not yet on the tree. Takes over a count of sb->active, also on failure. NULL: no memory. */
static struct mount *mount_alloc(struct super_block *sb, struct dentry *root, unsigned flags,
				 const char *device)
{
	static atomic_t last_id;
	size_t size = strlen(device) + 1;
	struct mount *mount = kzalloc(sizeof(*mount) + size, GFP_KERNEL);

	if (!mount) {
		super_put(sb);
		return NULL;
	}
	mount->id = atomic_inc_return(&last_id);
	atomic_set(&mount->refcount, 1);
	memcpy(mount->device_name, device, size);
	mount->sb = sb;
	mount->root = dget(root);
	mount->parent = mount;
	mount->flags = flags;
	INIT_LIST_HEAD(&mount->link);
	return mount;
}

void mount_free(struct mount *mount)
{
	dput(mount->root);
	super_put(mount->sb);
	kfree(mount);
}

DEFINE_FREE(mntput, struct mount *, mntput(*variable))

struct mount *mount_make(struct filesystem *type, struct block_device *device, unsigned flags,
			 const char *device_name, const char *options)
{
	if (!type)
		return ERR_PTR(-ENODEV);
	if (type->needs_device != !!device)
		return ERR_PTR(-ENXIO);
	struct super_block *sb = super_get(type, device, flags, options);
	if (IS_ERR_OR_NULL(sb))
		return ERR_CAST(sb);
	return mount_alloc(sb, sb->root, mount_flags(flags), device_name);
}

/* Is @mount part of the tree? mount_mutex held. */
static bool is_attached(const struct mount *mount)
{
	return !list_empty(&mount->link);
}

/* mount_mutex held: put @mount on @where, with a reference of the tree's, or move it there. Under
 * the lock of the mount point's inode, where its removal asks is_mountpoint(). */
static int attach(struct mount *mount, const struct path *where)
{
	struct dentry *dentry = where->dentry;
	struct inode *inode = dentry->inode;
	struct path old __free(path) = {0}; /* let go without the locks */

	if (!is_attached(where->mount))
		return -EINVAL;
	guard(write, &inode->lock);
	if (is_dead(inode) || d_unlinked(dentry) || (dentry->flags & D_UNCACHED))
		return -ENOENT;
	if (S_ISDIR(inode->mode) != S_ISDIR(mount->root->inode->mode))
		return -ENOTDIR;
	if (d_unlinked(mount->root))
		return -ENOENT;
	__atomic_fetch_or(&dentry->flags, D_MOUNTED, __ATOMIC_RELAXED);
	path_get(where);
	guard(every_cpu, &mount_locks[0]);
	if (is_attached(mount)) {
		old = (struct path){mount->parent, mount->mountpoint};
	} else {
		list_add_tail(&mount->link, &mounts);
		mntget(mount);
	}
	mount->parent = where->mount;
	mount->mountpoint = dentry;
	return 0;
}

/* Take @top, which the caller holds, off the tree; if @lazily with all that is mounted below it,
 * and even if it is in use. Who walks comes to a mount under mount_lock. */
static int detach_tree(struct mount *top, bool lazily)
{
	struct mount *mount, *child;

	do {
		struct path where __free(path) = {0};

		mount = top;
		{
			guard(mutex, &mount_mutex);
			if (!is_attached(top))
				return -EINVAL;
			while ((child = find_mount(mount, NULL)) != NULL && lazily)
				mount = child;
			guard(every_cpu, &mount_locks[0]);
			if (top->parent == top || child ||
			    (!lazily && atomic_read(&mount->refcount) > 2))
				return -EBUSY;
			where = (struct path){mount->parent, mount->mountpoint};
			list_del_init(&mount->link);
			mount->parent = mount;
			mount->mountpoint = NULL;
		}
		mntput(mount);
	} while (mount != top);
	return 0;
}

/* ---- mount(2) and umount2(2) ----------------------------------------------------------------- */

static int mount_new(const char *device_name, const struct path *where, const char *type_name,
		     unsigned flags, const char *options)
{
	struct filesystem *type = find_filesystem(type_name);
	struct path path __free(path) = {0};
	struct block_device *device = NULL;

	if (type && type->needs_device) {
		TRY(kern_path(device_name, LOOKUP_FOLLOW, &path));
		if (!S_ISBLK(path.dentry->inode->mode))
			return -ENOTBLK;
		device = find_block_device(NULL, path.dentry->inode->rdev);
	}
	struct mount *mount __free(mntput) =
		TRY_PTR(mount_make(type, device, flags, device_name, options));
	guard(mutex, &mount_mutex);
	/* not the same thing on top of itself */
	return where->dentry == mount->root ? -EBUSY : attach(mount, where);
}

static int mount_bind(const struct path *from, const struct path *where)
{
	struct mount *old = from->mount;

	atomic_inc(&old->sb->active); /* not the first, since somebody holds @old */
	struct mount *mount __free(mntput) =
		TRY_PTR(mount_alloc(old->sb, from->dentry, old->flags, old->device_name));
	guard(mutex, &mount_mutex);
	return attach(mount, where);
}

/* The mount that @from is the root of moves to @to. */
static int mount_move(const struct path *from, const struct path *to)
{
	struct mount *mount = from->mount;

	guard(mutex, &mount_mutex);
	if (d_unlinked(to->dentry))
		return -ENOENT;
	if (from->dentry != mount->root || mount->parent == mount || !is_attached(to->mount) ||
	    S_ISDIR(to->dentry->inode->mode) != S_ISDIR(from->dentry->inode->mode))
		return -EINVAL;
	for (struct mount *up = to->mount; up != up->parent; up = up->parent)
		if (up == mount)
			return -ELOOP;
	return attach(mount, to);
}

/* mount_mutex held: the file system becomes writable, or not. */
static int remount_super(struct super_block *sb, unsigned read_only, const char *options)
{
	if ((sb->flags & SB_RDONLY) != read_only)
		TRY(sync_super(sb));
	if (sb->op->remount)
		TRY(sb->op->remount(sb, read_only));
	else if (*options)
		return -EINVAL;
	sb->flags = (sb->flags & ~SB_RDONLY) | read_only;
	return 0;
}

/* With MS_BIND the file system's own flags stay, and who writes through other mounts does not
 * matter. */
static int remount(const struct path *path, unsigned flags, const char *options)
{
	struct mount *mount = path->mount, *other;
	bool alone = flags & MS_BIND;

	if (path->dentry != mount->root)
		return -EINVAL;
	if (!(flags & (ATIME_FLAGS | MS_STRICTATIME)))
		flags |= mount->flags & ATIME_FLAGS;
	guard(mutex, &mount_mutex);
	if (!is_attached(mount))
		return -EINVAL;
	list_for_each_entry(other, &mounts, link)
		if ((flags & SB_RDONLY) && atomic_read(&other->writers) &&
		    (alone ? other == mount : other->sb == mount->sb))
			return -EBUSY;
	if (!alone)
		TRY(remount_super(mount->sb, flags & SB_RDONLY, options));
	mount->flags = mount_flags(flags);
	return 0;
}

s64 sys_mount(const char *device, const char *where, const char *type, u64 all_flags,
	      const char *options)
{
	const unsigned propagation = MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE;
	unsigned flags = (unsigned)all_flags;
	struct path_name type_text __free(name) = {0}, device_text __free(name) = {.text = ""};
	struct path_name options_text __free(name) = {.text = ""};
	struct path path __free(path) = {0}, from __free(path) = {0};

	if (type)
		TRY(path_name_get(&type_text, type));
	if (device)
		TRY(path_name_get(&device_text, device));
	if (options)
		TRY(path_name_get(&options_text, options));
	TRY(user_path_at(AT_FDCWD, where, LOOKUP_FOLLOW, &path));
	if (!capable(current->cred))
		return -EPERM;
	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~MS_MGC_MSK;
	if (flags & MS_REMOUNT)
		return remount(&path, flags, options_text.text);
	if (!(flags & MS_BIND) && (flags & propagation)) /* private is all there is */
		return (flags & propagation) == MS_PRIVATE && path.dentry == path.mount->root
			       ? 0
			       : -EINVAL;
	follow_mounts(&path);
	if (!(flags & (MS_BIND | MS_MOVE)))
		return type ? mount_new(*device_text.text ? device_text.text : "none", &path,
					type_text.text, flags, options_text.text)
			    : -EINVAL;
	if (!*device_text.text || (flags & MS_REC))
		return -EINVAL;
	TRY(kern_path(device_text.text, LOOKUP_FOLLOW, &from));
	return flags & MS_BIND ? mount_bind(&from, &path) : mount_move(&from, &path);
}

s64 sys_umount2(const char *where, u32 flags)
{
	struct path path __free(path) = {0};

	if (flags & ~(u32)(MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW))
		return -EINVAL;
	TRY(user_path_at(AT_FDCWD, where, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &path));
	if (!capable(current->cred))
		return -EPERM;
	follow_mounts(&path); /* "." stands below what is mounted on it */
	return path.dentry == path.mount->root ? detach_tree(path.mount, flags & MNT_DETACH)
					       : -EINVAL;
}

int vfs_mount_root(const char *device_name, const char *type_name, unsigned flags)
{
	struct block_device *device = device_name ? find_block_device(device_name, 0) : NULL;
	struct fs_context *fs = current->fs;
	/* A tmpfs of that mode, as Linux's root file system has it: not a folder for everybody. */
	const char *options = device ? "" : "mode=755";
	struct mount *mount = TRY_PTR(mount_make(find_filesystem(type_name), device, flags,
						 device ? device_name : type_name, options));
	list_add(&mount->link, &mounts); /* nothing else runs yet */
	fs->root = fs->cwd = (struct path){mount, mount->root};
	path_get(&fs->root);
	path_get(&fs->cwd);
	return 0;
}

/* ---- everything ------------------------------------------------------------------------------ */

void vfs_init(void)
{
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		spin_lock_init(&mount_locks[cpu].lock, "mount_lock");
	dentry_cache_init();
	inode_cache_init();
	buffer_cache_init();
	file_cache_init();
	for (struct filesystem *const *type = filesystems; *type; type++)
		(*type)->inode_slab = kmem_cache_create(
			(*type)->name, (*type)->inode_before + sizeof(struct inode), 0,
			SLAB_RECLAIMABLE);
}

int vfs_sync_all(void)
{
	int error = for_each_super(sync_super);
	int second = sync_buffers(NULL, true); /* devices written to without a file system */

	return error ?: second;
}

/* It has no way to fail; errors are reported by fsync(). */
SYSCALL_IS(sync, (void), (vfs_sync_all(), 0))

s64 sys_syncfs(int number)
{
	struct fd fd __free(fd) = fdget(number);

	return fd.file ? sync_super(fd.file->inode->sb) : -EBADF;
}

static int make_read_only(struct super_block *sb)
{
	return remount_super(sb, SB_RDONLY, "");
}

void vfs_shutdown(void)
{
	int error = vfs_sync_all(), second = for_each_super(make_read_only);

	if (error || second)
		pr_err("vfs: not everything could be written: error %d\n", -(error ?: second));
#ifdef CONFIG_DEBUG
	dentry_cache_check();
	lru_check(&inode_lru, &inode_cache_hash);
	buffer_cache_check();
#endif
}
