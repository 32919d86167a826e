/*
 * vfs.h - the virtual file system: what a file system implements and what the kernel may ask of it.
 *
 * Objects. A super_block is a mounted file system. An inode is a file, found in the inode cache by
 * (superblock, number). A dentry is one name in one directory, found in the dentry cache by
 * (parent, name hash); without an inode it is negative: the name is known not to exist. A mount
 * joins a superblock's root to a place in the tree; a struct path is a dentry seen through a mount.
 * A file is an open file description.
 *
 * References. dget/dput, iget.../iput, mntget/mntput, get_file/fput. A dentry holds its parent and
 * its inode. A hashed dentry stays cached when its count falls to zero (DREF_KEPT below); an
 * unhashed one is freed. Names are found word by word: a name that is looked up, and the text of a
 * symbolic link, has 8 readable bytes behind its end.
 *
 * Lock order (outermost first):
 *   super_block->rename_lock (mutex, renames across directories)
 *   -> inode->lock of directories, parent before child, then of files (rw_semaphore)
 *   -> page lock -> file system's own locks -> buffer lock
 *   -> dentry bucket lock -> dentry->lock -> inode bucket lock -> LRU locks -> inode->spin
 */
#pragma once

#include "fs/abi.h" /* S_IF*, O_*, struct kstat, AT_* ... Linux's numbers */
#include "mm/cache/page_cache.h"
#include "core/memory/slab.h"

/* ---- memory that a read or a write moves ----------------------------------------------------- */

/* Of readv(2) and writev(2), as the program gives it. */
struct iovec {
	void __user *base;
	u64 length;
};

/*
 * What a read or a write still has to move: so many bytes, of the kernel's memory, of the
 * program's, or of several pieces of the program's, one after the other. A file takes it as one,
 * under its locks, by io_put() and io_get().
 */
struct io {
	void *base; /* the next byte; of a vector: the struct iovec that it is in ... */
	size_t length;
	enum { IO_KERNEL, IO_USER, IO_VECTOR } kind;
	u32 offset; /* ... where in it (read_write.c sees to it that 32 bits do) */
};

/* read_write.c. Of a vector, which has something left: the address it is at, and in *@n how many of
 * the next *@n bytes lie there in one piece; and what io_advance() and io_move() do with it. */
void __user *io_piece(struct io *io, size_t *n);
size_t io_advance_vector(struct io *io, size_t n);
size_t io_move_vector(struct io *io, void *memory, size_t n, bool into_io);
/* Of any: go @n bytes back, which were moved or passed. */
void io_retreat(struct io *io, size_t n);

/* Pass @n bytes (n <= io->length): n. */
static __always_inline size_t io_advance(struct io *io, size_t n)
{
	if (unlikely(io->kind == IO_VECTOR))
		return io_advance_vector(io, n);
	io->base = (char *)io->base + n;
	io->length -= n;
	return n;
}

/* Copy @n bytes out of @memory into the io, or the other way (n <= io->length), and advance; bytes
 * that were moved (short: fault). */
static __always_inline size_t io_move(struct io *io, void *memory, size_t n, bool into_io)
{
	if (unlikely(io->kind != IO_USER)) {
		if (io->kind == IO_VECTOR)
			return io_move_vector(io, memory, n, into_io);
		memcpy(into_io ? io->base : memory, into_io ? memory : io->base, n);
	} else {
		n -= into_io ? copy_to_user(io->base, memory, n)
			     : copy_from_user(memory, io->base, n);
	}
	io->base = (char *)io->base + n;
	io->length -= n;
	return n;
}
#define io_put(io, from, n) io_move(io, (void *)(from), n, true)
#define io_get(io, to, n) io_move(io, to, n, false)

/* ---- who and where --------------------------------------------------------------------------- */

struct path {
	struct mount *mount;
	struct dentry *dentry;
};

#define NGROUPS_MAX_INLINE 32

/* Immutable once shared: to change, copy, change, and replace current->cred. */
struct cred {
	atomic_t refcount;
	uid_t uid, euid, suid;
	gid_t gid, egid, sgid;
	unsigned group_count;
	gid_t groups[NGROUPS_MAX_INLINE];
};

