/*
 * main.c - chainhash: hash tables in files, from the command line. See tool.h and chainhash(1).
 */
#include "tool.h"

#include <getopt.h>
#include <stdarg.h>
#include <unistd.h>

static const char usage[] =
	"usage: chainhash COMMAND [OPTION...] FILE [ARGUMENT...]\n\n"
	"  load FILE [TEXT]    put the lines of TEXT (or of standard input): KEY<TAB>DATA\n"
	"  dump FILE           print all records as text that loads again\n"
	"  get FILE KEY        print the data of a key; status 1: there is no such key\n"
	"  put FILE KEY DATA   store a record; status 1: --keep, and the key is there\n"
	"  delete FILE KEY     take a record out; status 1: there is no such key\n"
	"  stat FILE           what the table is like: histogram, overflow, expected and observed\n"
	"  tune FILE           which bucket size and fill factor these records want, measured\n"
	"  verify FILE         check everything; status 1: something is wrong\n"
	"  repair FILE NEW     copy what can be read to a new table, and say what can't\n"
	"  functions           list the hash functions\n\n"
	"  -b, --bucket-size N   -f, --fill-factor N   -n, --elements N   -c, --cache-size BYTES\n"
	"  -H, --hash NAME       -s, --split controlled|uncontrolled|both\n"
	"  -C, --no-checksum     pages of a new file without checksums\n"
	"  -k, --keep            put and load: a key that is there stays as it is\n"
	"  -w, --wait            wait until another writer is done\n"
	"  -j, --json            stat, tune and verify: as JSON\n"
	"  -q, --quiet           no progress\n\n"
	"Keys and data: \\\\, \\t, \\n and \\xNN stand for bytes. Status 2: it could not be done.\n";

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

	/* They are about writing. */
	if (!(flags & CHAINHASH_READ_ONLY))
		flags |= settings->flags;
	error = chainhash_open(&table, path, flags, 0666, &settings->options);
	/* A file system may have files that cannot be mapped. */
	if (error && (flags & CHAINHASH_READ_ONLY))
		error = chainhash_open(&table, path, flags | CHAINHASH_POOL, 0, &settings->options);
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

void progress(void *context, uint64_t done, uint64_t all)
{
	const struct settings *settings = context;

	if (!settings->quiet && all)
		fprintf(stderr, "\r%3u %%", (unsigned)(done * 100 / all));
	else if (!settings->quiet)
		fprintf(stderr, "\r%" PRIu64, done);
}

void progress_end(const struct settings *settings)
{
	if (!settings->quiet)
		fprintf(stderr, "\r\033[K");
}

/* What an option's argument says, and where it is kept. */
enum kind { TEXT, NUMBER, SMALL_NUMBER, SPLITTING, SET, FLAG };

/* All options; the place of each in getopt's list is the same. */
static const struct rule {
	const char *name;
	char letter;
	enum kind kind;
	size_t place; /* in struct settings; of a FLAG: the flag of chainhash_open() */
} rules[] = {
#define OF(field) offsetof(struct settings, field)
	{"bucket-size", 'b', SMALL_NUMBER, OF(options.bucket_size)},
	{"fill-factor", 'f', SMALL_NUMBER, OF(options.fill_factor)},
	{"elements", 'n', NUMBER, OF(options.elements)},
	{"cache-size", 'c', NUMBER, OF(options.cache_size)},
	{"hash", 'H', TEXT, OF(options.hash)},
	{"split", 's', SPLITTING, OF(options.split)},
	{"no-checksum", 'C', FLAG, CHAINHASH_NO_CHECKSUM},
	{"wait", 'w', FLAG, CHAINHASH_WAIT},
	{"keep", 'k', SET, OF(keep)},
	{"json", 'j', SET, OF(json)},
	{"quiet", 'q', SET, OF(quiet)},
	{"help", 'h', SET, OF(help)},
};

enum { NONE = -1, RULES = sizeof(rules) / sizeof(rules[0]) };

const char *const split_names[] = {"controlled", "uncontrolled", "both", NULL};

/* Take an option: false if its argument is no value for it. */
static bool set_option(struct settings *settings, const struct rule *rule, const char *text)
{
	char *place = (char *)settings + rule->place, *end;
	uint64_t number = 0;

	if (rule->kind == NUMBER || rule->kind == SMALL_NUMBER) {
		errno = 0;
		number = strtoull(text, &end, 0);
		if (*text < '0' || *text > '9' || *end || errno)
			return false;
	}
	switch (rule->kind) {
	case TEXT:
		*(const char **)(void *)place = text;
		break;
	case NUMBER:
		*(uint64_t *)(void *)place = number;
		break;
	case SPLITTING:
		while (split_names[number] && strcmp(text, split_names[number]))
			number++;
		if (!split_names[number])
			return false;
		/* fall through */
	case SMALL_NUMBER:
		*(uint32_t *)(void *)place = (uint32_t)number;
		return number <= UINT32_MAX;
	case SET:
		*(bool *)place = true;
		break;
	case FLAG:
		settings->flags |= (int)rule->place;
		break;
	}
	return true;
}

