/*
 * files - a file server's load on a set of files, after SPECsfs97 as Santos 2004 tells of it: many
 * small files, of which a share is used at random, lookups above all. The operations are the local
 * calls that a server makes for those of NFS version 3, in SPECsfs97's mix. FFSB's settings
 * (number, folders, sizes, names, threads) are options.
 */
#define _GNU_SOURCE
#include "files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPERATIONS = 13, MOST_PROCESSES = 64, MOST_NEW = 4096 };

/* What one of the processes does and has. */
struct worker {
	unsigned number;
	struct random random;
	uint64_t made, removed; /* numbers of its own new files */
	uint64_t digest;
	char path[PATH_LENGTH];
	uint64_t file; /* that path's */
};

/* Counted by each process for itself, in memory that all share. */
struct tally {
	uint64_t count[OPERATIONS], ns[OPERATIONS], digest;
};

static struct file_set set = {
	.files = 3000, .depth = 2, .width = 10, .size_mean = 4096, .links_percent = 5};
static uint64_t operations = 20000, share = 10, processes = 1;
static int cold;
static const char *mix =
	"lookup=27,read=18,write=9,getattr=11,readlink=7,readdir=2,create=1,remove=1,"
	"statfs=1,setattr=1,readdirplus=9,access=7,commit=5";
static uint64_t weights[OPERATIONS], weight_sum;
static uint64_t *used, used_count;   /* the files that are used */
static uint64_t *links, links_count; /* those of them that are links */
static struct tally *tallies;

static void expect(int good, const char *call, const char *path)
{
	if (!good)
		fail_errno("%s %s", call, path);
}

static void choose_file(struct worker *worker)
{
	do
		worker->file = used[random_below(&worker->random, used_count)];
	while (set_is_link(&set, worker->file));
	set_path(&set, worker->file, worker->path);
}

static void check_size(const struct worker *worker, uint64_t found)
{
	if (found != set_size(&set, worker->file))
		fail("%s has %llu bytes, %llu were written", worker->path,
		     (unsigned long long)found, (unsigned long long)set_size(&set, worker->file));
}

static int open_file(struct worker *worker, int flags)
{
	int fd = open(worker->path, flags);

	expect(fd >= 0, "open", worker->path);
	return fd;
}

/* NFS's lookup: a name's file, opened for nothing. */
static void do_lookup(struct worker *worker)
{
	close(open_file(worker, O_PATH));
}

/* A block of eight kilobytes at random, SPECsfs97's transfer size, or what there is of it. */
static void do_read(struct worker *worker)
{
	static char block[BLOCK];
	uint64_t size = set_size(&set, worker->file),
		 at = size ? random_below(&worker->random, size) / BLOCK * BLOCK : 0;
	int fd = open_file(worker, O_RDONLY);
	ssize_t done = pread(fd, block, BLOCK, (off_t)at);

	expect(done >= 0, "read", worker->path);
	if ((uint64_t)done != (size - at < BLOCK ? size - at : BLOCK))
		fail("%s: a read of byte %llu on gave %zd bytes", worker->path,
		     (unsigned long long)at, done);
	close(fd);
}

static void do_write(struct worker *worker)
{
	static const char block[BLOCK];
	uint64_t size = set_size(&set, worker->file),
		 at = size ? random_below(&worker->random, size) / BLOCK * BLOCK : 0;
	size_t part = size - at < BLOCK ? size - at : BLOCK;
	int fd = open_file(worker, O_WRONLY);

	expect(pwrite(fd, block, part, (off_t)at) == (ssize_t)part, "write", worker->path);
	close(fd);
}

static void do_getattr(struct worker *worker)
{
	struct stat status;

	expect(!stat(worker->path, &status), "stat", worker->path);
	check_size(worker, (uint64_t)status.st_size);
}

static void do_readlink(struct worker *worker)
{
	char target[PATH_LENGTH];

	if (!links_count)
		return do_lookup(worker);
	worker->file = links[random_below(&worker->random, links_count)];
	set_path(&set, worker->file, worker->path);
	expect(readlink(worker->path, target, sizeof(target)) > 0, "readlink", worker->path);
}

/* All names of the file's folder, with what stat() says of each if @plus. */
static void read_folder(struct worker *worker, int plus)
{
	char *slash = strrchr(worker->path, '/');
	struct dirent *entry;
	struct stat status;
	unsigned found = 0;
	DIR *folder;

	if (slash)
		*slash = 0;
	folder = opendir(slash ? worker->path : ".");
	expect(folder != NULL, "opendir", worker->path);
	while ((entry = readdir(folder))) {
		found++; /* another process may have removed its new file meanwhile */
		if (plus && fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
		    errno != ENOENT)
			fail_errno("stat %s", entry->d_name);
	}
	closedir(folder);
	if (found < 2 + (set.files + set_leaves(&set) - 1 - worker->file % set_leaves(&set)) /
				    set_leaves(&set))
		fail("%s has %u entries, too few", worker->path, found);
}

