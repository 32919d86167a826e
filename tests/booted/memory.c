/*
 * memory.c - checks of the address space as a program sees it: mmap and its relatives, faults,
 * fork.
 *
 * A plain Linux program that holds on Linux as well. Usage:
 * memory DIRECTORY [NAME...]. Prints "ok NAME" or "not ok NAME: where" for each; the exit status
 * counts the failures. "bomb" and the like are run only by name: they are for a machine with little
 * memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define SHARED_ANON (MAP_SHARED | MAP_ANONYMOUS)

static int failed_line;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			if (!failed_line)                                                          \
				failed_line = __LINE__;                                            \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define CHECK_ERROR(call, wanted) CHECK((long)(call) == -1 && errno == (wanted))

/* ---- helpers --------------------------------------------------------------------------------- */

static sigjmp_buf fault_return;
static volatile int fault_signal, fault_code;
static void *volatile fault_address;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	fault_signal = number;
	fault_code = info->si_code;
	fault_address = info->si_addr;
	siglongjmp(fault_return, 1);
}

static void catch_faults(void)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* The signal that the access brings, or 0. */
static int try_read(const volatile char *address)
{
	fault_signal = 0;
	if (!sigsetjmp(fault_return, 1))
		(void)*address;
	return fault_signal;
}

static int try_write(volatile char *address)
{
	fault_signal = 0;
	if (!sigsetjmp(fault_return, 1))
		*address = 1;
	return fault_signal;
}

static int try_run(void *address)
{
	fault_signal = 0;
	if (!sigsetjmp(fault_return, 1))
		((void (*)(void))address)();
	return fault_signal;
}

static char *map(unsigned long pages, int protection, int flags)
{
	char *address = mmap(NULL, pages * PAGE, protection, flags, -1, 0);

	return address == MAP_FAILED ? NULL : address;
}

static int make_file(const char *name, unsigned long pages)
{
	int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
	char page[PAGE];

	for (unsigned long i = 0; fd >= 0 && i < pages; i++) {
		memset(page, 'a' + (int)(i % 26), PAGE);
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			return -1;
	}
	return fd;
}

/* The exit status of a child that calls @function. */
static int in_child(void (*function)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		failed_line = 0;
		function();
		_exit(failed_line != 0);
	}
	return waitpid(child, &status, 0) == child ? status : -1;
}

/* ---- anonymous memory ------------------------------------------------------------------------ */

static void anonymous(void)
{
	char *p = map(300, RW, ANON);

	CHECK(p && !((uintptr_t)p & (PAGE - 1)));
	for (int i = 0; i < 300; i++)
		CHECK(p[i * PAGE] == 0 && p[i * PAGE + PAGE - 1] == 0);
	memset(p, 7, 300 * PAGE);
	CHECK(munmap(p + 100 * PAGE, 100 * PAGE) == 0);
	CHECK(try_read(p + 100 * PAGE) == SIGSEGV && fault_code == SEGV_MAPERR &&
	      fault_address == p + 100 * PAGE);
	CHECK(p[99 * PAGE] == 7 && p[200 * PAGE] == 7);
	CHECK(mmap(p + 100 * PAGE, 100 * PAGE, RW, ANON | MAP_FIXED, -1, 0) == p + 100 * PAGE);
	CHECK(p[100 * PAGE] == 0 && p[199 * PAGE] == 0);
	CHECK(munmap(p, 300 * PAGE) == 0 && try_read(p) == SIGSEGV);
	CHECK(munmap(p, PAGE) == 0);
}

static void arguments(void)
{
	char *p = map(4, RW, ANON);

	CHECK(p);
	CHECK_ERROR(mmap(NULL, 0, RW, ANON, -1, 0), EINVAL);
	CHECK_ERROR(mmap(NULL, PAGE, RW, MAP_ANONYMOUS, -1, 0), EINVAL);
	CHECK_ERROR(mmap(NULL, PAGE, RW, MAP_PRIVATE, 99, 0), EBADF);
	CHECK_ERROR(mmap(p + 1, PAGE, RW, ANON | MAP_FIXED, -1, 0), EINVAL);
	CHECK_ERROR(mmap(NULL, 1UL << 62, RW, ANON, -1, 0), ENOMEM);
	CHECK_ERROR(mmap(NULL, ~0UL, RW, ANON, -1, 0), ENOMEM);
	CHECK_ERROR(mmap((void *)0x7ffffffff000, PAGE, RW, ANON | MAP_FIXED, -1, 0), ENOMEM);
	CHECK_ERROR(mmap(p, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0), EEXIST);
	CHECK_ERROR(munmap(p + 1, PAGE), EINVAL);
	CHECK_ERROR(syscall(SYS_munmap, p, 0), EINVAL);
	/* musl's function rounds */
	CHECK_ERROR(syscall(SYS_mprotect, p + 1, PAGE, PROT_READ), EINVAL);
	CHECK_ERROR(mprotect(p, PAGE, 64), EINVAL);
	CHECK(mprotect(p, 0, PROT_READ) == 0);
	CHECK_ERROR(madvise(p + 1, PAGE, MADV_NORMAL), EINVAL);
	CHECK_ERROR(madvise(p, PAGE, 999), EINVAL);
	CHECK_ERROR(msync(p + 1, PAGE, MS_SYNC), EINVAL);
	CHECK_ERROR(msync(p, PAGE, MS_SYNC | MS_ASYNC), EINVAL);
	CHECK(munmap(p + PAGE, PAGE) == 0);
	CHECK_ERROR(mprotect(p, 4 * PAGE, PROT_READ), ENOMEM);
	CHECK(try_write(p) == SIGSEGV); /* what lies before the hole has changed */
	CHECK_ERROR(madvise(p, 4 * PAGE, MADV_DONTNEED), ENOMEM);
	CHECK_ERROR(msync(p, 4 * PAGE, MS_SYNC), ENOMEM);
	CHECK(mmap(p + PAGE, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0) == p + PAGE);
	CHECK(munmap(p, 4 * PAGE) == 0);
}

