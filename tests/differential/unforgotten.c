/*
 * unforgotten.c - scenarios of what must not be forgotten: a count that a refused call has changed, marks of descriptors
 * when their table grows, a mask when a call fails, who is to be looked at again after another was served.
 */
#include "scenarios.h"

#include <sys/select.h>

/* ---- this program again ----------------------------------------------------------------------- */

/* As a program that says it has begun, and runs until its input ends. */
__attribute__((constructor)) static void run_until_told(void)
{
	char byte = 0;

	if (!getenv("UNTIL_TOLD"))
		return;
	write(1, &byte, 1);
	read(0, &byte, 1);
	_exit(0);
}

struct running {
	pid_t pid;
	int tell; /* closed: it ends */
};

/* @session: as the leader of a session of its own. */
static struct running start(const char *name, bool session)
{
	int input[2], output[2];
	struct running program;
	char byte;

	pipe2(input, O_CLOEXEC);
	pipe2(output, O_CLOEXEC);
	program.pid = fork();
	if (!program.pid) {
		if (session)
			setsid();
		dup2(input[0], 0);
		dup2(output[1], 1);
		execle(name, name, (char *)NULL, (char *[]){"UNTIL_TOLD=1", NULL});
		_exit(1);
	}
	close(input[0]);
	close(output[1]);
	read(output[0], &byte, 1);
	close(output[0]);
	program.tell = input[1];
	return program;
}

static void stop(struct running *program)
{
	int status;

	close(program->tell);
	waitpid(program->pid, &status, 0);
	say("ended with %d", status);
}

/* ---- a program that is written to -------------------------------------------------------------- */

static long try_open(const char *name, int flags)
{
	int fd = open(name, flags);

	return fd < 0 ? -1 : close(fd);
}

SCENARIO(writing_where_a_program_runs)
{
	struct running program;

	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, NULL));
	copy_myself("m/program", 0755);
	program = start("m/program", false);
	for (int i = 0; i < 3; i++) {
		T(try_open("m/program", O_WRONLY));
		T(try_open("m/program", O_RDWR));
		T(try_open("m/program", O_WRONLY | O_TRUNC));
		T(truncate("m/program", 0));
	}
	T(try_open("m/program", O_RDONLY));
	stop(&program);
	T(try_open("m/program", O_WRONLY));
	T(try_open("m/program", O_RDWR));
	program = start("m/program", false); /* nobody writes to it: it runs */
	T(try_open("m/program", O_WRONLY));
	stop(&program);
	T(mount(NULL, "m", NULL, MS_REMOUNT | MS_RDONLY, NULL)); /* nor holds the mount writable */
	T(umount("m"));
}

/* ---- marks of descriptors ---------------------------------------------------------------------- */

#define FIRST 20
#define MARKED 10

static void show_marks(void)
{
	for (int fd = FIRST; fd < FIRST + MARKED; fd++)
		say("%d", fcntl(fd, F_GETFD));
}

__attribute__((constructor)) static void tell_open(void)
{
	int open = 0;

	if (!getenv("TELL_OPEN"))
		return;
	for (int fd = FIRST; fd < FIRST + MARKED; fd++)
		open = open * 2 + (fcntl(fd, F_GETFD) >= 0);
	_exit(open / 4); /* as much as a status holds */
}

static void show_what_a_program_gets(void)
{
	int status;

	if (!fork()) {
		show_marks();
		execle("/proc/self/exe", "scenarios", (char *)NULL, (char *[]){"TELL_OPEN=1", NULL});
		_exit(255);
	}
	wait(&status);
	say("%02x", WEXITSTATUS(status));
}

SCENARIO(close_on_exec_while_the_table_grows)
{
	int null = open("/dev/null", O_RDONLY);

	for (int i = 0; i < MARKED; i++)
		dup3(null, FIRST + i, i % 3 ? O_CLOEXEC : 0);
	show_marks();
	for (int size = 64; size <= 512; size *= 2) {
		T(dup2(null, size));
		show_marks();
		show_what_a_program_gets();
	}
	T(fcntl(512, F_SETFD, FD_CLOEXEC));
	T(fcntl(FIRST + 1, F_SETFD, 0));
	T(fcntl(null, F_DUPFD_CLOEXEC, 900) >= 900);
	show_what_a_program_gets();
	T(fcntl(512, F_GETFD));
	T(fcntl(256, F_GETFD));
}

