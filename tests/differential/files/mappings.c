/*
 * mappings.c - scenarios of mapped files and of memory shared with children.
 */
#include "../scenarios.h"

SCENARIO(mmap_private)
{
	char *p;
	int fd;

	make_file("f", "private");
	fd = open("f", O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	T(p != MAP_FAILED);
	p[0] = 'X';
	say("%.7s", p);
	slurp("f");
	T(munmap(p, 4096));
}

SCENARIO(mmap_shared)
{
	char *p, buffer[8] = "";
	int fd;

	make_file("f", "shared!");
	fd = open("f", O_RDWR);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	T(p != MAP_FAILED);
	p[0] = 'S';
	T(pread(fd, buffer, 7, 0));
	say("%s", buffer);
	T(pwrite(fd, "R", 1, 6));
	say("%.7s", p);
	T(msync(p, 4096, MS_SYNC));
	T(msync(p, 4096, MS_SYNC | MS_ASYNC));
	T(munmap(p, 4096));
	slurp("f");
}

SCENARIO(mmap_shared_with_child)
{
	char *p;
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	ftruncate(fd, 4096);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!fork()) {
		strcpy(p, "from the child");
		_exit(0);
	}
	wait(NULL);
	say("%s", p);
	T(access("f", F_OK));
}

SCENARIO(mmap_anonymous_shared)
{
	int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	T(p != MAP_FAILED);
	if (!fork()) {
		*p = 42;
		_exit(0);
	}
	wait(NULL);
	T(*p);
}

SCENARIO(mmap_errors)
{
	int r, w;

	make_file("f", "x");
	r = open("f", O_RDONLY);
	w = open("f", O_WRONLY);
	T(mmap(NULL, 4096, PROT_READ, MAP_SHARED, w, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, r, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE, w, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, r, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, r, 100) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 99, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_READ, 0, r, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(".", O_RDONLY), 0) == MAP_FAILED ? -1 : 0);
	T(mmap((void *)1, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, r, 0) == MAP_FAILED ? -1 : 0);
	T(munmap((void *)1, 4096));
	T(mprotect((void *)0x10000, 4096, PROT_READ));
}

static void on_bus(int signo)
{
	say("signal %d", signo);
	_exit(0);
}

SCENARIO(mmap_past_end)
{
	volatile char *p;
	int fd;

	make_file("f", "short");
	fd = open("f", O_RDONLY);
	p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
	T(p[4095]);
	signal(SIGBUS, on_bus);
	T(p[4096]);
}

SCENARIO(mmap_truncated_file)
{
	volatile char *p;
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	ftruncate(fd, 8192);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p[5000] = 'x';
	T(p[5000]);
	ftruncate(fd, 4096);
	T(p[0]);
	signal(SIGBUS, on_bus);
	T(p[5000]);
}

SCENARIO(mmap_write_protection)
{
	volatile char *p;
	int fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	T(mprotect((void *)p, 4096, PROT_READ | PROT_WRITE));
	signal(SIGSEGV, on_bus);
	p[0] = 'y';
}

SCENARIO(mmap_unlinked_file)
{
	char *p;
	int fd;

	make_file("f", "still here");
	fd = open("f", O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	unlink("f");
	say("%s", p);
}

/* A MAP_FIXED that is refused leaves what is there; and what is there counts for the limit. */
SCENARIO(a_fixed_mapping_over_the_limit_takes_nothing_away)
{
	enum { PAGE = 4096, PAGES = 64 };
	char *there = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char line[200];
	unsigned long pages;
	FILE *statm = fopen("/proc/self/statm", "r");

	strcpy(there, "still there");
	fgets(line, sizeof(line), statm);
	fclose(statm);
	pages = strtoul(line, NULL, 10);
	T(setrlimit(RLIMIT_AS, &(struct rlimit){(pages + 8) * PAGE, RLIM_INFINITY}));
	T(mmap(there, (PAGES + 64) * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
	say("%s", there);
	T(mmap(there, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == there);
	say("%d", *there);
}

/* One call on terabytes of which nearly all is hole: nothing that a signal would have to end. */
SCENARIO(mappings_of_terabytes)
{
	size_t length = 40UL << 40;
	struct timespec begin, end;
	char *there = mmap(NULL, length, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	T(there != MAP_FAILED);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	there[length / 2] = 1;
	T(mprotect(there, length, PROT_READ));
	pid_t child = fork();

	if (!child)
		_exit(there[length / 2]);
	int status;
	waitpid(child, &status, 0);
	say("%d", WEXITSTATUS(status));
	T(madvise(there, length, MADV_DONTNEED));
	say("%d", there[length / 2]);
	T(munmap(there, length));
	clock_gettime(CLOCK_MONOTONIC, &end);
	say("%s", end.tv_sec - begin.tv_sec < 2 ? "at once" : "after seconds");
}

/* An instruction that changes a byte of the page that it lies in: addb $1, 0x39(%rip); ret. */
SCENARIO(code_that_stores_beside_itself)
{
	static const int kinds[] = {MAP_PRIVATE | MAP_ANONYMOUS, MAP_PRIVATE, MAP_SHARED};
	static const unsigned char code[] = {0x80, 0x05, 0x39, 0, 0, 0, 1, 0xc3};
	int prot = PROT_READ | PROT_WRITE | PROT_EXEC, fd = open("f", O_CREAT | O_RDWR, 0755);
	unsigned char *p;
	int status;

	alarm(5); /* for who never gets on */
	ftruncate(fd, 8192);
	for (int kind = 0; kind < 3; kind++) {
		p = mmap(NULL, 8192, prot, kinds[kind], kind ? fd : -1, 0);
		memcpy(p, code, sizeof(code));
		((void (*)(void))p)();
		((void (*)(void))p)();
		say("%d", p[0x40]);
		/* and one that lies in two pages, and stores to the second */
		memcpy(p + 4093, code, sizeof(code));
		((void (*)(void))(p + 4093))();
		say("%d", p[4093 + 0x40]);
		if (!fork()) {
			((void (*)(void))p)();
			_exit(p[0x40]);
		}
		wait(&status);
		say("in a child %d, here %d", WEXITSTATUS(status), p[0x40]);
	}
	alarm(0);
}

/* Right below the stack lies a gap, for it to grow into: who asks for it gets another place. */
SCENARIO(no_room_below_the_stack)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, stack = 0;
	char line[256], *p;

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]") && sscanf(line, "%lx", &start) == 1)
			stack = start;
	fclose(maps);
	p = mmap((char *)stack - 65536, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T(p == (char *)stack - 65536);
	T(p != MAP_FAILED);
	p = mmap((char *)stack - (3 << 20), 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T(p == (char *)stack - (3 << 20));
}

SCENARIO(offsets_of_nothing)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = open("f", O_CREAT | O_RDWR, 0755);

	T(syscall(SYS_mmap, 0, 4096, PROT_READ, flags, -1, -4096L) > 0);
	T(syscall(SYS_mmap, 0, 8192, PROT_READ, flags, -1, -4096L) > 0);
	T(syscall(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, -4096L));
	T(syscall(SYS_mmap, 0, 8192, PROT_READ, MAP_PRIVATE, fd, -4096L));
}
