/* The command line: which load, its options, --help. */
#define _GNU_SOURCE
#include "workload.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct common common = {.seed = 1};

static const struct load *const loads[] = {
	&sdm_load,     &sdet_load,    &files_load,    &lat_load,    &readdir_load,
	&mkstemp_load, &maildir_load, &tree_load,     &miss_load,   &ladder_load,
	&change_load,  &listing_load, &programs_load, &collide_load};

enum { LOADS = sizeof(loads) / sizeof(loads[0]) };

/* clang-format off */
static const struct option_row common_options[] = {
	{"seed", OPTION_NUMBER, "N", "whatever is random is drawn from N; 1 without it", &common.seed, 0, UINT64_MAX},
	{"dir", OPTION_TEXT, "DIRECTORY", "make the files in here; /var/tmp without it", &common.directory, 0, 0},
	{"keep", OPTION_FLAG, NULL, "do not remove the files, so that counters at shutdown are those of the load", &common.keep, 0, 0},
	{"progress", OPTION_FLAG, NULL, "a progress line on stderr though that is no terminal", &common.progress, 0, 0},
	{.name = NULL},
};
/* clang-format on */

static void print_options(const struct option_row *row)
{
	for (; row->name; row++) {
		char *left = row->value ? join("--%s %s", row->name, row->value)
					: join("--%s", row->name);

		printf("  %-30s %s\n", left, row->about);
		free(left);
	}
}

static void print_loads(FILE *out)
{
	fprintf(out, "Usage: workload LOAD [options]    workload LOAD --help\n\n");
	for (int i = 0; i < LOADS; i++)
		fprintf(out, "  %-9s %s\n", loads[i]->name, loads[i]->about);
}

static void print_help(const struct load *load)
{
	printf("Usage: workload %s [options]\n\n%s.\n\n", load->name, load->about);
	print_options(load->options);
	printf("\n");
	print_options(common_options);
	printf("\nEach result is a line of JSON on stdout; times are nanoseconds of CLOCK_MONOTONIC.\n"
	       "Exit status: 0 done, 1 failed, 2 wrong arguments, 128+N ended by signal N.\n");
}

static const struct option_row *find_option(const struct option_row *row, const char *name,
					    size_t length)
{
	for (; row->name; row++)
		if (strlen(row->name) == length && !strncmp(row->name, name, length))
			return row;
	return NULL;
}

/* A number with K, M or G behind it, up to @end (or the text's). */
static uint64_t parse_number(const struct option_row *row, const char *text, char **end)
{
	static const char units[] = "KMG";
	unsigned long long number;
	const char *unit;

	errno = 0;
	number = strtoull(text, end, 10);
	if (*end == text || errno || *text < '0' || *text > '9')
		usage("--%s %s: that is no number (%llu to %llu)", row->name, text,
		      (unsigned long long)row->least, (unsigned long long)row->most);
	unit = **end ? strchr(units, **end & ~0x20) : NULL;
	if (unit) {
		int shift = 10 * (int)(unit - units + 1);

		if (number << shift >> shift != number)
			usage("--%s %s: that is too much", row->name, text);
		number <<= shift;
		++*end;
	}
	if (number < row->least || number > row->most)
		usage("--%s %s: give it from %llu to %llu", row->name, text,
		      (unsigned long long)row->least, (unsigned long long)row->most);
	return number;
}

static void parse_list(const struct option_row *row, const char *text)
{
	struct list *list = row->target;
	const char *at = text;

	for (list->count = 0; list->count < LIST_LENGTH; at++) {
		char *end;

		list->values[list->count++] = parse_number(row, at, &end);
		at = end;
		if (!*at)
			return;
		if (*at != ',')
			usage("--%s %s: numbers with commas between, such as 1,2,4", row->name,
			      text);
	}
	usage("--%s takes at most %d numbers", row->name, LIST_LENGTH);
}

static void parse_choice(const struct option_row *row, const char *text)
{
	size_t length = strlen(text);
	int place = 0;

	for (const char *word = row->value;; place++) {
		size_t width = strcspn(word, "|");

		if (width == length && !strncmp(word, text, length)) {
			*(int *)row->target = place;
			return;
		}
		if (!word[width])
			break;
		word += width + 1;
	}
	usage("--%s %s: there is %s", row->name, text, row->value);
}

static void parse_value(const struct option_row *row, const char *text)
{
	char *end;

	switch (row->kind) {
	case OPTION_NUMBER:
		*(uint64_t *)row->target = parse_number(row, text, &end);
		if (*end)
			usage("--%s %s: a number, with K, M or G behind it if you like", row->name,
			      text);
		break;
	case OPTION_LIST:
		parse_list(row, text);
		break;
	case OPTION_CHOICE:
		parse_choice(row, text);
		break;
	default:
		*(const char **)row->target = text;
	}
}

static void parse(const struct load *load, char **argv)
{
	for (; *argv; argv++) {
		const char *name = *argv + 2, *equals;
		const struct option_row *row;
		size_t length;

		if (!strcmp(*argv, "--help") || !strcmp(*argv, "-h")) {
			print_help(load);
			exit(0);
		}
		if (strncmp(*argv, "--", 2))
			usage("%s: what is that? All arguments are options: workload %s --help",
			      *argv, load->name);
		equals = strchr(name, '=');
		length = equals ? (size_t)(equals - name) : strlen(name);
		row = find_option(load->options, name, length);
		if (!row)
			row = find_option(common_options, name, length);
		if (!row)
			usage("%s: %s has no such option: workload %s --help", *argv, load->name,
			      load->name);
		if (row->kind == OPTION_FLAG && equals)
			usage("--%s takes no value", row->name);
		if (row->kind == OPTION_FLAG)
			*(int *)row->target = 1;
		else if (equals || argv[1])
			parse_value(row, equals ? equals + 1 : *++argv);
		else
			usage("--%s %s: the value is missing", row->name, row->value);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], EXIT_AT_ONCE))
		return 0;
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		print_loads(stdout);
		return 0;
	}
	for (int i = 0; i < LOADS && argc > 1; i++) {
		if (strcmp(argv[1], loads[i]->name))
			continue;
		parse(loads[i], argv + 2);
		if (!common.directory)
			common.directory = "/var/tmp"; /* /tmp is often a tmpfs */
		if (loads[i]->check)
			loads[i]->check();
		return supervise(loads[i]);
	}
	if (argc > 1)
		fprintf(stderr, "workload: there is no load '%s'\n", argv[1]);
	print_loads(stderr);
	return STATUS_USAGE;
}
