/*
 * programs - real programs on a tree of sources, as they are: Tsai 2015, tables 1 and 2.
 *
 * The tree comes out of the archive --source (lab/guest/sourcetree.py makes it); what is compiled
 * is the source of Lua. Each program runs once and is then measured --passes times, from its fork
 * to its end, so that its result is of warm caches; with --cold caches are written back and dropped
 * before each. What a program uses up is made anew before each pass, and is not measured.
 *
 * ./cw run --image programs has the programs, Debian's, and Lua's source.
 */
#define _GNU_SOURCE
#include "workload.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 16, MESSAGE = 2000 };

#define TREE "tree"
#define LUA "/usr/src/lua/src"
#define MAKE_LUA                                                                                   \
	"make -s -C lua CC=tcc AR=tcc~-ar~rcs RANLIB=true SYSCFLAGS=-DLUA_USE_POSIX SYSLIBS= "     \
	"MYLDFLAGS= lua"

static const char *source = "/usr/src/source.tar.gz", *only = "";
static uint64_t passes = 3;
static int cold;

/* So many new objects would have the commit leave a `git gc` in the background, beside which status
 * and diff were measured. */
#define NEW_REPOSITORY "cd tree; git init -q; git config gc.auto 0; git add -A; git commit -qm all"

/*
 * A program: what is measured, without a shell but for updatedb, which is a script of it, `~` being
 * a blank within a word. `prepare` is done once, by the shell, for it and those that follow with
 * the same; `before` and `after` in each pass.
 */
static const struct program {
	const char *name, *prepare, *before, *line, *after;
} programs[] = {
	{"find", NULL, NULL, "find tree -name Kconfig", NULL},
	{"tar xzf", NULL, "mkdir unpacked", "tar xzf archive -C unpacked", "rm -r unpacked"},
	{"rm -r", NULL, "mkdir unpacked; tar xzf archive -C unpacked", "rm -r unpacked", NULL},
	{"make", NULL, "cp -R " LUA " lua", MAKE_LUA, "rm -r lua"},
	{"make -j12", NULL, "cp -R " LUA " lua", MAKE_LUA " -j12", "rm -r lua"},
	{"du -s", NULL, NULL, "du -s tree", NULL},
	{"updatedb", NULL, NULL,
	 "sh -c exec~updatedb.findutils~--localpaths=$PWD/tree~--output=$PWD/names.db~--prunepaths=",
	 "rm names.db"},
	{"git status", NEW_REPOSITORY, NULL, "git -C tree status --porcelain", NULL},
	{"git diff", NEW_REPOSITORY, NULL, "git -C tree diff", NULL},
};

enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

/* Git asks for these; a configuration of the host's, if there is one, is left alone. */
static const char *const environment[][2] = {
	{"HOME", "/nonexistent"},
	{"LC_ALL", "C"},
	{"GIT_CONFIG_NOSYSTEM", "1"},
	{"GIT_AUTHOR_NAME", "A"},
	{"GIT_AUTHOR_EMAIL", "a@example.org"},
	{"GIT_COMMITTER_NAME", "A"},
	{"GIT_COMMITTER_EMAIL", "a@example.org"},
	{"GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z"},
	{"GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z"},
};

static void open_as(const char *path, int flags, int fd)
{
	int opened = open(path, flags | O_CLOEXEC, 0644);

	if (opened < 0 || dup2(opened, fd) < 0)
		fail_errno("%s", path);
}

/* @line, which is changed, as words; `~` in them become blanks. */
static void split(char *line, char *words[WORDS + 1])
{
	int count = 0;

	for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
		if (count == WORDS)
			fail("a program has more than %d words", WORDS);
		for (char *tilde = word; (tilde = strchr(tilde, '~'));)
			*tilde = ' ';
		words[count++] = word;
	}
	words[count] = NULL;
}

/* End with the words of the program that failed. */
static void report(const char *line, int status)
{
	char said[MESSAGE] = "", *ended = WIFSIGNALED(status)
						  ? join("signal %d", WTERMSIG(status))
						  : join("status %d", WEXITSTATUS(status));
	int fd = open("messages", O_RDONLY);

	if (fd >= 0 && read(fd, said, sizeof(said) - 1) < 0)
		fail_errno("messages");
	fail("'%s' ended with %s; it said: %s", line, ended, said);
}

