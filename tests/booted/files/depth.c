/*
 * depth.c - file systems of a single, deep branch are unmounted. As root. Prints how many times as
 * long as the first the second takes, which is four times as deep.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double unmount_of(int depth)
{
	if (mount("none", "/deep", "tmpfs", 0, "nr_inodes=0") || chdir("/deep"))
		exit(1);
	for (int i = 0; i < depth; i++)
		if (mkdir("d", 0755) || chdir("d"))
			exit(1);
	chdir("/");

	double begin = now();

	if (umount("/deep"))
		exit(1);
	return now() - begin;
}

int main(void)
{
	mkdir("/deep", 0755);

	double first = unmount_of(1000);

	printf("times: %.0f\n", unmount_of(4000) / first);
	return 0;
}
