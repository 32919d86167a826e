/*
 * io.h - the memory that a read or a write moves: the kernel's, the program's, or several pieces of
 * the program's.
 *
 * Who reads or writes makes a struct io of what it has: {base, length, IO_KERNEL or IO_USER}, or
 * IO_VECTOR with a checked array of struct iovec in the kernel. A file's read calls io_put(), its
 * write io_get(), under whatever locks it has; each moves on by as many bytes as it could copy, and
 * fewer than asked for mean a fault, after which io_retreat() may give some back. An io belongs to
 * the task that made it: it has no lock.
 */
#pragma once

#include "core/kernel.h"

/* Of readv(2) and writev(2), as the program gives it. */
struct iovec {
	void __user *base;
	u64 length;
};

/* Copy and check a vector of @count pieces, at most IOV_MAX: its bytes, of which IO_MAX count; or
 * -EINVAL, -EFAULT. Sleeps. */
#define IOV_MAX 1024
s64 get_vector(struct iovec *vector, const void __user *from, u64 count);

/*
 * What a read or a write still has to move: so many bytes, of the kernel's memory, of the
 * program's, or of several pieces of the program's, one after the other. A file takes it as one,
 * under its locks, by io_put() and io_get().
 */
struct io {
	void *base; /* the next byte; of a vector: the struct iovec that it is in ... */
	size_t length;
	enum { IO_KERNEL, IO_USER, IO_VECTOR } kind;
	u32 offset; /* ... where in it (IO_MAX sees to it that 32 bits do) */
};

/* Of a vector, which has something left: the address it is at, and in *@n how many of
 * the next *@n bytes lie there in one piece; and what io_advance() and io_move() do with it. */
void __user *io_piece(struct io *io, size_t *n);
size_t io_advance_vector(struct io *io, size_t n);
enum io_direction { INTO_IO, OUT_OF_IO };
size_t io_move_vector(struct io *io, void *memory, size_t n, enum io_direction direction);
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
static __always_inline size_t io_move(struct io *io, void *memory, size_t n,
				      enum io_direction direction)
{
	if (unlikely(io->kind != IO_USER)) {
		if (io->kind == IO_VECTOR)
			return io_move_vector(io, memory, n, direction);
		if (direction == INTO_IO)
			memcpy(io->base, memory, n);
		else
			memcpy(memory, io->base, n);
	} else if (direction == INTO_IO) {
		n -= copy_to_user(io->base, memory, n);
	} else {
		n -= copy_from_user(memory, io->base, n);
	}
	io->base = (char *)io->base + n;
	io->length -= n;
	return n;
}
static __always_inline size_t io_put(struct io *io, const void *from, size_t n)
{
	return io_move(io, (void *)from, n, INTO_IO);
}
static __always_inline size_t io_get(struct io *io, void *to, size_t n)
{
	return io_move(io, to, n, OUT_OF_IO);
}

/* Linux moves at most this many bytes a call. */
#define IO_MAX ((size_t)0x7ffff000)
