/*
 * calls.c - splice(2), tee(2), vmsplice(2): what is asked for is checked, in Linux's order, since
 * that decides which errno a program sees; then done by move.c.
 */
#include "core/memory/slab.h"
#include "fs/calls/calls.h"
#include "kernel/splice/splice.h"

/* One side of splice(2). */
struct end {
	struct file *file;
	struct pipe *pipe; /* NULL: it is none */
	loff_t *position;
};

static u32 if_nonblocking(const struct file *file)
{
	return file->flags & O_NONBLOCK ? SPLICE_F_NONBLOCK : 0;
}

/* May @count bytes go to, or come from, @end, which is no pipe? */
static int check_file(const struct end *end, size_t count)
{
	umode_t mode = end->file->inode->mode;
	loff_t position = *end->position;

	if (end->position != &end->file->position && !end->file->fop->seekable)
		return -EINVAL;
	if (position < 0 || (s64)count < 0 || (s64)((u64)position + count) < 0)
		return -EINVAL;
	return S_ISREG(mode) || S_ISBLK(mode) || S_ISCHR(mode) ? 0 : -EINVAL;
}

static s64 splice_ends(const struct end *in, const struct end *out, size_t count, u32 flags)
{
	if (!(in->file->mode & FMODE_READ) || !(out->file->mode & FMODE_WRITE))
		return -EBADF;
	if (in->pipe && out->pipe) {
		if (in->pipe == out->pipe)
			return -EINVAL;
		flags |= if_nonblocking(in->file) | if_nonblocking(out->file);
		return splice_between(in->pipe, out->pipe, count, flags, SPLICE);
	}
	if (in->pipe) {
		if (out->file->flags & O_APPEND)
			return -EINVAL;
		/* A terminal may be stopped: nobody waits for that under the pipe's lock. */
		if (S_ISCHR(out->file->inode->mode) && out->file->fop->poll)
			return -EINVAL;
		TRY(check_file(out, count));
		flags |= if_nonblocking(in->file);
		return splice_to_file(in->pipe, out->file, out->position, count, flags);
	}
	if (!out->pipe)
		return -EINVAL;
	TRY(check_file(in, count));
	flags |= if_nonblocking(out->file);
	return splice_from_file(in->file, in->position, out->pipe, count, flags);
}

/* A file's read and write tell of themselves (fs/notify.h); a pipe's side was none of these. */
static s64 tell_of(struct file *in, struct file *out, s64 result)
{
	if (pipe_of(in))
		notify_done(in, IN_ACCESS, result);
	if (pipe_of(out))
		notify_done(out, IN_MODIFY, result);
	return result;
}

s64 sys_splice(int in_number, loff_t *from_given, int out_number, loff_t *to_given, size_t count,
	       u32 flags)
{
	if (!count)
		return 0;
	if (flags & ~SPLICE_FLAGS)
		return -EINVAL;
	struct fd in __free(fd) = TRY_FD(fdget(in_number));
	struct fd out __free(fd) = TRY_FD(fdget(out_number));
	loff_t from = 0, to = 0;
	struct end source = {in.file, pipe_of(in.file), from_given ? &from : &in.file->position};
	struct end target = {out.file, pipe_of(out.file), to_given ? &to : &out.file->position};
	if ((from_given && source.pipe) || (to_given && target.pipe))
		return -ESPIPE;
	if ((to_given && get_user(to, to_given)) || (from_given && get_user(from, from_given)))
		return -EFAULT;
	s64 result = TRY(splice_ends(&source, &target, count, flags));
	if ((to_given && put_user(to, to_given)) || (from_given && put_user(from, from_given)))
		return -EFAULT;
	return tell_of(in.file, out.file, result);
}

s64 sys_tee(int in_number, int out_number, size_t count, u32 flags)
{
	if (flags & ~SPLICE_FLAGS)
		return -EINVAL;
	if (!count)
		return 0;
	struct fd in __free(fd) = TRY_FD(fdget(in_number));
	struct fd out __free(fd) = TRY_FD(fdget(out_number));
	if (!(in.file->mode & FMODE_READ) || !(out.file->mode & FMODE_WRITE))
		return -EBADF;
	struct pipe *source = pipe_of(in.file), *target = pipe_of(out.file);
	if (!source || !target || source == target)
		return -EINVAL;
	flags |= if_nonblocking(in.file) | if_nonblocking(out.file);
	s64 result = splice_between(source, target, count, flags, TEE);
	return tell_of(in.file, out.file, result);
}

/* Into the pipe from the end that writes, out of it from the other. O_NONBLOCK does not matter. */
s64 sys_vmsplice(int number, const void *from, u64 count, u32 flags)
{
	if (flags & ~SPLICE_FLAGS)
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct file *file = fd.file;
	struct pipe *pipe = pipe_of(file);
	if (!(file->mode & (FMODE_READ | FMODE_WRITE)))
		return -EBADF;
	if (count > IOV_MAX)
		return -EINVAL;
	struct iovec *vector __free(kfree) = TRY_PTR(kmalloc(count * sizeof(*vector), GFP_KERNEL));
	size_t length = (size_t)TRY(get_vector(vector, from, count));
	struct io io = {vector, length, IO_VECTOR, 0};
	if (!length)
		return 0;
	if (!pipe)
		return -EBADF;
	if (file->mode & FMODE_WRITE)
		return notify_done(file, IN_MODIFY, splice_from_memory(&io, pipe, flags));
	return notify_done(file, IN_ACCESS, splice_to_memory(pipe, &io, flags));
}
