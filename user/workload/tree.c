/*
 * tree - walks over a tree as find, du, grep -r and rm -r make them, done here so that nothing but
 * the kernel's part is timed (Tsai 2015, table 1). The tree is made, or an existing one is given.
 */
#define _GNU_SOURCE
#include "files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum walk_kind { WALK_FIND, WALK_DU, WALK_READ, WALK_RM, WALK_KINDS };

static const char *const kind_names[] = {"find", "du", "read", "rm"};

/* What a walk has seen. */
struct walk {
	enum walk_kind kind;
	uint64_t entries, bytes, names; /* names: a sum that does not depend on their order */
};

static struct file_set set = {
	.files = 2000, .depth = 3, .width = 5, .size_mean = 2048, .style = NAMES_NUMBERED};
static uint64_t passes = 2;
static int cold, warm_up;
static const char *given, *walks = "find,du,read,rm";

static void walk_folder(struct walk *walk, int parent, const char *name);

/* All of a file's bytes. */
static void read_file(struct walk *walk, int folder, const char *name)
{
	static char block[65536];
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW);
	ssize_t done;

	if (fd < 0)
		fail_errno("open %s", name);
	while ((done = read(fd, block, sizeof(block))) > 0)
		walk->bytes += (uint64_t)done;
	if (done < 0)
		fail_errno("read %s", name);
	close(fd);
}

static int is_folder(const struct walk *walk, int parent, const struct dirent *entry,
		     struct stat *status)
{
	/* find trusts the type that the folder has; du asks each file */
	if (walk->kind != WALK_DU && entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	if (fstatat(parent, entry->d_name, status, AT_SYMLINK_NOFOLLOW))
		fail_errno("stat %s", entry->d_name);
	return S_ISDIR(status->st_mode);
}

static void walk_entry(struct walk *walk, int parent, const struct dirent *entry)
{
	struct stat status = {.st_blocks = 0};
	uint64_t digest = DIGEST_START;
	int folder = is_folder(walk, parent, entry, &status);

	digest_add(&digest, entry->d_name);
	walk->names += digest;
	walk->entries++;
	if (walk->kind == WALK_DU)
		walk->bytes += (uint64_t)status.st_blocks * 512;
	if (folder)
		walk_folder(walk, parent, entry->d_name);
	else if (walk->kind == WALK_READ && entry->d_type == DT_REG)
		read_file(walk, parent, entry->d_name);
	if (walk->kind == WALK_RM && unlinkat(parent, entry->d_name, folder ? AT_REMOVEDIR : 0))
		fail_errno("unlink %s", entry->d_name);
	progress_add(1);
}

static void walk_folder(struct walk *walk, int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!folder)
		fail_errno("open %s", name);
	while (errno = 0, (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			walk_entry(walk, fd, entry);
	if (errno)
		fail_errno("readdir %s", name);
	closedir(folder);
}

static void report(const struct walk *walk, const char *name, uint64_t elapsed)
{
	uint64_t digest = DIGEST_START;

	digest_add_number(&digest, walk->names);
	digest_add_number(&digest, walk->kind == WALK_READ ? walk->bytes : 0);
	result_begin(name, elapsed);
	result_number("entries", walk->entries);
	result_number("bytes", walk->bytes);
	result_real("ns_per_call", walk->entries ? (double)elapsed / (double)walk->entries : 0);
	result_real("entries_per_second", per_second(walk->entries, elapsed));
	result_end(digest);
}

/* @pass counts from 1; of pass 0 nothing is told. */
static void walk_tree(enum walk_kind kind, const char *path, uint64_t pass)
{
	struct walk walk = {.kind = kind};
	char *name = kind == WALK_RM ? join("rm")
				     : join("%s %llu", kind_names[kind], (unsigned long long)pass);
	uint64_t start;

	if (cold)
		drop_caches(3);
	progress_start(name, given ? 0 : set.files + set_leaves(&set));
	measured_start();
	start = now_ns();
	walk_folder(&walk, AT_FDCWD, path);
	start = now_ns() - start;
	measured_stop();
	if (!given && walk.entries < set.files + set_leaves(&set) - (set.depth == 0))
		fail("%s saw %llu entries, there are %llu files", name,
		     (unsigned long long)walk.entries, (unsigned long long)set.files);
	if (pass)
		report(&walk, name, start);
	free(name);
}

static int wanted(enum walk_kind kind)
{
	const char *found = strstr(walks, kind_names[kind]);

	return found != NULL;
}

static void run(void)
{
	const char *path = given ? given : "tree";

	if (!given) {
		progress_start("files", set.files);
		make_folder("tree");
		if (chdir("tree"))
			fail_errno("tree");
		set_create(&set);
		if (chdir(".."))
			fail_errno("..");
	}
	for (int kind = 0; kind < WALK_RM; kind++)
		for (uint64_t pass = !warm_up; wanted((enum walk_kind)kind) && pass <= passes;
		     pass++)
			walk_tree((enum walk_kind)kind, path, pass);
	if (!given && !common.keep && wanted(WALK_RM))
		walk_tree(WALK_RM, path, 1);
}

static void check(void)
{
	char *words = join("%s", walks);
	int kind;

	for (char *word = strtok(words, ","); word; word = strtok(NULL, ",")) {
		for (kind = 0; kind < WALK_KINDS && strcmp(word, kind_names[kind]); kind++)
			continue;
		if (kind == WALK_KINDS)
			usage("--walks %s: there are find, du, read and rm", word);
	}
	free(words);
	if (given) {
		given = realpath(given, NULL);
		if (!given)
			usage("--tree: %s", strerror(errno));
	}
	if (set_leaves(&set) > set.files)
		usage("%llu files in %llu folders: give more --files, or less --depth or --width",
		      (unsigned long long)set.files, (unsigned long long)set_leaves(&set));
}

/* clang-format off */
static const struct option_row options[] = {
	{"tree", OPTION_TEXT, "DIRECTORY", "walk this one and leave it as it is, instead of making one", &given, 0, 0},
	{"walks", OPTION_TEXT, "find,du,read,rm", "which; rm only of a tree that was made, and not with --keep", &walks, 0, 0},
	{"passes", OPTION_NUMBER, "N", "how often each but rm; 2 without it", &passes, 1, 1000},
	{"warm-up", OPTION_FLAG, NULL, "once more before the first, which does not count", &warm_up, 0, 0},
	{"cold", OPTION_FLAG, NULL, "write back and drop the caches before each walk", &cold, 0, 0},
	{"files", OPTION_NUMBER, "N", "files of the tree; 2000 without it", &set.files, 1, 50000000},
	{"depth", OPTION_NUMBER, "N", "levels of folders, up to 8; 3 without it", &set.depth, 0, 8},
	{"width", OPTION_NUMBER, "N", "folders in a folder; 5 without it", &set.width, 1, 1000},
	{"name-style", OPTION_CHOICE, NAME_STYLES, "how files are called; numbered without it", &set.style, 0, 0},
	{"size-mean", OPTION_NUMBER, "BYTES", "mean size, exponentially distributed; 2048 without it", &set.size_mean, 0, 1 << 30},
	{.name = NULL},
};
/* clang-format on */

const struct load tree_load = {
	"tree",
	"walks over a tree as find, du, grep -r and rm -r make them, after Tsai 2015, table 1",
	options,
	check,
	run,
};
