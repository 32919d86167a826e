/*
 * read_write.c - reading, writing and seeking in an open file: checks, then the file's own
 * operation.
 */
#include "fs/internal.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "mm/slab.h"

size_t io_put(struct io *io, const void *from, size_t n)
{
	size_t left = 0;

	if (likely(io->user))
		left = copy_to_user(io->base, from, n);
	else
		memcpy(io->base, from, n);
	n -= left;
	io->base = (char *)io->base + n;
	io->length -= n;
	return n;
}

size_t io_get(struct io *io, void *to, size_t n)
{
	size_t left = 0;

	if (likely(io->user))
		left = copy_from_user(to, io->base, n);
	else
		memcpy(to, io->base, n);
	n -= left;
	io->base = (char *)io->base + n;
	io->length -= n;
	return n;
}

/* Linux moves at most this many bytes a call. */
#define IO_MAX ((size_t)0x7ffff000)

static __always_inline ssize_t check_io(struct io *io, const loff_t *position)
{
	if (io->user && unlikely(!access_ok(io->base, io->length)))
		return -EFAULT;
	if (unlikely((ssize_t)io->length < 0))
		return -EINVAL;
	/* Neither it nor the end may be negative. */
	if (unlikely(position && (s64)((u64)*position | ((u64)*position + io->length)) < 0))
		return -EINVAL;
	if (unlikely(io->length > IO_MAX))
		io->length = IO_MAX;
	return 0;
}

ssize_t vfs_read(struct file *file, struct io *io, loff_t *position)
{
	ssize_t error;

	if (unlikely(!(file->mode & FMODE_READ)))
		return -EBADF;
	if (unlikely(!file->fop->read))
		return S_ISDIR(file->inode->mode) ? -EISDIR : -EINVAL;
	error = check_io(io, position);
	if (unlikely(error))
		return error;
	return file->fop->read(file, io, position);
}

ssize_t vfs_write(struct file *file, struct io *io, loff_t *position)
{
	ssize_t error;

	if (unlikely(!(file->mode & FMODE_WRITE)))
		return -EBADF;
	if (unlikely(!file->fop->write))
		return -EINVAL;
	error = check_io(io, position);
	if (unlikely(error))
		return error;
	return file->fop->write(file, io, position);
}

ssize_t kernel_read(struct file *file, void *buf, size_t n, loff_t offset)
{
	struct io io = {.base = buf, .length = n};

	return vfs_read(file, &io, &offset);
}

bool file_lock_position(struct file *file)
{
	if (likely(atomic_read(&file->refcount) == 1))
		return false;
	/* The others may wait long in a read, and have no position. */
	if (!S_ISREG(file->inode->mode) && !S_ISDIR(file->inode->mode))
		return false;
	mutex_lock(&file->position_lock);
	return true;
}

/* ---- seeking --------------------------------------------------------------------------------- */

loff_t generic_file_llseek(struct file *file, loff_t offset, int whence)
{
	struct inode *inode = file->inode;
	loff_t size = inode->size;
	int error;

	switch (whence) {
	case SEEK_SET:
		break;
	case SEEK_CUR:
		offset += file->position;
		break;
	case SEEK_END:
		offset += size;
		break;
	case SEEK_DATA:
	case SEEK_HOLE:
		if (offset < 0 || offset >= size)
			return -ENXIO;
		error = 0;
		if (inode->op->seek)
			error = inode->op->seek(inode, offset, whence == SEEK_HOLE, &offset);
		else if (whence == SEEK_HOLE)
			offset = size;
		if (error)
			return error;
		break;
	default:
		return -EINVAL;
	}
	if (offset < 0 || (inode->sb->max_bytes && (u64)offset > inode->sb->max_bytes))
		return -EINVAL;
	file->position = offset;
	return offset;
}

loff_t vfs_llseek(struct file *file, loff_t offset, int whence)
{
	loff_t result;
	bool locked;

	if (whence < SEEK_SET || whence > SEEK_HOLE)
		return -EINVAL;
	if (!file->fop->llseek)
		return -ESPIPE;
	locked = file_lock_position(file);
	result = file->fop->llseek(file, offset, whence);
	file_unlock_position(file, locked);
	return result;
}

int vfs_fsync(struct file *file, bool data_only)
{
	return file->fop->fsync ? file->fop->fsync(file, data_only) : -EINVAL;
}

/* ---- sendfile -------------------------------------------------------------------------------- */

#define SENDFILE_ORDER 2 /* 16 KB at a time through kernel memory */

/* Copy up to @count bytes from @in at *@from to @out; bytes copied, or the error if there were
 * none. */
static s64 copy_between(struct file *out, struct file *in, loff_t *from, size_t count)
{
	size_t chunk = PAGE_SIZE << SENDFILE_ORDER;
	char *buffer = get_free_pages(GFP_KERNEL, SENDFILE_ORDER);
	ssize_t n = 0, written = 0;
	s64 done = 0;

	if (!buffer)
		return -ENOMEM;
	while ((size_t)done < count) {
		struct io io = {buffer, min(chunk, count - (size_t)done), false};
		loff_t start = *from;

		n = vfs_read(in, &io, from);
		if (n <= 0)
			break;
		io = (struct io){buffer, (size_t)n, false};
		written = vfs_write(out, &io, &out->position);
		if (written > 0)
			done += written;
		if (written != n) {
			*from = start + max(written, (ssize_t)0);
			break;
		}
		if (signal_pending(current))
			break;
	}
	free_pages(buffer, SENDFILE_ORDER);
	if (done)
		return done;
	return n < 0 ? n : written < 0 ? written : 0;
}

static s64 sendfile_files(struct file *out, struct file *in, loff_t __user *user_offset,
			  size_t count)
{
	loff_t offset;
	s64 result;
	bool locked;

	if (!(in->mode & FMODE_READ) || !(out->mode & FMODE_WRITE))
		return -EBADF;
	if (user_offset && !in->fop->llseek)
		return -ESPIPE;
	if (!S_ISREG(in->inode->mode) && !S_ISBLK(in->inode->mode))
		return -EINVAL;
	if (out->flags & O_APPEND)
		return -EINVAL;
	if (user_offset) {
		if (copy_from_user(&offset, user_offset, sizeof(offset)))
			return -EFAULT;
		if (offset < 0)
			return -EINVAL;
		result = copy_between(out, in, &offset, count);
		if (copy_to_user(user_offset, &offset, sizeof(offset)))
			return -EFAULT;
		return result;
	}
	locked = in != out && file_lock_position(in);
	result = copy_between(out, in, &in->position, count);
	file_unlock_position(in, locked);
	return result;
}

s64 vfs_sendfile(int out_fd, int in_fd, loff_t __user *offset, size_t count)
{
	struct fd in = fdget(in_fd), out = fdget(out_fd);
	s64 result = -EBADF;

	if (count > IO_MAX)
		count = IO_MAX;
	if (in.file && out.file)
		result = sendfile_files(out.file, in.file, offset, count);
	if (in.file)
		fdput(in);
	if (out.file)
		fdput(out);
	return result;
}
