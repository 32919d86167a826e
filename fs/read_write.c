/*
 * read_write.c - reading, writing and seeking in an open file, and copying from one to another:
 * checks, then the file's own operation.
 */
#include "fs/internal.h"
#include "kernel/core/jobctl.h"

/* Linux moves at most this many bytes a call. */
#define IO_MAX ((size_t)0x7ffff000)

static __always_inline ssize_t check_io(struct io *io, const loff_t *position)
{
	if (io->user && unlikely(!access_ok(io->base, io->length)))
		return -EFAULT;
	/* None of position, length and end may be negative. */
	if (unlikely((s64)((u64)*position | io->length | ((u64)*position + io->length)) < 0))
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
	error = check_io(io, position);
	if (unlikely(error))
		return error;
	if (unlikely(!file->fop->read))
		return S_ISDIR(file->inode->mode) ? -EISDIR : -EINVAL;
	return file->fop->read(file, io, position);
}

int limit_growth(const struct inode *inode, loff_t size)
{
	if (likely((u64)size <= current_file_limit()) || !S_ISREG(inode->mode))
		return 0;
	send_signal_current(SIGXFSZ);
	return -EFBIG;
}

/* RLIMIT_FSIZE: shorten @io to what the file may get from @position on; -EFBIG: nothing. */
static noinline int limit_write(const struct file *file, struct io *io, loff_t position)
{
	u64 limit = current_file_limit();

	if (!io->length || !S_ISREG(file->inode->mode))
		return 0;
	if (file->flags & O_APPEND)
		position = file->inode->size;
	if ((u64)position < limit)
		io->length = min((u64)io->length, limit - (u64)position);
	return limit_growth(file->inode, position + 1);
}

