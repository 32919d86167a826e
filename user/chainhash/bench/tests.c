/*
 * tests.c - the tests of Seltzer and Yigit 1991 ("Relative Performance of the New Implementation").
 *
 *	create	a new file, every pair put, the file flushed to the disk
 *	read	every key of a file looked up, in the order in which they were put
 *	verify	the same, and the data compared with what was put
 *	keys	all keys in the table's own order ("sequential retrieve")
 *	pairs	all keys and data in that order
 *	both	a new file, every pair put, every key looked up; nothing is flushed: figures 5 to 7
 *	memory	the same in memory ("create/read test"), and the table destroyed
 *
 * and one more, since a file that is written from its begin to its end has its records in the order
 * in which "read" asks for them, and the processor fetches the next before it is asked for:
 *
 *	scattered	every key of a file looked up, each far from where the one before was put
 *
 * Opening and closing belong to what is measured, as they did when each test was a program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#ifdef __x86_64__
#include "../../region.h"
#else
static void region_start(void)
{
}

static void region_stop(void)
{
}
#endif

const char *const test_names[] = {"create", "read", "scattered", "verify", "keys", "pairs", "both",
				  "memory", "a",    "b",	 "c",	   "d",	   "e",	    "f",
				  NULL};

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void watch_start(const struct plan *plan, struct watch *watch, struct result *result)
{
	struct rusage usage;

	result->part = ++*plan->parts;
	getrusage(RUSAGE_SELF, &usage);
	watch->user = seconds(usage.ru_utime);
	watch->system = seconds(usage.ru_stime);
	watch->faults = (uint64_t)usage.ru_majflt;
	watch->blocks_in = (uint64_t)usage.ru_inblock;
	watch->blocks_out = (uint64_t)usage.ru_oublock;
	watch->cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	watch->elapsed = seconds_of(CLOCK_MONOTONIC);
	region_start();
}

void watch_stop(const struct watch *watch, struct result *result)
{
	struct rusage usage;

	region_stop();
	result->elapsed = seconds_of(CLOCK_MONOTONIC) - watch->elapsed;
	result->cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - watch->cpu;
	if (result->threads == 1 && result->elapsed > result->cpu)
		result->wait = result->elapsed - result->cpu;
	getrusage(RUSAGE_SELF, &usage);
	result->user = seconds(usage.ru_utime) - watch->user;
	result->system = seconds(usage.ru_stime) - watch->system;
	result->faults = (uint64_t)usage.ru_majflt - watch->faults;
	result->blocks_in = (uint64_t)usage.ru_inblock - watch->blocks_in;
	result->blocks_out = (uint64_t)usage.ru_oublock - watch->blocks_out;
	result->resident = (uint64_t)usage.ru_maxrss;
}

const char *table_path(const struct plan *plan)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/hashbench", plan->folder);
	return path;
}

/* Behind the path of a table: what the systems' files are called. */
static const char *const suffixes[] = {"", ".dir", ".pag", "-lock", NULL};

static void each_file(const struct plan *plan, void (*call)(const char *path, void *argument),
		      void *argument)
{
	char name[4200];

	for (size_t i = 0; suffixes[i]; i++) {
		snprintf(name, sizeof(name), "%s%s", table_path(plan), suffixes[i]);
		call(name, argument);
	}
}

static void remove_file(const char *path, void *argument)
{
	(void)argument;
	unlink(path);
}

void remove_files(const struct plan *plan)
{
	each_file(plan, remove_file, NULL);
}

static void add_size(const char *path, void *argument)
{
	struct result *result = argument;
	struct stat status;

	if (stat(path, &status))
		return;
	result->bytes += (uint64_t)status.st_size;
	result->disk_bytes += (uint64_t)status.st_blocks * 512;
}

/* Write everything out and forget it, so that what follows reads from the disk. As root only. */
static int drop_caches(void)
{
	const int file = open("/proc/sys/vm/drop_caches", O_WRONLY);
	int error = 0;

	if (file < 0)
		return -errno;
	sync();
	if (write(file, "3\n", 2) != 2)
		error = -errno;
	close(file);
	return error;
}

static bool is_limit(int error)
{
	return error == -EMSGSIZE || error == -ENOSPC;
}

int put_all(const struct plan *plan, struct table *table, struct result *result)
{
	const struct dataset *set = plan->set;

	for (size_t i = 0; i < set->count; i++) {
		const struct item key = data_key(set, i), data = data_value(set, i);
		const int error = table_put(table, key, data, true);

		result->operations++;
		if (is_limit(error))
			result->refused++;
		else if (error)
			return error;
		else
			result->stored += key.size + data.size;
	}
	return 0;
}