/* ---- a mask for one call ----------------------------------------------------------------------- */

static void show_mask(void)
{
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	say("[%d%d%d]", sigismember(&mask, SIGUSR1), sigismember(&mask, SIGUSR2), sigismember(&mask, SIGALRM));
}

#define M(call)                                                                                    \
	do {                                                                                       \
		T(call);                                                                           \
		show_mask();                                                                       \
	} while (0)

SCENARIO(masks_of_calls_that_fail)
{
	struct timespec negative = {0, -1}, large = {0, 1000000000}, none = {0, 0}, before = {-1, 0};
	struct timespec *nowhere = (void *)8;
	unsigned long mask = 1ul << (SIGUSR2 - 1);
	struct {
		const void *set;
		size_t size;
	} usual = {&mask, 8}, short_set = {&mask, 4}, lost = {(void *)8, 8};
	struct pollfd fds = {.fd = 0};
	sigset_t own;

	sigemptyset(&own);
	sigaddset(&own, SIGUSR1);
	T(sigprocmask(SIG_SETMASK, &own, NULL));
	M(syscall(SYS_ppoll, &fds, 0, &negative, &mask, 8));
	M(syscall(SYS_ppoll, &fds, 0, &large, &mask, 8));
	M(syscall(SYS_ppoll, &fds, 0, &before, &mask, 8));
	M(syscall(SYS_ppoll, &fds, 0, nowhere, &mask, 8));
	M(syscall(SYS_ppoll, &fds, 0, &none, &mask, 4));
	M(syscall(SYS_ppoll, &fds, 0, &none, (void *)8, 8));
	M(syscall(SYS_ppoll, (void *)8, 1, &none, &mask, 8));
	M(syscall(SYS_ppoll, &fds, 1 << 30, &none, &mask, 8));
	M(syscall(SYS_ppoll, &fds, 0, &none, &mask, 8));
	M(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &negative, &usual));
	M(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &large, &usual));
	M(syscall(SYS_pselect6, 0, NULL, NULL, NULL, nowhere, &usual));
	M(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &none, &short_set));
	M(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &none, &lost));
	M(syscall(SYS_pselect6, -1, NULL, NULL, NULL, &none, &usual));
	M(syscall(SYS_pselect6, 1, (void *)8, NULL, NULL, &none, &usual));
	M(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &none, &usual));
	M(syscall(SYS_rt_sigtimedwait, &mask, NULL, &negative, 8));
	M(syscall(SYS_rt_sigtimedwait, &mask, NULL, &large, 8));
	M(syscall(SYS_rt_sigtimedwait, &mask, NULL, nowhere, 8));
	M(syscall(SYS_rt_sigtimedwait, &mask, NULL, &none, 8));
	M(syscall(SYS_rt_sigsuspend, &mask, 4));
	M(syscall(SYS_rt_sigsuspend, (void *)8, 8));
}

/* ---- the order of setpgid's checks ------------------------------------------------------------- */

SCENARIO(setpgid_of_a_child)
{
	struct running plain, session;
	pid_t child, leader;

	copy_myself("program", 0755);
	plain = start("./program", false);
	session = start("./program", true);
	T(setpgid(plain.pid, plain.pid));
	T(setpgid(plain.pid, 0));
	T(setpgid(session.pid, session.pid));
	T(setpgid(session.pid, 0));
	T(setpgid(session.pid, -1));
	T(setpgid(plain.pid, session.pid));
	T(setpgid(0, session.pid));
	T(setpgid(1 << 21, 0));
	T(setpgid(1 << 21, -1));
	leader = fork();
	if (!leader) {
		setsid();
		pause();
	}
	child = fork();
	if (!child)
		pause();
	usleep(100000);
	T(setpgid(leader, leader)); /* has run no program */
	T(setpgid(leader, 0));
	T(setpgid(child, leader)); /* a group of another session */
	T(setpgid(child, 1 << 21));
	T(setpgid(child, child));
	T(setpgid(0, child));
	kill(leader, SIGKILL);
	kill(child, SIGKILL);
	wait(NULL);
	wait(NULL);
	stop(&plain);
	stop(&session);
}

