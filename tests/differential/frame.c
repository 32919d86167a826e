/*
 * frame.c - runs the scenarios and prints their lines. Usage: scenarios [-l] [DIRECTORY [NAME...]]
 */
#include "scenarios.h"

#include <ftw.h>

#define MAX_SCENARIOS 600

struct scenario {
	int line;
	const char *file, *name;
	scenario_function function;
};

static struct scenario scenarios[MAX_SCENARIOS];
static int count;

void scenario_register(int line, const char *file, const char *name, scenario_function function)
{
	if (count == MAX_SCENARIOS)
		_exit(fprintf(stderr, "more scenarios than %d\n", count) > 0); /* none is left out */
	scenarios[count++] = (struct scenario){line, file, name, function};
}

static const struct {
	int number;
	const char *name;
} errors[] = {
#define E(name) {name, #name}
	E(EPERM), E(ENOENT), E(ESRCH), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC), E(EBADF),
	E(ECHILD), E(EAGAIN), E(ENOMEM), E(EACCES), E(EFAULT), E(ENOTBLK), E(EBUSY), E(EEXIST),
	E(ENOTSOCK), E(EMSGSIZE), E(EPROTOTYPE), E(ENOPROTOOPT), E(EPROTONOSUPPORT),
	E(ESOCKTNOSUPPORT), E(EAFNOSUPPORT), E(EADDRINUSE), E(ECONNRESET), E(ENOBUFS),
	E(EISCONN), E(ENOTCONN), E(ETOOMANYREFS), E(ECONNREFUSED),
	E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR), E(EINVAL), E(ENFILE), E(EMFILE), E(ENOTTY),
	E(ETXTBSY), E(EFBIG), E(ENOSPC), E(ESPIPE), E(EROFS), E(EMLINK), E(EPIPE), E(EDOM),
	E(ERANGE), E(EDEADLK), E(ENAMETOOLONG), E(ENOLCK), E(ENOSYS), E(ENOTEMPTY), E(ELOOP),
	E(EOVERFLOW), E(EOPNOTSUPP), E(ESTALE), E(ENODATA), E(ETIMEDOUT),
#undef E
};

static const char *error_name(int number)
{
	static char other[16];

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == number)
			return errors[i].name;
	snprintf(other, sizeof(other), "E%d", number);
	return other;
}

long show(const char *what, long result)
{
	int error = errno;

	if (result == -1)
		printf(" %s=%s", what, error_name(error));
	else
		printf(" %s=%ld", what, result);
	fflush(stdout);
	errno = error;
	return result;
}

void say(const char *format, ...)
{
	va_list args;

	putchar(' ');
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	fflush(stdout);
}

static void give_up(const char *what, const char *name)
{
	printf(" PREPARATION FAILED: %s %s: %s", what, name, error_name(errno));
	fflush(stdout);
	_exit(1);
}

int make_file(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
	ssize_t length = (ssize_t)strlen(text);

	if (fd < 0 || write(fd, text, (size_t)length) != length)
		give_up("file", name);
	close(fd);
	return 0;
}

void make_directory(const char *name)
{
	if (mkdir(name, 0755))
		give_up("directory", name);
}

void slurp(const char *name)
{
	char buffer[4096];
	int fd = open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0) {
		say("%s:%s", name, error_name(errno));
		return;
	}
	n = read(fd, buffer, sizeof(buffer) - 1);
	close(fd);
	if (n < 0)
		n = 0;
	buffer[n] = 0;
	for (ssize_t i = 0; i < n; i++)
		if (buffer[i] == 0)
			buffer[i] = '~';
		else if (buffer[i] == '\n')
			buffer[i] = '|';
	say("%s:\"%s\"", name, buffer);
}

void show_mode(const char *name)
{
	struct stat st;

	if (lstat(name, &st))
		say("%s:%s", name, error_name(errno));
	else
		say("%s:%06o", name, st.st_mode);
}

void show_owner(const char *name)
{
	struct stat st;

	if (lstat(name, &st))
		say("%s:%s", name, error_name(errno));
	else
		say("%s:%u:%u", name, st.st_uid, st.st_gid);
}

void show_links(const char *name)
{
	struct stat st;

	if (lstat(name, &st))
		say("%s:%s", name, error_name(errno));
	else
		say("%s:links=%lu", name, (unsigned long)st.st_nlink);
}

