/*
 * calls.c - what chainhash.h promises of single calls, where it is easily broken: about files that
 * others damage, replace or may not look at, about bytes of the table's own, scans that change it,
 * processes that were forked, and a lack of memory.
 *
 *	calls FOLDER NAME
 *
 * One check by its name. Linked with --wrap for calls of the system that are to fail or to be
 * counted, and with all objects of the library.
 */
#include "calls.h"

#include "buckets/bucket.h"
#include "store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char path[256];
static char other_path[256];

/* What stands in for calls of the system. */
static bool counting;	       /* requests for memory */
static long failing;	       /* the one that fails, counted from now */
static bool failed;	       /* it has */
static bool replaces;	       /* another file gets the name when the writer's lock is asked for */
static bool folder_unreadable; /* as by its mode */
static unsigned folders_synced, systems_synced;
static struct stat folder; /* the one synced last */

static bool memory_fails(void)
{
	if (!counting || failed || failing--)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

#define WRAP_MEMORY(name, parameters, arguments)                                                   \
	void *__real_##name parameters;                                                            \
	void *__wrap_##name parameters;                                                            \
	void *__wrap_##name parameters                                                             \
	{                                                                                          \
		return memory_fails() ? NULL : __real_##name arguments;                            \
	}

WRAP_MEMORY(malloc, (size_t size), (size))
WRAP_MEMORY(calloc, (size_t count, size_t size), (count, size))
WRAP_MEMORY(realloc, (void *old, size_t size), (old, size))

int __real_fcntl64(int number, int command, void *argument);
int __wrap_fcntl64(int number, int command, void *argument);
int __wrap_fcntl64(int number, int command, void *argument)
{
	if (replaces && (command == F_OFD_SETLK || command == F_OFD_SETLKW)) {
		replaces = false;
		CHECK(!rename(other_path, path));
	}
	return __real_fcntl64(number, command, argument);
}

int __real_open64(const char *name, int flags, mode_t mode);
int __wrap_open64(const char *name, int flags, mode_t mode);
int __wrap_open64(const char *name, int flags, mode_t mode)
{
	if (folder_unreadable && (flags & O_DIRECTORY)) {
		errno = EACCES;
		return -1;
	}
	return __real_open64(name, flags, mode);
}

int __wrap_fsync(int number);
int __wrap_fsync(int number)
{
	folders_synced++;
	return fstat(number, &folder);
}

int __wrap_syncfs(int number);
int __wrap_syncfs(int number)
{
	(void)number;
	systems_synced++;
	return 0;
}

/* Before the program's and C++'s own constructors: a table may be opened in one. */
static u32 early_checksum;
__attribute__((__constructor__(200))) static void check_early(void)
{
	early_checksum = checksum_by_tables((const u8 *)"123456789", 9);
}

static void check_constructor(void)
{
	CHECK(early_checksum == 0xe3069283);
}

/* A table that was synced once is not "never synced" when that state's header is damaged. */
static void check_first_header(void)
{
	struct chainhash *table = open_table(CHAINHASH_CREATE, NULL);
	static const int ways[] = {CHAINHASH_READ_ONLY, 0, CHAINHASH_CREATE};
	int descriptor = open(path, O_RDWR);

	put_numbers(table, 10, 4);
	CHECK(!chainhash_close(table));
	CHECK(descriptor >= 0 && pwrite(descriptor, "\xff", 1, HEADER_PLACE + 30) == 1);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		CHECK(chainhash_open(&table, path, ways[i], 0600, NULL) == -EBADMSG);
	CHECK(lseek(descriptor, 0, SEEK_END) > PAGES_PLACE);
	close(descriptor);
}

/* Where a program has no standard error, what is written there does not go to the table. */
static void check_standard_descriptors(void)
{
	pid_t process = fork();
	int status;

	if (!process) {
		struct chainhash *table;

		for (int i = 0; i <= STDERR_FILENO; i++)
			close(i);
		if (chainhash_open(&table, path, CHAINHASH_CREATE, 0600, NULL))
			_exit(1);
		if (chainhash_descriptor(table) <= STDERR_FILENO || fcntl(0, F_GETFD) >= 0)
			_exit(2);
		_exit(chainhash_close(table) ? 3 : 0);
	}
	CHECK(waitpid(process, &status, 0) == process && !status);
}

/* Each record is met once by a scan that replaces the one at hand by data that is no longer. */
static void scan_and_replace(const struct chainhash_options *options, uint32_t count, size_t size)
{
	struct chainhash *table = open_table(CHAINHASH_CREATE | CHAINHASH_TRUNCATE, options);
	struct chainhash_cursor cursor = {{0, 0}};
	unsigned char met[1000] = {0};
	struct chainhash_item key;
	uint32_t left = count, number;

	put_numbers(table, count, 30);
	for (; !chainhash_scan(table, &cursor, &key, NULL); left--) {
		memcpy(&number, key.bytes, sizeof(number));
		CHECK(number < count && !met[number]);
		met[number] = 1;
		CHECK(!chainhash_put(table, key, (struct chainhash_item){met, size}, 0));
	}
	CHECK(!left);
	chainhash_abandon(table);
}

static void check_scan_that_replaces(void)
{
	for (uint32_t split = 0; split <= CHAINHASH_SPLIT_BOTH; split++)
		for (uint32_t count = 1; count < 400; count++) {
			struct chainhash_options options = {
				.bucket_size = 256, .split = split, .fill_factor = count % 2 * 8};

			scan_and_replace(&options, count, 30);
			scan_and_replace(&options, count, count % 30);
		}
}

/* What a get hands out is a key that a get takes, though its page leaves memory meanwhile. */
static void check_get_of_own_bytes(void)
{
	enum { COUNT = 5000 };
	struct chainhash_options options = {.bucket_size = 64, .fill_factor = 200, .cache_size = 1};
	struct chainhash *table = open_table(CHAINHASH_CREATE | CHAINHASH_NO_FLUSH, &options);

	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t next = (i * 7 + 1) % COUNT;

		CHECK(!chainhash_put(table, (struct chainhash_item){&i, sizeof(i)},
				     (struct chainhash_item){&next, sizeof(next)}, 0));
	}
	CHECK(!chainhash_close(table));
	table = open_table(CHAINHASH_READ_ONLY | CHAINHASH_POOL, &options);
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t expected = ((i * 7 + 1) % COUNT * 7 + 1) % COUNT;
		struct chainhash_item item = {&i, sizeof(i)};

		CHECK(!chainhash_get(table, item, &item) && !chainhash_get(table, item, &item));
		CHECK(!memcmp(item.bytes, &expected, sizeof(expected)));
	}
	chainhash_abandon(table);
}

