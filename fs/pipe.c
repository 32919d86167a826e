/*
 * pipe.c - pipes and FIFOs: a ring of up to 16 pages between writers and readers.
 *
 * A struct pipe hangs on its inode (inode->pipe): for pipe(2) it is made with the inode, for a FIFO
 * by the first open, and it goes with the last close. `head` and `tail` count bytes ever written
 * and read; a page of the ring is allocated when a byte first falls into it and freed when the last
 * one is read, except one that is kept so that a ping-pong allocates nothing.
 *
 * Writes of up to PIPE_BUF bytes are atomic: they wait until all of it fits. A write without
 * readers is SIGPIPE and EPIPE; a read without writers is end of file.
 *
 * Lock: pipe->lock guards everything in it. User memory is copied under it: a fault may sleep, and
 * takes mm->lock below it; nothing takes a pipe's lock inside a fault.
 */
#include "fs/pipe.h"

#include "fs/vfs.h"
#include "kernel/core/jobctl.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "mm/slab.h"

#ifndef SIGPIPE
#define SIGPIPE 13
#endif
#define PIPE_PAGES 16
#define PIPE_BYTES (PIPE_PAGES * PAGE_SIZE)
/* a full pipe may begin and end within a page: then it touches one more */
#define PIPE_SLOTS (PIPE_PAGES + 1)
#define PIPE_ATOMIC 4096 /* PIPE_BUF */

struct pipe {
	struct mutex lock;
	u64 head, tail;
	void *pages[PIPE_SLOTS];
	void *spare;
	unsigned readers, writers; /* open files */
	/* ever: a FIFO's open waits for the other side's count to move */
	u64 reader_opens, writer_opens;
	wait_queue_head_t read_wait, write_wait;
};

static struct pipe *pipe_alloc(void)
{
	struct pipe *pipe = kzalloc(sizeof(*pipe), GFP_KERNEL);

	if (!pipe)
		return NULL;
	mutex_init(&pipe->lock, "pipe");
	init_waitqueue_head(&pipe->read_wait);
	init_waitqueue_head(&pipe->write_wait);
	return pipe;
}

static void pipe_free(struct pipe *pipe)
{
	for (unsigned i = 0; i < PIPE_SLOTS; i++)
		if (pipe->pages[i])
			free_pages(pipe->pages[i], 0);
	if (pipe->spare)
		free_pages(pipe->spare, 0);
	kfree(pipe);
}

static unsigned ring_slot(u64 position)
{
	return (position >> PAGE_SHIFT) % PIPE_SLOTS;
}

/* The page that holds byte @head, made if need be; NULL: out of memory. */
static char *ring_page_for_write(struct pipe *pipe)
{
	void **slot = &pipe->pages[ring_slot(pipe->head)];

	if (!*slot) {
		*slot = pipe->spare ? pipe->spare : get_free_pages(GFP_KERNEL, 0);
		pipe->spare = NULL;
	}
	return *slot;
}

/* Every byte of the page before @tail has been read. */
static void ring_page_done(struct pipe *pipe)
{
	void **slot = &pipe->pages[ring_slot(pipe->tail - 1)];

	if (pipe->spare)
		free_pages(*slot, 0);
	else
		pipe->spare = *slot;
	*slot = NULL;
}

/* Move what there is, up to the io's length: bytes, 0 when empty, -EFAULT when none could be moved.
 */
static ssize_t ring_read(struct pipe *pipe, struct io *io)
{
	ssize_t total = 0;

	while (io->length && pipe->tail != pipe->head) {
		unsigned offset = pipe->tail & (PAGE_SIZE - 1);
		size_t n = min_t(size_t, PAGE_SIZE - offset, pipe->head - pipe->tail);
		size_t moved;

		n = min(n, io->length);
		moved = io_put(io, (char *)pipe->pages[ring_slot(pipe->tail)] + offset, n);
		pipe->tail += moved;
		total += moved;
		if (moved && !(pipe->tail & (PAGE_SIZE - 1)))
			ring_page_done(pipe);
		if (moved < n)
			return total ? total : -EFAULT;
	}
	if (pipe->tail == pipe->head && (pipe->tail & (PAGE_SIZE - 1))) {
		/* Empty: start over in the same page, so that small messages never need a second
		 * one. */
		u64 back = pipe->tail & (PAGE_SIZE - 1);

		pipe->tail -= back;
		pipe->head -= back;
	}
	return total;
}

