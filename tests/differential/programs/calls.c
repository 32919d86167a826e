/*
 * calls.c - scenarios of single calls: times, advice, locked memory, waiting, running by descriptor.
 */
#include "../scenarios.h"

#include <sys/personality.h>

SCENARIO(utime_basic)
{
	const int64_t times[2] = {1000000000, 1234567890};
	struct stat st;

	make_file("f", "x");
	symlink("f", "l");
	T(syscall(SYS_utime, "l", times));
	stat("f", &st);
	say("%ld %ld %ld", (long)st.st_atime, (long)st.st_mtime, st.st_mtim.tv_nsec);
	T(syscall(SYS_utime, "none", times));
	T(syscall(SYS_utime, "f", (void *)8));
	AS(USER_A) {
		T(syscall(SYS_utime, "f", times));
		T(syscall(SYS_utime, "f", NULL));
	}
	chmod("f", 0666);
	AS(USER_A) {
		T(syscall(SYS_utime, "f", times));
		T(syscall(SYS_utime, "f", NULL));
	}
	stat("f", &st);
	T(st.st_mtime > 1234567890);
}

SCENARIO(readahead_basic)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644), fds[2];
	char byte;

	write(fd, "hello", 5);
	T(syscall(SYS_readahead, fd, 0L, 4096L));
	T(syscall(SYS_readahead, fd, 100000L, 4096L));
	T(syscall(SYS_readahead, fd, 0L, 0L));
	T(syscall(SYS_readahead, 99, 0L, 4096L));
	T(syscall(SYS_readahead, open("f", O_WRONLY), 0L, 4096L));
	T(syscall(SYS_readahead, open(".", O_RDONLY), 0L, 4096L));
	pipe(fds);
	T(syscall(SYS_readahead, fds[0], 0L, 4096L));
	T(lseek(fd, 0, SEEK_CUR));
	T(lseek(fd, 0, SEEK_SET));
	T(read(fd, &byte, 1));
}

SCENARIO(sync_range_basic)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644), fds[2];

	write(fd, "hello", 5);
	T(syscall(SYS_sync_file_range, fd, 0L, 0L, 7));
	T(syscall(SYS_sync_file_range, fd, 1L, 2L, 2));
	T(syscall(SYS_sync_file_range, fd, 0L, 0L, 0));
	T(syscall(SYS_sync_file_range, fd, 0L, 0L, 8));
	T(syscall(SYS_sync_file_range, fd, -1L, 0L, 2));
	T(syscall(SYS_sync_file_range, fd, 0L, -1L, 2));
	T(syscall(SYS_sync_file_range, fd, LONG_MAX, 2L, 2));
	T(syscall(SYS_sync_file_range, 99, 0L, 0L, 2));
	pipe(fds);
	T(syscall(SYS_sync_file_range, fds[1], 0L, 0L, 2));
	T(syscall(SYS_sync_file_range, open("/dev/null", O_RDWR), 0L, 0L, 2));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void show_core(void *at, int pages)
{
	unsigned char vector[16];

	memset(vector, 9, sizeof(vector));
	T(mincore(at, (size_t)pages * 4096, vector));
	for (int i = 0; i < pages; i++)
		vector[i] += '0';
	say("%.*s", pages, vector);
}

SCENARIO(mincore_basic)
{
	char *p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char vector[8];
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	char *file;

	p[0] = p[3 * 4096] = 1;
	show_core(p, 8);
	munmap(p + 5 * 4096, 4096);
	show_core(p, 8);
	show_core(p + 5 * 4096, 1);
	T(mincore(p + 1, 4096, vector));
	T(mincore(p, 0, vector));
	T(mincore(p, 1, vector));
	T(mincore(p, 4096, (void *)8));
	T(mincore(p, 4096, (void *)-8L));
	T(mincore((void *)(1L << 60), 4096, vector));
	T(mincore(p, (size_t)-1L, vector));
	ftruncate(fd, 3 * 4096);
	file = mmap(NULL, 3 * 4096, PROT_READ, MAP_SHARED, fd, 0);
	write(fd, "x", 1);
	show_core(file, 1);
}