/* A lack of memory is no damage: it is the error of a verification and of a salvage. */
static void check_without_memory(void)
{
	struct chainhash_options options = {.bucket_size = 4096, .fill_factor = 4};
	struct chainhash *table = open_table(CHAINHASH_CREATE | CHAINHASH_NO_FLUSH, &options);
	struct chainhash *new;
	unsigned problems = 0;
	int64_t found;

	put_numbers(table, 400, 30);
	put_numbers(table, 3, 30000);
	CHECK(!chainhash_close(table));
	for (int salvage = 0; salvage < 2; salvage++) {
		int flags = CHAINHASH_READ_ONLY | (salvage ? CHAINHASH_DAMAGED : CHAINHASH_POOL);

		for (long number = 0; number == 0 || failed; number++) {
			table = open_table(flags, &options);
			CHECK(!chainhash_open(&new, NULL, 0, 0, NULL));
			failing = number;
			failed = false;
			counting = true;
			found = salvage ? chainhash_salvage(table, new, count_problem, &problems)
					: chainhash_verify(table, count_problem, NULL, &problems);
			counting = false;
			CHECK(!problems && found == (failed ? -ENOMEM : salvage * 400));
			chainhash_abandon(new);
			chainhash_abandon(table);
		}
	}
}

/* A record goes to the file that has the name when the writer's turn has come. */
static void check_replaced_file(void)
{
	struct chainhash *table;
	struct chainhash_item key = {"key", 3}, data;

	for (int flags = 0; flags <= CHAINHASH_WAIT; flags += CHAINHASH_WAIT) {
		table = open_table(CHAINHASH_CREATE, NULL);
		put_numbers(table, 10, 4);
		CHECK(!chainhash_close(table) && !rename(path, other_path));
		chainhash_close(open_table(CHAINHASH_CREATE, NULL));
		replaces = true;
		table = open_table(flags, NULL);
		CHECK(!replaces && !chainhash_put(table, key, key, 0) && !chainhash_close(table));
		table = open_table(CHAINHASH_READ_ONLY, NULL);
		CHECK(!chainhash_get(table, key, &data) && table->records == 11);
		chainhash_abandon(table);
		CHECK(!unlink(path));
	}
}

