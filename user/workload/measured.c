/* The measured part of a load: marks for the memory-cache simulation around it, and what the
 * kernel's four caches counted meanwhile. */
#define _GNU_SOURCE
#include "../region.h"
#include "workload.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const caches[] = {"page", "buffer", "inode", "dentry"};
static const char *const counters[] = {"hits", "misses", "hit_steps", "miss_steps"};

enum { CACHES = sizeof(caches) / sizeof(caches[0]) };
enum { COUNTERS = sizeof(counters) / sizeof(counters[0]) };

struct counts {
	uint64_t of[CACHES][COUNTERS];
};

static struct counts part;    /* of the part that was measured last */
static int counted;	      /* there are counters, and `part` is filled in */
static uint64_t measured;     /* parts so far */
static int report_fd[CACHES]; /* open all the time: to open them would be lookups */

/* The number that follows the key @name in one of /proc/hash's objects; false if it has none. */
static int counter_of(const char *report, const char *name, uint64_t *number)
{
	char *key = join("\"%s\":", name), *found = strstr(report, key);

	if (found)
		*number = strtoull(found + strlen(key), NULL, 10);
	free(key);
	return found != NULL;
}

static void open_reports(void)
{
	for (int i = 0; i < CACHES; i++) {
		char *path = join("/proc/hash/%s.json", caches[i]);

		report_fd[i] = open(path, O_RDONLY | O_CLOEXEC);
		free(path);
	}
}

/* The counters as they are now; false on a system that has none, such as Linux, or a kernel without
 * HASH_STATS. */
static int read_counts(struct counts *now)
{
	for (int i = 0; i < CACHES; i++) {
		char report[4096] = "";
		ssize_t length = pread(report_fd[i], report, sizeof(report) - 1, 0);

		for (int j = 0; j < COUNTERS; j++)
			if (length < 0 || !counter_of(report, counters[j], &now->of[i][j]))
				return 0;
	}
	return 1;
}

void measured_start(void)
{
	if (!measured++)
		open_reports();
	counted = read_counts(&part);
	region_start();
}

void measured_stop(void)
{
	struct counts now;

	region_stop();
	counted = counted && read_counts(&now);
	for (int i = 0; counted && i < CACHES; i++)
		for (int j = 0; j < COUNTERS; j++)
			part.of[i][j] = now.of[i][j] - part.of[i][j];
}

void measured_print(void)
{
	printf(",\"part\":%llu", (unsigned long long)measured - 1);
	for (int i = 0; counted && i < CACHES; i++) {
		printf("%s\"%s\":{", i ? "," : ",\"counters\":{", caches[i]);
		for (int j = 0; j < COUNTERS; j++)
			printf("%s\"%s\":%llu", j ? "," : "", counters[j],
			       (unsigned long long)part.of[i][j]);
		printf("}%s", i == CACHES - 1 ? "}" : "");
	}
}
