/* Who watches over a load: its folder, its processes, its signals, its progress line; and its
 * results' lines. */
#define _GNU_SOURCE
#include "workload.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DRAW_MILLISECONDS = 500 };

/* Seen by all processes. Who writes on the terminal holds `writing`. */
struct shared {
	_Atomic uint64_t done, total;
	atomic_flag writing;
	_Atomic int drawn; /* there is a line that no newline has ended */
	char what[32];
};

static struct shared *shared;
static const struct load *current_load;
static char *work_folder;

/* ---- results ---- */

static void lock_output(void)
{
	while (atomic_flag_test_and_set(&shared->writing))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void result_begin(const char *name_of_case, uint64_t elapsed_ns)
{
	lock_output();
	if (atomic_exchange(&shared->drawn, 0))
		fprintf(stderr, "\n");
	printf("{\"workload\":\"%s\",\"case\":\"%s\",\"seed\":%llu,\"elapsed_ns\":%llu",
	       current_load->name, name_of_case, (unsigned long long)common.seed,
	       (unsigned long long)elapsed_ns);
}

void result_number(const char *name, uint64_t value)
{
	printf(",\"%s\":%llu", name, (unsigned long long)value);
}

void result_real(const char *name, double value)
{
	printf(",\"%s\":%.3f", name, value);
}

void result_end(uint64_t digest)
{
	measured_print();
	printf(",\"digest\":\"%016llx\"}\n", (unsigned long long)digest);
	if (fflush(stdout))
		fail_errno("stdout");
	atomic_flag_clear(&shared->writing);
}

/* ---- progress ---- */

void progress_start(const char *what, uint64_t total)
{
	snprintf(shared->what, sizeof(shared->what), "%s", what);
	shared->done = 0;
	shared->total = total;
}

void progress_add(uint64_t steps)
{
	shared->done += steps;
}

uint64_t progress_count(void)
{
	return shared->done;
}

static void progress_draw(void)
{
	uint64_t done = shared->done, total = shared->total;

	if (!total || atomic_flag_test_and_set(&shared->writing))
		return;
	fprintf(stderr, "\rworkload %s: %s: %llu of %llu (%llu%%)  ", current_load->name,
		shared->what, (unsigned long long)done, (unsigned long long)total,
		(unsigned long long)(done * 100 / total));
	shared->drawn = 1;
	atomic_flag_clear(&shared->writing);
}

/* ---- the folder ---- */

static int remove_below(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), good = 1;
	struct dirent *entry;
	DIR *folder;

	if (fd < 0)
		return 0;
	folder = fdopendir(fd);
	if (!folder)
		return close(fd), 0;
	while ((entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0) == 0 || errno == ENOENT)
			continue;
		if ((errno != EISDIR && errno != EPERM) || !remove_below(fd, entry->d_name) ||
		    unlinkat(fd, entry->d_name, AT_REMOVEDIR))
			good = 0;
	}
	closedir(folder);
	return good;
}

int remove_tree(const char *path)
{
	if (unlink(path) == 0 || errno == ENOENT)
		return 1;
	if (errno != EISDIR && errno != EPERM)
		return 0;
	return remove_below(AT_FDCWD, path) && rmdir(path) == 0;
}

/* A folder that was not there: its name is the same in each run that finds @common.directory empty.
 */
static void make_work_folder(void)
{
	char *base = realpath(common.directory, NULL);

	if (!base)
		fail_errno("--dir %s", common.directory);
	for (unsigned number = 0;; number++) {
		work_folder =
			number ? join("%s/workload.%u", base, number) : join("%s/workload", base);
		if (mkdir(work_folder, 0755) == 0)
			break;
		if (errno != EEXIST)
			fail_errno("no folder can be made in %s (another one: --dir DIRECTORY)",
				   base);
		free(work_folder);
	}
	free(base);
}

/* ---- the supervisor ---- */

static void work(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	if (chdir(work_folder))
		fail_errno("%s", work_folder);
	current_load->run();
	if (fflush(stdout))
		fail_errno("stdout");
	exit(0);
}

/* Wait until the child has ended or a signal wants us to: its number, or 0. */
static int wait_for_end(const sigset_t *signals, pid_t child, int *status)
{
	struct timespec interval = {.tv_nsec = DRAW_MILLISECONDS * 1000000L};
	int draws = common.progress || isatty(STDERR_FILENO);

	for (;;) {
		int number = sigtimedwait(signals, NULL, draws ? &interval : NULL);

		if (number > 0 && number != SIGCHLD)
			return number;
		if (waitpid(child, status, WNOHANG) == child)
			return 0;
		if (draws)
			progress_draw();
	}
}

/* All of the group dies at once; the files of a process that is about to may still appear for a
 * moment. */
static int clean_up(pid_t group)
{
	kill(-group, SIGKILL);
	while (waitpid(-group, NULL, 0) > 0)
		;
	if (chdir("/") || common.keep) {
		fprintf(stderr, "workload: the files are in %s\n", work_folder);
		return 1;
	}
	for (int tries = 0; tries < 100; tries++) {
		if (remove_tree(work_folder))
			return 1;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	fprintf(stderr, "workload: %s cannot be removed: %s\n", work_folder, strerror(errno));
	return 0;
}

int supervise(const struct load *load)
{
	int status = 0, number, clean;
	sigset_t signals, before;
	pid_t child;

	current_load = load;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		fail_errno("mmap");
	sigemptyset(&signals);
	for (const int *one = (const int[]){SIGINT, SIGTERM, SIGHUP, SIGCHLD, 0}; *one; one++) {
		signal(*one, SIG_DFL);
		sigaddset(&signals, *one);
	}
	sigprocmask(SIG_BLOCK, &signals, &before);
	make_work_folder();
	child = fork_child();
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		work();
	}
	setpgid(child, child);
	number = wait_for_end(&signals, child, &status);
	if (atomic_exchange(&shared->drawn, 0))
		fprintf(stderr, "\n");
	clean = clean_up(child);
	if (number) { /* ended by what a shell expects, once all is clean */
		signal(number, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		raise(number);
	}
	if (WIFSIGNALED(status))
		fail("the load was ended by signal %d (%s)", WTERMSIG(status),
		     strsignal(WTERMSIG(status)));
	if (!WEXITSTATUS(status) && !clean)
		return STATUS_FAILED;
	return WEXITSTATUS(status);
}
