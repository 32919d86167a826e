/*
 * operations_works.c - what the kernel has: asked once, before sequences are generated.
 */
#include "operations.h"

#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>

static bool not_error(long result, int error)
{
	return result != -1 || errno != error;
}

static int scratch(void)
{
	return open("probe", O_RDWR | O_CREAT | O_TRUNC, 0644);
}

#define CALL_WORKS(name)                                                                           \
	bool name##_works(void)                                                                    \
	{                                                                                          \
		return not_error(syscall(SYS_##name, -1L, -1L, -1L, -1L, -1L, -1L), ENOSYS);       \
	}

CALL_WORKS(flock)
CALL_WORKS(preadv)
CALL_WORKS(pwritev)
CALL_WORKS(statx)
CALL_WORKS(faccessat2)
CALL_WORKS(renameat2)
CALL_WORKS(sendfile)
CALL_WORKS(mknod)

/* Without its room it is refused as between file systems that cannot, so that programs go on by themselves. */
bool copy_file_range_works(void)
{
	long result = syscall(SYS_copy_file_range, -1L, NULL, -1L, NULL, 1L, 0L);

	return not_error(result, ENOSYS) && not_error(result, EOPNOTSUPP);
}

bool exchange_works(void)
{
	int fd = scratch(), other = open("probe2", O_RDWR | O_CREAT, 0644);

	close(fd);
	close(other);
	return renameat2_works() &&
	       !syscall(SYS_renameat2, AT_FDCWD, "probe", AT_FDCWD, "probe2", 2);
}

bool tmpfile_works(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	close(fd);
	return fd >= 0;
}

bool locks_work(void)
{
	struct flock lock = {.l_type = F_RDLCK};
	int fd = scratch(), result = fcntl(fd, F_SETLK, &lock);

	close(fd);
	return !result;
}

bool ofd_locks_work(void)
{
	struct flock lock = {.l_type = F_RDLCK};
	int fd = scratch(), result = fcntl(fd, F_OFD_SETLK, &lock);

	close(fd);
	return !result;
}

bool xattr_works(void)
{
	int fd = scratch(), result = (int)syscall(SYS_fsetxattr, fd, "user.a", "a", 1, 0);

	close(fd);
	return !result;
}

bool punch_works(void)
{
	int fd = scratch(), result;

	if (ftruncate(fd, 100000))
		return false;
	result = (int)syscall(SYS_fallocate, fd, 3, 0L, 4096L);
	close(fd);
	return !result;
}

bool holes_are_seen(void)
{
	int fd = scratch();
	bool seen = !ftruncate(fd, 100000) && lseek(fd, 0, SEEK_DATA) == -1;

	close(fd);
	return seen;
}

bool bind_works(void)
{
	bool works;

	mkdir("probe.d", 0755);
	mkdir("probe.e", 0755);
	works = !mount("probe.d", "probe.e", NULL, MS_BIND, NULL);
	if (works)
		umount("probe.e");
	return works;
}

bool move_works(void)
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
bool mount_works(void)
{
	bool works = !xattr_works();

	mkdir("probe.d", 0755);
	if (!works && !mount("none", "probe.d", "tmpfs", 0, NULL)) {
		works = !syscall(SYS_setxattr, "probe.d", "user.a", "a", 1, 0);
		umount("probe.d");
	}
	return works;
}

bool remount_works(void)
{
	bool works;

	mkdir("probe.d", 0755);
	works = !mount("none", "probe.d", "tmpfs", 0, NULL) &&
		!mount("none", "probe.d", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
	umount("probe.d");
	return works;
}
