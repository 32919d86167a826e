/*
 * remounts.c - file systems that are mounted read-only, or with other flags than before. /dev/vda
 * is an ext2, /image the bytes of another, as large as /dev/ram0. Prints what differs from what
 * Linux does.
 */
#define _GNU_SOURCE
#include "../must.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#define SUPERBLOCKS 300

static void check(int good, const char *what)
{
	if (!good)
		printf("wrong: %s\n", what);
}

/* A FIFO is written to on a disk that is mounted read-only: that changes nothing there, and so the
 * disk can be mounted for writing again. */
static void write_to_a_fifo(void)
{
	struct stat before, after;
	int fifo;

	must(mount("/dev/vda", "/a", "ext2", 0, ""), "mount");
	must(mkfifo("/a/fifo", 0600), "mkfifo");
	must(stat("/a/fifo", &before), "stat");
	must(mount("", "/a", "", MS_REMOUNT | MS_RDONLY, ""), "remount read-only");
	must(fifo = open("/a/fifo", O_RDWR), "open");
	sleep(1);
	must(write(fifo, "text", 4), "write");
	close(fifo);
	must(stat("/a/fifo", &after), "stat");
	check(before.st_mtim.tv_sec == after.st_mtim.tv_sec, "a FIFO's time on a read-only disk");
	check(mount("", "/a", "", MS_REMOUNT, "") == 0, "to mount it for writing again");
	must(umount("/a"), "umount");
}

/* A mount that was detached while a file was open for writing. */
static void detach_a_writer(void)
{
	int file;

	must(mount("/dev/vda", "/a", "ext2", 0, ""), "mount");
	must(file = open("/a/file", O_RDWR | O_CREAT, 0600), "open");
	must(umount2("/a", MNT_DETACH), "detach");
	must(mount("/dev/vda", "/b", "ext2", 0, ""), "mount again");
	check(mount("", "/b", "", MS_REMOUNT | MS_RDONLY, "") == -1 && errno == EBUSY,
	      "read-only though a detached mount has a writer");
	must(write(file, "text", 4), "write");
	close(file);
	check(mount("", "/b", "", MS_REMOUNT | MS_RDONLY, "") == 0, "read-only once it is closed");
	must(umount("/b"), "umount");
}

static int options_have(const char *word)
{
	static char mounts[8192];
	int file = open("/proc/mounts", O_RDONLY);
	ssize_t n = read(file, mounts, sizeof(mounts) - 1);
	const char *line;

	close(file);
	mounts[n > 0 ? n : 0] = 0;
	line = strstr(mounts, " /a ");
	must(line ? 0 : -1, "/a in /proc/mounts");
	return memmem(line, strcspn(line, "\n"), word, strlen(word)) != NULL;
}

static int read_changes_atime(void)
{
	struct timespec old[2] = {{.tv_sec = time(NULL) - 10}, {.tv_sec = 1}};
	struct stat after;
	char byte;
	int file;

	must(file = open("/a/file", O_RDWR | O_CREAT, 0600), "open");
	must(write(file, "x", 1), "write");
	must(futimens(file, old), "futimens");
	must(pread(file, &byte, 1, 0), "pread");
	must(fstat(file, &after), "fstat");
	close(file);
	return after.st_atim.tv_sec != old[0].tv_sec;
}

/* Each remount says of atime what is to be, or leaves it as it was. */
static void change_atime_flags(void)
{
	must(mount("none", "/a", "tmpfs", MS_STRICTATIME, ""), "mount");
	must(mount("", "/a", "", MS_REMOUNT | MS_NOSUID, ""), "remount");
	check(!options_have("relatime") && read_changes_atime(), "strictatime stays");
	must(umount("/a"), "umount");
	must(mount("none", "/a", "tmpfs", MS_NOATIME, ""), "mount");
	check(!read_changes_atime(), "noatime");
	must(mount("", "/a", "", MS_REMOUNT | MS_STRICTATIME, ""), "remount");
	check(!options_have("noatime") && read_changes_atime(), "noatime goes");
	must(umount("/a"), "umount");
}

/* No file system without a device has a device's number. */
static void count_superblocks(void)
{
	struct stat disk, here;

	must(stat("/dev/ram0", &disk), "/dev/ram0");
	for (int i = 0; i < SUPERBLOCKS; i++) {
		must(mount("none", "/a", "tmpfs", 0, ""), "mount");
		must(stat("/a", &here), "stat");
		check(here.st_dev != disk.st_rdev, "st_dev is the RAM disk's");
		check(major(here.st_dev) == 0, "st_dev has a major number");
		must(umount("/a"), "umount");
	}
}

/* What was written to a disk, and is not there yet, is there for who mounts it. */
static void mount_what_was_just_written(void)
{
	static char image[1 << 20];
	int from, to;
	ssize_t n;
	char found[8] = "";

	must(from = open("/image", O_RDONLY), "/image");
	must(to = open("/dev/ram0", O_WRONLY), "/dev/ram0");
	while ((n = read(from, image, sizeof(image))) > 0)
		must(write(to, image, (size_t)n) == n ? 0 : -1, "write");
	close(from);
	close(to);
	must(mount("/dev/ram0", "/a", "ext2", MS_RDONLY, ""), "mount");
	check((from = open("/a/name", O_RDONLY)) >= 0, "a file of what was just written");
	check(read(from, found, sizeof(found)) == 4 && memcmp(found, "text", 4) == 0, "its bytes");
	close(from);
	must(umount("/a"), "umount");
}

int main(void)
{
	mkdir("/a", 0755);
	mkdir("/b", 0755);
	write_to_a_fifo();
	detach_a_writer();
	change_atime_flags();
	count_superblocks();
	mount_what_was_just_written();
	puts("done");
	return 0;
}
