/*
 * tune.c - which bucket size and fill factor the records of a table want, measured.
 *
 * The records (the first million of them) are put into a new table of each choice, and each is
 * looked up, in the order of a scan of the old one; CPU time (with that of the scan) and the size
 * of the file count. A fill factor is a part of what fits on a page by the text's equation (1):
 * pair length * factor >= size.
 */
#include "tool.h"

#include <time.h>
#include <unistd.h>

enum { RECORDS_MOST = 1000000, CHOICES_MOST = 64 };

struct choice {
	uint32_t bucket_size, fill_factor;
	double create, read; /* seconds of CPU */
	uint64_t file_bytes;
};

/* What is measured with: the first records of a table in the order of a scan. */
struct source {
	struct chainhash *table;
	uint64_t records, bytes;
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Put every record of the source into @to (or look it up there: @to is read-only). */
static int each_record(struct source *source, struct chainhash *to, bool put)
{
	struct chainhash_cursor cursor = {{0, 0}};
	struct chainhash_item key, data, found;
	int error = 0;

	source->records = source->bytes = 0;
	while (!error && source->records < RECORDS_MOST) {
		error = chainhash_scan(source->table, &cursor, &key, &data);
		if (error)
			return error == -ENOENT ? 0 : error;
		if (put)
			error = chainhash_put(to, key, data, 0);
		else if (to)
			error = chainhash_get(to, key, &found);
		source->bytes += key.size + data.size;
		source->records++;
	}
	return error;
}

/* Measure one choice in the file @path, which is emptied first. Gives a status. */
static int measure(struct settings *settings, struct source *source, const char *path,
		   struct choice *choice)
{
	struct chainhash_status about;
	struct chainhash *table;
	double begin = cpu_seconds();
	int error;

	settings->options.bucket_size = choice->bucket_size;
	settings->options.fill_factor = choice->fill_factor;
	table = open_table(settings, path,
			   CHAINHASH_CREATE | CHAINHASH_TRUNCATE | CHAINHASH_NO_FLUSH);
	if (!table)
		return FAILED;
	error = each_record(source, table, true);
	if (!error)
		error = chainhash_sync(table);
	choice->create = cpu_seconds() - begin;
	chainhash_abandon(table);
	begin = cpu_seconds();
	table = error ? NULL : open_table(settings, path, CHAINHASH_READ_ONLY);
	if (!table)
		return error ? complain(error, "%s", path) : FAILED;
	error = each_record(source, table, false);
	choice->read = cpu_seconds() - begin;
	chainhash_status(table, &about);
	choice->file_bytes = about.file_bytes;
	chainhash_close(table);
	return error ? complain(error, "%s", path) : DONE;
}

/* The quickest of those whose file is at most a quarter larger than the smallest. */
static const struct choice *best_of(const struct choice *choices, size_t count)
{
	const struct choice *best = NULL;
	uint64_t smallest = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		if (choices[i].file_bytes < smallest)
			smallest = choices[i].file_bytes;
	for (size_t i = 0; i < count; i++) {
		if (choices[i].file_bytes > smallest + smallest / 4)
			continue;
		if (!best || choices[i].create + choices[i].read < best->create + best->read)
			best = &choices[i];
	}
	return best;
}

static size_t list_choices(struct choice *choices, uint64_t average)
{
	static const double parts[] = {0.5, 1, 1.5};
	size_t count = 0;

	for (uint32_t size = 256; size <= 16384; size *= 2) {
		choices[count++] = (struct choice){.bucket_size = size};
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			double fit = parts[i] * size / (double)(average + 5);

			if (fit >= 1 && fit <= 65535)
				choices[count++] = (struct choice){.bucket_size = size,
								   .fill_factor = (uint32_t)fit};
		}
	}
	return count;
}

static void print_choices(const struct settings *settings, const struct choice *choices,
			  size_t count, const struct source *source)
{
	const struct choice *best = best_of(choices, count);
	double each = 1e9 / (double)source->records, a_byte = 1 / (double)source->bytes;

	if (settings->json)
		printf("{\"records\": %" PRIu64 ", \"choices\": [\n", source->records);
	else
		printf("%" PRIu64
		       " records of %.1f bytes; ns of CPU time a record, bytes of file a byte\n"
		       " bucket  fill  create    read  bytes\n",
		       source->records, (double)source->bytes / (double)source->records);
	for (size_t i = 0; i < count; i++) {
		const struct choice *c = &choices[i];

		printf(settings->json ? "  {\"bucket_size\": %u, \"fill_factor\": %u, "
					"\"create_ns\": %.1f, \"read_ns\": %.1f, \"bytes\": %.3f"
				      : "%7u %5u %7.0f %7.0f %6.2f",
		       c->bucket_size, c->fill_factor, c->create * each, c->read * each,
		       (double)c->file_bytes * a_byte);
		if (settings->json)
			printf(", \"best\": %s}", c == best ? "true" : "false");
		else
			puts(c == best ? "  <-" : "");
		if (settings->json && i + 1 < count)
			puts(",");
	}
	puts(settings->json ? "]}"
			    : "fill 0: by bytes. <- quickest of those at most 25% over the smallest");
}

static int measure_all(struct settings *settings, struct source *source)
{
	struct choice choices[CHOICES_MOST];
	size_t count = list_choices(choices, source->bytes / source->records);
	char path[4096];
	int status = DONE, descriptor;

	snprintf(path, sizeof(path), "%s/chainhash-tune.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	descriptor = mkstemp(path);
	if (descriptor < 0)
		return complain(-errno, "%s", path);
	unlink(path); /* whatever ends us, nothing stays: it is open, and has this name as long */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	for (size_t i = 0; i < count && !status; i++) {
		progress(settings, i, count);
		status = measure(settings, source, path, &choices[i]);
	}
	progress_end(settings);
	close(descriptor);
	if (!status)
		print_choices(settings, choices, count, source);
	return status;
}

int command_tune(struct settings *settings, struct chainhash *table)
{
	const char *path = settings->words[0];
	struct source source = {table, 0, 0};
	int error = each_record(&source, NULL, false);

	if (error)
		return complain(error, "%s", path);
	if (!source.bytes)
		return complain(0, "%s: there are no records to measure with", path);
	return measure_all(settings, &source);
}
