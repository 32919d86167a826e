/*
 * epoll.c - scenarios of epoll(7).
 */
#include "events.h"

#include <pthread.h>

static int control(int ep, int operation, int fd, uint32_t events, int data)
{
	struct epoll_event event = {.events = events, .data.u64 = (uint64_t)data};

	return epoll_ctl(ep, operation, fd, &event);
}
#define ADD(ep, fd, events, data)                                                                  \
	show("add " #fd " " #events, control(ep, EPOLL_CTL_ADD, fd, events, data))
#define MOD(ep, fd, events, data)                                                                  \
	show("mod " #fd " " #events, control(ep, EPOLL_CTL_MOD, fd, events, data))
#define DEL(ep, fd) show("del " #fd, control(ep, EPOLL_CTL_DEL, fd, 0, 0))

/* The events there are now, in order. */
static void look(int ep)
{
	struct epoll_event events[8];
	int n = epoll_wait(ep, events, 8, 0);

	say("[%d:", n);
	for (int i = 0; i < n; i++)
		say("%d=%x", (int)events[i].data.u64, events[i].events);
	say("]");
}

SCENARIO(epoll_create_errors)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_GETFL));
	T(syscall(SYS_epoll_create, 0));
	T(syscall(SYS_epoll_create, -1));
	T(epoll_create1(O_NONBLOCK));
	fd = syscall(SYS_epoll_create, 1);
	T(fcntl(fd, F_GETFD));
	T(read(fd, &fd, 4));
	T(write(fd, &fd, 4));
}

SCENARIO(epoll_ctl_errors)
{
	int ep = epoll_create1(0), ev = eventfd(0, 0), file = open("f", O_CREAT | O_RDWR, 0644);
	struct epoll_event event = {.events = EPOLLIN};

	ADD(ep, file, EPOLLIN, 1);
	ADD(ep, open(".", O_RDONLY), EPOLLIN, 1);
	ADD(ep, open("/dev/null", O_RDONLY), EPOLLIN, 1);
	ADD(ep, open("f", O_PATH), EPOLLIN, 1);
	ADD(ep, ep, EPOLLIN, 1);
	ADD(ep, 99, EPOLLIN, 1);
	ADD(99, ev, EPOLLIN, 1);
	ADD(file, ev, EPOLLIN, 1);
	ADD(ev, file, EPOLLIN, 1);
	ADD(ev, ev, EPOLLIN, 1);
	DEL(ep, ev);
	MOD(ep, ev, EPOLLIN, 1);
	ADD(ep, ev, EPOLLIN, 1);
	ADD(ep, ev, EPOLLIN, 1);
	T(epoll_ctl(ep, 0, ev, &event));
	T(epoll_ctl(ep, 4, ev, &event));
	T(epoll_ctl(ep, EPOLL_CTL_ADD, ev, NULL));
	T(epoll_ctl(ep, EPOLL_CTL_MOD, ev, (void *)8));
	T(epoll_ctl(99, EPOLL_CTL_MOD, ev, (void *)8));
	MOD(ep, ev, EPOLLIN | EPOLLEXCLUSIVE, 1);
	T(epoll_ctl(ep, EPOLL_CTL_DEL, ev, NULL));
	ADD(ep, ev, EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT, 1);
	ADD(ep, ev, EPOLLIN | EPOLLEXCLUSIVE, 1);
	MOD(ep, ev, EPOLLIN, 1);
	DEL(ep, ev);
	DEL(ep, ev);
	DEL(ep, file);
}

SCENARIO(epoll_wait_errors)
{
	int ep = epoll_create1(0), ev = eventfd(1, 0);
	struct epoll_event events[2];
	sigset_t set;

	T(epoll_wait(ep, events, 0, 0));
	T(epoll_wait(ep, events, -1, 0));
	T(epoll_wait(ep, events, INT_MAX, 0));
	T(epoll_wait(99, events, 1, 0));
	T(epoll_wait(99, events, 0, 0));
	T(epoll_wait(ev, events, 1, 0));
	T(epoll_wait(ev, (void *)-8L, 1, 0));
	T(epoll_wait(ep, (void *)8, 1, 0));
	ADD(ep, ev, EPOLLIN | EPOLLET, 7);
	T(epoll_wait(ep, (void *)8, 1, 0));
	look(ep);
	sigemptyset(&set);
	T(syscall(SYS_epoll_pwait, ep, events, 1, 0, &set, 4));
	T(syscall(SYS_epoll_pwait, ep, events, 1, 0, (void *)8, 8));
	T(syscall(SYS_epoll_pwait, ep, events, 1, 0, &set, 8));
}