/* ---- a semaphore's waiters, one after the other ------------------------------------------------ */

static pid_t waiter(int id, int change)
{
	pid_t child = fork();

	if (!child) {
		alarm(3);
		_exit(semop(id, &(struct sembuf){0, (short)change, 0}, 1) ? 9 : 7);
	}
	usleep(150000);
	return child;
}

static void how_ended(pid_t child)
{
	int status;

	waitpid(child, &status, 0);
	say("%d", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
}

SCENARIO(semaphore_serves_until_nobody_can_go_on)
{
	int id = semget(IPC_PRIVATE, 1, 0600);
	struct sembuf up = {0, 1, 0};
	pid_t a, b, c;

	T(semop(id, &up, 1));
	a = waiter(id, 0); /* until it is zero */
	b = waiter(id, -2);
	T(semop(id, &up, 1)); /* b takes two, and so a may go on */
	how_ended(b);
	how_ended(a);
	T(semop(id, &up, 1));
	a = waiter(id, 0);
	b = waiter(id, -3);
	c = waiter(id, 0);
	T(semop(id, &(struct sembuf){0, 2, 0}, 1));
	how_ended(a);
	how_ended(b);
	how_ended(c);
	a = waiter(id, -4); /* more than there is at first */
	b = waiter(id, -1);
	T(semop(id, &up, 1));
	how_ended(b);
	T(semop(id, &(struct sembuf){0, 4, 0}, 1));
	how_ended(a);
	T(semctl(id, 0, GETVAL));
	T(semctl(id, 0, IPC_RMID));
}

/* ---- memory against a limit -------------------------------------------------------------------- */

SCENARIO(writable_piece_by_piece)
{
	const size_t piece = 1 << 20;
	char *at = mmap(NULL, 64 * piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rlimit limit = {8 * piece, 8 * piece};
	int pieces = 0;

	T(setrlimit(RLIMIT_DATA, &limit));
	while (pieces < 64 && !mprotect(at + pieces * 2 % 64 * piece, piece, PROT_READ | PROT_WRITE))
		pieces++;
	say("%d %d", pieces, errno == ENOMEM);
	T(mprotect(at, piece, PROT_READ));
	T(mprotect(at + 40 * piece, piece, PROT_READ | PROT_WRITE));
	T(mprotect(at + 42 * piece, piece, PROT_READ | PROT_WRITE));
	T(mprotect(at + 42 * piece, piece, PROT_READ));
	T(munmap(at, 64 * piece));
	T(mmap(NULL, 7 * piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	T(mmap(NULL, 2 * piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

/* ---- holes ------------------------------------------------------------------------------------- */

static void show_holes(int fd)
{
	static char data[5 * 4096];
	ssize_t length = pread(fd, data, sizeof(data), 0);

	for (ssize_t at = 0, start; at < length; at++) {
		if (data[at])
			continue;
		for (start = at; at < length && !data[at];)
			at++;
		say("%ld-%ld", (long)start, (long)at);
	}
}

SCENARIO(punched_within_pages)
{
	static const struct {
		off_t at, length;
	} holes[] = {{0, 100},	  {0, 4096},   {4096, 50},    {5000, 20},    {4000, 200},  {8000, 4500},
		     {4095, 2},	  {8191, 1},   {8192, 1},     {3000, 8192},  {12288, 4097}, {16384, 4096},
		     {20479, 10}, {20480, 10}, {0, 1 << 20}, {4096, 8192}, {100, 4000}};
	static char full[5 * 4096];
	int fd;

	memset(full, 'x', sizeof(full));
	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, NULL));
	fd = open("m/f", O_CREAT | O_RDWR, 0644);
	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		pwrite(fd, full, sizeof(full), 0);
		T(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, holes[i].at, holes[i].length));
		show_holes(fd);
	}
	T(lseek(fd, 0, SEEK_END));
	close(fd);
	T(umount("m"));
}

/* ---- a directory that is read in pieces -------------------------------------------------------- */

#define NAMES 120

struct reading {
	int fd;
	unsigned char seen[NAMES];
	int order[NAMES], count; /* the names that were read, one after the other */
	int foreign;
};

/* Read on by one small buffer; its bytes. */
static long read_piece(struct reading *reading)
{
	char buffer[512];
	long n = syscall(SYS_getdents64, reading->fd, buffer, sizeof(buffer));

	for (long at = 0; at < n; at += *(unsigned short *)(buffer + at + 16)) {
		const char *name = buffer + at + 19;
		int number = atoi(name + 1);

		if (name[0] == 'f' && reading->seen[number]++ == 0)
			reading->order[reading->count++] = number;
		else if (name[0] != '.' && name[0] != 'f')
			reading->foreign++;
	}
	return n;
}

enum way { REMOVED, MOVED, RENAMED };

static void goes(const char *where, int number, enum way way)
{
	char from[40], to[40];

	snprintf(from, sizeof(from), "%s/f%d", where, number);
	snprintf(to, sizeof(to), "%s/g%d", way == MOVED ? "other" : where, number);
	T(way == REMOVED ? unlink(from) : rename(from, to));
}

/* After the first piece the name @ahead of the last one that was read goes. */
static void read_while(const char *where, enum way way, int ahead)
{
	static struct reading whole, pieces;
	int gone, missing = 0, twice = 0;

	whole = pieces = (struct reading){0};
	whole.fd = open(where, O_RDONLY | O_DIRECTORY);
	while (read_piece(&whole) > 0)
		;
	close(whole.fd);
	pieces.fd = open(where, O_RDONLY | O_DIRECTORY);
	read_piece(&pieces);
	read_piece(&pieces);
	gone = whole.order[pieces.count - 1 + ahead];
	goes(where, gone, way);
	while (read_piece(&pieces) > 0)
		;
	close(pieces.fd);
	for (int i = 0; i < NAMES; i++) {
		missing += whole.seen[i] && !pieces.seen[i] && i != gone;
		twice += pieces.seen[i] > 1;
	}
	say("missing %d twice %d strange %d", missing, twice, pieces.foreign > (way == RENAMED));
}

SCENARIO(a_name_goes_where_a_reader_has_stopped)
{
	static const char *const places[] = {"removed", "moved", "renamed"};
	char name[40];

	make_directory("other");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "other/x%d", i);
		make_file(name, "");
	}
	for (int way = REMOVED; way <= RENAMED; way++) {
		make_directory(places[way]);
		for (int i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "%s/f%d", places[way], i);
			make_file(name, "");
		}
		for (int ahead = -1; ahead <= 2; ahead++)
			read_while(places[way], way, ahead);
	}
}

