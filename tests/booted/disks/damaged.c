/*
 * damaged.c - a file system that is no more written to, since damage was found, while a file is
 * open: who syncs it is told that what he wrote since is lost. Prints what each call said.
 *
 * The disk has errors=remount-ro, and an inode with a name and no links, "damaged".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static void say(const char *what, long result)
{
	const char *error = errno == EUCLEAN ? "EUCLEAN" : strerror(errno); /* musl has no text */

	printf("%s: %s\n", what, result < 0 ? error : "ok");
}

int main(void)
{
	struct stat status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	mkdir("/mnt", 0755);
	say("mount", mount("/dev/vda", "/mnt", "ext2", 0, ""));
	int file = open("/mnt/kept", O_CREAT | O_RDWR, 0644);
	write(file, "first ", 6);
	say("fsync", fsync(file));
	say("stat", stat("/mnt/damaged", &status));
	say("open", open("/mnt/new", O_CREAT | O_WRONLY, 0644));
	say("write", write(file, "second", 6));
	say("fsync", fsync(file));
	write(file, "third", 5);
	say("syncfs", syncfs(file));
	close(file);
	say("umount", umount("/mnt"));
	return 0;
}
