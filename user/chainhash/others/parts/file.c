/* file.c - whole reads and writes at a place in a file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "../system.h"

int file_read(int file, void *bytes, size_t size, uint64_t at)
{
	char *to = bytes;

	while (size) {
		const ssize_t got = pread(file, to, size, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got) {
			memset(to, 0, size);
			return 0;
		}
		to += got;
		at += (size_t)got;
		size -= (size_t)got;
	}
	return 0;
}

int file_write(int file, const void *bytes, size_t size, uint64_t at)
{
	const char *from = bytes;

	while (size) {
		const ssize_t put = pwrite(file, from, size, (off_t)at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		from += put;
		at += (size_t)put;
		size -= (size_t)put;
	}
	return 0;
}

int file_open(const char *path, const char *suffix, unsigned flags)
{
	int how = O_RDWR | O_CLOEXEC, file, error;
	char *name;

	if (flags & TABLE_READ_ONLY)
		how = O_RDONLY | O_CLOEXEC;
	if (flags & TABLE_CREATE)
		how |= O_CREAT | O_TRUNC;
	if (asprintf(&name, "%s%s", path, suffix) < 0)
		return -ENOMEM;
	file = open(name, how, 0644);
	error = errno;
	free(name);
	return file < 0 ? -error : file;
}

int64_t file_size(int file)
{
	struct stat status;

	return fstat(file, &status) ? -errno : (int64_t)status.st_size;
}

int file_sync(int file)
{
	return fsync(file) ? -errno : 0;
}

int file_close(int file, int error)
{
	if (file >= 0 && close(file) && !error)
		error = -errno;
	return error;
}