static void hints(void)
{
	char *p = map(16, RW, ANON), *q;

	CHECK(p && munmap(p, 16 * PAGE) == 0);
	CHECK(mmap(p + 3, PAGE, RW, ANON, -1, 0) == p); /* free: rounded down */
	q = mmap(p, PAGE, RW, ANON, -1, 0);		/* taken: elsewhere */
	CHECK(q != MAP_FAILED && q != p);
	CHECK(munmap(p, PAGE) == 0 && munmap(q, PAGE) == 0);
}

static void protection(void)
{
	char *p = map(8, RW, ANON);

	CHECK(p);
	memset(p, 5, 8 * PAGE);
	CHECK(mprotect(p + 2 * PAGE, 2 * PAGE, PROT_READ) == 0);
	CHECK(try_read(p + 2 * PAGE) == 0 && try_write(p + 2 * PAGE) == SIGSEGV &&
	      fault_code == SEGV_ACCERR);
	CHECK(try_write(p + 4 * PAGE) == 0 && try_write(p + PAGE) == 0);
	CHECK(mprotect(p, 8 * PAGE, PROT_NONE) == 0);
	CHECK(try_read(p + 2 * PAGE) == SIGSEGV && fault_code == SEGV_ACCERR);
	CHECK(mprotect(p, 8 * PAGE, RW) == 0);
	/* PROT_NONE keeps what was there */
	CHECK(p[2 * PAGE] == 5 && p[3 * PAGE + 9] == 5 && p[PAGE] == 1);
	CHECK(try_write(p + 2 * PAGE) == 0);
	CHECK(munmap(p, 8 * PAGE) == 0);
	p = map(2, PROT_NONE, ANON);
	CHECK(p && try_read(p) == SIGSEGV && try_write(p) == SIGSEGV);
	CHECK(mprotect(p, PAGE, RW) == 0 && try_write(p) == 0 && p[0] == 1 &&
	      try_read(p + PAGE) == SIGSEGV);
	CHECK(munmap(p, 2 * PAGE) == 0);
}

static void execution(void)
{
	static const unsigned char code[] = {0xc3}; /* ret */
	char *p = map(1, RW, ANON);
	char local[16] = {(char)0xc3};

	CHECK(p);
	memcpy(p, code, sizeof(code));
	CHECK(try_run(p) == SIGSEGV && fault_code == SEGV_ACCERR);
	CHECK(try_run(local) == SIGSEGV);
	CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
	CHECK(try_run(p) == 0);
	CHECK(try_write(p) == SIGSEGV);
	CHECK(mprotect(p, PAGE, RW) == 0 && try_write(p + 1) == 0 && try_run(p) == SIGSEGV);
	CHECK(munmap(p, PAGE) == 0);
}

/* Memory both writable and executable, as programs that make code ask for: what was written last
 * runs, however often it changes, also in a child that changes its copy. */
static void code_made_while_it_runs(void)
{
	unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov eax, N; ret */

	for (int kind = 0; kind < 3; kind++) {
		char *p = map(2, kind ? RW | PROT_EXEC : RW, kind == 2 ? SHARED_ANON : ANON);
		int (*run)(void) = (int (*)(void))p;
		int status;

		CHECK(p);
		if (!kind)
			CHECK(mprotect(p, 2 * PAGE, RW | PROT_EXEC) == 0);
		for (int i = 1; i < 300; i++) {
			memcpy(code + 1, &i, sizeof(i));
			memcpy(p, code, sizeof(code));
			CHECK(run() == i);
		}
		if (fork() == 0) {
			p[1]++;
			_exit(run() == 300 ? 0 : 1);
		}
		CHECK(wait(&status) > 0 && status == 0);
		CHECK(run() == (kind == 2 ? 300 : 299));
		CHECK(mprotect(p, 2 * PAGE, PROT_READ | PROT_EXEC) == 0 && try_write(p) == SIGSEGV);
		CHECK(run() > 0);
		CHECK(munmap(p, 2 * PAGE) == 0);
	}
}

/* Areas of [low, high). Without malloc(), which would map its own into the holes. */
static int count_areas(const char *low, const char *high)
{
	static char text[65536];
	int fd = open("/proc/self/maps", O_RDONLY), count = 0;
	unsigned long start, end;
	size_t length = 0;
	ssize_t n;

	while ((n = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)n;
	close(fd);
	text[length] = 0;
	for (char *line = text; *line; line = strchr(line, '\n') + 1)
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start < (uintptr_t)high &&
		    end > (uintptr_t)low)
			count++;
	return count;
}

static void areas_split_and_join(void)
{
	char *p = map(64, PROT_NONE, ANON);

	CHECK(p);
	CHECK(mprotect(p + 8 * PAGE, 48 * PAGE, RW) == 0 &&
	      count_areas(p + 8 * PAGE, p + 56 * PAGE) == 1);
	for (int i = 9; i < 55; i += 2)
		CHECK(mprotect(p + i * PAGE, PAGE, PROT_READ) == 0);
	CHECK(count_areas(p + 8 * PAGE, p + 56 * PAGE) == 47);
	for (int i = 9; i < 55; i += 2)
		CHECK(mprotect(p + i * PAGE, PAGE, RW) == 0);
	CHECK(count_areas(p + 8 * PAGE, p + 56 * PAGE) == 1);
	for (int i = 8; i < 56; i += 2)
		CHECK(munmap(p + i * PAGE, PAGE) == 0);
	CHECK(count_areas(p + 8 * PAGE, p + 56 * PAGE) == 24);
	for (int i = 8; i < 56; i += 2)
		CHECK(mmap(p + i * PAGE, PAGE, RW, ANON | MAP_FIXED, -1, 0) == p + i * PAGE);
	CHECK(count_areas(p + 8 * PAGE, p + 56 * PAGE) == 1);
	CHECK(munmap(p, 64 * PAGE) == 0 && count_areas(p, p + 64 * PAGE) == 0);
}