/* Run @argv to its end, its output to nowhere; nanoseconds from before its fork. @line names it. */
static uint64_t execute(char *const argv[], const char *line)
{
	uint64_t start = now_ns();
	pid_t child = fork_child();
	int status;

	if (child == 0) {
		open_as("/dev/null", O_RDONLY, STDIN_FILENO);
		open_as("/dev/null", O_WRONLY, STDOUT_FILENO);
		open_as("messages", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
		execvp(argv[0], argv);
		dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0)
		fail_errno("waitpid");
	start = now_ns() - start;
	if (status)
		report(line, status);
	return start;
}

/* What is not measured: by the shell. */
static void shell(const char *line)
{
	char *words = join("%s", line ? line : "");
	char *const argv[] = {"sh", "-e", "-c", words, NULL};

	if (line)
		execute(argv, line);
	free(words);
}

static void measure(const struct program *program)
{
	char *line = join("%s", program->line), *argv[WORDS + 1];
	uint64_t digest = DIGEST_START;

	split(line, argv);
	digest_add(&digest, program->line);
	for (uint64_t pass = cold ? 1 : 0; pass <= passes; pass++) {
		uint64_t elapsed;

		shell(program->before);
		if (cold)
			drop_caches(3);
		if (pass)
			measured_start();
		elapsed = execute(argv, program->line);
		if (pass) {
			measured_stop();
			result_begin(program->name, elapsed);
			result_end(digest);
		}
		shell(program->after);
		progress_add(1);
	}
	free(line);
}

/* Is @program's name among those of --only? */
static int is_wanted(const struct program *program)
{
	char *names = join(",%s,", only), *name = join(",%s,", program->name);
	int found = !*only || strstr(names, name) != NULL;

	free(names);
	free(name);
	return found;
}

static void run(void)
{
	const char *prepared = NULL;

	for (size_t i = 0; i < sizeof(environment) / sizeof(environment[0]); i++)
		if (setenv(environment[i][0], environment[i][1], 1))
			fail_errno("%s", environment[i][0]);
	progress_start("passes", PROGRAMS * (passes + !cold));
	if (symlink(source, "archive"))
		fail_errno("archive");
	shell("mkdir " TREE "; tar xzf archive -C " TREE);
	for (int i = 0; i < PROGRAMS; i++) {
		const char *wanted = programs[i].prepare;

		if (!is_wanted(&programs[i]))
			continue;
		if (wanted && (!prepared || strcmp(prepared, wanted)))
			shell(wanted);
		prepared = wanted ? wanted : prepared;
		measure(&programs[i]);
	}
}

static void check(void)
{
	int found = 0;

	for (int i = 0; i < PROGRAMS; i++)
		found |= is_wanted(&programs[i]);
	if (!found)
		usage("--only %s: no program is called so; there are find, tar xzf, rm -r, make, make -j12, du -s, updatedb, git status and git diff",
		      only);
	if (access(source, R_OK))
		usage("--source %s: %s (docs/lab/workloads.md says what makes one)", source,
		      strerror(errno));
}

/* clang-format off */
static const struct option_row options[] = {
	{"source", OPTION_TEXT, "FILE", "the tree's archive, by its whole path; /usr/src/source.tar.gz without it", &source, 0, 0},
	{"only", OPTION_TEXT, "NAME,...", "these programs; all without it", &only, 0, 0},
	{"passes", OPTION_NUMBER, "N", "of each, a result each, after one that does not count; 3 without it", &passes, 1, 1000},
	{"cold", OPTION_FLAG, NULL, "drop the caches before each pass, of which then the first counts, too; root only", &cold, 0, 0},
	{.name = NULL},
};
/* clang-format on */

const struct load programs_load = {
	"programs",
	"find, tar, rm, make, du, updatedb and git on a tree of sources, after Tsai 2015, tables 1 and 2",
	options,
	check,
	run,
};
