/*
 * operations.c - the calls that sequences are made of.
 *
 * Descriptors live in eight slots; an empty slot is descriptor -1. Three mappings live at fixed
 * addresses, each with a descriptor of its own far above the others, by which is known how much of
 * it may be touched: what lies between a file's end and its page's end is nobody's business.
 * All calls are raw: no C library mends what the kernel does.
 */
#include "filefuzz.h"

#include <dirent.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define SLOTS 8
#define MAPPINGS 3
#define MAPPING_PAGES 16
#define PAGE 4096
#define MAPPING(i) ((char *)(0x10000000L + (i)*0x1000000L))
#define TMPFS_MAGIC 0x01021994

long step;
static int slots[SLOTS];
static int mapping_fds[MAPPINGS];
static char data[80000];

static int slot(long i)
{
	return slots[i & (SLOTS - 1)];
}

static int dirfd_of(long i)
{
	return i < 0 ? AT_FDCWD : slot(i);
}

/* "a/@255" -> a/xxx...; two buffers, for calls with two names. */
static const char *path(const char *text)
{
	static char buffers[2][4200];
	static int which;
	char *out = buffers[which ^= 1], *start = out;

	while (*text) {
		if (*text == '@') {
			long n = strtol(text + 1, (char **)&text, 10);

			memset(out, 'x', (size_t)n);
			out += n;
		} else {
			*out++ = *text++;
		}
	}
	*out = 0;
	return start;
}

static long into_slot(long i, long fd)
{
	int error = errno;

	if (fd < 0)
		return fd;
	if (slot(i) >= 0)
		close(slot(i));
	slots[i & (SLOTS - 1)] = (int)fd;
	errno = error;
	return fd;
}

static const char *pattern(long size)
{
	for (long i = 0; i < size; i++)
		data[i] = (char)('a' + (step * 7 + i / 13 + i) % 26);
	return data;
}

static long show_data(long n)
{
	if (n > 0)
		say(" %08x", checksum(data, (size_t)n, 0));
	return n;
}

/* ---- descriptors and contents -------------------------------------------------------------------
 */

static long run_open(const struct argument *a)
{
	return into_slot(a[0].number, syscall(SYS_openat, AT_FDCWD, path(a[1].text),
					      a[2].number | O_NONBLOCK | O_LARGEFILE, a[3].number));
}

static long run_openat(const struct argument *a)
{
	return into_slot(a[0].number, syscall(SYS_openat, dirfd_of(a[1].number), path(a[2].text),
					      a[3].number | O_NONBLOCK | O_LARGEFILE, a[4].number));
}

static long run_tmpfile(const struct argument *a)
{
	return into_slot(a[0].number, syscall(SYS_openat, AT_FDCWD, path(a[1].text),
					      O_TMPFILE | O_RDWR, a[2].number));
}

static long run_close(const struct argument *a)
{
	long result = close(slot(a[0].number));

	slots[a[0].number & (SLOTS - 1)] = -1;
	return result;
}

static long run_dup(const struct argument *a)
{
	return into_slot(a[0].number, dup(slot(a[1].number)));
}

static long run_read(const struct argument *a)
{
	return show_data(read(slot(a[0].number), data, (size_t)a[1].number));
}

static long run_write(const struct argument *a)
{
	return write(slot(a[0].number), pattern(a[1].number), (size_t)a[1].number);
}

static long run_pread(const struct argument *a)
{
	return show_data(pread(slot(a[0].number), data, (size_t)a[1].number, a[2].number));
}

static long run_pwrite(const struct argument *a)
{
	return pwrite(slot(a[0].number), pattern(a[1].number), (size_t)a[1].number, a[2].number);
}

static struct iovec *pieces(long size)
{
	static struct iovec vector[3];

	vector[0] = (struct iovec){data, (size_t)size / 3};
	vector[1] = (struct iovec){data + size / 3, 0};
	vector[2] = (struct iovec){data + size / 3, (size_t)(size - size / 3)};
	return vector;
}

static long run_preadv(const struct argument *a)
{
	return show_data(preadv(slot(a[0].number), pieces(a[1].number), 3, a[2].number));
}

static long run_pwritev(const struct argument *a)
{
	pattern(a[1].number);
	return pwritev(slot(a[0].number), pieces(a[1].number), 3, a[2].number);
}

static long run_writev(const struct argument *a)
{
	pattern(a[1].number);
	return writev(slot(a[0].number), pieces(a[1].number), 3);
}

