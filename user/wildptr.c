/*
 * wildptr.c - a hostile program: wild pointers to every system call; a fork bomb; a memory bomb.
 *
 *	wildptr pointers	each pointer argument of each call in the table below,
 *				each wild address: must be EFAULT; prints what was not
 *	wildptr numbers [SEED]	every system call number with random and wild arguments: must return
 *	wildptr forks		fork until it fails: must fail with EAGAIN or ENOMEM, and
 *				all children be waited for
 *	wildptr memory		touch memory until it runs out: must be ENOMEM or the end
 *				of the child alone
 *	wildptr			all of them; the last line says "wildptr: survived"
 *
 * Exit status 0: all as it must be. A plain Linux program, which passes on Linux too (run `forks`
 * and `memory` there only under limits).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each stands for something in a call's arguments: the wild address, a page that may be written,
 * descriptors. */
enum { W = 0x77696c64, GOOD, FILE_FD, DIRECTORY_FD, PIPE_FD };
#define A(...) {__VA_ARGS__}

static char *good;     /* a page that may be written */
static char *hole;     /* an address with nothing there */
static char *constant; /* a page that may only be read */
static int file, directory, pipes[2];

struct call {
	const char *name;
	long number;
	long arguments[6];
	bool writes; /* the kernel stores there: a read-only page is wrong too */
};

#define S ((long)"wild-test-file")