static ssize_t ring_write(struct pipe *pipe, struct io *io)
{
	ssize_t total = 0;

	while (io->length && pipe->head - pipe->tail < PIPE_BYTES) {
		unsigned offset = pipe->head & (PAGE_SIZE - 1);
		u64 room = PIPE_BYTES - (pipe->head - pipe->tail);
		size_t n = min_t(size_t, PAGE_SIZE - offset, room);
		char *page = ring_page_for_write(pipe);
		size_t moved;

		if (!page)
			return total ? total : -ENOMEM;
		n = min(n, io->length);
		moved = io_get(io, page + offset, n);
		pipe->head += moved;
		total += moved;
		if (moved < n)
			return total ? total : -EFAULT;
	}
	return total;
}

static ssize_t pipe_read(struct file *file, struct io *io, loff_t *position)
{
	struct pipe *pipe = file->inode->pipe;
	ssize_t result;

	(void)position;
	if (!io->length)
		return 0;
	for (;;) {
		bool end;

		mutex_lock(&pipe->lock);
		result = ring_read(pipe, io);
		end = !pipe->writers;
		mutex_unlock(&pipe->lock);
		if (result || end)
			break;
		if (file->flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(pipe->read_wait,
					     READ_ONCE(pipe->head) != READ_ONCE(pipe->tail) ||
						     !READ_ONCE(pipe->writers)))
			return -ERESTARTSYS;
	}
	if (result > 0)
		wake_up(&pipe->write_wait);
	return result;
}

/* May a write of @wanted bytes begin? All of it if it is to be atomic, any part otherwise. */
static bool pipe_has_room(const struct pipe *pipe, size_t wanted)
{
	u64 room = PIPE_BYTES - (READ_ONCE(pipe->head) - READ_ONCE(pipe->tail));

	return room >= (wanted <= PIPE_ATOMIC ? wanted : 1);
}

static ssize_t pipe_write(struct file *file, struct io *io, loff_t *position)
{
	struct pipe *pipe = file->inode->pipe;
	size_t wanted = io->length; /* decides atomicity, however much is left */
	ssize_t total = 0;

	(void)position;
	while (io->length) {
		ssize_t moved = 0;
		bool broken;

		mutex_lock(&pipe->lock);
		broken = !pipe->readers;
		if (!broken && pipe_has_room(pipe, wanted))
			moved = ring_write(pipe, io);
		mutex_unlock(&pipe->lock);
		if (broken) {
			send_signal_current(SIGPIPE);
			return total ? total : -EPIPE;
		}
		if (moved < 0)
			return total ? total : moved;
		total += moved;
		if (moved)
			wake_up(&pipe->read_wait);
		if (!io->length)
			break;
		if (file->flags & O_NONBLOCK)
			return total ? total : -EAGAIN;
		if (wait_event_interruptible(pipe->write_wait, pipe_has_room(pipe, wanted) ||
								       !READ_ONCE(pipe->readers)))
			return total ? total : -ERESTARTSYS;
	}
	return total;
}

