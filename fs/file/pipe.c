/*
 * pipe.c - pipes and FIFOs: a ring of bytes between writers and readers.
 *
 * A struct pipe hangs on its inode (inode->pipe); it is made by the first open and goes with the
 * last close. The ring has 64 KB, in pages that are there from the first time that something is
 * written to them, the first one from the start. A program cannot ask for another size.
 *
 * When all pipes have an eighth of memory they get no further page, but a new one still its first,
 * as in Linux beyond a user's limit: who holds many full pipes makes those of others slow, and
 * does not stop them. With a fourth there is no new pipe either, but for root, who can end what
 * took them all. A writer that gets no page waits until the pipe is empty; poll(2) does not know
 * of that, and splice(2) is ENOMEM.
 *
 * Writes of up to PIPE_BUF bytes are atomic: they wait until all of it fits. A write without
 * readers is SIGPIPE and EPIPE; a read without writers is end of file.
 *
 * Lock: inode->lock (against a FIFO being opened) -> pipe->lock, which guards everything in the
 * pipe. User memory is copied under it: a fault may sleep, and takes mm->lock below it; nothing
 * takes a pipe's lock inside a fault. Everybody waits in one queue: readers wait while the pipe is
 * empty and writers while it is full, so they are hardly ever there together.
 */
#include "fs/file/pipe.h"
#include "fs/cred.h"
#include "fs/inode/times.h"
#include "fs/tmpfs/tmpfs.h"
#include "core/memory/slab.h"

#define SIGPIPE 13 /* as in kernel/proc/signal.h, and on the host */

static atomic64_t all_pages; /* of all pipes */

noinline bool pipe_new_page(char **page, unsigned part)
{
	if ((u64)atomic_inc_return(&all_pages) <= page_alloc_total_pages() / part)
		*page = kmalloc(PAGE_SIZE, GFP_KERNEL | GFP_NOWARN);
	if (!*page)
		atomic_dec(&all_pages);
	return *page;
}

static ssize_t pipe_read(struct file *file, struct io *io, loff_t *position)
{
	struct pipe *pipe = file->inode->pipe;

	while (io->length) {
		mutex_lock(&pipe->lock);
		u32 used = pipe->used;
		ssize_t result = used ? pipe_move(pipe, READER, io) : 0;
		bool end = !pipe->count[WRITER];
		mutex_unlock(&pipe->lock);
		if (result > 0) {
			wake_up_events(&pipe->wait, pipe_read_events(used, (u32)result));
			if (!tmpfs_is_nameless(file->path.dentry))
				touch_atime(file);
		}
		if (result || end)
			return result;
		TRY(file_wait(file, pipe->wait,
			      READ_ONCE(pipe->used) || !READ_ONCE(pipe->count[WRITER])));
	}
	return 0;
}

static ssize_t pipe_write(struct file *file, struct io *io, loff_t *position)
{
	struct pipe *pipe = file->inode->pipe;
	/* A short write is atomic: all of it, however much is left. */
	size_t least = io->length <= PIPE_BUF ? io->length : 1;
	ssize_t total = 0, result = 0;

	while (io->length && result >= 0) {
		mutex_lock(&pipe->lock);
		result = pipe->count[READER] ? 0 : -EPIPE;
		if (!result && pipe_has_room(pipe, least)) {
			/* a short write may need a further page: before any of it is there */
			u32 at = pipe->tail + pipe->used;
			char **next = &pipe->pages[(at / PAGE_SIZE + 1) % PIPE_PAGES];
			bool further = at % PAGE_SIZE + least > PAGE_SIZE && least <= PIPE_BUF;

			if (likely(!further) || *next || pipe_new_page(next, LATER_PART))
				result = pipe_move(pipe, WRITER, io);
			if (!result) /* no memory: an empty pipe has its first page */
				least = PIPE_BYTES;
		}
		mutex_unlock(&pipe->lock);
		if (result > 0) {
			total += result;
			wake_up_events(&pipe->wait, POLLIN | POLLRDNORM);
		}
		if (result < 0 || !io->length)
			break;
		result = file_wait(file, pipe->wait,
				   pipe_has_room(pipe, least) || !READ_ONCE(pipe->count[READER]));
	}
	if (result == -EPIPE)
		send_signal_current(SIGPIPE);
	if (total && !tmpfs_is_nameless(file->path.dentry) &&
	    !((file->path.mount->flags | file->inode->sb->flags) & SB_RDONLY))
		file_update_time(file->inode);
	return total ?: result;
}

