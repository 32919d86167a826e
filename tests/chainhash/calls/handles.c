/*
 * handles.c - checks of calls.c about handles in forked processes, and about verifications.
 */
#include "calls.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct chainhash *open_table(int flags, const struct chainhash_options *options)
{
	struct chainhash *table;

	CHECK(!chainhash_open(&table, path, flags, 0600, options));
	return table;
}

/* Put records 0 to @count - 1 with @size bytes of data. */
void put_numbers(struct chainhash *table, uint32_t count, size_t size)
{
	static const char bytes[30000];
	struct chainhash_item data = {bytes, size};

	for (uint32_t i = 0; i < count; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		CHECK(!chainhash_put(table, key, data, 0));
	}
}

void count_problem(void *context, const char *problem)
{
	snprintf(check_context, sizeof(check_context), "%s", problem);
	++*(unsigned *)context;
}

void expect_numbers(int flags, uint32_t count, size_t size)
{
	struct chainhash *table = open_table(flags, NULL);
	struct chainhash_item data;
	unsigned problems = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		CHECK(!chainhash_get(table, key, &data) && data.size == size);
	}
	CHECK(!chainhash_verify(table, count_problem, NULL, &problems) && !problems);
	chainhash_close(table);
}

/* The state that a reader holds is its opener's: another process does not take it from him. */
void check_refresh_of_another_process(void)
{
	struct chainhash *writer = open_table(CHAINHASH_CREATE, NULL), *reader;
	pid_t process;
	int status;

	put_numbers(writer, 10, 4);
	CHECK(!chainhash_sync(writer));
	reader = open_table(CHAINHASH_READ_ONLY, NULL);
	put_numbers(writer, 20, 4);
	CHECK(!chainhash_sync(writer));
	process = fork();
	if (!process)
		_exit(chainhash_refresh(reader) != -EPERM);
	CHECK(waitpid(process, &status, 0) == process && !status);
	CHECK(!chainhash_refresh(reader));
	chainhash_abandon(reader);
	chainhash_abandon(writer);
}

/* What a process may do by its parent's handle for writing, which has gone over to other states. */
static int use_as_child(struct chainhash *writer, uint32_t count)
{
	struct chainhash_item data;
	int error = 0;

	for (uint32_t i = 0; i < count; i++) {
		error = chainhash_get(writer, (struct chainhash_item){&i, sizeof(i)}, &data);
		if (error && error != -EBADMSG)
			return 1;
	}
	error = 0;
	for (uint32_t i = 0; i < count && !error; i++)
		error = chainhash_put(writer, (struct chainhash_item){&i, sizeof(i)}, data, 0);
	if (error != -EPERM || chainhash_sync(writer) != -EPERM)
		return 2;
	return chainhash_close(writer) == -EPERM ? 0 : 3;
}

/* A forked process writes nothing by its parent's handle, not even to make room for a get. */
void check_writer_of_another_process(void)
{
	enum { COUNT = 3000 };
	struct chainhash_options options = {.cache_size = 1 << 17};
	struct chainhash *writer = open_table(CHAINHASH_CREATE, &options);
	int ends[2], status;
	pid_t process;
	char byte;

	put_numbers(writer, COUNT, 200);
	CHECK(!chainhash_sync(writer) && !pipe(ends));
	put_numbers(writer, COUNT / 10, 190);
	process = fork();
	if (!process)
		_exit(read(ends[0], &byte, 1) == 1 ? use_as_child(writer, COUNT) : 9);
	put_numbers(writer, COUNT, 180);
	CHECK(!chainhash_sync(writer) && write(ends[1], "", 1) == 1);
	CHECK(waitpid(process, &status, 0) == process);
	expect_numbers(CHAINHASH_READ_ONLY | CHAINHASH_POOL, COUNT, 180);
	CHECK(!status);
	put_numbers(writer, COUNT, 170);
	CHECK(!chainhash_close(writer));
	expect_numbers(CHAINHASH_READ_ONLY, COUNT, 170);
}

/* What a sync did not come to write is no damage of the file. */
void check_verify_after_a_sync_that_failed(void)
{
	struct rlimit all, little = {1, 1};
	struct chainhash *table = open_table(CHAINHASH_CREATE, NULL);
	unsigned problems = 0;

	put_numbers(table, 2000, 100);
	CHECK(!chainhash_sync(table) && !getrlimit(RLIMIT_FSIZE, &all));
	put_numbers(table, 4000, 100);
	little.rlim_max = all.rlim_max;
	CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && !setrlimit(RLIMIT_FSIZE, &little));
	CHECK(chainhash_sync(table) == -EFBIG);
	CHECK(!chainhash_verify(table, count_problem, NULL, &problems) && !problems);
	CHECK(!setrlimit(RLIMIT_FSIZE, &all) && !chainhash_sync(table));
	CHECK(!chainhash_verify(table, count_problem, NULL, &problems) && !problems);
	chainhash_abandon(table);
}

/* What is damaged since a get looked at it is found, whatever way the handle reads. */
void check_verify_looks_anew(void)
{
	struct chainhash *table = open_table(CHAINHASH_CREATE, NULL);
	struct chainhash_item key = {"the key", 7}, data = {"the data of it", 14};
	int descriptor = open(path, O_RDWR);
	static char bytes[1 << 16];
	ssize_t size;
	char *place;

	CHECK(!chainhash_put(table, key, data, 0) && !chainhash_close(table));
	size = pread(descriptor, bytes, sizeof(bytes), 0);
	place = size < 0 ? NULL : memmem(bytes, (size_t)size, data.bytes, data.size);
	CHECK(place);
	for (int pool = 0; pool <= CHAINHASH_POOL; pool += CHAINHASH_POOL) {
		unsigned problems = 0;

		table = open_table(CHAINHASH_READ_ONLY | pool, NULL);
		CHECK(!chainhash_verify(table, count_problem, NULL, &problems));
		CHECK(!chainhash_get(table, key, &data));
		CHECK(pwrite(descriptor, "T", 1, place - bytes) == 1);
		CHECK(chainhash_verify(table, count_problem, NULL, &problems) > 0 && problems);
		CHECK(pwrite(descriptor, "t", 1, place - bytes) == 1);
		chainhash_abandon(table);
	}
	close(descriptor);
}
