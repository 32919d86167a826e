/*
 * readers.c - several readers beside a writer, in threads and in processes.
 *
 *	readers FOLDER SYNCS READERS threads|processes
 *
 * The writer gives all records one version, syncs, and goes on to the next; some records come and
 * go with it. Each reader goes over to the newest state again and again: all it finds must be of
 * one version, never of an older one than before, by get and by scan. Of the readers in threads
 * every second one shares a handle of its own with a helper, which reads the same state at the same
 * time. Readers end at any time without a word (in processes: killed), and the writer must use
 * their pages again: the file may not grow without end.
 */
#include "model.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 300 };

static char path[200];
static atomic_bool ended;

static struct chainhash_item key_of(uint32_t number, char *text)
{
	return (struct chainhash_item){text, (size_t)sprintf(text, "key %u", (unsigned)number)};
}

/* Data of a version: 4 bytes of it, again and again; sizes change with it. */
static size_t data_of(uint32_t number, uint32_t version, uint32_t *words)
{
	size_t count = 1 + (number * 7 + version) % 40;

	for (size_t i = 0; i < count; i++)
		words[i] = version;
	return count * 4;
}

static bool is_there(uint32_t number, uint32_t version)
{
	return number % 5 || (number + version) % 3;
}

static void write_version(struct chainhash *table, uint32_t version)
{
	uint32_t words[64];
	char text[32];

	for (uint32_t i = 0; i < KEYS; i++) {
		struct chainhash_item key = key_of(i, text);

		if (is_there(i, version)) {
			struct chainhash_item data = {words, data_of(i, version, words)};

			CHECK(!chainhash_put(table, key, data, CHAINHASH_REPLACE));
		} else {
			int error = chainhash_delete(table, key);

			CHECK(!error || error == -ENOENT);
		}
	}
	CHECK(!chainhash_sync(table));
}

/* The version that all records of the table have. */
static uint32_t read_version(struct chainhash *table)
{
	struct chainhash_cursor cursor = {{0, 0}};
	struct chainhash_item key, data;
	uint32_t version, found = 0, expected = 0;
	char text[32];
	int error;

	CHECK(!chainhash_get(table, key_of(1, text), &data));
	memcpy(&version, data.bytes, 4);
	for (uint32_t i = 0; i < KEYS; i++) {
		uint32_t words[64];
		size_t size = data_of(i, version, words);

		error = chainhash_get(table, key_of(i, text), &data);
		CHECK(error == (is_there(i, version) ? 0 : -ENOENT));
		expected += !error;
		CHECK(error || (data.size == size && !memcmp(data.bytes, words, size)));
	}
	while (!(error = chainhash_scan(table, &cursor, &key, &data))) {
		CHECK(data.size >= 4 && !memcmp(data.bytes, &version, 4));
		found++;
	}
	CHECK(error == -ENOENT && found == expected);
	return version;
}

static struct chainhash *open_reader(int flags)
{
	struct chainhash *table;
	int error = chainhash_open(&table, path, CHAINHASH_READ_ONLY | flags, 0, NULL);

	if (error)
		fprintf(stderr, "reader: %d %s\n", error, chainhash_message());
	CHECK(!error);
	return table;
}

static void *read_along(void *table)
{
	for (int i = 0; i < 3; i++)
		read_version(table);
	return NULL;
}

/* One reader's life. */
static void read_until(bool (*over)(void), unsigned number)
{
	uint32_t newest = 0;

	while (!over()) {
		struct chainhash *table = open_reader(number % 3 == 2 ? CHAINHASH_POOL : 0);

		for (int i = 0; i < 10 && !over(); i++) {
			uint32_t version = read_version(table);
			pthread_t helper;

			CHECK(version >= newest);
			newest = version;
			if (number % 3 == 1) {
				CHECK(!pthread_create(&helper, NULL, read_along, table));
				CHECK(read_version(table) == version);
				CHECK(!pthread_join(helper, NULL));
			}
			CHECK(!chainhash_refresh(table));
		}
		CHECK(!chainhash_close(table));
	}
}

static bool thread_over(void)
{
	return atomic_load(&ended);
}

static void *thread(void *number)
{
	read_until(thread_over, (unsigned)(uintptr_t)number);
	return NULL;
}

static bool never(void)
{
	return false;
}

static pid_t start_process(unsigned number)
{
	pid_t process = fork();

	CHECK(process >= 0);
	if (process)
		return process;
	alarm(600);
	read_until(never, number);
	_exit(0);
}

static void check_size(struct chainhash *table)
{
	struct chainhash_status status;

	/* 300 records of some 90 bytes; a dozen states of readers at most. */
	chainhash_status(table, &status);
	CHECK(status.file_bytes < 4 << 20);
}

static void with_threads(struct chainhash *table, uint32_t syncs, unsigned readers)
{
	pthread_t threads[16];

	for (unsigned i = 0; i < readers; i++)
		CHECK(!pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)i));
	for (uint32_t version = 2; version < syncs; version++)
		write_version(table, version);
	check_size(table);
	atomic_store(&ended, true);
	for (unsigned i = 0; i < readers; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

static void with_processes(struct chainhash *table, uint32_t syncs, unsigned readers)
{
	pid_t processes[16];
	int status;

	for (unsigned i = 0; i < readers; i++)
		processes[i] = start_process(i);
	for (uint32_t version = 2; version < syncs; version++) {
		unsigned one = version / 16 % readers;

		write_version(table, version);
		if (version % 16)
			continue;
		/* One is killed, wherever it is; another takes its place. */
		kill(processes[one], SIGKILL);
		CHECK(waitpid(processes[one], &status, 0) == processes[one]);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		processes[one] = start_process(one);
	}
	check_size(table);
	for (unsigned i = 0; i < readers; i++) {
		kill(processes[i], SIGKILL);
		CHECK(waitpid(processes[i], &status, 0) == processes[i]);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
}

int main(int argc, char **argv)
{
	struct chainhash_options options = {.bucket_size = 512};
	struct chainhash *table, *second;
	uint32_t syncs;
	unsigned readers;

	if (argc != 5) {
		fprintf(stderr, "usage: readers FOLDER SYNCS READERS threads|processes\n");
		return 2;
	}
	syncs = (uint32_t)strtoul(argv[2], NULL, 10);
	readers = (unsigned)strtoul(argv[3], NULL, 10);
	CHECK(readers && readers <= 16);
	snprintf(path, sizeof(path), "%s/readers.%d", argv[1], (int)getpid());
	unlink(path);
	CHECK(!chainhash_open(&table, path, CHAINHASH_CREATE | CHAINHASH_NO_FLUSH, 0600, &options));
	CHECK(chainhash_open(&second, path, 0, 0, NULL) == -EAGAIN);
	write_version(table, 1);
	if (!strcmp(argv[4], "threads"))
		with_threads(table, syncs, readers);
	else
		with_processes(table, syncs, readers);
	CHECK(!chainhash_close(table));
	unlink(path);
	printf("%u syncs\n", (unsigned)syncs);
	return 0;
}
