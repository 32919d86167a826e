/*
 * options.c - scenarios of what can be asked and set.
 */
#include "sockets.h"

SCENARIO(socket_options)
{
	int fd = new_socket(SOCK_SEQPACKET), value = 10000;
	socklen_t length = 2;

	T(option(fd, SO_TYPE));
	T(option(fd, SO_DOMAIN));
	T(option(fd, SO_PROTOCOL));
	T(option(fd, SO_ERROR));
	T(option(fd, SO_ACCEPTCONN));
	T(option(fd, SO_SNDBUF));
	T(option(fd, SO_RCVBUF));
	T(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value)));
	T(option(fd, SO_SNDBUF));
	value = 1;
	T(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value)));
	T(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value)));
	T(option(fd, SO_SNDBUF));
	T(option(fd, SO_RCVBUF));
	T(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, 3));
	T(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, -1));
	T(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, (void *)8, 4));
	T(setsockopt(fd, SOL_SOCKET, SO_TYPE, &value, 4));
	T(setsockopt(fd, SOL_SOCKET, 12345, &value, 4));
	T(option(fd, 12345));
	T(setsockopt(fd, 6, 1, &value, 4));
	T(getsockopt(fd, 6, 1, &value, &length));
	value = -1;
	T(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &length));
	T(value);
	T(length);
	length = (socklen_t)-1;
	T(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &length));
	T(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, (void *)8));
	length = 4;
	T(getsockopt(fd, SOL_SOCKET, SO_TYPE, (void *)8, &length));
}

/* What can be so or not, most of which means nothing to these sockets. */
SCENARIO(socket_flags)
{
	static const int flags[] = {SO_REUSEADDR, SO_BROADCAST, SO_KEEPALIVE, SO_PASSCRED};
	int fd = new_socket(SOCK_STREAM), value;

	for (int i = 0; i < 4; i++) {
		T(option(fd, flags[i]));
		value = 7;
		T(setsockopt(fd, SOL_SOCKET, flags[i], &value, sizeof(value)));
		T(option(fd, flags[i]));
		value = 0;
		T(setsockopt(fd, SOL_SOCKET, flags[i], &value, sizeof(value)));
		T(option(fd, flags[i]));
		T(setsockopt(fd, SOL_SOCKET, flags[i], &value, 1));
	}
}

/* ---- time-outs ------------------------------------------------------------------------------- */

static long set_timeout(int fd, int which, long seconds, long microseconds)
{
	struct timeval time = {seconds, microseconds};

	return setsockopt(fd, SOL_SOCKET, which, &time, sizeof(time));
}

static void show_timeout(int fd, int which, socklen_t room)
{
	struct timeval time = {-1, -1};

	T(getsockopt(fd, SOL_SOCKET, which, &time, &room));
	say("%d %ld.%06ld", (int)room, (long)time.tv_sec, (long)time.tv_usec);
}

SCENARIO(socket_timeouts_set_and_asked)
{
	int fd = new_socket(SOCK_STREAM);
	struct timeval time = {1, 0};

	show_timeout(fd, SO_RCVTIMEO, 16);
	T(set_timeout(fd, SO_RCVTIMEO, 3, 40000));
	T(set_timeout(fd, SO_SNDTIMEO, 0, 8000));
	show_timeout(fd, SO_RCVTIMEO, 16);
	show_timeout(fd, SO_SNDTIMEO, 100);
	show_timeout(fd, SO_RCVTIMEO, 8);
	T(set_timeout(fd, SO_RCVTIMEO, 0, 1000000));
	T(set_timeout(fd, SO_RCVTIMEO, 0, -1));
	T(set_timeout(fd, SO_RCVTIMEO, 0, INT64_MAX));
	T(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, 15));
	T(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, 4));
	T(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, (void *)8, 16));
	show_timeout(fd, SO_RCVTIMEO, 16);
	T(set_timeout(fd, SO_RCVTIMEO, -5, 7));
	show_timeout(fd, SO_RCVTIMEO, 16);
	T(set_timeout(fd, SO_RCVTIMEO, INT64_MAX, 999999));
	show_timeout(fd, SO_RCVTIMEO, 16);
	T(set_timeout(fd, SO_RCVTIMEO, 0, 0));
	show_timeout(fd, SO_RCVTIMEO, 16);
}

/* Does @call take as long as the time-out, and no longer than it has to? */
#define LASTS(call)                                                                                \
	do {                                                                                       \
		struct timespec begin, end;                                                        \
		clock_gettime(CLOCK_MONOTONIC, &begin);                                            \
		T(call);                                                                           \
		clock_gettime(CLOCK_MONOTONIC, &end);                                              \
		long ms = (end.tv_sec - begin.tv_sec) * 1000 +                                     \
			  (end.tv_nsec - begin.tv_nsec) / 1000000;                                 \
		say("%s", ms >= 39 && ms < 10000 ? "waited" : "did not wait");                     \
	} while (0)

SCENARIO(calls_time_out)
{
	char *block = calloc(1, BIG);
	int pair[2], fd = listener(SOCK_STREAM, "s", 0);

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	set_timeout(pair[0], SO_RCVTIMEO, 0, 40000);
	set_timeout(pair[0], SO_SNDTIMEO, 0, 40000);
	LASTS(recv(pair[0], block, 1, 0));
	LASTS(read(pair[0], block, 1));
	LASTS(recv(pair[0], block, 1, MSG_DONTWAIT));
	T(write(pair[1], "abc", 3));
	LASTS(recv(pair[0], block, 5, MSG_WAITALL));
	LASTS(write(pair[0], block, BIG) > 0);
	LASTS(write(pair[0], block, BIG));
	T(set_timeout(pair[0], SO_RCVTIMEO, -1, 0));
	LASTS(recv(pair[0], block, 1, 0));
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	set_timeout(pair[0], SO_RCVTIMEO, 0, 40000);
	set_timeout(pair[0], SO_SNDTIMEO, 0, 40000);
	LASTS(recv(pair[0], block, 1, 0));
	while (send(pair[0], block, 1000, MSG_DONTWAIT) == 1000)
		;
	LASTS(send(pair[0], block, 1000, 0));
	set_timeout(fd, SO_RCVTIMEO, 0, 40000);
	LASTS(accept(fd, NULL, NULL));
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	int client = new_socket(SOCK_STREAM);
	set_timeout(client, SO_SNDTIMEO, 0, 40000);
	LASTS(connect_to(client, "s"));
}

/* With a time-out a call is not begun anew after a signal, whatever its handler asks for. */
SCENARIO(timed_calls_are_not_begun_anew)
{
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	char buffer[8];
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	catch_signal(SIGALRM);
	siginterrupt(SIGALRM, 0);
	set_timeout(pair[0], SO_RCVTIMEO, 15, 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(recv(pair[0], buffer, 1, 0));
	T(signals);
	if (!fork()) {
		pause_ms(60);
		_exit(write(pair[1], "late", 4) != 4);
	}
	set_timeout(pair[0], SO_RCVTIMEO, 0, 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(recv(pair[0], buffer, 8, 0));
	T(signals);
	wait(NULL);
}
