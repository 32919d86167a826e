/*
 * abi.h - the numbers and layouts of Linux's file-system calls on x86-64, which programs are
 * compiled with.
 *
 * Structures that a call copies out whole (kstat, kstatfs, dirent64, pollfd) have the layout of the
 * program's structure, so that the call is one copy. In a hosted build a file that has included the
 * host's <fcntl.h>, <sys/stat.h> or <poll.h> before keeps the host's macros, which have the same
 * values.
 */
#pragma once

#include "kernel/core/kernel.h"

#define PATH_MAX 4096 /* with the NUL */
#define NAME_MAX 255
#define PIPE_BUF 4096
#define MAXSYMLINKS 40

/* ---- file types and modes -------------------------------------------------------------------- */

#ifndef _SYS_STAT_H
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFLNK 0120000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFCHR 0020000
#define S_IFIFO 0010000
#define S_ISUID 04000
#define S_ISGID 02000
#define S_ISVTX 01000
#define S_IXGRP 0010
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#define S_ISREG(mode) (((mode)&S_IFMT) == S_IFREG)
#define S_ISDIR(mode) (((mode)&S_IFMT) == S_IFDIR)
#define S_ISCHR(mode) (((mode)&S_IFMT) == S_IFCHR)
#define S_ISBLK(mode) (((mode)&S_IFMT) == S_IFBLK)
#define S_ISFIFO(mode) (((mode)&S_IFMT) == S_IFIFO)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)
#define UTIME_NOW ((1l << 30) - 1l)
#define UTIME_OMIT ((1l << 30) - 2l)
#endif
#define S_IALLUGO 07777
#define S_IRWXUGO 0777
#define S_IXUGO 0111

/* d_type of a directory entry: the type bits of the mode, shifted down. */
#define S_DT(mode) (((mode)&S_IFMT) >> 12)
#ifndef _DIRENT_H
#define DT_UNKNOWN 0
#define DT_FIFO 1
#define DT_CHR 2
#define DT_DIR 4
#define DT_BLK 6
#define DT_REG 8
#define DT_LNK 10
#define DT_SOCK 12
#endif

/* ---- open, fcntl, *at ------------------------------------------------------------------------ */

#ifndef _FCNTL_H
#define O_ACCMODE 00000003
#define O_RDONLY 00000000
#define O_WRONLY 00000001
#define O_RDWR 00000002
#define O_CREAT 00000100
#define O_EXCL 00000200
#define O_NOCTTY 00000400
#define O_TRUNC 00001000
#define O_APPEND 00002000
#define O_NONBLOCK 00004000
#define O_DSYNC 00010000
#define O_ASYNC 00020000
#define O_DIRECT 00040000
#define O_LARGEFILE 00100000
#define O_DIRECTORY 00200000
#define O_NOFOLLOW 00400000
#define O_NOATIME 01000000
#define O_CLOEXEC 02000000
#define O_SYNC 04010000
#define O_PATH 010000000
#define O_TMPFILE 020200000

#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_EACCESS 0x200
#define AT_REMOVEDIR 0x200
#define AT_SYMLINK_FOLLOW 0x400
#define AT_NO_AUTOMOUNT 0x800
#define AT_EMPTY_PATH 0x1000

#define F_DUPFD 0
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_GETLK 5
#define F_SETLK 6
#define F_SETLKW 7
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#define F_DUPFD_CLOEXEC 1030
#define F_SETPIPE_SZ 1031
#define F_GETPIPE_SZ 1032
#define FD_CLOEXEC 1
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2

#define X_OK 1
#define W_OK 2
#define R_OK 4

#define RENAME_NOREPLACE (1 << 0)
#define RENAME_EXCHANGE (1 << 1)
#endif

#define RESOLVE_NO_XDEV 1u
#define RESOLVE_NO_MAGICLINKS 2u
#define RESOLVE_NO_SYMLINKS 4u
#define RESOLVE_BENEATH 8u
#define RESOLVE_IN_ROOT 16u
#define RESOLVE_CACHED 32u

#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif
#ifndef SEEK_DATA
#define SEEK_DATA 3
#define SEEK_HOLE 4
#endif

#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 0x01
#define FALLOC_FL_PUNCH_HOLE 0x02
#define FALLOC_FL_ZERO_RANGE 0x10
#endif

/* ---- mount(2), umount2(2) -------------------------------------------------------------------- */

