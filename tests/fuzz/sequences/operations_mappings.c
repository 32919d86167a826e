/*
 * operations_mappings.c - operations on mappings of files, and on mounts.
 */
#include "operations.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#define TMPFS_MAGIC 0x01021994

static sigjmp_buf after_fault;

void take_fault(int signo)
{
	siglongjmp(after_fault, signo);
}

long run_mmap(const struct argument *a)
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

long run_munmap(const struct argument *a)
{
	return munmap(MAPPING(a[0].number % MAPPINGS) + a[1].number / PAGE * PAGE,
		      (size_t)a[2].number * PAGE);
}

long run_mprotect(const struct argument *a)
{
	return mprotect(MAPPING(a[0].number % MAPPINGS) + a[1].number / PAGE * PAGE,
			(size_t)a[2].number * PAGE, (int)a[3].number);
}

long run_msync(const struct argument *a)
{
	return msync(MAPPING(a[0].number % MAPPINGS) + a[1].number / PAGE * PAGE,
		     (size_t)a[2].number * PAGE, (int)a[3].number);
}

long run_madvise(const struct argument *a)
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

long run_peek(const struct argument *a)
{
	int value = 0;

	return touch(MAPPING(a[0].number % MAPPINGS) + a[1].number, &value, false) ? 0 : value;
}

/* Not between the end of the file and that of its page. Where in the file the mapping begins is not
 * known here: a page's place in the file is the file's size's in its last page at worst. */
long run_poke(const struct argument *a)
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

long run_mount(const struct argument *a)
{
	*mounted = true;
	return mount("none", path(a[0].text), "tmpfs", (unsigned long)a[1].number,
		     a[1].number ? "mode=777" : "");
}

long run_bind(const struct argument *a)
{
	*mounted = true;
	return mount(path(a[0].text), path(a[1].text), NULL, MS_BIND, NULL);
}

long run_move(const struct argument *a)
{
	*mounted = true;
	return mount(path(a[0].text), path(a[1].text), NULL, MS_MOVE, NULL);
}

long run_remount_bind(const struct argument *a)
{
	return mount("none", path(a[0].text), NULL,
		     MS_REMOUNT | MS_BIND | (unsigned long)a[1].number, NULL);
}

/* Of a tmpfs of this sequence only: the file system that all of them live on stays as it is. */
long run_remount(const struct argument *a)
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

long run_umount(const struct argument *a)
{
	return umount2(path(a[0].text), (int)a[1].number);
}

/* What follows runs in a child, which has all that this process has: perform() sees to it. */
long run_fork(const struct argument *a)
{
	(void)a;
	return 0;
}
