/*
 * mount.c - the tree of mounts: walked, and changed. See super.c for what is mounted.
 *
 * A mount joins a superblock's tree to a directory of another mount. A dentry that is (or once was)
 * a mount point carries D_MOUNTED, so that a path walk asks this file only there; what is mounted
 * on it is then looked for among all mounts, which are few.
 *
 * A mount's references: 1 for being in the tree, 1 for each child mount, and one for each struct
 * path that goes through it (open files, working directories, walks). While it is in the tree the
 * tree keeps its own, so that they are counted by each CPU for itself (percpu.h); umount adds them
 * up, and needs it to be idle: only the first, and the caller's own. The last reference of the last
 * mount of a superblock unmounts that.
 *
 * Locks: mount_mutex serialises mounting and unmounting (sleeps); mount_lock guards the tree's
 * pointers against walks. mount_mutex -> inode locks of the file systems -> mount_lock. The latter
 * is one spinlock for each CPU: a walk takes its own CPU's, so walks do not meet; who changes the
 * tree, which is rare, takes them all.
 *
 * All mounts are private: there is no propagation, and a bind has no mounts below it. A mount
 * namespace (namespace/, an optional room) is a tree of its own; all are in one list.
 */
#include "fs/block/block.h"
#include "fs/cred.h"
#include "core/memory/slab.h"
#include "fs/direct_hooks.h"

static struct mount_lock {
	spinlock_t lock;
} __aligned(64) mount_locks[NR_CPUS];
LIST_HEAD(mounts); /* all mounts, in order of mounting; mount_lock */
seqcount_t mount_sequence; /* all of mount_lock's */

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
	write_seqcount_begin(&mount_sequence);
	smp_mb(); /* before a look at a mount's references: as dcache.h's changes_begin_alone() */
}

static void unlock_every_cpu(struct mount_lock *locks)
{
#ifdef CONFIG_DCACHE_FASTPATH
	if (unlikely(mount_sequence.sequence == ~0u)) /* it begins anew: see mount.h */
		direct_forget_all();
#endif
	write_seqcount_end(&mount_sequence);
	for (unsigned cpu = NR_CPUS - 1; cpu > 0; cpu--)
		__spin_unlock(&locks[cpu].lock);
	spin_unlock(&locks[0].lock);
}

DEFINE_GUARD(every_cpu, struct mount_lock, lock_every_cpu(object), unlock_every_cpu)

/* ---- walking the tree ------------------------------------------------------------------------ */

/* The newest mount at @mountpoint (NULL: anywhere) of @parent (NULL: any that current's namespace
 * has), or NULL. The caller has mount_lock or mount_mutex. */
static struct mount *find_mount(const struct mount *parent, const struct dentry *mountpoint)
{
	struct mount *mount, *found = NULL;

	list_for_each_entry(mount, &mounts, link)
		if (mount->parent != mount && (!mountpoint || mount->mountpoint == mountpoint) &&
		    (parent ? mount->parent == parent : namespace_has(mount)))
			found = mount;
	return found;
}

#ifdef CONFIG_DCACHE_FASTPATH
void mounts_have_moved(void)
{
	guard(every_cpu, &mount_locks[0]);
}

struct mount *mount_on(const struct path *path)
{
	bool ever = READ_ONCE(path->dentry->flags) & D_MOUNTED;

	lockdep_assert_held(mount_lock());
	return ever ? find_mount(path->mount, path->dentry) : NULL;
}
#endif