static long run_lseek(const struct argument *a)
{
	struct stat st;
	long result = lseek(slot(a[0].number), a[1].number, (int)a[2].number);

	/* A directory's positions are its own affair. */
	if (result > 0 && !fstat(slot(a[0].number), &st) && S_ISDIR(st.st_mode)) {
		lseek(slot(a[0].number), 0, SEEK_SET);
		return 0;
	}
	return result;
}

static long run_seek_data(const struct argument *a)
{
	struct stat st;

	/* A directory has no holes; what fallocate or a look through a mapping has filled with
	 * zeros is data to the one and none to the other. */
	if (*filled || (!fstat(slot(a[0].number), &st) && S_ISDIR(st.st_mode))) {
		say(" not done");
		return 0;
	}
	return lseek(slot(a[0].number), a[1].number, a[2].number & 1 ? SEEK_DATA : SEEK_HOLE);
}

static long run_truncate(const struct argument *a)
{
	return truncate(path(a[0].text), a[1].number);
}

static long run_ftruncate(const struct argument *a)
{
	return ftruncate(slot(a[0].number), a[1].number);
}

static long run_fsync(const struct argument *a)
{
	return fsync(slot(a[0].number));
}

static long run_fallocate(const struct argument *a)
{
	*filled = true;
	if (a[2].number > 1 << 26 || a[3].number > 1 << 26) { /* more than a small machine has */
		say(" not done");
		return 0;
	}
	return syscall(SYS_fallocate, slot(a[0].number), a[1].number, a[2].number, a[3].number);
}

static long run_sendfile(const struct argument *a)
{
	off_t offset = a[2].number;
	struct stat in, out;
	long result;

	/* What comes of a file that is written while its pages are on their way is not settled. */
	if (!fstat(slot(a[0].number), &out) && !fstat(slot(a[1].number), &in) &&
	    in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		say(" not done");
		return 0;
	}
	result = sendfile(slot(a[0].number), slot(a[1].number), a[2].number ? &offset : NULL,
			  (size_t)a[3].number);

	say(" at %ld", (long)offset);
	return result;
}

static long run_copy_range(const struct argument *a)
{
	off_t from = a[1].number, to = a[3].number;
	long result = syscall(SYS_copy_file_range, slot(a[0].number), from ? &from : NULL,
			      slot(a[2].number), to ? &to : NULL, a[4].number, 0);

	say(" at %ld %ld", (long)from, (long)to);
	return result;
}

static long run_flock(const struct argument *a)
{
	return flock(slot(a[0].number), (int)a[1].number);
}

static long record_lock(const struct argument *a, int command)
{
	struct flock lock = {
		.l_type = (short)a[1].number, .l_start = a[2].number, .l_len = a[3].number};
	long result = fcntl(slot(a[0].number), command, &lock);

	if (!result && (command == F_GETLK || command == F_OFD_GETLK))
		say(" %d %ld %ld", lock.l_type, lock.l_type == F_UNLCK ? 0L : (long)lock.l_start,
		    lock.l_type == F_UNLCK ? 0L : (long)lock.l_len);
	return result;
}

static long run_setlk(const struct argument *a)
{
	return record_lock(a, F_SETLK);
}

static long run_getlk(const struct argument *a)
{
	return record_lock(a, F_GETLK);
}

static long run_ofd_setlk(const struct argument *a)
{
	return record_lock(a, F_OFD_SETLK);
}

static long run_getfl(const struct argument *a)
{
	return fcntl(slot(a[0].number), F_GETFL);
}

static long run_append(const struct argument *a)
{
	return fcntl(slot(a[0].number), F_SETFL, O_NONBLOCK | (a[1].number & 1 ? O_APPEND : 0));
}

/* ---- names --------------------------------------------------------------------------------------
 */

static long run_mkdir(const struct argument *a)
{
	return mkdir(path(a[0].text), (mode_t)a[1].number);
}

static long run_mkdirat(const struct argument *a)
{
	return syscall(SYS_mkdirat, dirfd_of(a[0].number), path(a[1].text), a[2].number);
}

static long run_mknod(const struct argument *a)
{
	return syscall(SYS_mknod, path(a[0].text), a[1].number, 0x103);
}

static long run_rmdir(const struct argument *a)
{
	return rmdir(path(a[0].text));
}

static long run_unlink(const struct argument *a)
{
	return unlink(path(a[0].text));
}