#ifndef _SYS_MOUNT_H
#define MS_REMOUNT 32
#define MS_BIND 4096
#define MS_MOVE 8192
#define MS_REC 16384
#define MS_SILENT 32768
#define MS_UNBINDABLE (1 << 17)
#define MS_PRIVATE (1 << 18)
#define MS_SLAVE (1 << 19)
#define MS_SHARED (1 << 20)
#define MS_RELATIME (1 << 21)
#define MS_STRICTATIME (1 << 24)
#define MNT_FORCE 1
#define MNT_DETACH 2
#define MNT_EXPIRE 4
#define UMOUNT_NOFOLLOW 8
#endif
#define MS_MGC_VAL 0xc0ed0000u
#define MS_MGC_MSK 0xffff0000u

/* ---- stat, statfs, attributes ---------------------------------------------------------------- */

/* struct stat of x86-64: 144 bytes. */
struct kstat {
	u64 dev; /* ABI_DEV(inode->sb->dev) */
	u64 ino;
	u64 nlink;
	u32 mode;
	u32 uid;
	u32 gid;
	u32 pad;
	u64 rdev;
	s64 size;
	s64 blksize;
	s64 blocks; /* 512 bytes each */
	struct timespec64 atime, mtime, ctime;
	s64 unused[3];
};
_Static_assert(sizeof(struct kstat) == 144, "struct stat of x86-64");

/* The kernel's major << 8 | minor is the same number in the ABI as long as both are below 256. */
#define ABI_DEV(dev) ((u64)(dev))

/* struct statfs of x86-64: 120 bytes. */
struct kstatfs {
	s64 type; /* magic number of the file system */
	s64 bsize;
	u64 blocks, bfree, bavail;
	u64 files, ffree;
	u32 fsid[2];
	s64 namelen;
	s64 frsize;
	s64 flags; /* ST_*: as SB_*, with ST_VALID */
	s64 spare[4];
};
_Static_assert(sizeof(struct kstatfs) == 120, "struct statfs of x86-64");
#define ST_VALID 0x20
#define ST_RELATIME 0x1000

#define XATTR_CREATE 1
#define XATTR_REPLACE 2
#define XATTR_NAME_MAX 255
#define XATTR_SIZE_MAX 65536 /* of a value, and of a list */

#define EXT2_SUPER_MAGIC 0xef53
#define TMPFS_MAGIC 0x01021994
#define PROC_SUPER_MAGIC 0x9fa0

/* What inode_operations.setattr is to change: ATTR_* in valid, and the values. */
#define ATTR_MODE (1u << 0)
#define ATTR_UID (1u << 1)
#define ATTR_GID (1u << 2)
#define ATTR_SIZE (1u << 3)
#define ATTR_ATIME (1u << 4)
#define ATTR_MTIME (1u << 5)
#define ATTR_CTIME (1u << 6)
/* to the given time (needs ownership); without: to now (needs write) */
#define ATTR_ATIME_SET (1u << 7)
#define ATTR_MTIME_SET (1u << 8)
#define ATTR_FORCE (1u << 9)	  /* the VFS's own: no permission checks */
/* drop set-uid and set-gid: the file was written or changed owner */
#define ATTR_KILL_PRIV (1u << 10)
#define ATTR_TOUCH (1u << 11)	  /* utimensat(NULL): both times to now */
#define ATTR_OPEN (1u << 12)	  /* O_TRUNC */

struct iattr {
	u32 valid;
	umode_t mode;
	uid_t uid;
	gid_t gid;
	loff_t size;
	struct timespec64 atime, mtime, ctime;
};

/* ---- getdents64 ------------------------------------------------------------------------------ */

struct linux_dirent64 {
	u64 d_ino;
	s64 d_off; /* position of the next entry */
	u16 d_reclen;
	u8 d_type;
	char d_name[];
};
#define DIRENT64_NAME_OFFSET 19 /* d_name stands right behind d_type, unlike sizeof says */

/* ---- poll ------------------------------------------------------------------------------------ */

#ifndef _SYS_POLL_H
#define POLLIN 0x0001
#define POLLPRI 0x0002
#define POLLOUT 0x0004
#define POLLERR 0x0008
#define POLLHUP 0x0010
#define POLLNVAL 0x0020
#define POLLRDNORM 0x0040
#define POLLRDBAND 0x0080
#define POLLWRNORM 0x0100
#define POLLWRBAND 0x0200

struct pollfd {
	int fd;
	s16 events;
	s16 revents;
};
#endif

/* ---- ioctl, signals -------------------------------------------------------------------------- */

#ifndef FIONREAD
#define FIONREAD 0x541b /* bytes that can be read now */
#define FIONBIO 0x5421
#define FIONCLEX 0x5450
#define FIOCLEX 0x5451
#endif
#ifndef SIGXFSZ
#define SIGXFSZ 25
#endif