struct fs_context {
	atomic_t refcount;
	spinlock_t lock; /* guards root and cwd against another thread's chdir */
	umode_t umask;
	struct path root, cwd;
};

/* context.c. All may be called by any task on its own behalf; NULL: out of memory. */
extern struct cred init_cred; /* root's; never freed */
const struct cred *get_cred(const struct cred *cred);
void put_cred(const struct cred *cred);
struct cred *prepare_cred(void); /* a private copy of current's, to be changed */
/* Put @cred in place of current's, which is returned with its reference: under process_lock, since
 * others look at it there. kernel/proc/task.c. */
const struct cred *swap_cred(const struct cred *cred);
/* What running the file at @path makes of @cred, which is current's own copy: set-id bits and owner
 * as they are at one moment, whatever chmod and chown are at. Sleeps: inode->lock. attr.c */
void cred_of_program(struct cred *cred, const struct path *path);
bool in_group(const struct cred *cred, gid_t gid); /* egid or a supplementary group */
static inline bool capable(const struct cred *cred)
{
	return cred->euid == 0; /* the only privilege there is: being root */
}
extern struct fs_context init_fs_context; /* init's; vfs_mount_root() sets root and cwd */
struct fs_context *fs_context_fork(struct fs_context *parent); /* a copy */
#define fs_context_get(fs) atomic_inc(&(fs)->refcount)
void fs_context_put(struct fs_context *fs); /* NULL is allowed; may sleep */

/* ---- inodes ---------------------------------------------------------------------------------- */

/* A list of extended attributes in memory (xattr.c). */
struct xattr {
	struct xattr *next;
	const char *name; /* whole; behind the value */
	size_t size;
	u8 value[];
};

struct inode_operations {
	/* All under dir->lock held for writing (lookup: at least for reading); may sleep; 0 or
	 * -errno. */

	/* Fill the negative, unhashed @dentry: d_add(dentry, inode or NULL), or if the cache is not
	 * to answer the next time, D_UNCACHED and d_instantiate(). 0 also when the name is not
	 * there. */
	int (*lookup)(struct inode *dir, struct dentry *dentry);
	/* Make the object, of the type that @mode says (@target: text of a symbolic link), and
	 * d_instantiate(@dentry). The VFS has checked permission and existence. */
	int (*make)(struct inode *dir, struct dentry *dentry, umode_t mode, dev_t rdev,
		    const char *target);
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
	/* Give a regular file another size; NULL: it has none. Under inode->lock. */
	int (*truncate)(struct inode *inode, loff_t size);
	int (*fallocate)(struct inode *inode, int mode, loff_t offset, loff_t length);
	/*
	 * Extended attributes, both or none (then -EOPNOTSUPP). Names are whole, with the prefix of
	 * their namespace. inode->lock is held: for writing by set, else for reading.
	 * load: all of them, or @name alone if it is not NULL, into *@list, which is NULL; the list
	 * is the caller's, to xattr_free() whatever the result.
	 * set: one, as setxattr(2); @value NULL: removed. It renews no times; -ENOSPC: it does not
	 * fit.
	 */
	int (*load_xattrs)(struct inode *inode, const char *name, struct xattr **list);
	int (*set_xattr)(struct inode *inode, const char *name, const void *value, size_t size,
			 int flags);
	/* SEEK_DATA, SEEK_HOLE: the first byte from @offset (inside the file) on that is data, or
	 * in a hole (the end of the file is one): *@found, or -ENXIO. NULL: all is data. */
	int (*seek)(struct inode *inode, loff_t offset, bool hole, loff_t *found);
};

/*
 * inode->flags. DIRTY: the inode itself (times, size, blocks) is newer than the disk, or pages are;
 * WRITING: somebody writes it back, others who want to wait; NEW: being read in, others wait;
 * FREEING: being torn down; REFERENCED: used since reclaim last looked; HASHED: in the inode table.
 */
enum { I_DIRTY = 1, I_NEW = 2, I_FREEING = 4, I_REFERENCED = 8, I_HASHED = 16, I_WRITING = 32 };

