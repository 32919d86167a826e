/*
 * pipe.c - pipes and FIFOs: a ring of pages, 16 unless asked for otherwise, between writers and
 * readers.
 *
 * A struct pipe hangs on its inode (inode->pipe): for pipe(2) it is made with the inode, for a FIFO
 * by the first open, and it goes with the last close. `head` and `tail` count bytes ever written
 * and read; a page of the ring is allocated when a byte first falls into it and freed when the last
 * one is read, except one that is kept so that a ping-pong allocates nothing.
 *
 * Writes of up to PIPE_BUF bytes are atomic: they wait until all of it fits. A write without
 * readers is SIGPIPE and EPIPE; a read without writers is end of file.
 *
 * Lock: inode->lock (against a FIFO being opened) -> pipe->lock, which guards everything in the
 * pipe. User memory is copied under it: a fault may sleep, and takes mm->lock below it; nothing
 * takes a pipe's lock inside a fault. Everybody waits in one queue: readers wait while the pipe is
 * empty and writers while it is full, so they are hardly ever there together.
 */
#include "fs/pipe.h"

#include "fs/anonymous.h"
#include "kernel/core/jobctl.h"

#ifndef SIGPIPE
#define SIGPIPE 13
#endif
#define PIPE_BYTES (16 * PAGE_SIZE)
#define PIPE_BYTES_MAX (256 * PAGE_SIZE) /* for who is not root, as Linux's pipe-max-size */
#define PIPE_BYTES_ROOT (1u << 31)
#define PIPE_ATOMIC 4096 /* PIPE_BUF */

enum { READER, WRITER };

struct pipe {
	struct mutex lock;
	u64 head, tail;
	u32 size;    /* bytes: a power of two of pages */
	void **ring; /* size / PAGE_SIZE pages and one more: a full pipe may begin within a page */
	void *spare;
	unsigned count[2]; /* open files of the readers and of the writers ... */
	u64 opens[2];	   /* ... ever: a FIFO's open waits for the other side's to move */
	wait_queue_head_t wait;
};

static void **make_ring(u32 size)
{
	return kzalloc((size / PAGE_SIZE + 1) * sizeof(void *), GFP_KERNEL);
}

static struct pipe *pipe_alloc(void)
{
	struct pipe *pipe = kzalloc(sizeof(*pipe), GFP_KERNEL);

	if (!pipe)
		return NULL;
	pipe->size = PIPE_BYTES;
	pipe->ring = make_ring(PIPE_BYTES);
	if (!pipe->ring) {
		kfree(pipe);
		return NULL;
	}
	mutex_init(&pipe->lock, "pipe");
	init_waitqueue_head(&pipe->wait);
	return pipe;
}

static void pipe_free(struct pipe *pipe)
{
	for (u32 i = 0; i <= pipe->size / PAGE_SIZE; i++)
		if (pipe->ring[i])
			free_pages(pipe->ring[i], 0);
	if (pipe->spare)
		free_pages(pipe->spare, 0);
	kfree(pipe->ring);
	kfree(pipe);
}

static void **slot_of(const struct pipe *pipe, u64 position)
{
	return &pipe->ring[(position >> PAGE_SHIFT) % (pipe->size / PAGE_SIZE + 1)];
}

/* Bytes in the pipe. Without its lock: at some moment. */
static u64 used(const struct pipe *pipe)
{
	return READ_ONCE(pipe->head) - READ_ONCE(pipe->tail);
}

/* May a write begin that needs room for @least bytes? */
static bool has_room(const struct pipe *pipe, size_t least)
{
	return pipe->size - used(pipe) >= least;
}

/* Move what there is, up to the io's length: bytes, 0 when empty, -EFAULT when none could be moved.
 */
static ssize_t ring_read(struct pipe *pipe, struct io *io)
{
	u64 tail = pipe->tail, head = pipe->head;
	size_t n, moved = 0;

	for (n = 0; moved == n && io->length && tail != head; tail += moved) {
		void **slot = slot_of(pipe, tail);
		size_t offset = tail & (PAGE_SIZE - 1);

		n = min(min(PAGE_SIZE - offset, io->length), (size_t)(head - tail));
		moved = io_put(io, (char *)*slot + offset, n);
		if (offset + moved == PAGE_SIZE) {
			if (pipe->spare)
				free_pages(pipe->spare, 0);
			pipe->spare = *slot;
			*slot = NULL;
		}
	}
	n = tail - pipe->tail;
	pipe->tail = tail;
	if (tail != head)
		return n ? (ssize_t)n : -EFAULT;
	/* Empty: start over in the same page, small messages never need another. */
	pipe->head = pipe->tail = round_down(head, PAGE_SIZE);
	return (ssize_t)n;
}

