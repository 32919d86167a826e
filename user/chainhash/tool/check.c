/*
 * check.c - verify and repair.
 */
#include "tool.h"

#include <unistd.h>

struct listing {
	const struct settings *settings;
	uint64_t problems;
};

void print_json(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(file, "\\u%04x", c);
		else
			putc(c, file);
	}
	putc('"', file);
}

static void list_problem(void *context, const char *problem)
{
	struct listing *listing = context;

	if (listing->settings->json) {
		fputs(listing->problems++ ? ",\n  " : "\n  ", stdout);
		print_json(stdout, problem);
		return;
	}
	progress_end(listing->settings);
	printf("%s\n", problem);
	listing->problems++;
}

static void show_progress(void *context, uint64_t done, uint64_t all)
{
	struct listing *listing = context;

	progress(listing->settings, "buckets", done, all);
}

int command_verify(struct settings *settings, struct chainhash *table)
{
	const char *path = settings->words[0];
	struct listing listing = {settings, 0};
	struct chainhash_status about;
	int64_t found;

	chainhash_status(table, &about);
	if (settings->json)
		printf("{\"problems\": [");
	found = chainhash_verify(table, list_problem, show_progress, &listing);
	progress_end(settings);
	if (settings->json)
		printf("],\n \"records\": %" PRIu64 ", \"sound\": %s}\n", about.records,
		       found ? "false" : "true");
	if (found < 0)
		return complain((int)found, "%s", path);
	if (!settings->json && !found)
		printf("%s: %" PRIu64 " records, nothing %sis wrong\n", path, about.records,
		       listing.problems ? "else " : "");
	else if (!settings->json)
		printf("%s: %" PRId64 " things are wrong\n", path, found);
	return found ? NO : DONE;
}

int command_repair(struct settings *settings, struct chainhash *from)
{
	const char *path = settings->words[0], *new_path = settings->words[1];
	struct listing listing = {settings, 0};
	struct chainhash *to;
	int64_t copied;
	int status;

	settings->json = false;
	to = open_table(settings, new_path, CHAINHASH_CREATE | CHAINHASH_EXCLUSIVE);
	if (!to)
		return FAILED;
	copied = chainhash_salvage(from, to, list_problem, &listing);
	if (copied < 0) {
		chainhash_abandon(to);
		unlink(new_path);
		return complain((int)copied, "%s", new_path);
	}
	status = close_table(to, new_path, listing.problems ? NO : DONE);
	if (status != FAILED)
		printf("%s: %" PRId64 " records are in %s\n", path, copied, new_path);
	return status;
}