static unsigned pipe_poll(struct file *file, struct poll_table *table)
{
	struct pipe *pipe = file->inode->pipe;
	unsigned mask = 0;

	poll_wait(file, &pipe->wait, table);
	if (file->mode & FMODE_READ) {
		if (READ_ONCE(pipe->used))
			mask |= POLLIN | POLLRDNORM;
		/* Of a FIFO whose writers had left before it was opened: not yet. */
		if (!READ_ONCE(pipe->count[WRITER]) &&
		    READ_ONCE(pipe->opens[WRITER]) != (u64)file->private)
			mask |= POLLHUP;
	}
	if (file->mode & FMODE_WRITE) {
		if (pipe_has_room(pipe, PIPE_BUF))
			mask |= POLLOUT | POLLWRNORM;
		if (!READ_ONCE(pipe->count[READER]))
			mask |= POLLERR;
	}
	return mask;
}

static s64 pipe_ioctl(struct file *file, unsigned command, u64 argument)
{
	if (command != FIONREAD)
		return -ENOTTY;
	return put_user((int)file->inode->pipe->used, (int *)argument);
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* One more (or less) open file on the pipe; the others look again. inode->lock held. */
static void pipe_count(struct pipe *pipe, const struct file *file, int change)
{
	lockdep_assert_held(&file->inode->lock);
	mutex_lock(&pipe->lock);
	for (unsigned side = READER; side <= WRITER; side++)
		if (file->mode & (side == READER ? FMODE_READ : FMODE_WRITE)) {
			pipe->count[side] += (unsigned)change;
			pipe->opens[side] += change > 0;
		}
	mutex_unlock(&pipe->lock);
	wake_up(&pipe->wait);
}

static void pipe_release(struct file *file)
{
	struct inode *inode = file->inode;
	struct pipe *pipe = inode->pipe;

	guard(write, &inode->lock);
	pipe_count(pipe, file, -1);
	if (pipe->count[READER] || pipe->count[WRITER])
		return;
	inode->pipe = NULL;
	for (unsigned i = 0; i < PIPE_PAGES; i++) {
		atomic_sub(pipe->pages[i] != NULL, &all_pages);
		kfree(pipe->pages[i]);
	}
	kfree(pipe);
}

/* The open(2) of a FIFO waits until the other side has been opened. */
static int fifo_open(struct inode *inode, struct file *file)
{
	unsigned other = file->mode & FMODE_READ ? WRITER : READER;

	if (!(file->mode & (FMODE_READ | FMODE_WRITE)))
		return -EINVAL; /* the pipe lives as long as it has a reader or a writer */
	bool named = !tmpfs_is_nameless(file->path.dentry), patient = !(file->flags & O_NONBLOCK);

	down_write(&inode->lock);
	struct pipe *pipe = inode->pipe;
	/* Refused before it is counted: a reader who waits for a writer is not to hear of it. */
	if (named && !patient && other == READER && !(pipe && pipe->count[READER])) {
		up_write(&inode->lock);
		return -ENXIO;
	}
	if (!pipe) {
		pipe = kzalloc(sizeof(*pipe), GFP_KERNEL);
		if (!pipe || !pipe_new_page(&pipe->pages[0], capable(current->cred) ? 1 : 4)) {
			kfree(pipe);
			up_write(&inode->lock);
			return -ENOMEM;
		}
		mutex_init(&pipe->lock, "pipe");
		init_waitqueue_head(&pipe->wait);
		inode->pipe = pipe;
	}
	/* the other side's opens before; who is there is one that came */
	u64 seen = pipe->opens[other] - (pipe->count[other] > 0);
	pipe_count(pipe, file, 1);
	if (named)
		file->private = (void *)seen;
	up_write(&inode->lock);
	/* Who opens it for both never waits; a pipe(2) has its other side, or had it already. */
	if (file->mode == (FMODE_READ | FMODE_WRITE) || !named || !patient)
		return 0;
	int error = wait_event_interruptible(pipe->wait, READ_ONCE(pipe->opens[other]) != seen);
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
