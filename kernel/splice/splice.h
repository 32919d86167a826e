/*
 * splice.h - splice(2), tee(2), vmsplice(2): bytes between pipes, files and memory.
 *
 *	move.c		the moving, one function for each pair
 *	calls.c		the calls: their checks, in Linux's order
 *
 * Bytes are copied: from the ring of a pipe straight to where they go, from a file by a buffer. The
 * calls do not promise that pages move, as they do in Linux. Here what went into a pipe does not
 * change when the file, or the memory, is changed that it came from, and a pipe is full when it has
 * 64 KB in it, in however many pieces they came.
 */
#pragma once

#include "fs/file/pipe.h"

enum { SPLICE_F_MOVE = 1, SPLICE_F_NONBLOCK = 2, SPLICE_F_MORE = 4, SPLICE_F_GIFT = 8 };
#define SPLICE_FLAGS ((u32)(SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT))

/* The pipe that @file is an end of, or NULL. */
struct pipe *pipe_of(const struct file *file);

/*
 * All: at most @count bytes (or what @io has), not 0, of what is there and fits, waiting for the
 * first of them unless @flags has SPLICE_F_NONBLOCK. How many; 0: there is nothing more, nor will
 * be; or -EAGAIN, -ERESTARTSYS, -ENOMEM, -EPIPE (nobody reads that pipe, and there was a SIGPIPE),
 * -EFAULT, or what the file says if it took, or gave, nothing. *@position moves along. They sleep.
 */
s64 splice_to_file(struct pipe *in, struct file *out, loff_t *position, size_t count, u32 flags);
s64 splice_from_file(struct file *in, loff_t *position, struct pipe *out, size_t count, u32 flags);
s64 splice_to_memory(struct pipe *in, struct io *io, u32 flags);
s64 splice_from_memory(struct io *io, struct pipe *out, u32 flags);
/* TEE: what goes to @out stays in @in, too. The two are not the same. */
enum between { SPLICE, TEE };
s64 splice_between(struct pipe *in, struct pipe *out, size_t count, u32 flags, enum between how);
