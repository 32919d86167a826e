/* The plan of a script: which steps in which order, on which files, after how much thought. */
#define _GNU_SOURCE
#include "sdm.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SMALL_FILE = 9000, SMALL_FILES = 8, LINE = 8192 };

/* In every C file of Lua. */
static const char *const words[] = {"include", "define",    "return", "lua_",
				    "static",  "Copyright", "LUA_"};

/* What the percent signs of a task stand for. */
struct choices {
	const struct plan_options *options;
	char **files; /* base names of C files that the script works on */
	unsigned count;
	const char *file, *other, *word;
	uint64_t number;
};

static int is_source(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".c");
}

/* Base names of the C files of the tree, in alphabetical order; of those that are small with
 * @small. */
static char **source_files(const char *source, int small, unsigned *count)
{
	char *folder = join("%s/src", source), **files;
	struct dirent **entries;
	struct stat status;
	int found = scandir(folder, &entries, is_source, alphasort);

	if (found < 0)
		fail_errno("%s: no source tree to work on (./cw run --image sdm has one; --source)",
			   folder);
	files = allocate((size_t)found * sizeof(*files));
	*count = 0;
	for (int i = 0; i < found; i++) {
		char *path = join("%s/%s", folder, entries[i]->d_name);

		if (stat(path, &status))
			fail_errno("%s", path);
		if (!small || status.st_size < SMALL_FILE)
			files[(*count)++] = join("%.*s", (int)strlen(entries[i]->d_name) - 2,
						 entries[i]->d_name);
		free(path);
		free(entries[i]);
	}
	free(entries);
	free(folder);
	if (*count < SMALL_FILES)
		fail("%s/src has %u C files, at least %d are needed", source, *count, SMALL_FILES);
	return files;
}

/* All headers, the makefile, and the C files of the script. */
static void add_file_list(char *line, const struct choices *chosen)
{
	char *folder = join("%s/src", chosen->options->source);
	struct dirent **entries;
	int found = scandir(folder, &entries, NULL, alphasort);

	for (int i = 0; i < found; i++) {
		const char *name = entries[i]->d_name, *dot = strrchr(name, '.');

		if (!strcmp(name, "Makefile") || (dot && !strcmp(dot, ".h")))
			snprintf(line + strlen(line), LINE - strlen(line), "%s/%s ", folder, name);
		free(entries[i]);
	}
	for (unsigned i = 0; i < chosen->count; i++)
		snprintf(line + strlen(line), LINE - strlen(line), "%s/%s.c%s", folder,
			 chosen->files[i], i + 1 < chosen->count ? " " : "");
	free(entries);
	free(folder);
}

static void add_choice(char *line, char letter, const struct choices *chosen)
{
	char *end = line + strlen(line);
	size_t room = LINE - strlen(line);

	switch (letter) {
	case 'S':
		snprintf(end, room, "%s", chosen->options->source);
		break;
	case 'c':
		snprintf(end, room, "%s", chosen->file);
		break;
	case 'd':
		snprintf(end, room, "%s", chosen->other);
		break;
	case 'w':
		snprintf(end, room, "%s", chosen->word);
		break;
	case 'N':
		snprintf(end, room, "%llu", (unsigned long long)chosen->number);
		break;
	case 'O':
		snprintf(end, room, "%s.o %s.o", chosen->file, chosen->other);
		break;
	case 'L':
		add_file_list(line, chosen);
		break;
	default:
		snprintf(end, room, "%c", letter);
	}
}

static char *filled_in(const char *text, const struct choices *chosen)
{
	char *line, *whole;

	if (!text)
		return NULL;
	line = allocate(LINE);
	for (; *text; text++) {
		size_t length = strlen(line);

		if (length + 2 >= LINE)
			fail("a step is longer than %d bytes", LINE);
		if (*text == '%')
			add_choice(line, *++text, chosen);
		else
			line[length] = *text;
	}
	whole = join("%s", line);
	free(line);
	return whole;
}

static void add_step(struct plan *plan, struct step step, uint64_t think_ns)
{
	if (plan->steps == plan->room) {
		plan->room = plan->room ? 2 * plan->room : 64;
		plan->step = realloc(plan->step, plan->room * sizeof(*plan->step));
		plan->think_ns = realloc(plan->think_ns, plan->room * sizeof(*plan->think_ns));
		if (!plan->step || !plan->think_ns)
			fail("no memory for a plan");
	}
	plan->step[plan->steps] = step;
	plan->think_ns[plan->steps++] = think_ns;
}

/* All steps of @task that there is still room for. */
static void add_task(struct plan *plan, const struct task *task, struct choices *chosen,
		     struct random *random)
{
	const struct plan_options *options = chosen->options;
	uint64_t first = random_below(random, chosen->count);

	chosen->file = chosen->files[first];
	chosen->other = chosen->files[(first + 1 + random_below(random, chosen->count - 1)) %
				      chosen->count];
	chosen->word = words[random_below(random, sizeof(words) / sizeof(words[0]))];
	chosen->number = random_below(random, 1000000);
	for (int i = 0; i < TASK_STEPS && task->steps[i].line; i++) {
		uint64_t think = random_below(random, 2 * options->think_us + 1) * 1000;
		struct step step = task->steps[i];

		if (options->steps && plan->steps == options->steps)
			return;
		step.line = filled_in(step.line, chosen);
		step.input = filled_in(step.input, chosen);
		add_step(plan, step, think);
	}
}

/* A small script works on some of the small files, which differ from script to script. */
static void choose_files(struct choices *chosen, struct random *random)
{
	int small = chosen->options->size == SIZE_SMALL;
	unsigned count, order[256];
	char **files = source_files(chosen->options->source, small, &count);

	if (count > 256)
		fail("%s/src has %u C files, at most 256 are fine", chosen->options->source, count);
	random_order(random, order, count);
	chosen->count = small ? SMALL_FILES : count;
	chosen->files = allocate(chosen->count * sizeof(*chosen->files));
	for (unsigned i = 0; i < chosen->count; i++)
		chosen->files[i] = files[order[i]];
	free(files);
}

struct plan make_plan(const struct plan_options *options, unsigned number)
{
	struct choices chosen = {.options = options};
	struct plan plan = {0};
	struct random random;
	unsigned tasks = 0, order[64];

	random_start(&random, common.seed, number);
	choose_files(&chosen, &random);
	for (const struct task *task = sdm_first; task->name; task++)
		if (task->sizes >> options->size & 1)
			add_task(&plan, task, &chosen, &random);
	while (sdm_tasks[tasks].name)
		tasks++;
	do {
		random_order(&random, order, tasks);
		for (unsigned i = 0; i < tasks; i++)
			if (sdm_tasks[order[i]].sizes >> options->size & 1)
				add_task(&plan, &sdm_tasks[order[i]], &chosen, &random);
	} while (plan.steps < options->steps);
	return plan;
}
