/*
 * pipes.c - scenarios of pipes, named and not, and of waiting for them.
 */
#include "../scenarios.h"

#include <sys/epoll.h>

SCENARIO(pipe_basic)
{
	char buffer[16] = "";
	int fds[2];

	T(pipe(fds));
	T(write(fds[1], "abc", 3));
	T(read(fds[0], buffer, 16));
	say("%s", buffer);
	T(read(fds[1], buffer, 1));
	T(write(fds[0], buffer, 1));
	T(fcntl(fds[0], F_GETPIPE_SZ));
	T(fcntl(fds[1], F_GETPIPE_SZ));
	T(fcntl(open(".", O_RDONLY), F_GETPIPE_SZ));
	T(close(fds[1]));
	T(read(fds[0], buffer, 1));
}

static void on_broken_pipe(int signo)
{
	say("signal %d", signo);
	_exit(0);
}

SCENARIO(pipe_broken)
{
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	pipe(fds);
	close(fds[0]);
	T(write(fds[1], "x", 1));
	signal(SIGPIPE, on_broken_pipe);
	T(write(fds[1], "x", 1));
}

SCENARIO(pipe_nonblocking)
{
	static char big[100000];
	char c;
	int fds[2];
	long total = 0, n;

	T(pipe2(fds, O_NONBLOCK));
	T(read(fds[0], &c, 1));
	while ((n = write(fds[1], big, 4096)) > 0)
		total += n;
	T(n);
	T(total);
	T(write(fds[1], big, 1));
	T(read(fds[0], big, 4096));
	T(write(fds[1], big, 4096));
	T(pipe2(fds, 0x1));
	T(fcntl(fds[0], F_GETFL) & O_NONBLOCK ? 1 : 0);
}

SCENARIO(pipe_large_write)
{
	static char big[200000];
	int fds[2];
	long total = 0, n;

	pipe(fds);
	if (!fork()) {
		close(fds[0]);
		memset(big, 'b', sizeof(big));
		_exit(write(fds[1], big, sizeof(big)) == sizeof(big) ? 0 : 1);
	}
	close(fds[1]);
	while ((n = read(fds[0], big, 7777)) > 0)
		total += n;
	T(total);
	int status;
	wait(&status);
	T(status);
}

SCENARIO(pipe_poll)
{
	struct pollfd p;
	int fds[2];

	pipe(fds);
	p = (struct pollfd){fds[0], POLLIN, 0};
	T(poll(&p, 1, 0));
	write(fds[1], "x", 1);
	T(poll(&p, 1, 0));
	T(p.revents);
	p = (struct pollfd){fds[1], POLLOUT, 0};
	T(poll(&p, 1, 0));
	T(p.revents);
	close(fds[1]);
	p = (struct pollfd){fds[0], POLLIN, 0};
	T(poll(&p, 1, 0));
	T(p.revents);
	p = (struct pollfd){999, POLLIN, 0};
	T(poll(&p, 1, 0));
	T(p.revents);
	p = (struct pollfd){-1, POLLIN, 0};
	T(poll(&p, 1, 0));
}

SCENARIO(select_basic)
{
	struct timeval now = {0, 0};
	fd_set set;
	int fds[2];

	pipe(fds);
	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	T(select(fds[0] + 1, &set, NULL, NULL, &now));
	write(fds[1], "x", 1);
	FD_SET(fds[0], &set);
	T(select(fds[0] + 1, &set, NULL, NULL, &now));
	T(FD_ISSET(fds[0], &set) != 0);
	FD_ZERO(&set);
	FD_SET(60, &set);
	T(select(61, &set, NULL, NULL, &now));
	T(select(-1, &set, NULL, NULL, &now));
}

SCENARIO(fifo_basic)
{
	char buffer[8] = "";
	int r, w;

	T(mkfifo("p", 0644));
	T(open("p", O_WRONLY | O_NONBLOCK));
	r = open("p", O_RDONLY | O_NONBLOCK);
	T(r >= 0);
	T(read(r, buffer, 1));
	w = open("p", O_WRONLY);
	T(write(w, "through", 7));
	T(read(r, buffer, 7));
	say("%s", buffer);
	T(read(r, buffer, 7));
	close(w);
	T(read(r, buffer, 7));
	show_size("p");
	T(lseek(r, 0, SEEK_SET));
}

SCENARIO(fifo_two_processes)
{
	char buffer[32] = "";

	mkfifo("p", 0644);
	if (!fork()) {
		int w = open("p", O_WRONLY);

		write(w, "hello from the fifo", 19);
		_exit(0);
	}
	int r = open("p", O_RDONLY);
	T(read(r, buffer, sizeof(buffer)));
	say("%s", buffer);
	wait(NULL);
	T(read(r, buffer, sizeof(buffer)));
	T(unlink("p"));
}

SCENARIO(fifo_permission)
{
	mkfifo("p", 0600);
	AS(USER_A) {
		T(open("p", O_RDONLY | O_NONBLOCK));
	}
	int fd = open("p", O_RDWR);
	T(fd >= 0);
	T(write(fd, "x", 1));
}

