/*
 * start.h - the file systems as a whole: brought up, written out, shut down.
 *
 * In this order: vfs_init() once there is memory; vfs_mount_root() by the first process, once the
 * drivers have registered their devices; vfs_sync_all() as often as one likes; vfs_shutdown() last.
 */
#pragma once

void vfs_init(void); /* caches, file systems */
/* @device NULL: a file system in memory. Sets current's, which is init's, root and cwd. 0, or why
 * it cannot be mounted. */
int vfs_mount_root(const char *device, const char *type, unsigned flags);
int vfs_sync_all(void); /* sync(2): everything written and waited for; 0 or an error */
/* kill no one, but write all out and unmount/remount read-only; debug: check refcounts */
void vfs_shutdown(void);
