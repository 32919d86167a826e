/*
 * mount.h - the tree of mounts, and struct path: a dentry seen through a mount.
 *
 * A mount joins a superblock's root, or a directory in it (a bind), to a place in the tree. States:
 * made (mount_make(), in nobody's tree: the kernel's own files stay there) -> attached -> detached
 * -> freed with the last reference. References: mntget(), one for being in the tree, one for each
 * child, one for each struct path.
 *
 * Who walks: follow_mounts() when he has come to a dentry with D_MOUNTED, follow_up() at the root
 * of a mount. Who looks at the tree as a whole: under mount_mutex.
 *
 * Lock order: mount_mutex -> inode->lock of the mount point -> mount_lock -> dentry_tree_lock.
 */
#pragma once

#include "fs/path/super.h"

struct path {
	struct mount *mount;
	struct dentry *dentry;
};

struct mount {
	/* constant */
	struct super_block *sb;
	struct dentry *root;
	int id; /* as /proc/PID/mountinfo numbers them */

	/* mount_mutex, and all of mount_lock's to change them; to look, one of these */
	struct mount *parent; /* itself at the root */
	struct dentry *mountpoint;
	struct list_head link; /* all mounts in order of mounting; empty: off the tree */

	struct rcu_head rcu; /* once it is dead */
	unsigned flags; /* SB_* and MS_RELATIME of this mount; mount_mutex, read without it */
	bool closed;	/* nobody begins to write: it may become read-only; as flags */

	struct percpu_ref references; /* spread while it is in the tree */
	struct {
		s64 count; /* of the CPU's own; who began on another may end here */
		u8 unused[56];
	} writers[NR_CPUS]; /* mount_want_write() */
	char device_name[];
};

static inline struct mount *mntget(struct mount *mount)
{
	percpu_ref_get(&mount->references);
	return mount;
}
void mount_free(struct mount *mount); /* mount.c's own */
static inline void mntput(struct mount *mount)
{
	if (unlikely(percpu_ref_put(&mount->references)))
		mount_free(mount);
}
/* 0, or -EROFS when the mount or its file system is read-only. */
static inline int mount_writable(const struct mount *mount)
{
	return (READ_ONCE(mount->flags) | READ_ONCE(mount->sb->flags)) & SB_RDONLY ? -EROFS : 0;
}
/* The mount, which stays writable from here to mount_drop_write(): for one change, or as long as a
 * file is open for writing. ERR_PTR(-EROFS) also while mount_change() finds out whether it may
 * become read-only. Any lock may be held; no other CPU pays for it. */
struct mount *mount_want_write(struct mount *mount);
static inline void mount_drop_write(struct mount *mount)
{
	arch_local_add(&mount->writers[cpu_id()].count, -1);
}
DEFINE_FREE(mount_drop_write, struct mount *, mount_drop_write(*variable))

/* A mount of a new or known superblock, which is not yet in the tree (for the kernel's own files it
 * stays so); flags and options as mount(2)'s. ERR_PTR, or NULL: no memory. Sleeps. */
struct mount *mount_make(struct filesystem *type, struct block_device *device, unsigned flags,
			 const char *device_name, const char *options);
static inline void path_get(const struct path *path)
{
	mntget(path->mount);
	dget(path->dentry);
}
static inline void path_put(const struct path *path)
{
	dput(path->dentry);
	mntput(path->mount);
}

/* A path is let go at the end of its scope, if it was set: its mount is NULL before. */
DEFINE_FREE(path, struct path, if (variable->mount) path_put(variable))

/* ---- walking --------------------------------------------------------------------------------- */

/* The lock of this CPU on the mount tree: parent, mountpoint. Outermost of the spinlocks. */
spinlock_t *mount_lock(void);

/*
 * Of the mount tree: changes with it. For who walks without locks. Direct lookup keeps the count
 * for longer, and forgets all when its 32 bits begin anew. To mount is root's alone, but who owns a
 * directory with a mount below it moves the count by a chmod of that: 2^31 of them, of some 800
 * instructions, take less than an hour.
 */
extern seqcount_t mount_sequence;
/* The newest mount on @dentry of @mount, or NULL, without a reference: it stays for a grace period.
 * Takes mount_lock; between rcu_read_lock() and rcu_read_unlock(). */
struct mount *mounted_on(const struct mount *mount, const struct dentry *dentry);

/* If something is mounted on *@path, whose dentry has D_MOUNTED, go there: was there something?
 * References move along. */