static unsigned pipe_poll(struct file *file, struct poll_table *table)
{
	struct pipe *pipe = file->inode->pipe;
	unsigned mask = 0;

	if (file->mode & FMODE_READ) {
		poll_wait(file, &pipe->read_wait, table);
		if (READ_ONCE(pipe->head) != READ_ONCE(pipe->tail))
			mask |= POLLIN | POLLRDNORM;
		if (!READ_ONCE(pipe->writers) && READ_ONCE(pipe->writer_opens))
			mask |= POLLHUP;
	}
	if (file->mode & FMODE_WRITE) {
		poll_wait(file, &pipe->write_wait, table);
		if (pipe_has_room(pipe, PIPE_ATOMIC))
			mask |= POLLOUT | POLLWRNORM;
		if (!READ_ONCE(pipe->readers))
			mask |= POLLERR;
	}
	return mask;
}

static s64 pipe_ioctl(struct file *file, unsigned command, u64 argument)
{
	struct pipe *pipe = file->inode->pipe;
	int waiting;

	if (command != FIONREAD)
		return -ENOTTY;
	mutex_lock(&pipe->lock);
	waiting = (int)(pipe->head - pipe->tail);
	mutex_unlock(&pipe->lock);
	return put_user(waiting, (int __user *)argument);
}

/* One more (or less) open file on the pipe; the inode's last one frees it. */
static void pipe_count(struct pipe *pipe, const struct file *file, int change)
{
	if (file->mode & FMODE_READ)
		pipe->readers += change;
	if (file->mode & FMODE_WRITE)
		pipe->writers += change;
}

static void pipe_release(struct file *file)
{
	struct inode *inode = file->inode;
	struct pipe *pipe = inode->pipe;
	bool last;

	down_write(&inode->lock); /* against a FIFO being opened */
	mutex_lock(&pipe->lock);
	pipe_count(pipe, file, -1);
	last = !pipe->readers && !pipe->writers;
	mutex_unlock(&pipe->lock);
	if (last) {
		inode->pipe = NULL;
	} else {
		/* Before the lock is let go: after that, the other side's release may free the
		 * pipe. */
		wake_up(&pipe->read_wait);
		wake_up(&pipe->write_wait);
	}
	up_write(&inode->lock);
	if (last)
		pipe_free(pipe);
}

/* Wait until the other side has been opened, as open(2) of a FIFO does. 0 or -ERESTARTSYS, -ENXIO.
 */
static int fifo_wait_partner(struct pipe *pipe, struct file *file)
{
	if (file->mode == (FMODE_READ | FMODE_WRITE))
		return 0; /* Linux: never blocks */
	if (file->mode & FMODE_READ) {
		u64 seen = pipe->writer_opens;

		if (file->flags & O_NONBLOCK)
			return 0;
		return wait_event_interruptible(pipe->read_wait,
						READ_ONCE(pipe->writers) ||
							READ_ONCE(pipe->writer_opens) != seen);
	} else {
		u64 seen = pipe->reader_opens;

		if (READ_ONCE(pipe->readers))
			return 0;
		if (file->flags & O_NONBLOCK)
			return -ENXIO;
		return wait_event_interruptible(pipe->write_wait,
						READ_ONCE(pipe->readers) ||
							READ_ONCE(pipe->reader_opens) != seen);
	}
}

static int fifo_open(struct inode *inode, struct file *file)
{
	struct pipe *pipe;
	int error;

	if (!(file->mode & (FMODE_READ | FMODE_WRITE)))
		return -EINVAL; /* the pipe lives as long as it has a reader or a writer */
	down_write(&inode->lock);
	if (!inode->pipe)
		inode->pipe = pipe_alloc();
	pipe = inode->pipe;
	if (!pipe) {
		up_write(&inode->lock);
		return -ENOMEM;
	}
	mutex_lock(&pipe->lock);
	pipe_count(pipe, file, 1);
	if (file->mode & FMODE_READ)
		pipe->reader_opens++;
	if (file->mode & FMODE_WRITE)
		pipe->writer_opens++;
	mutex_unlock(&pipe->lock);
	up_write(&inode->lock);
	wake_up(&pipe->read_wait);
	wake_up(&pipe->write_wait);
	/* A pipe(2) reached through /proc/self/fd has had its other side already. */
	error = is_anonymous_pipe(file->path.dentry) ? 0 : fifo_wait_partner(pipe, file);
	if (error)
		pipe_release(file);
	return error;
}

