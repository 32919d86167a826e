/*
 * internal.h - what the files of the VFS share with each other and with nobody else.
 */
#pragma once

#include "fs/vfs.h"

/* Nesting levels of inode->lock for the lock-order checker: a directory before what is in it. */
enum { LOCK_PARENT = 1, LOCK_PARENT2, LOCK_CHILD, LOCK_CHILD2 };
#define unlock_inode(inode) ((inode) ? up_write(&(inode)->lock) : (void)0)
DEFINE_GUARD(parent, struct inode, down_write_nested(&object->lock, LOCK_PARENT), unlock_inode)
DEFINE_GUARD(child, struct inode, /* NULL: none */
	     if (object) down_write_nested(&object->lock, LOCK_CHILD), unlock_inode)
DEFINE_GUARD(child2, struct inode, /* as well */
	     if (object) down_write_nested(&object->lock, LOCK_CHILD2), unlock_inode)

/* Sleep in @queue until @condition. 0, -EAGAIN if @file does not wait, -ERESTARTSYS. */
#define file_wait(file, queue, condition)                                                          \
	((condition)		      ? 0                                                          \
	 : (file)->flags & O_NONBLOCK ? -EAGAIN                                                    \
				      : wait_event_interruptible(queue, condition))

/* ---- mount.c --------------------------------------------------------------------------------- */

/* The lock of this CPU on the mount tree: parent, mountpoint. Outermost of the spinlocks. */
spinlock_t *mount_lock(void);

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
/* Of any mount, seen from anywhere. */
bool is_mountpoint(const struct dentry *dentry);
/* All mounts in order of mounting, under mount_mutex, below which nothing may be mounted. */
extern struct list_head mounts;
extern struct mutex mount_mutex;
/* ---- super.c --------------------------------------------------------------------------------- */

/* The first error of @visit, which sees all, whatever fails. */
int for_each_super(int (*visit)(struct super_block *sb));
int sync_super(struct super_block *sb); /* writes all, whatever fails; the first error. Sleeps */
/* The superblock that serves this mount already (that of the device, or of a type that has one for
 * all), or a new one, counted in sb->active; ERR_PTR(-EBUSY: it is mounted with other rights; what
 * the file system says) or NULL: no memory. Takes mount_mutex. */
struct super_block *super_get(struct filesystem *type, struct block_device *device, unsigned flags,
			      const char *options);
/* Of a mount that is gone; the last shuts the file system down. Takes mount_mutex. */
void super_put(struct super_block *sb);
/* Under mount_mutex: the file system becomes writable, or not (SB_RDONLY). 0 or -errno. */
int remount_super(struct super_block *sb, unsigned read_only, const char *options);

/* ---- mount.c --------------------------------------------------------------------------------- */

/* What mount(2) and umount2(2) do, each under mount_mutex. 0, or -EINVAL, -EBUSY, -ENOENT, -ENOTDIR,
 * -ENOMEM and what the file system says. Sleep. */
/* A new mount of @type on @where; @device NULL: it has none. */
int mount_new(struct filesystem *type, struct block_device *device, const struct path *where,
	      unsigned flags, const char *device_name, const char *options);
int mount_bind(const struct path *from, const struct path *where);
/* The mount that @from is the root of moves to @to. */
int mount_move(const struct path *from, const struct path *to);
/* MS_REMOUNT: other flags. With MS_BIND those of the mount alone. */
int mount_change(const struct path *path, unsigned flags, const char *options);
/* Take @top, which the caller holds, off the tree; if @lazily with all that is mounted below it,
 * and even if it is in use. */
int mount_detach(struct mount *top, bool lazily);
/* At start-up: @mount is the root of the tree, and where current stands. */
void mount_first(struct mount *mount);
void mounts_init(void);


/* A path of the context of current, referenced. Its lock is needed only if another task shares the
 * context. */
static __always_inline void context_path(struct path *path, const struct path *from)
{
	struct fs_context *fs = current->fs;
	bool shared = atomic_read(&fs->refcount) != 1;

	if (unlikely(shared))
		spin_lock(&fs->lock);
	*path = *from;
	path_get(path);
	if (unlikely(shared))
		spin_unlock(&fs->lock);
}

/* ---- namei.c --------------------------------------------------------------------------------- */

/*
 * A path's text, copied from the program: short ones (most) into the caller's frame. No larger part
 * of it is cleared. Eight bytes behind the NUL are readable.
 */
