/*
 * check.c - verify and repair.
 */
#include "tool.h"

#include <unistd.h>

/* As JSON: the library's words have nothing in them that is to be escaped. */
static void list_problem(void *context, const char *problem)
{
	struct settings *settings = context;

	settings->notes += !strncmp(problem, "note: ", 6);
	progress_end(settings);
	if (settings->json)
		printf("%s\n  \"%s\"", settings->listed ? "," : "", problem);
	else
		printf("%s\n", problem);
	settings->listed++;
}

int command_verify(struct settings *settings, struct chainhash *table)
{
	const char *path = settings->words[0];
	struct chainhash_status about = {.records = 0};
	int64_t found = chainhash_open(&table, path, CHAINHASH_READ_ONLY | CHAINHASH_POOL, 0,
				       &settings->options);

	if (found && found != -EBADMSG)
		return complain(0, "%s: %s", path, chainhash_message());
	if (settings->json)
		printf("{\"problems\": [");
	if (found) {
		/* Damage that it cannot be opened with is damage, too. */
		list_problem(settings, chainhash_message());
		found = 1;
	} else {
		chainhash_status(table, &about);
		found = chainhash_verify(table, list_problem, progress, settings);
		chainhash_abandon(table);
	}
	progress_end(settings);
	if (settings->json)
		printf("],\n \"records\": %" PRIu64 ", \"sound\": %s}\n", about.records,
		       found ? "false" : "true");
	if (found < 0)
		return complain((int)found, "%s", path);
	if (!settings->json && !found)
		printf("%s: %" PRIu64 " records, nothing %sis wrong\n", path, about.records,
		       settings->listed ? "else " : "");
	else if (!settings->json)
		printf("%s: %" PRId64 " things are wrong\n", path, found);
	return found ? NO : DONE;
}

int command_repair(struct settings *settings, struct chainhash *from)
{
	const char *path = settings->words[0], *new_path = settings->words[1];
	struct chainhash_options *options = &settings->options;
	struct chainhash_status about;
	struct chainhash *to;
	int64_t copied;
	int error;

	settings->json = false;
	/* The new table is as the old one was, unless we are told otherwise. */
	chainhash_status(from, &about);
	options->bucket_size = options->bucket_size ?: about.bucket_size;
	options->fill_factor = options->fill_factor ?: about.fill_factor;
	options->split = options->split ?: about.split;
	options->hash = about.hash;
	to = open_table(settings, new_path,
			CHAINHASH_CREATE | CHAINHASH_EXCLUSIVE |
				(about.checksums ? 0 : CHAINHASH_NO_CHECKSUM));
	if (!to)
		return FAILED;
	copied = chainhash_salvage(from, to, list_problem, settings);
	error = copied < 0 ? (int)copied : chainhash_sync(to);
	chainhash_abandon(to);
	if (error) {
		unlink(new_path);
		return complain(error, "%s", new_path);
	}
	printf("%s: %" PRId64 " records are in %s\n", path, copied, new_path);
	return settings->listed > settings->notes ? NO : DONE;
}
