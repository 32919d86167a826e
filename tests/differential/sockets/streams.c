/*
 * streams.c - scenarios of connections: how they are made, what flows, how they end.
 */
#include "sockets.h"

SCENARIO(connect_and_accept)
{
	struct sockaddr_un name = {0};
	socklen_t length = sizeof(name);
	int fd = new_socket(SOCK_STREAM), client = new_socket(SOCK_STREAM), server;

	T(listen(fd, 5));
	T(accept(fd, NULL, NULL));
	T(bind_to(fd, "s"));
	T(connect_to(client, "s"));
	T(option(fd, SO_ACCEPTCONN));
	T(listen(fd, 5));
	T(option(fd, SO_ACCEPTCONN));
	show_poll(fd);
	T(bind_to(client, "client"));
	T(connect_to(client, "s"));
	show_poll(fd);
	show_poll(client);
	T(connect_to(client, "s"));
	T(connect_to(fd, "s"));
	T(listen(client, 1));
	T(send(client, "early", 5, 0));
	server = accept4(fd, (struct sockaddr *)&name, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
	T(server);
	say("%d:%s", (int)length, name.sun_path);
	T(fcntl(server, F_GETFD));
	T(fcntl(server, F_GETFL));
	show_name(getsockname, server);
	show_name(getpeername, server);
	show_name(getpeername, client);
	show_read(server);
	show_read(server);
	T(send(server, "back", 4, 0));
	show_read(client);
	T(send(fd, "x", 1, 0));
	show_read(fd);
	T(fcntl(fd, F_SETFL, O_NONBLOCK));
	T(accept(fd, NULL, NULL));
	T(shutdown(fd, SHUT_RD));
	T(accept(fd, NULL, NULL));
	T(fcntl(fd, F_SETFL, 0));
	T(accept(fd, NULL, NULL));
	show_poll(fd);
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	T(connect_to(new_socket(SOCK_DGRAM), "s"));
	T(connect_to(new_socket(SOCK_SEQPACKET), "s"));
	T(accept(client, NULL, NULL));
	T(accept(new_socket(SOCK_DGRAM), NULL, NULL));
	T(listen(new_socket(SOCK_DGRAM), 1));
}

SCENARIO(connect_errors)
{
	int fd = new_socket(SOCK_STREAM);

	make_file("f", "x");
	make_directory("d");
	T(connect_to(fd, "none"));
	T(connect_to(fd, "f"));
	T(connect_to(fd, "d"));
	T(connect_to(fd, "f/x"));
	T(connect_to(fd, "@nobody-is-there"));
	named("f");
	T(connect(fd, (struct sockaddr *)&address, 2));
	T(connect(fd, (struct sockaddr *)&address, 0));
	T(connect(fd, (void *)8, 10));
	T(connect(fd, (struct sockaddr *)&address, 200));
	address.sun_family = AF_UNSPEC;
	T(connect(fd, (struct sockaddr *)&address, 10));
	show_poll(fd);
	T(send(fd, "x", 1, MSG_NOSIGNAL));
	show_read(fd);
	show_name(getpeername, fd);
	fd = new_socket(SOCK_SEQPACKET);
	T(send(fd, "x", 1, MSG_NOSIGNAL));
	show_read(fd);
	show_poll(fd);
	T(shutdown(fd, SHUT_RDWR));
	T(shutdown(fd, 3));
	T(shutdown(fd, -1));
	show_poll(fd);
}

SCENARIO(full_backlog)
{
	int fd = listener(SOCK_STREAM, "s", 1);

	T(connect_to(new_socket(SOCK_STREAM), "s"));
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	T(connect_to(new_socket(SOCK_STREAM | SOCK_NONBLOCK), "s"));
	if (!fork()) {
		usleep(20000);
		_exit(accept(fd, NULL, NULL) < 0);
	}
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	wait(NULL);
	T(listen(fd, 2));
	T(connect_to(new_socket(SOCK_STREAM | SOCK_NONBLOCK), "s"));
	T(connect_to(new_socket(SOCK_STREAM | SOCK_NONBLOCK), "s"));
	catch_signal(SIGALRM);
	fd = listener(SOCK_STREAM, "t", 1);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 20000}}, NULL);
	T(accept(fd, NULL, NULL));
	T(signals);
}

