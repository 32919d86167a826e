/*
 * sizes.c - file systems with blocks of 1024 and of 4096 bytes are put on one disk and mounted by
 * turns, while others read the disk itself, from end to end.
 */
#define _GNU_SOURCE
#include "../must.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SIZE (4 << 20)
#define ROUNDS 24
#define READERS 3

static char images[2][SIZE], bytes[8192];

static void load(const char *path, char *image)
{
	int file = open(path, O_RDONLY);

	must(file, path);
	must(read(file, image, SIZE) == SIZE ? 0 : -1, "read of an image");
	close(file);
}

static void read_for_ever(void)
{
	int disk = open("/dev/vda", O_RDONLY);

	must(disk, "/dev/vda");
	for (long at = 0;; at = (at + sizeof(bytes)) % SIZE)
		must(pread(disk, bytes, sizeof(bytes), at) == sizeof(bytes) ? 0 : -1, "pread of the disk");
}

static void put(const char *image)
{
	int disk = open("/dev/vda", O_WRONLY);

	must(disk, "/dev/vda");
	must(write(disk, image, SIZE) == SIZE ? 0 : -1, "write to the disk");
	must(fsync(disk), "fsync");
	close(disk);
}

static void look(const char *what)
{
	int file = open("/mnt/name", O_RDONLY);
	long n;

	must(file, "a file of the mounted file system");
	n = read(file, bytes, sizeof(bytes));
	if (n != (long)strlen(what) || memcmp(bytes, what, strlen(what))) {
		printf("not %s, but %.*s\n", what, (int)n, bytes);
		exit(1);
	}
	close(file);
}

int main(void)
{
	pid_t readers[READERS];

	setvbuf(stdout, NULL, _IOLBF, 0);
	load("/1024", images[0]);
	load("/4096", images[1]);
	mkdir("/mnt", 0755);
	for (int i = 0; i < READERS; i++)
		if (!(readers[i] = fork()))
			read_for_ever();
	for (int round = 0; round < ROUNDS; round++) {
		put(images[round % 2]);
		must(mount("/dev/vda", "/mnt", "ext2", 0, ""), "mount");
		look(round % 2 ? "4096" : "1024");
		must(umount("/mnt"), "umount");
	}
	for (int i = 0; i < READERS; i++) {
		must(waitpid(readers[i], NULL, WNOHANG) ? -1 : 0, "a reader that ended");
		kill(readers[i], SIGKILL);
	}
	puts("mounted");
	return 0;
}
