/*
 * change - what it costs to change a folder that much is cached below: chmod() and rename() of it
 * against how deep the files lie and how many there are (Tsai 2015, figure 7), and what the next
 * lookup of each costs.
 *
 * A case is a folder with --files files in it, in --depths levels: 1, all in the folder itself; 2,
 * in folders in it, and so on, as many folders in each as spread the files evenly. Depth 0 is a
 * single file. Before each change all files are looked up by their paths, so that whatever a kernel
 * keeps of them is there; each change is a result of its own, and a part of its own for the
 * simulation of memory caches. The lookups that follow it are timed apart: they find nothing that
 * was kept.
 */
#define _GNU_SOURCE
#include "files.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_DEPTH = 8, MOST_FILES = 1000000 };

static struct list depths = {5, {0, 1, 2, 3, 4}};
static struct list counts = {5, {1, 10, 100, 1000, 10000}};
static uint64_t repeat = 3;

/* The folder's two names, which are of one length, and its two modes, by which different users may
 * search it: a change takes the other one. */
static const char *const names[] = {"here", "gone"};
static const mode_t modes[] = {0755, 0700};

static const char *current; /* the name it has */
static uint64_t clock_ns;   /* that it takes to ask for the time */

static void change_mode(unsigned turn)
{
	if (chmod(current, modes[(turn + 1) % 2]))
		fail_errno("chmod %s", current);
}

static void change_name(unsigned turn)
{
	const char *next = names[(turn + 1) % 2];

	if (rename(current, next))
		fail_errno("rename %s", current);
	current = next;
}

static const struct change {
	const char *name;
	void (*make)(unsigned turn);
} changes[] = {{"chmod", change_mode}, {"rename", change_name}};

enum { CHANGES = sizeof(changes) / sizeof(changes[0]) };

/* The fewest folders in each, on depth - 1 levels, that leave no more files in a folder than it has
 * folders. */
static struct file_set set_of(uint64_t depth, uint64_t files)
{
	struct file_set set = {
		.files = files, .depth = depth - 1, .width = 1, .style = NAMES_NUMBERED};

	while (set_leaves(&set) * set.width < files)
		set.width++;
	if (set_leaves(&set) > files)
		usage("%llu files in %llu folders: give more --files, or less --depths",
		      (unsigned long long)files, (unsigned long long)set_leaves(&set));
	return set;
}

/* The least of some intervals in which nothing is done. */
static uint64_t time_of_clock(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t start = now_ns(), taken = now_ns() - start;

		least = taken < least ? taken : least;
	}
	return least;
}

/* The path of each of @set's files, in the folder as it is called first. */
static char **make_paths(const struct file_set *set)
{
	char **paths = allocate(set->files * sizeof(*paths)), below[PATH_LENGTH];

	for (uint64_t number = 0; number < set->files; number++) {
		set_path(set, number, below);
		paths[number] = join("%s/%s", names[0], below);
	}
	return paths;
}

static void free_paths(char **paths, uint64_t count)
{
	for (uint64_t number = 0; number < count; number++)
		free(paths[number]);
	free(paths);
}

/* All @count of @paths, in the folder as it is called now; nanoseconds for each. */
static double look_up(char **paths, uint64_t count)
{
	size_t length = strlen(current);
	struct stat status;
	uint64_t start;

	for (uint64_t number = 0; number < count; number++)
		memcpy(paths[number], current, length);
	start = now_ns();
	for (uint64_t number = 0; number < count; number++)
		if (stat(paths[number], &status))
			fail_errno("stat %s", paths[number]);
	return (double)(now_ns() - start) / (double)count;
}

static char *case_name(const char *change, uint64_t depth, uint64_t files)
{
	return depth ? join("%s, depth %llu, %llu files", change, (unsigned long long)depth,
			    (unsigned long long)files)
		     : join("%s, a file", change);
}

/* One change, after and before lookups of @count files by @paths; there may be none. */
static void measure(const struct change *change, const char *name, unsigned turn, char **paths,
		    uint64_t count)
{
	double before = count ? look_up(paths, count) : 0, next;
	uint64_t start, elapsed, digest = DIGEST_START;

	measured_start();
	start = now_ns();
	change->make(turn);
	elapsed = now_ns() - start - clock_ns;
	measured_stop();
	next = count ? look_up(paths, count) : 0;
	digest_add(&digest, name);
	digest_add(&digest, current);
	result_begin(name, elapsed);
	result_number("descendants", count);
	result_real("ns_per_call", (double)elapsed);
	if (count) {
		result_real("ns_per_lookup", before);
		result_real("ns_per_next_lookup", next);
	}
	result_end(digest);
}

static void enter(const char *path)
{
	if (chdir(path))
		fail_errno("%s", path);
}

/* What is changed, with @set's files below it; or a single file, if that is NULL. */
static void make_changed(const struct file_set *set)
{
	current = names[0];
	if (!set) {
		make_file(current, 0);
		return;
	}
	make_folder(current);
	enter(current);
	set_create(set);
	enter("..");
}

/* Both changes of one folder, --repeat times each; the first of each, which does not count, finds
 * the directory's own blocks and the clock's page. */
static void measure_folder(uint64_t depth, uint64_t files)
{
	struct file_set set = set_of(depth ? depth : 1, files);
	uint64_t count = depth ? files : 0;
	char *top = case_name("change", depth, files), **paths = make_paths(&set);

	make_folder(top);
	enter(top);
	make_changed(depth ? &set : NULL);
	for (int i = 0; i < CHANGES; i++) {
		char *name = case_name(changes[i].name, depth, files);

		changes[i].make(0);
		for (unsigned turn = 1; turn <= repeat; turn++)
			measure(&changes[i], name, turn, paths, count);
		free(name);
	}
	enter("..");
	remove_folder(top);
	free_paths(paths, files);
	free(top);
}

static void run(void)
{
	uint64_t files = 0;

	clock_ns = time_of_clock();
	for (unsigned i = 0; i < counts.count; i++)
		files += counts.values[i];
	progress_start("files", files * depths.count);
	for (unsigned i = 0; i < depths.count; i++)
		for (unsigned j = 0; j < (depths.values[i] ? counts.count : 1); j++)
			measure_folder(depths.values[i], counts.values[j]);
}

static void check(void)
{
	for (unsigned i = 0; i < depths.count; i++)
		for (unsigned j = 0; depths.values[i] && j < counts.count; j++)
			set_of(depths.values[i], counts.values[j]);
}

/* clang-format off */
static const struct option_row options[] = {
	{"depths", OPTION_LIST, "N,...", "levels below the folder; 0,1,2,3,4 without it, 0 being a single file", &depths, 0, MOST_DEPTH},
	{"files", OPTION_LIST, "N,...", "below it; 1,10,100,1000,10000 without it", &counts, 1, MOST_FILES},
	{"repeat", OPTION_NUMBER, "N", "changes of each kind, a result each; 3 without it", &repeat, 1, 1000},
	{.name = NULL},
};
/* clang-format on */

const struct load change_load = {
	"change",
	"chmod and rename of a folder by depth and number of what is cached below, after Tsai 2015, figure 7",
	options,
	check,
	run,
};
