/*
 * opens.c - every call and every request for memory inside chainhash_open() fails, in turn.
 *
 *	opens FOLDER
 *
 * Linked with --wrap for the library's calls of the system. Each way to open a file is tried on one
 * that was made for it: number 0 of its calls fails, then number 1, until there are no more. The
 * caller must hear of the error, no descriptor may stay open, and what was synced to the file must
 *be there. That no memory stays is the sanitizer's to say, at the end.
 */
#include "model.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool inside;	 /* chainhash_open() */
static long failing;	 /* the call that is to fail, counted from now */
static bool memory;	 /* requests for memory are counted, not calls */
static const char *what; /* has failed; NULL: nothing has yet */

static bool fails(bool is_memory, const char *name)
{
	if (!inside || what || memory != is_memory || failing--)
		return false;
	what = name;
	errno = memory ? ENOMEM : EIO;
	return true;
}

/* A reader comes just before the file is cut off, and reads when it has been. */
static pid_t reader;
static bool reader_comes;
static int opened[2], emptied[2]; /* pipes: it has opened the file, or can't; it is emptied */
static int beside(int number);

/* What stands in for the function @name with these parameters: it fails with @failure. */
#define WRAP(is_memory, failure, type, name, parameters, arguments)                                \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fails(is_memory, #name) ? failure : __real_##name arguments;                \
	}

