/*
 * little.c - little memory: each is run by name, in a machine that has not enough.
 */
#include "memory.h"

static char *shared_area;

static void nothing(void)
{
}

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

/* Many at once, by fork: each wants copies of its own, and keeps them until all others have theirs,
 * or have been ended. */
static int *survivors, wanting[2], living[2];

static void fork_bomb_child(void)
{
	char *p = map(512, RW, ANON), byte;

	CHECK(p);
	memset(p, 1, 512 * PAGE);
	for (int depth = 0; depth < 6; depth++)
		if (fork() < 0)
			_exit(1);
	memset(p, 2, 512 * PAGE);
	close(wanting[1]);
	(void)!read(wanting[0], &byte, 1);
	__atomic_add_fetch(survivors, 1, __ATOMIC_SEQ_CST);
}

/* 64 want 128 MB of 64: some are ended, and the others get what they want. */
static void fork_bomb(void)
{
	char byte;

	survivors = (int *)map(1, RW, SHARED_ANON);
	CHECK(survivors && pipe(wanting) == 0 && pipe(living) == 0);
	CHECK(in_child(fork_bomb_child) != -1);
	close(wanting[1]);
	close(living[1]);
	CHECK(read(living[0], &byte, 1) == 0);
	printf("# %d have what they want\n", *survivors);
	CHECK(*survivors > 0 && *survivors <= 32);
	CHECK(in_child(nothing) == 0);
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

const struct check little_checks[] = {
	{"bomb", bomb, true},
	{"fork_bomb", fork_bomb, true},
	{"large_file", large_file, true},
	{"pressure", pressure, true},
	{"sparse", sparse, true},
	{0},
};