/* The C library's brk() and sbrk() refuse to work. */
static char *set_break(char *end)
{
	return (char *)syscall(SYS_brk, end);
}

static void heap(void)
{
	char *start = set_break(NULL), *p;

	CHECK(set_break(start + 10 * PAGE + 100) == start + 10 * PAGE + 100);
	memset(start, 3, 10 * PAGE + 100);
	CHECK(set_break(NULL) == start + 10 * PAGE + 100);
	CHECK(set_break(start + 5 * PAGE + 100) == start + 5 * PAGE + 100 && start[4 * PAGE] == 3);
	CHECK(set_break(start + 10 * PAGE + 100) == start + 10 * PAGE + 100);
	p = (char *)(((uintptr_t)start + 5 * PAGE + 100 + PAGE - 1) & ~(PAGE - 1));
	CHECK(*p == 0); /* what was given back is zero again */
	CHECK(set_break(start + (1UL << 46)) == start + 10 * PAGE + 100);
	CHECK(set_break(start) == start);
}

static int recurse(int depth)
{
	volatile char frame[PAGE];

	frame[0] = (char)depth;
	return depth ? recurse(depth - 1) + frame[0] - (char)depth : 0;
}

static void stack_grows(void)
{
	struct rlimit limit;

	CHECK(recurse(1000) == 0); /* 4 MB */
	CHECK(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == 8UL << 20);
	fault_signal = 0;
	if (!sigsetjmp(fault_return, 1))
		recurse(100000);
	CHECK(fault_signal == SIGSEGV);
}

static void area_grows_down(void)
{
	char *base = map(1024, PROT_NONE, ANON), *p;

	CHECK(base && munmap(base, 1024 * PAGE) == 0);
	p = mmap(base + 1000 * PAGE, PAGE, RW, ANON | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
	CHECK(p == base + 1000 * PAGE);
	for (int i = 1; i < 100; i++)
		CHECK(try_write(p - i * PAGE) == 0);
	CHECK(munmap(base, 1024 * PAGE) == 0);
}

static void advice(void)
{
	char *p = map(16, RW, ANON);

	CHECK(p);
	memset(p, 9, 16 * PAGE);
	CHECK(madvise(p + PAGE, 2 * PAGE, MADV_DONTNEED) == 0);
	CHECK(p[0] == 9 && p[PAGE] == 0 && p[2 * PAGE + 5] == 0 && p[3 * PAGE] == 9);
	CHECK(madvise(p, 16 * PAGE, MADV_SEQUENTIAL) == 0 && p[0] == 9);
	CHECK(munmap(p, 16 * PAGE) == 0);
}

static char *filled(unsigned long pages)
{
	char *p = map(pages, RW, ANON);

	for (unsigned long i = 0; p && i < pages; i++)
		p[i * PAGE] = (char)(i + 1);
	return p;
}

static int holds(const char *p, unsigned long pages)
{
	for (unsigned long i = 0; i < pages; i++)
		if (p[i * PAGE] != (char)(i + 1))
			return 0;
	return 1;
}

/* ---- limits, counts, many areas -------------------------------------------------------------- */

static int limited(int kind, unsigned long bytes)
{
	struct rlimit limit = {bytes, RLIM_INFINITY};

	return setrlimit(kind, &limit);
}

static void limits_child(void)
{
	char *heap = sbrk(0), *p = map(16, PROT_READ, ANON);

	CHECK(p && limited(RLIMIT_DATA, PAGE) == 0);
	CHECK_ERROR(sbrk((intptr_t)(64 * PAGE)), ENOMEM);
	CHECK(sbrk(0) == heap);
	CHECK_ERROR(mmap(NULL, PAGE, RW, ANON, -1, 0), ENOMEM);
	CHECK_ERROR(mprotect(p, PAGE, RW), ENOMEM);
	CHECK(map(1, PROT_READ, ANON) && map(1, RW, SHARED_ANON));
	CHECK(limited(RLIMIT_DATA, RLIM_INFINITY) == 0 && map(1, RW, ANON));
	CHECK(limited(RLIMIT_AS, PAGE) == 0);
	CHECK_ERROR(mmap(NULL, PAGE, PROT_READ, ANON, -1, 0), ENOMEM);
	CHECK(munmap(p, 16 * PAGE) == 0);
}

static void limits(void)
{
	CHECK(in_child(limits_child) == 0);
}

static void fault_counts(void)
{
	struct rusage before, after;
	char *p = map(32, RW, ANON);

	CHECK(p);
	madvise(p, 32 * PAGE, 15); /* MADV_NOHUGEPAGE, where there are such */
	CHECK(getrusage(RUSAGE_SELF, &before) == 0);
	for (int i = 0; i < 32; i++)
		p[(unsigned long)i * PAGE] = 1;
	CHECK(getrusage(RUSAGE_SELF, &after) == 0);
	CHECK(after.ru_minflt - before.ru_minflt >= 32 && after.ru_minflt - before.ru_minflt < 64);
	CHECK(after.ru_majflt == before.ru_majflt && munmap(p, 32 * PAGE) == 0);
}

/* Areas that cannot be joined; then holes between them, which are found again. */
static void many_areas(void)
{
	const unsigned long areas = 20000;
	char *p = map(areas, PROT_NONE, ANON), *q;

	CHECK(p);
	for (unsigned long i = 0; i < areas; i += 2)
		CHECK(mprotect(p + i * PAGE, PAGE, RW) == 0);
	for (unsigned long i = 0; i < areas; i += 2)
		p[i * PAGE] = 1;
	for (unsigned long i = 1; i < areas; i += 2)
		CHECK(munmap(p + i * PAGE, PAGE) == 0);
	q = map(2, PROT_READ, ANON);
	CHECK(q && (q < p || q >= p + areas * PAGE) && munmap(q, 2 * PAGE) == 0);
	for (unsigned long i = 1; i < areas; i += 2) {
		q = map(1, PROT_READ, ANON);
		CHECK(q && munmap(p + (areas - 1 - i) * PAGE, PAGE) == 0);
	}
	for (unsigned long i = 0; i < areas; i += 2)
		CHECK(mmap(p + i * PAGE, PAGE, RW, ANON | MAP_FIXED, -1, 0) == p + i * PAGE);
	CHECK(munmap(p, areas * PAGE) == 0);
}

static void zero_device(void)
{
	int fd = open("/dev/zero", O_RDWR);
	char *private = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE, fd, 0);
	char *shared = mmap(NULL, 2 * PAGE, RW, MAP_SHARED, fd, 0);
	pid_t child;

	CHECK(fd >= 0 && private != MAP_FAILED && shared != MAP_FAILED);
	close(fd);
	CHECK(private[0] == 0 && shared[PAGE] == 0);
	private[0] = 1;
	child = fork();
	if (!child) {
		private[0] = 2;
		shared[PAGE] = 3;
		_exit(0);
	}
	CHECK(waitpid(child, NULL, 0) == child && private[0] == 1 && shared[PAGE] == 3);
	CHECK(msync(shared, 2 * PAGE, MS_SYNC) == 0);
	CHECK(munmap(private, 2 * PAGE) == 0 && munmap(shared, 2 * PAGE) == 0);
}

