/*
 * callfuzz.c - every system call there is, with plausible, border and wild arguments, by several
 * processes of several threads, as an ordinary user under resource limits.
 *
 *	callfuzz SEED CALLS [PROCESSES [THREADS]]
 *
 * lab/check/fuzz/calls.py makes calls.h from core/syscalls.def: a letter for each argument says what it
 * means. Descriptors, names, addresses and structures come from pools that live: what one call
 * makes another one finds. What a call returns is not judged, only counted: the kernel's own checks
 * and what is left afterwards are. The same seed draws the same calls; under --icount, where only
 * instructions tell the time, they also meet in the same order.
 *
 * A process ends by whatever it does to itself and is made anew, until all calls are made. One that
 * makes none for a while sleeps for good, or is stopped: it is killed. In the end nobody of this
 * user is alive, and what they made is removed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* p path, r other text, f descriptor, d directory's, b memory to be written, c memory to be read,
 * n size, a address, o offset, i small number, u user or group, m mode, s signal, P process, t
 * time, v vector, g argv, F open's flags, k command of ioctl or fcntl, x flags, S set of signals,
 * I number of a segment or a set of semaphores */
static const struct {
	int number;
	const char *name, *arguments;
} calls[] = {
#include "calls.h"
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))
#define USER 1000
#define MAX_PROCESSES 16
#define REGION ((char *)0x20000000L) /* 64 pages: some there, some read-only, some not there */
#define REGION_SIZE (64 * 4096L)
#define FOLDER "/tmp/callfuzz"

/* Shared by all, and in reach of wild writes: nothing else hangs on it. */
struct counts {
	uint64_t made[MAX_PROCESSES];
	uint64_t results[140]; /* by errno; 0: success */
	long numbers[16];      /* of segments and sets of semaphores that were made */
};

static struct counts *counts;
static uint64_t goal, seed;
static __thread uint64_t state;
static int process_number;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

#define PICK(list) (list)[draw(sizeof(list) / sizeof((list)[0]))]

/* ---- arguments ----------------------------------------------------------------------------------
 */

static long wild(void)
{
	static const long values[] = {0,
				      1,
				      -1,
				      8,
				      4095,
				      4096,
				      0x7fffffff,
				      0x80000000L,
				      -4096,
				      INT64_MIN,
				      INT64_MAX,
				      0x7ffffffff000L,
				      0x7fffffffffffL,
				      0x800000000000L,
				      -0x800000000000L,
				      0xffffffffL,
				      0x100000000L,
				      -0x80000000L,
				      1L << 40};

	return draw(3) ? PICK(values) : (long)(draw(UINT64_MAX) >> draw(64));
}

static const char *path(void)
{
	static char longest[5000];
	static const char *const names[] = {"a",
					    "b",
					    "c",
					    "d",
					    "a/a",
					    "a/b",
					    "b/a",
					    "b/../c",
					    "l/a",
					    "l",
					    "loop",
					    "fifo",
					    "e/",
					    "..",
					    ".",
					    "",
					    "/",
					    "/tmp",
					    FOLDER "/a",
					    "/dev/null",
					    "/dev/zero",
					    "/dev/full",
					    "/dev/urandom",
					    "/proc/self/maps",
					    "/proc/self/fd",
					    "/proc/self/mem",
					    "/proc/self/environ",
					    "/proc/1/stat",
					    "/proc/1/environ",
					    "/proc/mounts",
					    "/proc/self/fd/3",
					    "/etc/passwd",
					    "/bin/busybox",
					    "/root",
					    "/etc/shadow",
					    "/proc/sys/vm/drop_caches",
					    "/proc/meminfo",
					    "/dev/vda",
					    "a-rather-long-name-that-is-not-inline-in-a-dentry",
					    "/dev/tty",
					    "/proc"};
	uint64_t which = draw(60);

	if (which == 0) {
		memset(longest, 'x', sizeof(longest) - 1);
		longest[draw(2) ? 255 : 4990] = 0;
		return longest;
	}
	return which < 35 ? names[draw(12)] : PICK(names);
}

static void *memory(void)
{
	uint64_t which = draw(40);

	if (which == 0)
		return (void *)wild();
	if (which < 4) /* across the end of a page */
		return REGION + 4096 * draw(64) + 4096 - draw(40);
	return REGION + draw(REGION_SIZE - 1);
}

static struct timespec *moment(void)
{
	static __thread struct timespec time;