/* Look every key up; each is @step records behind the one before, round and round. */
static int get_all(const struct plan *plan, struct table *table, struct result *result, size_t step,
		   bool verify)
{
	const struct dataset *set = plan->set;
	size_t i = 0;

	for (size_t left = set->count; left; left--) {
		const struct item wanted = data_value(set, i);
		struct item data;
		const int error = table_get(table, data_key(set, i), &data);

		result->operations++;
		if (error == -ENOENT)
			result->missing++;
		else if (error)
			return error;
		else if (verify &&
			 (data.size != wanted.size || memcmp(data.bytes, wanted.bytes, data.size)))
			result->wrong++;
		i += step;
		if (i >= set->count)
			i -= set->count;
	}
	return 0;
}

static int scan_all(const struct plan *plan, struct table *table, struct result *result,
		    bool with_data)
{
	struct cursor cursor = {{0, 0}};
	struct item key, data;
	int error;

	while (!(error = table_scan(table, &cursor, &key, with_data ? &data : NULL)))
		result->operations++;
	if (result->operations < plan->set->count)
		result->missing = plan->set->count - result->operations;
	return error == -ENOENT ? 0 : error;
}

static int in_table(const struct plan *plan, struct table *table, const char *test,
		    struct result *result)
{
	int error;

	switch (test[0]) {
	case 'c': /* create */
		error = put_all(plan, table, result);
		return error ? error : table_sync(table);
	case 'r': /* read */
	case 'v': /* verify */
		return get_all(plan, table, result, 1, test[0] == 'v');
	case 's': /* scattered */
		return get_all(plan, table, result, data_scattering(plan->set->count), false);
	case 'k': /* keys */
	case 'p': /* pairs */
		return scan_all(plan, table, result, test[0] == 'p');
	default: /* both, memory */
		error = put_all(plan, table, result);
		return error ? error : get_all(plan, table, result, 1, false);
	}
}

static bool makes_table(const char *test)
{
	return !strcmp(test, "create") || !strcmp(test, "both") || !strcmp(test, "memory");
}

bool test_possible(const struct plan *plan, const struct variant *variant, const char *test,
		   char why[64])
{
	const unsigned traits = variant->system->traits;
	const bool in_memory = !strcmp(test, "memory"), mix = !test[1];

	why[0] = '\0';
	if (in_memory && !(traits & SYSTEM_MEMORY))
		strcpy(why, "no tables in memory");
	else if (!in_memory && !mix && !(traits & SYSTEM_DISK))
		strcpy(why, "no tables on disk");
	else if ((!strcmp(test, "keys") || !strcmp(test, "pairs") || !strcmp(test, "e")) &&
		 !variant->system->scan)
		strcpy(why, "no scan");
	else if (mix && !plan->locked && ycsb_needs_lock(plan, variant, test[0]))
		strcpy(why, traits & SYSTEM_READERS ? "no threads that write" : "no threads");
	return !why[0];
}

/* A test of the text on the table at @path, from the opening to the closing. */
static void run_on_table(const struct plan *plan, const struct variant *variant, const char *test,
			 const char *path, struct result *result)
{
	const unsigned flags = makes_table(test) ? TABLE_CREATE : TABLE_READ_ONLY;
	struct table *table;
	struct watch watch;
	int closed;

	watch_start(plan, &watch, result);
	result->error = table_open(variant->system, &table, path, flags, variant->values);
	if (!result->error) {
		result->error = in_table(plan, table, test, result);
		closed = table_close(table);
		if (!result->error)
			result->error = closed;
	}
	watch_stop(&watch, result);
}

void test_run(struct plan *plan, const struct variant *variant, const char *test,
	      struct result *result)
{
	const bool fresh = makes_table(test);
	const char *path = strcmp(test, "memory") ? table_path(plan) : NULL;

	snprintf(result->test, sizeof(result->test), "%s", test);
	result->threads = 1;
	if (!test[1]) {
		ycsb_run(plan, variant, test[0], result);
		return;
	}
	if (fresh && path) {
		remove_files(plan);
		plan->inserted = 0;
	} else if (!fresh && plan->cold) {
		result->error = drop_caches();
	}
	if (result->error)
		return;
	run_on_table(plan, variant, test, path, result);
	if (path)
		each_file(plan, add_size, result);
	if (result->elapsed > 0)
		result->rate = (double)result->operations / result->elapsed;
	if (result->stored)
		result->disk_ratio = (double)result->disk_bytes / (double)result->stored;
}
