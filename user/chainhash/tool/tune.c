/*
 * tune.c - which bucket size and fill factor the records of a table want, measured.
 *
 * The records (the first million of them) are put into a new table of each choice, and each is
 * looked up, in the order of a scan of the old one; CPU time and the size of the file count. A fill
 * factor is a part of what fits on a page by the text's equation (1): pair length * factor >= size.
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

struct records {
	struct chainhash_item *keys, *data;
	size_t count, room;
	uint64_t bytes;
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool copy_item(struct chainhash_item *to, struct chainhash_item from)
{
	void *bytes = malloc(from.size + 1);

	if (!bytes)
		return false;
	if (from.size)
		memcpy(bytes, from.bytes, from.size);
	*to = (struct chainhash_item){bytes, from.size};
	return true;
}

static int read_records(const struct settings *settings, struct chainhash *table,
			struct records *records)
{
	struct chainhash_cursor cursor = {{0, 0}};
	struct chainhash_item key, data;
	int error = 0;

	while (records->count < RECORDS_MOST) {
		error = chainhash_scan(table, &cursor, &key, &data);
		if (error)
			break;
		if (records->count == records->room) {
			size_t room = records->room * 2 + 1024, size = room * sizeof(key);
			void *keys = realloc(records->keys, size);
			void *contents = realloc(records->data, size);

			records->keys = keys ? keys : records->keys;
			records->data = contents ? contents : records->data;
			if (!keys || !contents)
				return -ENOMEM;
			records->room = room;
		}
		if (!copy_item(&records->keys[records->count], key))
			return -ENOMEM;
		if (!copy_item(&records->data[records->count], data)) {
			free((void *)(uintptr_t)records->keys[records->count].bytes);
			return -ENOMEM;
		}
		records->bytes += key.size + data.size;
		if (++records->count % 65536 == 0)
			progress(settings, "records read", records->count, 0);
	}
	return error == -ENOENT ? 0 : error;
}

static void free_records(struct records *records)
{
	for (size_t i = 0; i < records->count; i++) {
		free((void *)(uintptr_t)records->keys[i].bytes);
		free((void *)(uintptr_t)records->data[i].bytes);
	}
	free(records->keys);
	free(records->data);
}

/* Measure one choice in the file @path, which is gone afterwards. */
static int measure(const struct settings *settings, const struct records *records, const char *path,
		   struct choice *choice)
{
	struct chainhash_options options = settings->options;
	struct chainhash_status about;
	struct chainhash_item data;
	struct chainhash *table;
	double begin = cpu_seconds();
	int error;

	options.bucket_size = choice->bucket_size;
	options.fill_factor = choice->fill_factor;
	error = chainhash_open(&table, path,
			       CHAINHASH_CREATE | CHAINHASH_TRUNCATE | CHAINHASH_NO_FLUSH, 0600,
			       &options);
	if (error)
		return error;
	for (size_t i = 0; i < records->count && !error; i++)
		error = chainhash_put(table, records->keys[i], records->data[i], 0);
	if (!error)
		error = chainhash_sync(table);
	choice->create = cpu_seconds() - begin;
	chainhash_abandon(table);
	if (error)
		return error;
	begin = cpu_seconds();
	options.hash = NULL;
	error = chainhash_open(&table, path, CHAINHASH_READ_ONLY, 0, &options);
	for (size_t i = 0; i < records->count && !error; i++)
		error = chainhash_get(table, records->keys[i], &data);
	choice->read = cpu_seconds() - begin;
	if (table) {
		chainhash_status(table, &about);
		choice->file_bytes = about.file_bytes;
		chainhash_close(table);
	}
	return error;
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
			  size_t count, const struct records *records)
{
	const struct choice *best = best_of(choices, count);
	double each = 1e9 / (double)records->count;

	if (settings->json)
		printf("{\"records\": %zu, \"choices\": [\n", records->count);
	else
		printf("%zu records of %.1f bytes; ns of CPU time a record, bytes of file a byte\n"
		       " bucket  fill  create    read  bytes\n",
		       records->count, (double)records->bytes / (double)records->count);
	for (size_t i = 0; i < count; i++) {
		const struct choice *c = &choices[i];
		double bytes = (double)c->file_bytes / (double)records->bytes;
		const char *end = i + 1 < count ? "," : "]}";
		const char *mark = c == best ? "  <-" : "";

		if (settings->json)
			printf("  {\"bucket_size\": %u, \"fill_factor\": %u, \"create_ns\": %.1f, "
			       "\"read_ns\": %.1f, \"bytes\": %.3f, \"best\": %s}%s\n",
			       c->bucket_size, c->fill_factor, c->create * each, c->read * each,
			       bytes, c == best ? "true" : "false", end);
		else
			printf("%7u %5u %7.0f %7.0f %6.2f%s\n", c->bucket_size, c->fill_factor,
			       c->create * each, c->read * each, bytes, mark);
	}
	if (!settings->json)
		printf("fill 0: by bytes. <- the quickest whose file is not 25%% larger than the"
		       " smallest\n");
}

static int measure_all(const struct settings *settings, const struct records *records)
{
	struct choice choices[CHOICES_MOST];
	size_t count = list_choices(choices, records->bytes / records->count);
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int error = 0, descriptor;

	snprintf(path, sizeof(path), "%s/chainhash-tune.XXXXXX", folder ? folder : "/tmp");
	descriptor = mkstemp(path);
	if (descriptor < 0)
		return complain(-errno, "%s", path);
	close(descriptor);
	for (size_t i = 0; i < count && !error; i++) {
		progress(settings, "choices", i, count);
		error = measure(settings, records, path, &choices[i]);
	}
	progress_end(settings);
	unlink(path);
	if (error)
		return complain(error, "%s", path);
	print_choices(settings, choices, count, records);
	return DONE;
}

int command_tune(struct settings *settings)
{
	const char *path = settings->words[0];
	struct records records = {NULL, NULL, 0, 0, 0};
	struct chainhash *table = open_table(settings, path, CHAINHASH_READ_ONLY);
	int error, status = FAILED;

	if (!table)
		return FAILED;
	error = read_records(settings, table, &records);
	chainhash_close(table);
	if (error)
		complain(error, "%s", path);
	else if (!records.count || !records.bytes)
		status = complain(0, "%s: there are no records to measure with", path);
	else
		status = measure_all(settings, &records);
	free_records(&records);
	return status;
}