static ssize_t ring_write(struct pipe *pipe, struct io *io)
{
	u64 head = pipe->head, end = pipe->tail + pipe->size;
	size_t n, moved = 0;

	for (n = 0; moved == n && io->length && head != end; head += moved) {
		void **slot = slot_of(pipe, head);
		size_t offset = head & (PAGE_SIZE - 1);

		if (!*slot) {
			*slot = pipe->spare ? pipe->spare : get_free_pages(GFP_KERNEL, 0);
			pipe->spare = NULL;
		}
		if (!*slot)
			break;
		n = min(min(PAGE_SIZE - offset, io->length), (size_t)(end - head));
		moved = io_get(io, (char *)*slot + offset, n);
	}
	n -= moved; /* what a fault kept from moving */
	moved = head - pipe->head;
	pipe->head = head;
	return moved ? (ssize_t)moved : n ? -EFAULT : -ENOMEM;
}

static ssize_t pipe_read(struct file *file, struct io *io, loff_t *position)
{
	struct pipe *pipe = file->inode->pipe;

	while (io->length) {
		ssize_t result;
		bool end = false;

		mutex_lock(&pipe->lock);
		result = ring_read(pipe, io);
		if (!result)
			end = !pipe->count[WRITER];
		mutex_unlock(&pipe->lock);
		if (result > 0)
			wake_up(&pipe->wait);
		if (result || end)
			return result;
		if (file->flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(pipe->wait,
					     used(pipe) || !READ_ONCE(pipe->count[WRITER])))
			return -ERESTARTSYS;
	}
	return 0;
}

static ssize_t pipe_write(struct file *file, struct io *io, loff_t *position)
{
	struct pipe *pipe = file->inode->pipe;
	/* A short write is atomic: all of it, however much is left. */
	size_t least = io->length <= PIPE_ATOMIC ? io->length : 1;
	ssize_t total = 0, result = 0;

	while (io->length) {
		mutex_lock(&pipe->lock);
		result = pipe->count[READER] ? 0 : -EPIPE;
		if (!result && has_room(pipe, least))
			result = ring_write(pipe, io);
		mutex_unlock(&pipe->lock);
		if (result > 0) {
			total += result;
			wake_up(&pipe->wait);
		}
		if (result == -EPIPE)
			send_signal_current(SIGPIPE);
		if (result < 0 || !io->length)
			break;
		result = -EAGAIN;
		if (file->flags & O_NONBLOCK)
			break;
		result = wait_event_interruptible(
			pipe->wait, has_room(pipe, least) || !READ_ONCE(pipe->count[READER]));
		if (result)
			break;
	}
	if (total && !is_anonymous(file->path.dentry))
		file_update_time(file->inode);
	return total ? total : result;
}

static unsigned pipe_poll(struct file *file, struct poll_table *table)
{
	struct pipe *pipe = file->inode->pipe;
	unsigned mask = 0;

	poll_wait(file, &pipe->wait, table);
	if (file->mode & FMODE_READ) {
		if (used(pipe))
			mask |= POLLIN | POLLRDNORM;
		if (!READ_ONCE(pipe->count[WRITER]) && READ_ONCE(pipe->opens[WRITER]))
			mask |= POLLHUP;
	}
	if (file->mode & FMODE_WRITE) {
		if (has_room(pipe, PIPE_ATOMIC))
			mask |= POLLOUT | POLLWRNORM;
		if (!READ_ONCE(pipe->count[READER]))
			mask |= POLLERR;
	}
	return mask;
}

static s64 pipe_ioctl(struct file *file, unsigned command, u64 argument)
{
	return command == FIONREAD ? put_user((int)used(file->inode->pipe), (int __user *)argument)
				   : -ENOTTY;
}

/* Make the ring one of @wanted bytes, rounded up: its size, or -EBUSY when what is in it does not
 * fit. */
static s64 resize(struct pipe *pipe, u32 wanted)
{
	u32 size = (u32)roundup_pow_of_two(max_t(u32, wanted, PAGE_SIZE));
	struct pipe other = {.size = size, .ring = make_ring(size)};
	void **old = other.ring;
	s64 result = size;

	if (!other.ring)
		return -ENOMEM;
	mutex_lock(&pipe->lock);
	if (used(pipe) > size) {
		result = -EBUSY;
	} else {
		for (u64 at = round_down(pipe->tail, PAGE_SIZE); at <= pipe->head;
		     at += PAGE_SIZE) {
			if (*slot_of(pipe, at))
				*slot_of(&other, at) = *slot_of(pipe, at);
		}
		old = pipe->ring;
		pipe->ring = other.ring;
		pipe->size = size;
	}
	mutex_unlock(&pipe->lock);
	kfree(old);
	wake_up(&pipe->wait);
	return result;
}

