/* command.c - hashbench's command line: what it says, and what of it makes no sense. */
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { RUNS_MOST = 999 };

static const char usage[] =
	"Usage: hashbench DATA [OPTION...]\n"
	"\n"
	"DATA is one of\n"
	"  --words FILE          words, a line each (makedata.py writes a dictionary)\n"
	"  --passwd FILE         accounts, two records each\n"
	"  --records N           records of 16 and 100 bytes\n"
	"  --name TEXT           what results call the data (the file's name, or N records)\n"
	"\n"
	"  --system NAME[:OPTION=VALUE,...]  one more system to run (without any: all)\n"
	"  --set OPTION=VALUE,...  of every system that has the option: bucket, fill, cache ...\n"
	"  --nelem known|unknown|N  how many elements systems are told to expect (known)\n"
	"  --tests NAME,...      create read verify keys pairs both memory scattered, a to f\n"
	"                        (the first five and memory)\n"
	"  --runs N              of each, in turn (9)\n"
	"  --folder PATH         for the files (.)\n"
	"  --cold                drop the kernel's caches before tests that open a file (as root)\n"
	"  --operations N        of a mix (100000)\n"
	"  --scans N             of mix e, whose operations are 50 records each (as --operations)\n"
	"  --threads N,...       of a mix (1)\n"
	"  --loaded              mixes run on the file of create, one after the other (each loads\n"
	"                        a table of its own)\n"
	"  --locked              threads of a system that has none take turns by a lock (left out)\n"
	"  --zipf S              the exponent of a mix (0.99)\n"
	"  --seed N              of records and mixes (1991)\n"
	"  --list                the systems, their options, and the adapters that are not built\n";

void refuse(const char *what, const char *why)
{
	fprintf(stderr, "hashbench: %s: %s\n", what, why);
	exit(2);
}

static uint64_t number(const char *name, const char *text, uint64_t least, uint64_t most)
{
	char *end, why[80];
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
		snprintf(why, sizeof(why), "a number from %llu to %llu, not '%.20s'",
			 (unsigned long long)least, (unsigned long long)most, text);
		refuse(name, why);
	}
	return value;
}

static void list_systems(void)
{
	for (size_t i = 0; every_system[i]; i++) {
		const struct option_rule *rule = every_system[i]->options;

		printf("%-14s %s\n", every_system[i]->name, every_system[i]->summary);
		for (; rule && rule->name; rule++) {
			printf("    %-12s %s (", rule->name, rule->meaning);
			for (size_t j = 0; rule->words && rule->words[j]; j++)
				printf("%s%s", j ? "|" : "", rule->words[j]);
			if (!rule->words)
				printf("%llu to %llu; %llu", (unsigned long long)rule->least,
				       (unsigned long long)rule->most,
				       (unsigned long long)rule->usual);
			printf(")\n");
		}
	}
	for (size_t i = 0; absent_systems[i]; i++)
		printf("absent: %s\n", absent_systems[i]);
}

/* What is printed between quotation marks needs none of its own. */
static const char *name_in_json(const char *name)
{
	for (const char *letter = name; *letter; letter++)
		if (*letter < ' ' || strchr("\"\\", *letter))
			refuse("--name", "letters without quotation marks and backslashes");
	return name;
}

static void read_data_option(struct command *command, struct plan *plan, const char *name,
			     const char *value)
{
	if (!strcmp(name, "--words"))
		command->words = value;
	else if (!strcmp(name, "--passwd"))
		command->passwd = value;
	else if (!strcmp(name, "--records"))
		command->records = number(name, value, 1, 1000000000);
	else if (!strcmp(name, "--name"))
		command->name = name_in_json(value);
	else if (!strcmp(name, "--seed"))
		plan->seed = number(name, value, 0, UINT64_MAX);
	else if (!strcmp(name, "--operations"))
		plan->operations = number(name, value, 1, 1000000000);
	else if (!strcmp(name, "--scans"))
		plan->scans = number(name, value, 1, 1000000000);
	else
		refuse(name, "no such option (--help)");
}

static void read_option(struct command *command, struct plan *plan, const char *name,
			const char *value)
{
	char *end;

	if (!value)
		refuse(name, "the value is missing");
	if (!strcmp(name, "--system")) {
		if (command->system_count == VARIANTS)
			refuse(name, "at most 64");
		command->systems[command->system_count++] = value;
	} else if (!strcmp(name, "--set")) {
		command->common = value;
	} else if (!strcmp(name, "--nelem")) {
		command->nelem = value;
	} else if (!strcmp(name, "--tests")) {
		command->tests = value;
	} else if (!strcmp(name, "--threads")) {
		command->threads = value;
	} else if (!strcmp(name, "--folder")) {
		plan->folder = value;
	} else if (!strcmp(name, "--runs")) {
		command->runs = number(name, value, 1, RUNS_MOST);
	} else if (!strcmp(name, "--zipf")) {
		plan->zipf = strtod(value, &end);
		if (*end || !(plan->zipf > 0 && plan->zipf < 10) || plan->zipf == 1)
			refuse(name, "a number above 0 and below 10, but not 1");
	} else {
		read_data_option(command, plan, name, value);
	}
}