struct mount *mounted_on(const struct mount *mount, const struct dentry *dentry)
{
	rcu_assert_reader();
	guard(spinlock, mount_lock());
	return find_mount(mount, dentry);
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

#ifdef CONFIG_OPENAT2
bool path_is_under(const struct path *path, const struct path *root)
{
	const struct mount *mount = path->mount;
	const struct dentry *dentry = path->dentry;

	guard(spinlock, mount_lock());
	for (; mount != root->mount && mount->parent != mount; mount = mount->parent)
		dentry = mount->mountpoint;
	return mount == root->mount && d_is_below(dentry, root->dentry);
}
#endif

bool something_is_mounted(const struct dentry *dentry)
{
	guard(spinlock, mount_lock());
	return find_mount(NULL, dentry);
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

/* Not yet on the tree. Somebody else has counted himself in sb->active. NULL: no memory. */
static struct mount *mount_alloc(struct super_block *sb, struct dentry *root, unsigned flags,
				 const char *device)
{
	static atomic_t last_id;
	size_t size = strlen(device) + 1;
	struct mount *mount = kzalloc(sizeof(*mount) + size, GFP_KERNEL);

	if (!mount)
		return NULL;
	atomic_inc(&sb->active);
	mount->id = atomic_inc_return(&last_id);
	atomic_set(&mount->references.count, 1);
	memcpy(mount->device_name, device, size);
	mount->sb = sb;
	mount->root = dget(root);
	mount->parent = mount;
	mount->flags = flags;
	INIT_LIST_HEAD(&mount->link);
	return mount;
}

static void free_by_rcu(struct rcu_head *head)
{
	kfree(container_of(head, struct mount, rcu));
}

void mount_free(struct mount *mount)
{
	dput(mount->root);
	super_put(mount->sb);
	call_rcu(&mount->rcu, free_by_rcu);
}

DEFINE_FREE(mntput, struct mount *, if (*variable) mntput(*variable))

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
	struct mount *mount = mount_alloc(sb, sb->root, mount_flags(flags), device_name);
	super_put(sb);
	return mount;
}

/* Is @mount part of the tree that current sees? mount_mutex held. */
static bool is_attached(const struct mount *mount)
{
	lockdep_assert_held(&mount_mutex);
	return !list_empty(&mount->link) && namespace_has(mount);
}

/* mount_mutex held: put @mount on @where, with a reference of the tree's, or move it there. Under
 * the lock of the mount point's inode, where its removal asks is_mountpoint(). */
static int attach(struct mount *mount, const struct path *where)
{
	struct dentry *dentry = where->dentry;
	struct inode *inode = dentry->inode;
	struct path old __free(path) = {0}; /* let go without the locks */

	lockdep_assert_held(&mount_mutex);
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
		percpu_ref_spread(&mount->references);
	}
	mount->parent = where->mount;
	mount->mountpoint = dentry;
	return 0;
}

/* mount_mutex held: @mount leaves its place, *@where. The caller lets that go, and the tree's
 * reference of @mount; or it is -EBUSY. Who walks comes to a mount under mount_lock. */
static int take_off(struct mount *mount, unsigned flags, struct path *where)
{
	lockdep_assert_held(&mount_mutex);
	percpu_ref_gather(&mount->references);
	guard(every_cpu, &mount_locks[0]);
	if (!(flags & MNT_DETACH) && percpu_ref_count(&mount->references) > 2) {
		percpu_ref_spread(&mount->references);
		return -EBUSY;
	}
	*where = (struct path){mount->parent, mount->mountpoint};
	list_del_init(&mount->link);
	mount->parent = mount;
	mount->mountpoint = NULL;
	return 0;
}

/* A mount that is on @top, or on one that is, has none on itself, and leaves; false: none is. */
static bool take_off_leaf(const struct mount *top)
{
	struct mount *leaf __free(mntput) = NULL;
	struct path where __free(path) = {0};

	guard(mutex, &mount_mutex);
	for (struct mount *on = find_mount(top, NULL); on; on = find_mount(on, NULL))
		leaf = on;
	return leaf && !take_off(leaf, MNT_DETACH, &where);
}

/* First @top, with which all that is mounted on it is out of reach. */
int mount_detach(struct mount *top, unsigned flags)
{
	struct path where __free(path) = {0};

	{
		guard(mutex, &mount_mutex);
		if (!(flags & MNT_NAMESPACE) && !is_attached(top))
			return -EINVAL;
		if (top->parent == top || (!(flags & MNT_DETACH) && find_mount(top, NULL)))
			return -EBUSY;
		TRY(take_off(top, flags, &where));
	}
	while (take_off_leaf(top))
		;
	mntput(top);
	return 0;
}

/* ---- mount(2) and umount2(2) ----------------------------------------------------------------- */

int mount_new(struct filesystem *type, struct block_device *device, const struct path *where,
	      unsigned flags, const char *device_name, const char *options)
{
	struct mount *mount __free(mntput) =
		TRY_PTR(mount_make(type, device, flags, device_name, options));

	guard(mutex, &mount_mutex);
	if (where->dentry == mount->root)
		return -EBUSY; /* not the same thing on top of itself */
	return attach(mount, where);
}

int mount_bind(const struct path *from, const struct path *where)
{
	struct mount *old = from->mount;

	struct mount *mount __free(mntput) =
		TRY_PTR(mount_alloc(old->sb, from->dentry, old->flags, old->device_name));
	guard(mutex, &mount_mutex);
	return is_attached(old) ? attach(mount, where) : -EINVAL;
}

