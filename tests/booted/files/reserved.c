/*
 * reserved.c - the blocks of ext2 that are kept for root, and those that are free once a commit is
 * done: whoever removes what had been synced can write as much again at once, a user to the last
 * block that is not reserved, root to the last of all. Usage: reserved DIRECTORY
 *
 * Prints one line for each thing that is not so, and "done".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER 1000
#define BLOCK 1024
#define ROUNDS 4

static char block[BLOCK];

static void check(bool is_so, const char *what, long one, long other)
{
	if (is_so)
		return;
	printf("%s: %ld, %ld\n", what, one, other);
	fflush(stdout);
}

/* Blocks that root, or a user, may still have. */
static long available(bool user)
{
	struct statfs fs;

	statfs(".", &fs);
	return (long)(user ? fs.f_bavail : fs.f_bfree);
}

/* Write until @most blocks or an error; how many were written. */
static long fill(const char *name, long most)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_APPEND, 0644);
	long count = 0;

	if (fd < 0)
		return -1;
	while (count < most && write(fd, block, BLOCK) == BLOCK)
		count++;
	check(count == most || errno == ENOSPC, "an error but ENOSPC", errno, count);
	close(fd);
	return count;
}

enum way { REMOVED, TRUNCATED, PUNCHED, REPLACED, WAYS };

static const char *const ways[] = {"removed", "truncated", "punched", "replaced"};

/* The blocks of the file "large" become free. */
static void let_go(enum way way, long blocks)
{
	int fd;

	switch (way) {
	case REMOVED:
		unlink("large");
		break;
	case TRUNCATED:
		truncate("large", 0);
		break;
	case PUNCHED:
		fd = open("large", O_RDWR);
		if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, blocks * BLOCK))
			ftruncate(fd, 0);
		close(fd);
		break;
	default:
		close(open("empty", O_CREAT | O_WRONLY, 0644));
		rename("empty", "large");
	}
}

/*
 * Fill the file system with two files; sync; the larger one goes, and as much is written at once.
 * The new one takes as many blocks to find its own.
 */
static void write_again(bool user, enum way way)
{
	long room = available(user), large = room * 3 / 4, again, rest;

	check(fill("large", large) == large, "a large file", large, room);
	rest = fill("small", room);
	check(available(user) == 0, "room behind ENOSPC", available(user), rest);
	sync();
	let_go(way, large);
	check(available(user) >= large, ways[way], available(user), large);
	again = fill("again", large);
	check(again == large, ways[way], again, large);
	unlink("again");
	unlink("small");
	unlink("large");
	sync();
	check(available(user) == room, "room at the end", available(user), room);
}

/* A user's writes leave the reserved blocks alone; root's do not. */
static void keep_the_reserve(long reserved)
{
	long rest;

	if (!fork()) {
		setresgid(USER, USER, USER);
		setresuid(USER, USER, USER);
		fill("users", 1 << 20);
		check(available(true) == 0, "a user's room", available(true), 0);
		_exit(0);
	}
	wait(NULL);
	rest = available(false);
	check(rest == reserved, "reserved", rest, reserved);
	/* a few go to find the others */
	check(fill("roots", rest + 1) > rest * 9 / 10, "root's blocks", available(false), rest);
	check(available(false) == 0, "root's room", available(false), 0);
	sync();
	unlink("users"); /* to be had after a commit: by root, too */
	check(fill("more", 100) == 100, "root's blocks after a commit", available(false), 100);
	unlink("roots");
	unlink("more");
	sync();
}

/* The same for inodes, of which none are reserved. */
static void make_again(void)
{
	char name[20];
	int count = 0, again = 0;

	for (;; count++) {
		snprintf(name, sizeof(name), "i%d", count);
		if (mknod(name, S_IFREG | 0644, 0))
			break;
	}
	check(errno == ENOSPC, "an error but ENOSPC", errno, count);
	sync();
	for (int i = 0; i < count / 2; i++) {
		snprintf(name, sizeof(name), "i%d", i);
		unlink(name);
	}
	for (; again < count / 2; again++) {
		snprintf(name, sizeof(name), "j%d", again);
		if (mknod(name, S_IFREG | 0644, 0))
			break;
	}
	check(again == count / 2, "inodes", again, count / 2);
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%c%d", i < again ? 'j' : 'i', i);
		unlink(name);
	}
	sync();
}

static void run_as(bool user)
{
	if (!fork()) {
		if (user && (setresgid(USER, USER, USER) || setresuid(USER, USER, USER)))
			_exit(1);
		for (int round = 0; round < ROUNDS; round++)
			for (enum way way = 0; way < WAYS; way++)
				write_again(user, way);
		make_again();
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	long reserved;

	memset(block, 'b', sizeof(block));
	if (argc != 2 || chdir(argv[1]) || chmod(".", 0777))
		return 1;
	reserved = available(false) - available(true);
	check(reserved > 100, "how many are reserved", reserved, 100);
	run_as(true);
	run_as(false);
	keep_the_reserve(reserved);
	printf("done\n");
	return 0;
}
