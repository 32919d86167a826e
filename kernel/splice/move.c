/*
 * move.c - bytes moved into pipes, out of them, and from one to another. See splice.h.
 *
 * Who takes bytes out of a pipe holds its lock until they have arrived: what a file does not take
 * stays in the pipe, and no other reader gets between. So a pipe's lock is held outside of the
 * inode->lock of the file that is written, while it is inside of that of its own inode. The two
 * never are of one inode, and nobody who has a file's lock waits for a FIFO's, so that this is no
 * circle; for the lock-order checker the former is another level.
 *
 * Into a pipe bytes from a file come by a buffer, read without the lock: a terminal may let us
 * wait, and files of /proc take locks of all kinds.
 *
 * Lock order: pipe->lock (the other pipe's: by address) -> what a write of a file takes.
 */
#include "core/memory/slab.h"
#include "core/signal.h"
#include "kernel/splice/splice.h"

#define BUFFER_BYTES (4 * PAGE_SIZE)

enum { LOCK_OUTSIDE = 1, LOCK_OUTSIDE2 }; /* levels of pipe->lock */

struct pipe *pipe_of(const struct file *file)
{
	return file->fop == &pipe_file_operations ? file->inode->pipe : NULL;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool has_bytes(const struct pipe *pipe)
{
	return READ_ONCE(pipe->used) || !READ_ONCE(pipe->count[WRITER]);
}

static bool takes_bytes(const struct pipe *pipe)
{
	return pipe_has_room(pipe, 1) || !READ_ONCE(pipe->count[READER]);
}

/* Until there is something in @pipe, or nobody can write to it any more. */
static int wait_for_bytes(struct pipe *pipe, u32 flags)
{
	if (!has_bytes(pipe) && (flags & SPLICE_F_NONBLOCK))
		return -EAGAIN;
	return wait_event_interruptible(pipe->wait, has_bytes(pipe));
}

/* Until something fits into @pipe, or nobody reads it: -EPIPE. */
static int wait_for_room(struct pipe *pipe, u32 flags)
{
	if (!takes_bytes(pipe) && (flags & SPLICE_F_NONBLOCK))
		return -EAGAIN;
	TRY(wait_event_interruptible(pipe->wait, takes_bytes(pipe)));
	if (READ_ONCE(pipe->count[READER]))
		return 0;
	send_signal_current(SIGPIPE);
	return -EPIPE;
}

/* ---- the ring -------------------------------------------------------------------------------- */

/* Where the bytes of @pipe lie from the @offset-th on: so many of the next *@n in one piece. */
static char *bytes_at(struct pipe *pipe, u32 offset, size_t *n)
{
	u32 at = pipe->tail + offset;

	lockdep_assert_held(&pipe->lock);
	*n = min(*n, (size_t)min(pipe->used - offset, (u32)PAGE_SIZE - at % (u32)PAGE_SIZE));
	return pipe->pages[at / PAGE_SIZE % PIPE_PAGES] + at % PAGE_SIZE;
}

/* The first @n bytes leave the ring. */
static void take(struct pipe *pipe, u32 n)
{
	lockdep_assert_held(&pipe->lock);
	WRITE_ONCE(pipe->used, pipe->used - n);
	pipe->tail = pipe->used ? pipe->tail + n : 0;
}

/* What of @io fits into @pipe, which somebody reads: bytes, 0, -ENOMEM, -EFAULT. */
static s64 put(struct pipe *pipe, struct io *io)
{
	lockdep_assert_held(&pipe->lock);
	if (!pipe_has_room(pipe, 1) || !io->length)
		return 0;
	s64 n = pipe_move(pipe, WRITER, io);
	return n ? n : -ENOMEM;
}

/* The same with the lock; 0 also if nobody reads it. */
static s64 put_and_wake(struct pipe *pipe, struct io *io)
{
	s64 n = 0;

	{
		guard(mutex, &pipe->lock);
		if (pipe->count[READER])
			n = put(pipe, io);
	}
	if (n > 0)
		wake_up_events(&pipe->wait, POLLIN | POLLRDNORM);
	return n;
}

/* ---- between a pipe and a file --------------------------------------------------------------- */

/* What is in @in now: bytes, 0: it is empty; or @out's error, if it took none. */
static s64 write_bytes(struct pipe *in, struct file *out, loff_t *position, size_t count)
{
	s64 done = 0, n = 0;

	lockdep_assert_held(&in->lock);
	while (in->used && (size_t)done < count) {
		size_t part = count - (size_t)done;
		char *from = bytes_at(in, 0, &part);
		struct io io = {from, part, IO_KERNEL, 0};

		n = vfs_write(out, &io, position);
		if (n <= 0)
			break;
		take(in, (u32)n);
		done += n;
		if ((size_t)n < part)
			break;
	}
	return done ? done : n;
}

s64 splice_to_file(struct pipe *in, struct file *out, loff_t *position, size_t count, u32 flags)
{
	for (;;) {
		TRY(wait_for_bytes(in, flags));
		down_write_nested(&in->lock.sem, LOCK_OUTSIDE);
		u32 used = in->used;
		s64 n = write_bytes(in, out, position, count);
		bool end = !used && !in->count[WRITER];
		mutex_unlock(&in->lock);
		if (n > 0)
			wake_up_events(&in->wait, pipe_read_events(used, (u32)n));
		if (used || end)
			return n;
	}
}

/* The @n bytes in @buffer, read from @in, to @out: how many of them, or -errno. If others have
 * filled the pipe meanwhile, what can be read again may stay behind; the rest waits for room. */
static s64 put_all(struct file *in, char *buffer, size_t n, struct pipe *out, u32 flags)
{
	struct io io = {buffer, n, IO_KERNEL, 0};

	if (!in->fop->seekable)
		flags &= ~(u32)SPLICE_F_NONBLOCK;
	for (;;) {
		s64 moved = TRY(put_and_wake(out, &io));

		if (!io.length || (moved && in->fop->seekable))
			return (s64)(n - io.length);
		int error = wait_for_room(out, flags);
		if (error)
			return io.length < n ? (s64)(n - io.length) : error;
	}
}

s64 splice_from_file(struct file *in, loff_t *position, struct pipe *out, size_t count, u32 flags)
{
	char *buffer __free(kfree) = TRY_PTR(kmalloc(BUFFER_BYTES, GFP_KERNEL));
	size_t part, room;
	s64 done = 0, n;

	do {
		TRY(wait_for_room(out, flags));
		room = PIPE_BYTES - READ_ONCE(out->used);
	} while (!room); /* another writer was faster */
	count = min(count, room);
	do {
		loff_t start = *position, at = start;

		part = min(BUFFER_BYTES, count - (size_t)done);
		struct io io = {buffer, part, IO_KERNEL, 0};
		n = vfs_read(in, &io, &at);
		if (n > 0)
			n = put_all(in, buffer, (size_t)n, out, flags);
		*position = start + max(n, (s64)0);
		done += max(n, (s64)0);
		/* less than that: the file's end, or there is nothing more now */
	} while (n == (s64)part && (size_t)done < count);
	return done ? done : n;
}

/* ---- between a pipe and memory --------------------------------------------------------------- */

s64 splice_to_memory(struct pipe *in, struct io *io, u32 flags)
{
	for (;;) {
		TRY(wait_for_bytes(in, flags));
		mutex_lock(&in->lock);
		u32 used = in->used;
		s64 n = used ? pipe_move(in, READER, io) : 0;
		bool end = !used && !in->count[WRITER];
		mutex_unlock(&in->lock);
		if (n > 0)
			wake_up_events(&in->wait, pipe_read_events(used, (u32)n));
		if (n || end)
			return n;
	}
}

s64 splice_from_memory(struct io *io, struct pipe *out, u32 flags)
{
	s64 n;

	do {
		TRY(wait_for_room(out, flags));
		n = put_and_wake(out, io);
	} while (!n);
	return n;
}

/* ---- between two pipes ----------------------------------------------------------------------- */

static void lock_both(struct pipe *a, struct pipe *b)
{
	down_write_nested(&min(a, b)->lock.sem, LOCK_OUTSIDE);
	down_write_nested(&max(a, b)->lock.sem, LOCK_OUTSIDE2);
}

/* Bytes, 0: there are none, or none fit; -ENOMEM. */
static s64 copy_between(struct pipe *in, struct pipe *out, size_t count)
{
	s64 done = 0, n = 1;

	lockdep_assert_held(&in->lock);
	lockdep_assert_held(&out->lock);
	while (n > 0 && (u32)done < in->used && (size_t)done < count) {
		size_t part = count - (size_t)done;
		char *from = bytes_at(in, (u32)done, &part);
		struct io io = {from, part, IO_KERNEL, 0};

		n = put(out, &io);
		done += max(n, (s64)0);
	}
	return done || n > 0 ? done : n;
}

s64 splice_between(struct pipe *in, struct pipe *out, size_t count, u32 flags, enum between how)
{
	for (;;) {
		TRY(wait_for_bytes(in, flags));
		TRY(wait_for_room(out, flags));
		lock_both(in, out);
		u32 used = in->used;
		s64 n = out->count[READER] ? copy_between(in, out, count) : 0;
		u32 taken = how == SPLICE ? (u32)max(n, (s64)0) : 0;
		bool end = !used && !in->count[WRITER] && out->count[READER];
		if (taken)
			take(in, taken);
		mutex_unlock(&in->lock);
		mutex_unlock(&out->lock);
		if (n > 0)
			wake_up_events(&out->wait, POLLIN | POLLRDNORM);
		if (taken)
			wake_up_events(&in->wait, pipe_read_events(used, taken));
		if (n || end)
			return n;
	}
}