static const struct call table[] = {
	{"read", SYS_read, A(FILE_FD, W, 16), true},
	{"write", SYS_write, A(PIPE_FD, W, 16), false},
	{"open", SYS_open, A(W, O_RDONLY), false},
	{"stat 1", SYS_stat, A(W, GOOD), false},
	{"stat 2", SYS_stat, A((long)".", W), true},
	{"fstat", SYS_fstat, A(FILE_FD, W), true},
	{"lstat", SYS_lstat, A(W, GOOD), false},
	{"poll", SYS_poll, A(W, 1, 0), true},
	{"rt_sigaction 2", SYS_rt_sigaction, A(SIGUSR1, W, 0, 8), false},
	{"rt_sigaction 3", SYS_rt_sigaction, A(SIGUSR1, 0, W, 8), true},
	{"rt_sigprocmask 2", SYS_rt_sigprocmask, A(0, W, 0, 8), false},
	{"rt_sigprocmask 3", SYS_rt_sigprocmask, A(0, 0, W, 8), true},
	{"pread64", SYS_pread64, A(FILE_FD, W, 16, 0), true},
	{"pwrite64", SYS_pwrite64, A(FILE_FD, W, 16, 0), false},
	{"readv", SYS_readv, A(FILE_FD, W, 1), false},
	{"writev", SYS_writev, A(FILE_FD, W, 1), false},
	{"access", SYS_access, A(W, 0), false},
	{"pipe", SYS_pipe, A(W), true},
	{"select", SYS_select, A(3, W, 0, 0, GOOD), true},
	{"nanosleep", SYS_nanosleep, A(W, 0), false},
	{"getitimer", SYS_getitimer, A(0, W), true},
	{"setitimer 3", SYS_setitimer, A(0, GOOD, W), true},
	{"setitimer 2", SYS_setitimer, A(0, W, 0), false},
	{"sendfile", SYS_sendfile, A(PIPE_FD, FILE_FD, W, 1), true},
	{"execve 1", SYS_execve, A(W, 0, 0), false},
	{"execve 2", SYS_execve, A((long)"/proc/self/exe", W, 0), false},
	{"execve 3", SYS_execve, A((long)"/proc/self/exe", 0, W), false},
	{"uname", SYS_uname, A(W), true},
	{"getcwd", SYS_getcwd, A(W, 4096), true},
	{"truncate", SYS_truncate, A(W, 0), false},
	{"chdir", SYS_chdir, A(W), false},
	{"rename 1", SYS_rename, A(W, S), false},
	{"rename 2", SYS_rename, A(S, W), false},
	{"mkdir", SYS_mkdir, A(W, 0755), false},
	{"rmdir", SYS_rmdir, A(W), false},
	{"creat", SYS_creat, A(W, 0644), false},
	{"link 1", SYS_link, A(W, S), false},
	{"link 2", SYS_link, A((long)".", W), false},
	{"unlink", SYS_unlink, A(W), false},
	{"symlink 1", SYS_symlink, A(W, S), false},
	{"symlink 2", SYS_symlink, A(S, W), false},
	{"readlink 1", SYS_readlink, A(W, GOOD, 64), false},
	{"readlink 2", SYS_readlink, A((long)"wild-test-link", W, 64), true},
	{"chmod", SYS_chmod, A(W, 0644), false},
	{"chown", SYS_chown, A(W, 0, 0), false},
	{"lchown", SYS_lchown, A(W, 0, 0), false},
	{"gettimeofday", SYS_gettimeofday, A(W, 0), true},
	{"getrlimit", SYS_getrlimit, A(7, W), true},
	{"setrlimit", SYS_setrlimit, A(7, W), false},
	{"getrusage", SYS_getrusage, A(0, W), true},
	{"sysinfo", SYS_sysinfo, A(W), true},
	{"times", SYS_times, A(W), true},
	{"getgroups", SYS_getgroups, A(32, W), true},
	{"setgroups", SYS_setgroups, A(2, W), false},
	{"getresuid", SYS_getresuid, A(W, GOOD, GOOD), true},
	{"getresgid", SYS_getresgid, A(GOOD, GOOD, W), true},
	{"rt_sigpending", SYS_rt_sigpending, A(W, 8), true},
	{"rt_sigtimedwait", SYS_rt_sigtimedwait, A(W, 0, GOOD, 8), false},
	{"rt_sigsuspend", SYS_rt_sigsuspend, A(W, 8), false},
	{"sigaltstack 1", SYS_sigaltstack, A(W, 0), false},
	{"sigaltstack 2", SYS_sigaltstack, A(0, W), true},
	{"futimesat 1", SYS_futimesat, A(AT_FDCWD, W, 0), false},
	{"futimesat 2", SYS_futimesat, A(AT_FDCWD, (long)".", W), false},
	{"mknod", SYS_mknod, A(W, S_IFREG, 0), false},
	{"statfs 1", SYS_statfs, A(W, GOOD), false},
	{"statfs 2", SYS_statfs, A((long)".", W), true},
	{"fstatfs", SYS_fstatfs, A(FILE_FD, W), true},
	{"prctl", SYS_prctl, A(16, W), true},
	{"chroot", SYS_chroot, A(W), false},
	{"mount", SYS_mount, A((long)"none", W, (long)"tmpfs", 0, 0), false},
	{"umount2", SYS_umount2, A(W, 0), false},
	{"getdents64", SYS_getdents64, A(DIRECTORY_FD, W, 1024), true},
	{"clock_gettime", SYS_clock_gettime, A(0, W), true},
	{"clock_getres", SYS_clock_getres, A(0, W), true},
	{"clock_nanosleep", SYS_clock_nanosleep, A(0, 0, W, 0), false},
	{"utimes", SYS_utimes, A(W, 0), false},
	{"openat", SYS_openat, A(AT_FDCWD, W, 0), false},
	{"mkdirat", SYS_mkdirat, A(AT_FDCWD, W, 0), false},
	{"mknodat", SYS_mknodat, A(AT_FDCWD, W, S_IFREG, 0), false},
	{"fchownat", SYS_fchownat, A(AT_FDCWD, W, 0, 0, 0), false},
	{"newfstatat 2", SYS_newfstatat, A(AT_FDCWD, W, GOOD, 0), false},
	{"newfstatat 3", SYS_newfstatat, A(AT_FDCWD, (long)".", W, 0), true},
	{"unlinkat", SYS_unlinkat, A(AT_FDCWD, W, 0), false},
	{"renameat", SYS_renameat, A(AT_FDCWD, W, AT_FDCWD, S), false},
	{"renameat2", SYS_renameat2, A(AT_FDCWD, S, AT_FDCWD, W, 0), false},
	{"linkat", SYS_linkat, A(AT_FDCWD, W, AT_FDCWD, S, 0), false},
	{"symlinkat", SYS_symlinkat, A(W, AT_FDCWD, S), false},
	{"readlinkat", SYS_readlinkat, A(AT_FDCWD, W, GOOD, 64), false},
	{"fchmodat", SYS_fchmodat, A(AT_FDCWD, W, 0644), false},
	{"faccessat", SYS_faccessat, A(AT_FDCWD, W, 0), false},
	{"ppoll", SYS_ppoll, A(W, 1, GOOD, 0, 8), true},
	{"utimensat 2", SYS_utimensat, A(AT_FDCWD, W, 0, 0), false},
	{"utimensat 3", SYS_utimensat, A(AT_FDCWD, (long)".", W, 0), false},
	{"pipe2", SYS_pipe2, A(W, 0), true},
	{"prlimit64 3", SYS_prlimit64, A(0, 7, W, 0), false},
	{"prlimit64 4", SYS_prlimit64, A(0, 7, 0, W), true},
	{"getrandom", SYS_getrandom, A(W, 16, 0), true},
	{"sched_getaffinity", SYS_sched_getaffinity, A(0, 128, W), true},
	{"futex", SYS_futex, A(W, 0, 1, 0, 0, 0), false},
};