struct inode {
	/* Read by every path walk: kept in the first cache line. */
	umode_t mode;
	uid_t uid;
	gid_t gid;
	u32 flags; /* I_* under spin; read racily */
	const struct inode_operations *op;
	const char *link; /* target of a fast symbolic link, NULL otherwise */
	struct super_block *sb;
	ino_t number;
	dev_t rdev;
	u32 nlink;
	atomic_t refcount; /* 0: cached, unused */

	/* Under lock (writers); size also read without it. */
	struct rw_semaphore lock;
	u64 blocks; /* 512-byte units */
	struct timespec64 atime, mtime, ctime;

	const struct file_operations *fop;
	struct file_lock *locks; /* advisory; locks.c's lock */
	struct address_space data;

	spinlock_t spin; /* flags */
	/* opens for writing, or < 0: running programs (ETXTBSY); spin */
	int writers;
	struct inode_table_link hash_link; /* under the bucket lock */
	/* lru: the LRU list's lock; dirty_link: sb->dirty, sb->inodes_lock */
	struct list_head lru, dirty_link;
	u32 generation;
	u8 lru_cpu; /* whose LRU list it is on */
	union {
		void *private;
		struct pipe *pipe;
		struct block_device *bdev;
	};
};

/* icache.c */
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
/* may sleep when last and nlink == 0 */
void iput(struct inode *inode);
DEFINE_FREE(iput, struct inode *, if (*variable) iput(*variable))
/* Something in @inode has changed. The page cache calls this, too, when a page becomes dirty. Any
 * lock but inode->spin may be held. */
void __mark_inode_dirty(struct inode *inode);
static inline void mark_inode_dirty(struct inode *inode)
{
	smp_mb(); /* the change is seen by who takes the flag that we find set */
	if (!(READ_ONCE(inode->flags) & I_DIRTY))
		__mark_inode_dirty(inode);
}
static inline void set_nlink(struct inode *inode, u32 nlink)
{
	inode->nlink = nlink;
	mark_inode_dirty(inode);
}
/* ETXTBSY: a file is open for writing (count > 0) or runs as a program (count < 0). 0 or -ETXTBSY.
 */
int change_writers(struct inode *inode, int by, bool release);
#define get_write_access(inode) change_writers(inode, 1, false)
#define put_write_access(inode) change_writers(inode, -1, true)
#define deny_write_access(inode) change_writers(inode, -1, false)
#define allow_write_access(inode) change_writers(inode, 1, true)
/* to the buffer cache; sb op write_inode */
int write_inode_now(struct inode *inode);
int sync_inodes(struct super_block *sb); /* data and inodes; waits */
void inode_cache_init(void);

/* ---- dentries -------------------------------------------------------------------------------- */

#define DNAME_INLINE 40 /* with the NUL */

/*
 * dentry->flags. MOUNTED: something may be mounted here, ask the mount table; UNHASHED: not to be
 * found by name (removed, or never added); UNCACHED: never hashed, though there: looked up each
 * time (/proc/PID).
 */
enum { D_MOUNTED = 1, D_UNCACHED = 2, D_UNHASHED = 4 };

/*
 * A bit of dentry->refcount beside the count: the dentry is hashed and on the LRU list, so that a
 * count of zero only makes it reclaimable. Whoever brings the whole word to zero therefore holds
 * the last trace of an unhashed dentry and frees it; dget and dput of a cached one are one atomic
 * instruction each.
 */
#define DREF_KEPT (1 << 30)

struct dentry {
	/* Read by lookup. Unchanged while hashed. */
	struct dentry_table_link hash_link; /* bucket lock */
	struct dentry *parent;		    /* itself at a root; changes under lock */
	u32 name_hash;
	u8 name_length;
	u8 lru_cpu;    /* whose LRU list it is on */
	u8 flags;      /* D_*; changed by atomic operations: UNHASHED under the bucket lock */
	u8 referenced; /* used since the LRU last looked; racy */
	/* inline_name or kmalloc'ed; NUL-terminated, 8 readable bytes past the end */
	const char *name;
	struct inode *inode; /* NULL: negative. A reference keeps a positive one positive */
	atomic_t refcount;   /* with DREF_KEPT */
	spinlock_t lock;
	char inline_name[DNAME_INLINE];

