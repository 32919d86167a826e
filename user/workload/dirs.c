/*
 * readdir, mkstemp, maildir - directories of many sizes, after Tsai 2015: figure 9 (listing one;
 * making files of random names in one) and figure 10 (Dovecot's marking of mail: a rename, then the
 * directory is read again).
 */
#define _GNU_SOURCE
#include "files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ENTRIES = 1000000 };

static struct list sizes = {4, {10, 100, 1000, 10000}};
static struct list mailbox_sizes = {3, {100, 500, 1000}};
static uint64_t passes, calls = 500, mailboxes = 10, marks = 500;
static int style = NAMES_NUMBERED;

/* A folder's entries, without . and .. */
static uint64_t list_entries(const char *path)
{
	DIR *folder = opendir(path);
	uint64_t found = 0;

	if (!folder)
		fail_errno("%s", path);
	while (errno = 0, readdir(folder))
		found++;
	if (errno)
		fail_errno("readdir %s", path);
	closedir(folder);
	return found - 2;
}

static void expect_entries(const char *folder, uint64_t wanted)
{
	uint64_t found = list_entries(folder);

	if (found != wanted)
		fail("%s has %llu entries, there should be %llu", folder, (unsigned long long)found,
		     (unsigned long long)wanted);
}

static char *size_name(uint64_t size, const char *what)
{
	return join("%llu %s", (unsigned long long)size, what);
}

/* ---- readdir ---- */

static void readdir_one(uint64_t size)
{
	char *name = size_name(size, "entries");
	uint64_t times = passes, start, digest = DIGEST_START;

	if (!times)
		times = size < 20000 ? 20000 / size : 1;
	make_entries(name, size, (enum name_style)style);
	expect_entries(name, size);
	progress_start(name, times);
	measured_start();
	start = now_ns();
	for (uint64_t i = 0; i < times; i++) {
		expect_entries(name, size);
		progress_add(1);
	}
	start = now_ns() - start;
	measured_stop();
	digest_add(&digest, name);
	digest_add_number(&digest, times);
	result_begin(name, start);
	result_number("entries", size);
	result_number("calls", times);
	result_real("ns_per_call", (double)start / (double)times);
	result_real("ns_per_entry", (double)start / (double)(times * size));
	result_end(digest);
	remove_folder(name);
	free(name);
}

static void run_readdir(void)
{
	for (unsigned i = 0; i < sizes.count; i++)
		readdir_one(sizes.values[i]);
}

/* ---- mkstemp ---- */

