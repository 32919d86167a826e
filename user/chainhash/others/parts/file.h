/* file.h - whole reads and writes at a place in a file. They sleep in the kernel; no locks. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Read @size bytes at @at; behind the file's end there are zeros. 0 or a negative errno. */
int file_read(int file, void *bytes, size_t size, uint64_t at);

/* Write all @size bytes at @at. 0 or a negative errno (-ENOSPC after a part has been written). */
int file_write(int file, const void *bytes, size_t size, uint64_t at);

/* Open @path with @suffix behind it for @flags (enum table_flags): a descriptor, or -errno. */
int file_open(const char *path, const char *suffix, unsigned flags);

/* Bytes of the file, or a negative errno. */
int64_t file_size(int file);

/* Wait until what was written is on the disk. 0 or a negative errno. */
int file_sync(int file);

/* Close a descriptor, if it is one: @error, or if that is 0 the close's own. */
int file_close(int file, int error);
