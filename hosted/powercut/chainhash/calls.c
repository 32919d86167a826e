/*
 * calls.c - what the library asks of its system goes to the hosted kernel: the names here stand in
 * for those of the C library in its objects (powercut.mk), as a shim under lib/store/io.c would.
 */
#include <errno.h>
#include <stdarg.h>

#include "fs/file/file.h"
#include "hosted/machine/hosted.h"

int table_open(const char *path, int flags, ...);
int table_close(int descriptor);
s64 table_pread(int descriptor, void *bytes, size_t size, loff_t offset);
s64 table_pwritev(int descriptor, const void *vector, int count, loff_t offset);
int table_fdatasync(int descriptor);
int table_fsync(int descriptor);
int table_ftruncate(int descriptor, loff_t size);
int table_fstat(int descriptor, void *status);
int table_stat(const char *path, void *status);
s64 table_lseek(int descriptor, loff_t offset, int whence);
int table_fcntl(int descriptor, int command, ...);

/* As the C library tells of an error. */
static s64 result_of(s64 result)
{
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

int table_open(const char *path, int flags, ...)
{
	va_list arguments;
	umode_t mode;

	va_start(arguments, flags);
	mode = (umode_t)va_arg(arguments, unsigned);
	va_end(arguments);
	return (int)result_of(sys_openat(AT_FDCWD, path, flags, mode));
}

int table_close(int descriptor)
{
	return (int)result_of(sys_close(descriptor));
}

s64 table_pread(int descriptor, void *bytes, size_t size, loff_t offset)
{
	return result_of(sys_pread64(descriptor, bytes, size, offset));
}

s64 table_pwritev(int descriptor, const void *vector, int count, loff_t offset)
{
	return result_of(sys_pwritev(descriptor, vector, (u64)count, offset));
}

int table_fdatasync(int descriptor)
{
	return (int)result_of(sys_fdatasync(descriptor));
}

int table_fsync(int descriptor)
{
	return (int)result_of(sys_fsync(descriptor));
}

int table_ftruncate(int descriptor, loff_t size)
{
	return (int)result_of(sys_ftruncate(descriptor, size));
}

int table_fstat(int descriptor, void *status)
{
	return (int)result_of(sys_fstat(descriptor, status));
}

int table_stat(const char *path, void *status)
{
	return (int)result_of(sys_newfstatat(AT_FDCWD, path, status, 0));
}

s64 table_lseek(int descriptor, loff_t offset, int whence)
{
	return result_of(sys_lseek(descriptor, offset, whence));
}

int table_fcntl(int descriptor, int command, ...)
{
	va_list arguments;
	u64 argument;

	va_start(arguments, command);
	argument = va_arg(arguments, u64);
	va_end(arguments);
	return (int)result_of(sys_fcntl(descriptor, (u32)command, argument));
}
