/*
 * files.c - scenarios of inotify(7): what is done to a file and in it.
 */
#include "notify.h"

#include <sys/xattr.h>

/* A watch of the directory and one of the file. */
static int watch_both(const char *name)
{
	int fd = notify_queue();

	WATCH(fd, ".", IN_ALL_EVENTS);
	show("watch file", inotify_add_watch(fd, name, IN_ALL_EVENTS));
	return fd;
}

SCENARIO(notify_open_read_write_close)
{
	char byte;
	int fd, file;

	make_file("f", "text");
	fd = watch_both("f");
	file = open("f", O_RDWR);
	look(fd);
	read(file, &byte, 1);
	look(fd);
	pread(file, &byte, 1, 100); /* nothing is there */
	look(fd);
	write(file, "", 0);
	look(fd);
	write(file, "x", 1);
	pwrite(file, "x", 1, 9);
	look(fd);
	close(file);
	look(fd);
	close(open("f", O_RDONLY));
	look(fd);
	close(open("f", O_WRONLY | O_TRUNC));
	look(fd);
	close(open("f", O_PATH));
	look(fd);
	open("f", O_RDONLY | O_DIRECTORY);
	open("f", O_RDONLY | O_CREAT | O_EXCL, 0600);
	look(fd);
}

SCENARIO(notify_vectors)
{
	char a[2], b[2];
	struct iovec pieces[2] = {{a, 2}, {b, 2}};
	int fd, file;

	make_file("f", "text");
	fd = watch_both("f");
	file = open("f", O_RDWR);
	readv(file, pieces, 2);
	preadv(file, pieces, 2, 0);
	look(fd);
	writev(file, pieces, 2);
	pwritev(file, pieces, 2, 0);
	look(fd);
}

SCENARIO(notify_descriptors_share)
{
	int fd, file, copy;

	make_file("f", "text");
	fd = watch_both("f");
	file = open("f", O_RDWR);
	copy = dup(file);
	look(fd);
	close(file);
	look(fd);
	if (!fork())
		_exit(0);
	wait(NULL);
	look(fd);
	close(copy);
	look(fd);
}

SCENARIO(notify_size)
{
	int fd, file;

	make_file("f", "text");
	fd = watch_both("f");
	T(truncate("f", 2));
	look(fd);
	T(truncate("f", 2));
	look(fd);
	file = open("f", O_WRONLY);
	look(fd);
	T(ftruncate(file, 100));
	look(fd);
	T(ftruncate(file, -1));
	look(fd);
}

SCENARIO(notify_space)
{
	int fd, file;

	make_file("f", "text");
	fd = watch_both("f");
	file = open("f", O_RDWR);
	if (fallocate(file, 0, 0, 8192)) /* which ext2 has not */
		ftruncate(file, 8192);
	look(fd);
}

SCENARIO(notify_attributes)
{
	struct timespec omit = {0, UTIME_OMIT}, now = {0, UTIME_NOW}, then = {100, 0};
	int fd, file;

	make_file("f", "text");
	fd = watch_both("f");
	T(chmod("f", 0600));
	look(fd);
	T(chown("f", -1, -1));
	look(fd);
	T(chown("f", USER_A, -1));
	look(fd);
	T(utimensat(AT_FDCWD, "f", NULL, 0));
	look(fd);
	T(utimensat(AT_FDCWD, "f", (struct timespec[]){omit, then}, 0));
	look(fd);
	T(utimensat(AT_FDCWD, "f", (struct timespec[]){now, omit}, 0));
	look(fd);
	T(utimensat(AT_FDCWD, "f", (struct timespec[]){omit, omit}, 0));
	look(fd);
	file = open("f", O_RDONLY);
	look(fd);
	T(fchmod(file, 0644));
	look(fd);
	T(fchown(file, 0, 0));
	look(fd);
	T(futimens(file, NULL));
	look(fd);
	T(chmod(".", 0700));
	look(fd);
	T(chmod("missing", 0700));
	look(fd);
}