static void do_readdir(struct worker *worker)
{
	read_folder(worker, 0);
}

static void do_readdirplus(struct worker *worker)
{
	read_folder(worker, 1);
}

/* The path of a process's own new file: in any folder, with a name of the set's style. */
static void new_path(struct worker *worker, uint64_t number)
{
	uint64_t id = set.files + number * MOST_PROCESSES + worker->number;
	struct random random;
	size_t length;

	random_start(&random, common.seed, id);
	leaf_path(&set, random_below(&random, set_leaves(&set)), worker->path);
	length = strlen(worker->path);
	style_name(worker->path + length, PATH_LENGTH - length, (enum name_style)set.style, id);
}

static void do_remove(struct worker *worker);

static void do_create(struct worker *worker)
{
	if (worker->made - worker->removed == MOST_NEW)
		return do_remove(worker);
	new_path(worker, worker->made++);
	make_file(worker->path, set.size_mean);
}

/* The oldest of its own new files. */
static void do_remove(struct worker *worker)
{
	if (worker->made == worker->removed)
		return do_create(worker);
	new_path(worker, worker->removed++);
	expect(!unlink(worker->path), "unlink", worker->path);
}

static void do_statfs(struct worker *worker)
{
	struct statfs status;

	expect(!statfs(worker->path, &status), "statfs", worker->path);
}

static void do_setattr(struct worker *worker)
{
	expect(!chmod(worker->path, random_below(&worker->random, 2) ? 0644 : 0640), "chmod",
	       worker->path);
}

static void do_access(struct worker *worker)
{
	expect(!access(worker->path, R_OK), "access", worker->path);
}

static void do_commit(struct worker *worker)
{
	int fd = open_file(worker, O_WRONLY);

	expect(!fsync(fd), "fsync", worker->path);
	close(fd);
}

static const struct {
	const char *name;
	void (*call)(struct worker *worker);
} kinds[OPERATIONS] = {
	/* clang-format off */
	{"lookup", do_lookup}, {"read", do_read}, {"write", do_write}, {"getattr", do_getattr},
	{"readlink", do_readlink}, {"readdir", do_readdir}, {"create", do_create}, {"remove", do_remove},
	{"statfs", do_statfs}, {"setattr", do_setattr}, {"readdirplus", do_readdirplus},
	{"access", do_access}, {"commit", do_commit},
	/* clang-format on */
};

static void parse_mix(void)
{
	char *text = join("%s", mix);

	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		char *equals = strchr(word, '='), *end;
		unsigned kind = 0;

		if (!equals)
			usage("--mix %s: give it as NAME=WEIGHT,...", word);
		*equals = 0;
		while (kind < OPERATIONS && strcmp(kinds[kind].name, word))
			kind++;
		if (kind == OPERATIONS)
			usage("--mix %s: no such operation. There are lookup, read, write, getattr, readlink, readdir, "
			      "create, remove, statfs, setattr, readdirplus, access, commit",
			      word);
		weights[kind] = strtoul(equals + 1, &end, 10);
		if (end == equals + 1 || *end || weights[kind] > 1000000)
			usage("--mix %s=%s: the weight is a number", word, equals + 1);
	}
	free(text);
	for (unsigned kind = 0; kind < OPERATIONS; kind++)
		weight_sum += weights[kind];
	if (!weight_sum)
		usage("--mix %s: no operation has a weight", mix);
}

static void check(void)
{
	uint64_t leaves = set_leaves(&set);

	parse_mix();
	if (leaves > set.files)
		usage("%llu files in %llu folders: give more --files, or less --depth or --width",
		      (unsigned long long)set.files, (unsigned long long)leaves);
}

/* A share of the files, each with the same chance (Knuth 3.4.2, algorithm S). */
static void choose_used(void)
{
	uint64_t wanted = (set.files * share + 99) / 100;
	struct random random;

	random_start(&random, common.seed, UINT64_MAX);
	used = allocate(wanted * sizeof(*used));
	links = allocate(wanted * sizeof(*links));
	for (uint64_t file = 0; file < set.files && used_count < wanted; file++) {
		if (random_below(&random, set.files - file) >= wanted - used_count)
			continue;
		used[used_count++] = file;
		if (set_is_link(&set, file))
			links[links_count++] = file;
	}
	if (links_count == used_count) /* a set of a few files */
		used[0] = 0;
}

static void do_one(struct worker *worker, struct tally *tally)
{
	uint64_t draw = random_below(&worker->random, weight_sum), start;
	unsigned kind = 0;

	while (draw >= weights[kind])
		draw -= weights[kind++];
	choose_file(worker);
	start = now_ns();
	kinds[kind].call(worker);
	tally->ns[kind] += now_ns() - start;
	tally->count[kind]++;
	digest_add(&worker->digest, kinds[kind].name);
	digest_add(&worker->digest, worker->path);
}