const struct file_operations pipe_file_operations = {
	.open = fifo_open,
	.release = pipe_release,
	.read = pipe_read,
	.write = pipe_write,
	.ioctl = pipe_ioctl,
	.poll = pipe_poll,
};

/* ---- pipe(2): inodes of a file system that is mounted nowhere -------------------------------- */

static struct super_block pipe_super;
static struct mount pipe_mount;
static atomic_t pipe_number;

static struct inode *pipe_inode(void)
{
	struct inode *inode = new_inode(&pipe_super);

	if (!inode)
		return NULL;
	inode->pipe = pipe_alloc();
	if (!inode->pipe) {
		inode->nlink = 0;
		iput(inode);
		return NULL;
	}
	inode->number = (ino_t)atomic_inc_return(&pipe_number);
	inode->mode = S_IFIFO | 0600;
	inode->nlink = 1;
	inode->uid = current->cred->fsuid;
	inode->gid = current->cred->fsgid;
	inode->atime = inode->mtime = inode->ctime = current_time();
	inode->fop = &pipe_file_operations;
	inode->pipe->readers = inode->pipe->writers = 1;
	inode->pipe->reader_opens = inode->pipe->writer_opens = 1;
	return inode;
}

static void pipe_file_set(struct file *file, struct dentry *dentry, unsigned mode, u32 flags)
{
	file->fop = &pipe_file_operations;
	file->inode = dentry->inode;
	file->path.mount = &pipe_mount;
	file->path.dentry = dget(dentry);
	mntget(&pipe_mount);
	file->mode = mode;
	file->flags = flags;
}

/* Two open files, files[0] for reading and files[1] for writing. @flags: O_NONBLOCK. 0 or -ENOMEM,
 * -ENFILE. */
int pipe_create(struct file *files[2], int flags)
{
	struct inode *inode = pipe_inode();
	struct dentry *dentry;

	if (!inode)
		return -ENOMEM;
	dentry = d_alloc_root(inode);
	if (!dentry) {
		pipe_free(inode->pipe);
		inode->pipe = NULL;
		iput(inode);
		return -ENOMEM;
	}
	for (int i = 0; i < 2; i++) {
		files[i] = file_alloc();
		if (IS_ERR(files[i])) {
			int error = (int)PTR_ERR(files[i]);

			if (i == 1) {
				inode->pipe->writers = 0; /* the reader's release frees the pipe */
				fput(files[0]);
			} else {
				pipe_free(inode->pipe);
				inode->pipe = NULL;
			}
			dput(dentry);
			return error;
		}
		pipe_file_set(files[i], dentry, i ? FMODE_WRITE : FMODE_READ,
			      (flags & O_NONBLOCK) | (i ? O_WRONLY : O_RDONLY));
	}
	dput(dentry);
	return 0;
}

bool is_anonymous_pipe(const struct dentry *dentry)
{
	return dentry->sb == &pipe_super;
}

static const struct super_operations pipe_super_operations;

void pipe_init(void)
{
	pipe_super.op = &pipe_super_operations;
	pipe_super.dev = MKDEV(0, 1);
	pipe_super.block_size = PAGE_SIZE;
	pipe_super.flags = SB_NOATIME;
	atomic_set(&pipe_super.active, 1);
	spin_lock_init(&pipe_super.inodes_lock, "sb.inodes");
	INIT_LIST_HEAD(&pipe_super.inodes);
	INIT_LIST_HEAD(&pipe_super.link);
	pipe_mount.sb = &pipe_super;
	pipe_mount.parent = &pipe_mount;
	atomic_set(&pipe_mount.refcount, 1);
	INIT_LIST_HEAD(&pipe_mount.link);
	INIT_LIST_HEAD(&pipe_mount.children);
	INIT_LIST_HEAD(&pipe_mount.child_link);
}
