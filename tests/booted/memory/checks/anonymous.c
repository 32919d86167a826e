/*
 * anonymous.c - anonymous memory: what mmap(2) takes, protection, areas, heap, stack, advice.
 */
#include "memory.h"

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
		int prot = kind ? RW | PROT_EXEC : RW;
		char *p = map(2, prot, kind == 2 ? SHARED_ANON : ANON);
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

const struct check anonymous_checks[] = {
	{"anonymous", anonymous, false},
	{"arguments", arguments, false},
	{"hints", hints, false},
	{"protection", protection, false},
	{"execution", execution, false},
	{"code_made_while_it_runs", code_made_while_it_runs, false},
	{"areas_split_and_join", areas_split_and_join, false},
	{"heap", heap, false},
	{"stack_grows", stack_grows, false},
	{"area_grows_down", area_grows_down, false},
	{"advice", advice, false},
	{0},
};