static void work(unsigned number)
{
	struct worker *worker = allocate(sizeof(*worker));
	uint64_t count = operations / processes + (number < operations % processes);

	worker->number = number;
	worker->digest = DIGEST_START;
	random_start(&worker->random, common.seed, number);
	for (uint64_t i = 0; i < count; i++) {
		do_one(worker, &tallies[number]);
		progress_add(1);
	}
	tallies[number].digest = worker->digest;
}

static uint64_t run_operations(void)
{
	uint64_t start;
	int status;

	progress_start("operations", operations);
	measured_start();
	start = now_ns();
	for (unsigned number = 1; number < processes; number++) {
		if (fork_child() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			work(number);
			_exit(0);
		}
	}
	work(0);
	for (unsigned number = 1; number < processes; number++) {
		if (wait(&status) < 0)
			fail_errno("wait");
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			exit(STATUS_FAILED);
	}
	start = now_ns() - start;
	measured_stop();
	return start;
}

static void print(uint64_t create_ns, uint64_t run_ns, uint64_t remove_ns)
{
	struct tally sum = {.digest = 0};
	char *name = join("%llu files", (unsigned long long)set.files);

	for (unsigned number = 0; number < processes; number++) {
		sum.digest = sum.digest * 31 + tallies[number].digest;
		for (unsigned kind = 0; kind < OPERATIONS; kind++) {
			sum.count[kind] += tallies[number].count[kind];
			sum.ns[kind] += tallies[number].ns[kind];
		}
	}
	result_begin(name, run_ns);
	result_number("files", set.files);
	result_number("used_files", used_count);
	result_number("operations", operations);
	result_real("ops_per_second", per_second(operations, run_ns));
	result_number("create_phase_ns", create_ns);
	if (remove_ns)
		result_number("remove_phase_ns", remove_ns);
	for (unsigned kind = 0; kind < OPERATIONS; kind++) {
		char *key = join("%s_ns", kinds[kind].name);

		if (sum.count[kind])
			result_real(key, (double)sum.ns[kind] / (double)sum.count[kind]);
		free(key);
	}
	result_end(sum.digest);
	free(name);
}

static void run(void)
{
	uint64_t create_ns, run_ns, remove_ns = 0;

	tallies = mmap(NULL, processes * sizeof(*tallies), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tallies == MAP_FAILED)
		fail_errno("mmap");
	make_folder("set");
	if (chdir("set"))
		fail_errno("set");
	choose_used();
	progress_start("files", set.files);
	create_ns = now_ns();
	set_create(&set);
	create_ns = now_ns() - create_ns;
	if (cold)
		drop_caches(3);
	run_ns = run_operations();
	if (chdir(".."))
		fail_errno("..");
	if (!common.keep) {
		remove_ns = now_ns();
		if (!remove_tree("set"))
			fail_errno("the set cannot be removed");
		remove_ns = now_ns() - remove_ns;
	}
	print(create_ns, run_ns, remove_ns);
}

/* clang-format off */
static const struct option_row options[] = {
	{"files", OPTION_NUMBER, "N", "files of the set, up to 50 million; 3000 without it", &set.files, 1, 50000000},
	{"depth", OPTION_NUMBER, "N", "levels of folders, up to 8; 2 without it", &set.depth, 0, 8},
	{"width", OPTION_NUMBER, "N", "folders in a folder; 10 without it", &set.width, 1, 1000},
	{"name-style", OPTION_CHOICE, NAME_STYLES, "how files are called; short without it", &set.style, 0, 0},
	{"size-mean", OPTION_NUMBER, "BYTES", "mean size, exponentially distributed; 4096 without it", &set.size_mean, 0, 1 << 30},
	{"links", OPTION_NUMBER, "PERCENT", "files that are symbolic links; 5 without it", &set.links_percent, 0, 50},
	{"access-share", OPTION_NUMBER, "PERCENT", "files that are used, chosen at random; 10 without it", &share, 1, 100},
	{"operations", OPTION_NUMBER, "N", "how many are done; 20000 without it", &operations, 1, 1000000000},
	{"processes", OPTION_NUMBER, "N", "that do them at once; 1 without it", &processes, 1, MOST_PROCESSES},
	{"mix", OPTION_TEXT, "NAME=WEIGHT,...", "the operations; SPECsfs97's mix of NFS version 3 without it", &mix, 0, 0},
	{"cold", OPTION_FLAG, NULL, "write back and drop the caches before the operations", &cold, 0, 0},
	{.name = NULL},
};
/* clang-format on */

const struct load files_load = {
	"files",
	"a set of many files and a file server's operations on a share of it, after SPECsfs97: operations a second",
	options,
	check,
	run,
};
