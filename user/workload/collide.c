/*
 * collide - paths that are taken for others: what a directory cache that finds whole paths by their
 * signatures does when the signatures are short (Tsai 2015, section 3.3).
 *
 * There are --paths files that everybody may reach and as many in a folder that is closed to all
 * but its owner, root. All have been looked up. Then --lookups names that do not exist are looked
 * up, each once: by root, whom a false hit can lead to the closed ones, too, with names that
 * somebody else might have chosen; and by a user, whom it can only lead to what he may reach. What
 * is found though it is not there is counted, by where it leads, and how many lookups it took until
 * the first.
 *
 * Expected of signatures of B bits, in a table of T buckets which other bits choose: of each kind
 * paths * lookups / (2^B * T), and the first after 2^B * T / paths.
 */
#define _GNU_SOURCE
#include "files.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	USER = 1000,
	PASSES = 3, /* until it is known what somebody may reach */
};

static const char reachable[] = "reachable", closed[] = "closed";
static uint64_t paths = 4096, lookups = 20000;

/* What was found though it is not there. */
struct found {
	uint64_t reachable, closed;
	uint64_t first; /* the number of the lookup, from 1; 0: none */
};

/* Files that may be read by @mode, in a folder that may be searched likewise. By names without a
 * folder, which have no signatures: so nothing is taken for what is there already. */
static void make_files(const char *folder, mode_t mode)
{
	char name[PATH_LENGTH];

	make_folder(folder);
	if (chdir(folder))
		fail_errno("%s", folder);
	for (uint64_t i = 0; i < paths; i++) {
		snprintf(name, sizeof(name), "here-%llu", (unsigned long long)i);
		make_file(name, 0);
		if (chmod(name, mode))
			fail_errno("chmod %s", name);
		progress_add(1);
	}
	if (chdir("..") || chmod(folder, mode | (mode & 0444) >> 2))
		fail_errno("%s", folder);
}

/* All files of @folder, so often that they are known. */
static void look_up(const char *folder)
{
	char path[PATH_LENGTH];
	struct stat status;

	for (uint64_t i = 0; i < PASSES * paths; i++) {
		snprintf(path, sizeof(path), "%s/here-%llu", folder,
			 (unsigned long long)(i % paths));
		if (stat(path, &status))
			fail_errno("stat %s", path);
	}
}

/* Look up names that are not there, of @who's own. */
static struct found look_in_vain(const char *who)
{
	struct found found = {0};
	char path[PATH_LENGTH];
	struct stat status;

	for (uint64_t i = 1; i <= lookups; i++) {
		snprintf(path, sizeof(path), "%s/absent-%s-%llu", reachable, who,
			 (unsigned long long)i);
		progress_add(1);
		if (stat(path, &status)) {
			if (errno != ENOENT)
				fail_errno("stat %s", path);
			continue;
		}
		if (status.st_mode & S_IROTH)
			found.reachable++;
		else
			found.closed++;
		if (!found.first)
			found.first = i;
	}
	return found;
}

static void measure(const char *who)
{
	uint64_t start, digest = DIGEST_START;
	struct found found;

	measured_start();
	start = now_ns();
	found = look_in_vain(who);
	start = now_ns() - start;
	measured_stop();
	digest_add(&digest, who);
	digest_add_number(&digest, paths);
	digest_add_number(&digest, lookups);
	result_begin(who, start);
	result_number("calls", lookups);
	result_real("ns_per_call", (double)start / (double)lookups);
	result_number("reachable_found", found.reachable);
	result_number("closed_found", found.closed);
	result_number("until_first", found.first ? found.first : lookups);
	result_end(digest);
}

static void run(void)
{
	int status;

	if (geteuid() || chmod(".", 0755))
		fail("root only: it makes files that another user may not reach");
	progress_start("files and lookups", 2 * (paths + lookups));
	make_files(reachable, 0644);
	make_files(closed, 0600);
	look_up(reachable);
	look_up(closed);
	measure("root");
	if (fork_child() == 0) {
		if (setgid(USER) || setuid(USER))
			fail_errno("setuid");
		look_up(reachable);
		measure("user");
		fflush(stdout);
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		fail("the user's process ended with status %#x", status);
}

/* clang-format off */
static const struct option_row options[] = {
	{"paths", OPTION_NUMBER, "N", "files of each kind that are there; 4096 without it", &paths, 1, 1000000},
	{"lookups", OPTION_NUMBER, "N", "names that are not, looked up by each; 20000 without it", &lookups, 1, 100000000},
	{.name = NULL},
};
/* clang-format on */

const struct load collide_load = {
	"collide",
	"what is found though it is not there, where paths' signatures are short (Tsai 2015, section 3.3); root only",
	options,
	NULL,
	run,
};