/* As ld.so does it: a reservation, and the file's segments over parts of it. */
static void over_a_reservation(void)
{
	int fd = make_file("segments", 8);
	char *p = map(16, PROT_NONE, ANON | MAP_NORESERVE);
	char *q = mmap(p, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE,
		       fd, 0);

	CHECK(fd >= 0 && p && q == p && p[3 * PAGE] == 'd');
	q = mmap(p + 4 * PAGE, 4 * PAGE, RW, MAP_PRIVATE | MAP_FIXED, fd, 4 * (long)PAGE);
	CHECK(q == p + 4 * PAGE && *q == 'e');
	*q = 'x';
	q = mmap(p + 8 * PAGE, 2 * PAGE, RW, ANON | MAP_FIXED, -1, 0);
	CHECK(q == p + 8 * PAGE && *q == 0 && mprotect(p + 4 * PAGE, PAGE, PROT_READ) == 0);
	CHECK(p[4 * PAGE] == 'x' && p[5 * PAGE] == 'f' && try_write(p + 4 * PAGE) == SIGSEGV);
	CHECK_ERROR(mmap(p, PAGE, RW, ANON | 0x100000, -1, 0), EEXIST); /* FIXED_NOREPLACE */
	CHECK(munmap(p, 16 * PAGE) == 0 && close(fd) == 0 && unlink("segments") == 0);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void file_private(void)
{
	int fd = make_file("private", 50);
	char *p = mmap(NULL, 50 * PAGE, RW, MAP_PRIVATE, fd, 0), c = 0;

	CHECK(fd >= 0 && p != MAP_FAILED);
	for (int i = 0; i < 50; i += 3)
		CHECK(p[i * PAGE + 17] == 'a' + i % 26);
	p[5 * PAGE] = 'X';  /* not read before */
	p[21 * PAGE] = 'Y'; /* read before */
	CHECK(p[5 * PAGE] == 'X' && p[5 * PAGE + 1] == 'f' && p[21 * PAGE + 1] == 'v');
	CHECK(pread(fd, &c, 1, 5 * PAGE) == 1 && c == 'f' && pread(fd, &c, 1, 21 * PAGE) == 1 &&
	      c == 'v');
	/* not copied: the file shows through */
	CHECK(pwrite(fd, "ZZ", 2, 7 * PAGE) == 2 && p[7 * PAGE] == 'Z');
	CHECK(madvise(p, 50 * PAGE, MADV_DONTNEED) == 0 && p[5 * PAGE] == 'f');
	CHECK(munmap(p, 50 * PAGE) == 0);
	close(fd);
}

/* Reclaim takes a file's page from those who look at it, and leaves what others made of theirs. */
static void copies_stay(void)
{
	int fd = make_file("copies", 2), drop = open("/proc/sys/vm/drop_caches", O_WRONLY);
	char *copy = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE, fd, 0);
	char *seen = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(drop >= 0 && copy != MAP_FAILED && seen != MAP_FAILED && fsync(fd) == 0);
	*copy = 'X';
	for (int i = 0; i < 3; i++) {
		CHECK(seen[0] == 'a' && seen[PAGE] == 'b' && copy[PAGE] == 'b');
		CHECK(write(drop, "1", 1) == 1 && *copy == 'X');
	}
	close(drop);
	close(fd);
}

/* Look at the byte at @p; the faults that it took. */
static struct rusage faults_of(const volatile char *p)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	(void)*p;
	getrusage(RUSAGE_SELF, &after);
	after.ru_minflt -= before.ru_minflt;
	after.ru_majflt -= before.ru_majflt;
	return after;
}