SCENARIO(epoll_levels)
{
	int ep = epoll_create1(0), a = eventfd(0, 0), b = eventfd(0, 0);

	look(ep);
	ADD(ep, a, EPOLLIN, 1);
	ADD(ep, b, EPOLLIN | EPOLLOUT, 2);
	look(ep);
	T(put(a, 1));
	look(ep);
	look(ep);
	T(put(b, 1));
	look(ep);
	get(a);
	look(ep);
	MOD(ep, b, 0, 3);
	look(ep);
	MOD(ep, b, EPOLLIN, 4);
	look(ep);
	DEL(ep, b);
	look(ep);
	ADD(ep, b, EPOLLOUT, 5);
	look(ep);
}

/* Fewer are asked for than there are: all have their turn. */
SCENARIO(epoll_takes_turns)
{
	int ep = epoll_create1(0);
	struct epoll_event event;

	for (int i = 0; i < 4; i++)
		ADD(ep, eventfd(1, 0), EPOLLIN, i);
	for (int i = 0; i < 6; i++) {
		T(epoll_wait(ep, &event, 1, 0));
		say("%d", (int)event.data.u64);
	}
}

SCENARIO(epoll_edges)
{
	int ep = epoll_create1(0), fd = eventfd(0, EFD_NONBLOCK);

	ADD(ep, fd, EPOLLIN | EPOLLET, 1);
	look(ep);
	T(put(fd, 1));
	look(ep);
	look(ep);
	T(put(fd, 1));
	look(ep);
	look(ep);
	T(put(fd, 1));
	get(fd);
	look(ep);
	MOD(ep, fd, EPOLLIN | EPOLLOUT | EPOLLET, 2);
	look(ep);
	look(ep);
	T(put(fd, 1));
	MOD(ep, fd, EPOLLIN | EPOLLET, 3);
	look(ep);
	look(ep);
}

/* A read of a part is no event for readers, the next write is. */
SCENARIO(epoll_edges_of_pipe)
{
	int ep = epoll_create1(0), fds[2];
	static char big[65536];

	T(pipe2(fds, O_NONBLOCK));
	ADD(ep, fds[0], EPOLLIN | EPOLLET, 1);
	ADD(ep, fds[1], EPOLLOUT | EPOLLET, 2);
	look(ep);
	T(write(fds[1], "abcd", 4));
	look(ep);
	T(read(fds[0], big, 2));
	look(ep);
	T(write(fds[1], "e", 1));
	look(ep);
	T(read(fds[0], big, 100));
	look(ep);
	T(write(fds[1], big, sizeof(big)));
	look(ep);
	T(read(fds[0], big, sizeof(big)));
	look(ep);
	look(ep);
}

SCENARIO(epoll_oneshot)
{
	int ep = epoll_create1(0), fd = eventfd(1, 0);

	ADD(ep, fd, EPOLLIN | EPOLLONESHOT, 1);
	look(ep);
	look(ep);
	T(put(fd, 1));
	look(ep);
	ADD(ep, fd, EPOLLIN, 1);
	MOD(ep, fd, EPOLLIN | EPOLLONESHOT, 2);
	look(ep);
	look(ep);
	MOD(ep, fd, EPOLLIN | EPOLLONESHOT | EPOLLET, 3);
	look(ep);
	T(put(fd, 1));
	look(ep);
}

SCENARIO(epoll_hang_up)
{
	int ep = epoll_create1(0), fds[2], other[2];

	T(pipe(fds));
	T(pipe(other));
	ADD(ep, fds[0], EPOLLIN | EPOLLRDHUP, 1);
	ADD(ep, other[1], 0, 2);
	T(write(fds[1], "x", 1));
	look(ep);
	T(close(fds[1]));
	look(ep);
	T(close(other[0]));
	look(ep);
	MOD(ep, other[1], EPOLLOUT, 3);
	look(ep);
	MOD(ep, fds[0], EPOLLET, 4);
	look(ep);
	look(ep);
}

/* A watch belongs to the open file and the number: it goes with the file's last descriptor. */
SCENARIO(epoll_of_closed)
{
	int ep = epoll_create1(0), fd = eventfd(1, 0), copy = dup(fd);

	ADD(ep, fd, EPOLLIN, 1);
	ADD(ep, copy, EPOLLIN, 2);
	look(ep);
	T(close(fd));
	look(ep);
	DEL(ep, fd);
	T(dup2(copy, fd) == fd);
	DEL(ep, fd);
	look(ep);
	T(close(copy));
	look(ep);
	T(close(fd));
	look(ep);
	T(eventfd(1, 0) == fd);
	look(ep);
	ADD(ep, fd, EPOLLIN, 3);
	look(ep);
	T(close(ep));
	get(fd);
}

