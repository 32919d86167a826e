/*
 * matrix.c - who may do what: users × modes × owners × calls, a line of cells for each.
 *
 *	matrix DIR
 *
 * "TABLE columns: a b c" names a table's calls; "TABLE what who: x y z" are the outcomes, each the
 * error's name, or ok and what can be seen of it. The same program prints Linux's table and
 * Chainwalk's; lab/check/fuzz/permissions.py names the cells that differ.
 */
#include "matrix.h"

const struct user users[5] = {
	{"root", 0, 0, 0},	    {"owner", 1000, 1000, 0},
	{"primary", 1004, 2000, 0}, {"member", 1002, 1002, 2000},
	{"other", 1003, 1003, 0},
};

const struct owner owners[4] = {{0, 0}, {1000, 1000}, {1000, 2000}, {0, 2000}};

const uid_t ids[3] = {0, 1000, 1001};

struct row *row;
const struct user *me;

void cell(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	row->size += (size_t)vsnprintf(row->text + row->size, sizeof(row->text) - row->size, format,
				       arguments);
	va_end(arguments);
}

const char *error_name(int number)
{
	static const char *const names[] = {
		[EPERM] = "EPERM",	     [ENOENT] = "ENOENT",   [ESRCH] = "ESRCH",
		[ENXIO] = "ENXIO",	     [ENOEXEC] = "ENOEXEC", [EBADF] = "EBADF",
		[EACCES] = "EACCES",	     [EBUSY] = "EBUSY",	    [EEXIST] = "EEXIST",
		[EXDEV] = "EXDEV",	     [ENOTDIR] = "ENOTDIR", [EISDIR] = "EISDIR",
		[EINVAL] = "EINVAL",	     [ETXTBSY] = "ETXTBSY", [EROFS] = "EROFS",
		[ENOTEMPTY] = "ENOTEMPTY",   [ENODATA] = "ENODATA", [EIO] = "EIO",
		[EOPNOTSUPP] = "EOPNOTSUPP", [EFAULT] = "EFAULT",
	};
	static char other[16];

	if (number > 0 && (size_t)number < COUNT(names) && names[number])
		return names[number];
	snprintf(other, sizeof(other), "E%d", number);
	return other;
}

void outcome(long result)
{
	cell(" %s", result == -1 ? error_name(errno) : "ok");
}

static void become(const struct user *user)
{
	if (setgroups(user->group ? 1 : 0, &user->group) ||
	    setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid)) {
		cell(" cannot-become");
		_exit(1);
	}
}

/* True in a child that is @user, which ends with end_as(); false when it has ended. */
bool as(const struct user *user)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid) {
		waitpid(pid, NULL, 0);
		return false;
	}
	become(user);
	return true;
}

void end_as(void)
{
	fflush(stdout);
	_exit(0);
}

void make_file(const char *name, uid_t uid, gid_t gid, mode_t mode)
{
	int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);

	if (fd < 0 || write(fd, "text\n", 5) != 5 || fchown(fd, uid, gid) || fchmod(fd, mode))
		perror(name);
	close(fd);
}

void copy_self(const char *to)
{
	static char data[1 << 20];
	int from = open("/proc/self/exe", O_RDONLY),
	    fd = open(to, O_CREAT | O_WRONLY | O_TRUNC, 0755);
	ssize_t n = read(from, data, sizeof(data));

	if (from < 0 || fd < 0 || n <= 0 || write(fd, data, (size_t)n) != n)
		perror(to);
	close(from);
	close(fd);
}

long close_of(int fd)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return fd < 0 ? -1 : 0;
}

void columns(const char *table, const struct call *calls, size_t count)
{
	printf("%s columns:", table);
	for (size_t i = 0; i < count; i++)
		printf(" %s", calls[i].name);
	printf("\n");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "identity")) {
		print_identity();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "wait"))
		wait_for_ever();
	if (argc < 2 || chdir(argv[1]) || chmod(".", 0777)) {
		perror("matrix DIR");
		return 2;
	}
	umask(0);
	signal(SIGCONT, SIG_IGN);
	signal(SIGWINCH, SIG_IGN);
	row = mmap(NULL, sizeof(*row), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	files();
	directories();
	paths();
	group_lists();
	programs();
	identities();
	signals();
	processes();
	printf("end\n");
	return 0;
}
