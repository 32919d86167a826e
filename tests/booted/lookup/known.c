/*
 * known.c - what the dentry cache is to know without asking: names that are gone or were never
 * there, and all names of a directory. For each kind a line: how many lookups of NAMES names missed
 * the dentry cache, how many went through it, and how often a block was asked for.
 *
 * Names are looked up from the working directory and are short, so that they are walked, but for
 * those that lie deep.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../must.h"

#define NAMES 100

/* The number behind @words in /proc/hash/@cache. */
static long counted(const char *cache, const char *words)
{
	char name[64], text[8192], *found;
	int fd, length;

	snprintf(name, sizeof(name), "/proc/hash/%s", cache);
	must(fd = open(name, O_RDONLY), name);
	must(length = read(fd, text, sizeof(text) - 1), name);
	close(fd);
	text[length] = 0;
	found = strstr(text, words);
	must(found ? 0 : -1, words);
	return atol(found + strlen(words));
}

static struct counts {
	long misses, lookups, blocks;
} before;

static struct counts now(void)
{
	return (struct counts){counted("dentry", "miss: "), counted("dentry", "lookups: "),
			       counted("buffer", "lookups: ")};
}

static void begin(void)
{
	sync(); /* not to be done meanwhile */
	now();	/* whose own lookups are known then */
	before = now();
}

static void end(const char *what)
{
	struct counts after = now();

	printf("%s %ld %ld %ld\n", what, after.misses - before.misses,
	       after.lookups - before.lookups, after.blocks - before.blocks);
}

static char *numbered(const char *form, int i)
{
	static char name[64];

	snprintf(name, sizeof(name), form, i);
	return name;
}

static void ask(const char *form, int error)
{
	struct stat status;

	for (int i = 0; i < NAMES; i++) {
		int result = stat(numbered(form, i), &status);

		if (result != (error ? -1 : 0) || (error && errno != error)) {
			printf("%s: %d, %s\n", numbered(form, i), result, strerror(errno));
			exit(1);
		}
	}
}

static void make(const char *form, int *kept)
{
	for (int i = 0; i < NAMES; i++) {
		int fd = open(numbered(form, i), O_CREAT | O_EXCL | O_WRONLY, 0644);

		must(fd, form);
		if (kept)
			kept[i] = fd;
		else
			close(fd);
	}
}

static void list(int expected)
{
	DIR *directory = opendir(".");
	int count = 0;

	must(directory ? 0 : -1, "opendir");
	while (readdir(directory))
		count++;
	closedir(directory);
	must(count == expected + 2 ? 0 : -1, "names that are listed");
}

/* A listing takes few blocks: as often as there are names. */
static void list_again(int expected)
{
	for (int i = 0; i < NAMES; i++)
		list(expected);
}

static void new_directory(const char *name)
{
	must(mkdir(name, 0755), name);
	must(chdir(name), name);
}

/* In a directory that was just made. */
static void in_new(int *open_files)
{
	new_directory("made");
	begin();
	ask("n%d", ENOENT);
	end("absent-in-new");

	make("u%d", open_files);
	for (int i = 0; i < NAMES; i++)
		must(unlink(numbered("u%d", i)), "unlink");
	begin();
	ask("u%d", ENOENT);
	end("removed-in-use");

	make("o%d", NULL);
	for (int i = 0; i < NAMES; i++) {
		char old[64];

		strcpy(old, numbered("o%d", i));
		must(rename(old, numbered("w%d", i)), "rename");
	}
	begin();
	ask("o%d", ENOENT);
	end("renamed");

	begin();
	list_again(NAMES);
	end("listed-new");
}

/* In the same, when it has been read from the disk. */
static void in_read(const int *open_files)
{
	int fd;

	for (int i = 0; i < NAMES; i++)
		close(open_files[i]);
	sync();
	must(fd = open("/proc/sys/vm/drop_caches", O_WRONLY), "drop_caches");
	must(write(fd, "2", 1), "drop_caches");
	close(fd);
	list(NAMES);
	begin();
	list_again(NAMES);
	end("listed-again");
	begin();
	ask("x%d", ENOENT);
	end("absent-in-read");
}

/* So often that they are known, and once more. */
static void ask_again(const char *form, int error, const char *what)
{
	ask(form, error);
	ask(form, error);
	begin();
	ask(form, error);
	end(what);
}

int main(int argc, char **argv)
{
	int open_files[NAMES], fd;

	must(argc == 2 ? chdir(argv[1]) : -1, "known FOLDER");
	in_new(open_files);
	in_read(open_files);
	must(chdir("/proc"), "/proc");
	ask_again("p%d", ENOENT, "absent-in-proc");
	must(chdir(argv[1]), argv[1]);
	must(mkdir("known", 0755), "known");
	must(fd = open("known/file", O_CREAT | O_WRONLY, 0644), "known/file");
	ask_again("known/absent/%d", ENOENT, "below-absent");
	ask_again("known/file/%d", ENOTDIR, "below-file");
	return 0;
}
