/*
 * io.c - the parts of struct io that are not inline: vectors of the program's memory. See io.h.
 */
#include "fs/file/io.h"

s64 get_vector(struct iovec *vector, const void *from, u64 count)
{
	size_t left = IO_MAX;

	TRY(read_user(vector, from, count * sizeof(*vector)));
	for (u64 i = 0; i < count; i++) {
		if ((s64)vector[i].length < 0)
			return -EINVAL;
		if (!access_ok(vector[i].base, vector[i].length))
			return -EFAULT;
		vector[i].length = min(vector[i].length, left);
		left -= vector[i].length;
	}
	return (s64)(IO_MAX - left);
}

void *io_piece(struct io *io, size_t *n)
{
	const struct iovec *at = io->base;

	for (; io->offset == at->length; io->base = (void *)++at)
		io->offset = 0;
	*n = min(*n, at->length - io->offset);
	return (char *)at->base + io->offset;
}

size_t io_advance_vector(struct io *io, size_t n)
{
	for (size_t left = n, part; left; left -= part) {
		part = left;
		io_piece(io, &part);
		io->offset += (u32)part;
		io->length -= part;
	}
	return n;
}

size_t io_move_vector(struct io *io, void *memory, size_t n, enum io_direction direction)
{
	size_t done = 0, part = 0, moved = 0;

	while (done < n && moved == part) {
		part = n - done;

		struct io piece = {.base = io_piece(io, &part), .length = part, .kind = IO_USER};

		moved = io_move(&piece, (char *)memory + done, part, direction);
		io->offset += (u32)moved;
		io->length -= moved;
		done += moved;
	}
	return done;
}

void io_retreat(struct io *io, size_t n)
{
	io->length += n;
	if (io->kind != IO_VECTOR) {
		io->base = (char *)io->base - n;
		return;
	}
	const struct iovec *at = io->base;

	for (; n > io->offset; io->offset = (u32)at->length, io->base = (void *)at) {
		n -= io->offset;
		at--;
	}
	io->offset -= (u32)n;
}