static bool is_nullable(const struct call *call)
{
	/* Where a null pointer has a meaning of its own. */
	static const char *const names[] = {
		"rt_sigaction", "rt_sigprocmask", "sigaltstack", "setitimer", "utime", "futimesat",
		"execve 2", "execve 3", "gettimeofday", "times", "prlimit64", "select", "sendfile",
		"clock_getres", "rt_sigtimedwait", "setrlimit", "mount",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(call->name, names[i], strlen(names[i])))
			return true;
	return false;
}

static int prepare(void)
{
	good = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hole = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(hole, 3 * 4096, PROT_NONE); /* nothing else may come to lie there */
	file = open("wild-test-data", O_RDWR | O_CREAT | O_TRUNC, 0644);
	directory = open(".", O_RDONLY);
	if (file < 0 || directory < 0 || pipe(pipes))
		return -1;
	symlink("nowhere", "wild-test-link");
	setgroups(2, (gid_t[]){1, 2});
	return write(file, good, 4096) == 4096 ? 0 : -1;
}

/* What @argument stands for, or itself. */
static long value_of(long argument, long wild)
{
	switch (argument) {
	case W:
		return wild;
	case GOOD:
		return (long)good;
	case FILE_FD:
		return file;
	case DIRECTORY_FD:
		return directory;
	case PIPE_FD:
		return pipes[1];
	default:
		return argument;
	}
}

static long make_call(const struct call *call, long wild)
{
	long a[6];

	lseek(file, 0, SEEK_SET);
	lseek(directory, 0, SEEK_SET);
	for (int i = 0; i < 6; i++)
		a[i] = value_of(call->arguments[i], wild);
	return syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int test_pointers(void)
{
	const long wild[] = {
		0, 8, (long)hole + 4096, -1L, -4096L, -8L,
		(long)0xffff800000100000, /* the kernel's map of all memory */
		(long)0xffffffff80100000, /* the kernel's code */
		(long)0x8000000000000000, /* not canonical */
		(long)0x0000800000000000,
		(long)0x00007ffffffff000, /* the first address behind what a program may have */
		(long)constant,
	};
	int kinds = sizeof(wild) / sizeof(wild[0]), wrong = 0, made = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (int k = 0; k < kinds; k++) {
			long result;

			if ((!wild[k] && is_nullable(&table[i])) ||
			    (wild[k] == (long)constant && !table[i].writes) ||
			    (wild[k] == -1 &&
			     table[i].number == SYS_futex)) /* misaligned: EINVAL */
				continue;
			memset(good, 0, 4096);
			made++;
			result = make_call(&table[i], wild[k]);
			if (result == -1 && errno == EFAULT)
				continue;
			wrong++;
			if (result != -1)
				errno = 0;
			printf("%s with pointer %#lx: result %ld, errno %d (%s)\n", table[i].name,
			       (unsigned long)wild[k], result, errno,
			       errno ? strerror(errno) : "success");
		}
	}
	printf("wildptr pointers: %d calls, %d not EFAULT\n", made, wrong);
	return wrong != 0;
}

