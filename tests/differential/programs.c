/*
 * programs.c - what real programs were seen to do when they failed here and not on Linux.
 */
#include "scenarios.h"

/* bash's process substitution: comm <(...) opens /dev/fd/63 when its writer may have gone already.
 */
SCENARIO(pipe_opened_again)
{
	char name[32], byte;
	int fds[2], again;

	alarm(5); /* a hang is the end of the scenario */
	T(pipe(fds));
	T(write(fds[1], "xy", 2));
	close(fds[1]);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fds[0]);
	again = open(name, O_RDONLY);
	T(again >= 0);
	T(read(again, &byte, 1));
	T(read(fds[0], &byte, 1));
	T(read(again, &byte, 1));
	T(open(name, O_WRONLY | O_NONBLOCK) >= 0);
}

SCENARIO(eventfds)
{
	uint64_t value = 5;
	char name[32];
	int fd;

	T(fd = eventfd(3, EFD_NONBLOCK));
	T(write(fd, &value, 8));
	T(read(fd, &value, 8));
	T(value);
	T(read(fd, &value, 8));
	T(write(fd, &value, 7));
	T(read(fd, &value, 7));
	value = UINT64_MAX;
	T(write(fd, &value, 8));
	value = UINT64_MAX - 1;
	T(write(fd, &value, 8));
	value = 1;
	T(write(fd, &value, 8));
	T(poll(&(struct pollfd){fd, POLLIN | POLLOUT, 0}, 1, 0));
	T(pread(fd, &value, 8, 0));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	T(open(name, O_RDWR));
	T(close(fd));
	T(fd = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC));
	T(fcntl(fd, F_GETFD));
	for (int i = 0; i < 3; i++)
		T(read(fd, &value, 8));
	T(value);
	T(eventfd(1, 2));
	if (!fork()) {
		sleep(1);
		value = 7;
		write(fd, &value, 8);
		_exit(0);
	}
	T(poll(&(struct pollfd){fd, POLLIN, 0}, 1, 10000));
	T(fcntl(fd, F_SETFL, 0));
	for (int i = 0; i < 7; i++)
		read(fd, &value, 8);
	T(poll(&(struct pollfd){fd, POLLIN, 0}, 1, 0));
}
