/*
 * abi.h - the numbers and layouts of Linux's file-system calls on x86-64, which programs are
 * compiled with.
 *
 * Structures that a call copies out whole (kstat, kstatfs, dirent64, pollfd) have the layout of the
 * program's structure, so that the call is one copy. What the host's <stdio.h>, <unistd.h> and
 * <signal.h> define as well are macros here, too, for the hosted build.
 */
#pragma once

#include "core/kernel.h"

#define PATH_MAX 4096 /* with the NUL */
#define NAME_MAX 255
#define PIPE_BUF 4096
#define MAXSYMLINKS 40

/* ---- file types and modes -------------------------------------------------------------------- */

enum { S_IFMT = 0170000, S_IFIFO = 0010000, S_IFCHR = 0020000, S_IFDIR = 0040000 };
enum { S_IFBLK = 0060000, S_IFREG = 0100000, S_IFLNK = 0120000, S_IFSOCK = 0140000 };
enum { S_ISUID = 04000, S_ISGID = 02000, S_ISVTX = 01000, S_IXGRP = 0010 };
enum { S_IRWXUGO = 0777, S_IXUGO = 0111, S_IALLUGO = 07777 };
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#define S_ISREG(mode) (((mode)&S_IFMT) == S_IFREG)
#define S_ISDIR(mode) (((mode)&S_IFMT) == S_IFDIR)
#define S_ISCHR(mode) (((mode)&S_IFMT) == S_IFCHR)
#define S_ISBLK(mode) (((mode)&S_IFMT) == S_IFBLK)
#define S_ISFIFO(mode) (((mode)&S_IFMT) == S_IFIFO)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)

/* d_type of a directory entry: the type bits of the mode, shifted down. */
#define S_DT(mode) (((mode)&S_IFMT) >> 12)
enum { DT_UNKNOWN, DT_FIFO, DT_CHR, DT_DIR = 4, DT_BLK = 6, DT_REG = 8, DT_LNK = 10, DT_SOCK = 12 };

/* ---- open, fcntl, *at ------------------------------------------------------------------------ */

enum { O_RDONLY, O_WRONLY, O_RDWR, O_ACCMODE, O_CREAT = 0100, O_EXCL = 0200, O_NOCTTY = 0400 };
enum { O_TRUNC = 01000, O_APPEND = 02000, O_NONBLOCK = 04000, O_DSYNC = 010000, O_SYNC = 04010000 };
enum { O_ASYNC = 020000, O_DIRECT = 040000, O_LARGEFILE = 0100000, O_DIRECTORY = 0200000 };
enum { O_NOFOLLOW = 0400000, O_NOATIME = 01000000, O_CLOEXEC = 02000000, O_PATH = 010000000 };
enum { __O_TMPFILE = 020000000, O_TMPFILE = __O_TMPFILE | O_DIRECTORY };

enum { AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 0x100, AT_EACCESS = 0x200, AT_REMOVEDIR = 0x200 };
enum { AT_SYMLINK_FOLLOW = 0x400, AT_NO_AUTOMOUNT = 0x800, AT_EMPTY_PATH = 0x1000 };

enum { F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW };
enum { F_OFD_GETLK = 36, F_OFD_SETLK, F_OFD_SETLKW };
enum { F_DUPFD_CLOEXEC = 1030, F_GETPIPE_SZ = 1032 };
enum { F_RDLCK, F_WRLCK, F_UNLCK };
#define FD_CLOEXEC 1

#define X_OK 1
#define W_OK 2
#define R_OK 4

#define RENAME_NOREPLACE (1 << 0)
#define RENAME_EXCHANGE (1 << 1)

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define SEEK_DATA 3
#define SEEK_HOLE 4

enum { FALLOC_FL_KEEP_SIZE = 0x01, FALLOC_FL_PUNCH_HOLE = 0x02, FALLOC_FL_COLLAPSE_RANGE = 0x08 };
enum { FALLOC_FL_ZERO_RANGE = 0x10, FALLOC_FL_INSERT_RANGE = 0x20, FALLOC_FL_UNSHARE_RANGE = 0x40 };

