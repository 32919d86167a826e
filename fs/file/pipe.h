/*
 * pipe.h - the ring of bytes of a pipe, for who moves bytes in and out: pipe.c's read and write,
 * and what else there may be (kernel/splice). See pipe.c.
 *
 * An open file whose fop is pipe_file_operations has the pipe inode->pipe, as long as it is open.
 * Who has moved bytes wakes those who wait for that: pipe->wait.
 */
#pragma once

#include "fs/file/file.h"

#define PIPE_PAGES (PIPE_BYTES / PAGE_SIZE)

enum { READER = INTO_IO, WRITER = OUT_OF_IO }; /* which way their bytes go */

struct pipe {
	struct mutex lock;
	u32 used, tail;	   /* bytes in the ring, and where they begin, modulo its size */
	unsigned count[2]; /* open files of the readers and of the writers ... */
	u64 opens[2];	   /* ... ever: a FIFO's open waits for the other side's to move */
	wait_queue_head_t wait;
	char *pages[PIPE_PAGES];
};

/* A page for *@page: is there memory, of which all pipes' pages are then at most one @part-th? */
bool pipe_new_page(char **page, unsigned part);
#define LATER_PART 8 /* for a page that is not a pipe's first */

/* May a write begin that needs room for @least bytes? Without the lock: at some moment. */
static inline bool pipe_has_room(const struct pipe *pipe, size_t least)
{
	return PIPE_BYTES - READ_ONCE(pipe->used) >= least;
}

/* Move what is there (@side READER), or what fits (WRITER), and something of it must be, between
 * the ring and @io: bytes, 0 (no memory), or -EFAULT. Of a page of the ring that meets a fault
 * nothing counts as moved, as in Linux. pipe->lock is held. */
static __always_inline ssize_t pipe_move(struct pipe *pipe, unsigned side, struct io *io)
{
	u32 used = pipe->used, start = pipe->tail + (side == WRITER ? used : 0), at = start;
	size_t n, moved, left = min(io->length, side == WRITER ? PIPE_BYTES - used : used);

	lockdep_assert_held(&pipe->lock);
	do {
		char **page = &pipe->pages[at / PAGE_SIZE % PIPE_PAGES];

		if (side == WRITER && unlikely(!*page) && !pipe_new_page(page, LATER_PART))
			break;
		n = min(left, PAGE_SIZE - at % PAGE_SIZE);
		moved = io_move(io, *page + at % PAGE_SIZE, n, side);
		if (unlikely(moved < n)) {
			io_retreat(io, moved);
			break;
		}
		at += (u32)n;
		left -= n;
	} while (left);
	if (at == start)
		return pipe->pages[at / PAGE_SIZE % PIPE_PAGES] ? -EFAULT : 0;
	if (side == WRITER) {
		WRITE_ONCE(pipe->used, used + (at - start));
	} else {
		WRITE_ONCE(pipe->used, used - (at - start));
		/* Empty: start over in the same lines of the cache. */
		pipe->tail = pipe->used ? at : 0;
	}
	return at - start;
}

/* What becomes true by a read of @n of @used bytes: for wake_up_events(). */
static inline unsigned pipe_read_events(u32 used, u32 n)
{
	const u32 most = PIPE_BYTES - PIPE_BUF; /* with more there is no room for writers */

	return used > most && used - n <= most ? POLLOUT | POLLWRNORM : 0;
}