SCENARIO(epoll_of_fork)
{
	int ep = epoll_create1(0), fds[2], status;

	T(pipe(fds));
	ADD(ep, fds[0], EPOLLIN, 1);
	fflush(stdout);
	if (!fork()) {
		close(fds[0]);
		write(fds[1], "x", 1);
		look(ep); /* the parent has it open */
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	look(ep);
	T(close(fds[0]));
	look(ep);
}

/* An epoll is itself a file with events. */
SCENARIO(epoll_polled)
{
	int ep = epoll_create1(0), fd = eventfd(0, 0);

	ADD(ep, fd, EPOLLIN, 1);
	show_poll(ep);
	T(put(fd, 1));
	show_poll(ep);
	show_poll(ep);
	get(fd);
	show_poll(ep);
	MOD(ep, fd, EPOLLIN | EPOLLET, 1);
	T(put(fd, 1));
	show_poll(ep);
	look(ep);
	show_poll(ep);
}

static void ring(int signo)
{
	(void)signo;
}

SCENARIO(epoll_interrupted)
{
	int ep = epoll_create1(0);
	struct sigaction action = {.sa_handler = ring, .sa_flags = SA_RESTART};
	struct itimerval soon = {.it_value = {0, 20000}, .it_interval = {0, 20000}};
	struct itimerval never = {{0, 0}, {0, 0}};
	struct epoll_event event;
	sigset_t none, alarm_set, now;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(epoll_wait(ep, &event, 1, -1));
	T(epoll_wait(ep, &event, 1, 15000));
	setitimer(ITIMER_REAL, &never, NULL);
	sigemptyset(&none);
	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm_set, NULL);
	raise(SIGALRM);
	T(epoll_wait(ep, &event, 1, 0));
	T(epoll_pwait(ep, &event, 1, -1, &none));
	sigprocmask(SIG_BLOCK, NULL, &now);
	T(sigismember(&now, SIGALRM));
	T(epoll_pwait(ep, &event, 1, 0, &none));
	sigprocmask(SIG_BLOCK, NULL, &now);
	T(sigismember(&now, SIGALRM));
}

SCENARIO(epoll_waits)
{
	int ep = epoll_create1(0), fd = eventfd(0, 0);
	struct timespec start, end, short_time = {0, 30000000}, wrong = {0, 1000000000};
	struct epoll_event event;

	ADD(ep, fd, EPOLLIN, 9);
	clock_gettime(CLOCK_MONOTONIC, &start);
	T(epoll_wait(ep, &event, 1, 30));
	T(syscall(SYS_epoll_pwait2, ep, &event, 1, &short_time, NULL, 0));
	clock_gettime(CLOCK_MONOTONIC, &end);
	say("%d", (end.tv_sec - start.tv_sec) * 1000000000L + end.tv_nsec - start.tv_nsec >= 60000000);
	T(syscall(SYS_epoll_pwait2, ep, &event, 1, &wrong, NULL, 0));
	fflush(stdout);
	if (!fork()) {
		usleep(20000);
		put(fd, 1);
		_exit(0);
	}
	T(epoll_wait(ep, &event, 1, -1));
	say("%x %d", event.events, (int)event.data.u64);
	T(syscall(SYS_epoll_pwait2, ep, &event, 1, NULL, NULL, 0));
	wait(NULL);
}

/* Several threads wait; each event of a level is there for whoever is first. */
static int shared_epoll, finished;

static void *wait_and_take(void *unused)
{
	struct epoll_event event;
	uint64_t value;

	while (epoll_wait(shared_epoll, &event, 1, -1) == 1 && event.data.u64 < 100)
		if (read((int)event.data.u64, &value, 8) == 8)
			put(finished, 1);
	return unused;
}

SCENARIO(epoll_of_threads)
{
	pthread_t threads[3];
	uint64_t value, sum = 0;
	int stop = eventfd(0, 0), fd[2];

	shared_epoll = epoll_create1(0);
	finished = eventfd(0, 0);
	for (int i = 0; i < 2; i++) {
		fd[i] = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
		control(shared_epoll, EPOLL_CTL_ADD, fd[i], EPOLLIN, fd[i]);
	}
	control(shared_epoll, EPOLL_CTL_ADD, stop, EPOLLIN, 100);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, wait_and_take, NULL);
	for (uint64_t i = 1; i <= 50; i++) {
		put(fd[i % 2], 4);
		while (sum < 4 * i && read(finished, &value, 8) == 8)
			sum += value;
	}
	put(stop, 1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	say("%llu", (unsigned long long)sum);
}