	time = (struct timespec){draw(30) ? 0 : wild(), draw(10) ? (long)draw(200000) : wild()};
	return &time;
}

static struct iovec *vector(void)
{
	static __thread struct iovec pieces[8];

	for (int i = 0; i < 8; i++)
		pieces[i] = (struct iovec){memory(), draw(20) ? draw(5000) : (size_t)wild()};
	return pieces;
}

static char **words(void)
{
	static __thread char *list[4];

	list[0] = "callfuzz";
	list[1] = draw(10) ? "x" : memory();
	list[2] = list[3] = NULL;
	return list;
}

static long argument(char kind)
{
	static const int open_flags[] = {O_RDONLY,
					 O_RDWR,
					 O_RDWR | O_CREAT,
					 O_RDWR | O_CREAT | O_TRUNC,
					 O_RDWR | O_CREAT | O_EXCL,
					 O_WRONLY | O_APPEND | O_CREAT,
					 O_RDONLY | O_DIRECTORY,
					 O_RDONLY | O_NOFOLLOW,
					 O_PATH,
					 O_RDWR | O_SYNC,
					 O_TMPFILE | O_RDWR,
					 O_DIRECT | O_RDWR};
	static const long offsets[] = {0,     1,       511,	 4095,	   4096,      4097,
				       49152, 1 << 20, 1L << 31, 1L << 32, INT64_MAX, -1};
	static const int commands[] = {
		0,	1,	2,	3,	4,	5,	6,	7,	8,	9,
		10,	11,	36,	37,	38,	1024,	1025,	1030,	1031,	1032,
		1033,	0x5401, 0x5402, 0x5403, 0x5404, 0x5409, 0x540b, 0x540e, 0x540f, 0x5410,
		0x5413, 0x5414, 0x541b, 0x5421, 0x5450, 0x5451, 0x1272, 0x1260};

	if (!draw(60))
		return wild();
	switch (kind) {
	case 'p':
		return draw(40) ? (long)path() : (long)memory();
	case 'r':
		return draw(4) ? (long)path() : (long)memory();
	case 'f':
		return draw(20) ? (long)draw(16) : (long)draw(1100) - 3;
	case 'd':
		return draw(3) ? AT_FDCWD : (long)draw(24);
	case 'b':
	case 'c':
		return (long)memory();
	case 'n':
		return draw(4) ? (long)draw(9000) : (long)PICK(offsets);
	case 'a':
		return (long)(REGION + 4096 * draw(64)) + (draw(20) ? 0 : 7);
	case 'o':
		return draw(2) ? (long)draw(100000) : PICK(offsets);
	case 'i':
		return (long)draw(draw(3) ? 4 : 40);
	case 'u':
		return draw(2) ? USER : (long)draw(3) - 1;
	case 'm':
		return draw(4) ? 0700 | (long)draw(01000) : (long)draw(0200000);
	case 's':
		return draw(6) ? 32 + (long)draw(32) : (long)draw(66);
	case 'P':
		return draw(3) ? 0 : draw(20) ? getpid() - 3 + (long)draw(8) : (long)draw(4) - 1;
	case 't':
		return (long)moment();
	case 'v':
		return (long)vector();
	case 'g':
		return draw(10) ? (long)words() : (long)memory();
	case 'F':
		return PICK(open_flags) | O_NONBLOCK | (draw(8) ? 0 : (long)draw(1 << 24));
	case 'k':
		return PICK(commands);
	case 'I':
		return draw(20) ? counts->numbers[draw(16)] : (long)draw(1000);
	case 'S':
		return draw(2) ? (long)memory() : 0;
	default: /* flags: none, one, some */
		return draw(3) == 0 ? 0
		       : draw(2)    ? 1L << draw(draw(3) ? 6 : 32)
				    : (long)draw(1 << draw(20));
	}
}

/* ---- calls --------------------------------------------------------------------------------------
 */

/* What ends, or sleeps long, comes now and then only. */
static bool is_rare(int number)
{
	static const int rare[] = {SYS_exit,
				   SYS_exit_group,
				   SYS_pause,
				   SYS_rt_sigsuspend,
				   SYS_rt_sigtimedwait,
				   SYS_wait4,
				   SYS_waitid,
				   SYS_sync,
				   SYS_syncfs,
				   SYS_select,
				   SYS_poll,
				   SYS_pselect6,
				   SYS_ppoll,
				   SYS_futex,
				   SYS_semop,
				   SYS_semtimedop,
				   SYS_execve,
				   SYS_kill,
				   SYS_tkill,
				   SYS_tgkill,
				   SYS_munmap,
				   SYS_rt_sigreturn,
				   SYS_rt_sigprocmask,
				   SYS_nanosleep,
				   SYS_clock_nanosleep,
				   SYS_fork,
				   SYS_vfork,
				   SYS_clone,
				   SYS_clone3,
				   SYS_close_range,
				   SYS_setrlimit,
				   SYS_prlimit64,
				   SYS_chroot,
				   SYS_rt_sigaction,
				   SYS_setsid,
				   SYS_arch_prctl,
				   SYS_set_robust_list};

	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		if (rare[i] == number)
			return true;
	return false;
}

