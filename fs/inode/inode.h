/*
 * inode.h - inodes: the files of a file system in memory, and what a file system does with them.
 *
 * States: I_NEW (in the table, being read in by who made it; others wait) -> in use (refcount > 0)
 * <-> unused (refcount 0, hashed, on the LRU list: found again, or reclaimed) -> I_FREEING (nobody
 * may take a reference any more) -> freed. One without a name (nlink 0), or that is not hashed
 * (tmpfs, pipes), is freed with its last reference. Beside that it is clean or I_DIRTY, and then on
 * sb->dirty until it was written back (I_WRITING while it is).
 *
 * Who calls what, in this order:
 *	a file system that looks a name up: iget() gives the inode, read in by its read_inode(), and
 *		the reference is the dentry's from d_add() on
 *	one that makes a file: new_inode(), fill it in, insert_inode_hash() if it is to be found by
 *		number, d_instantiate()
 *	who changes it: inode->lock for writing; change the fields; mark_inode_dirty() last, since
 * it
 *		may be written from then on
 *	who is done with a reference: iput(), which may free the file, so under no lock that is
 * taken
 *		for that
 *
 * References: each positive dentry, each iget() and ihold(); an open file holds it by its dentry.
 *
 * Lock order: inode->lock of directories, parent before child, then of files -> page lock -> the
 * file system's own locks -> buffer lock -> bucket lock of the inode table, sb->inodes_lock -> LRU
 * list
 * -> inode->spin.
 */
#pragma once

#include "fs/abi.h" /* S_IF*, O_*, struct kstat, AT_* ... Linux's numbers */
#include "core/lock/rcu.h"
#include "core/lock/seqcount.h"
#include "mm/cache/page_cache.h"

struct dentry;
struct file_operations;
struct path;
struct super_block;

struct inode_operations {
	/* What is done in a directory, from lookup() to rename(), is under its lock held for
	 * writing, but for make_nameless(). All may sleep; 0 or -errno. */

	/* Fill the negative, unhashed @dentry: d_add(dentry, inode or NULL), or if the cache is not
	 * to answer the next time, D_UNCACHED and d_instantiate(). 0 also when the name is not
	 * there. */
	int (*lookup)(struct inode *dir, struct dentry *dentry);
	/* Make the object, of the type that @mode says (@target: text of a symbolic link), and
	 * d_instantiate(@dentry). The VFS has checked permission and existence. */
	int (*make)(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev,
		    const char *target);
	/* A regular file without a name: nlink 0, referenced; ERR_PTR. Under no lock; NULL: there
	 * are none. */
	struct inode *(*make_nameless)(struct inode *dir, umode_t mode);
	int (*link)(struct dentry *old, struct inode *dir, struct dentry *dentry);
	/* Remove the name; the VFS drops the dentry. The file system updates nlink and times.
	 * -ENOTEMPTY is its to find. */
	int (*remove)(struct inode *dir, struct dentry *dentry);
	/* @new may be positive (then it is replaced). Types and emptiness of directories are
	 * checked by the fs as far as it alone can know. Flags: RENAME_NOREPLACE is handled by the
	 * VFS, RENAME_EXCHANGE passed. Locked are also: what is replaced, and each directory that
	 * moves to another. If it fails, both names are as they were. */
	int (*rename)(struct inode *old_dir, struct dentry *old, struct inode *new_dir,
		      struct dentry *new, unsigned flags);
	/*
	 * The target of a symbolic link: a NUL-terminated string (8 readable bytes behind the NUL)
	 * from kmalloc(), or ERR_PTR. Fast links set inode->link instead. May sleep. A link that is
	 * a place rather than a text (/proc/PID/cwd) has jump_link instead, which gives a
	 * referenced path; get_link then serves readlink only.
	 */
	char *(*get_link)(struct inode *inode);
	int (*jump_link)(struct inode *inode, struct path *path);
	/* Give a regular file another size; NULL: it has none. This and the next under inode->lock.
	 */
	int (*truncate)(struct inode *inode, loff_t size);
	int (*fallocate)(struct inode *inode, int mode, loff_t offset, loff_t length);
	/* SEEK_DATA, SEEK_HOLE: the first byte from @offset (inside the file) on that is data, or
	 * in a hole (the end of the file is one): *@found, or -ENXIO. NULL: all is data. */
	int (*seek)(struct inode *inode, loff_t offset, bool hole, loff_t *found);
};

/*
 * inode->flags. DIRTY: the inode itself (times, size, blocks) is newer than the disk, or pages are;
 * WRITING: somebody writes it back, others who want to wait; NEW: being read in, others wait;
 * FREEING: being torn down; REFERENCED: used since reclaim last looked; HASHED: in the inode table;
 * SWAPFILE: in use as swap, so that its names must stay; and those of fs/notify.h, from 64 on.
 */
enum { I_DIRTY = 1, I_NEW = 2, I_FREEING = 4, I_REFERENCED = 8, I_HASHED = 16, I_WRITING = 32 };
#define I_SWAPFILE (1u << 31)

struct inode {
	/* Read by every path walk: kept in the first cache line. mode, uid, gid and nlink change
	 * under lock (for writing), and are read without it. */
	umode_t mode;
	uid_t uid;
	gid_t gid;
	u32 flags; /* I_*; under spin, read without it */
	const struct inode_operations *op;
	const char *link; /* target of a fast symbolic link, NULL otherwise */
	struct super_block *sb;
#ifdef CONFIG_SECURITY_LABELS
	const struct label *label; /* fs/label; under lock, read without it. NULL: the floor */
#endif
	ino_t number;
	dev_t rdev;
	u32 nlink;
	atomic_t refcount; /* 0: cached, unused; from 1 to 0 under spin */

