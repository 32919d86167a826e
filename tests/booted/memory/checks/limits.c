/*
 * limits.c - limits, counts of faults, many areas, reservations.
 */
#include "memory.h"

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

const struct check limits_checks[] = {
	{"limits", limits, false},
	{"fault_counts", fault_counts, false},
	{"many_areas", many_areas, false},
	{"zero_device", zero_device, false},
	{"over_a_reservation", over_a_reservation, false},
	{0},
};