SCENARIO(stream_ends)
{
	int pair[2];

	catch_signal(SIGPIPE);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(write(pair[0], "last", 4));
	close(pair[0]);
	show_poll(pair[1]);
	show_read(pair[1]);
	show_read(pair[1]);
	T(send(pair[1], "x", 1, MSG_NOSIGNAL));
	T(signals);
	T(write(pair[1], "x", 1));
	T(signals);
	T(option(pair[1], SO_ERROR));
	close(pair[1]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(write(pair[0], "unread", 6));
	T(write(pair[1], "still", 5));
	close(pair[1]); /* what was not read is known to be lost */
	show_poll(pair[0]);
	show_read(pair[0]);
	show_read(pair[0]);
	show_read(pair[0]);
	T(write(pair[0], "x", 1));
	T(signals);
	close(pair[0]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(write(pair[0], "unread", 6));
	close(pair[1]);
	T(option(pair[0], SO_ERROR));
	T(option(pair[0], SO_ERROR));
	show_read(pair[0]);
}

SCENARIO(stream_shut_down)
{
	int pair[2];

	catch_signal(SIGPIPE);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(write(pair[0], "first", 5));
	T(shutdown(pair[0], SHUT_WR));
	T(write(pair[0], "x", 1));
	T(signals);
	show_poll(pair[0]);
	show_poll(pair[1]);
	show_read(pair[1]);
	show_read(pair[1]);
	T(write(pair[1], "back", 4));
	show_read(pair[0]);
	T(shutdown(pair[0], SHUT_RD));
	show_read(pair[0]);
	T(write(pair[1], "x", 1));
	T(signals);
	show_poll(pair[0]);
	show_poll(pair[1]);
	T(shutdown(pair[1], SHUT_RDWR));
	close(pair[0]);
	close(pair[1]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(write(pair[1], "there", 5));
	T(shutdown(pair[0], SHUT_RD));
	show_read(pair[0]);
	show_read(pair[0]);
	T(write(pair[1], "x", 1));
}

SCENARIO(stream_flags)
{
	char buffer[16] = "";
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	show_poll(pair[0]);
	T(recv(pair[0], buffer, 4, MSG_DONTWAIT));
	T(recv(pair[0], buffer, 0, MSG_DONTWAIT));
	T(send(pair[1], "abc", 3, 0));
	T(send(pair[1], "def", 3, 0));
	T(recv(pair[0], buffer, 2, MSG_PEEK));
	T(recv(pair[0], buffer, 9, MSG_PEEK));
	say("%s", buffer);
	T(recv(pair[0], buffer, 4, MSG_TRUNC));
	T(recv(pair[0], buffer, 4, MSG_DONTWAIT | MSG_WAITALL));
	T(recv(pair[0], buffer, 4, MSG_OOB));
	if (!fork()) {
		write(pair[1], "12", 2);
		usleep(20000);
		write(pair[1], "345", 3);
		_exit(0);
	}
	T(recv(pair[0], buffer, 4, MSG_WAITALL));
	wait(NULL);
	show_read(pair[0]);
	if (!fork()) {
		write(pair[1], "12", 2);
		_exit(0);
	}
	wait(NULL);
	shutdown(pair[1], SHUT_WR);
	T(recv(pair[0], buffer, 4, MSG_WAITALL));
	T(recv(pair[0], buffer, 4, MSG_WAITALL));
	T(sendto(pair[0], "x", 1, 0, (struct sockaddr *)&address, named("s")));
	T(sendto(new_socket(SOCK_STREAM), "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&address,
		 named("s")));
}

/* More than the buffer holds: the writer waits, and all arrives. */
SCENARIO(stream_of_a_megabyte)
{
	static char block[7000];
	size_t total = 0;
	long n, wrong = 0;
	int pair[2], status;

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	if (!fork()) {
		close(pair[0]);
		for (int i = 0; i < 150; i++) {
			memset(block, i, sizeof(block));
			if (write(pair[1], block, sizeof(block)) != sizeof(block))
				_exit(1);
		}
		_exit(0);
	}
	close(pair[1]);
	while ((n = read(pair[0], block, 4096)) > 0)
		for (long i = 0; i < n; i++, total++)
			wrong += block[i] != (char)(total / sizeof(block));
	say("total=%zu wrong=%ld n=%ld", total, wrong, n);
	wait(&status);
	T(status);
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
	for (n = 1, total = 0; n > 0; total += n > 0 ? (size_t)n : 0)
		n = write(pair[0], block, sizeof(block));
	T(n);
	T(total > 65536 && total < 1 << 20);
	while ((n = read(pair[1], block, sizeof(block))) > 0)
		total -= (size_t)n;
	T(total);
	show_poll(pair[0]);
}

SCENARIO(writer_is_interrupted)
{
	char *block = calloc(1, BIG);
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	int pair[2];
	long n;

	catch_signal(SIGALRM);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	setitimer(ITIMER_REAL, &soon, NULL);
	n = write(pair[0], block, BIG);
	T(n > 4096 && n < BIG);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(write(pair[0], block, BIG));
	T(signals);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(read(pair[0], block, 1));
}

/* poll(2) tells of room when three quarters are free; a write needs some. */
SCENARIO(stream_that_is_half_full)
{
	static char block[4096];
	long total = 0, n;
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
	while ((n = write(pair[0], block, sizeof(block))) > 0)
		total += n;
	show_poll(pair[0]);
	for (long left = total; left > total / 2; left -= n)
		n = read(pair[1], block, sizeof(block));
	show_poll(pair[0]);
	T(write(pair[0], "x", 1));
	for (long left = total / 2; left > total / 8; left -= n)
		n = read(pair[1], block, sizeof(block));
	show_poll(pair[0]);
}

/* ---- who waits, and what ends that ----------------------------------------------------------- */

/* Fork; the parent goes on when the child sleeps, the child with what it waits in. */
static pid_t sleeper(void)
{
	pid_t child = fork();

	if (child > 0)
		until_asleep(child);
	return child;
}

SCENARIO(waits_that_are_ended)
{
	char *block = calloc(1, BIG);
	int pair[2], fd = listener(SOCK_STREAM, "s", 0), client;

	catch_signal(SIGPIPE);
	if (!sleeper()) {
		T(accept(fd, NULL, NULL));
		_exit(0);
	}
	shutdown(fd, SHUT_RD);
	wait(NULL);
	close(fd);
	unlink("s");
	fd = listener(SOCK_STREAM, "s", 0);
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	client = new_socket(SOCK_STREAM);
	if (!sleeper()) {
		close(fd);
		T(connect_to(client, "s"));
		_exit(0);
	}
	close(fd);
	wait(NULL);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	if (!sleeper()) {
		close(pair[1]);
		T(recv(pair[0], block, 1, 0));
		T(write(pair[0], block, 1));
		_exit(0);
	}
	close(pair[1]);
	wait(NULL);
	close(pair[0]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	if (!sleeper()) {
		close(pair[1]);
		T(write(pair[0], block, BIG) > 0);
		T(write(pair[0], block, BIG));
		T(write(pair[0], block, BIG));
		_exit(0);
	}
	close(pair[1]);
	wait(NULL);
	close(pair[0]);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	if (!sleeper()) {
		struct pollfd poll_fd = {.fd = pair[0], .events = POLLIN};

		T(poll(&poll_fd, 1, -1));
		T(poll_fd.revents);
		T(recv(pair[0], block, 1, 0));
		_exit(0);
	}
	shutdown(pair[1], SHUT_WR);
	wait(NULL);
}

/* The same of who sends: a full queue, a message, and what the other does to him who waits. */
static void send_into_full(int type, const char *what, int do_it(int fd))
{
	char *block = calloc(1, BIG);
	int pair[2], wanted = type == SOCK_STREAM ? BIG : 1000;

	say("%s", what);
	socketpair(AF_UNIX, type, 0, pair);
	while (send(pair[0], block, (size_t)wanted, MSG_DONTWAIT) > 0)
		;
	pid_t child = sleeper();
	if (!child) {
		close(pair[1]);
		T(send(pair[0], block, 100, 0));
		T(option(pair[0], SO_ERROR));
		_exit(0);
	}
	if (do_it(pair[1]) < 0) /* to the sender's own end */
		shutdown(pair[0], SHUT_WR);
	waitpid(child, NULL, 0);
	close(pair[0]);
	free(block);
}

static int shut_it_down(int fd)
{
	return shutdown(fd, SHUT_RD);
}

static int leave_it(int fd)
{
	(void)fd;
	return -1;
}

static int read_all(int fd)
{
	char *block = calloc(1, BIG);

	while (recv(fd, block, BIG, MSG_DONTWAIT) > 0)
		;
	free(block);
	return 0;
}

SCENARIO(senders_that_wait)
{
	catch_signal(SIGPIPE);
	for (int i = 0; i < 3; i++) {
		static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

		send_into_full(types[i], "closed", close);
		if (types[i] != SOCK_DGRAM) /* there Linux wakes nobody */
			send_into_full(types[i], "shut", shut_it_down);
		send_into_full(types[i], "own end", leave_it);
		send_into_full(types[i], "read", read_all);
	}
}

/* What takes all of a piece, and then refuses it, ends a copy. */
SCENARIO(a_copy_into_a_full_stream)
{
	char *block = calloc(1, BIG);
	int pair[2], file = open("copied", O_CREAT | O_RDWR, 0600);
	off_t at = 0;
	long copied = 0, n;

	T(write(file, block, 4096));
	T(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	while (send(pair[0], block, 4096, 0) > 0)
		;
	T(sendfile(pair[0], file, &at, 4096));
	T(at);
	while ((n = recv(pair[1], block, BIG, 0)) > 0)
		copied += n;
	T(sendfile(pair[0], file, &at, 4096));
	T(at);
	close(pair[1]);
	at = 0;
	signal(SIGPIPE, SIG_IGN);
	T(sendfile(pair[0], file, &at, 4096));
	free(block);
}