/* A fault that reads from the disk is a major one and nothing else; one that finds the page in the
 * cache a minor one. */
static void major_faults(void)
{
	int fd = make_file("major", 1), drop = open("/proc/sys/vm/drop_caches", O_WRONLY);
	char *first = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	char *second = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	struct rusage faults;
	char here = 0;

	CHECK(drop >= 0 && first != MAP_FAILED && second != MAP_FAILED && fsync(fd) == 0);
	CHECK(write(drop, "1", 1) == 1);
	faults_of(&here); /* the program's own pages are there again */
	faults = faults_of(first);
	CHECK(faults.ru_majflt == 1 && faults.ru_minflt == 0);
	faults = faults_of(second);
	CHECK(faults.ru_majflt == 0 && faults.ru_minflt == 1);
	faults = faults_of(first);
	CHECK(faults.ru_majflt == 0 && faults.ru_minflt == 0);
	close(drop);
	close(fd);
}

static void file_shared(void)
{
	int fd = make_file("shared", 40);
	char *p = mmap(NULL, 40 * PAGE, RW, MAP_SHARED, fd, 0), *q, c = 0;
	struct stat before, after;

	CHECK(fd >= 0 && p != MAP_FAILED && p[3 * PAGE] == 'd');
	q = mmap(NULL, 20 * PAGE, PROT_READ, MAP_SHARED, fd, 20 * PAGE);
	CHECK(q != MAP_FAILED && q[PAGE] == 'v');
	fstat(fd, &before);
	usleep(20000);
	p[21 * PAGE] = 'S';
	fstat(fd, &after);
	CHECK(q[PAGE] == 'S' && pread(fd, &c, 1, 21 * PAGE) == 1 && c == 'S');
	CHECK(pwrite(fd, "W", 1, 22 * PAGE) == 1 && q[2 * PAGE] == 'W' && p[22 * PAGE] == 'W');
	CHECK(after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
	      after.st_mtim.tv_nsec != before.st_mtim.tv_nsec);
	CHECK(msync(p, 40 * PAGE, MS_SYNC) == 0);
	p[21 * PAGE] = 'T'; /* after it was cleaned: dirty again */
	CHECK(msync(p, 40 * PAGE, MS_ASYNC) == 0 && fsync(fd) == 0 && q[PAGE] == 'T');
	CHECK(munmap(p, 40 * PAGE) == 0 && munmap(q, 20 * PAGE) == 0);
	close(fd);
}

static void file_rights(void)
{
	int fd, reader, writer;

	CHECK((fd = make_file("rights", 2)) >= 0);
	reader = open("rights", O_RDONLY);
	writer = open("rights", O_WRONLY);
	CHECK(reader >= 0 && writer >= 0);
	CHECK_ERROR(mmap(NULL, PAGE, RW, MAP_SHARED, reader, 0), EACCES);
	CHECK_ERROR(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, writer, 0), EACCES);
	CHECK_ERROR(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, writer, 0), EACCES);
	char *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reader, 0);
	CHECK(p != MAP_FAILED && close(reader) == 0 && p[0] == 'a');
	CHECK_ERROR(mprotect(p, PAGE, RW), EACCES);
	CHECK(munmap(p, PAGE) == 0);
	int pipes[2], directory = open(".", O_RDONLY);
	CHECK(pipe(pipes) == 0 && directory >= 0);
	CHECK_ERROR(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, pipes[0], 0), ENODEV);
	CHECK_ERROR(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, directory, 0), ENODEV);
	close(fd), close(writer), close(pipes[0]), close(pipes[1]), close(directory);
}

