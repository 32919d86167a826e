/*
 * descriptors.c - scenarios of descriptors: what copies and children share, their numbers, limits and flags;
 * devices.
 */
#include "../scenarios.h"

SCENARIO(two_descriptors)
{
	char buffer[8] = "";
	int a, b;

	make_file("f", "abcdef");
	a = open("f", O_RDONLY);
	b = open("f", O_RDONLY);
	read(a, buffer, 3);
	T(lseek(b, 0, SEEK_CUR));
	T(read(b, buffer, 2));
	T(lseek(a, 0, SEEK_CUR));
}

SCENARIO(dup_shares_position)
{
	char buffer[8] = "";
	int a, b;

	make_file("f", "abcdef");
	a = open("f", O_RDONLY);
	b = dup(a);
	read(a, buffer, 3);
	T(lseek(b, 0, SEEK_CUR));
	T(read(b, buffer, 1));
	say("%c", buffer[0]);
	T(close(a));
	T(lseek(b, 0, SEEK_CUR));
	T(fcntl(b, F_GETFD));
}

SCENARIO(fork_shares_position)
{
	int fd;

	make_file("f", "abcdef");
	fd = open("f", O_RDONLY);
	if (!fork()) {
		lseek(fd, 4, SEEK_SET);
		_exit(0);
	}
	wait(NULL);
	T(lseek(fd, 0, SEEK_CUR));
}

SCENARIO(dup2_rules)
{
	int fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY);
	T(dup2(fd, 20));
	T(dup2(fd, fd) == fd);
	T(dup2(99, 21));
	T(dup2(99, 99));
	T(dup2(fd, -1));
	T(dup3(fd, fd, 0));
	T(dup3(fd, 22, O_CLOEXEC));
	T(fcntl(22, F_GETFD));
	T(fcntl(20, F_GETFD));
	T(dup3(fd, 23, 1));
	T(fcntl(fd, F_DUPFD, 30));
	T(fcntl(fd, F_DUPFD_CLOEXEC, 30));
	T(fcntl(31, F_GETFD));
	T(fcntl(fd, F_DUPFD, -1));
	T(fcntl(fd, 9999));
}

SCENARIO(descriptor_limit)
{
	struct rlimit limit = {16, 64};
	int fd = -1, last = -1;

	T(setrlimit(RLIMIT_NOFILE, &limit));
	make_file("f", "");
	while ((fd = open("f", O_RDONLY)) >= 0)
		last = fd;
	T(fd);
	T(last);
	T(dup(last));
	T(fcntl(last, F_DUPFD, 3));
	T(fcntl(last, F_DUPFD, 16));
	T(dup2(last, 16));
	close(7);
	T(open("f", O_RDONLY));
}

SCENARIO(lowest_descriptor)
{
	int a = open(".", O_RDONLY), b = open(".", O_RDONLY), c;

	close(a);
	c = open(".", O_RDONLY);
	T(c == a);
	T(b == a + 1);
	T(close(a));
	T(close(a));
}

SCENARIO(close_on_exec_flag)
{
	int fd = open(".", O_RDONLY | O_CLOEXEC);

	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, 0));
	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, FD_CLOEXEC));
	T(fcntl(dup(fd), F_GETFD));
	T(ioctl(fd, FIONCLEX, 0));
	T(fcntl(fd, F_GETFD));
	T(fcntl(99, F_GETFD));
}

SCENARIO(not_a_terminal)
{
	struct winsize size;
	int fd = open("f", O_CREAT | O_RDWR, 0644), left;

	T(isatty(fd));
	T(ioctl(fd, TIOCGWINSZ, &size));
	write(fd, "12345", 5);
	lseek(fd, 2, SEEK_SET);
	T(ioctl(fd, FIONREAD, &left));
	T(left);
	T(ioctl(fd, 0xdead, 0));
	T(ioctl(99, 0xdead, 0));
}

SCENARIO(device_null)
{
	char buffer[8] = "zzz";
	int fd = open("/dev/null", O_RDWR);

	T(fd >= 0);
	T(write(fd, buffer, 8));
	T(read(fd, buffer, 8));
	T(lseek(fd, 100, SEEK_SET) >= 0);
	T(ftruncate(fd, 0));
}

static int map_shared(int fd, int protection)
{
	return mmap(NULL, 4096, protection, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0;
}

SCENARIO(device_zero_full)
{
	char buffer[8] = "zzz";
	int zero = open("/dev/zero", O_RDWR), full = open("/dev/full", O_RDWR);
	int r = open("/dev/zero", O_RDONLY), w = open("/dev/zero", O_WRONLY);
	void *zeros = mmap(NULL, 4096, PROT_READ, MAP_SHARED, r, 0);

	T(read(zero, buffer, 8));
	T(buffer[0]);
	T(write(zero, buffer, 8));
	T(write(full, buffer, 8));
	buffer[0] = 'x';
	T(read(full, buffer, 8));
	T(buffer[0]);
	T(mprotect(zeros, 4096, PROT_READ | PROT_WRITE));
	T(mprotect(zeros, 4096, PROT_NONE));
	T(mprotect(zeros, 4096, PROT_READ));
	T(*(char *)zeros);
	T(map_shared(r, PROT_READ | PROT_WRITE));
	T(map_shared(w, PROT_READ));
	T(map_shared(zero, PROT_READ | PROT_WRITE));
}