	u64 cookie; /* the file system's; 0: new, or not among its names */
	/* lru: the LRU list's lock; child_link: parent->children, cookies last; parent->lock */
	struct list_head lru, child_link, children;
};

/* dcache.c */
/* Takes over @root's reference, even if it fails; NULL: out of memory, or @root is NULL. */
struct dentry *d_alloc_root(struct inode *root);
/* hash it, with @inode's reference (NULL: negative) */
void d_add(struct dentry *dentry, struct inode *inode);
void d_instantiate(struct dentry *dentry, struct inode *inode); /* negative -> positive */
/* name removed: turn negative if unused, else unhash */
void d_delete(struct dentry *dentry);
/* take target's place (rename), which @exchange: takes the other's, else: is unhashed */
void d_move(struct dentry *dentry, struct dentry *target, bool exchange);
static inline struct dentry *dget(struct dentry *dentry)
{
	atomic_inc(&dentry->refcount);
	return dentry;
}
void dentry_free(struct dentry *dentry); /* dcache.c's own: count and DREF_KEPT are gone */
/* May sleep when it drops the last reference to an unlinked inode. NULL is not allowed. */
static inline void dput(struct dentry *dentry)
{
	if (unlikely(atomic_dec_return(&dentry->refcount) == 0))
		dentry_free(dentry);
}
DEFINE_FREE(dput, struct dentry *, dput(*variable))
static inline int dentry_count(const struct dentry *dentry)
{
	return atomic_read(&dentry->refcount) & ~DREF_KEPT;
}
struct dentry *dget_parent(struct dentry *dentry); /* referenced */
/* has its name been removed? Not fooled by a rename. */
bool d_unlinked(const struct dentry *dentry);
/* Does @dentry lie below @ancestor of the same file system, or is it that? At one moment: a rename
 * is seen whole. */
bool d_is_below(const struct dentry *dentry, const struct dentry *ancestor);
/* Parents and names: taken by d_move(), d_path() and whoever walks upwards without references. */
extern spinlock_t dentry_tree_lock;
/* Full path into the end of buf (getcwd, /proc/PID/fd): pointer into buf or ERR_PTR(-ENAMETOOLONG);
 * " (deleted)" is appended for unhashed ones; unreachable from root: "(unreachable)" in front. */
char *d_path(const struct path *path, const struct path *root, char *buf, size_t size);
/* drop the unused ones of a removed directory */
void shrink_dcache_children(struct dentry *parent);
/* Umount: drop all dentries of @sb but the root; @pinned: each positive one carries a reference of
 * the file system (tmpfs), to be dropped. -EBUSY when one is still in use. */
int shrink_dcache_sb(struct super_block *sb, bool pinned);
void dentry_cache_check(void);	/* CONFIG_DEBUG: table, LRU list and counters agree, or panic */
void dentry_cache_init(void);

/* ---- file systems and superblocks ------------------------------------------------------------ */

struct super_operations {
	/* Begin the fs's own part (filesystem.inode_before), which is zeros: 0 or -errno; end it.
	 * NULL: nothing to do. */
	int (*init_inode)(struct inode *inode);
	void (*free_inode)(struct inode *inode);
	/* fill in what has its number: 0 or -errno */
	int (*read_inode)(struct inode *inode);
	/* copy to its buffer */
	int (*write_inode)(struct inode *inode);
	/* Last reference gone and nlink == 0: free the blocks. NULL: only drop the pages. May
	 * sleep. */
	void (*evict_inode)(struct inode *inode);
	void (*statfs)(struct super_block *sb, struct kstatfs *stat); /* what is used and free */
	void (*sync_fs)(struct super_block *sb);
	/* Write-back has been to the inodes, and will write the buffers. NULL: nothing to do. */
	void (*write_back)(struct super_block *sb);
	int (*remount)(struct super_block *sb, unsigned flags); /* NULL: takes no options */
	void (*put_super)(struct super_block *sb);
};