ssize_t vfs_write(struct file *file, struct io *io, loff_t *position)
{
	ssize_t error;

	if (unlikely(!(file->mode & FMODE_WRITE)))
		return -EBADF;
	if (unlikely(!file->fop->write))
		return -EINVAL;
	error = check_io(io, position);
	if (likely(!error) && unlikely(current_file_limit() != ~0ULL))
		error = limit_write(file, io, *position);
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

	/* A directory in memory has positions, but no end. */
	if (S_ISDIR(inode->mode) && whence > SEEK_CUR && !inode->sb->bdev)
		return -EINVAL;
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

s64 sys_lseek(int number, loff_t offset, int whence)
{
	struct fd fd __free(fd) = fdget(number);
	loff_t result;
	bool locked;

	if (unlikely(!fd.file))
		return -EBADF;
	if (unlikely(whence < SEEK_SET || whence > SEEK_HOLE))
		return -EINVAL;
	if (unlikely(!fd.file->fop->llseek))
		return -ESPIPE;
	locked = file_lock_position(fd.file);
	result = fd.file->fop->llseek(fd.file, offset, whence);
	file_unlock_position(fd.file, locked);
	return result;
}

/* ---- the calls ------------------------------------------------------------------------------- */

typedef ssize_t (*transfer_function)(struct file *file, struct io *io, loff_t *position);

/* At the file's own position; only a file that others share needs its lock. */
static __always_inline s64 transfer(int number, const void __user *buffer, size_t count,
				    transfer_function function)
{
	struct fd fd __free(fd) = fdget(number);
	struct io io = {.base = (void *)buffer, .length = count, .user = true};
	bool locked;
	s64 result;

	if (unlikely(!fd.file))
		return -EBADF;
	locked = file_lock_position(fd.file);
	result = function(fd.file, &io, &fd.file->position);
	file_unlock_position(fd.file, locked);
	return result;
}

/* A file with positions: no pipe, terminal ... */
static bool is_seekable(const struct file *file)
{
	return file->fop->llseek != NULL;
}

static __always_inline s64 transfer_at(int number, const void __user *buffer, size_t count,
				       loff_t position, transfer_function function)
{
	struct fd fd __free(fd) = fdget(number);
	struct io io = {.base = (void *)buffer, .length = count, .user = true};

	if (unlikely(position < 0))
		return -EINVAL;
	if (unlikely(!fd.file))
		return -EBADF;
	return likely(is_seekable(fd.file)) ? function(fd.file, &io, &position) : -ESPIPE;
}

s64 sys_read(int fd, void *buffer, size_t count)
{
	return transfer(fd, buffer, count, vfs_read);
}

s64 sys_write(int fd, const void *buffer, size_t count)
{
	return transfer(fd, buffer, count, vfs_write);
}

s64 sys_pread64(int fd, void *buffer, size_t count, loff_t offset)
{
	return transfer_at(fd, buffer, count, offset, vfs_read);
}

s64 sys_pwrite64(int fd, const void *buffer, size_t count, loff_t offset)
{
	return transfer_at(fd, buffer, count, offset, vfs_write);
}

/* ---- vectors --------------------------------------------------------------------------------- */

#define IOV_MAX 1024

struct iovec {
	u64 base, length;
};

/* *@offset NULL: at the file's own position. Piece by piece until one is short: bytes moved, or the
 * first piece's error. */
static s64 transfer_pieces(struct file *file, const struct iovec *vector, u64 count, loff_t *offset,
			   transfer_function function)
{
	loff_t *position = offset ? offset : &file->position;
	bool locked = !offset && file_lock_position(file);
	s64 total = 0, result = 0;

	for (u64 i = 0; i < count; i++) {
		struct io io = {(void *)vector[i].base, vector[i].length, true};

		if (!vector[i].length)
			continue;
		result = function(file, &io, position);
		if (result > 0)
			total += result;
		if (result < 0 || (u64)result < vector[i].length)
			break;
	}
	file_unlock_position(file, locked);
	return total ? total : result;
}

static s64 vector_call(int number, const void __user *from, u64 count, loff_t *offset,
		       transfer_function function)
{
	struct fd fd __free(fd) = fdget(number);
	struct iovec *vector __free(kfree) = NULL;
	size_t total = 0;

	if (offset && *offset < 0)
		return -EINVAL;
	if (!fd.file)
		return -EBADF;
	if (count > IOV_MAX)
		return -EINVAL;
	if (offset && !is_seekable(fd.file))
		return -ESPIPE;
	vector = kmalloc(count * sizeof(*vector), GFP_KERNEL);
	if (!vector)
		return -ENOMEM;
	if (copy_from_user(vector, from, count * sizeof(*vector)))
		return -EFAULT;
	for (u64 i = 0; i < count; i++) {
		if ((s64)vector[i].length < 0)
			return -EINVAL;
		if (!access_ok(vector[i].base, vector[i].length))
			return -EFAULT;
		vector[i].length = min(vector[i].length, IO_MAX - total);
		total += vector[i].length;
	}
	if (!(fd.file->mode & (function == vfs_read ? FMODE_READ : FMODE_WRITE)))
		return -EBADF;
	return transfer_pieces(fd.file, vector, count, offset, function);
}

s64 sys_readv(int fd, const void *vector, u64 count)
{
	return vector_call(fd, vector, count, NULL, vfs_read);
}

s64 sys_writev(int fd, const void *vector, u64 count)
{
	return vector_call(fd, vector, count, NULL, vfs_write);
}

s64 sys_preadv(int fd, const void *vector, u64 count, loff_t offset)
{
	return vector_call(fd, vector, count, &offset, vfs_read);
}

s64 sys_pwritev(int fd, const void *vector, u64 count, loff_t offset)
{
	return vector_call(fd, vector, count, &offset, vfs_write);
}

/* No flag is known; offset -1 is the file's own position. */
s64 sys_preadv2(int fd, const void *vector, u64 count, loff_t offset, loff_t unused, u32 flags)
{
	return flags ? -EOPNOTSUPP
		     : vector_call(fd, vector, count, offset == -1 ? NULL : &offset, vfs_read);
}

s64 sys_pwritev2(int fd, const void *vector, u64 count, loff_t offset, loff_t unused, u32 flags)
{
	return flags ? -EOPNOTSUPP
		     : vector_call(fd, vector, count, offset == -1 ? NULL : &offset, vfs_write);
}

/* ---- writing back, reading ahead ------------------------------------------------------------- */

int vfs_fsync(struct file *file, bool data_only)
{
	return file->fop->fsync ? file->fop->fsync(file, data_only) : -EINVAL;
}

s64 sys_fsync(int number)
{
	struct fd fd __free(fd) = fdget(number);

	return fd.file ? vfs_fsync(fd.file, false) : -EBADF;
}

s64 sys_fdatasync(int number)
{
	struct fd fd __free(fd) = fdget(number);

	return fd.file ? vfs_fsync(fd.file, true) : -EBADF;
}

/* Whatever is asked of the range, all of its pages are written and waited for: no less than asked.
 */
s64 sys_sync_file_range(int number, loff_t offset, loff_t bytes, u32 flags)
{
	struct fd fd __free(fd) = fdget(number);
	loff_t end = bytes ? offset + bytes : (loff_t)(~0ULL >> 1);
	struct inode *inode;

	if (!fd.file)
		return -EBADF;
	inode = fd.file->inode;
	if ((flags & ~7u) || offset < 0 || bytes < 0 || end < 0)
		return -EINVAL;
	if (!S_ISREG(inode->mode) && !S_ISBLK(inode->mode) && !S_ISDIR(inode->mode))
		return -ESPIPE;
	if (!flags)
		return 0;
	return S_ISREG(inode->mode) && inode->sb->bdev ? page_cache_sync(&inode->data, offset, end)
						       : vfs_fsync(fd.file, true);
}

/* Hints, of which none asks for more than to be taken note of: readers show what they need by
 * reading. */
s64 sys_fadvise64(int number, loff_t offset, loff_t length, int advice)
{
	enum { NORMAL, NOREUSE = 5 };
	struct fd fd __free(fd) = fdget(number);

	if (!fd.file)
		return -EBADF;
	if (!is_seekable(fd.file))
		return -ESPIPE;
	return offset < 0 || length < 0 || advice < NORMAL || advice > NOREUSE ? -EINVAL : 0;
}

/* ---- copying --------------------------------------------------------------------------------- */

#define COPY_ORDER 2 /* 16 KB at a time through kernel memory */

/* Copy up to @count bytes from @in at *@from to @out at *@to; bytes copied, or the error if there
 * were none. */
static s64 copy_between(struct file *out, loff_t *to, struct file *in, loff_t *from, size_t count)
{
	size_t chunk = PAGE_SIZE << COPY_ORDER;
	char *buffer = get_free_pages(GFP_KERNEL, COPY_ORDER);
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
		written = vfs_write(out, &io, to);
		if (written > 0)
			done += written;
		if (written != n) {
			*from = start + max(written, (ssize_t)0);
			break;
		}
		if (signal_pending(current))
			break;
	}
	free_pages(buffer, COPY_ORDER);
	if (done)
		return done;
	return n < 0 ? n : written < 0 ? written : 0;
}