static void note_chains(void *context, const char *problem)
{
	*(bool *)context |= strstr(problem, "two chains") != NULL;
}

/* A stub that claims to be larger than the file is damaged alone: nothing is told of others. */
static void check_claimed_size(void)
{
	struct chainhash_options options = {.fill_factor = 4, .elements = 64};
	static const u8 stub[] = {STUB, 4, 0, 0, 0, 30000 & 0xff, 30000 >> 8, 0, 0};
	int descriptor = open(path, O_RDWR | O_CREAT, 0600);
	static u8 bytes[600000];
	struct chainhash *table;
	bool told = false;
	ssize_t size;
	int seen = 0;

	table = open_table(CHAINHASH_CREATE | CHAINHASH_NO_CHECKSUM, &options);
	put_numbers(table, 10, 30000);
	CHECK(!chainhash_close(table));
	size = pread(descriptor, bytes, sizeof(bytes), 0);
	for (ssize_t at = PAGES_PLACE; at + STUB_SIZE < size; at++)
		if (!memcmp(bytes + at, stub, sizeof(stub)) && ++seen == 6)
			CHECK(pwrite(descriptor, "\x7f", 1, at + 8) == 1);
	CHECK(seen == 10);
	table = open_table(CHAINHASH_READ_ONLY | CHAINHASH_POOL, NULL);
	CHECK(chainhash_verify(table, note_chains, NULL, &told) > 0 && !told);
	chainhash_abandon(table);
	close(descriptor);
}

/* No words are left over from what an open that succeeds has met on its way. */
static void check_message(void)
{
	close(open(path, O_RDWR | O_CREAT, 0600));
	chainhash_abandon(open_table(CHAINHASH_CREATE, NULL));
	CHECK(!*chainhash_message());
}