bool follow_down(struct path *path);
/* To the top of what is mounted there. */
static inline void follow_mounts(struct path *path)
{
	while (unlikely(READ_ONCE(path->dentry->flags) & D_MOUNTED) && follow_down(path))
		continue;
}
/* From the root of a mount to the place it is mounted on: true, references moved; false at the very
 * top. */
bool follow_up(struct path *path);
#ifdef CONFIG_OPENAT2
/* Does @path lie below @root, or is it that? At one moment: a rename is seen whole. */
bool path_is_under(const struct path *path, const struct path *root);
#endif
bool something_is_mounted(const struct dentry *dentry); /* mount.c's own */
/* Is something mounted on it that current's namespace has? */
static inline bool is_mountpoint(const struct dentry *dentry)
{
	return unlikely(READ_ONCE(dentry->flags) & D_MOUNTED) && something_is_mounted(dentry);
}
/* Full path into the end of buf (getcwd, /proc/PID/fd): pointer into buf or ERR_PTR(-ENAMETOOLONG);
 * " (deleted)" is appended for unhashed ones; unreachable from root: "(unreachable)" in front. */
#define UNREACHABLE "(unreachable)"
char *d_path(const struct path *path, const struct path *root, char *buf, size_t size);
/* ---- changing the tree ----------------------------------------------------------------------- */

/* All mounts in order of mounting, under mount_mutex. */
extern struct list_head mounts;
/* What mount(2) and umount2(2) do, each under mount_mutex. 0, or -EINVAL, -EBUSY, -ENOENT,
 * -ENOTDIR,
 * -ENOMEM and what the file system says. Sleep. */
/* A new mount of @type on @where; @device NULL: it has none. */
int mount_new(struct filesystem *type, struct block_device *device, const struct path *where,
	      unsigned flags, const char *device_name, const char *options);
int mount_bind(const struct path *from, const struct path *where);
/* The mount that @from is the root of moves to @to. */
int mount_move(const struct path *from, const struct path *to);
/* MS_REMOUNT: other flags. With MS_BIND those of the mount alone. */
int mount_change(const struct path *path, unsigned flags, const char *options);
/* Take @top, which the caller holds, off the tree; by MNT_DETACH with all that is mounted below it,
 * and even if it is in use; by MNT_NAMESPACE, which is not umount2(2)'s, of any namespace. */
enum { MNT_NAMESPACE = 16 };
int mount_detach(struct mount *top, unsigned flags);
#ifdef CONFIG_DCACHE_FASTPATH
/* A directory with mounts below it is about to move: whoever went by mount_sequence begins anew. */
void mounts_have_moved(void);
/* As mounted_on(), of any dentry; mount_lock held. */
struct mount *mount_on(const struct path *path);
#endif
#ifdef CONFIG_MOUNT_NS
struct fs_context;
struct mount_namespace; /* namespace/namespace.h */
/* Another user of it, and one less: the last takes all its mounts off, and sleeps. NULL is the
 * first namespace, which stays. */
struct mount_namespace *namespace_get(struct mount_namespace *namespace);
void namespace_put(struct mount_namespace *namespace);
/* @fs, which nobody else has yet, goes to a new namespace, a copy of its own: 0, -ENOMEM.
 * Sleeps. */
int namespace_copy(struct fs_context *fs);
/* Is @mount in the tree of current's namespace? The caller has mount_mutex or mount_lock. */
bool namespace_has(const struct mount *mount);
/* If @inode stands for a namespace, its name into @buffer: true. */
bool namespace_name(const struct inode *inode, char *buffer, size_t size);
/* For namespace.c. A copy of @mount, not yet in the tree; NULL: no memory. Sleeps. */
struct mount *mount_copy(const struct mount *mount);
/* Copies, of which parent and mountpoint are set and referenced, join the list of all; mount_mutex
 * held. */
void mounts_add(struct list_head *copies);
/* The root of a namespace that has ended leaves it, with all that is mounted below. Sleeps. */
void mounts_remove(struct mount *top);
/* As iput(); before, what other namespaces have mounted on a name of @removed that is gone is taken
 * off. Takes mount_mutex, sleeps. */
void removed_put(struct inode *removed);
#else
#define removed_put(removed) iput(removed)
#define namespace_has(mount) true
#endif
/* At start-up: @mount is the root of the tree, and where current stands. */
void mount_first(struct mount *mount);
void mounts_init(void);