void show_size(const char *name)
{
	struct stat st;

	if (lstat(name, &st))
		say("%s:%s", name, error_name(errno));
	else
		say("%s:size=%lld", name, (long long)st.st_size);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void list(const char *name)
{
	char *names[256];
	struct dirent *entry;
	int n = 0;
	DIR *dir = opendir(name);

	if (!dir) {
		say("%s:%s", name, error_name(errno));
		return;
	}
	while (n < 256 && (entry = readdir(dir)))
		names[n++] = strdup(entry->d_name);
	closedir(dir);
	qsort(names, (size_t)n, sizeof(names[0]), by_name);
	printf(" %s:[", name);
	for (int i = 0; i < n; i++)
		printf("%s%s", i ? " " : "", names[i]);
	printf("]");
	fflush(stdout);
}

void drop_caches(void)
{
	struct statfs fs;
	int fd;

	if (statfs(".", &fs) || fs.f_type != 0xef53)
		return;
	sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	if (write(fd, "3", 1) != 1)
		give_up("drop_caches", "");
	close(fd);
}

void pause_ms(long ms)
{
	struct timespec span = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&span, &span) && errno == EINTR)
		;
}

void until_asleep(pid_t pid)
{
	char name[40], text[200];

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	for (;;) {
		int fd = open(name, O_RDONLY);
		ssize_t n = read(fd, text, sizeof(text) - 1);
		char *state;

		close(fd);
		text[n > 0 ? n : 0] = 0;
		state = strrchr(text, ')');
		if (!state || state[2] == 'S' || state[2] == 'Z')
			return;
		usleep(1000);
	}
}

bool as_begin(uid_t uid, gid_t gid)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		give_up("fork", "");
	if (pid > 0) {
		waitpid(pid, NULL, 0);
		return false;
	}
	if (setgroups(0, NULL) || setgid(gid) || setuid(uid))
		give_up("setuid", "");
	printf(" (%u:", uid);
	return true;
}

void as_end(void)
{
	printf(")");
	fflush(stdout);
	_exit(0);
}

/* ---- running --------------------------------------------------------------------------------- */

static int remove_one(const char *name, const struct stat *st, int flag, struct FTW *where)
{
	(void)st, (void)flag, (void)where;
	return remove(name);
}

static int by_place(const void *a, const void *b)
{
	const struct scenario *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : x->line - y->line;
}

static void run(int number, const struct scenario *scenario)
{
	char name[32];
	int status;
	pid_t pid;

	printf("%03d %s:", number, scenario->name);
	fflush(stdout);
	snprintf(name, sizeof(name), "s%03d", number);
	if (mkdir(name, 0755) || chmod(name, 0755)) {
		printf(" mkdir: %s\n", error_name(errno));
		return;
	}
	pid = fork();
	if (pid == 0) {
		if (chdir(name))
			_exit(2);
		umask(022);
		alarm(20);
		scenario->function();
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		printf(" fork or wait: %s", error_name(errno));
	else if (WIFSIGNALED(status))
		printf(" SIGNAL %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		printf(" EXIT %d", WEXITSTATUS(status));
	printf("\n");
	fflush(stdout);
	nftw(name, remove_one, 100, FTW_DEPTH | FTW_PHYS);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	if (argc <= 2)
		return true;
	for (int i = 2; i < argc; i++)
		if (!strcmp(name, argv[i]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	qsort(scenarios, (size_t)count, sizeof(scenarios[0]), by_place);
	if (argc > 1 && !strcmp(argv[1], "-l")) {
		for (int i = 0; i < count; i++)
			puts(scenarios[i].name);
		return 0;
	}
	if (argc > 1 && chdir(argv[1])) {
		perror(argv[1]);
		return 2;
	}
	for (int i = 0; i < count; i++)
		if (is_wanted(scenarios[i].name, argc, argv))
			run(i + 1, &scenarios[i]);
	printf("%d scenarios\n", count);
	return 0;
}

void copy_myself(const char *name, mode_t mode)
{
	int from = open("/proc/self/exe", O_RDONLY), to = open(name, O_CREAT | O_WRONLY, 0755);

	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(from);
	close(to);
	chmod(name, mode);
}