SCENARIO(mlock_basic)
{
	char *p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	T(mlock(p + 100, 4096));
	show_core(p, 8);
	T(mprotect(p + 4096, 4096, PROT_NONE));
	T(mlock(p, 3 * 4096));
	show_core(p, 8);
	munmap(p + 6 * 4096, 4096);
	T(mlock(p + 5 * 4096, 2 * 4096));
	T(munlock(p + 5 * 4096, 2 * 4096));
	T(munlock(p + 5 * 4096, 4096));
	T(mlock(p + 6 * 4096, 4096));
	T(mlock(p, 0));
	T(mlock(p, -1L));
	T(mlock(p, -8192L));
	T(munlock(p, -8192L));
	T(munlock(p + 1, 1));
	T(syscall(SYS_mlock2, p + 3 * 4096, 4096L, 1));
	show_core(p, 8);
	T(syscall(SYS_mlock2, p + 3 * 4096, 4096L, 0));
	show_core(p, 8);
	T(syscall(SYS_mlock2, p + 3 * 4096, 4096L, 2));
	T(munlockall());
}

SCENARIO(mlock_limits)
{
	struct rlimit two = {8192, 8192}, none = {0, 0};
	char *p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	setrlimit(RLIMIT_MEMLOCK, &two);
	T(mlock(p, 3 * 4096));
	T(munlockall());
	AS(USER_A) {
		T(mlock(p, 3 * 4096));
		T(mlock(p + 1, 8192));
		T(mlock(p, 8192));
		T(munlock(p, 8192));
		T(mlockall(MCL_CURRENT));
		T(mlockall(MCL_FUTURE));
		T(munlockall());
		setrlimit(RLIMIT_MEMLOCK, &none);
		T(mlock(p, 4096));
		T(mlock(p, 0));
		T(mlockall(MCL_CURRENT));
		T(munlock(p, 4096));
		T(munlockall());
	}
}

SCENARIO(mlockall_basic)
{
	char *p = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	T(mlockall(0));
	T(mlockall(8));
	T(mlockall(4));
	T(mlockall(MCL_CURRENT | 4));
	show_core(p, 4);
	T(mlockall(MCL_CURRENT));
	show_core(p, 4);
	T(munlockall());
}

