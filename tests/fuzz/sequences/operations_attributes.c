/*
 * operations_attributes.c - operations on attributes: modes, owners, times, extended attributes;
 * whose call it is.
 */
#include "operations.h"

#include <grp.h>

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

long run_stat(const struct argument *a)
{
	struct stat st;
	long result = syscall(SYS_stat, path(a[0].text), &st);

	return say_stat(result, &st);
}

long run_lstat(const struct argument *a)
{
	struct stat st;
	long result = syscall(SYS_lstat, path(a[0].text), &st);

	return say_stat(result, &st);
}

long run_fstat(const struct argument *a)
{
	struct stat st;
	long result = syscall(SYS_fstat, slot(a[0].number), &st);

	return say_stat(result, &st);
}

long run_fstatat(const struct argument *a)
{
	struct stat st;
	long result =
		syscall(SYS_newfstatat, dirfd_of(a[0].number), path(a[1].text), &st, a[2].number);

	return say_stat(result, &st);
}

long run_statx(const struct argument *a)
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

long run_atime(const struct argument *a)
{
	struct stat st;
	long result = syscall(SYS_lstat, path(a[0].text), &st);

	if (!result)
		say_time('a', st.st_atime);
	return result;
}

long run_access(const struct argument *a)
{
	return syscall(SYS_access, path(a[0].text), a[1].number);
}

long run_faccessat2(const struct argument *a)
{
	return syscall(SYS_faccessat2, dirfd_of(a[0].number), path(a[1].text), a[2].number,
		       a[3].number);
}

long run_chmod(const struct argument *a)
{
	return chmod(path(a[0].text), (mode_t)a[1].number);
}

long run_fchmod(const struct argument *a)
{
	return syscall(SYS_fchmod, slot(a[0].number), a[1].number);
}

long run_fchmodat(const struct argument *a)
{
	return syscall(SYS_fchmodat, dirfd_of(a[0].number), path(a[1].text), a[2].number);
}

long run_chown(const struct argument *a)
{
	return syscall(SYS_chown, path(a[0].text), a[1].number, a[2].number);
}

long run_lchown(const struct argument *a)
{
	return syscall(SYS_lchown, path(a[0].text), a[1].number, a[2].number);
}

long run_fchown(const struct argument *a)
{
	return syscall(SYS_fchown, slot(a[0].number), a[1].number, a[2].number);
}

long run_fchownat(const struct argument *a)
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

long run_utimensat(const struct argument *a)
{
	return syscall(SYS_utimensat, dirfd_of(a[0].number), path(a[1].text),
		       times_of(a[2].number, a[3].number), a[4].number);
}

long run_futimens(const struct argument *a)
{
	return syscall(SYS_utimensat, slot(a[0].number), NULL, times_of(a[1].number, a[2].number),
		       0);
}

long run_umask(const struct argument *a)
{
	return umask((mode_t)a[0].number);
}

long run_user(const struct argument *a)
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
long run_become(const struct argument *a)
{
	long uid = 1000 + (a[0].number & 1);

	syscall(SYS_setresuid, -1, 0, -1);
	syscall(SYS_setgroups, 0, NULL);
	return syscall(SYS_setresgid, uid, uid, uid) ? -1 : syscall(SYS_setresuid, uid, uid, uid);
}

/* ---- extended attributes
 * ------------------------------------------------------------------------- */

long run_setxattr(const struct argument *a)
{
	return syscall(SYS_setxattr, path(a[0].text), path(a[1].text), pattern(a[2].number),
		       a[2].number, a[3].number);
}

long run_lsetxattr(const struct argument *a)
{
	return syscall(SYS_lsetxattr, path(a[0].text), path(a[1].text), pattern(a[2].number),
		       a[2].number, a[3].number);
}

long run_fsetxattr(const struct argument *a)
{
	return syscall(SYS_fsetxattr, slot(a[0].number), path(a[1].text), pattern(a[2].number),
		       a[2].number, a[3].number);
}

long run_getxattr(const struct argument *a)
{
	long result = syscall(SYS_getxattr, path(a[0].text), path(a[1].text), data, a[2].number);

	return a[2].number ? show_data(result) : result;
}

long run_fgetxattr(const struct argument *a)
{
	long result = syscall(SYS_fgetxattr, slot(a[0].number), path(a[1].text), data, a[2].number);

	return a[2].number ? show_data(result) : result;
}

long run_listxattr(const struct argument *a)
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

long run_removexattr(const struct argument *a)
{
	return syscall(SYS_removexattr, path(a[0].text), path(a[1].text));
}

long run_fremovexattr(const struct argument *a)
{
	return syscall(SYS_fremovexattr, slot(a[0].number), path(a[1].text));
}