/* MS_* of mount(2) */
enum { SB_RDONLY = 1, SB_NOSUID = 2, SB_NODEV = 4, SB_NOEXEC = 8 };
enum { SB_NOATIME = 1024, SB_NODIRATIME = 2048 };
/* of the extended attributes user.* is not kept; owners and modes are not to be changed */
enum { SB_NO_USER_XATTRS = 1 << 30, SB_FIXED_OWNERS = 1 << 29 };

struct super_block {
	const struct super_operations *op;
	struct filesystem *type;
	struct dentry *root;
	struct block_device *bdev; /* NULL for memory file systems */
	dev_t dev;
	unsigned flags /* SB_* */, block_size;
	u64 max_bytes;
	atomic_t active; /* mounts */
	struct mutex rename_lock, sync_lock;
	atomic_t inode_count;
	spinlock_t inodes_lock;
	/* dirty: inodes with I_DIRTY or I_WRITING; link: all superblocks */
	struct list_head dirty, link;
	void *private;
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
	struct filesystem *next; /* register_filesystem()'s */
};
extern struct filesystem ext2_filesystem, tmpfs_filesystem, proc_filesystem, devtmpfs_filesystem;
extern struct filesystem *filesystems; /* the first, and by ->next all, in order of registration */
void register_filesystem(struct filesystem *type); /* at start-up, permanent */
struct filesystem *find_filesystem(const char *name); /* or NULL */

struct mount {
	atomic_t refcount;
	struct super_block *sb;
	struct dentry *root;
	struct mount *parent; /* itself at the root */
	struct dentry *mountpoint;
	unsigned flags;			       /* SB_* and MS_RELATIME of this mount */
	atomic_t writers;		       /* regular files open for writing through it */
	struct list_head link; /* all mounts in order of mounting; empty: off the tree */
	int id; /* as /proc/PID/mountinfo numbers them */
	char device_name[];
};
static inline struct mount *mntget(struct mount *mount)
{
	atomic_inc(&mount->refcount);
	return mount;
}
void mount_free(struct mount *mount); /* mount.c's own */
static inline void mntput(struct mount *mount)
{
	if (unlikely(atomic_dec_return(&mount->refcount) == 0))
		mount_free(mount);
}
/* 0, or -EROFS when the mount or its file system is read-only. */
static inline int mount_writable(const struct mount *mount)
{
	return (mount->flags | mount->sb->flags) & SB_RDONLY ? -EROFS : 0;
}

/* A mount of a new or known superblock, which is not yet in the tree (for the kernel's own files it
 * stays so); flags and options as mount(2)'s. ERR_PTR, or NULL: no memory. Sleeps. */
struct mount *mount_make(struct filesystem *type, struct block_device *device, unsigned flags,
			 const char *device_name, const char *options);
/* Unpack the newc archive of @size bytes into the current task's root directory. 0, -EINVAL
 * (damaged; says so in the log), -ENOSPC, -ENOMEM. Sleeps. initramfs.c */
int initramfs_unpack(const void *archive, size_t size);

/* ---- path walk (namei.c) --------------------------------------------------------------------- */

/*
 * FOLLOW: a symbolic link in the last component; EMPTY: as
 * AT_EMPTY_PATH, "" means the starting place; FD: no name, but what descriptor @dfd has open,
 * FD_PATH: even by O_PATH; EXCLUSIVE: only to make what is not there.
 */
enum { LOOKUP_FOLLOW = AT_SYMLINK_FOLLOW, LOOKUP_EMPTY = AT_EMPTY_PATH };
enum { LOOKUP_FD = 1, LOOKUP_FD_PATH = 2, LOOKUP_EXCLUSIVE = 4 };

/* Walk @name (user address) from directory descriptor @dfd (AT_FDCWD: cwd): 0 and a referenced
 * path, or -ENOENT, -ENOTDIR, -EACCES, -ELOOP, -ENAMETOOLONG, -EFAULT, -EBADF, -ENOMEM, -EIO. May
 * sleep. */
int user_path_at(int dfd, const char __user *name, unsigned flags, struct path *path);
/* the same from cwd of a kernel string, which has eight readable bytes behind its end */
int kern_path(const char *name, unsigned flags, struct path *path);
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