static long run_unlinkat(const struct argument *a)
{
	return syscall(SYS_unlinkat, dirfd_of(a[0].number), path(a[1].text), a[2].number);
}

static long run_link(const struct argument *a)
{
	return link(path(a[0].text), path(a[1].text));
}

static long run_linkat(const struct argument *a)
{
	return syscall(SYS_linkat, dirfd_of(a[0].number), path(a[1].text), dirfd_of(a[2].number),
		       path(a[3].text), a[4].number);
}

static long run_symlink(const struct argument *a)
{
	return symlink(path(a[0].text), path(a[1].text));
}

static long run_symlinkat(const struct argument *a)
{
	return syscall(SYS_symlinkat, path(a[0].text), dirfd_of(a[1].number), path(a[2].text));
}

static long run_readlink(const struct argument *a)
{
	return show_data(
		syscall(SYS_readlinkat, dirfd_of(a[0].number), path(a[1].text), data, a[2].number));
}

static long run_rename(const struct argument *a)
{
	return rename(path(a[0].text), path(a[1].text));
}

static long run_renameat2(const struct argument *a)
{
	return syscall(SYS_renameat2, dirfd_of(a[0].number), path(a[1].text), dirfd_of(a[2].number),
		       path(a[3].text), a[4].number);
}

static long run_chdir(const struct argument *a)
{
	return chdir(path(a[0].text));
}

static long run_fchdir(const struct argument *a)
{
	return fchdir(slot(a[0].number));
}

static long run_getcwd(const struct argument *a)
{
	long result = syscall(SYS_getcwd, data, a[0].number);

	if (result > 0)
		say(" %.*s", result > 60 ? 60 : (int)result, data);
	return result;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All names of a directory with their types, in order; twice the same must come. */
static long list(int fd)
{
	char *names[300];
	int count = 0;
	long n;

	lseek(fd, 0, SEEK_SET);
	while ((n = syscall(SYS_getdents64, fd, data, 4096)) > 0) {
		for (long at = 0; at < n && count < 300;) {
			struct dirent *entry = (struct dirent *)(data + at);

			if (asprintf(&names[count++], "%s:%d", entry->d_name, entry->d_type) < 0)
				abort();
			at += entry->d_reclen;
		}
	}
	qsort(names, (size_t)count, sizeof(names[0]), by_name);
	for (int i = 0; i < count; i++) {
		say(" %.20s", names[i]);
		free(names[i]);
	}
	return n < 0 ? n : count;
}

static long run_list(const struct argument *a)
{
	return list(slot(a[0].number));
}

static long run_ls(const struct argument *a)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path(a[0].text), O_RDONLY | O_DIRECTORY);
	long result = fd < 0 ? -1 : list(fd);

	if (fd >= 0)
		close(fd);
	return result;
}

/* ---- attributes ---------------------------------------------------------------------------------
 */

static void say_time(char which, time_t time)
{
	if (time < 1000000)
		say(" %c%ld", which, (long)time);
	else
		say(" %cnow", which);
}

static long say_stat(long result, const struct stat *st)
{
	if (result)
		return result;
	say(" %06o %u:%u %lu", st->st_mode, st->st_uid, st->st_gid, (unsigned long)st->st_nlink);
	if (!S_ISDIR(st->st_mode))
		say(" %ld", (long)st->st_size);
	say_time('m', st->st_mtime);
	return 0;
}

static long run_stat(const struct argument *a)
{
	struct stat st;
	long result = syscall(SYS_stat, path(a[0].text), &st);

	return say_stat(result, &st);
}

static long run_lstat(const struct argument *a)
{
	struct stat st;
	long result = syscall(SYS_lstat, path(a[0].text), &st);

	return say_stat(result, &st);
}

static long run_fstat(const struct argument *a)
{
	struct stat st;
	long result = syscall(SYS_fstat, slot(a[0].number), &st);

	return say_stat(result, &st);
}

static long run_fstatat(const struct argument *a)
{
	struct stat st;
	long result =
		syscall(SYS_newfstatat, dirfd_of(a[0].number), path(a[1].text), &st, a[2].number);

	return say_stat(result, &st);
}

static long run_statx(const struct argument *a)
{
	struct {
		uint32_t mask, blksize;
		uint64_t attributes;
		uint32_t nlink, uid, gid;
		uint16_t mode, spare;
		uint64_t inode, size, blocks, attributes_mask;
		int64_t times[8]; /* access, birth, change, modify: seconds, nanoseconds */
		uint64_t rest[20];
	} st;
	long result =
		syscall(SYS_statx, dirfd_of(a[0].number), path(a[1].text), a[2].number, 0x7ff, &st);

	if (!result) {
		say(" %06o %u:%u %u", st.mode, st.uid, st.gid, st.nlink);
		if (!S_ISDIR(st.mode))
			say(" %ld", (long)st.size);
		say_time('m', (time_t)st.times[6]);
	}
	return result;
}

