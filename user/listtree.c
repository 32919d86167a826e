/*
 * listtree - what has become of a file system since a moment: for ./cw diff
 * (lab/compare/diff.py), as a job's last step.
 *
 * Usage: listtree SECONDS DIRECTORY...
 *
 * A line for each file whose status changed at SECONDS (of the epoch) or later, fields between
 *tabs:
 *
 *	PATH TYPE MODE UID GID LINKS SIZE CONTENT
 *
 * TYPE is a letter as of ls -l, MODE octal, CONTENT the FNV-1a hash of a regular file's bytes, a
 *symbolic link's target, a device's number, else "-". Of a file that has not changed, in a folder
 *that has, only PATH and "=" are printed; all others are left out: an image's thousands of files
 *were not touched by the job and need no reading. What cannot be read has "!" and the error's
 *number. Bytes that are no plain text stand as \ooo. The last line is "end" and the number of lines
 *before it. Other file systems that are mounted below a DIRECTORY are left out.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct names {
	char **name;
	size_t count;
};

static long long since;
static dev_t device;
static unsigned long lines;
static char *path; /* of the folder that the process is in */
static size_t path_length, path_room;

static void fail(const char *what)
{
	fprintf(stderr, "listtree: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *checked(void *memory)
{
	if (!memory)
		fail("memory");
	return memory;
}

static void print_escaped(const char *text)
{
	for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++) {
		if (*byte <= ' ' || *byte >= 127 || *byte == '\\')
			printf("\\%03o", *byte);
		else
			putchar(*byte);
	}
}

static void print_path(const char *name)
{
	lines++;
	print_escaped(path);
	if (*name) {
		putchar('/');
		print_escaped(name);
	}
	putchar('\t');
}

static char type_of(mode_t mode)
{
	static const char letters[] = "?pc?d?b?-?l?s???";

	return letters[mode >> 12 & 15];
}

/* FNV-1a over the bytes of @name; -1 when it cannot be read. */
static int hash_file(const char *name, uint64_t *hash)
{
	static unsigned char buffer[1 << 16];
	int fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);
	ssize_t length;

	if (fd < 0)
		return -1;
	*hash = 0xcbf29ce484222325u;
	while ((length = read(fd, buffer, sizeof(buffer))) > 0)
		for (ssize_t i = 0; i < length; i++)
			*hash = (*hash ^ buffer[i]) * 0x100000001b3u;
	close(fd);
	return length < 0 ? -1 : 0;
}

static void print_content(const char *name, const struct stat *status)
{
	char target[4096];
	uint64_t hash;
	ssize_t length;

	if (S_ISREG(status->st_mode)) {
		if (hash_file(name, &hash))
			printf("!%d\n", errno);
		else
			printf("%016llx\n", (unsigned long long)hash);
	} else if (S_ISLNK(status->st_mode)) {
		length = readlink(name, target, sizeof(target) - 1);
		target[length < 0 ? 0 : length] = 0;
		print_escaped(target);
		putchar('\n');
	} else if (S_ISCHR(status->st_mode) || S_ISBLK(status->st_mode)) {
		printf("%u:%u\n", major(status->st_rdev), minor(status->st_rdev));
	} else {
		puts("-");
	}
}

static int is_new(const struct stat *status)
{
	return status->st_ctim.tv_sec >= since;
}

/* @in_new: is the folder that it is in a changed one? "" is that folder itself, at the top. */
static int print_file(const char *name, const struct stat *status, int in_new)
{
	if (!is_new(status)) {
		if (in_new) {
			print_path(name);
			puts("=");
		}
		return 0;
	}
	print_path(name);
	printf("%c\t%04o\t%u\t%u\t%lu\t%lld\t", type_of(status->st_mode), status->st_mode & 07777,
	       status->st_uid, status->st_gid, (unsigned long)status->st_nlink,
	       (long long)status->st_size);
	print_content(*name ? name : ".", status);
	return 1;
}

static struct names read_names(void)
{
	struct names names = {0};
	DIR *directory = opendir(".");
	struct dirent *entry;

	if (!directory) {
		print_path(".");
		printf("!\t%d\n", errno);
		return names;
	}
	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		names.name = checked(realloc(names.name, (names.count + 1) * sizeof(char *)));
		names.name[names.count++] = checked(strdup(entry->d_name));
	}
	closedir(directory);
	return names;
}

static void enter(const char *name)
{
	size_t length = strlen(name);

	if (path_length + length + 2 > path_room) {
		path_room = 2 * (path_length + length + 2);
		path = checked(realloc(path, path_room));
	}
	path[path_length++] = '/';
	memcpy(path + path_length, name, length + 1);
	path_length += length;
}

/* The process is in the folder. One descriptor in all, however deep the tree. */
static void walk(int is_new_folder)
{
	struct names names = read_names();

	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.name[i];
		size_t length = path_length;
		struct stat status;
		int changed;

		if (lstat(name, &status)) {
			print_path(name);
			printf("!\t%d\n", errno);
			continue;
		}
		if (status.st_dev != device)
			continue;
		changed = print_file(name, &status, is_new_folder);
		if (S_ISDIR(status.st_mode) && !chdir(name)) {
			enter(name);
			walk(changed);
			if (chdir(".."))
				fail(path);
			path[path_length = length] = 0;
		}
		free(names.name[i]);
	}
	free(names.name);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: listtree SECONDS DIRECTORY...\n");
		return 2;
	}
	since = atoll(argv[1]);
	path = checked(calloc(1, path_room = 4096));
	for (int i = 2; i < argc; i++) {
		struct stat status;

		if (chdir(argv[i]) || stat(".", &status))
			fail(argv[i]);
		device = status.st_dev;
		path_length = 0;
		path[0] = 0;
		if (strcmp(argv[i], "/"))
			enter(argv[i] + 1);
		walk(print_file("", &status, 0));
	}
	printf("end\t%lu\n", lines);
	if (fflush(stdout) || (fsync(1) && errno != EINVAL && errno != EROFS))
		fail("writing");
	return 0;
}