/* ---- programs that a set-id program runs ------------------------------------------------------- */

__attribute__((constructor)) static void run_another(void)
{
	const char *name = getenv("THEN_RUN");

	if (!name)
		return;
	execle(name, name, (char *)NULL, (char *[]){"TELL_SECURE=1", NULL});
	_exit(99);
}

static void run_through(const char *first, const char *second)
{
	char then[60];
	int status;

	snprintf(then, sizeof(then), "THEN_RUN=%s", second);
	if (!fork()) {
		execle(first, first, (char *)NULL, (char *[]){then, NULL});
		_exit(98);
	}
	wait(&status);
	say("%s:%s=%d", first, second, WEXITSTATUS(status));
}

SCENARIO(programs_of_set_id_programs)
{
	/* Newer Linux takes a second change of the effective id for one, too: "theirs" is run first only. */
	static const char *const names[] = {"./plain", "./uid", "./gid", "./theirs"};

	copy_myself("plain", 0755);
	copy_myself("uid", 04755);
	copy_myself("gid", 02755);
	copy_myself("theirs", 0755);
	T(chown("theirs", USER_A, USER_A));
	T(chmod("theirs", 06755));
	for (int i = 0; i < 12; i++)
		run_through(names[i / 3], names[i % 3]);
	AS(USER_A)
	{
		for (int i = 0; i < 12; i++)
			run_through(names[i / 3], names[i % 3]);
	}
	AS(USER_B)
	{
		for (int i = 0; i < 12; i++)
			run_through(names[i / 3], names[i % 3]);
	}
}
