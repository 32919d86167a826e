/*
 * super.h - kinds of file systems, and superblocks: each a file system that is mounted.
 *
 * A superblock is made by the first mount (super_get()), serves all mounts of its device or, of a
 * `single` type, of its type, each counted in sb->active, and goes with the last (super_put()): all
 * is written, no dentry and no inode is left, then put_super() and it is freed. One that is
 * read-only (SB_RDONLY) is never written to.
 *
 * Lock order: mount_mutex -> sb->sync_lock -> inode locks. sb->rename_lock (renames across
 * directories) is outermost of the inode locks. sb->inodes_lock is inside of all that sleep.
 */
#pragma once

#include "core/base/percpu.h"
#include "fs/path/dentry.h"

struct xattr;

struct super_operations {
	/* Begin the fs's own part (filesystem.inode_before), which is zeros: 0 or -errno; end it.
	 * NULL: nothing to do. */
	int (*init_inode)(struct inode *inode);
	void (*free_inode)(struct inode *inode);
	/* fill in what has its number: 0 or -errno */
	int (*read_inode)(struct inode *inode);
	/* copy to its buffer */
	int (*write_inode)(struct inode *inode);
	/* Last reference gone and nlink == 0: the pages are about to go, dirty ones too. NULL:
	 * nothing to do. May sleep. */
	void (*before_evict)(struct inode *inode);
	/* They have gone: free the blocks. NULL: only drop the pages. May sleep. */
	void (*evict_inode)(struct inode *inode);
	void (*statfs)(struct super_block *sb, struct kstatfs *stat); /* what is used and free */
	int (*sync_fs)(struct super_block *sb);
	/* Write-back has been to the inodes, and will write the buffers. NULL: nothing to do. */
	void (*write_back)(struct super_block *sb);
	int (*remount)(struct super_block *sb, unsigned flags); /* NULL: takes no options */
	void (*put_super)(struct super_block *sb);
};

/* MS_* of mount(2) */
enum { SB_RDONLY = 1, SB_NOSUID = 2, SB_NODEV = 4, SB_NOEXEC = 8 };
enum { SB_NOATIME = 1024, SB_NODIRATIME = 2048 };
enum { SB_FIXED_OWNERS = 1 << 29 }; /* owners and modes are not to be changed */

struct super_block {
	/* Constant once it is mounted, but for SB_RDONLY in flags: mount_mutex, read without it. */
	const struct super_operations *op;
	struct filesystem *type;
	struct dentry *root;
	struct block_device *bdev; /* NULL for memory file systems */
	dev_t dev;
	unsigned flags /* SB_* */, block_size;
	u64 max_bytes;
	void *private;

	atomic_t active; /* mounts; from 1 to 0 under mount_mutex */
	struct mutex rename_lock; /* a rename across directories; the tree stays as it is */
	struct mutex sync_lock;	  /* one at a time goes through dirty */

	/* inodes_lock: inodes with I_DIRTY or I_WRITING */
	spinlock_t inodes_lock;
	struct list_head dirty;

	struct list_head link; /* all superblocks; mount_mutex */

	struct percpu_counter inode_count; /* and what the file system counts as such */
};

/*
 * Extended attributes, of the optional room fs/xattr. Names are whole, with the prefix of their
 * namespace. inode->lock is held: for writing by set, for reading by load, by forget not.
 */
struct xattr_operations {
	/* All of them, or @name alone if it is not NULL, into *@list, which is NULL; the list is
	 * the caller's, to xattr_free() whatever the result. 0 or -errno. */
	int (*load)(struct inode *inode, const char *name, struct xattr **list);
	/* One, as setxattr(2); @value NULL: removed. It renews no times. 0 or -errno; -ENOSPC: it
	 * does not fit. */
	int (*set)(struct inode *inode, const char *name, const void *value, size_t size,
		   int flags);
	void (*forget)(struct inode *inode); /* what is in memory, of one that is freed */
	bool user;			     /* those of user.* are kept, too */
};

struct filesystem {
	const char *name; /* "ext2" */
	s64 magic;	  /* what statfs(2) tells its kind by */
	/* needs_device; single: one superblock for all mounts (proc, dev); pinned: its dentries are
	 * its only directory, so that each positive one carries a reference */
	bool needs_device, single, pinned;
	size_t inode_before;	       /* bytes of its own in front of each struct inode */
	struct kmem_cache *inode_slab; /* both together */
	/* Read the superblock and make sb->root. 0 or -errno (-EINVAL: not this kind; -EUCLEAN:
	 * damaged). */
	int (*fill_super)(struct super_block *sb, const char *options, bool silent);
	const struct xattr_operations *xattrs; /* xattr_init()'s; NULL: it keeps none */
	struct filesystem *next;	       /* register_filesystem()'s */
};
extern struct filesystem *filesystems; /* the first, and by ->next all, in order of registration */
void register_filesystem(struct filesystem *type);    /* at start-up, permanent */
struct filesystem *find_filesystem(const char *name); /* or NULL */

/* Mounting and unmounting, and the lists of superblocks and mounts; below it nothing may be
 * mounted. Sleeps. */
extern struct mutex mount_mutex;
/* An error of @visit, which sees all, whatever fails, or 0. */
int for_each_super(int (*visit)(struct super_block *sb));
int sync_super(struct super_block *sb); /* writes all, whatever fails. Sleeps */
/* The superblock that serves this mount already (that of the device, or of a type that has one for
 * all), or a new one, counted in sb->active; ERR_PTR(-EBUSY: it is mounted with other rights; what
 * the file system says) or NULL: no memory. Takes mount_mutex. */
struct super_block *super_get(struct filesystem *type, struct block_device *device, unsigned flags,
			      const char *options);
/* Of a mount that is gone; the last shuts the file system down. Takes mount_mutex. */
void super_put(struct super_block *sb);
/* Under mount_mutex: the file system becomes writable, or not (SB_RDONLY). 0 or -errno. */
int remount_super(struct super_block *sb, unsigned read_only, const char *options);