static void call_once(void)
{
	size_t which = draw(CALLS);
	const char *kinds = calls[which].arguments;
	int number = calls[which].number;
	long a[6] = {0}, result;

	if (is_rare(number) && draw(20))
		return;
	for (int i = 0; kinds[i] && i < 6; i++)
		a[i] = argument(kinds[i]);
	if (!draw(500))
		number = (int)draw(600); /* of those that are not there, too */
	result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (!result && (number == SYS_vfork || number == SYS_clone || number == SYS_clone3))
		syscall(SYS_exit, 0); /* may be on its parent's stack */
	if (!result && number == SYS_fork && draw(2))
		_exit(0);
	if (result >= 0 && (number == SYS_shmget || number == SYS_semget))
		counts->numbers[draw(16)] = result;
	counts->made[process_number]++;
	counts->results[result == -1 && errno > 0 && errno < 140 ? errno : 0]++;
	if (!draw(16))
		*(volatile char *)(REGION + draw(REGION_SIZE)) = (char)draw(256);
}

static void *call_for_ever(void *argument)
{
	state = (uint64_t)argument;
	while (counts->made[process_number] < goal)
		call_once();
	syscall(SYS_exit_group, 0);
	return NULL;
}

/* A fault is no end, most of the time: the memory is made again. */
static void repair(int signo)
{
	if (signo == SIGSEGV || signo == SIGBUS) {
		if (!draw(50))
			_exit(1);
		for (int i = 0; i < 64; i++)
			if (i % 16 != 15)
				mmap(REGION + i * 4096, 4096,
				     PROT_READ | (i % 16 == 14 ? 0 : PROT_WRITE),
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		/* The one that is not there, or may not be written, need not be touched again. */
		mprotect(REGION, REGION_SIZE, PROT_READ | PROT_WRITE);
	}
}

static void limit(int kind, rlim_t value)
{
	struct rlimit both = {value, value};

	setrlimit(kind, &both);
}

static void become_user(void)
{
	struct sigaction action = {.sa_handler = repair, .sa_flags = SA_NODEFER};
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	close(null);
	setsid();
	limit(RLIMIT_NPROC, 60);
	limit(RLIMIT_NOFILE, 200);
	limit(RLIMIT_FSIZE, 1 << 22);
	limit(RLIMIT_AS, 64 << 20);
	limit(RLIMIT_CORE, 0);
	if (chdir(FOLDER) || setgroups(0, NULL) || setgid(USER) || setuid(USER))
		_exit(9);
	for (int signo = 1; signo < 65; signo++)
		if (signo < 32 || signo > 34) /* musl's own */
			sigaction(signo, &action, NULL);
	action.sa_flags = SA_NODEFER | SA_RESTART;
	sigaction(SIGCHLD, &action, NULL);
}

static void work(int number, unsigned incarnation, int threads)
{
	pthread_t thread;

	process_number = number;
	become_user();
	state = seed * 0x9e3779b97f4a7c15ULL + (uint64_t)number * 1000003 + incarnation * 7919 + 1;
	repair(SIGBUS);
	mkdir("a", 0755);
	symlink("a", "l");
	symlink("loop", "loop");
	mkfifo("fifo", 0666);
	for (int i = 1; i < threads; i++)
		pthread_create(&thread, NULL, call_for_ever, (void *)(state * 31 + (uint64_t)i));
	call_for_ever((void *)state);
}

/* ---- the keeper ---------------------------------------------------------------------------------
 */

static void remove_all(const char *name)
{
	struct dirent *entry;
	DIR *dir;

	if (!unlink(name) || !rmdir(name) || errno == ENOENT)
		return;
	if (chdir(name))
		return;
	dir = opendir(".");
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			remove_all(entry->d_name);
	if (dir)
		closedir(dir);
	if (chdir(".."))
		perror("..");
	if (rmdir(name))
		perror(name);
}

/* Kill all of this user; false: somebody was there, or did not go. */
static bool kill_user(void)
{
	struct dirent *entry;
	bool gone = true;
	struct stat st;
	DIR *proc;
	pid_t pid = fork();

	if (!pid) {
		if (!setuid(USER))
			kill(-1, SIGKILL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    !fstatat(dirfd(proc), entry->d_name, &st, 0) && st.st_uid == USER)
			gone = false;
	if (proc)
		closedir(proc);
	return gone && proc;
}

/* What the user has made elsewhere in /tmp. */
static void remove_users_files(void)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	if (chdir("/tmp"))
		return;
	dir = opendir(".");
	while (dir && (entry = readdir(dir)))
		if (!lstat(entry->d_name, &st) && st.st_uid == USER &&
		    strcmp(entry->d_name, "..") && strcmp(entry->d_name, "."))
			remove_all(entry->d_name);
	if (dir)
		closedir(dir);
	if (chdir("/"))
		perror("/");
}

/*
 * Segments and sets of semaphores outlive who made them. Their numbers grow: none is above that of
 * a new one but what was in the table beside it.
 */
static void remove_lasting(int get, int control)
{
	long last = -1;

	for (long below = 1 << 10; last < 0 && below < 1 << 30; below <<= 2) {
		last = syscall(get, 0, 1, 0600); /* IPC_PRIVATE */
		for (long id = 0; id < (last < 0 ? below : last + 1024); id++)
			syscall(control, id, 0, 0, 0); /* IPC_RMID */
	}
}

static void pause_ms(long ms)
{
	struct timespec time = {0, ms * 1000000};

	nanosleep(&time, NULL);
}

static void keep(int processes, int threads)
{
	uint64_t before[MAX_PROCESSES] = {0};
	unsigned incarnations[MAX_PROCESSES] = {0};
	pid_t pids[MAX_PROCESSES] = {0}, ended;
	int left = processes, stalls[MAX_PROCESSES] = {0};

	while (left) {
		left = 0;
		for (int i = 0; i < processes; i++) {
			if (counts->made[i] >= goal && !pids[i])
				continue;
			left++;
			if (!pids[i]) {
				pids[i] = fork();
				if (!pids[i])
					work(i, incarnations[i], threads);
				incarnations[i]++;
				stalls[i] = 0;
			} else if (counts->made[i] != before[i]) {
				stalls[i] = 0;
			} else if (++stalls[i] >= 3) {
				kill(pids[i], SIGKILL);
			}
			before[i] = counts->made[i];
		}
		pause_ms(4);
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			for (int i = 0; i < processes; i++)
				if (pids[i] == ended)
					pids[i] = 0;
	}
	for (int i = 0; i < processes; i++)
		printf("process %d: %lu calls, %u lives\n", i, (unsigned long)counts->made[i],
		       incarnations[i]);
}

int main(int argc, char **argv)
{
	int processes = argc > 3 ? atoi(argv[3]) : 8, threads = argc > 4 ? atoi(argv[4]) : 2;
	uint64_t total = argc > 2 ? strtoul(argv[2], NULL, 0) : 30000, sum = 0;
	bool gone = false;

	if (argc > 1 && !strcmp(argv[1], "x")) /* by a call of execve */
		return 0;
	seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	if (processes < 1 || processes > MAX_PROCESSES)
		return 2;
	goal = total / (uint64_t)processes;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	printf("seed %lu, %lu calls of %zu kinds, %d processes, %d threads each\n",
	       (unsigned long)seed, (unsigned long)total, CALLS, processes, threads);
	fflush(stdout);
	mkdir(FOLDER, 0777);
	chmod(FOLDER, 0777);
	keep(processes, threads);
	for (int i = 0; i < 500 && !gone; i++) {
		gone = kill_user();
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		pause_ms(2);
	}
	if (chdir("/"))
		perror("/");
	remove_lasting(SYS_shmget, SYS_shmctl);
	remove_lasting(SYS_semget, SYS_semctl);
	umount2(FOLDER, MNT_DETACH);
	remove_all(FOLDER);
	remove_users_files();
	for (int i = 0; i < 140; i++) {
		sum += counts->results[i];
		if (counts->results[i])
			printf("%s%d:%lu", i ? " " : "results ", i,
			       (unsigned long)counts->results[i]);
	}
	printf("\ncallfuzz: %s\n", gone && sum >= total / 2 ? "ok" : "WRONG");
	return !gone;
}
