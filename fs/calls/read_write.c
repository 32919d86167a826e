/*
 * read_write.c - the calls that read, write and seek in an open file, and copy from one to another.
 */
#include "fs/block/block.h"
#include "fs/calls/calls.h"
#include "core/memory/slab.h"

/* ---- one piece of memory --------------------------------------------------------------------- */

typedef ssize_t (*transfer_function)(struct file *file, struct io *io, loff_t *position);

/* @offset NULL: at the file's own position; only a file that others share needs its lock. */
static __always_inline s64 transfer(int number, const void __user *buffer, size_t count,
				    loff_t *offset, transfer_function function)
{
	struct io io = {.base = (void *)buffer, .length = count, .kind = IO_USER};

	if (unlikely(offset && *offset < 0))
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	if (offset)
		return likely(fd.file->fop->seekable) ? function(fd.file, &io, offset) : -ESPIPE;
	struct file *locked __free(position) = file_lock_position(fd.file);
	return function(fd.file, &io, &fd.file->position);
}

s64 sys_read(int fd, void *buffer, size_t count)
{
	return transfer(fd, buffer, count, NULL, vfs_read);
}

s64 sys_write(int fd, const void *buffer, size_t count)
{
	return transfer(fd, buffer, count, NULL, vfs_write);
}

s64 sys_pread64(int fd, void *buffer, size_t count, loff_t offset)
{
	return transfer(fd, buffer, count, &offset, vfs_read);
}

s64 sys_pwrite64(int fd, const void *buffer, size_t count, loff_t offset)
{
	return transfer(fd, buffer, count, &offset, vfs_write);
}

/* ---- the calls with vectors ------------------------------------------------------------------ */

s64 transfer_vector(int number, const void __user *from, u64 count, loff_t *offset, u32 mode)
{
	transfer_function function = mode == FMODE_READ ? vfs_read : vfs_write;

	if (offset && *offset < 0)
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	if (count > IOV_MAX)
		return -EINVAL;
	if (offset && !fd.file->fop->seekable)
		return -ESPIPE;
	struct iovec *vector __free(kfree) = TRY_PTR(kmalloc(count * sizeof(*vector), GFP_KERNEL));
	size_t length = (size_t)TRY(get_vector(vector, from, count));
	struct io io = {vector, length, IO_VECTOR, 0};

	if (!(fd.file->mode & mode))
		return -EBADF;
	if (!length)
		return 0;
	if (offset)
		return function(fd.file, &io, offset);
	struct file *locked __free(position) = file_lock_position(fd.file);
	return function(fd.file, &io, &fd.file->position);
}

s64 sys_readv(int fd, const void *vector, u64 count)
{
	return transfer_vector(fd, vector, count, NULL, FMODE_READ);
}

s64 sys_writev(int fd, const void *vector, u64 count)
{
	return transfer_vector(fd, vector, count, NULL, FMODE_WRITE);
}

s64 sys_preadv(int fd, const void *vector, u64 count, loff_t offset)
{
	return transfer_vector(fd, vector, count, &offset, FMODE_READ);
}

s64 sys_pwritev(int fd, const void *vector, u64 count, loff_t offset)
{
	return transfer_vector(fd, vector, count, &offset, FMODE_WRITE);
}

/* ---- seeking --------------------------------------------------------------------------------- */

