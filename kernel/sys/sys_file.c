/*
 * sys_file.c - system calls on open files: read, write, lseek, dup, fcntl, ioctl, pipe ...
 */
#include "fs/vfs.h"
#include "kernel/core/sched.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"
#include "kernel/sys/user_types.h"
#include "mm/slab.h"

#define MAX_RW_COUNT ((size_t)0x7ffff000) /* of one call, as in Linux */
#define IOV_MAX 1024

#define FIONREAD 0x541b
#define FIONBIO 0x5421
#define FIONCLEX 0x5450
#define FIOCLEX 0x5451
#define F_DUPFD_QUERY 1027

typedef ssize_t (*transfer_function)(struct file *file, struct io *io, loff_t *position);

/* RLIMIT_FSIZE: shorten *@n to what the file may get from @position on; -EFBIG: nothing, SIGXFSZ
 * was sent. */
static noinline int limit_size(const struct file *file, loff_t position, size_t *n, u64 limit)
{
	if (!*n || !S_ISREG(file->inode->mode))
		return 0;
	if (file->flags & O_APPEND)
		position = file->inode->size;
	if ((u64)position >= limit) {
		send_signal_current(SIGXFSZ);
		return -EFBIG;
	}
	*n = min((u64)*n, limit - (u64)position);
	return 0;
}

/* vfs_write() of the program's bytes, within its limit. */
static ssize_t write_file(struct file *file, struct io *io, loff_t *position)
{
	u64 limit = process_limit(RLIMIT_FSIZE);
	int error = likely(limit == RLIM_INFINITY)
			    ? 0
			    : limit_size(file, *position, &io->length, limit);

	return unlikely(error) ? error : vfs_write(file, io, position);
}

/* At the file's own position; only a file that others share needs its lock. */
static __always_inline s64 transfer(int fd, const void *buffer, size_t count,
				    transfer_function function)
{
	struct fd f = fdget(fd);
	struct io io = {.base = (void *)buffer, .length = count, .user = true};
	bool locked;
	s64 result;

	if (unlikely(!f.file))
		return -EBADF;
	locked = file_lock_position(f.file);
	result = function(f.file, &io, &f.file->position);
	file_unlock_position(f.file, locked);
	fdput(f);
	return result;
}

/* A file with positions: no pipe, terminal ... */
static bool is_seekable(const struct file *file)
{
	return file->fop->llseek != NULL;
}

static __always_inline s64 transfer_at(int fd, const void *buffer, size_t count, loff_t position,
				       transfer_function function)
{
	struct fd f;
	struct io io = {.base = (void *)buffer, .length = count, .user = true};
	s64 result = -ESPIPE;

	if (unlikely(position < 0))
		return -EINVAL;
	f = fdget(fd);
	if (unlikely(!f.file))
		return -EBADF;
	if (likely(is_seekable(f.file)))
		result = function(f.file, &io, &position);
	fdput(f);
	return result;
}

s64 sys_read(int fd, void *buffer, size_t count)
{
	return transfer(fd, buffer, count, vfs_read);
}

s64 sys_write(int fd, const void *buffer, size_t count)
{
	return transfer(fd, buffer, count, write_file);
}

s64 sys_pread64(int fd, void *buffer, size_t count, loff_t offset)
{
	return transfer_at(fd, buffer, count, offset, vfs_read);
}

s64 sys_pwrite64(int fd, const void *buffer, size_t count, loff_t offset)
{
	return transfer_at(fd, buffer, count, offset, write_file);
}

/* ---- vectors --------------------------------------------------------------------------------- */

struct iovec {
	u64 base, length;
};

static s64 read_vector(const void *from, u64 count, struct iovec **out)
{
	struct iovec *vector;
	u64 total = 0;

	*out = NULL;
	if (count > IOV_MAX)
		return -EINVAL;
	if (!count)
		return 0;
	vector = kmalloc(count * sizeof(*vector), GFP_KERNEL);
	if (!vector)
		return -ENOMEM;
	*out = vector;
	if (copy_from_user(vector, from, count * sizeof(*vector)))
		return -EFAULT;
	for (u64 i = 0; i < count; i++) {
		if ((s64)vector[i].length < 0)
			return -EINVAL;
		if (!access_ok(vector[i].base, vector[i].length))
			return -EFAULT;
		vector[i].length = min(vector[i].length, MAX_RW_COUNT - total);
		total += vector[i].length;
	}
	return 0;
}

/* Piece by piece until one is short: bytes moved, or the first piece's error. */
static s64 transfer_pieces(struct file *file, const struct iovec *vector, u64 count,
			   loff_t *position, transfer_function function)
{
	s64 total = 0, result;
	struct io io;

	for (u64 i = 0; i < count; i++) {
		if (!vector[i].length && count > 1)
			continue;
		io = (struct io){
			.base = (void *)vector[i].base, .length = vector[i].length, .user = true};
		result = function(file, &io, position);
		if (result < 0)
			return total ? total : result;
		total += result;
		if ((u64)result < vector[i].length)
			break;
	}
	return total;
}