static long run_atime(const struct argument *a)
{
	struct stat st;
	long result = syscall(SYS_lstat, path(a[0].text), &st);

	if (!result)
		say_time('a', st.st_atime);
	return result;
}

static long run_access(const struct argument *a)
{
	return syscall(SYS_access, path(a[0].text), a[1].number);
}

static long run_faccessat2(const struct argument *a)
{
	return syscall(SYS_faccessat2, dirfd_of(a[0].number), path(a[1].text), a[2].number,
		       a[3].number);
}

static long run_chmod(const struct argument *a)
{
	return chmod(path(a[0].text), (mode_t)a[1].number);
}

static long run_fchmod(const struct argument *a)
{
	return syscall(SYS_fchmod, slot(a[0].number), a[1].number);
}

static long run_fchmodat(const struct argument *a)
{
	return syscall(SYS_fchmodat, dirfd_of(a[0].number), path(a[1].text), a[2].number);
}

static long run_chown(const struct argument *a)
{
	return syscall(SYS_chown, path(a[0].text), a[1].number, a[2].number);
}

static long run_lchown(const struct argument *a)
{
	return syscall(SYS_lchown, path(a[0].text), a[1].number, a[2].number);
}

static long run_fchown(const struct argument *a)
{
	return syscall(SYS_fchown, slot(a[0].number), a[1].number, a[2].number);
}

static long run_fchownat(const struct argument *a)
{
	return syscall(SYS_fchownat, dirfd_of(a[0].number), path(a[1].text), a[2].number,
		       a[3].number, a[4].number);
}

static struct timespec *times_of(long access, long modify)
{
	static struct timespec times[2];
	long given[2] = {access, modify};

	for (int i = 0; i < 2; i++) {
		times[i] = (struct timespec){given[i], 5};
		if (given[i] < 0)
			times[i] = (struct timespec){0, given[i] == -1 ? UTIME_NOW : UTIME_OMIT};
	}
	return times;
}

static long run_utimensat(const struct argument *a)
{
	return syscall(SYS_utimensat, dirfd_of(a[0].number), path(a[1].text),
		       times_of(a[2].number, a[3].number), a[4].number);
}

static long run_futimens(const struct argument *a)
{
	return syscall(SYS_utimensat, slot(a[0].number), NULL, times_of(a[1].number, a[2].number),
		       0);
}

static long run_umask(const struct argument *a)
{
	return umask((mode_t)a[0].number);
}

static long run_user(const struct argument *a)
{
	static const struct {
		uid_t uid;
		gid_t gid;
		int group_count;
		gid_t groups[1];
	} users[] = {{0, 0, 0, {0}},
		     {1000, 1000, 0, {0}},
		     {1001, 1001, 1, {1000}},
		     {1002, 1000, 0, {0}}};
	long who = a[0].number & 3;

	if (syscall(SYS_setresuid, -1, 0, -1))
		return -1;
	if (syscall(SYS_setgroups, users[who].group_count, users[who].groups) ||
	    syscall(SYS_setresgid, -1, users[who].gid, -1))
		return -1;
	return syscall(SYS_setresuid, -1, users[who].uid, -1);
}

/* For good: what is real and saved, too. */
static long run_become(const struct argument *a)
{
	long uid = 1000 + (a[0].number & 1);

	syscall(SYS_setresuid, -1, 0, -1);
	syscall(SYS_setgroups, 0, NULL);
	return syscall(SYS_setresgid, uid, uid, uid) ? -1 : syscall(SYS_setresuid, uid, uid, uid);
}

/* ---- extended attributes
 * ------------------------------------------------------------------------- */

static long run_setxattr(const struct argument *a)
{
	return syscall(SYS_setxattr, path(a[0].text), path(a[1].text), pattern(a[2].number),
		       a[2].number, a[3].number);
}

static long run_lsetxattr(const struct argument *a)
{
	return syscall(SYS_lsetxattr, path(a[0].text), path(a[1].text), pattern(a[2].number),
		       a[2].number, a[3].number);
}

