/*
 * internal.h - what the files of the VFS share with each other and with nobody else.
 */
#pragma once

#include "fs/vfs.h"

/* Nesting levels of inode->lock for the lock-order checker: a directory before what is in it. */
enum { LOCK_PARENT = 1, LOCK_PARENT2, LOCK_CHILD };

/* ---- mount.c --------------------------------------------------------------------------------- */

/* mount_lock guards the mount tree: parent, mountpoint, children. Outermost of the spinlocks, one
 * for each CPU. */
void mount_lock_read(void);
void mount_unlock_read(void);

/* If something is mounted on *@path (whose dentry has D_MOUNTED), go there, to the top of what is
 * mounted; references move along. */
void follow_mounts(struct path *path);
/* From the root of a mount to the place it is mounted on: true, references moved; false at the very
 * top. */
bool follow_up(struct path *path);
bool is_mountpoint(const struct dentry *dentry); /* of any mount */
/* Visit all mounts in order of mounting (under a mutex; the visitor may sleep but not mount). */
void for_each_mount(void (*visit)(struct mount *mount, void *argument), void *argument);
void for_each_super(void (*visit)(struct super_block *sb, void *argument), void *argument);

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
/* 0, -EFAULT, -ENAMETOOLONG, -ENOMEM */
int path_name_get(struct path_name *name, const char __user *from);
int path_name_copy(struct path_name *name, const char *from); /* of a kernel string */
void path_name_free(char *allocated);
static inline void path_name_put(struct path_name *name)
{
	if (unlikely(name->allocated != NULL))
		path_name_free(name->allocated);
}

/* LOOKUP_* of AT_* flags. */
static __always_inline unsigned at_lookup(int flags)
{
	return (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
	       (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
}

DEFINE_FREE(name, struct path_name, path_name_put(variable))

enum last_type { LAST_NORM, LAST_ROOT, LAST_DOT, LAST_DOTDOT };

/* The last component of a path, in the path's own text. */
struct last {
	const char *name;
	u32 length;
	enum last_type type;
	bool trailing_slash;
};

/* Walk @name from @dfd: 0 and *@path, referenced. */
int path_lookup(int dfd, const char *name, unsigned flags, struct path *path);
/* Walk to the directory that holds the last component. */
int path_lookup_parent(int dfd, const char *name, struct path *parent, struct last *last);
/* As path_lookup(), but make a regular file if the last name is not there; *@created: it was not.
 */
int path_create(int dfd, const char *name, unsigned flags, umode_t mode, struct path *path,
		bool *created);
/* The dentry of @name in @dir, positive or negative: from the cache or asked of the file system.
 * @dir's inode->lock is held for writing. Referenced, or ERR_PTR. */
struct dentry *lookup_locked(struct dentry *dir, const char *name, u32 length);

/* ---- attr.c, inodes -------------------------------------------------------------------------- */

bool owner_or_root(const struct inode *inode);
/* May a file grow to @size (RLIMIT_FSIZE)? 0, or -EFBIG and SIGXFSZ. read_write.c */
int limit_growth(const struct inode *inode, loff_t size);
int may_create(struct inode *dir, const struct dentry *dentry);
int may_delete(struct inode *dir, const struct dentry *dentry, bool directory);
int do_truncate(struct inode *inode, loff_t size, u32 more_valid);
struct file *file_open_path(const struct path *path, u32 flags); /* consumes nothing; ERR_PTR */

/* icache.c: the last reference of @sb's root is gone: evict what is left. How many are in use, or
 * being evicted by another. */
u64 evict_inodes(struct super_block *sb);
u64 shrink_icache(u64 objects);
void inode_cache_check(void);

/*
 * locks.c. The fcntl commands on locks (else -EINVAL), of descriptor @number, which is @file; and
 * when a descriptor or an open file is closed, if its inode has locks: those that belong to @owner,
 * the file table or the file, go. May sleep.
 */
s64 fcntl_lock(int number, struct file *file, u32 command, void __user *flock);
void locks_remove(struct inode *inode, const void *owner);

/* special.c */
extern const struct file_operations bad_file_operations;
extern const struct inode_operations no_inode_operations;
void file_cache_init(void);
void mount_init(void);
void tmpfs_init(void);
void devfs_init(void);
void procfs_init(void);