WRAP(true, NULL, void *, malloc, (size_t size), (size))
WRAP(true, NULL, void *, calloc, (size_t count, size_t size), (count, size))
WRAP(true, NULL, void *, realloc, (void *old, size_t size), (old, size))
WRAP(true, NULL, char *, strdup, (const char *text), (text))
WRAP(false, -1, int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP(false, -1, int, fstat64, (int number, struct stat *status), (number, status))
WRAP(false, -1, int, stat64, (const char *name, struct stat *status), (name, status))
WRAP(false, -1, int, fcntl64, (int number, int command, void *lock), (number, command, lock))
WRAP(false, -1, int, fsync, (int number), (number))
WRAP(false, -1, int, ftruncate64, (int number, off_t size), (beside(number), size))
WRAP(false, -1, ssize_t, pread64, (int number, void *bytes, size_t size, off_t at),
     (number, bytes, size, at))
WRAP(false, -1, ssize_t, pwritev64, (int number, const struct iovec *vector, int count, off_t at),
     (number, vector, count, at))
WRAP(false, -1, int, fdatasync, (int number), (number))
WRAP(false, MAP_FAILED, void *, mmap64,
     (void *address, size_t size, int how, int flags, int number, off_t at),
     (address, size, how, flags, number, at))

static const struct chainhash_options options = {
	.bucket_size = 256, .fill_factor = 4, .seed = 9, .hash = "siphash"};
static char path[256];

/* What may be in the file: nothing ever synced, or one of the two states that it got. */
enum content { EMPTY, FIRST, SECOND };
static struct model models[3];

static void make_file(void)
{
	struct chainhash *table;

	CHECK(!chainhash_open(&table, path, CHAINHASH_CREATE | CHAINHASH_TRUNCATE, 0600, &options));
	for (enum content state = FIRST; state <= SECOND; state++) {
		struct model *model = &models[state];

		*model = (struct model){.keys = 120, .largest = 900, .largest_key = 20};
		for (uint32_t key = 0; key < model->keys; key += state) {
			model->versions[key] = state;
			CHECK(!chainhash_put(table, model_key(model, key),
					     model_data(model, key, state), 0));
		}
		for (uint32_t key = 1; state == SECOND && key < model->keys; key += 2)
			CHECK(!chainhash_delete(table, model_key(model, key)));
		CHECK(!chainhash_sync(table));
	}
	chainhash_abandon(table);
}

static void make_none(void)
{
	unlink(path);
}

/* As of a maker that came to its end before its first sync. */
static void make_unsynced(void)
{
	FILE *file = fopen(path, "w");

	CHECK(file && !fclose(file));
}

/* As after a power cut in the second sync: its header, state 2's, is torn. */
static void make_torn(void)
{
	int descriptor;

	make_file();
	descriptor = open(path, O_WRONLY);
	CHECK(descriptor >= 0 && pwrite(descriptor, "torn", 4, 100) == 4);
	close(descriptor);
}

static const struct way {
	const char *name;
	void (*make)(void);
	int flags;
	enum content before; /* the open */
	bool empties;	     /* it may be EMPTY after one that failed, too */
} ways[] = {
	{"create", make_none, CHAINHASH_CREATE | CHAINHASH_EXCLUSIVE, EMPTY, false},
	{"create, never synced", make_unsynced, CHAINHASH_CREATE, EMPTY, false},
	{"truncate", make_file, CHAINHASH_TRUNCATE, SECOND, true},
	{"write", make_file, 0, SECOND, false},
	{"write, wait", make_file, CHAINHASH_WAIT, SECOND, false},
	{"recover", make_torn, 0, FIRST, false},
	{"read by mmap", make_file, CHAINHASH_READ_ONLY, SECOND, false},
	{"recover, read by mmap", make_torn, CHAINHASH_READ_ONLY, FIRST, false},
	{"read by the pool", make_file, CHAINHASH_READ_ONLY | CHAINHASH_POOL, SECOND, false},
	{"read what is damaged", make_torn, CHAINHASH_READ_ONLY | CHAINHASH_DAMAGED, FIRST, false},
};

static int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	CHECK(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* After an open that failed: the file has what it had. */
static void check_file(const struct way *way)
{
	struct chainhash *table;
	int error = chainhash_open(&table, path, 0, 0, &options);

	if (error) {
		CHECK(error == -ENODATA || error == -ENOENT);
		CHECK(way->before == EMPTY || way->empties);
		/* It can be made all the same. */
		CHECK(!chainhash_open(&table, path, CHAINHASH_CREATE, 0600, &options));
		CHECK(model_equal(&models[EMPTY], table));
	} else {
		CHECK(way->before != EMPTY);
		CHECK(model_equal(&models[way->before], table));
	}
	CHECK(!chainhash_verify(table, NULL, NULL, NULL));
	CHECK(!chainhash_close(table));
}

/* One open whose call number @number fails: false if it had fewer. */
static bool try_one(const struct way *way, long number)
{
	struct chainhash *table;
	const char *name;
	int error, files;

	way->make();
	files = open_files();
	failing = number;
	what = NULL;
	inside = true;
	error = chainhash_open(&table, path, way->flags, 0600, &options);
	inside = false;
	name = what ? what : "none";
	snprintf(check_context, sizeof(check_context), "%s: %s number %ld fails: %s: %s", way->name,
		 memory ? "request for memory" : "call", number, name, chainhash_message());
	if (!error) {
		bool empty = way->before == EMPTY || way->empties;
		bool partly = what && (way->flags & CHAINHASH_DAMAGED);

		/* What is lost of a damaged file need not be heard of. */
		CHECK(!what || partly);
		CHECK(partly || model_equal(&models[empty ? EMPTY : way->before], table));
		chainhash_abandon(table);
	} else {
		CHECK(what && error == (memory ? -ENOMEM : -EIO));
		CHECK(!table && *chainhash_message());
		CHECK(open_files() == files);
		check_file(way);
	}
	CHECK(open_files() == files);
	return what != NULL;
}

static void read_beside(void)
{
	struct chainhash *table;
	struct chainhash_item data;
	char byte = 0;
	int error;

	inside = false;
	error = chainhash_open(&table, path, CHAINHASH_READ_ONLY, 0, &options);
	CHECK(write(opened[1], &byte, 1) == 1 && read(emptied[0], &byte, 1) == 1);
	if (!error)
		error = chainhash_get(table, model_key(&models[SECOND], 1), &data);
	_exit(error == -ENODATA ? 0 : 1);
}

/* The reader has some time to open the file, if it can; else it waits until it is emptied. */
static int beside(int number)
{
	struct pollfd poll_opened = {.fd = opened[0], .events = POLLIN};

	if (!reader_comes)
		return number;
	reader_comes = false;
	reader = fork();
	CHECK(reader >= 0);
	if (!reader)
		read_beside();
	CHECK(poll(&poll_opened, 1, 300) >= 0);
	return number;
}

/* Who reads a file that is being emptied finds it as it was, or empty, and never half cut off. */
static void check_truncation(void)
{
	struct chainhash *table, *other;
	int status;

	make_file();
	snprintf(check_context, sizeof(check_context), "a reader beside a truncation");
	CHECK(!pipe(opened) && !pipe(emptied));
	reader_comes = true;
	CHECK(!chainhash_open(&table, path, CHAINHASH_TRUNCATE, 0, &options));
	CHECK(write(emptied[1], "", 1) == 1);
	CHECK(waitpid(reader, &status, 0) == reader);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	chainhash_abandon(table);
	make_file();
	CHECK(!chainhash_open(&table, path, CHAINHASH_READ_ONLY, 0, &options));
	CHECK(chainhash_open(&other, path, CHAINHASH_TRUNCATE, 0, &options) == -EAGAIN);
	CHECK(model_equal(&models[SECOND], table));
	chainhash_abandon(table);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: opens FOLDER\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/opens.%d", argv[1], (int)getpid());
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		long counts[2];

		for (int kind = 0; kind < 2; kind++) {
			memory = kind;
			for (counts[kind] = 0; try_one(&ways[i], counts[kind]); counts[kind]++)
				;
		}
		printf("%s: %ld calls, %ld requests for memory failed\n", ways[i].name, counts[0],
		       counts[1]);
	}
	check_truncation();
	unlink(path);
	return 0;
}
