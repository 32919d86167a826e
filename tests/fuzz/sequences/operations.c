/*
 * operations.c - the calls that sequences are made of: what they share, the table of all, and how
 * one is performed. The calls themselves are in operations_NAME.c.
 *
 * Descriptors live in eight slots; an empty slot is descriptor -1. Three mappings live at fixed
 * addresses, each with a descriptor of its own far above the others, by which is known how much of
 * it may be touched: what lies between a file's end and its page's end is nobody's business.
 * All calls are raw: no C library mends what the kernel does.
 */
#include "operations.h"

#include <signal.h>
#include <sys/wait.h>

long step;
int slots[SLOTS];
int mapping_fds[MAPPINGS];
char data[80000];

int slot(long i)
{
	return slots[i & (SLOTS - 1)];
}

int dirfd_of(long i)
{
	return i < 0 ? AT_FDCWD : slot(i);
}

const char *path(const char *text)
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

long into_slot(long i, long fd)
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

const char *pattern(long size)
{
	for (long i = 0; i < size; i++)
		data[i] = (char)('a' + (step * 7 + i / 13 + i) % 26);
	return data;
}

long show_data(long n)
{
	if (n > 0)
		say(" %08x", checksum(data, (size_t)n, 0));
	return n;
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
