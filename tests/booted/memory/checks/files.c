/*
 * files.c - files mapped: private and shared, their ends, truncation, who else reads and writes
 * them.
 */
#include "memory.h"

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

const struct check files_checks[] = {
	{"file_private", file_private, false},
	{"file_shared", file_shared, false},
	{"file_rights", file_rights, false},
	{"past_the_end", past_the_end, false},
	{"truncated_under_it", truncated_under_it, false},
	{"file_outlives_its_name", file_outlives_its_name, false},
	{"file_to_itself", file_to_itself, false},
	{"kernel_faults", kernel_faults, false},
	{"copies_stay", copies_stay, true},
	{"major_faults", major_faults, true},
	{0},
};
