/*
 * hosted.h - the kernel's caches and file systems inside an ordinary process, for tests.
 *
 * fs/, mm/ but for its allocators, and hash/ are compiled as they are, with the address and
 * undefined-behaviour sanitizers; <arch/...> comes from include/arch here, and what needs a machine
 * from memory.c (frames, slabs), mmu.c (page tables), kernel.c (log, time), tasks.c, shared/,
 * and disk.c (block devices). Tasks run one at a time until they sleep, as in a kernel without preemption on
 * one CPU; who runs next, and which I/O in flight is done when, is drawn from disk_rng. When all
 * sleep and no I/O is in flight, that is a deadlock, and the test fails.
 *
 * A test program is a file tests/test_NAME.c, or tests/SUBJECT/test_NAME.c, with functions
 * TEST(name) { ... }. Without arguments it runs each in a process of its own and prints `ok NAME`
 * or `not ok NAME`; with names it runs those (one: in this process, for gdb); --list names them. It
 * exits with 1 if one failed.
 * HOSTED_SCALE=10 makes random tests ten times as long, HOSTED_SEED=n starts their seeds there.
 */
#pragma once

#include "fs/block/block.h"
#include "fs/inode/lru.h"
#include "core/sched/limits.h"
#include "core/syscalls.h"
#include "core/base/types.h"

/* Drop so many unused ones, oldest first; how many were. */
#define shrink_dcache(objects) lru_shrink(&dentry_lru, NULL, objects, ~0ULL)
#define shrink_icache(objects) lru_shrink(&inode_lru, NULL, objects, ~0ULL)

/* ---- start ----------------------------------------------------------------------------------- */

/* @megabytes of memory, all caches and file systems, a tmpfs root with /mnt in it. */
void hosted_init(unsigned megabytes);
/* Of that, by whose memory it is: what frames and objects come out of. */
void hosted_memory_init(unsigned megabytes);

/* ---- tests ----------------------------------------------------------------------------------- */

struct hosted_test {
	const char *name;
	void (*run)(void);
	struct hosted_test *next;
};
void test_register(struct hosted_test *test);
#define TEST(id)                                                                                   \
	static void test_##id(void);                                                               \
	__attribute__((constructor)) static void register_##id(void)                               \
	{                                                                                          \
		static struct hosted_test test = {#id, test_##id, NULL};                           \
		test_register(&test);                                                              \
	}                                                                                          \
	static void test_##id(void)

int test_main(int argc, char **argv); /* main() of a test program */
/* of CPU time that the test may take: 100, but say so; times the scale */
void test_limit(unsigned seconds);
void test_limit_step(unsigned seconds); /* the same from now on, for one step of it; not scaled */
u64 test_seed(void);		   /* the first seed of a random test: HOSTED_SEED, or 1 */
unsigned test_scaled(unsigned n);  /* n times HOSTED_SCALE */
/* What a failure's message begins with, for random tests: "seed 17 step 3". */
void test_where(const char *format, ...) __printf(1, 2);
const char *test_place(void);
void test_failed(const char *file, int line, const char *format, ...) __printf(3, 4);
extern bool test_failure_aborts; /* for fuzzers, which then keep the input */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			test_failed(__FILE__, __LINE__, "%s", #condition);                         \
	} while (0)
#define CHECK_EQUAL(a, b)                                                                          \
	do {                                                                                       \
		long long _a = (long long)(a), _b = (long long)(b);                                \
		if (_a != _b)                                                                      \
			test_failed(__FILE__, __LINE__, "%s is %lld, not %lld", #a, _a, _b);       \
	} while (0)

/* A seeded generator of our own, so that a seed means the same everywhere. */
struct rng {
	u64 state;
};
u64 rng_next(struct rng *rng);
static inline u64 rng_below(struct rng *rng, u64 n)
{
	return rng_next(rng) % n;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Start function(argument) as a task of its own: root's, in our directory. It runs when we sleep or
 * wait. */
void task_start(void (*function)(void *), void *argument);
void tasks_wait(void); /* until all but kernel threads have ended */
extern bool hosted_threads; /* kernel threads run; false: tests call what they would do */
extern struct rlimit hosted_limits[RLIMIT_COUNT]; /* of all tasks: none, as from the start */
extern unsigned hosted_signals; /* that tasks were sent */

/* ---- address spaces: see user.h -------------------------------------------------------------- */

/* Current has none any more, and its reference is dropped: so ends a task, too. */
void user_leave(void);
/* The frame is free: panics if some TLB still has it. */
void mmu_frame_freed(phys_addr_t frame);

/* ---- memory ---------------------------------------------------------------------------------- */

/* without the pool of block requests, which only grows */
extern u64 hosted_pages_in_use, hosted_objects_in_use;
extern int hosted_fail_after; /* > 0: the n-th allocation from now fails, once; 0: none */
extern bool hosted_fail_on;   /* and so do all after it, until hosted_fail_after is set to 0 */
/* What the caches hold for good is counted now; later: has anything been added to it? */
void leak_mark(void);
void leak_check(void);
extern bool hosted_quiet;     /* the kernel's log is not printed */
extern char hosted_last_error[256]; /* the last line of level error or worse */

/* ---- disks ----------------------------------------------------------------------------------- */

struct hosted_disk {
	struct block_device device;
	unsigned char *image;
	size_t bytes;
	bool asynchronous; /* complete later, in any order */
	u64 fail_sector;   /* reads and writes that touch it fail; ~0: none */
	unsigned fail_one_in; /* of reads and writes, at random; 0: none */
	unsigned flush_fails_one_in; /* the same of flushes */
	u64 failed;
	u64 reads, writes, sectors_written;
	bool flushed;	   /* no write since the last flush */
	/* For who writes down what the disk is asked for (hosted/powercut); NULL: nobody. */
	void (*submitted)(struct hosted_disk *disk, const struct block_request *request);
	void (*done)(struct hosted_disk *disk, const struct block_request *request);
};

/* registers it */
void disk_create(struct hosted_disk *disk, const char *name, unsigned minor, size_t bytes);
int disk_load(struct hosted_disk *disk, const char *path); /* size of the file, up to the disk's */
int disk_save(const struct hosted_disk *disk, const char *path, size_t bytes);
bool disk_complete_one(void); /* some request in flight; false: none is */
extern struct rng disk_rng;   /* the order of completions */

/* ---- programs of the host -------------------------------------------------------------------- */

/* Run a shell command: its exit status. Output goes to @log (may be NULL). */
int run_command(const char *log, const char *format, ...) __printf(2, 3);
/* A directory for temporary files, removed at exit. */
const char *scratch(void);
