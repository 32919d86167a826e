/*
 * miss - what a miss costs: of the dentry cache, against a page fault and a miss of the buffer
 * cache. Lever 1999, section 6, leaves that question open: how eagerly the dentry cache may be
 * shrunk depends on it.
 *
 * Each case is a call on each of --objects objects, in random order, once with what it needs in the
 * cache, and once after it was dropped through /proc/sys/vm/drop_caches; `more_ns` is the
 * difference, the miss. What must stay in the cache is held: the folder of each file is open, and
 * so no part of a path but the last is looked up.
 *
 * dentry: fstatat() of a file's name in its folder: a hit; a miss with the folder's and the inode's
 * blocks in the buffer cache; a miss with them on the disk. buffer: getdents() of a folder of one
 * block, in the buffer cache or on the disk. page: pread() of a page, in the page cache or on the
 * disk. fault: the first access to a page mapped from a file, in the page cache or on the disk.
 */
#define _GNU_SOURCE
#include "files.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	STRIDE = 64 * PAGE, /* between two pages of the file: farther than one reads ahead or maps
			       around */
};

enum { DROP_PAGES = 1, DROP_DENTRIES = 2 };

static uint64_t objects = 200;
static unsigned *order;
static int *folders; /* open; each has a file f */
static int file;     /* with a page at each multiple of STRIDE */
static volatile char *mapping;

static void stat_file(unsigned number)
{
	struct stat status;

	if (fstatat(folders[number], "f", &status, 0))
		fail_errno("stat f");
}

static void list_folder(unsigned number)
{
	char entries[1024];

	if (lseek(folders[number], 0, SEEK_SET) ||
	    syscall(SYS_getdents64, folders[number], entries, sizeof(entries)) <= 0)
		fail_errno("getdents");
}

static void read_page(unsigned number)
{
	char page[PAGE];

	if (pread(file, page, PAGE, (off_t)number * STRIDE) != PAGE || page[0] != 'x')
		fail_errno("read");
}

static void touch_page(unsigned number)
{
	if (mapping[(uint64_t)number * STRIDE] != 'x')
		fail("a mapped page is not what was written");
}

/* The mapping's pages are in no page table after this. */
static void map_file(void)
{
	if (mapping)
		munmap((void *)mapping, objects * STRIDE);
	mapping = mmap(NULL, objects * STRIDE, PROT_READ, MAP_SHARED, file, 0);
	if (mapping == MAP_FAILED)
		fail_errno("mmap");
}

static void warm_pages(void)
{
	for (unsigned i = 0; i < objects; i++)
		read_page(i);
}

/* How each case comes to be: warmed by @call, then dropped. */
static const struct miss_case {
	const char *name;
	void (*call)(unsigned number);
	int drop, hit; /* hit: the case itself is what the misses after it are compared with */
} cases[] = {
	{"dentry hit", stat_file, 0, 1},
	{"dentry miss, blocks cached", stat_file, DROP_DENTRIES, 0},
	{"dentry miss, blocks on disk", stat_file, DROP_DENTRIES | DROP_PAGES, 0},
	{"buffer hit", list_folder, 0, 1},
	{"buffer miss", list_folder, DROP_PAGES, 0},
	{"page hit", read_page, 0, 1},
	{"page miss", read_page, DROP_PAGES, 0},
	{"page fault, page cached", touch_page, 0, 1},
	{"page fault, page on disk", touch_page, DROP_PAGES, 0},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static double measure(const struct miss_case *one, double hit)
{
	uint64_t start, digest = DIGEST_START;
	double each;

	map_file();
	if (one->call == touch_page)
		warm_pages();
	else
		for (unsigned i = 0; i < objects; i++)
			one->call(i);
	if (one->drop)
		drop_caches(one->drop);
	digest_add(&digest, one->name);
	measured_start();
	start = now_ns();
	for (unsigned i = 0; i < objects; i++)
		one->call(order[i]);
	start = now_ns() - start;
	measured_stop();
	for (unsigned i = 0; i < objects; i++)
		digest_add_number(&digest, order[i]);
	each = (double)start / (double)objects;
	result_begin(one->name, start);
	result_number("calls", objects);
	result_real("ns_per_call", each);
	if (!one->hit)
		result_real("more_ns", each - hit);
	result_end(digest);
	return one->hit ? each : hit;
}

/* A file in a folder of its own for each object, their blocks far apart; and one file of single
 * pages. */
static void make_objects(void)
{
	static char page[PAGE] = {'x'};
	char path[64];

	for (unsigned i = 0; i < objects; i++) {
		snprintf(path, sizeof(path), "d%u", i);
		make_folder(path);
		folders[i] = open(path, O_RDONLY | O_DIRECTORY);
		snprintf(path, sizeof(path), "d%u/f", i);
		make_file(path, 1);
		if (folders[i] < 0)
			fail_errno("%s", path);
		progress_add(1);
	}
	file = open("pages", O_CREAT | O_EXCL | O_RDWR, 0644);
	if (file < 0 || posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM))
		fail_errno("pages");
	for (unsigned i = 0; i < objects; i++)
		if (pwrite(file, page, PAGE, (off_t)i * STRIDE) != PAGE)
			fail_errno("pages");
}

static void run(void)
{
	struct rlimit limit = {objects + 64, objects + 64};
	struct random random;
	double hit = 0;

	if (objects > 900 && setrlimit(RLIMIT_NOFILE, &limit))
		fail_errno("%llu descriptors (fewer --objects)",
			   (unsigned long long)limit.rlim_cur);
	drop_caches(DROP_PAGES); /* may we? */
	order = allocate(objects * sizeof(*order));
	folders = allocate(objects * sizeof(*folders));
	random_start(&random, common.seed, 0);
	random_order(&random, order, (unsigned)objects);
	progress_start("objects and cases", objects + CASES);
	make_objects();
	sync();
	for (int i = 0; i < CASES; i++) {
		hit = measure(&cases[i], hit);
		progress_add(1);
	}
}

/* clang-format off */
static const struct option_row options[] = {
	{"objects", OPTION_NUMBER, "N", "files, folders and pages; 200 without it", &objects, 8, 100000},
	{.name = NULL},
};
/* clang-format on */

const struct load miss_load = {
	"miss",
	"the cost of a miss of the dentry, buffer and page cache and of a page fault (Lever 1999, section 6); root only",
	options,
	NULL,
	run,
};