#define UTIME_NOW ((1l << 30) - 1l)
#define UTIME_OMIT ((1l << 30) - 2l)

/* ---- mount(2), umount2(2) -------------------------------------------------------------------- */

/* The flags of a mount itself: SB_* in dentry.h. */
enum { MS_REMOUNT = 1 << 5, MS_BIND = 1 << 12, MS_MOVE = 1 << 13, MS_REC = 1 << 14 };
enum { MS_SILENT = 1 << 15, MS_RELATIME = 1 << 21, MS_STRICTATIME = 1 << 24 };
enum { MS_UNBINDABLE = 1 << 17, MS_PRIVATE = 1 << 18, MS_SLAVE = 1 << 19, MS_SHARED = 1 << 20 };
enum { MNT_FORCE = 1, MNT_DETACH = 2, UMOUNT_NOFOLLOW = 8 };
#define MS_MGC_VAL 0xc0ed0000u /* what old programs put into the upper half */
#define MS_MGC_MSK 0xffff0000u

/* ---- stat, statfs, attributes ---------------------------------------------------------------- */

/* struct stat of x86-64: 144 bytes. */
struct kstat {
	/* dev, rdev: major << 8 | minor is the ABI's number as long as both are below 256 */
	u64 dev, ino, nlink;
	u32 mode, uid, gid, pad;
	u64 rdev;
	s64 size, blksize, blocks; /* 512 bytes each */
	struct timespec64 atime, mtime, ctime;
	s64 unused[3];
};
_Static_assert(sizeof(struct kstat) == 144, "struct stat of x86-64");

/* struct statfs of x86-64: 120 bytes. */
struct kstatfs {
	s64 type /* magic number of the file system */, bsize;
	u64 blocks, bfree, bavail, files, ffree;
	u32 fsid[2];
	s64 namelen, frsize, flags /* ST_*: as SB_*, with ST_VALID */, spare[4];
};
_Static_assert(sizeof(struct kstatfs) == 120, "struct statfs of x86-64");
#define ST_VALID 0x20
#define ST_RELATIME 0x1000

enum { EXT2_SUPER_MAGIC = 0xef53, TMPFS_MAGIC = 0x01021994, PROC_SUPER_MAGIC = 0x9fa0 };

/* ---- poll ------------------------------------------------------------------------------------ */

enum { POLLIN = 0x1, POLLPRI = 0x2, POLLOUT = 0x4, POLLERR = 0x8, POLLHUP = 0x10, POLLNVAL = 0x20 };
enum { POLLRDNORM = 0x40, POLLRDBAND = 0x80, POLLWRNORM = 0x100, POLLWRBAND = 0x200 };

struct pollfd {
	int fd;
	s16 events, revents;
};

/* ---- ioctl, signals -------------------------------------------------------------------------- */

enum { FIONREAD = 0x541b /* bytes that can be read now */, FIONBIO = 0x5421 };
#define FS_IOC_GETFLAGS 0x80086601u
#define FS_IOC_SETFLAGS 0x40086602u
#define FS_IOC_GETVERSION 0x80087601u
/* Of a file, as chattr(1) sets them: it is not changed at all; is only appended to; is not dumped;
 * its access time stays. */
enum { FS_IMMUTABLE_FL = 0x10, FS_APPEND_FL = 0x20, FS_NODUMP_FL = 0x40, FS_NOATIME_FL = 0x80 };
#define FS_KEPT_FL (FS_IMMUTABLE_FL | FS_APPEND_FL) /* its names, mode and owner are */
#define FS_INHERITED_FL (FS_NODUMP_FL | FS_NOATIME_FL)
enum { FIONCLEX = 0x5450, FIOCLEX };

#define SIGXFSZ 25
