/*
 * operations_contents.c - operations on descriptors and what files contain: open, read, write,
 * truncate, copy, lock.
 */
#include "operations.h"

#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

long run_open(const struct argument *a)
{
	return into_slot(a[0].number, syscall(SYS_openat, AT_FDCWD, path(a[1].text),
					      a[2].number | O_NONBLOCK | O_LARGEFILE, a[3].number));
}

long run_openat(const struct argument *a)
{
	return into_slot(a[0].number, syscall(SYS_openat, dirfd_of(a[1].number), path(a[2].text),
					      a[3].number | O_NONBLOCK | O_LARGEFILE, a[4].number));
}

long run_tmpfile(const struct argument *a)
{
	return into_slot(a[0].number, syscall(SYS_openat, AT_FDCWD, path(a[1].text),
					      O_TMPFILE | O_RDWR, a[2].number));
}

long run_close(const struct argument *a)
{
	long result = close(slot(a[0].number));

	slots[a[0].number & (SLOTS - 1)] = -1;
	return result;
}

long run_dup(const struct argument *a)
{
	return into_slot(a[0].number, dup(slot(a[1].number)));
}

long run_read(const struct argument *a)
{
	return show_data(read(slot(a[0].number), data, (size_t)a[1].number));
}

long run_write(const struct argument *a)
{
	return write(slot(a[0].number), pattern(a[1].number), (size_t)a[1].number);
}

long run_pread(const struct argument *a)
{
	return show_data(pread(slot(a[0].number), data, (size_t)a[1].number, a[2].number));
}

long run_pwrite(const struct argument *a)
{
	return pwrite(slot(a[0].number), pattern(a[1].number), (size_t)a[1].number, a[2].number);
}

static struct iovec *pieces(long size)
{
	static struct iovec vector[3];

	vector[0] = (struct iovec){data, (size_t)size / 3};
	vector[1] = (struct iovec){data + size / 3, 0};
	vector[2] = (struct iovec){data + size / 3, (size_t)(size - size / 3)};
	return vector;
}

long run_preadv(const struct argument *a)
{
	return show_data(preadv(slot(a[0].number), pieces(a[1].number), 3, a[2].number));
}

long run_pwritev(const struct argument *a)
{
	pattern(a[1].number);
	return pwritev(slot(a[0].number), pieces(a[1].number), 3, a[2].number);
}

long run_writev(const struct argument *a)
{
	pattern(a[1].number);
	return writev(slot(a[0].number), pieces(a[1].number), 3);
}

long run_lseek(const struct argument *a)
{
	struct stat st;
	long result = lseek(slot(a[0].number), a[1].number, (int)a[2].number);

	/* A directory's positions are its own affair. */
	if (result > 0 && !fstat(slot(a[0].number), &st) && S_ISDIR(st.st_mode)) {
		lseek(slot(a[0].number), 0, SEEK_SET);
		return 0;
	}
	return result;
}

long run_seek_data(const struct argument *a)
{
	struct stat st;

	/* A directory has no holes; what fallocate or a look through a mapping has filled with
	 * zeros is data to the one and none to the other. */
	if (*filled || (!fstat(slot(a[0].number), &st) && S_ISDIR(st.st_mode))) {
		say(" not done");
		return 0;
	}
	return lseek(slot(a[0].number), a[1].number, a[2].number & 1 ? SEEK_DATA : SEEK_HOLE);
}

long run_truncate(const struct argument *a)
{
	return truncate(path(a[0].text), a[1].number);
}

long run_ftruncate(const struct argument *a)
{
	return ftruncate(slot(a[0].number), a[1].number);
}

long run_fsync(const struct argument *a)
{
	return fsync(slot(a[0].number));
}

long run_fallocate(const struct argument *a)
{
	*filled = true;
	if (a[2].number > 1 << 26 || a[3].number > 1 << 26) { /* more than a small machine has */
		say(" not done");
		return 0;
	}
	return syscall(SYS_fallocate, slot(a[0].number), a[1].number, a[2].number, a[3].number);
}

long run_sendfile(const struct argument *a)
{
	off_t offset = a[2].number;
	struct stat in, out;
	long result;

	/* What comes of a file that is written while its pages are on their way is not settled. */
	if (!fstat(slot(a[0].number), &out) && !fstat(slot(a[1].number), &in) &&
	    in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		say(" not done");
		return 0;
	}
	result = sendfile(slot(a[0].number), slot(a[1].number), a[2].number ? &offset : NULL,
			  (size_t)a[3].number);

	say(" at %ld", (long)offset);
	return result;
}

long run_copy_range(const struct argument *a)
{
	off_t from = a[1].number, to = a[3].number;
	off_t *at_from = from ? &from : NULL, *at_to = to ? &to : NULL;
	long result = syscall(SYS_copy_file_range, slot(a[0].number), at_from, slot(a[2].number),
			      at_to, a[4].number, 0);

	say(" at %ld %ld", (long)from, (long)to);
	return result;
}

long run_flock(const struct argument *a)
{
	return flock(slot(a[0].number), (int)a[1].number);
}

static long record_lock(const struct argument *a, int command)
{
	struct flock lock = {
		.l_type = (short)a[1].number, .l_start = a[2].number, .l_len = a[3].number};
	long result = fcntl(slot(a[0].number), command, &lock);

	if (result || (command != F_GETLK && command != F_OFD_GETLK))
		return result;
	if (lock.l_type == F_UNLCK)
		say(" %d 0 0", lock.l_type);
	else
		say(" %d %ld %ld", lock.l_type, (long)lock.l_start, (long)lock.l_len);
	return result;
}

long run_setlk(const struct argument *a)
{
	return record_lock(a, F_SETLK);
}

long run_getlk(const struct argument *a)
{
	return record_lock(a, F_GETLK);
}

long run_ofd_setlk(const struct argument *a)
{
	return record_lock(a, F_OFD_SETLK);
}

long run_getfl(const struct argument *a)
{
	return fcntl(slot(a[0].number), F_GETFL);
}

long run_append(const struct argument *a)
{
	return fcntl(slot(a[0].number), F_SETFL, O_NONBLOCK | (a[1].number & 1 ? O_APPEND : 0));
}