s64 sys_lseek(int number, loff_t offset, int whence)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct inode *inode = fd.file->inode;
	bool device = S_ISBLK(inode->mode);
	loff_t size = READ_ONCE(inode->data.size);

	if (device)
		size = (loff_t)inode->bdev->sectors * SECTOR_SIZE;
	if (unlikely(whence < SEEK_SET || whence > SEEK_HOLE))
		return -EINVAL;
	if (unlikely(!fd.file->fop->seekable))
		return -ESPIPE;
	if (S_ISCHR(inode->mode))
		return fd.file->position = 0; /* has positions in name only */
	/* A directory in memory has positions, but no end. */
	if (S_ISDIR(inode->mode) && whence > SEEK_CUR && !inode->sb->bdev)
		return -EINVAL;
	struct file *locked __free(position) = file_lock_position(fd.file);
	if (whence == SEEK_CUR)
		offset += fd.file->position;
	if (whence == SEEK_END)
		offset += size;
	if (whence >= SEEK_DATA) {
		if (device)
			return -EINVAL;
		if (offset < 0 || offset >= size)
			return -ENXIO;
		if (inode->op->seek)
			TRY(inode->op->seek(inode, offset, whence == SEEK_HOLE, &offset));
		else if (whence == SEEK_HOLE)
			offset = size;
	}
	if ((u64)offset > (device ? (u64)size : inode->sb->max_bytes))
		return -EINVAL;
	return fd.file->position = offset;
}

/* ---- writing back, reading ahead ------------------------------------------------------------- */

s64 sys_fsync(int number)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));

	return vfs_fsync(fd.file, false);
}

s64 sys_fdatasync(int number)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));

	return vfs_fsync(fd.file, true);
}

/* Hints, of which none asks for more than to be taken note of: readers show what they need by
 * reading. */
s64 sys_fadvise64(int number, loff_t offset, loff_t length, int advice)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));

	if (S_ISFIFO(fd.file->inode->mode))
		return -ESPIPE;
	if (length < 0 || (u32)advice > 5) /* POSIX_FADV_NOREUSE, the last */
		return -EINVAL;
	return 0;
}

/* ---- copying --------------------------------------------------------------------------------- */

#define COPY_BYTES (4 * PAGE_SIZE) /* at a time through kernel memory */

s64 copy_between(struct file *out, loff_t *to, struct file *in, loff_t *from, size_t count)
{
	char *buffer __free(kfree) = TRY_PTR(kmalloc(COPY_BYTES, GFP_KERNEL));
	ssize_t n = 0;
	s64 done = 0;

	count = min(count, IO_MAX);
	while ((size_t)done < count) {
		struct io io = {buffer, min(COPY_BYTES, count - (size_t)done), IO_KERNEL, 0};
		loff_t start = *from, at = start; /* @from and @to may be one position */

		n = vfs_read(in, &io, &at);
		if (n <= 0)
			break;
		io = (struct io){buffer, (size_t)n, IO_KERNEL, 0};
		n = vfs_write(out, &io, to);
		done += max(n, (ssize_t)0);
		*from = start + max(n, (ssize_t)0);
		if (n <= 0 || io.length || signal_pending(current))
			break; /* some take all there is, and then refuse it */
	}
	return done ?: n;
}

/* @in is checked before anything is known of @out, not even whether it is there. */
s64 sys_sendfile(int out_number, int in_number, loff_t *offset, size_t count)
{
	struct fd in __free(fd) = TRY_FD(fdget(in_number));
	struct fd out __free(fd) = fdget(out_number);
	loff_t from = in.file->position;

	if (offset && get_user(from, offset))
		return -EFAULT;
	if (!(in.file->mode & FMODE_READ))
		return -EBADF;
	if (offset && !in.file->fop->seekable)
		return -ESPIPE;
	if (from < 0 || (s64)count < 0 || (s64)((u64)from + count) < 0)
		return -EINVAL;
	if (!out.file || !(out.file->mode & FMODE_WRITE))
		return -EBADF;
	const struct inode *inode = in.file->inode;
	if (offset && (u64)from + count > min(inode->sb->max_bytes, out.file->inode->sb->max_bytes))
		return -EOVERFLOW;
	if ((count && !S_ISREG(inode->mode) && !S_ISBLK(inode->mode)) ||
	    (out.file->flags & O_APPEND))
		return -EINVAL;
	loff_t *start = offset ? &from : &in.file->position;
	s64 result = copy_between(out.file, &out.file->position, in.file, start, count);
	if (offset && put_user(from, offset))
		return -EFAULT;
	return result;
}
