/*
 * named.c - calls of inotify and splice with flags that a trace has names for.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), p[2], q[2], file;

	inotify_add_watch(fd, ".", IN_CREATE | IN_DELETE | IN_ONLYDIR);
	inotify_add_watch(fd, "missing", IN_MOVED_FROM | IN_MOVED_TO | IN_ONESHOT | IN_DONT_FOLLOW);
	inotify_add_watch(fd, ".", IN_OPEN | IN_MASK_ADD | IN_EXCL_UNLINK);
	inotify_rm_watch(fd, 1);
	inotify_rm_watch(fd, -1);
	syscall(SYS_inotify_init1, 0);
	syscall(SYS_pipe2, p, 0);
	syscall(SYS_pipe2, q, O_CLOEXEC);
	file = open("file", O_RDWR | O_CREAT, 0600);
	write(p[1], "text", 4);
	tee(p[0], q[1], 10, SPLICE_F_NONBLOCK);
	splice(p[0], NULL, file, NULL, 4, SPLICE_F_MOVE | SPLICE_F_MORE);
	splice(file, NULL, file, NULL, 4, 0);
	return 0;
}
