/*
 * file.h - open files: what open(2) makes, and what kinds of files do with it.
 *
 * A struct file is made by file_open_path() with one reference, whose owner is mostly a descriptor
 * (file_table.h); fput() of the last releases it. It keeps its path, and by that its inode and its
 * mount. vfs_read() and vfs_write() check and call its file operations.
 *
 * A file's position is its own if nobody shares it; else file_lock_position() before it is used.
 * Lock order: position_lock -> inode->lock. The last fput() may unmount: under no lock that is
 * inside of mount_mutex.
 */
#pragma once

#include "fs/file/io.h"
#include "fs/path/mount.h"

struct file;
struct poll_table;

/* readdir: call emit for each entry; false means the buffer is full, stop without advancing past
 * it. */
struct dir_context {
	bool (*emit)(struct dir_context *context, const char *name, unsigned length, ino_t ino,
		     unsigned d_type);
	/* opaque to the VFS; the fs advances it past each emitted entry before the next */
	loff_t position;
};

/* A file's poll method calls poll_wait() for the one queue whose wake-up may change its answer,
 * before it looks. @table NULL: its answer is enough. It may sleep for a lock, no longer: who was
 * about to sleep himself then looks again. */
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
	int errors_told;	    /* of the mapping's write_errors: vfs_fsync() */
	struct mutex position_lock; /* taken only if the file is shared: refcount > 1 */
	loff_t position;	    /* position_lock */
	union {
		struct path path;
		struct rcu_head rcu; /* once it is dead */
	};
	pgoff_t readahead_next, readahead_size; /* file_io.c: the last window's end and length */
	void *private;
	struct watch *watches; /* those that epoll.c has on it: its lock */
};
/* PATH: O_PATH; EXEC: runs as a program, so deny_write_access() holds until the last fput(). */
enum { FMODE_READ = 1, FMODE_WRITE = 2, FMODE_PATH = 4, FMODE_EXEC = 8 };

static inline void get_file(struct file *file)
{
	atomic_inc(&file->refcount);
}
/* Open what @path leads to, with O_* @flags and no permission check. The file takes the path's
 * references over, so that it is empty (mount NULL); or ERR_PTR, and it may still have them. */
struct file *file_open_path(struct path *path, u32 flags);
void file_cache_init(void);
extern struct percpu_counter open_files; /* how many there are */
#define OPEN_FILES_MAX 65536ul /* or one for two pages of memory: ENFILE beyond it */
void fput(struct file *file);
/* Called with a file that has watches when its last reference is gone. epoll.c sets it. */
extern void (*file_drop_watches)(struct file *file);
DEFINE_FREE(fput, struct file *, if (*variable) fput(*variable))

/* @event was done to what @file has open (fs/notify.h), if @done, which is returned, is
 * positive. */
static __always_inline ssize_t notify_done(const struct file *file, u32 event, ssize_t done)
{
	if (done > 0)
		notify_open(file->inode, event, file);
	return done;
}

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
 * -EFAULT, and what the file's own operation says. Sleeps. Inline, since read(2) is nothing
 * else. */
static inline ssize_t vfs_read(struct file *file, struct io *io, loff_t *position)
{
	if (unlikely(!(file->mode & FMODE_READ)))
		return -EBADF;
	TRY(check_io(io, position));
	if (unlikely(!file->fop->read))
		return S_ISDIR(file->inode->mode) ? -EISDIR : -EINVAL;
	return notify_done(file, IN_ACCESS, file->fop->read(file, io, position));
}

static inline ssize_t vfs_write(struct file *file, struct io *io, loff_t *position)
{
	if (unlikely(!(file->mode & FMODE_WRITE)))
		return -EBADF;
	if (unlikely(!file->fop->write))
		return -EINVAL;
	TRY(check_io(io, position));
	return notify_done(file, IN_MODIFY, file->fop->write(file, io, position));
}
int vfs_fsync(struct file *file, bool data_only);
/* Read into kernel memory; @file was opened for reading. Bytes (fewer at the end of the file) or
 * -errno. Sleeps. */
ssize_t kernel_read(struct file *file, void *buf, size_t n, loff_t offset);

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

/* Sleep in @queue until @condition. 0, -EAGAIN if @file does not wait, -ERESTARTSYS. */
#define file_wait(file, queue, condition)                                                          \
	({                                                                                         \
		int __wait = 0;                                                                    \
		if (!(condition)) {                                                                \
			if ((file)->flags & O_NONBLOCK)                                            \
				__wait = -EAGAIN;                                                  \
			else                                                                       \
				__wait = wait_event_interruptible(queue, condition);               \
		}                                                                                  \
		__wait;                                                                            \
	})

/* ---- pieces for file systems ----------------------------------------------------------------- */

extern const struct file_operations pipe_file_operations, block_device_file_operations;
#define PIPE_BYTES (16 * PAGE_SIZE) /* what a pipe holds */
/* Emit "." and ".." at positions 0 and 1; false: the buffer is full. */
bool dir_emit_dots(struct file *file, struct dir_context *context);
