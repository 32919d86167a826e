/*
 * operations.h - what the files of operations share: private to them. See operations.c.
 */
#pragma once

#include "filefuzz.h"

#include <sys/syscall.h>

#define SLOTS 8
#define MAPPINGS 3
#define MAPPING_PAGES 16
#define PAGE 4096
#define MAPPING(i) ((char *)(0x10000000L + (i)*0x1000000L))

extern int slots[SLOTS]; /* -1: empty */
extern int mapping_fds[MAPPINGS];
extern char data[80000]; /* what is read, and what is written from */

/* The descriptor in slot @i; -1: none. */
int slot(long i);
/* The same for calls that take a directory; negative: the current one. */
int dirfd_of(long i);
/* "a/@255" -> a/xxx...; two buffers, for calls with two names. */
const char *path(const char *text);
/* Put @fd, if it is one, into slot @i; closes what is there. @fd; errno stays. */
long into_slot(long i, long fd);
/* @size bytes that this step alone writes. */
const char *pattern(long size);
/* Add the checksum of @n bytes of data to the trace; @n. */
long show_data(long n);

/* For qsort(3), of strings. */
int by_name(const void *a, const void *b);

/* Each performs its operation: the call's result, -1 with errno. */
typedef long performer(const struct argument *a);

/* operations_contents.c: descriptors and contents */
performer run_open, run_openat, run_tmpfile, run_close, run_dup, run_read, run_write, run_pread,
	run_pwrite, run_preadv, run_pwritev, run_writev, run_lseek, run_seek_data, run_truncate,
	run_ftruncate, run_fsync, run_fallocate, run_sendfile, run_copy_range, run_flock, run_setlk,
	run_getlk, run_ofd_setlk, run_getfl, run_append;

/* operations_names.c */
performer run_mkdir, run_mkdirat, run_mknod, run_rmdir, run_unlink, run_unlinkat, run_link,
	run_linkat, run_symlink, run_symlinkat, run_readlink, run_rename, run_renameat2, run_chdir,
	run_fchdir, run_getcwd, run_list, run_ls;

/* operations_attributes.c: attributes, extended ones, users */
performer run_stat, run_lstat, run_fstat, run_fstatat, run_statx, run_atime, run_access,
	run_faccessat2, run_chmod, run_fchmod, run_fchmodat, run_chown, run_lchown, run_fchown,
	run_fchownat, run_utimensat, run_futimens, run_umask, run_user, run_become, run_setxattr,
	run_lsetxattr, run_fsetxattr, run_getxattr, run_fgetxattr, run_listxattr, run_removexattr,
	run_fremovexattr;

/* operations_mappings.c: mappings, mounts */
performer run_mmap, run_munmap, run_mprotect, run_msync, run_madvise, run_peek, run_poke, run_mount,
	run_bind, run_move, run_remount_bind, run_remount, run_umount, run_fork;
/* A fault of a mapping that is touched ends the operation. */
void take_fault(int signo);

/* operations_works.c: does the kernel have it? Asked in an empty directory, as root. */
typedef bool prober(void);
prober flock_works, copy_file_range_works, preadv_works, pwritev_works, statx_works,
	faccessat2_works, renameat2_works, sendfile_works, mknod_works, exchange_works,
	tmpfile_works, locks_work, ofd_locks_work, xattr_works, punch_works, holes_are_seen,
	bind_works, move_works, mount_works, remount_works;
