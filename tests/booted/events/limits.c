/*
 * limits.c - how many watches a user may have in all his inotifies. In an empty directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES 9000

static int watched(int fd, int from)
{
	char name[16];
	int n = from;

	while (n < FILES && (sprintf(name, "%d", n), inotify_add_watch(fd, name, IN_OPEN)) > 0)
		n++;
	return n - from;
}

int main(void)
{
	int a = inotify_init(), b = inotify_init(), count;
	char name[16];

	for (int i = 0; i < FILES; i++) {
		sprintf(name, "%d", i);
		if (mknod(name, S_IFREG | 0644, 0))
			return 1;
	}
	count = watched(a, 0);
	printf("first %d %s\n", count, strerror(errno));
	printf("second %d\n", watched(b, 0));
	for (int i = 1; i <= 100; i++)
		inotify_rm_watch(a, i);
	printf("again %d\n", watched(b, count));
	fflush(stdout);
	if (!fork()) { /* another user */
		setuid(1000);
		printf("his %d\n", watched(inotify_init(), 0) > 0);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	close(a);
	printf("all of %d\n", watched(b, 0) + 100);
	return 0;
}
