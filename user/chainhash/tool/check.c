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
	struct chainhash_status about;
	int64_t found;

	chainhash_status(table, &about);
	if (settings->json)
		printf("{\"problems\": [");
	found = chainhash_verify(table, list_problem, progress, settings);
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
	int status;

	settings->json = false;
	/* The new table is as the old one was, unless we are told otherwise. */
	chainhash_status(from, &about);
	options->bucket_size = options->bucket_size ?: about.bucket_size;
	options->fill_factor = options->fill_factor ?: about.fill_factor;
	options->split = options->split ?: about.split;
	options->hash = about.hash;
	to = open_table(settings, new_path, CHAINHASH_CREATE | CHAINHASH_EXCLUSIVE |
			(about.checksums ? 0 : CHAINHASH_NO_CHECKSUM));
	if (!to)
		return FAILED;
	copied = chainhash_salvage(from, to, list_problem, settings);
	if (copied < 0) {
		chainhash_abandon(to);
		unlink(new_path);
		return complain((int)copied, "%s", new_path);
	}
	status = close_table(to, new_path, settings->listed > settings->notes ? NO : DONE);
	if (status != FAILED)
		printf("%s: %" PRId64 " records are in %s\n", path, copied, new_path);
	return status;
}
