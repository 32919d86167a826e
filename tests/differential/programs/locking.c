/*
 * locking.c - memory locked up to a hole, what is mapped later, and areas that become one again.
 * (Its first calls are calls.c's mlock_* scenarios.)
 */
#include "../scenarios.h"

#define PAGE 4096

static char *pages(int count)
{
	return mmap(NULL, (size_t)count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void limit_locks(rlim_t bytes)
{
	struct rlimit limit = {bytes, bytes};

	setrlimit(RLIMIT_MEMLOCK, &limit);
}

/* Of how many areas the @count pages from @start on are. */
static int areas_of(const char *start, int count)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char rest[512];
	int areas = 0;

	while (fscanf(maps, "%lx-%lx%511[^\n]", &from, &to, rest) == 3)
		areas += from < (unsigned long)start + (unsigned long)count * PAGE && to > (unsigned long)start;
	fclose(maps);
	return areas;
}

/* The first page stays locked, so that of two only one is left. */
SCENARIO(mlock_up_to_a_hole)
{
	char *p = pages(6);

	munmap(p + PAGE, PAGE);
	limit_locks(2 * PAGE);
	AS(USER_A) {
		T(mlock(p, 2 * PAGE));
		T(mlock(p + 2 * PAGE, 2 * PAGE));
		T(mlock(p + 2 * PAGE, PAGE));
		T(mlock(p + 3 * PAGE, PAGE));
	}
}

SCENARIO(mlockall_future_has_a_limit)
{
	char *p = pages(2);

	limit_locks(3 * PAGE);
	AS(USER_A) {
		T(mlockall(MCL_FUTURE));
		T(mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
		T(errno);
		T(mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
		T(mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
		T(errno);
		T(mlock(p, 2 * PAGE));
		T(mlock(p, PAGE));
		T(munlockall());
		T(mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	}
}

SCENARIO(locked_areas_become_one)
{
	char *p = pages(6);

	mprotect(p, PAGE, PROT_NONE);
	mprotect(p + 5 * PAGE, PAGE, PROT_NONE);
	T(areas_of(p + PAGE, 4));
	T(mlock(p + 2 * PAGE, PAGE));
	T(areas_of(p + PAGE, 4));
	T(munlock(p + 2 * PAGE, PAGE));
	T(areas_of(p + PAGE, 4));
	T(mlock(p + 2 * PAGE, PAGE));
	T(mlockall(MCL_CURRENT));
	T(areas_of(p + PAGE, 4));
	T(munlock(p + 3 * PAGE, 2 * PAGE));
	T(areas_of(p + PAGE, 4));
	T(munlockall());
	T(areas_of(p + PAGE, 4));
}