/* An option without a value. */
static bool read_switch(struct plan *plan, const char *name)
{
	if (!strcmp(name, "--cold"))
		plan->cold = true;
	else if (!strcmp(name, "--loaded"))
		plan->loaded = true;
	else if (!strcmp(name, "--locked"))
		plan->locked = true;
	else
		return false;
	return true;
}

void command_read(int count, char **words, struct command *command, struct plan *plan)
{
	for (int i = 1; i < count; i++) {
		if (!strcmp(words[i], "--help")) {
			fputs(usage, stdout);
			exit(0);
		}
		if (!strcmp(words[i], "--list")) {
			list_systems();
			exit(0);
		}
		if (read_switch(plan, words[i]))
			continue;
		read_option(command, plan, words[i], words[i + 1]);
		i++;
	}
	if (!command->words + !command->passwd + !command->records != 2)
		refuse("data", "one of --words, --passwd and --records (--help)");
}

/* The next of the words between commas in *@rest. */
static char *next_word(char **rest)
{
	char *word = strsep(rest, ",");

	if (word && !*word)
		refuse("a list", "nothing between two commas");
	return word;
}

static char *copy_of(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		refuse("the command", "no memory");
	return copy;
}

static const char *test_named(const char *name)
{
	for (size_t i = 0; test_names[i]; i++)
		if (!strcmp(test_names[i], name))
			return test_names[i];
	refuse(name, "no such test (--help)");
	return NULL;
}

/* The numbers of --threads; how many they are. */
static size_t read_threads(const struct command *command, unsigned *threads)
{
	char *list = copy_of(command->threads), *text;
	size_t count = 0;

	while ((text = next_word(&list))) {
		if (count == THREADS_MOST)
			refuse("--threads", "at most 64 numbers");
		threads[count++] = (unsigned)number("--threads", text, 1, THREADS_MOST);
	}
	return count;
}

size_t command_steps(const struct command *command, struct step *steps)
{
	char *tests = copy_of(command->tests), *name;
	unsigned threads[THREADS_MOST];
	const size_t numbers = read_threads(command, threads);
	size_t count = 0;

	while ((name = next_word(&tests))) {
		const char *test = test_named(name);
		const size_t times = test[1] ? 1 : numbers;

		for (size_t i = 0; i < times; i++) {
			if (count == STEPS)
				refuse("--tests", "at most 64 with their numbers of threads");
			steps[count].test = test;
			steps[count++].threads = test[1] ? 1 : threads[i];
		}
	}
	return count;
}

void variant_set(struct variant *variant, const char *setting)
{
	char text[128], message[256];
	uint64_t values[SYSTEM_OPTIONS];
	int place;

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(setting, "="), setting);
	place = system_option(variant->system, text);
	if (place < 0)
		return;
	if (system_options(variant->system, setting, values, message, sizeof(message)))
		refuse(variant->system->name, message);
	variant->values[place] = values[place];
}

static void set_nelem(struct variant *variant, const char *nelem, size_t known)
{
	char setting[64];

	if (!strcmp(nelem, "unknown"))
		return;
	if (!strcmp(nelem, "known"))
		snprintf(setting, sizeof(setting), "nelem=%zu", known);
	else
		snprintf(setting, sizeof(setting), "nelem=%llu",
			 (unsigned long long)number("--nelem", nelem, 1, 1000000000));
	variant_set(variant, setting);
}

static void set_all(struct variant *variant, const char *settings)
{
	char *rest = *settings ? copy_of(settings) : NULL, *setting;

	while ((setting = next_word(&rest)))
		variant_set(variant, setting);
}

/* What stands behind the system's name goes before what is set for all. */
static void read_variant(const struct command *command, struct variant *variant, const char *text,
			 size_t known)
{
	const size_t length = strcspn(text, ":");
	const char *own = text[length] ? text + length + 1 : "";
	char name[64], message[256];
	uint64_t values[SYSTEM_OPTIONS];

	snprintf(name, sizeof(name), "%.*s", (int)length, text);
	snprintf(variant->label, sizeof(variant->label), "%s", text);
	variant->system = any_system_named(name);
	if (!variant->system)
		refuse(name, "no such system in this build (--list)");
	if (system_options(variant->system, own, values, message, sizeof(message)))
		refuse(variant->system->name, message);
	system_options(variant->system, NULL, variant->values, message, sizeof(message));
	set_nelem(variant, command->nelem, known);
	set_all(variant, command->common ? command->common : "");
	set_all(variant, own);
}

size_t command_variants(const struct command *command, struct variant *variants, size_t known)
{
	size_t count = command->system_count;

	for (size_t i = 0; i < count; i++)
		read_variant(command, &variants[i], command->systems[i], known);
	for (; !command->system_count && every_system[count]; count++)
		read_variant(command, &variants[count], every_system[count]->name, known);
	return count;
}
