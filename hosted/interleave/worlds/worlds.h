/*
 * worlds.h - interleavings: the file systems that programs work on, mounted on /mnt, and what must
 * hold of them in the end.
 */
#pragma once

#include "fs/inode/inode.h"
#include "hosted/machine/hosted.h"

/* As a program's prepare: memory, and a small ext2 or a tmpfs. */
void world_ext2(void);
void world_tmpfs(void);
void world_memory(void); /* ext2, and frames for programs' memory */
void world_tmpfs_memory(void);
void world_swap(void); /* that, and /swap, a disk with the header of a swap area */

/* What tasks of several programs do. */
void world_write_back(void *unused);
void world_sync_all(void *unused);

/* Before tasks run: current has looked for @path until direct lookup, if it is there, knows it. */
void world_warm(const char *path);

void world_mount(void);
/* The caches agree with themselves; nothing leaked; of some schedules: the disk is clean. */
void world_unmount(void);

/* Bytes of file @number as the disk's image has them now, if the power went: how many, or -errno.
 */
s64 world_on_disk(ino_t number, loff_t offset, void *data, size_t bytes);
/* The disk's image has @inode as it is in memory. */
void world_check_inode(const struct inode *inode);
