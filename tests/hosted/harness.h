/*
 * harness.h - hosted: files as the tests want them, over the calls of fs/vfs.h. All return 0 or a count, or
 * -errno.
 */
#ifndef HOSTED_HARNESS_H
#define HOSTED_HARNESS_H

#include "fs/buffer.h"
#include "fs/vfs.h"
#include "hosted.h"

int mount_disk(const char *name, unsigned flags); /* ext2 of disk @name on /mnt */
int umount_disk(void);
s64 write_at(const char *path, int flags, loff_t offset, const void *data, size_t n);
s64 read_at(const char *path, loff_t offset, void *data, size_t n);
int truncate_path(const char *path, loff_t size);
/* All names but "." and "..", @batch at a time (0: all at once). */
int list_directory(const char *name, unsigned batch, void (*visit)(const char *name, unsigned d_type, void *), void *);

#endif