/* @offset -1: at the file's own position. */
static s64 transfer_vector(int fd, const void *from, u64 count, loff_t offset, bool positioned,
			   transfer_function function)
{
	struct iovec *vector;
	struct fd f = fdget(fd);
	bool locked;
	s64 result;

	if (!f.file)
		return -EBADF;
	result = read_vector(from, count, &vector);
	if (!result && positioned) {
		result = offset < 0	       ? -EINVAL
			 : is_seekable(f.file) ? transfer_pieces(f.file, vector, count, &offset,
								 function)
					       : -ESPIPE;
	} else if (!result) {
		locked = file_lock_position(f.file);
		result = transfer_pieces(f.file, vector, count, &f.file->position, function);
		file_unlock_position(f.file, locked);
	}
	kfree(vector);
	fdput(f);
	return result;
}

s64 sys_readv(int fd, const void *vector, u64 count)
{
	return transfer_vector(fd, vector, count, 0, false, vfs_read);
}

s64 sys_writev(int fd, const void *vector, u64 count)
{
	return transfer_vector(fd, vector, count, 0, false, write_file);
}

s64 sys_preadv(int fd, const void *vector, u64 count, loff_t offset)
{
	return transfer_vector(fd, vector, count, offset, true, vfs_read);
}

s64 sys_pwritev(int fd, const void *vector, u64 count, loff_t offset)
{
	return transfer_vector(fd, vector, count, offset, true, write_file);
}

/* No flag is known; offset -1 is the file's own position. */
s64 sys_preadv2(int fd, const void *vector, u64 count, loff_t offset, loff_t unused, u32 flags)
{
	(void)unused;
	return flags ? -EOPNOTSUPP
		     : transfer_vector(fd, vector, count, offset, offset != -1, vfs_read);
}

s64 sys_pwritev2(int fd, const void *vector, u64 count, loff_t offset, loff_t unused, u32 flags)
{
	(void)unused;
	return flags ? -EOPNOTSUPP
		     : transfer_vector(fd, vector, count, offset, offset != -1, write_file);
}

/* ---- positions, sizes, write-back ------------------------------------------------------------ */

s64 sys_lseek(int fd, loff_t offset, int whence)
{
	struct fd f = fdget(fd);
	s64 result;

	if (!f.file)
		return -EBADF;
	result = vfs_llseek(f.file, offset, whence);
	fdput(f);
	return result;
}

s64 limit_growth(const struct inode *inode, loff_t size)
{
	if (likely((u64)size <= process_limit(RLIMIT_FSIZE)) || !S_ISREG(inode->mode))
		return 0;
	send_signal_current(SIGXFSZ);
	return -EFBIG;
}

s64 sys_ftruncate(int fd, loff_t size)
{
	struct fd f;
	s64 result;

	if (size < 0)
		return -EINVAL;
	f = fdget(fd);
	if (!f.file)
		return -EBADF;
	result = size > f.file->inode->size ? limit_growth(f.file->inode, size) : 0;
	if (!result)
		result = vfs_ftruncate(f.file, size);
	fdput(f);
	return result;
}

s64 sys_fallocate(int fd, int mode, loff_t offset, loff_t length)
{
	struct fd f = fdget(fd);
	s64 result;

	if (!f.file)
		return -EBADF;
	result =
		mode || offset < 0 || length < 0 ? 0 : limit_growth(f.file->inode, offset + length);
	if (!result)
		result = vfs_fallocate(f.file, mode, offset, length);
	fdput(f);
	return result;
}

static s64 sync_file(int fd, bool data_only)
{
	struct fd f = fdget(fd);
	s64 result;

	if (!f.file)
		return -EBADF;
	result = vfs_fsync(f.file, data_only);
	fdput(f);
	return result;
}

s64 sys_fsync(int fd)
{
	return sync_file(fd, false);
}

s64 sys_fdatasync(int fd)
{
	return sync_file(fd, true);
}

/* Hints, of which none asks for more than to be taken note of: readers show what they need by
 * reading. */
s64 sys_fadvise64(int fd, loff_t offset, loff_t length, int advice)
{
	enum { NORMAL, NOREUSE = 5 };
	struct fd f = fdget(fd);
	s64 result = 0;

	if (!f.file)
		return -EBADF;
	if (!is_seekable(f.file))
		result = -ESPIPE;
	else if (offset < 0 || length < 0 || advice < NORMAL || advice > NOREUSE)
		result = -EINVAL;
	fdput(f);
	return result;
}

s64 sys_sendfile(int out, int in, loff_t *offset, size_t count)
{
	return vfs_sendfile(out, in, offset, count);
}