#define NAME_SMALL 240
struct path_name {
	const char *text;
	char *allocated; /* NULL: text is in small */
	char small[NAME_SMALL + 16];
};
/* 0, -EFAULT, -ENAMETOOLONG, -ENOMEM. To be freed after a failure as well. */
int path_name_get(struct path_name *name, const char __user *from);
DEFINE_FREE(name, struct path_name,
	    if (unlikely(variable->allocated != NULL)) kfree(variable->allocated))


enum last_type { LAST_NORM, LAST_ROOT, LAST_DOT, LAST_DOTDOT };

/* The last component of a path, in the path's own text. */
struct last {
	const char *name;
	u32 length;
	enum last_type type;
	bool trailing_slash;
};

/* What is to get a name. */
struct new_name {
	umode_t mode; /* with the type, umask not applied; 0: a link to @old */
	bool made;    /* by path_lookup() */
	dev_t rdev;
	const char *target; /* of a symbolic link; slack behind it, as everywhere (vfs.h) */
	const struct path *old;
};

/* Walk @name from @dfd: 0 and *@path, referenced. @create: what to make if the last name is not
 * there, or NULL. With @last only to the directory that holds the last component. */
int path_lookup(int dfd, const char *name, unsigned flags, struct new_name *create,
		struct last *last, struct path *path);
/* ---- names.c --------------------------------------------------------------------------------- */

/* Make @new's object, of the negative @dentry in a locked directory. */
int make_locked(const struct path *parent, struct dentry *dentry, const struct new_name *new);
/* The dentry of @name in @dir, positive or negative: from the cache or asked of the file system.
 * @dir's inode->lock is held for writing; @counted: this is the first look. Referenced, or ERR_PTR.
 */
struct dentry *lookup_locked(struct dentry *dir, const char *name, u32 length, bool counted);
enum removed_kind { REMOVE_FILE, REMOVE_DIRECTORY };
/* Remove the name @dentry, positive, which is in @dir, whose lock is held: 0, -EPERM, -EACCES,
 * -EISDIR, -ENOTDIR, -ENOTEMPTY, -EBUSY ... Who holds a reference to the inode lets go of that
 * without the lock. */
int remove_locked(struct inode *dir, struct dentry *dentry, enum removed_kind kind);
/* One side of a rename: a name in a directory, which the caller has referenced. */
struct renamed {
	struct dentry *parent;
	const char *name;
	u32 length;
	bool must_be_directory; /* a slash follows it */
};
/* As renameat2(2), of names on one file system that can be written to. Takes all locks. */
int rename_names(const struct renamed *from, const struct renamed *to, unsigned flags);
/* Has a directory lost its name, so that there are none in it any more? Asked under its lock. */
#define is_dead(inode) ((inode)->nlink == 0)

/* ---- attr.c, inodes -------------------------------------------------------------------------- */

bool owner_or_root(const struct inode *inode);
int may_create(struct inode *dir, const struct dentry *dentry);
int may_delete(struct inode *dir, const struct dentry *dentry, bool directory);
/* Give it another size; permission was checked. Its times change if @times says so, and in any case
 * if the size does. */
enum truncate_times { TOUCH_IF_RESIZED, TOUCH_ALWAYS };
int do_truncate(struct inode *inode, loff_t size, enum truncate_times times);
/* As fallocate(2), whose @mode is one that it may have: 0, -EFBIG, -EOPNOTSUPP, -ENOSPC ... */
int change_space(struct inode *inode, int mode, loff_t offset, loff_t length);
/* The access and the modification time; UTIME_OMIT: not that. @both_now: they are the present, for
 * which the right to write is enough. */
int set_times(const struct path *path, const struct timespec64 times[2], bool both_now);


/* locks.c. The fcntl command @command on the locks of @file (F_GETLK ... F_OFD_SETLKW), whose
 * parameter is at @flock: 0, or 1 if the process has got a record lock, which goes with its first
 * close of the file; -EINVAL (none of them), -EBADF, -EAGAIN, -ENOLCK, -ERESTARTSYS. */
s64 fcntl_lock(struct file *file, u32 command, void __user *flock);
/* flock(2)'s lock of @file becomes of @type, F_UNLCK: none: 0, -EAGAIN (others have it, and not
 * @wait), -ENOLCK, -ERESTARTSYS. Sleeps. */
int flock_file(struct file *file, int type, bool wait);
/* When a descriptor or an open file is closed, if its inode has locks: those that belong to @owner,
 * the file table or the file, go. */
void locks_remove(struct inode *inode, const void *owner);

/* special.c */
extern const struct file_operations bad_file_operations;
extern const struct inode_operations no_inode_operations;
void file_cache_init(void);
void mapped_files_init(void); /* mapped.c: mm/ can map files from now on */
