/* The execution of a plan: programs, pipes between them, and what they end with. */
#define _GNU_SOURCE
#include "sdm.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STAGES = 8, WORDS = 128, MESSAGE = 2000 };

/* A program of a step. */
struct stage {
	char *argv[WORDS + 1];
	const char *in, *out; /* files, or none */
	pid_t child;
};

/* Cut @line, which is changed, into stages; their number. */
static int parse_stages(char *line, struct stage *stages)
{
	int count = 1, words = 0;
	const char **file = NULL;

	memset(stages, 0, STAGES * sizeof(*stages));
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
		struct stage *stage = &stages[count - 1];

		for (char *tilde = word; (tilde = strchr(tilde, '~'));)
			*tilde = ' ';
		if (!strcmp(word, "|")) {
			if (count++ == STAGES)
				fail("a step has more than %d programs", STAGES);
			words = 0;
		} else if (!strcmp(word, "<")) {
			file = &stage->in;
		} else if (!strcmp(word, ">")) {
			file = &stage->out;
		} else if (file) {
			*file = word;
			file = NULL;
		} else {
			if (words == WORDS)
				fail("a program has more than %d words", WORDS);
			stage->argv[words++] = word;
		}
	}
	return count;
}

static void move_descriptor(int from, int to)
{
	if (from == to)
		return;
	if (dup2(from, to) < 0)
		fail_errno("dup2");
	close(from);
}

static void open_as(const char *path, int flags, int fd)
{
	int opened = open(path, flags, 0644);

	if (opened < 0)
		fail_errno("%s", path);
	move_descriptor(opened, fd);
}

/* In the child: descriptors, then the program. */
static void become(const struct stage *stage, int in, int out)
{
	if (stage->in || in < 0)
		open_as(stage->in ? stage->in : "/dev/null", O_RDONLY, STDIN_FILENO);
	else
		move_descriptor(in, STDIN_FILENO);
	if (stage->out || out < 0)
		open_as(stage->out ? stage->out : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC,
			STDOUT_FILENO);
	else
		move_descriptor(out, STDOUT_FILENO);
	open_as("messages", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
	execvp(stage->argv[0], stage->argv);
	dprintf(STDERR_FILENO, "%s: %s\n", stage->argv[0], strerror(errno));
	_exit(127);
}

/* A pipe with @text in it, which fits; the end to read. */
static int pipe_with(const char *text)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || write(ends[1], text, strlen(text)) != (ssize_t)strlen(text))
		fail_errno("a step's input");
	close(ends[1]);
	return ends[0];
}

/* Start all of a step's programs. */
static void start(struct stage *stages, int count, const char *input)
{
	int in = input ? pipe_with(input) : -1;

	for (int i = 0; i < count; i++) {
		int ends[2] = {-1, -1};

		if (i + 1 < count && pipe2(ends, O_CLOEXEC))
			fail_errno("pipe");
		stages[i].child = fork_child();
		if (stages[i].child == 0)
			become(&stages[i], in, ends[1]);
		if (in >= 0)
			close(in);
		if (ends[1] >= 0)
			close(ends[1]);
		in = ends[0];
	}
}

/* One message for all that is known of a step that failed: the last program's own words with it. */
static void report(const struct step *step, const char *program, unsigned number, unsigned place,
		   int status)
{
	int fd = open("messages", O_RDONLY), length;
	char *ended = WIFSIGNALED(status) ? join("was ended by signal %d", WTERMSIG(status))
					  : join("ended with status %d", WEXITSTATUS(status));
	char text[MESSAGE] = "";

	length = fd < 0 ? 0 : (int)read(fd, text, sizeof(text) - 1);
	dprintf(STDERR_FILENO,
		"workload: script %u, step %u, %s: %s\n  the step: %s\n  it said: %.*s\n", number,
		place, program, ended, step->line, length > 0 ? length : 0, text);
}

static int run_step(const struct step *step, unsigned number, unsigned place)
{
	struct stage stages[STAGES];
	char *line = join("%s", step->line);
	int count = parse_stages(line, stages), good = 1;

	start(stages, count, step->input);
	for (int i = 0; i < count; i++) {
		int wanted = i + 1 == count ? step->status : 0, status;

		if (waitpid(stages[i].child, &status, 0) < 0)
			fail_errno("waitpid");
		if (good && (!WIFEXITED(status) || WEXITSTATUS(status) != wanted)) {
			report(step, stages[i].argv[0], number, place, status);
			good = 0;
		}
	}
	free(line);
	return good;
}

int run_plan(const struct plan *plan, unsigned number)
{
	for (unsigned i = 0; i < plan->steps; i++) {
		uint64_t think = plan->think_ns[i];

		if (think)
			nanosleep(&(struct timespec){(time_t)(think / 1000000000),
						     (long)(think % 1000000000)},
				  NULL);
		if (!run_step(&plan->step[i], number, i + 1))
			return 0;
		progress_add(1);
	}
	return 1;
}