SCENARIO(notify_attributes_extended)
{
	char value[4];
	int fd;

	make_file("f", "text");
	fd = watch_both("f");
	T(setxattr("f", "trusted.one", "1", 1, 0));
	look(fd);
	T(getxattr("f", "trusted.one", value, 4));
	look(fd);
	T(removexattr("f", "trusted.one"));
	look(fd);
	T(removexattr("f", "trusted.one"));
	look(fd);
}

/* Who writes to a set-id program takes the bits away. */
SCENARIO(notify_bits_taken)
{
	int fd;

	make_file("f", "text");
	chmod("f", 06777);
	chown(".", USER_A, -1);
	fd = watch_both("f");
	AS(USER_A)
	{
		int file = open("f", O_WRONLY);

		T(write(file, "x", 1));
	}
	look(fd);
	show_mode("f");
	T(chmod("f", 06777));
	look(fd);
	AS(USER_A)
	{
		T(truncate("f", 1));
	}
	look(fd);
	T(chmod("f", 06777));
	look(fd);
	T(chown("f", 0, 0));
	look(fd);
}

SCENARIO(notify_directory_read)
{
	char buffer[1024];
	int fd, dir;

	make_directory("d");
	fd = notify_queue();
	WATCH(fd, ".", IN_ALL_EVENTS);
	WATCH(fd, "d", IN_ALL_EVENTS);
	dir = open("d", O_RDONLY);
	look(fd);
	syscall(SYS_getdents64, dir, buffer, sizeof(buffer));
	look(fd);
	syscall(SYS_getdents64, dir, buffer, sizeof(buffer));
	look(fd);
	close(dir);
	look(fd);
	chmod("d", 0700);
	look(fd);
}

SCENARIO(notify_execve)
{
	char *none[] = {NULL};
	int fd;

	make_file("f", "#!/nowhere\n");
	chmod("f", 0755);
	fd = watch_both("f");
	if (!fork()) {
		execve("f", none, none);
		_exit(0);
	}
	wait(NULL);
	look(fd);
}

SCENARIO(notify_fifo)
{
	int fd, reader, writer;
	char byte;

	mkfifo("p", 0600);
	fd = watch_both("p");
	reader = open("p", O_RDONLY | O_NONBLOCK);
	writer = open("p", O_WRONLY);
	look(fd);
	write(writer, "x", 1);
	look(fd);
	read(reader, &byte, 1);
	look(fd);
	close(reader);
	close(writer);
	look(fd);
	open("p", O_WRONLY | O_NONBLOCK);
	look(fd);
}

/* What goes through a descriptor that has no name can be watched through /proc. */
SCENARIO(notify_pipe)
{
	char name[64], byte;
	int fd = notify_queue(), ends[2];

	pipe(ends);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
	T(inotify_add_watch(fd, name, IN_ALL_EVENTS));
	write(ends[1], "x", 1);
	read(ends[0], &byte, 1);
	look(fd);
	close(ends[1]);
	look(fd);
	close(ends[0]);
	look(fd);
	T(inotify_rm_watch(fd, 1));
	look(fd);
}

SCENARIO(notify_copies)
{
	int fd, from, to;

	make_file("a", "some text");
	make_file("b", "");
	fd = notify_queue();
	WATCH(fd, "a", IN_ACCESS | IN_MODIFY);
	WATCH(fd, "b", IN_ACCESS | IN_MODIFY);
	from = open("a", O_RDONLY);
	to = open("b", O_WRONLY);
	T(sendfile(to, from, NULL, 4));
	look(fd);
	T(copy_file_range(from, NULL, to, NULL, 4, 0));
	look(fd);
	T(sendfile(to, from, NULL, 100));
	T(sendfile(to, from, NULL, 100));
	look(fd);
}
