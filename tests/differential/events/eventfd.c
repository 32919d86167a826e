/*
 * eventfd.c - scenarios of eventfd(2).
 */
#include "events.h"

SCENARIO(eventfd_counts)
{
	int fd = eventfd(5, EFD_NONBLOCK);

	show_poll(fd);
	get(fd);
	show_poll(fd);
	get(fd);
	T(put(fd, 3));
	T(put(fd, 0));
	T(put(fd, 4));
	get(fd);
	T(put(fd, UINT64_MAX));
	T(put(fd, UINT64_MAX - 1));
	show_poll(fd);
	T(put(fd, 1));
	T(put(fd, 0));
	get(fd);
	T(put(fd, UINT64_MAX - 2));
	show_poll(fd);
	T(put(fd, 1));
	T(put(fd, 1));
}

SCENARIO(eventfd_semaphore)
{
	int fd = eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE | EFD_CLOEXEC);

	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_GETFL));
	get(fd);
	show_poll(fd);
	get(fd);
	get(fd);
	T(put(fd, 1));
	get(fd);
}

SCENARIO(eventfd_errors)
{
	char bytes[16] = {1};
	struct stat st;
	int fd = eventfd(1, EFD_NONBLOCK);

	T(syscall(SYS_eventfd2, 0, 2));
	T(syscall(SYS_eventfd2, 0, EFD_SEMAPHORE | O_APPEND));
	T(read(fd, bytes, 7));
	T(write(fd, bytes, 7));
	T(read(fd, (void *)8, 8));
	T(write(fd, (void *)8, 8));
	T(write(fd, bytes, 16));
	T(read(fd, bytes, 16));
	T(read(fd, bytes, 16));
	T(pread(fd, bytes, 8, 0));
	T(ftruncate(fd, 0));
	T(fsync(fd));
	T(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	T(fstat(fd, &st));
	say("mode=%o size=%lld links=%d", st.st_mode, (long long)st.st_size, (int)st.st_nlink);
	fd = syscall(SYS_eventfd, 7);
	T(fcntl(fd, F_GETFL));
	get(fd);
}

/* It is reached through /proc, but not opened again. */
SCENARIO(eventfd_in_proc)
{
	char name[64], target[64] = "";
	int fd = eventfd(0, 0);

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	T(readlink(name, target, sizeof(target) - 1));
	say("%s", target);
	T(open(name, O_RDWR));
	fd = epoll_create1(0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	memset(target, 0, sizeof(target));
	T(readlink(name, target, sizeof(target) - 1));
	say("%s", target);
	T(open(name, O_RDONLY));
}

SCENARIO(eventfd_waits)
{
	int fd = eventfd(0, 0), back = eventfd(0, 0);
	uint64_t value;

	fflush(stdout);
	if (!fork()) {
		read(fd, &value, 8); /* waits for the parent */
		put(back, value + 1);
		put(back, UINT64_MAX - 1); /* waits until the parent has read */
		_exit(0);
	}
	T(put(fd, 41));
	get(back);
	get(back);
	T(wait(NULL) > 0);
}
