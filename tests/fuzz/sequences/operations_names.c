/*
 * operations_names.c - operations on names: make, link, rename, remove, walk, list.
 */
#include "operations.h"

#include <dirent.h>

long run_mkdir(const struct argument *a)
{
	return mkdir(path(a[0].text), (mode_t)a[1].number);
}

long run_mkdirat(const struct argument *a)
{
	return syscall(SYS_mkdirat, dirfd_of(a[0].number), path(a[1].text), a[2].number);
}

long run_mknod(const struct argument *a)
{
	return syscall(SYS_mknod, path(a[0].text), a[1].number, 0x103);
}

long run_rmdir(const struct argument *a)
{
	return rmdir(path(a[0].text));
}

long run_unlink(const struct argument *a)
{
	return unlink(path(a[0].text));
}

long run_unlinkat(const struct argument *a)
{
	return syscall(SYS_unlinkat, dirfd_of(a[0].number), path(a[1].text), a[2].number);
}

long run_link(const struct argument *a)
{
	return link(path(a[0].text), path(a[1].text));
}

long run_linkat(const struct argument *a)
{
	return syscall(SYS_linkat, dirfd_of(a[0].number), path(a[1].text), dirfd_of(a[2].number),
		       path(a[3].text), a[4].number);
}

long run_symlink(const struct argument *a)
{
	return symlink(path(a[0].text), path(a[1].text));
}

long run_symlinkat(const struct argument *a)
{
	return syscall(SYS_symlinkat, path(a[0].text), dirfd_of(a[1].number), path(a[2].text));
}

long run_readlink(const struct argument *a)
{
	return show_data(
		syscall(SYS_readlinkat, dirfd_of(a[0].number), path(a[1].text), data, a[2].number));
}

long run_rename(const struct argument *a)
{
	return rename(path(a[0].text), path(a[1].text));
}

long run_renameat2(const struct argument *a)
{
	return syscall(SYS_renameat2, dirfd_of(a[0].number), path(a[1].text), dirfd_of(a[2].number),
		       path(a[3].text), a[4].number);
}

long run_chdir(const struct argument *a)
{
	return chdir(path(a[0].text));
}

long run_fchdir(const struct argument *a)
{
	return fchdir(slot(a[0].number));
}

long run_getcwd(const struct argument *a)
{
	long result = syscall(SYS_getcwd, data, a[0].number);

	if (result > 0)
		say(" %.*s", result > 60 ? 60 : (int)result, data);
	return result;
}

int by_name(const void *a, const void *b)
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

long run_list(const struct argument *a)
{
	return list(slot(a[0].number));
}

long run_ls(const struct argument *a)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path(a[0].text), O_RDONLY | O_DIRECTORY);
	long result = fd < 0 ? -1 : list(fd);

	if (fd >= 0)
		close(fd);
	return result;
}