enum { MAY_EXEC = 1, MAY_WRITE = 2, MAY_READ = 4 };
/* of current's euid, egid, groups; 0 or -EACCES (-EROFS) */
int inode_permission(struct inode *inode, int mask);
bool is_special(const struct inode *inode); /* writing to it does not change a file system */

/* As the system calls; an owner of -1 stays. (Those on files are in fs/ too, and are declared by
 * core/syscalls.h.) */
int vfs_chmod(const struct path *path, umode_t mode);
int vfs_chown(const struct path *path, uid_t uid, gid_t gid);
/* What is left of @mode when the current process changes the owner or the contents: set-group-id
 * stays where it means locking and the process is of the group. */
umode_t mode_unprivileged(const struct inode *inode, umode_t mode);

/* xattr.c */
/* As setxattr(2): a new one becomes the first, as in Linux's tmpfs; @value NULL: removed. */
int xattr_set(struct xattr **list, const char *name, const void *value, size_t size, int flags);
void xattr_free(struct xattr **list);
/* Set @name, or remove it (@value NULL), as setxattr(2), if current may: 0 or -errno. */
int xattr_change(const struct path *path, const char *name, const void *value, size_t size,
		 int flags);
/* @name, or all there are, into *@list, which is NULL; it is the caller's to free, whatever the
 * result. 0, -ENODATA, -EACCES, -EOPNOTSUPP ... Take inode->lock. */
int xattr_read(struct inode *inode, const char *name, struct xattr **list);
int xattr_read_all(struct inode *inode, struct xattr **list);
/* May current see that it is there? */
bool xattr_is_shown(const struct xattr *xattr);
DEFINE_FREE(xattrs, struct xattr *, xattr_free(variable))

/* Open what @path leads to, with O_* @flags and no permission check; consumes nothing; ERR_PTR. */
struct file *file_open_path(const struct path *path, u32 flags);
/* Open by kernel path, as kern_path(), for the kernel's own use: referenced file or ERR_PTR. */
struct file *filp_open(const char *name, int flags, umode_t mode);
/* The same from @dfd on, as openat(2): 0 and an open file in *@opened, or -errno. Sleeps. */
int open_at(int dfd, const char *name, int flags, umode_t mode, struct file **opened);
/* Read into kernel memory; @file was opened for reading. Bytes (fewer at the end of the file) or
 * -errno. Sleeps. */
ssize_t kernel_read(struct file *file, void *buf, size_t n, loff_t offset);

/* ---- open files ------------------------------------------------------------------------------ */

/* readdir: call emit for each entry; false means the buffer is full, stop without advancing past
 * it. */
struct dir_context {
	bool (*emit)(struct dir_context *context, const char *name, unsigned length, ino_t ino,
		     unsigned d_type);
	/* opaque to the VFS; the fs advances it past each emitted entry before the next */
	loff_t position;
};

/* A file's poll method calls poll_wait() for the one queue whose wake-up may change its answer,
 * before it looks; it must not sleep. @table NULL: its answer is enough. */
struct poll_table {
	wait_queue_head_t *queue;
	struct wait_queue_entry entry;
};
static inline void poll_wait(struct file *file, wait_queue_head_t *queue, struct poll_table *table)
{
	if (!table)
		return;
	table->queue = queue;
	add_wait_queue(queue, &table->entry);
}

struct file_operations {
	/* may replace file->fop, set file->private */
	int (*open)(struct inode *inode, struct file *file);
	void (*release)(struct file *file);
	ssize_t (*read)(struct file *file, struct io *io, loff_t *position);
	ssize_t (*write)(struct file *file, struct io *io, loff_t *position);
	bool seekable; /* has positions; else -ESPIPE */
	/* directory, under inode->lock read */
	int (*iterate)(struct file *file, struct dir_context *context);
	s64 (*ioctl)(struct file *file, unsigned command, u64 argument);
	/* POLL* mask; NULL: always ready */
	unsigned (*poll)(struct file *file, struct poll_table *table);
	enum { NOT_MAPPED, MAPPED_PAGES, MAPPED_ZEROS } mmap; /* what shows: inode->data */
	int (*fsync)(struct file *file, bool data_only);
};