static char *pages(int count)
{
	return mmap(NULL, (size_t)count * 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void limit_locks(rlim_t bytes)
{
	struct rlimit limit = {bytes, bytes};

	setrlimit(RLIMIT_MEMLOCK, &limit);
}

/* Of how many areas the @count pages from @start on are. */
static int areas_of(const char *start, int count)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char rest[512];
	int areas = 0;

	while (fscanf(maps, "%lx-%lx%511[^\n]", &from, &to, rest) == 3)
		areas += from < (unsigned long)start + (unsigned long)count * 4096 && to > (unsigned long)start;
	fclose(maps);
	return areas;
}

/* The first page stays locked, so that of two only one is left. */
SCENARIO(mlock_up_to_a_hole)
{
	char *p = pages(6);

	munmap(p + 4096, 4096);
	limit_locks(2 * 4096);
	AS(USER_A) {
		T(mlock(p, 2 * 4096));
		T(mlock(p + 2 * 4096, 2 * 4096));
		T(mlock(p + 2 * 4096, 4096));
		T(mlock(p + 3 * 4096, 4096));
	}
}

SCENARIO(mlockall_future_has_a_limit)
{
	char *p = pages(2);

	limit_locks(3 * 4096);
	AS(USER_A) {
		T(mlockall(MCL_FUTURE));
		T(mmap(NULL, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
		T(errno);
		T(mmap(NULL, 2 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
		T(mmap(NULL, 2 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
		T(errno);
		T(mlock(p, 2 * 4096));
		T(mlock(p, 4096));
		T(munlockall());
		T(mmap(NULL, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	}
}

SCENARIO(locked_areas_become_one)
{
	char *p = pages(6);

	mprotect(p, 4096, PROT_NONE);
	mprotect(p + 5 * 4096, 4096, PROT_NONE);
	T(areas_of(p + 4096, 4));
	T(mlock(p + 2 * 4096, 4096));
	T(areas_of(p + 4096, 4));
	T(munlock(p + 2 * 4096, 4096));
	T(areas_of(p + 4096, 4));
	T(mlock(p + 2 * 4096, 4096));
	T(mlockall(MCL_CURRENT));
	T(areas_of(p + 4096, 4));
	T(munlock(p + 3 * 4096, 2 * 4096));
	T(areas_of(p + 4096, 4));
	T(munlockall());
	T(areas_of(p + 4096, 4));
}

SCENARIO(personality_basic)
{
	int status;

	T(personality(0xffffffff));
	T(personality(ADDR_NO_RANDOMIZE));
	T(personality(0xffffffff));
	fflush(stdout);
	if (!fork()) {
		T(personality(0xffffffff));
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	T(personality(PER_LINUX));
	T(personality(0xffffffff));
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void show_wait(idtype_t kind, id_t id, int options)
{
	siginfo_t info;

	memset(&info, 0x55, sizeof(info));
	if (T(syscall(SYS_waitid, kind, id, &info, options, NULL)) || !info.si_signo)
		say("signo=%d pid=%d", info.si_signo, info.si_pid);
	else
		say("signo=%d code=%d uid=%d status=%d", info.si_signo, info.si_code, info.si_uid,
		    info.si_status);
}

static pid_t child_that(int status, int signo)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	if (signo)
		raise(signo);
	_exit(status);
}

SCENARIO(waitid_ends)
{
	pid_t pid = child_that(7, 0);
	struct rusage usage;

	memset(&usage, 0x55, sizeof(usage));
	show_wait(P_PID, (id_t)pid, WEXITED | WNOWAIT);
	show_wait(P_ALL, 0, WEXITED | WNOWAIT);
	show_wait(P_PID, (id_t)pid, WSTOPPED | WNOHANG);
	show_wait(P_PID, (id_t)pid, WEXITED);
	show_wait(P_PID, (id_t)pid, WEXITED);
	child_that(0, SIGTERM);
	show_wait(P_ALL, 12345, WEXITED);
	show_wait(P_ALL, 0, WEXITED);
	pid = child_that(3, 0);
	T(syscall(SYS_waitid, P_PID, pid, NULL, WEXITED, &usage));
	T(usage.ru_utime.tv_sec);
	pid = child_that(3, 0);
	T(syscall(SYS_waitid, P_PID, pid, (void *)8, WEXITED, NULL));
	T(waitpid(pid, NULL, 0));
}

SCENARIO(waitid_stops)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		raise(SIGSTOP);
		pause();
	}
	show_wait(P_ALL, 0, WSTOPPED | WNOWAIT);
	show_wait(P_ALL, 0, WEXITED | WNOHANG);
	show_wait(P_ALL, 0, WCONTINUED | WNOHANG);
	show_wait(P_PID, (id_t)pid, WEXITED | WSTOPPED | WCONTINUED);
	show_wait(P_ALL, 0, WSTOPPED | WNOHANG);
	kill(pid, SIGCONT);
	show_wait(P_ALL, 0, WCONTINUED | WNOWAIT);
	T(waitpid(pid, &status, WNOHANG | WCONTINUED) == pid);
	say("%x", status);
	show_wait(P_ALL, 0, WCONTINUED | WNOHANG);
	kill(pid, SIGKILL);
	show_wait(P_PID, (id_t)pid, WEXITED | WSTOPPED);
}

SCENARIO(waitid_groups)
{
	pid_t pid = child_that(1, 0), other;

	show_wait(P_PGID, 0, WEXITED | WNOWAIT);
	show_wait(P_PGID, (id_t)getpgrp(), WEXITED);
	fflush(stdout);
	other = fork();
	if (!other) {
		setpgid(0, 0);
		pause();
	}
	setpgid(other, other);
	show_wait(P_PGID, 0, WEXITED | WNOHANG);
	show_wait(P_PGID, (id_t)other, WEXITED | WNOHANG);
	kill(other, SIGKILL);
	show_wait(P_PGID, (id_t)other, WEXITED);
	(void)pid;
}

SCENARIO(waitid_errors)
{
	pid_t pid = child_that(0, 0);

	show_wait(P_PID, 0, WEXITED);
	show_wait(P_PID, (id_t)-1, WEXITED);
	show_wait(P_PGID, (id_t)-1, WEXITED);
	show_wait(9, 0, WEXITED);
	show_wait(P_ALL, 0, 0);
	show_wait(P_ALL, 0, WNOHANG);
	show_wait(P_ALL, 0, WEXITED | 0x100);
	show_wait(P_PID, 1, WEXITED);
	show_wait(P_PID, (id_t)pid, WEXITED | 0x40000000);
}

/* ---- running --------------------------------------------------------------------------------- */

/* How a child ends that runs what @name is from @dfd. */
static void show_exec(int dfd, const char *name, int flags, const char *argument)
{
	char *argv[] = {"program", (char *)argument, NULL}, *envp[] = {NULL};
	int status;

	fflush(stdout);
	if (!fork()) {
		show(name, syscall(SYS_execveat, dfd, name, argv, envp, flags));
		fflush(stdout);
		_exit(1);
	}
	wait(&status);
	say("status=%x", status);
}

/* A copy of this program, which exits with 2 and says so when its argument is no directory. */
static void copy_self(const char *name)
{
	int in = open("/proc/self/exe", O_RDONLY), out = open(name, O_CREAT | O_WRONLY, 0755);
	struct stat st;

	fstat(in, &st);
	while (sendfile(out, in, NULL, (size_t)st.st_size) > 0)
		;
	close(out);
	close(in);
}

SCENARIO(execveat_basic)
{
	int dir, fd, path, script;

	make_directory("d");
	copy_self("d/p");
	symlink("p", "d/l");
	make_file("d/plain", "x");
	dir = open("d", O_RDONLY | O_DIRECTORY);
	fd = open("d/p", O_RDONLY | O_CLOEXEC);
	path = open("d/p", O_PATH);
	fcntl(2, F_SETFD, FD_CLOEXEC);
	dup3(open("/dev/null", O_WRONLY), 2, 0);
	show_exec(dir, "p", 0, "-none");
	show_exec(dir, "l", 0, "-none");
	show_exec(dir, "l", AT_SYMLINK_NOFOLLOW, "-none");
	show_exec(dir, "p", AT_SYMLINK_NOFOLLOW, "-none");
	show_exec(AT_FDCWD, "d/p", 0, "-none");
	show_exec(fd, "", AT_EMPTY_PATH, "-none");
	show_exec(path, "", AT_EMPTY_PATH, "-none");
	show_exec(fd, "", 0, "-none");
	show_exec(fd, "p", 0, "-none");
	show_exec(dir, "", AT_EMPTY_PATH, "-none");
	show_exec(dir, "plain", 0, "-none");
	show_exec(dir, "missing", 0, "-none");
	show_exec(99, "p", 0, "-none");
	show_exec(dir, "p", 1, "-none");
	make_file("d/s", "#!/bin/sh\nexit 5\n");
	chmod("d/s", 0755);
	script = open("d/s", O_RDONLY | O_CLOEXEC);
	show_exec(script, "", AT_EMPTY_PATH, NULL);
	fcntl(script, F_SETFD, 0);
	show_exec(script, "", AT_EMPTY_PATH, NULL);
	show_exec(dir, "s", 0, NULL);
	show_exec(AT_FDCWD, "d/s", 0, NULL);
}