static void past_the_end(void)
{
	int fd = make_file("end", 0);
	char *p, c;

	CHECK(fd >= 0 && ftruncate(fd, 3 * (long)PAGE + 100) == 0);
	p = mmap(NULL, 8 * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	CHECK(try_read(p + 3 * PAGE + 4000) == 0 && p[3 * PAGE + 4000] == 0);
	CHECK(try_read(p + 4 * PAGE) == SIGBUS && fault_code == BUS_ADRERR &&
	      fault_address == p + 4 * PAGE);
	CHECK(try_write(p + 5 * PAGE) == SIGBUS);
	CHECK(ftruncate(fd, 6 * (long)PAGE) == 0);
	CHECK(try_read(p + 4 * PAGE) == 0 && try_write(p + 5 * PAGE) == 0 &&
	      try_write(p + 6 * PAGE) == SIGBUS);
	CHECK(pread(fd, &c, 1, 5 * PAGE) == 1 && c == 1);
	CHECK(munmap(p, 8 * PAGE) == 0);
	close(fd);
}

static void truncated_under_it(void)
{
	int fd = make_file("truncated", 30);
	char *p = mmap(NULL, 30 * PAGE, RW, MAP_SHARED, fd, 0);
	char *q = mmap(NULL, 30 * PAGE, RW, MAP_PRIVATE, fd, 0);
	char page[PAGE];

	CHECK(fd >= 0 && p != MAP_FAILED && q != MAP_FAILED);
	for (int i = 0; i < 30; i++)
		CHECK(p[i * PAGE] == 'a' + i % 26 && q[i * PAGE] == 'a' + i % 26);
	q[20 * PAGE] = 'Q';
	p[10 * PAGE + 2000] = 'P';
	CHECK(ftruncate(fd, 10 * (long)PAGE + 1000) == 0);
	CHECK(try_read(p + 9 * PAGE) == 0 && try_read(p + 10 * PAGE) == 0);
	CHECK(try_read(p + 11 * PAGE) == SIGBUS && try_read(q + 11 * PAGE) == SIGBUS);
	CHECK(try_read(q + 20 * PAGE) == SIGBUS); /* copies go too */
	CHECK(p[10 * PAGE + 999] == 'k' && p[10 * PAGE + 1000] == 0 && p[10 * PAGE + 2000] == 0);
	CHECK(ftruncate(fd, 30 * (long)PAGE) == 0);
	CHECK(p[20 * PAGE] == 0 && q[20 * PAGE] == 0 && p[10 * PAGE + 1000] == 0);
	CHECK(pread(fd, page, PAGE, 20 * PAGE) == (ssize_t)PAGE && page[0] == 0 &&
	      page[PAGE - 1] == 0);
	CHECK(munmap(p, 30 * PAGE) == 0 && munmap(q, 30 * PAGE) == 0);
	close(fd);
}

static void file_outlives_its_name(void)
{
	int fd = make_file("unlinked", 20);
	char *p = mmap(NULL, 20 * PAGE, RW, MAP_SHARED, fd, 0);

	CHECK(fd >= 0 && p != MAP_FAILED && unlink("unlinked") == 0 && close(fd) == 0);
	for (int i = 0; i < 20; i++)
		CHECK(p[i * PAGE] == 'a' + i);
	memset(p, 'u', 20 * PAGE);
	CHECK(p[19 * PAGE] == 'u' && munmap(p, 20 * PAGE) == 0);
}

/* write(2) from and read(2) into a mapping of the very page that is read or written. */
static void file_to_itself(void)
{
	int fd = make_file("itself", 4);
	char *p = mmap(NULL, 4 * PAGE, RW, MAP_SHARED, fd, 0);

	CHECK(fd >= 0 && p != MAP_FAILED);
	CHECK(pwrite(fd, p + PAGE, 2 * PAGE, 0) == (ssize_t)(2 * PAGE) && p[0] == 'b' &&
	      p[PAGE] == 'c');
	CHECK(madvise(p, 4 * PAGE, MADV_DONTNEED) == 0);
	CHECK(pread(fd, p + 3 * PAGE, PAGE, 3 * PAGE) == (ssize_t)PAGE && p[3 * PAGE] == 'd');
	CHECK(munmap(p, 4 * PAGE) == 0);
	close(fd);
}

static void kernel_faults(void)
{
	int fd = make_file("kernel", 20), end = make_file("short", 1);
	char *p = map(20, RW, ANON), *q = mmap(NULL, 4 * PAGE, RW, MAP_SHARED, end, 0);
	char *gone = map(1, RW, ANON);

	CHECK(fd >= 0 && p && q != MAP_FAILED && gone && munmap(gone, PAGE) == 0);
	CHECK(pread(fd, p + 100, 19 * PAGE, 0) == (ssize_t)(19 * PAGE) &&
	      p[100 + 18 * PAGE] == 's');
	CHECK_ERROR(pread(fd, gone, PAGE, 0), EFAULT);
	CHECK_ERROR(pwrite(fd, gone, PAGE, 0), EFAULT);
	CHECK_ERROR(pread(fd, q + PAGE, PAGE, 0), EFAULT); /* past the end of the mapped file */
	CHECK(mprotect(p, PAGE, PROT_READ) == 0);
	CHECK_ERROR(pread(fd, p, PAGE, 0), EFAULT);
	CHECK(munmap(p, 20 * PAGE) == 0 && munmap(q, 4 * PAGE) == 0);
	close(fd), close(end);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static char *area, *shared_area;

static void child_writes(void)
{
	for (int i = 0; i < 100; i++)
		CHECK(area[i * PAGE] == (char)(i + 1));
	memset(area, 77, 100 * PAGE);
	CHECK(shared_area[0] == 1 && shared_area[50 * PAGE] == 0);
	shared_area[50 * PAGE] = 42;
	shared_area[PAGE] = 43;
}

static void copy_on_write(void)
{
	area = filled(100);
	shared_area = map(100, RW, SHARED_ANON);
	CHECK(area && shared_area);
	shared_area[0] = 1;
	shared_area[PAGE] = 1;
	CHECK(in_child(child_writes) == 0);
	CHECK(holds(area, 100) && shared_area[50 * PAGE] == 42 && shared_area[PAGE] == 43);
	CHECK(try_write(area) == 0);
	CHECK(munmap(area, 100 * PAGE) == 0 && munmap(shared_area, 100 * PAGE) == 0);
}

static void deeper(void)
{
	CHECK(holds(area, 100));
	area[0] = 99;
	CHECK(in_child(child_writes) != 0); /* it sees 99 */
	area[0] = 1;
	CHECK(in_child(child_writes) == 0 && holds(area, 100));
}

static void copy_of_a_copy(void)
{
	area = filled(100);
	shared_area = map(100, RW, SHARED_ANON);
	CHECK(area && shared_area);
	shared_area[0] = 1;
	CHECK(in_child(deeper) == 0 && holds(area, 100));
	CHECK(munmap(area, 100 * PAGE) == 0 && munmap(shared_area, 100 * PAGE) == 0);
}

static void shared_file_child(void)
{
	CHECK(shared_area[0] == 'a');
	shared_area[0] = 'C';
	shared_area[30 * PAGE] = 'D';
}

static void shared_file_after_fork(void)
{
	int fd = make_file("forked", 40);
	char c;

	shared_area = mmap(NULL, 40 * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(fd >= 0 && shared_area != MAP_FAILED && shared_area[30 * PAGE] == 'e');
	CHECK(in_child(shared_file_child) == 0);
	CHECK(shared_area[0] == 'C' && shared_area[30 * PAGE] == 'D');
	CHECK(pread(fd, &c, 1, 30 * PAGE) == 1 && c == 'D');
	CHECK(munmap(shared_area, 40 * PAGE) == 0);
	close(fd);
}

static void kernel_copies_on_write_child(void)
{
	int pipes[2];

	CHECK(pipe(pipes) == 0 && write(pipes[1], "kernel", 6) == 6);
	CHECK(read(pipes[0], area, 6) == 6 && memcmp(area, "kernel", 6) == 0);
}

static void kernel_copies_on_write(void)
{
	area = filled(100);
	CHECK(area && in_child(kernel_copies_on_write_child) == 0 && holds(area, 100));
	CHECK(munmap(area, 100 * PAGE) == 0);
}

static void many_forks(void)
{
	area = filled(64);
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			area[(i % 64) * PAGE] = 0;
			_exit(i & 127);
		}
		int status;
		CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == (i & 127));
	}
	CHECK(holds(area, 64) && munmap(area, 64 * PAGE) == 0);
}