static long run_fsetxattr(const struct argument *a)
{
	return syscall(SYS_fsetxattr, slot(a[0].number), path(a[1].text), pattern(a[2].number),
		       a[2].number, a[3].number);
}

static long run_getxattr(const struct argument *a)
{
	long result = syscall(SYS_getxattr, path(a[0].text), path(a[1].text), data, a[2].number);

	return a[2].number ? show_data(result) : result;
}

static long run_fgetxattr(const struct argument *a)
{
	long result = syscall(SYS_fgetxattr, slot(a[0].number), path(a[1].text), data, a[2].number);

	return a[2].number ? show_data(result) : result;
}

static long run_listxattr(const struct argument *a)
{
	char *names[100];
	long result = syscall(SYS_llistxattr, path(a[0].text), data, sizeof(data));
	int count = 0;

	for (char *name = data; result > 0 && name < data + result && count < 100;
	     name += strlen(name) + 1)
		names[count++] = name;
	qsort(names, (size_t)count, sizeof(names[0]), by_name);
	for (int i = 0; i < count; i++)
		say(" %.20s", names[i]);
	return result;
}

static long run_removexattr(const struct argument *a)
{
	return syscall(SYS_removexattr, path(a[0].text), path(a[1].text));
}

static long run_fremovexattr(const struct argument *a)
{
	return syscall(SYS_fremovexattr, slot(a[0].number), path(a[1].text));
}

/* ---- mappings
 * ------------------------------------------------------------------------------------ */

static sigjmp_buf after_fault;

static void take_fault(int signo)
{
	siglongjmp(after_fault, signo);
}

static long run_mmap(const struct argument *a)
{
	long which = a[0].number % MAPPINGS;
	int fd = slot(a[1].number);
	/* a page of a file, or in the middle of one: EINVAL */
	void *got = mmap(MAPPING(which), (size_t)a[3].number * PAGE, (int)a[4].number,
			 (int)a[5].number | MAP_FIXED, fd, a[2].number);

	if (got == MAP_FAILED)
		return -1;
	*filled = true;
	if (mapping_fds[which] >= 0)
		close(mapping_fds[which]);
	mapping_fds[which] = fcntl(fd, F_DUPFD_CLOEXEC, 100 + (int)which);
	return 0;
}

static long run_munmap(const struct argument *a)
{
	return munmap(MAPPING(a[0].number % MAPPINGS) + a[1].number / PAGE * PAGE,
		      (size_t)a[2].number * PAGE);
}

static long run_mprotect(const struct argument *a)
{
	return mprotect(MAPPING(a[0].number % MAPPINGS) + a[1].number / PAGE * PAGE,
			(size_t)a[2].number * PAGE, (int)a[3].number);
}

static long run_msync(const struct argument *a)
{
	return msync(MAPPING(a[0].number % MAPPINGS) + a[1].number / PAGE * PAGE,
		     (size_t)a[2].number * PAGE, (int)a[3].number);
}

static long run_madvise(const struct argument *a)
{
	return madvise(MAPPING(a[0].number % MAPPINGS) + a[1].number / PAGE * PAGE,
		       (size_t)a[2].number * PAGE, (int)a[3].number);
}

/* Read the byte, or with @value write it; the number of the signal that came of it. */
static int touch(volatile char *at, int *value, bool write)
{
	int signo = sigsetjmp(after_fault, 1);

	if (signo)
		say(" signal %d", signo);
	else if (write)
		*at = (char)*value;
	else
		*value = (unsigned char)*at;
	return signo;
}

static long run_peek(const struct argument *a)
{
	int value = 0;

	return touch(MAPPING(a[0].number % MAPPINGS) + a[1].number, &value, false) ? 0 : value;
}

/* Not between the end of the file and that of its page. Where in the file the mapping begins is not
 * known here: a page's place in the file is the file's size's in its last page at worst. */
static long run_poke(const struct argument *a)
{
	long which = a[0].number % MAPPINGS;
	int value = 'A' + (int)(step % 26);
	struct stat st;

	if (mapping_fds[which] < 0 || fstat(mapping_fds[which], &st) ||
	    a[1].number % PAGE >= (st.st_size - 1) % PAGE + 1) {
		say(" not done");
		return 0;
	}
	touch(MAPPING(which) + a[1].number, &value, true);
	return 0;
}

/* ---- mounts
 * --------------------------------------------------------------------------------------- */

static long run_mount(const struct argument *a)
{
	*mounted = true;
	return mount("none", path(a[0].text), "tmpfs", (unsigned long)a[1].number,
		     a[1].number ? "mode=777" : "");
}

