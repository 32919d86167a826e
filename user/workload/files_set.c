/* The names, sizes and making of a set of files. */
#define _GNU_SOURCE
#include "files.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Mixes a number so that neighbours have nothing in common, one to one (splitmix64's last step). */
static uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t for_seed(uint64_t number)
{
	return mixed(number + mixed(common.seed + 1));
}

static void short_name(char *name, size_t room, uint64_t number)
{
	char digits[16];
	size_t length = 0;

	do
		digits[length++] = "abcdefghijklmnopqrstuvwxyz012345"[number % 32];
	while ((number /= 32));
	snprintf(name, room, "%.*s", (int)length, digits);
}

void style_name(char *name, size_t room, enum name_style style, uint64_t number)
{
	unsigned long long plain = number, random = for_seed(number);

	switch (style) {
	case NAMES_SHORT:
		short_name(name, room, number);
		break;
	case NAMES_LONG: /* words alike at the begin, different at the end, as documents' names are
			  */
		snprintf(name, room,
			 "minutes-of-the-meeting-of-the-committee-for-the-review-of-%02llu-"
			 "and-other-matters-draft-%08llu.text",
			 random % 100, plain);
		break;
	case NAMES_NUMBERED:
		snprintf(name, room, "file%08llu", plain);
		break;
	case NAMES_MAIL: /* Maildir: seconds, microseconds, process, host, size, flags */
		snprintf(name, room, "%llu.M%06lluP%llu_%llu.mail.example.org,S=%llu:2,%s",
			 1000000000 + plain / 3, random % 1000000, 300 + random / 1000000 % 32000,
			 plain, 500 + random / 7919 % 40000, random & 1 ? "S" : "");
		break;
	case NAMES_HASH:
		snprintf(name, room, "%016llx%016llx", random, (unsigned long long)mixed(random));
		break;
	}
}

uint64_t set_leaves(const struct file_set *set)
{
	uint64_t leaves = 1;

	for (uint64_t level = 0; level < set->depth; level++)
		leaves *= set->width;
	return leaves;
}

void leaf_path(const struct file_set *set, uint64_t leaf, char path[PATH_LENGTH])
{
	size_t length = 0;

	path[0] = 0;
	for (uint64_t unit = set_leaves(set) / set->width, level = 0; level < set->depth; level++) {
		length += (size_t)snprintf(path + length, PATH_LENGTH - length, "d%llu/",
					   (unsigned long long)(leaf / unit % set->width));
		unit = unit >= set->width ? unit / set->width : 1;
	}
}

void set_path(const struct file_set *set, uint64_t number, char path[PATH_LENGTH])
{
	size_t length;

	leaf_path(set, number % set_leaves(set), path);
	length = strlen(path);
	style_name(path + length, PATH_LENGTH - length, (enum name_style)set->style, number);
}

int set_is_link(const struct file_set *set, uint64_t number)
{
	uint64_t leaves = set_leaves(set);

	/* never the first of its folder; and what it points to is a file, since neighbours never
	 * both are links */
	return number >= leaves && number / leaves % 2 &&
	       for_seed(number * 3 + 1) % 100 < 2 * set->links_percent;
}

uint64_t set_size(const struct file_set *set, uint64_t number)
{
	struct random random;

	random_start(&random, common.seed, ~number);
	return set->size_mean ? random_exponential(&random, set->size_mean) : 0;
}

void make_file(const char *path, uint64_t size)
{
	static char text[BLOCK];
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);

	if (fd < 0)
		fail_errno("%s", path);
	if (!text[0])
		memset(text, 'x', sizeof(text));
	while (size) {
		size_t part = size < sizeof(text) ? size : sizeof(text);
		ssize_t done = write(fd, text, part);

		if (done <= 0)
			fail_errno("write %s", path);
		size -= (uint64_t)done;
	}
	close(fd);
}

/* mkdir() of each folder on the way to a leaf that is the first below it. */
static void make_folders(const struct file_set *set)
{
	uint64_t leaves = set_leaves(set);
	char path[PATH_LENGTH];

	for (uint64_t leaf = 0; leaf < leaves; leaf++) {
		uint64_t below = leaves;

		leaf_path(set, leaf, path);
		for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
			below /= set->width;
			if (leaf % below)
				continue;
			*slash = 0;
			make_folder(path);
			*slash = '/';
		}
	}
}

void set_create(const struct file_set *set)
{
	uint64_t leaves = set_leaves(set);
	char path[PATH_LENGTH], target[PATH_LENGTH];

	make_folders(set);
	for (uint64_t number = 0; number < set->files; number++) {
		set_path(set, number, path);
		if (set_is_link(set, number)) {
			style_name(target, sizeof(target), (enum name_style)set->style,
				   number - leaves);
			if (symlink(target, path))
				fail_errno("symlink %s", path);
		} else {
			make_file(path, set_size(set, number));
		}
		progress_add(1);
	}
}

void make_entries(const char *folder, uint64_t count, enum name_style names)
{
	char name[PATH_LENGTH];

	make_folder(folder);
	if (chdir(folder))
		fail_errno("%s", folder);
	for (uint64_t i = 0; i < count; i++) {
		style_name(name, sizeof(name), names, i);
		make_file(name, 0);
	}
	if (chdir(".."))
		fail_errno("..");
}

void remove_folder(const char *path)
{
	if (!common.keep && !remove_tree(path))
		fail_errno("%s cannot be removed", path);
}