/* A file that cannot be begun is refused with the reason, not with what was met on the way. */
static void check_message_of_a_full_disk(void)
{
	struct rlimit all, none;
	struct chainhash *table;

	CHECK(!getrlimit(RLIMIT_FSIZE, &all) && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	none = (struct rlimit){0, all.rlim_max};
	CHECK(!setrlimit(RLIMIT_FSIZE, &none));
	CHECK(chainhash_open(&table, path, CHAINHASH_CREATE, 0600, NULL) == -EFBIG);
	CHECK(!strcmp(chainhash_message(), strerror(EFBIG)));
	CHECK(!setrlimit(RLIMIT_FSIZE, &all));
}

/* The first who waits for the disk waits for the file's name, too. */
static void check_folder(void)
{
	chainhash_close(open_table(CHAINHASH_CREATE | CHAINHASH_NO_FLUSH, NULL));
	CHECK(!folders_synced);
	chainhash_close(open_table(0, NULL));
	CHECK(folders_synced == 1);
}

/* It is the file's folder, not that of a link to it. */
static void check_folder_behind_a_link(void)
{
	struct stat status;

	CHECK(!mkdir(other_path, 0700) && !symlink("other/file", path));
	chainhash_close(open_table(CHAINHASH_CREATE, NULL));
	CHECK(folders_synced == 1 && !stat(other_path, &status));
	CHECK(folder.st_ino == status.st_ino && folder.st_dev == status.st_dev);
}

/* In a folder that may be written to but not read the whole file system is synced. */
static void check_unreadable_folder(void)
{
	folder_unreadable = true;
	chainhash_close(open_table(CHAINHASH_CREATE, NULL));
	CHECK(systems_synced == 1 && !folders_synced);
}

/* A function that is not there is refused before a file is made; a file's own has another error. */
static void check_unknown_function(void)
{
	struct chainhash_options options = {.hash = "nonsense"};
	struct chainhash *table;
	u8 header[HEADER_SIZE];
	int descriptor;

	CHECK(chainhash_open(&table, path, CHAINHASH_CREATE, 0600, &options) == -EINVAL);
	CHECK(access(path, F_OK) && errno == ENOENT);
	chainhash_close(open_table(CHAINHASH_CREATE, NULL));
	descriptor = open(path, O_RDWR);
	CHECK(pread(descriptor, header, HEADER_SIZE, HEADER_PLACE) == HEADER_SIZE);
	memcpy(header + 88, "nonsense", 9);
	store32(header + HEADER_SIZE - 4, checksum(header, HEADER_SIZE - 4));
	CHECK(pwrite(descriptor, header, HEADER_SIZE, HEADER_PLACE) == HEADER_SIZE);
	CHECK(chainhash_open(&table, path, 0, 0, NULL) == -EDOM);
	CHECK(strstr(chainhash_message(), "nonsense"));
	close(descriptor);
}

/* As if all pages up to the fourth gigabyte were in use already; those between are a hole. */
static void check_past_four_gigabytes(void)
{
	static const u64 border = 1ULL << 32;
	static const uint32_t count = 20000;
	struct chainhash *table = open_table(CHAINHASH_CREATE, NULL);
	struct stat file;

	put_numbers(table, 100, 100);
	CHECK(!chainhash_sync(table));
	table->store.end = (u32)(border >> table->page_shift) - 100;
	put_numbers(table, count, 100);
	chainhash_close(table);
	CHECK(!stat(path, &file) && (u64)file.st_size > border + 1000000 &&
	      file.st_blocks < (1 << 30) / 512);
	expect_numbers(CHAINHASH_READ_ONLY, count, 100);
	expect_numbers(CHAINHASH_READ_ONLY | CHAINHASH_POOL, count, 100);
	table = open_table(0, NULL); /* which knows the hole to be free */
	put_numbers(table, count / 2, 50);
	put_numbers(table, count, 60);
	chainhash_close(table);
	expect_numbers(CHAINHASH_READ_ONLY, count, 60);
}

static const struct check {
	const char *name;
	void (*run)(void);
} checks[] = {
	{"constructor", check_constructor},
	{"first header", check_first_header},
	{"standard descriptors", check_standard_descriptors},
	{"scan that replaces", check_scan_that_replaces},
	{"refresh of another process", check_refresh_of_another_process},
	{"writer of another process", check_writer_of_another_process},
	{"get of own bytes", check_get_of_own_bytes},
	{"without memory", check_without_memory},
	{"replaced file", check_replaced_file},
	{"claimed size", check_claimed_size},
	{"message", check_message},
	{"message of a full disk", check_message_of_a_full_disk},
	{"verify after a sync that failed", check_verify_after_a_sync_that_failed},
	{"verify looks anew", check_verify_looks_anew},
	{"lost map page", check_lost_map_page},
	{"map that leads to another", check_map_that_leads_to_another},
	{"folder", check_folder},
	{"folder behind a link", check_folder_behind_a_link},
	{"unreadable folder", check_unreadable_folder},
	{"unknown function", check_unknown_function},
	{"past four gigabytes", check_past_four_gigabytes},
};

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: calls FOLDER NAME\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/table", argv[1]);
	snprintf(other_path, sizeof(other_path), "%s/other", argv[1]);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (!strcmp(checks[i].name, argv[2])) {
			checks[i].run();
			return 0;
		}
	fprintf(stderr, "there is no check '%s'\n", argv[2]);
	return 2;
}