s64 pipe_fcntl(struct file *file, unsigned command, u64 argument)
{
	struct pipe *pipe = file->inode->pipe;

	if (file->fop != &pipe_file_operations)
		return -EBADF;
	if (command == F_GETPIPE_SZ)
		return pipe->size;
	if (argument > PIPE_BYTES_ROOT)
		return -EINVAL;
	if (argument > PIPE_BYTES_MAX && argument > pipe->size && current->cred->euid)
		return -EPERM;
	return resize(pipe, (u32)argument);
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* One more (or less) open file on the pipe. pipe->lock held. */
static void pipe_count(struct pipe *pipe, const struct file *file, int change)
{
	for (unsigned side = READER; side <= WRITER; side++)
		if (file->mode & (side == READER ? FMODE_READ : FMODE_WRITE)) {
			pipe->count[side] += (unsigned)change;
			pipe->opens[side] += change > 0;
		}
}

static void pipe_release(struct file *file)
{
	struct inode *inode = file->inode;
	struct pipe *pipe = inode->pipe;
	bool last;

	down_write(&inode->lock);
	mutex_lock(&pipe->lock);
	pipe_count(pipe, file, -1);
	last = !pipe->count[READER] && !pipe->count[WRITER];
	mutex_unlock(&pipe->lock);
	if (last)
		inode->pipe = NULL;
	else
		wake_up(&pipe->wait); /* under the lock: the other side's release may free it */
	up_write(&inode->lock);
	if (last)
		pipe_free(pipe);
}

/* Wait until the other side has been opened (not only the @seen times before), as open(2) of a FIFO
 * does. 0 or -ERESTARTSYS, -ENXIO. */
static int fifo_wait_partner(struct pipe *pipe, struct file *file, unsigned other, u64 seen)
{
	if (file->mode == (FMODE_READ | FMODE_WRITE) || READ_ONCE(pipe->count[other]))
		return 0; /* both: Linux never blocks */
	if (file->flags & O_NONBLOCK)
		return other == WRITER ? 0 : -ENXIO;
	return wait_event_interruptible(pipe->wait, READ_ONCE(pipe->count[other]) ||
							    READ_ONCE(pipe->opens[other]) != seen);
}

static int fifo_open(struct inode *inode, struct file *file)
{
	unsigned other = file->mode & FMODE_READ ? WRITER : READER;
	struct pipe *pipe;
	u64 seen = 0;
	int error;

	if (!(file->mode & (FMODE_READ | FMODE_WRITE)))
		return -EINVAL; /* the pipe lives as long as it has a reader or a writer */
	down_write(&inode->lock);
	if (!inode->pipe)
		inode->pipe = pipe_alloc();
	pipe = inode->pipe;
	if (pipe) {
		mutex_lock(&pipe->lock);
		pipe_count(pipe, file, 1);
		seen = pipe->opens[other];
		mutex_unlock(&pipe->lock);
	}
	up_write(&inode->lock);
	if (!pipe)
		return -ENOMEM;
	wake_up(&pipe->wait);
	/* A pipe(2) reached through /proc/self/fd has had its other side already. */
	error = is_anonymous(file->path.dentry) ? 0 : fifo_wait_partner(pipe, file, other, seen);
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

/* ---- pipe(2) --------------------------------------------------------------------------------- */

/* A pipe's inode under a name of its own; NULL: out of memory. */
static struct dentry *pipe_dentry(void)
{
	struct pipe *pipe = pipe_alloc();
	struct dentry *dentry =
		pipe ? anonymous_dentry(S_IFIFO | 0600, &pipe_file_operations) : NULL;

	if (dentry)
		dentry->inode->pipe = pipe;
	else if (pipe)
		pipe_free(pipe);
	return dentry;
}

static void pipe_set_up(struct file *file, struct dentry *dentry, unsigned mode, int flags)
{
	anonymous_open(file, dentry, mode, flags);
	pipe_count(dentry->inode->pipe, file, 1);
}

int pipe_create(struct file *files[2], int flags)
{
	struct dentry *dentry = NULL;
	int error = 0;

	for (int i = 0; i < 2; i++) {
		files[i] = file_alloc();
		if (IS_ERR(files[i]))
			error = (int)PTR_ERR(files[i]);
	}
	if (!error && !(dentry = pipe_dentry()))
		error = -ENOMEM;
	if (error) {
		for (int i = 0; i < 2; i++)
			if (!IS_ERR(files[i]))
				fput(files[i]);
		return error;
	}
	pipe_set_up(files[0], dentry, FMODE_READ, O_RDONLY | (flags & O_NONBLOCK));
	pipe_set_up(files[1], dentry, FMODE_WRITE, O_WRONLY | (flags & O_NONBLOCK));
	dput(dentry);
	return 0;
}