struct file {
	const struct file_operations *fop;
	struct inode *inode; /* == path.dentry->inode, held by it */
	atomic_t refcount;
	u32 flags;		    /* O_* (access mode, O_APPEND, O_NONBLOCK ...) */
	u32 mode;		    /* FMODE_READ | FMODE_WRITE ... */
	struct mutex position_lock; /* taken only if the file is shared: refcount > 1 */
	loff_t position;
	struct path path;
	pgoff_t readahead_next, readahead_size; /* file_io.c: the last window's end and length */
	void *private;
	struct watch *watches; /* those that events/epoll.c has on it: its lock */
};
/* PATH: O_PATH; EXEC: runs as a program, so deny_write_access() holds until the last fput(). */
enum { FMODE_READ = 1, FMODE_WRITE = 2, FMODE_PATH = 4, FMODE_EXEC = 8 };

static inline void get_file(struct file *file)
{
	atomic_inc(&file->refcount);
}
void fput(struct file *file);
/* Called with a file that has watches when its last reference is gone. events/epoll.c sets it. */
extern void (*file_drop_watches)(struct file *file);
DEFINE_FREE(fput, struct file *, if (*variable) fput(*variable))

/* file_table.c: descriptors */
struct file_table *file_table_create(void);		       /* NULL: out of memory */
struct file_table *file_table_fork(struct file_table *parent); /* a copy */
void file_table_get(struct file_table *table);
/* With the last task's reference all is closed; not with a lock held that is below mount_mutex. */
void file_table_put(struct file_table *table);
/* For who looks at another task's: the table stays, what is open in it does not. Any context. */
void file_table_hold(struct file_table *table);
void file_table_release(struct file_table *table);
/* A reference to the file behind @fd, or NULL. With a table used by one task only no count is
 * taken: the returned word says so in its low bit; give it to fdput(). Hot path. */
struct fd {
	struct file *file; /* NULL: -EBADF */
	bool counted;
};
struct fd fdget(int fd);     /* NULL also for an O_PATH descriptor */
struct fd fdget_raw(int fd); /* that one too */
static inline void fdput(struct fd fd)
{
	if (unlikely(fd.counted))
		fput(fd.file);
}
DEFINE_FREE(fd, struct fd, fdput(*variable))
/* struct fd fd __free(fd) = TRY_FD(fdget(number)): no such file is -EBADF, returned. */
#define TRY_FD(get)                                                                                \
	({                                                                                         \
		struct fd __fd = (get);                                                            \
		if (unlikely(!__fd.file))                                                          \
			return -EBADF;                                                             \
		__fd;                                                                              \
	})
struct fd fdget_shared(struct file_table *table, u32 fd); /* another task's (/proc/PID/fd) */
int file_table_next(struct file_table *table, int fd); /* lowest open descriptor >= fd, or -1 */
/* The lowest free number from @lowest on, for @file, whose reference is taken over in any case; or
 * -EMFILE, -ENOMEM. */
int fd_add(struct file *file, u32 lowest, bool close_on_exec);
int fd_room(void); /* 0, or -EMFILE if there is no number left: to be asked before making a file */
/* @file also at @number, in place of what is there, which is closed: @number, or -EBADF (too large),
 * -ENOMEM. */
int fd_replace(u32 number, struct file *file, bool close_on_exec);
/* As fd_add(), with a reference of its own; -EINVAL: @lowest is too large. */
int fd_duplicate(struct file *file, u64 lowest, bool close_on_exec);
int fd_close(int number); /* 0 or -EBADF; sleeps */
int fd_get_flags(int number); /* FD_CLOEXEC or 0; -EBADF */
int fd_set_flags(int number, int flags);
/* close the close-on-exec ones */
void file_table_exec(struct file_table *table);
void file_table_set_limit(struct file_table *table, u32 limit); /* RLIMIT_NOFILE; any context */
#define FILE_TABLE_MAX 4096					/* its hard limit */

/* Linux moves at most this many bytes a call. */
#define IO_MAX ((size_t)0x7ffff000)

