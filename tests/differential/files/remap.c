/*
 * remap.c - scenarios of mremap(2).
 */
#include "../scenarios.h"

#define PAGE 4096L
#define MAP(pages) mmap(NULL, (pages) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

/* How it went: to the same place, to another, or not. */
static char *show_remap(const char *what, char *old, long old_pages, long new_pages, int flags, void *to)
{
	char *new = (char *)syscall(SYS_mremap, old, old_pages * PAGE, new_pages * PAGE, flags, to);

	if (new == MAP_FAILED)
		show(what, -1);
	else if (new == old)
		say("%s=there", what);
	else
		say("%s=%s", what, new == (char *)to ? "where said" : "moved");
	return new;
}

/* The first letters of pages, '.' for zeros, '-' where nothing is. */
static void show_pages(char *at, int pages)
{
	unsigned char vector;
	char text[17] = "";

	for (int i = 0; i < pages; i++) {
		char *page = at + i * PAGE;

		if (mincore(page, PAGE, &vector))
			text[i] = '-';
		else
			text[i] = *page ? *page : '.';
	}
	say("%s", text);
}

static void letters(char *at, int pages)
{
	for (int i = 0; i < pages; i++)
		at[i * PAGE] = (char)('a' + i);
}

SCENARIO(mremap_shorter)
{
	char *p = MAP(8);

	letters(p, 8);
	show_remap("shorter", p, 8, 5, 0, NULL);
	show_pages(p, 8);
	show_remap("same", p, 5, 5, 0, NULL);
	show_remap("of a part", p, 2, 1, 0, NULL);
	show_pages(p, 8);
	munmap(p + 3 * PAGE, PAGE);
	show_remap("over a hole", p + 2 * PAGE, 3, 1, 0, NULL);
	show_pages(p, 8);
}

SCENARIO(mremap_longer)
{
	char *p = MAP(8), *q;

	letters(p, 8);
	munmap(p + 4 * PAGE, 4 * PAGE);
	show_remap("into the room", p, 4, 6, 0, NULL);
	show_pages(p, 8);
	p[5 * PAGE] = 'x';
	show_remap("a part", p, 2, 3, 0, NULL);
	q = show_remap("a part, moving", p, 2, 4, MREMAP_MAYMOVE, NULL);
	show_pages(q, 4);
	show_pages(p, 8);
	q = show_remap("a middle, moving", p + 3 * PAGE, 2, 3, MREMAP_MAYMOVE, NULL);
	show_pages(q, 3);
	show_pages(p, 8);
}

SCENARIO(mremap_fixed)
{
	char *p = MAP(4), *q = MAP(8);

	letters(p, 4);
	letters(q, 8);
	show_remap("fixed", p, 4, 6, MREMAP_MAYMOVE | MREMAP_FIXED, q + PAGE);
	show_pages(p, 4);
	show_pages(q, 8);
	show_remap("shorter", q + PAGE, 4, 2, MREMAP_MAYMOVE | MREMAP_FIXED, p);
	show_pages(p, 4);
	show_pages(q, 8);
	q[0] = 'A';
	p[PAGE] = 'B';
	show_pages(p, 2);
	show_pages(q, 2);
	show_remap("down next to it", q + 7 * PAGE, 1, 1, MREMAP_MAYMOVE | MREMAP_FIXED, q + 4 * PAGE);
	show_pages(q, 8);
}

SCENARIO(mremap_errors)
{
	char *p = MAP(8);
	const int fixed = MREMAP_MAYMOVE | MREMAP_FIXED;

	munmap(p + 4 * PAGE, PAGE);
	show_remap("flags", p, 1, 2, 8, NULL);
	show_remap("fixed alone", p, 1, 2, MREMAP_FIXED, p);
	show_remap("no length", p, 1, 0, MREMAP_MAYMOVE, NULL);
	show_remap("no old length", p, 0, 1, MREMAP_MAYMOVE, NULL);
	show_remap("unaligned", p + 1, 1, 2, MREMAP_MAYMOVE, NULL);
	show_remap("nothing", p + 4 * PAGE, 1, 2, MREMAP_MAYMOVE, NULL);
	show_remap("over the end", p, 6, 7, MREMAP_MAYMOVE, NULL);
	show_remap("to unaligned", p, 1, 1, fixed, p + 5 * PAGE + 1);
	show_remap("overlap", p, 2, 2, fixed, p + PAGE);
	show_remap("overlap of the new", p + 2 * PAGE, 1, 3, fixed, p);
	show_remap("too high", p, 1, 1, fixed, (void *)(1L << 60));
	show_remap("too long", p, 1, 1L << 34, MREMAP_MAYMOVE, NULL);
	show_remap("far too long", p, 1, 1L << 51, MREMAP_MAYMOVE, NULL);
	show_remap("cannot move", p, 4, 5 + 1, 0, NULL);
	show_remap("a hole is enough", p, 4, 5, 0, NULL);
	show_pages(p, 8);
}

SCENARIO(mremap_limit)
{
	struct rlimit limit = {64 << 20, 64 << 20};
	char *p = MAP(8);

	setrlimit(RLIMIT_AS, &limit);
	show_remap("more", p, 8, 100000, MREMAP_MAYMOVE, NULL);
	show_remap("less", p, 8, 4, MREMAP_MAYMOVE, NULL);
}

SCENARIO(mremap_of_files)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	char *shared, *own;

	for (int i = 0; i < 6; i++)
		pwrite(fd, &"uvwxyz"[i], 1, i * PAGE);
	ftruncate(fd, 6 * PAGE);
	shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
	own = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
	own[PAGE] = 'P';
	shared[2 * PAGE] = 'S';
	shared = show_remap("shared", shared, 4, 5, MREMAP_MAYMOVE | MREMAP_FIXED, MAP(5));
	show_pages(shared, 5);
	own = show_remap("private", own + PAGE, 2, 4, MREMAP_MAYMOVE | MREMAP_FIXED, MAP(4));
	show_pages(own, 4);
	shared[4 * PAGE] = 'T';
	own[PAGE] = 'Q';
	show_pages(own, 4);
	show_pages(shared, 5);
	T(ftruncate(fd, 3 * PAGE));
	show_pages(own, 1);
	show_pages(shared, 2);
}

/* What a fork shares stays apart when one of the two moves it. */
SCENARIO(mremap_after_fork)
{
	char *p = MAP(4), *q;
	int status;

	letters(p, 4);
	fflush(stdout);
	if (!fork()) {
		q = show_remap("child", p, 4, 8, MREMAP_MAYMOVE | MREMAP_FIXED, MAP(8));
		q[0] = 'X';
		show_pages(q, 8);
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	show_pages(p, 4);
}

/* What has moved cannot be reached at its old place any more, however lately it was used there. */
SCENARIO(mremap_leaves_nothing_behind)
{
	char *p = MAP(2), *place = MAP(2), *q;
	int ends[2];

	pipe(ends);
	letters(p, 2);
	T(write(ends[1], p, 1));
	q = mremap(p, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	T(write(ends[1], p, 1));
	T(write(ends[1], q, 1));
}

SCENARIO(advice_of_nothing)
{
	char *p = MAP(2);

	T(mlock(p, 2 * PAGE));
	T(madvise(p, 0, MADV_DONTNEED));
	T(madvise(p + PAGE, 0, MADV_DONTNEED));
	T(madvise(p, PAGE, MADV_DONTNEED));
}