static long run_bind(const struct argument *a)
{
	*mounted = true;
	return mount(path(a[0].text), path(a[1].text), NULL, MS_BIND, NULL);
}

static long run_move(const struct argument *a)
{
	*mounted = true;
	return mount(path(a[0].text), path(a[1].text), NULL, MS_MOVE, NULL);
}

static long run_remount_bind(const struct argument *a)
{
	return mount("none", path(a[0].text), NULL,
		     MS_REMOUNT | MS_BIND | (unsigned long)a[1].number, NULL);
}

/* Of a tmpfs of this sequence only: the file system that all of them live on stays as it is. */
static long run_remount(const struct argument *a)
{
	struct stat here, there;
	struct statfs fs;

	if (stat("/", &here) || stat(path(a[0].text), &there) || statfs(path(a[0].text), &fs) ||
	    here.st_dev == there.st_dev || fs.f_type != TMPFS_MAGIC) {
		say(" not done");
		return 0;
	}
	return mount("none", path(a[0].text), NULL, MS_REMOUNT | (unsigned long)a[1].number, NULL);
}

static long run_umount(const struct argument *a)
{
	return umount2(path(a[0].text), (int)a[1].number);
}

/* What follows runs in a child, which has all that this process has: perform() sees to it. */
static long run_fork(const struct argument *a)
{
	(void)a;
	return 0;
}

/* ---- what works
 * ------------------------------------------------------------------------------------ */

static bool not_error(long result, int error)
{
	return result != -1 || errno != error;
}

static int scratch(void)
{
	return open("probe", O_RDWR | O_CREAT | O_TRUNC, 0644);
}

