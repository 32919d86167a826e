/*
 * main.c - chainhash: hash tables in files, from the command line. See tool.h and chainhash(1).
 */
#include "tool.h"

#include <getopt.h>
#include <stdarg.h>
#include <unistd.h>

static const char usage[] =
	"usage: chainhash COMMAND [OPTION...] FILE [ARGUMENT...]\n"
	"\n"
	"  load FILE [TEXT]    put the lines of TEXT (or of standard input): KEY<TAB>DATA\n"
	"  dump FILE           print all records as text that loads again\n"
	"  get FILE KEY        print the data of a key; status 1: there is no such key\n"
	"  put FILE KEY DATA   store a record; status 1: --keep, and the key is there\n"
	"  delete FILE KEY     take a record out; status 1: there is no such key\n"
	"  stat FILE           what the table is like: histogram, overflow, expected and observed\n"
	"  tune FILE           which bucket size and fill factor these records want, measured\n"
	"  verify FILE         check everything; status 1: something is wrong\n"
	"  repair FILE NEW     copy what can be read to a new table, and say what can't\n"
	"  functions           list the hash functions\n"
	"\n"
	"  -b, --bucket-size N   -f, --fill-factor N   -n, --elements N   -c, --cache-size BYTES\n"
	"  -H, --hash NAME       -s, --split controlled|uncontrolled|both\n"
	"  -C, --no-checksum     pages of a new file without checksums\n"
	"  -k, --keep            put and load: a key that is there stays as it is\n"
	"  -w, --wait            wait until another writer is done\n"
	"  -j, --json            stat, tune and verify: as JSON\n"
	"  -q, --quiet           no progress\n"
	"\n"
	"Keys and data: \\\\, \\t, \\n and \\xNN stand for bytes. Status 2: it could not be done.\n";

static const struct command {
	const char *name;
	int (*run)(struct settings *settings);
	int least, most; /* words behind the name */
} commands[] = {
	{"load", command_load, 1, 2},	  {"dump", command_dump, 1, 1},
	{"get", command_get, 2, 2},	  {"put", command_put, 3, 3},
	{"delete", command_delete, 2, 2}, {"stat", command_stat, 1, 1},
	{"tune", command_tune, 1, 1},	  {"verify", command_verify, 1, 1},
	{"repair", command_repair, 2, 2},
};

int complain(int error, const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fprintf(stderr, "chainhash: ");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	if (error)
		fprintf(stderr, ": %s", strerror(-error));
	fputc('\n', stderr);
	return FAILED;
}

struct chainhash *open_table(const struct settings *settings, const char *path, int flags)
{
	struct chainhash *table;
	int error;

	if (flags & CHAINHASH_READ_ONLY)
		flags |= settings->flags & ~(CHAINHASH_WAIT | CHAINHASH_NO_CHECKSUM);
	else
		flags |= settings->flags;
	error = chainhash_open(&table, path, flags, 0666, &settings->options);
	if (!error)
		return table;
	complain(0, "%s: %s", path, chainhash_message());
	return NULL;
}

int close_table(struct chainhash *table, const char *path, int status)
{
	int error = chainhash_close(table);

	return error ? complain(error, "%s: nothing was changed", path) : status;
}

void progress(const struct settings *settings, const char *what, uint64_t done, uint64_t all)
{
	if (settings->quiet || !isatty(STDERR_FILENO))
		return;
	if (all)
		fprintf(stderr, "\r%s: %3u %%", what, (unsigned)(done * 100 / all));
	else
		fprintf(stderr, "\r%s: %" PRIu64, what, done);
}

void progress_end(const struct settings *settings)
{
	if (!settings->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

static bool number_of(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool set_split(struct settings *settings, const char *text)
{
	static const char *const names[] = {"controlled", "uncontrolled", "both"};

	for (uint32_t i = 0; i < 3; i++)
		if (!strcmp(text, names[i])) {
			settings->options.split = i;
			return true;
		}
	return false;
}

/* An option with a number. */
static bool set_number(struct settings *settings, int option, const char *text)
{
	struct chainhash_options *o = &settings->options;
	uint64_t number;

	if (!number_of(text, &number))
		return false;
	if (option == 'n')
		o->elements = number;
	else if (option == 'c')
		o->cache_size = number;
	else if (number > UINT32_MAX)
		return false;
	else if (option == 'b')
		o->bucket_size = (uint32_t)number;
	else
		o->fill_factor = (uint32_t)number;
	return true;
}

static bool set_option(struct settings *settings, int option, const char *text)
{
	switch (option) {
	case 'b':
	case 'f':
	case 'n':
	case 'c':
		return set_number(settings, option, text);
	case 's':
		return set_split(settings, text);
	case 'H':
		settings->options.hash = text;
		return true;
	case 'C':
		settings->flags |= CHAINHASH_NO_CHECKSUM;
		return true;
	case 'w':
		settings->flags |= CHAINHASH_WAIT;
		return true;
	case 'k':
		settings->keep = true;
		return true;
	case 'j':
		settings->json = true;
		return true;
	default:
		settings->quiet = true;
		return true;
	}
}

/* Options and words: 0, or FAILED. */
static int read_arguments(struct settings *settings, int argc, char **argv)
{
	static const struct option longer[] = {
		{"bucket-size", required_argument, NULL, 'b'},
		{"fill-factor", required_argument, NULL, 'f'},
		{"elements", required_argument, NULL, 'n'},
		{"cache-size", required_argument, NULL, 'c'},
		{"hash", required_argument, NULL, 'H'},
		{"split", required_argument, NULL, 's'},
		{"no-checksum", no_argument, NULL, 'C'},
		{"keep", no_argument, NULL, 'k'},
		{"wait", no_argument, NULL, 'w'},
		{"json", no_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "b:f:n:c:H:s:Ckwjqh", longer, NULL)) != -1) {
		if (option == '?')
			return FAILED;
		if (option == 'h') {
			fputs(usage, stdout);
			exit(DONE);
		}
		if (!set_option(settings, option, optarg))
			return complain(0, "'%s' is no value for -%c", optarg, option);
	}
	settings->words = argv + optind;
	settings->word_count = argc - optind;
	return DONE;
}

static int list_functions(void)
{
	const char *name;

	for (unsigned i = 0; (name = chainhash_hash_name(i)); i++)
		printf("%s\n", name);
	return DONE;
}

int main(int argc, char **argv)
{
	struct settings settings = {.quiet = false};
	int status = read_arguments(&settings, argc, argv);
	const char *name;

	if (status)
		return status;
	if (!settings.word_count) {
		fputs(usage, stderr);
		return FAILED;
	}
	name = *settings.words++;
	settings.word_count--;
	if (!strcmp(name, "functions"))
		return list_functions();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *command = &commands[i];

		if (strcmp(name, command->name))
			continue;
		if (settings.word_count < command->least || settings.word_count > command->most)
			return complain(0, "%s takes %d to %d arguments (--help)", name,
					command->least, command->most);
		status = command->run(&settings);
		if (fflush(stdout) || ferror(stdout))
			return complain(-errno, "standard output");
		return status;
	}
	return complain(0, "there is no command '%s' (--help)", name);
}