/* @from is checked before anything is known of @out (NULL: not even whether it is there). */
static int may_sendfile(struct file *out, struct file *in, loff_t from, size_t count,
			bool positioned)
{
	if (!(in->mode & FMODE_READ))
		return -EBADF;
	if (positioned && !is_seekable(in))
		return -ESPIPE;
	if (from < 0 || (u64)from + count > ~0ULL >> 1)
		return -EINVAL;
	if (!out || !(out->mode & FMODE_WRITE))
		return -EBADF;
	if (positioned &&
	    (u64)from + count > min(in->inode->sb->max_bytes, out->inode->sb->max_bytes))
		return -EOVERFLOW;
	if (!S_ISREG(in->inode->mode) && !S_ISBLK(in->inode->mode))
		return -EINVAL;
	return out->flags & O_APPEND ? -EINVAL : 0;
}

static int may_copy_range(struct file *out, struct file *in)
{
	umode_t a = in->inode->mode, b = out->inode->mode;

	if (S_ISDIR(a) || S_ISDIR(b))
		return -EISDIR;
	if (!S_ISREG(a) || !S_ISREG(b))
		return -EINVAL;
	if (!(in->mode & FMODE_READ) || !(out->mode & FMODE_WRITE) || (out->flags & O_APPEND))
		return -EBADF;
	return in->inode->sb != out->inode->sb ? -EXDEV : 0;
}

/* Shortens *@count to the end of the file. */
static int check_ranges(struct file *out, loff_t to, struct file *in, loff_t from, size_t *count)
{
	loff_t left = in->inode->size - from;

	if ((u64)from + *count < *count || (u64)to + *count < *count)
		return -EOVERFLOW;
	*count = left <= 0 ? 0 : min(*count, (size_t)left);
	if (to >= (loff_t)out->inode->sb->max_bytes)
		return -EFBIG;
	if (from < 0 || to < 0)
		return -EINVAL;
	if (in->inode == out->inode && from < to + (loff_t)*count && to < from + (loff_t)*count)
		return -EINVAL;
	return 0;
}

/* A position may be the file's own, or one that the program gives and gets back changed. */
static int get_position(const struct file *file, const loff_t __user *given, loff_t *position)
{
	*position = file->position;
	return given && get_user(*position, given) ? -EFAULT : 0;
}

static int put_position(struct file *file, loff_t __user *given, loff_t position)
{
	if (given)
		return put_user(position, given);
	file->position = position;
	return 0;
}

static s64 copy_files(struct file *out, loff_t __user *to_given, struct file *in,
		      loff_t __user *from_given, size_t count, bool range)
{
	loff_t from, to = 0;
	s64 result;

	if (get_position(in, from_given, &from) || (out && get_position(out, to_given, &to)))
		return -EFAULT;
	if (!range)
		result = may_sendfile(out, in, from, count, from_given != NULL);
	else if (!(result = out ? may_copy_range(out, in) : -EBADF))
		result = check_ranges(out, to, in, from, &count);
	if (result)
		return result;
	result = copy_between(out, &to, in, &from, min(count, IO_MAX));
	if (put_position(out, to_given, to) || put_position(in, from_given, from))
		return -EFAULT;
	return result;
}

static s64 copy_call(int out_number, loff_t __user *to, int in_number, loff_t __user *from,
		     size_t count, bool range)
{
	struct fd in __free(fd) = fdget(in_number);
	struct fd out __free(fd) = fdget(out_number);

	return in.file ? copy_files(out.file, to, in.file, from, count, range) : -EBADF;
}

s64 sys_sendfile(int out, int in, loff_t *offset, size_t count)
{
	return copy_call(out, NULL, in, offset, count, false);
}

s64 sys_copy_file_range(int in, loff_t *from, int out, loff_t *to, size_t count, u32 flags)
{
	return flags ? -EINVAL : copy_call(out, to, in, from, count, true);
}