/* As mkstemp() does: six letters, tried until there is no such file. The letters are the seed's. */
static int make_temporary(struct random *random, char *path)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	for (int tries = 0; tries < 100; tries++) {
		int fd;

		for (char *at = path + strlen(path) - 6; *at; at++)
			*at = letters[random_below(random, sizeof(letters) - 1)];
		fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static void mkstemp_one(uint64_t size)
{
	char *name = size_name(size, "entries"), *path = join("%s/tmp.XXXXXX", name);
	uint64_t making = 0, removing = 0, digest = DIGEST_START;
	struct random random;

	random_start(&random, common.seed, size);
	make_entries(name, size, (enum name_style)style);
	progress_start(name, calls);
	measured_start();
	for (uint64_t i = 0; i < calls; i++) {
		uint64_t start = now_ns(), made;
		int fd = make_temporary(&random, path);

		made = now_ns();
		making += made - start;
		if (fd < 0 || close(fd))
			fail_errno("%s", path);
		digest_add(&digest, path);
		start = now_ns();
		if (unlink(path))
			fail_errno("unlink %s", path);
		removing += now_ns() - start;
		progress_add(1);
	}
	measured_stop();
	expect_entries(name, size);
	result_begin(name, making + removing);
	result_number("entries", size);
	result_number("calls", calls);
	result_real("ns_per_call", (double)making / (double)calls);
	result_real("ns_per_unlink", (double)removing / (double)calls);
	result_end(digest);
	remove_folder(name);
	free(path);
	free(name);
}

static void run_mkstemp(void)
{
	for (unsigned i = 0; i < sizes.count; i++)
		mkstemp_one(sizes.values[i]);
}

/* ---- maildir ---- */

/* Maildir's flags that the marks are about, in the order in which a name has them. */
static const char flag_letters[] = "FRST";

/* cur/NAME:2,FLAGS of message @number of a mailbox. */
static void message_path(char path[PATH_LENGTH], uint64_t mailbox, uint64_t number, unsigned flags)
{
	char *end;

	snprintf(path, PATH_LENGTH, "box%llu/cur/", (unsigned long long)mailbox);
	style_name(path + strlen(path), PATH_LENGTH - strlen(path), NAMES_MAIL, number);
	end = strrchr(path, ',') + 1;
	for (unsigned i = 0; flag_letters[i]; i++)
		if (flags >> i & 1)
			*end++ = flag_letters[i];
	*end = 0;
}

static void make_mailboxes(uint64_t size)
{
	char path[PATH_LENGTH];

	progress_start("messages", mailboxes * size);
	for (uint64_t box = 0; box < mailboxes; box++) {
		for (const char *const *part =
			     (const char *const[]){"", "/cur", "/new", "/tmp", NULL};
		     *part; part++) {
			snprintf(path, sizeof(path), "box%llu%s", (unsigned long long)box, *part);
			make_folder(path);
		}
		for (uint64_t i = 0; i < size; i++) {
			message_path(path, box, i, 0);
			make_file(path, 0);
			progress_add(1);
		}
	}
}

/* A client marks a message or takes the mark away; the server renames the file, and reads the
 * folder. */
static void mark_one(struct random *random, unsigned char *flags, uint64_t size, uint64_t *digest)
{
	uint64_t box = random_below(random, mailboxes), number = random_below(random, size);
	char before[PATH_LENGTH], after[PATH_LENGTH];
	unsigned char *its = &flags[box * size + number];

	message_path(before, box, number, *its);
	*its ^= (unsigned char)(1u << random_below(random, sizeof(flag_letters) - 1));
	message_path(after, box, number, *its);
	if (rename(before, after))
		fail_errno("rename %s %s", before, after);
	digest_add(digest, after);
	*strrchr(after, '/') = 0;
	expect_entries(after, size);
}

static void maildir_one(uint64_t size)
{
	unsigned char *flags = allocate(mailboxes * size);
	char *name = size_name(size, "messages");
	uint64_t start, digest = DIGEST_START;
	struct random random;

	random_start(&random, common.seed, size);
	make_folder(name);
	if (chdir(name))
		fail_errno("%s", name);
	make_mailboxes(size);
	progress_start("marks", marks);
	measured_start();
	start = now_ns();
	for (uint64_t i = 0; i < marks; i++) {
		mark_one(&random, flags, size, &digest);
		progress_add(1);
	}
	start = now_ns() - start;
	measured_stop();
	if (chdir(".."))
		fail_errno("..");
	result_begin(name, start);
	result_number("messages", size);
	result_number("operations", marks);
	result_real("ops_per_second", per_second(marks, start));
	result_real("ns_per_call", (double)start / (double)marks);
	result_end(digest);
	remove_folder(name);
	free(flags);
	free(name);
}

static void run_maildir(void)
{
	for (unsigned i = 0; i < mailbox_sizes.count; i++)
		maildir_one(mailbox_sizes.values[i]);
}

/* clang-format off */
#define ENTRIES {"entries", OPTION_LIST, "N,...", "files in the folder; 10,100,1000,10000 without it", &sizes, 1, MOST_ENTRIES}
#define STYLE {"name-style", OPTION_CHOICE, NAME_STYLES, "how they are called; numbered without it", &style, 0, 0}

static const struct option_row readdir_options[] = {
	ENTRIES, STYLE,
	{"passes", OPTION_NUMBER, "N", "listings of each; without it as many as make 20000 entries", &passes, 1, 1000000},
	{.name = NULL},
};

static const struct option_row mkstemp_options[] = {
	ENTRIES, STYLE,
	{"calls", OPTION_NUMBER, "N", "files that are made in each, and removed at once; 500 without it", &calls, 1, 10000000},
	{.name = NULL},
};

static const struct option_row maildir_options[] = {
	{"messages", OPTION_LIST, "N,...", "in a mailbox; 100,500,1000 without it", &mailbox_sizes, 1, MOST_ENTRIES},
	{"mailboxes", OPTION_NUMBER, "N", "10 without it", &mailboxes, 1, 1000},
	{"operations", OPTION_NUMBER, "N", "marks set and taken away; 500 without it", &marks, 1, 100000000},
	{.name = NULL},
};
/* clang-format on */

const struct load readdir_load = {
	"readdir",
	"listings of folders of 10 to 1,000,000 entries, after Tsai 2015, figure 9",
	readdir_options,
	NULL,
	run_readdir,
};

const struct load mkstemp_load = {
	"mkstemp",	 "new files of random names in such folders, after Tsai 2015, figure 9",
	mkstemp_options, NULL,
	run_mkstemp,
};

const struct load maildir_load = {
	"maildir",
	"marks of mail as Dovecot sets them, a rename and a listing each, after Tsai 2015, figure 10",
	maildir_options,
	NULL,
	run_maildir,
};