/* ---- threads --------------------------------------------------------------------------------- */

static volatile int stop;
static volatile unsigned long errors_seen;

static void *toucher(void *argument)
{
	char *p = argument;

	for (unsigned long round = 0; !stop; round++)
		for (int i = 0; i < 64; i++)
			__atomic_fetch_add((unsigned *)(p + i * PAGE), 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *mapper(void *argument)
{
	(void)argument;
	while (!stop) {
		char *p = map(16, RW, ANON);

		if (!p) {
			errors_seen++;
			continue;
		}
		for (int i = 0; i < 16; i++) {
			errors_seen += p[i * PAGE] != 0;
			p[i * PAGE] = 1;
		}
		munmap(p, 16 * PAGE);
	}
	return NULL;
}

static void fork_child(void)
{
}

static void threads_and_fork(void)
{
	pthread_t threads[4];
	char *p = map(64, RW, ANON);

	CHECK(p);
	stop = 0;
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, i & 1 ? mapper : toucher, p) == 0);
	for (int i = 0; i < 50; i++) {
		CHECK(in_child(fork_child) == 0);
		CHECK(mprotect(p, 64 * PAGE, RW) == 0);
		usleep(1000);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(errors_seen == 0 && munmap(p, 64 * PAGE) == 0);
}

static char *filled_by_four;

static void *filler(void *first)
{
	for (char *p = first; p < filled_by_four + 4096 * PAGE; p += 4 * PAGE)
		*p = 1;
	return NULL;
}

/* Faults of several threads count the pages of one file. */
static void blocks_are_counted(void)
{
	int fd = memfd_create("blocks", 0);
	pthread_t threads[4];
	struct stat status;

	CHECK(fd >= 0 && ftruncate(fd, 4096 * PAGE) == 0);
	filled_by_four = mmap(NULL, 4096 * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(filled_by_four != MAP_FAILED);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, filler, filled_by_four + i * PAGE) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(fstat(fd, &status) == 0 && status.st_blocks == 4096 * PAGE / 512);
	CHECK(munmap(filled_by_four, 4096 * PAGE) == 0 && close(fd) == 0);
}

/* ---- races ----------------------------------------------------------------------------------- */

static void touch_for_ever(int seed)
{
	unsigned random = (unsigned)seed;

	for (;;) {
		random = random * 1103515245 + 12345;
		char *p = shared_area + (random >> 8) % 64 * PAGE;

		if (random & 64)
			try_write(p);
		else
			try_read(p);
		if (!(random >> 8 & 255))
			madvise(shared_area, 64 * PAGE, MADV_DONTNEED);
	}
}

/* A file shrinks and grows while others write to it through mappings: they get SIGBUS, or pages of
 * zeros. */
static void truncation_race(void)
{
	int fd = make_file("race", 64);
	pid_t children[4];
	char page[PAGE];

	shared_area = mmap(NULL, 64 * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(fd >= 0 && shared_area != MAP_FAILED);
	for (int i = 0; i < 4; i++) {
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (!children[i])
			touch_for_ever(i + 1);
	}
	for (int round = 0; round < 100; round++) {
		CHECK(ftruncate(fd, (round * 37 % 64) * (long)PAGE + 5) == 0);
		usleep(500);
		CHECK(ftruncate(fd, 64 * (long)PAGE) == 0);
		CHECK(pwrite(fd, "x", 1, (round * 11 % 64) * (long)PAGE) == 1);
		if (round % 8 == 0)
			CHECK(msync(shared_area, 64 * PAGE, MS_SYNC) == 0);
		usleep(500);
	}
	for (int i = 0; i < 4; i++) {
		int status;

		kill(children[i], SIGKILL);
		CHECK(waitpid(children[i], &status, 0) == children[i] &&
		      WTERMSIG(status) == SIGKILL);
	}
	CHECK(ftruncate(fd, 0) == 0 && ftruncate(fd, 64 * (long)PAGE) == 0);
	for (int i = 0; i < 64; i++) {
		CHECK(shared_area[i * PAGE] == 0);
		CHECK(pread(fd, page, PAGE, i * (long)PAGE) == (ssize_t)PAGE && page[0] == 0);
	}
	CHECK(munmap(shared_area, 64 * PAGE) == 0);
	close(fd);
}

/* ---- little memory: run by name -------------------------------------------------------------- */

/* Takes memory until it ends; the parent lives on. */
static void bomb_child(void)
{
	for (;;) {
		char *p = map(256, RW, ANON);

		if (!p)
			continue;
		memset(p, 1, 256 * PAGE);
	}
}

static void bomb(void)
{
	for (int i = 0; i < 3; i++) {
		int status = in_child(bomb_child);

		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
}

/* Many at once, by fork: each holds its copies. */
static void fork_bomb_child(void)
{
	char *p = map(512, RW, ANON);

	CHECK(p);
	memset(p, 1, 512 * PAGE);
	for (int depth = 0; depth < 6; depth++)
		fork();
	memset(p, 2, 512 * PAGE);
	usleep(100000);
}

static void fork_bomb(void)
{
	int status = in_child(fork_bomb_child);

	CHECK(status != -1);
	sleep(2);
	CHECK(in_child(fork_child) == 0);
}

/* A file larger than what a machine of 32 MB has, all of it read, then all of it written, through a
 * mapping. */
static void large_file(void)
{
	const unsigned long pages = 12288; /* 48 MB */
	int fd = open("large", O_CREAT | O_RDWR | O_TRUNC, 0644);
	char *p;

	CHECK(fd >= 0 && ftruncate(fd, (long)(pages * PAGE)) == 0);
	p = mmap(NULL, pages * PAGE, RW, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	for (unsigned long i = 0; i < pages; i++)
		CHECK(p[i * PAGE] == 0);
	for (unsigned long i = 0; i < pages; i++)
		*(unsigned long *)(p + i * PAGE) = i + 1;
	for (unsigned long i = 0; i < pages; i++)
		CHECK(*(unsigned long *)(p + i * PAGE) == i + 1);
	CHECK(msync(p, pages * PAGE, MS_SYNC) == 0 && munmap(p, pages * PAGE) == 0);
	close(fd);
}

/* Several processes read one file, larger than memory together with what they hold, through
 * mappings. */
static void reader(int seed)
{
	char *own = map(1024, RW, ANON); /* 4 MB each */
	unsigned random = (unsigned)seed;

	if (!own)
		_exit(2);
	memset(own, seed, 1024 * PAGE);
	for (int i = 0; i < 2000; i++) {
		random = random * 1103515245 + 12345;
		unsigned long page = (random >> 8) % 8192;

		if (*(unsigned long *)(shared_area + page * PAGE) != page + 1)
			_exit(3);
		if (own[(page & 1023) * PAGE] != (char)seed)
			_exit(4);
	}
	_exit(0);
}

static void pressure(void)
{
	int fd = make_file("pressure", 0), status;
	char page[PAGE] = "";

	CHECK(fd >= 0);
	for (unsigned long i = 0; i < 8192; i++) { /* 32 MB */
		*(unsigned long *)page = i + 1;
		CHECK(write(fd, page, PAGE) == (ssize_t)PAGE);
	}
	shared_area = mmap(NULL, 8192 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(shared_area != MAP_FAILED);
	for (int i = 1; i <= 4; i++)
		if (!fork())
			reader(i);
	for (int i = 0; i < 4; i++)
		CHECK(wait(&status) > 0 && status == 0);
	CHECK(munmap(shared_area, 8192 * PAGE) == 0);
	close(fd);
}

/* Mapping and touching one page in each 2 MB, giving it back: tables must not pile up. */
static void sparse(void)
{
	for (int round = 0; round < 200; round++) {
		char *p = mmap(NULL, 1UL << 30, RW, ANON | MAP_NORESERVE, -1, 0);

		CHECK(p != MAP_FAILED);
		for (unsigned long at = 0; at < 1UL << 30; at += 4UL << 20)
			p[at] = 1;
		CHECK(munmap(p, 1UL << 30) == 0);
	}
	for (unsigned long at = 1UL << 40; at < (1UL << 40) + 20000 * (4UL << 20);
	     at += 4UL << 20) {
		char *p = mmap((void *)at, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);

		CHECK((unsigned long)p == at);
		*p = 1;
		CHECK(munmap(p, PAGE) == 0);
	}
}

/* ---- the list -------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*function)(void);
	int by_name_only;
} checks[] = {
#define C(function)                                                                                \
	{                                                                                          \
#function, function, 0                                                             \
	}
#define N(function)                                                                                \
	{                                                                                          \
#function, function, 1                                                             \
	}
	C(anonymous),
	C(arguments),
	C(hints),
	C(protection),
	C(execution),
	C(code_made_while_it_runs),
	C(areas_split_and_join),
	C(heap),
	C(stack_grows),
	C(area_grows_down),
	C(advice),
	C(limits),
	C(fault_counts),
	C(many_areas),
	C(zero_device),
	C(over_a_reservation),
	C(file_private),
	C(file_shared),
	C(file_rights),
	C(past_the_end),
	C(truncated_under_it),
	C(file_outlives_its_name),
	C(file_to_itself),
	C(kernel_faults),
	C(copy_on_write),
	C(copy_of_a_copy),
	C(shared_file_after_fork),
	C(kernel_copies_on_write),
	C(many_forks),
	C(threads_and_fork),
	C(blocks_are_counted),
	C(truncation_race),
	N(copies_stay),
	N(major_faults),
	N(bomb),
	N(fork_bomb),
	N(large_file),
	N(pressure),
	N(sparse),
};

static int wanted(int index, char **names)
{
	if (!*names)
		return !checks[index].by_name_only;
	for (; *names; names++)
		if (!strcmp(*names, checks[index].name))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	int failures = 0;

	if (argc < 2 || chdir(argv[1])) {
		fprintf(stderr, "usage: memory DIRECTORY [NAME...]\n");
		return 100;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	catch_faults();
	for (unsigned i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!wanted((int)i, argv + 2))
			continue;
		failed_line = 0;
		checks[i].function();
		if (failed_line)
			printf("not ok %s: line %d, errno %d, signal %d\n", checks[i].name,
			       failed_line, errno, fault_signal);
		else
			printf("ok %s\n", checks[i].name);
		failures += failed_line != 0;
	}
	return failures;
}