/* ---- every number ---------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252ULL;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static long random_argument(void)
{
	static const long odd[] = {0,
				   1,
				   2,
				   -1,
				   4096,
				   -100,
				   8,
				   0x7fffffff,
				   -4096,
				   (long)0x8000000000000000,
				   (long)0xffff800000100000,
				   (long)0xffffffff80100000,
				   (long)0x7fffffffffffffff,
				   0x10000000000};
	uint64_t kind = next_random() % 4;

	if (kind == 0)
		return (long)good + (long)(next_random() % 4096);
	if (kind == 1)
		return (long)next_random();
	return odd[next_random() % (sizeof(odd) / sizeof(odd[0]))];
}

/* Calls that would end the test, and not the kernel. */
static bool is_left_out(long number)
{
	static const long left_out[] = {SYS_reboot,
					SYS_kill,
					SYS_tkill,
					SYS_tgkill,
					SYS_vfork,
					SYS_fork,
					SYS_clone,
					SYS_rt_sigqueueinfo,
					SYS_sync,
					SYS_syncfs,
					SYS_umount2,
					SYS_mount,
					SYS_settimeofday,
					SYS_clock_settime,
					SYS_swapon,
					SYS_swapoff,
					SYS_pivot_root,
					435,
					424,
					438};

	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (left_out[i] == number)
			return true;
	return false;
}

static int test_numbers(void)
{
	int made = 0, ended = 0, status;

	fflush(stdout);
	for (long number = 0; number < 470; number++) {
		pid_t pid;

		if (is_left_out(number))
			continue;
		made++;
		next_random();
		pid = fork();
		if (pid == 0) {
			signal(SIGALRM, SIG_DFL);
			alarm(1);
			/* A read of the terminal from this group would stop it. */
			signal(SIGTTIN, SIG_IGN);
			signal(SIGTTOU, SIG_IGN);
			for (int i = 0; i < 40; i++)
				syscall(number, random_argument(), random_argument(),
					random_argument(), random_argument(), random_argument(),
					random_argument());
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid) {
			printf("wildptr numbers: fork or wait: %s\n", strerror(errno));
			return 1;
		}
		ended += WIFSIGNALED(status);
	}
	printf("wildptr numbers: %d calls, %d ended by a signal\n", made, ended);
	return 0;
}

/* ---- bombs ----------------------------------------------------------------------------------- */

static int test_forks(void)
{
	int children = 0, waited = 0, error = 0;

	fflush(stdout);
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			pause();
			_exit(0);
		}
		if (pid < 0) {
			error = errno;
			break;
		}
		children++;
	}
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM); /* the children have the default action */
	while (wait(NULL) > 0)
		waited++;
	printf("wildptr forks: %s after a number of children, %s waited for\n", strerror(error),
	       waited == children ? "all" : "not all");
	return (error != EAGAIN && error != ENOMEM) || waited != children;
}

static int test_memory(void)
{
	const char *how = "WRONG";
	bool as_it_must = true;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		for (;;) {
			char *piece = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (piece == MAP_FAILED)
				_exit(errno == ENOMEM ? 0 : 1);
			for (int i = 0; i < 1 << 20; i += 4096)
				piece[i] = 1;
		}
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		how = "killed";
	else if (WIFEXITED(status) && !WEXITSTATUS(status))
		how = "ENOMEM";
	else
		as_it_must = false;
	printf("wildptr memory: %s\n", how);
	return !as_it_must;
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "all";
	bool all = !strcmp(which, "all");
	int wrong = 0;

	if (argc > 2)
		state ^= strtoull(argv[2], NULL, 0) << 20;
	if (prepare()) {
		perror("wildptr: preparing");
		return 2;
	}
	setpgid(0, 0);
	if (all || !strcmp(which, "pointers"))
		wrong |= test_pointers();
	if (all || !strcmp(which, "numbers"))
		wrong |= test_numbers();
	if (all || !strcmp(which, "memory"))
		wrong |= test_memory();
	if (all || !strcmp(which, "forks"))
		wrong |= test_forks();
	unlink("wild-test-data");
	unlink("wild-test-link");
	puts(wrong ? "wildptr: something was wrong" : "wildptr: survived");
	return wrong;
}