/* The mount that @from is the root of moves to @to. */
int mount_move(const struct path *from, const struct path *to)
{
	struct mount *mount = from->mount;

	guard(mutex, &mount_mutex);
	if (d_unlinked(to->dentry))
		return -ENOENT;
	if (from->dentry != mount->root || mount->parent == mount || !is_attached(mount) ||
	    S_ISDIR(to->dentry->inode->mode) != S_ISDIR(from->dentry->inode->mode))
		return -EINVAL;
	for (struct mount *up = to->mount; up != up->parent; up = up->parent)
		if (up == mount)
			return -ELOOP;
	return attach(mount, to);
}

struct mount *mount_want_write(struct mount *mount)
{
	arch_local_add(&mount->writers[cpu_id()].count, 1);
	barrier(); /* for who waits, as has_writers() does, the count is there before this looks */
	if (likely(!READ_ONCE(mount->closed) && !mount_writable(mount)))
		return mount;
	mount_drop_write(mount);
	return ERR_PTR(-EROFS);
}

/* Of @mount, or if not @alone of all its file system's. Nobody new comes while they are closed:
 * behind a grace period whoever did not see that is counted. Who has just seen it may be, too. */
static bool has_writers(const struct mount *mount, bool alone)
{
	const struct mount *other;
	s64 writers = 0;
	int mounted = 0;

	synchronize_rcu();
	list_for_each_entry(other, &mounts, link) {
		if (alone ? other != mount : other->sb != mount->sb)
			continue;
		mounted++;
		for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
			writers += READ_ONCE(other->writers[cpu].count);
	}
	/* of a disk's mount that was detached in use it is not known */
	return writers || (!alone && mount->sb->bdev && atomic_read(&mount->sb->active) > mounted);
}

static void close_to_writers(const struct mount *mount, bool alone, bool closed)
{
	struct mount *other;

	list_for_each_entry(other, &mounts, link)
		if (alone ? other == mount : other->sb == mount->sb)
			WRITE_ONCE(other->closed, closed);
}

/* With MS_BIND the file system's own flags stay, and who writes through other mounts does not
 * matter. */
int mount_change(const struct path *path, unsigned flags, const char *options)
{
	struct mount *mount = path->mount;
	bool alone = flags & MS_BIND, read_only = flags & SB_RDONLY;

	if (path->dentry != mount->root)
		return -EINVAL;
	if (!(flags & (ATIME_FLAGS | MS_STRICTATIME)))
		flags |= (mount->flags & ATIME_FLAGS) | MS_STRICTATIME; /* those, and none added */
	guard(mutex, &mount_mutex);
	if (!is_attached(mount))
		return -EINVAL;
	close_to_writers(mount, alone, read_only);
	int error = read_only && has_writers(mount, alone) ? -EBUSY : 0;
	if (!error && !alone)
		error = remount_super(mount->sb, flags & SB_RDONLY, options);
	if (!error)
		WRITE_ONCE(mount->flags, mount_flags(flags));
	close_to_writers(mount, alone, false);
	return error;
}

#ifdef CONFIG_MOUNT_NS
/* ---- namespaces ------------------------------------------------------------------------------ */

struct mount *mount_copy(const struct mount *mount)
{
	return mount_alloc(mount->sb, mount->root, mount->flags, mount->device_name);
}

void mounts_add(struct list_head *copies)
{
	struct mount *mount;

	lockdep_assert_held(&mount_mutex);
	list_for_each_entry(mount, copies, link)
		percpu_ref_spread(&mount->references);
	guard(every_cpu, &mount_locks[0]);
	while (!list_empty(copies))
		list_move_tail(copies->next, &mounts);
}

/* A mount on @top, referenced, since others may take it off (removed_put()); or NULL. */
static struct mount *some_mount_on(const struct mount *top)
{
	guard(spinlock, mount_lock());
	struct mount *mount = find_mount(top, NULL);
	return mount ? mntget(mount) : NULL;
}

void mounts_remove(struct mount *top)
{
	struct mount *below;

	while ((below = some_mount_on(top)) != NULL) {
		mount_detach(below, MNT_DETACH | MNT_NAMESPACE);
		mntput(below);
	}
	{
		guard(mutex, &mount_mutex);
		percpu_ref_gather(&top->references);
		guard(every_cpu, &mount_locks[0]);
		list_del_init(&top->link);
	}
	mntput(top);
}
#endif

/* ---- start-up -------------------------------------------------------------------------------- */

void mount_first(struct mount *mount)
{
	struct fs_context *fs = current->fs;

	list_add(&mount->link, &mounts); /* nothing else runs yet */
	percpu_ref_spread(&mount->references);
	fs->root = fs->cwd = (struct path){mount, mount->root};
	path_get(&fs->root);
	path_get(&fs->cwd);
}

void mounts_init(void)
{
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		spin_lock_init(&mount_locks[cpu].lock, "mount_lock");
}
