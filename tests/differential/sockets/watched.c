/*
 * watched.c - scenarios of sockets that are watched by epoll(7).
 */
#include "sockets.h"

#include <sys/epoll.h>

static void watch(int ep, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events};

	T(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event));
}

/* The event there is now. */
static void look(int ep)
{
	struct epoll_event event = {0};
	int n = epoll_wait(ep, &event, 1, 0);

	say("[%d:%x]", n, n == 1 ? event.events : 0);
}

SCENARIO(stream_edges)
{
	int ep = epoll_create1(0), pair[2];
	char buffer[8];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	watch(ep, pair[0], EPOLLIN | EPOLLRDHUP | EPOLLET);
	look(ep);
	T(write(pair[1], "abc", 3));
	look(ep);
	look(ep);
	T(read(pair[0], buffer, 1));
	look(ep);
	T(write(pair[1], "def", 3));
	look(ep);
	T(read(pair[0], buffer, 8));
	look(ep);
	T(write(pair[0], "back", 4));
	look(ep);
	T(shutdown(pair[1], SHUT_WR));
	look(ep);
	look(ep);
	close(pair[1]);
	look(ep);
	look(ep);
}

SCENARIO(room_is_an_edge)
{
	char *block = calloc(1, BIG);
	int ep = epoll_create1(0), pair[2];

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair);
	watch(ep, pair[0], EPOLLOUT | EPOLLET);
	look(ep);
	look(ep);
	T(write(pair[0], block, BIG) > 0);
	T(write(pair[0], block, BIG));
	look(ep);
	T(read(pair[1], block, 4096));
	look(ep);
	T(read(pair[1], block, BIG) > 4096);
	look(ep);
	look(ep);
}

SCENARIO(connections_are_edges)
{
	int ep = epoll_create1(0), fd = listener(SOCK_STREAM, "s", 4);

	watch(ep, fd, EPOLLIN | EPOLLET);
	look(ep);
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	look(ep);
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	look(ep);
	T(accept(fd, NULL, NULL) > 0);
	look(ep);
	T(accept(fd, NULL, NULL) > 0);
	look(ep);
	T(shutdown(fd, SHUT_RD));
	look(ep);
}

SCENARIO(datagrams_watched)
{
	int ep = epoll_create1(0), a = new_socket(SOCK_DGRAM), b = new_socket(SOCK_DGRAM);
	char buffer[4];

	bind_to(b, "b");
	watch(ep, b, EPOLLIN);
	look(ep);
	T(send_to(a, "x", "b"));
	look(ep);
	look(ep);
	T(recv(b, buffer, 1, 0));
	look(ep);
	close(ep);
	ep = epoll_create1(0);
	connect_to(a, "b");
	watch(ep, a, EPOLLOUT | EPOLLET);
	look(ep);
	while (send(a, "x", 1, MSG_DONTWAIT) == 1)
		;
	look(ep);
	T(recv(b, buffer, 1, 0));
	look(ep);
	look(ep);
	close(b);
	look(ep);
}