/* Options and words: 0, or FAILED. */
static int read_arguments(struct settings *settings, int argc, char **argv)
{
	struct option longer[RULES + 1] = {{NULL, 0, NULL, 0}};
	char letters[2 * RULES + 1] = "";
	size_t used = 0;
	int option;

	for (size_t i = 0; i < RULES; i++) {
		bool argument = rules[i].kind < SET;

		longer[i] = (struct option){rules[i].name, argument, NULL, rules[i].letter};
		letters[used++] = rules[i].letter;
		if (argument)
			letters[used++] = ':';
	}
	while ((option = getopt_long(argc, argv, letters, longer, NULL)) != -1) {
		const struct rule *rule = rules;

		if (option == '?')
			return FAILED;
		while (rule->letter != option)
			rule++;
		if (!set_option(settings, rule, optarg))
			return complain(0, "'%s' is no value for -%c", optarg, option);
	}
	settings->words = argv + optind;
	settings->word_count = argc - optind;
	return DONE;
}

static int command_functions(struct settings *settings, struct chainhash *table)
{
	const char *name;

	(void)settings;
	(void)table;
	for (unsigned i = 0; (name = chainhash_hash_name(i)); i++)
		printf("%s\n", name);
	return DONE;
}

static const struct command {
	const char *name;
	command_function *run;
	int least, most; /* words behind the name */
	int items;	 /* of these, behind the table's, that are bytes of a key or of data */
	int flags;	 /* to open the table with, the first word; NONE: it opens what it needs */
} commands[] = {
	{"load", command_load, 1, 2, 0, NONE},
	{"dump", command_dump, 1, 1, 0, CHAINHASH_READ_ONLY},
	{"get", command_get, 2, 2, 1, CHAINHASH_READ_ONLY},
	{"put", command_put, 3, 3, 2, CHAINHASH_CREATE},
	{"delete", command_delete, 2, 2, 1, 0},
	{"stat", command_stat, 1, 1, 0, CHAINHASH_READ_ONLY},
	{"tune", command_tune, 1, 1, 0, CHAINHASH_READ_ONLY},
	{"verify", command_verify, 1, 1, 0, NONE},
	{"repair", command_repair, 2, 2, 0, CHAINHASH_READ_ONLY | CHAINHASH_DAMAGED},
	{"functions", command_functions, 0, 0, 0, NONE},
};

static int run_command(const struct command *command, struct settings *settings)
{
	char **words = settings->words;
	struct chainhash *table = NULL;
	int status;

	if (settings->word_count < command->least || settings->word_count > command->most)
		return complain(0, "%s takes %d to %d arguments (--help)", command->name,
				command->least, command->most);
	for (int i = 0; i < command->items; i++) {
		char *word = words[i + 1];

		settings->items[i].bytes = word;
		if (!unescape(word, strlen(word), word, &settings->items[i].size))
			return complain(0, "'%s': a backslash must be before \\, t, n or xNN",
					word);
	}
	if (command->flags != NONE) {
		table = open_table(settings, words[0], command->flags);
		if (!table)
			return FAILED;
	}
	status = command->run(settings, table);
	if (table && (status != DONE || (command->flags & CHAINHASH_READ_ONLY)))
		chainhash_abandon(table);
	else if (table)
		status = close_table(table, words[0], status);
	if (fflush(stdout) || ferror(stdout))
		return complain(-errno, "standard output");
	return status;
}

int main(int argc, char **argv)
{
	struct settings settings = {.quiet = false};
	const char *name;

	/* Options are options, and words are words, wherever they stand. */
	unsetenv("POSIXLY_CORRECT");
	if (read_arguments(&settings, argc, argv))
		return FAILED;
	settings.quiet |= !isatty(STDERR_FILENO);
	if (settings.help || !settings.word_count) {
		fputs(usage, settings.help ? stdout : stderr);
		if (fflush(stdout) || ferror(stdout))
			return complain(-errno, "standard output");
		return settings.help ? DONE : FAILED;
	}
	name = *settings.words++;
	settings.word_count--;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(name, commands[i].name))
			return run_command(&commands[i], &settings);
	return complain(0, "there is no command '%s' (--help)", name);
}