SCENARIO(poll_and_select)
{
	struct pollfd fds[12] = {{.fd = -1}};
	struct timeval time = {.tv_usec = 1000};
	struct timespec short_time = {.tv_nsec = 1000};
	int pipes[2], fifo;
	fd_set in, out, except;

	pipe(pipes);
	for (int i = 0; i < 12; i++)
		fds[i] = (struct pollfd){i % 2 ? pipes[0] : pipes[1], POLLIN | POLLOUT, 0};
	fds[3].fd = -1;
	fds[5].fd = 999;
	T(poll(fds, 12, 0));
	for (int i = 0; i < 6; i++)
		show("revents", fds[i].revents);
	T(ppoll(&fds[1], 1, &short_time, NULL));
	write(pipes[1], "x", 1);
	T(poll(fds, 2, -1));
	show("revents", fds[1].revents);
	FD_ZERO(&in);
	FD_SET(pipes[0], &in);
	FD_SET(pipes[1], &in);
	out = except = in;
	T(select(pipes[1] + 1, &in, &out, &except, &time));
	show("in", FD_ISSET(pipes[0], &in) + 2 * FD_ISSET(pipes[1], &in));
	show("out", FD_ISSET(pipes[0], &out) + 2 * FD_ISSET(pipes[1], &out));
	show("except", FD_ISSET(pipes[0], &except) + 2 * FD_ISSET(pipes[1], &except));
	FD_SET(60, &in);
	T(select(61, &in, NULL, NULL, &time));
	T(pselect(0, NULL, NULL, NULL, &short_time, NULL));
	T(select(-1, NULL, NULL, NULL, NULL));
	close(pipes[1]);
	T(poll(&fds[1], 1, 0));
	show("revents", fds[1].revents);
	mkfifo("fifo", 0600);
	fds[0].fd = fifo = open("fifo", O_RDONLY | O_NONBLOCK);
	T(poll(fds, 1, 0));
	close(open("fifo", O_WRONLY));
	T(poll(fds, 1, 0));
	show("revents", fds[0].revents);
	close(fifo);
}

/* Whoever waits for room is told of it by the read that makes just enough, and by no other. */
SCENARIO(room_in_a_pipe_is_told_once_there_is_enough)
{
	static char page[4096];
	struct epoll_event event = {.events = EPOLLOUT | EPOLLET};
	int ends[2], epoll = epoll_create1(0);

	pipe2(ends, O_NONBLOCK);
	while (write(ends[1], page, sizeof(page)) > 0)
		;
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event);
	T(epoll_wait(epoll, &event, 1, 0));
	T(read(ends[0], page, sizeof(page)));
	T(epoll_wait(epoll, &event, 1, 0));
	T(epoll_wait(epoll, &event, 1, 0));
}

/* What ends select(2) is what its own sets ask for: a writer that is gone is nothing exceptional. */
SCENARIO(select_waits_for_what_its_sets_ask_for)
{
	struct timeval moment = {0, 50000}, none = {0, 0};
	struct timespec begin, end;
	int left[2], idle[2];
	fd_set in, out, except;

	pipe(left);
	pipe(idle);
	close(left[1]);
	FD_ZERO(&in);
	FD_ZERO(&except);
	FD_SET(idle[0], &in);
	FD_SET(left[0], &except);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	T(select(idle[1] + 1, &in, NULL, &except, &moment));
	clock_gettime(CLOCK_MONOTONIC, &end);
	show("waited", (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 40);
	FD_ZERO(&in);
	FD_SET(left[0], &in);
	T(select(idle[1] + 1, &in, NULL, NULL, &none));
	close(idle[0]);
	FD_ZERO(&out);
	FD_SET(idle[1], &out);
	in = except = out;
	T(select(idle[1] + 1, &in, &out, &except, &none));
	show("in", FD_ISSET(idle[1], &in));
	show("out", FD_ISSET(idle[1], &out));
	show("except", FD_ISSET(idle[1], &except));
}

SCENARIO(who_opens_a_fifo_later_misses_no_writer)
{
	struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};

	mkfifo("fifo", 0600);
	fds[0].fd = open("fifo", O_RDONLY | O_NONBLOCK);
	close(open("fifo", O_WRONLY));
	fds[1].fd = open("fifo", O_RDONLY | O_NONBLOCK);
	T(poll(fds, 2, 0));
	show("who saw the writer", fds[0].revents);
	show("who came later", fds[1].revents);
	close(open("fifo", O_WRONLY));
	T(poll(fds, 2, 0));
	show("who came later", fds[1].revents);
}

/* The time of a named one moves by what is read from it, not by finding nothing. */
SCENARIO(fifo_time_of_reading)
{
	const struct timespec long_ago[2] = {{1000, 0}, {2000, 0}};
	struct stat stat_now;
	char byte;

	mkfifo("fifo", 0600);
	int fd = open("fifo", O_RDWR | O_NONBLOCK);
	write(fd, "x", 1);
	for (int i = 0; i < 2; i++) {
		utimensat(AT_FDCWD, "fifo", long_ago, 0);
		T(read(fd, &byte, 1));
		stat("fifo", &stat_now);
		say("%s", stat_now.st_atime == 1000 ? "stays" : "moves");
	}
}
