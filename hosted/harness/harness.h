/*
 * harness.h - hosted: files as the tests want them, over the calls of fs/. All return 0 or a
 * count, or -errno.
 */
#pragma once

#include "fs/block/dirty.h"
#include "fs/cred.h"
#include "fs/file/file.h"
#include "hosted/machine/hosted.h"

/* Fill @disk with a new file system of @kilobytes; @options: further ones of mke2fs. The test fails
 * if it cannot. */
void image_make(struct hosted_disk *disk, unsigned block_size, unsigned kilobytes,
		const char *options);
/* The usual features, named so that an image does not depend on the host's defaults. */
#define IMAGE_USUAL "-I 256 -m 5 -O none,sparse_super,filetype,large_file,ext_attr"
/* e2fsck -fn: the test fails if it is not clean */
void image_check(const struct hosted_disk *disk);
/* A copy of the image, taken and put back without the host's help. */
void image_keep(const struct hosted_disk *disk, unsigned char *copy);
void image_restore(struct hosted_disk *disk, const unsigned char *copy);

/* Be @cred, whose reference is taken over. */
static inline void set_cred(const struct cred *cred)
{
	put_cred(current->cred);
	current->cred = cred;
}

/* kern_path() and filp_open() of any string, without slack behind it. */
int find_path(const char *name, unsigned flags, struct path *path);
struct inode *inode_by_path(const char *name); /* referenced; it must be there */
struct file *open_path(const char *name, int flags, umode_t mode);
int mount_disk(const char *name, unsigned flags); /* ext2 of disk @name on /mnt */
int umount_disk(void);
s64 write_at(const char *path, int flags, loff_t offset, const void *data, size_t n);
s64 read_at(const char *path, loff_t offset, void *data, size_t n);
int chmod_path(const char *path, umode_t mode);
int truncate_path(const char *path, loff_t size);
/* All names but "." and "..", @batch at a time (0: all at once). */
int list_directory(const char *name, unsigned batch,
		   void (*visit)(const char *name, unsigned d_type, void *), void *);
/* A disk of so many pages with the header of a swap area, as /swap. Its requests end later. */
void swap_disk_create(struct hosted_disk *disk, u32 pages);