static __always_inline ssize_t check_io(struct io *io, const loff_t *position)
{
	if (io->kind == IO_USER && unlikely(!access_ok(io->base, io->length)))
		return -EFAULT;
	/* None of position, length and end may be negative. */
	if (unlikely((s64)((u64)*position | io->length | ((u64)*position + io->length)) < 0))
		return -EINVAL;
	if (unlikely(io->length > IO_MAX))
		io->length = IO_MAX;
	return 0;
}

/* From *@position on, which moves along: bytes, or -EBADF (not open for that), -EISDIR, -EINVAL,
 * -EFAULT, and what the file's own operation says. Sleeps. Inline, since read(2) is nothing else. */
static inline ssize_t vfs_read(struct file *file, struct io *io, loff_t *position)
{
	if (unlikely(!(file->mode & FMODE_READ)))
		return -EBADF;
	TRY(check_io(io, position));
	if (unlikely(!file->fop->read))
		return S_ISDIR(file->inode->mode) ? -EISDIR : -EINVAL;
	return file->fop->read(file, io, position);
}

static inline ssize_t vfs_write(struct file *file, struct io *io, loff_t *position)
{
	if (unlikely(!(file->mode & FMODE_WRITE)))
		return -EBADF;
	if (unlikely(!file->fop->write))
		return -EINVAL;
	TRY(check_io(io, position));
	return file->fop->write(file, io, position);
}
int vfs_fsync(struct file *file, bool data_only);
/* May a file grow to @size (RLIMIT_FSIZE)? 0, or -EFBIG and SIGXFSZ. Asked under inode->lock, since
 * others may make it grow. attributes.c */
int limit_growth(const struct inode *inode, loff_t size);
/* Lock file->position while the variable lives, if others share the file:
 *	struct file *locked __free(position) = file_lock_position(file); */
struct file *__file_lock_position(struct file *file);
static inline struct file *file_lock_position(struct file *file)
{
	if (likely(atomic_read(&file->refcount) == 1))
		return NULL;
	return __file_lock_position(file);
}
DEFINE_FREE(position, struct file *, if (*variable) mutex_unlock(&(*variable)->position_lock))

/* ---- generic pieces for file systems --------------------------------------------------------- */

extern const struct file_operations pipe_file_operations, block_device_file_operations;
/* Emit "." and ".." at positions 0 and 1; false: the buffer is full. */
bool dir_emit_dots(struct file *file, struct dir_context *context);
void touch_atime(struct file *file); /* relatime unless SB_NOATIME */
void touch_inode_atime(struct inode *inode, const struct mount *mount); /* of a link, too */
/* Now, for inode times. */
static inline struct timespec64 current_time(void)
{
	return ns_to_timespec64(realtime_ns());
}
int inode_changed(struct inode *inode); /* ctime; 0 */
void file_update_time(struct inode *inode);
/* Ownership and mode of a new inode in @dir (set-gid directories, umask is already applied). */
void inode_init_owner(struct inode *inode, const struct inode *dir, umode_t mode);

/* ---- tmpfs: files in the page cache, names in the dentry cache, nowhere else ----------------- */

/* Also what devfs is made of. */
#define TMPFS_INODE_BEFORE (2 * sizeof(void *)) /* filesystem.inode_before */
int tmpfs_fill_super(struct super_block *sb, const char *options, bool silent);
/* A new inode of @mode that no directory knows (a pipe, a memfd), owned by the calling task: 0
 * and a referenced path, for file_open_path(), or -ENOMEM. Sleeps. */
int tmpfs_nameless(umode_t mode, struct path *path);
static inline bool tmpfs_is_nameless(const struct dentry *dentry)
{
	return dentry->parent == dentry && !S_ISDIR(dentry->inode->mode);
}
/* The same of a regular file of @size bytes, open for @access (O_RDONLY, O_WRONLY, O_RDWR); it is
 * the caller's. ERR_PTR(-ENOMEM: more than there is; -ENFILE). Sleeps. */
struct file *tmpfs_file(umode_t mode, u64 size, int access);
/* Make a node directly under the root of @sb (a device): 0 or -errno. */
int tmpfs_make_node(struct super_block *sb, const char *name, umode_t mode, dev_t rdev);