s64 sys_getdents64(int fd, void *buffer, u32 count)
{
	return vfs_getdents64(fd, buffer, count);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

s64 sys_close(int fd)
{
	return fd_close(fd);
}

s64 sys_close_range(u32 first, u32 last, u32 flags)
{
	enum { CLOSE_RANGE_CLOEXEC = 4 };

	if (first > last || (flags & ~(u32)CLOSE_RANGE_CLOEXEC))
		return -EINVAL;
	last = min(last, 0x7ffffffeu);
	for (int fd = (int)first;; fd++) {
		fd = first > 0x7fffffff ? -1 : file_table_next(current->files, fd);
		if (fd < 0 || (u32)fd > last)
			return 0;
		if (flags & CLOSE_RANGE_CLOEXEC)
			fd_set_flags(fd, true);
		else
			fd_close(fd);
	}
}

s64 sys_dup(int fd)
{
	return fd_dup(fd, 0, false);
}

s64 sys_dup2(int old, int new)
{
	struct fd f;

	if (old == new) {
		f = fdget_raw(old);
		if (!f.file)
			return -EBADF;
		fdput(f);
		return new;
	}
	return fd_dup2(old, new, false);
}

s64 sys_dup3(int old, int new, int flags)
{
	if (old == new || (flags & ~O_CLOEXEC))
		return -EINVAL;
	return fd_dup2(old, new, flags & O_CLOEXEC);
}

s64 sys_pipe2(int *fds, int flags)
{
	bool close_on_exec = flags & O_CLOEXEC;
	struct file *files[2];
	int in, out, error;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	error = pipe_create(files, flags);
	if (error)
		return error;
	in = fd_alloc(0, close_on_exec);
	out = in < 0 ? in : fd_alloc(0, close_on_exec);
	error = out < 0 ? out : 0;
	if (!error && (put_user(in, fds) || put_user(out, fds + 1)))
		error = -EFAULT;
	if (!error) {
		fd_install(in, files[0]);
		fd_install(out, files[1]);
		return 0;
	}
	if (in >= 0)
		fd_release(in);
	if (out >= 0)
		fd_release(out);
	fput(files[0]);
	fput(files[1]);
	return error;
}

s64 sys_pipe(int *fds)
{
	return sys_pipe2(fds, 0);
}

/* The status flags that F_SETFL may change. */
#define SETFL_MASK (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_ASYNC)

static s64 set_status_flags(struct file *file, u64 flags)
{
	if ((flags & O_NOATIME) && !(file->flags & O_NOATIME) &&
	    current->cred->fsuid != file->inode->uid && !capable(current->cred))
		return -EPERM;
	if (flags & (O_DIRECT | O_ASYNC) & ~file->flags)
		return -EINVAL; /* neither is supported */
	file->flags = (file->flags & ~(u32)SETFL_MASK) | ((u32)flags & SETFL_MASK);
	return 0;
}

static s64 file_control(struct file *file, u32 command, u64 argument)
{
	switch (command) {
	case F_GETFL:
		return file->flags & ~(u32)(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC);
	case F_SETFL:
		return set_status_flags(file, argument);
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
		return -ENOLCK; /* no record locks yet: say so rather than pretend */
	}
	return -EINVAL;
}

s64 sys_fcntl(int fd, u32 command, u64 argument)
{
	struct fd f = fdget_raw(fd);
	s64 result;

	if (!f.file)
		return -EBADF;
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		result = argument >= process_limit(RLIMIT_NOFILE)
				 ? -EINVAL
				 : fd_dup(fd, (int)argument, command == F_DUPFD_CLOEXEC);
		break;
	case F_GETFD:
		result = fd_get_flags(fd);
		break;
	case F_SETFD:
		result = fd_set_flags(fd, argument & FD_CLOEXEC);
		break;
	default:
		result = (f.file->mode & FMODE_PATH) && command != F_GETFL
				 ? -EBADF
				 : file_control(f.file, command, argument);
	}
	fdput(f);
	return result;
}

static s64 set_nonblocking(struct file *file, const int *argument)
{
	int on;

	if (get_user(on, argument))
		return -EFAULT;
	if (on)
		file->flags |= O_NONBLOCK;
	else
		file->flags &= ~(u32)O_NONBLOCK;
	return 0;
}

static s64 bytes_left(struct file *file, int *argument)
{
	return put_user((int)(file->inode->size - file->position), argument);
}

s64 sys_ioctl(int fd, u32 command, u64 argument)
{
	struct fd f = fdget(fd);
	s64 result = -ENOTTY;

	if (!f.file)
		return -EBADF;
	if (command == FIOCLEX || command == FIONCLEX)
		result = fd_set_flags(fd, command == FIOCLEX);
	else if (command == FIONBIO)
		result = set_nonblocking(f.file, (int *)argument);
	else if (command == FIONREAD && S_ISREG(f.file->inode->mode))
		result = bytes_left(f.file, (int *)argument);
	else if (f.file->fop->ioctl)
		result = f.file->fop->ioctl(f.file, command, argument);
	fdput(f);
	return result;
}

/* ---- sockets: there are none ----------------------------------------------------------------- */

s64 sys_socket(int family, int type, int protocol)
{
	(void)family, (void)type, (void)protocol;
	return -EAFNOSUPPORT;
}

s64 sys_socketpair(int family, int type, int protocol, int *fds)
{
	(void)family, (void)type, (void)protocol, (void)fds;
	return -EAFNOSUPPORT;
}