	/* Under lock (writers); data.size also read without it. */
	struct rw_semaphore lock;
	u64 blocks; /* 512-byte units; by the file system's own lock, or atomic */
	struct timespec64 atime, mtime, ctime; /* under spin, atime but for reads */

	const struct file_operations *fop; /* constant once it is found by others */
	struct file_lock *locks;	   /* advisory; locks.c's lock */
	struct address_space data;

	/* Under spin, with flags. */
	spinlock_t spin;
	/* opens for writing, or < 0: running programs (ETXTBSY) */
	int writers;

	struct inode_table_link hash_link; /* under the bucket lock */
	struct list_head dirty_link; /* sb->dirty, sb->inodes_lock */
	union {
		struct list_head lru; /* the LRU list's lock */
		struct rcu_head rcu;  /* once it is dead */
	};
	u32 generation;
	seqcount_t owner_sequence; /* of mode, uid and gid, for who walks without locks */
	u8 lru_cpu;    /* whose LRU list it is on */
	bool linkable; /* made without a name: it may get its first one; under lock */
	u8 attributes; /* FS_*_FL, under lock, read without it */
	union {
		void *private;
		struct pipe *pipe; /* under lock */
		struct block_device *bdev;
		u64 last_cookie; /* of a directory of tmpfs; under lock */
	};
};

/* found, or read in by read_inode(); referenced; ERR_PTR: its error, -ENOMEM. Sleeps. */
struct inode *iget(struct super_block *sb, ino_t number);
/* not hashed (pipes, tmpfs); NULL: no memory */
struct inode *new_inode(struct super_block *sb);
void insert_inode_hash(struct inode *inode);
void remove_inode_hash(struct inode *inode);
static inline void ihold(struct inode *inode)
{
	atomic_inc(&inode->refcount);
}
/* the last one may sleep, if nlink is 0 or it is not hashed */
void iput(struct inode *inode);
DEFINE_FREE(iput, struct inode *, if (*variable) iput(*variable))
/* Set and clear I_* flags, by release (iget() waits without spin): what they were before. */
static inline u32 inode_change_flags(struct inode *inode, u32 set, u32 clear)
{
	guard(spinlock, &inode->spin);
	u32 old = inode->flags;

	smp_store_release(&inode->flags, (old | set) & ~clear);
	return old;
}
/* Something in @inode has changed. The page cache calls this, too, when a page becomes dirty. Any
 * lock but inode->spin may be held. */
void __mark_inode_dirty(struct inode *inode);
static inline void mark_inode_dirty(struct inode *inode)
{
	smp_mb(); /* the change is seen by who takes the flag that we find set */
	if (!(READ_ONCE(inode->flags) & I_DIRTY))
		__mark_inode_dirty(inode);
}
/* The mode and the owners change together: not some of them without the others, for who asks for
 * permission without a lock. Under inode->lock. */
static inline void inode_set_owner(struct inode *inode, umode_t mode, uid_t uid, gid_t gid)
{
	lockdep_assert_held(&inode->lock);
	write_seqcount_begin(&inode->owner_sequence);
	WRITE_ONCE(inode->mode, mode);
	WRITE_ONCE(inode->uid, uid);
	WRITE_ONCE(inode->gid, gid);
	write_seqcount_end(&inode->owner_sequence);
}
static inline void set_nlink(struct inode *inode, u32 nlink)
{
	inode->nlink = nlink;
	mark_inode_dirty(inode);
}
/* A file is open for writing, or runs as a program: 0, or -ETXTBSY if it is the other already. Each
 * that succeeds is taken back once. They take inode->spin and do not sleep. */
int get_write_access(struct inode *inode);
void put_write_access(struct inode *inode);
int deny_write_access(struct inode *inode);
void allow_write_access(struct inode *inode);
/* to the buffer cache; sb op write_inode */
int write_inode_now(struct inode *inode);
int sync_inodes(struct super_block *sb); /* data and inodes; waits */
void inode_cache_init(void);

/* Now, for inode times. */
static inline struct timespec64 current_time(void)
{
	return ns_to_timespec64(realtime_ns());
}
/* A time changes as a whole, also where two who change it hold different locks (times.h), and for
 * write-back, which has none. */
static inline void set_ctime(struct inode *inode, struct timespec64 now)
{
	guard(spinlock, &inode->spin);
	inode->ctime = now;
}
/* What an inode has until its file system gives it something else. */
extern const struct file_operations bad_file_operations;
/* Has a directory lost its name, so that there are none in it any more? Asked under its lock. */
#define is_dead(inode) ((inode)->nlink == 0)

/* Nesting levels of inode->lock for the lock-order checker: a directory before what is in it. */
enum { LOCK_PARENT = 1, LOCK_PARENT2, LOCK_CHILD, LOCK_CHILD2 };
#define unlock_inode(inode) ((inode) ? up_write(&(inode)->lock) : (void)0)
DEFINE_GUARD(parent, struct inode, down_write_nested(&object->lock, LOCK_PARENT), unlock_inode)
DEFINE_GUARD(child, struct inode, /* NULL: none */
	     if (object) down_write_nested(&object->lock, LOCK_CHILD), unlock_inode)
DEFINE_GUARD(child2, struct inode, /* as well */
	     if (object) down_write_nested(&object->lock, LOCK_CHILD2), unlock_inode)

/* What labels say (fs/label, an optional room): 0 where they are not compiled. */
#define if_labels(call) 0
#ifdef CONFIG_SECURITY_LABELS
#include "fs/label/label.h"
#endif