#define CALL_WORKS(name)                                                                           \
	static bool name##_works(void)                                                             \
	{                                                                                          \
		return not_error(syscall(SYS_##name, -1L, -1L, -1L, -1L, -1L, -1L), ENOSYS);       \
	}

CALL_WORKS(flock)
CALL_WORKS(copy_file_range)
CALL_WORKS(preadv)
CALL_WORKS(pwritev)
CALL_WORKS(statx)
CALL_WORKS(faccessat2)
CALL_WORKS(renameat2)
CALL_WORKS(sendfile)
CALL_WORKS(mknod)

static bool exchange_works(void)
{
	int fd = scratch(), other = open("probe2", O_RDWR | O_CREAT, 0644);

	close(fd);
	close(other);
	return renameat2_works() &&
	       !syscall(SYS_renameat2, AT_FDCWD, "probe", AT_FDCWD, "probe2", 2);
}

static bool tmpfile_works(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	close(fd);
	return fd >= 0;
}

static bool locks_work(void)
{
	struct flock lock = {.l_type = F_RDLCK};
	int fd = scratch(), result = fcntl(fd, F_SETLK, &lock);

	close(fd);
	return !result;
}

static bool ofd_locks_work(void)
{
	struct flock lock = {.l_type = F_RDLCK};
	int fd = scratch(), result = fcntl(fd, F_OFD_SETLK, &lock);

	close(fd);
	return !result;
}

static bool xattr_works(void)
{
	int fd = scratch(), result = (int)syscall(SYS_fsetxattr, fd, "user.a", "a", 1, 0);

	close(fd);
	return !result;
}

static bool punch_works(void)
{
	int fd = scratch(), result;

	if (ftruncate(fd, 100000))
		return false;
	result = (int)syscall(SYS_fallocate, fd, 3, 0L, 4096L);
	close(fd);
	return !result;
}

static bool holes_are_seen(void)
{
	int fd = scratch();
	bool seen = !ftruncate(fd, 100000) && lseek(fd, 0, SEEK_DATA) == -1;

	close(fd);
	return seen;
}

static bool bind_works(void)
{
	bool works;

	mkdir("probe.d", 0755);
	mkdir("probe.e", 0755);
	works = !mount("probe.d", "probe.e", NULL, MS_BIND, NULL);
	if (works)
		umount("probe.e");
	return works;
}

static bool move_works(void)
{
	bool works;

	mkdir("probe.d", 0755);
	mkdir("probe.e", 0755);
	works = !mount("none", "probe.d", "tmpfs", 0, NULL) &&
		!mount("probe.d", "probe.e", NULL, MS_MOVE, NULL);
	umount("probe.e");
	umount("probe.d");
	return works;
}

/* The other file system has what this one has, too. */
static bool mount_works(void)
{
	bool works = !xattr_works();

	mkdir("probe.d", 0755);
	if (!works && !mount("none", "probe.d", "tmpfs", 0, NULL)) {
		works = !syscall(SYS_setxattr, "probe.d", "user.a", "a", 1, 0);
		umount("probe.d");
	}
	return works;
}

static bool remount_works(void)
{
	bool works;

	mkdir("probe.d", 0755);
	works = !mount("none", "probe.d", "tmpfs", 0, NULL) &&
		!mount("none", "probe.d", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
	umount("probe.d");
	return works;
}

const struct kind kinds[] = {
	{"open", "fnFm", 'b', 60, run_open, NULL},
	{"openat", "fdnFm", 'b', 10, run_openat, NULL},
	{"tmpfile", "fnm", 'i', 5, run_tmpfile, tmpfile_works},
	{"close", "f", 'i', 12, run_close, NULL},
	{"dup", "ff", 'i', 6, run_dup, NULL},
	{"read", "fs", 'i', 12, run_read, NULL},
	{"write", "fs", 'i', 30, run_write, NULL},
	{"pread", "fso", 'i', 12, run_pread, NULL},
	{"pwrite", "fso", 'i', 20, run_pwrite, NULL},
	{"preadv", "fso", 'i', 4, run_preadv, preadv_works},
	{"pwritev", "fso", 'i', 4, run_pwritev, pwritev_works},
	{"writev", "fs", 'i', 4, run_writev, NULL},
	{"lseek", "fow", 'i', 12, run_lseek, NULL},
	{"seek_data", "foV", 'i', 8, run_seek_data, holes_are_seen},
	{"truncate", "no", 'i', 12, run_truncate, NULL},
	{"ftruncate", "fo", 'i', 14, run_ftruncate, NULL},
	{"fsync", "f", 'i', 2, run_fsync, NULL},
	{"fallocate", "fGoo", 'i', 8, run_fallocate, punch_works},
	{"sendfile", "ffos", 'i', 4, run_sendfile, sendfile_works},
	{"copy_range", "fofos", 'i', 8, run_copy_range, copy_file_range_works},
	{"flock", "fH", 'l', 8, run_flock, flock_works},
	{"setlk", "fIoo", 'l', 8, run_setlk, locks_work},
	{"getlk", "fIoo", 'l', 5, run_getlk, locks_work},
	{"ofd_setlk", "fIoo", 'l', 5, run_ofd_setlk, ofd_locks_work},
	{"getfl", "f", 'i', 3, run_getfl, NULL},
	{"append", "fV", 'i', 3, run_append, NULL},
	{"mkdir", "nm", 'n', 40, run_mkdir, NULL},
	{"mkdirat", "dnm", 'n', 8, run_mkdirat, NULL},
	{"mknod", "nT", 'n', 8, run_mknod, mknod_works},
	{"rmdir", "n", 'n', 18, run_rmdir, NULL},
	{"unlink", "n", 'n', 22, run_unlink, NULL},
	{"unlinkat", "dnA", 'n', 8, run_unlinkat, NULL},
	{"link", "nn", 'n', 22, run_link, NULL},
	{"linkat", "dndnB", 'n', 8, run_linkat, NULL},
	{"symlink", "Nn", 'n', 22, run_symlink, NULL},
	{"symlinkat", "Ndn", 'n', 4, run_symlinkat, NULL},
	{"readlink", "dns", 'n', 8, run_readlink, NULL},
	{"rename", "nn", 'n', 40, run_rename, NULL},
	{"renameat2", "dndnC", 'n', 18, run_renameat2, exchange_works},
	{"chdir", "n", 'n', 10, run_chdir, NULL},
	{"fchdir", "f", 'n', 4, run_fchdir, NULL},
	{"getcwd", "s", 'n', 4, run_getcwd, NULL},
	{"list", "f", 'n', 8, run_list, NULL},
	{"ls", "n", 'n', 8, run_ls, NULL},
	{"stat", "n", 'a', 10, run_stat, NULL},
	{"lstat", "n", 'a', 10, run_lstat, NULL},
	{"fstat", "f", 'a', 10, run_fstat, NULL},
	{"fstatat", "dnD", 'a', 6, run_fstatat, NULL},
	{"statx", "dnD", 'a', 6, run_statx, statx_works},
	{"atime", "n", 'a', 6, run_atime, NULL},
	{"access", "nV", 'a', 8, run_access, NULL},
	{"faccessat2", "dnVE", 'a', 6, run_faccessat2, faccessat2_works},
	{"chmod", "nm", 'a', 16, run_chmod, NULL},
	{"fchmod", "fm", 'a', 6, run_fchmod, NULL},
	{"fchmodat", "dnm", 'a', 4, run_fchmodat, NULL},
	{"chown", "nug", 'a', 12, run_chown, NULL},
	{"lchown", "nug", 'a', 4, run_lchown, NULL},
	{"fchown", "fug", 'a', 5, run_fchown, NULL},
	{"fchownat", "dnugD", 'a', 4, run_fchownat, NULL},
	{"utimensat", "dnttD", 'a', 10, run_utimensat, NULL},
	{"futimens", "ftt", 'a', 6, run_futimens, NULL},
	{"umask", "m", 'a', 4, run_umask, NULL},
	{"user", "L", 'a', 30, run_user, NULL},
	{"become", "L", 'a', 2, run_become, NULL},
	{"setxattr", "nJzK", 'x', 10, run_setxattr, xattr_works},
	{"lsetxattr", "nJzK", 'x', 3, run_lsetxattr, xattr_works},
	{"fsetxattr", "fJzK", 'x', 6, run_fsetxattr, xattr_works},
	{"getxattr", "nJs", 'x', 5, run_getxattr, xattr_works},
	{"fgetxattr", "fJs", 'x', 5, run_fgetxattr, xattr_works},
	{"listxattr", "n", 'x', 5, run_listxattr, xattr_works},
	{"removexattr", "nJ", 'x', 5, run_removexattr, xattr_works},
	{"fremovexattr", "fJ", 'x', 3, run_fremovexattr, xattr_works},
	{"mmap", "pfqlPQ", 'm', 20, run_mmap, NULL},
	{"munmap", "pal", 'm', 4, run_munmap, NULL},
	{"mprotect", "palP", 'm', 4, run_mprotect, NULL},
	{"msync", "palW", 'm', 4, run_msync, NULL},
	{"madvise", "palR", 'm', 4, run_madvise, NULL},
	{"peek", "pa", 'm', 16, run_peek, NULL},
	{"poke", "pa", 'm', 16, run_poke, NULL},
	{"mount", "XM", 't', 6, run_mount, mount_works},
	{"bind", "XX", 't', 6, run_bind, bind_works},
	{"move", "XX", 't', 3, run_move, move_works},
	{"remount_bind", "XM", 't', 4, run_remount_bind, remount_works},
	{"remount", "XM", 't', 3, run_remount, remount_works},
	{"umount", "XU", 't', 6, run_umount, NULL},
	{"fork", "S", 'b', 8, run_fork, NULL},
};
const int kind_count = sizeof(kinds) / sizeof(kinds[0]);
bool absent[sizeof(kinds) / sizeof(kinds[0])];

void operations_start(void)
{
	struct sigaction action = {.sa_handler = take_fault, .sa_flags = SA_NODEFER};

	for (int i = 0; i < SLOTS; i++)
		slots[i] = -1;
	for (int i = 0; i < MAPPINGS; i++)
		mapping_fds[i] = -1;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
}

static void perform_one(const struct operation *operation)
{
	char text[300];
	long result;

	print_operation(operation, text, sizeof(text));
	say("%ld %s:", step, text);
	errno = 0;
	result = operation->kind->run(operation->arguments);
	/* Linux has changed its mind about which of two refusals comes first ... */
	if (!strcmp(operation->kind->name, "truncate") && errno == EROFS)
		errno = EACCES;
	/* ... and about where nothing can be mounted. */
	if (operation->kind->theme == 't' && errno == ENOENT)
		errno = EINVAL;
	if (result == -1)
		say(" %s\n", error_name(errno));
	else
		say(" = %ld\n", result);
}

void perform(const struct sequence *sequence, int first, int end)
{
	for (int i = first; i < end; i++) {
		const struct operation *operation = &sequence->operations[i];
		int last = i + 1 + (int)operation->arguments[0].number, status = 0;
		pid_t pid;

		step = i;
		if (strcmp(operation->kind->name, "fork")) {
			perform_one(operation);
			continue;
		}
		if (last > end)
			last = end;
		say("%d fork\n", i);
		pid = fork();
		if (!pid) {
			alarm(30);
			perform(sequence, i + 1, last);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			say("%d the child: %d, %s\n", i, status, error_name(errno));
		i = last - 1;
	}
}
