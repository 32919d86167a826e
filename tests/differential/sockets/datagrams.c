/*
 * datagrams.c - scenarios of datagrams and of packets.
 */
#include "sockets.h"

SCENARIO(datagrams)
{
	int a = new_socket(SOCK_DGRAM), b = new_socket(SOCK_DGRAM), c = new_socket(SOCK_DGRAM);
	struct sockaddr_un from = {0};
	socklen_t length = sizeof(from);
	char buffer[16] = "";

	T(send(a, "x", 1, 0));
	T(send_to(a, "x", "b"));
	T(bind_to(b, "b"));
	show_poll(b);
	T(send_to(a, "unnamed", "b"));
	T(recvfrom(b, buffer, sizeof(buffer), 0, (struct sockaddr *)&from, &length));
	T(length);
	T(bind_to(a, "a"));
	T(send_to(a, "", "b"));
	T(send_to(a, "second", "b"));
	show_poll(b);
	length = sizeof(from);
	T(recvfrom(b, buffer, sizeof(buffer), 0, (struct sockaddr *)&from, &length));
	say("%d:%s", (int)length, from.sun_path);
	T(recv(b, buffer, 3, MSG_PEEK));
	T(recv(b, buffer, 3, MSG_PEEK | MSG_TRUNC));
	T(recv(b, buffer, 3, 0));
	show_read(b);
	T(connect_to(a, "b"));
	show_name(getpeername, a);
	T(send(a, "1", 1, 0));
	T(connect_to(b, "a"));
	T(send_to(c, "x", "b"));
	T(connect_to(c, "b"));
	T(send_to(b, "to myself", "b"));
	T(write(a, "", 0));
	show_read(b);
	show_read(b);
	T(send_to(a, "x", "none"));
	T(send_to(a, "x", "."));
	close(b);
	show_poll(a);
	T(send(a, "x", 1, 0));
	T(send(a, "x", 1, 0));
	show_name(getpeername, a);
	T(send_to(a, "x", "b"));
	T(sendto(a, "x", 1, 0, (void *)8, 10));
	T(sendto(a, "x", 1, 0, (struct sockaddr *)&address, 1));
	T(sendto(a, buffer, 300000, 0, (struct sockaddr *)&address, named("b")));
	T(listener(SOCK_SEQPACKET, "q", 1) > 0);
	T(send_to(a, "x", "q"));
}

SCENARIO(datagrams_disconnected)
{
	int a = new_socket(SOCK_DGRAM), b = new_socket(SOCK_DGRAM), pair[2];
	struct sockaddr nobody = {.sa_family = AF_UNSPEC};

	bind_to(a, "a");
	bind_to(b, "b");
	T(connect_to(a, "b"));
	T(connect_to(b, "a"));
	T(send(b, "lost", 4, 0));
	T(connect(a, &nobody, sizeof(nobody)));
	show_read(a);
	show_poll(b);
	show_read(b);
	show_read(b);
	T(send(a, "x", 1, 0));
	T(connect(a, &nobody, 1));
	T(connect(a, &nobody, sizeof(nobody)));
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	T(send(pair[0], "x", 1, 0));
	close(pair[0]);
	show_poll(pair[1]);
	show_read(pair[1]);
	show_read(pair[1]);
	T(send(pair[1], "x", 1, 0));
	T(shutdown(pair[1], SHUT_RDWR));
	T(recv(pair[1], &nobody, 1, 0));
	show_read(pair[1]);
	T(send(pair[1], "x", 1, 0));
	T(send_to(pair[1], "x", "b"));
	T(shutdown(b, SHUT_RD));
	catch_signal(SIGPIPE);
	T(send_to(a, "x", "b"));
	T(signals);
}

SCENARIO(datagram_queue_is_bounded)
{
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	int a = new_socket(SOCK_DGRAM), b = new_socket(SOCK_DGRAM), count = 0, status = -1;
	char buffer[4];

	bind_to(b, "b");
	connect_to(a, "b");
	while (send(a, "x", 1, MSG_DONTWAIT) == 1)
		count++;
	T(count);
	T(errno == EAGAIN);
	show_poll(a);
	catch_signal(SIGALRM);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(send(a, "x", 1, 0));
	pid_t child = fork();
	if (!child) {
		struct pollfd fd = {.fd = a, .events = POLLOUT};

		signal(SIGALRM, SIG_DFL); /* a signal would make it look again */
		alarm(15);
		if (poll(&fd, 1, -1) != 1 || fd.revents != POLLOUT)
			_exit(9);
		_exit(send(a, "y", 1, 0) == 1 && send_to(a, "z", "b") == 1 ? 0 : 1);
	}
	until_asleep(child);
	T(recv(b, buffer, 1, 0));
	until_asleep(child); /* it has sent one, and waits to send another */
	T(recv(b, buffer, 1, 0));
	T(waitpid(child, &status, 0) == child);
	T(status);
	while (recv(b, buffer, 1, MSG_DONTWAIT) == 1)
		count--;
	T(count);
	T(buffer[0]);
	show_poll(a);
}

SCENARIO(packets)
{
	char buffer[16] = "";
	struct iovec piece = {buffer, 4};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
	int fd = listener(SOCK_SEQPACKET, "s", 4), client = new_socket(SOCK_SEQPACKET), server;

	catch_signal(SIGPIPE);
	T(connect_to(client, "s"));
	server = accept(fd, NULL, NULL);
	show_poll(client);
	T(send(client, "first one", 9, 0));
	T(send(client, "two", 3, 0));
	T(recvmsg(server, &message, 0));
	T(message.msg_flags);
	show_read(server);
	T(send_to(client, "named", "nobody"));
	show_read(server);
	T(write(client, "", 0));
	show_read(server);
	show_read(server);
	T(send(client, "unread", 6, 0));
	T(send(server, "last", 4, 0));
	close(server);
	show_poll(client);
	show_read(client);
	show_read(client);
	show_read(client);
	T(send(client, "x", 1, 0));
	T(signals);
	close(client);
	client = new_socket(SOCK_SEQPACKET);
	connect_to(client, "s");
	T(send(client, "x", 1, 0));
	close(fd); /* and what waits to be accepted */
	show_poll(client);
	show_read(client);
	show_read(client);
}

/* Whom the other leaves need not wait for room in the queue, which is empty then. */
SCENARIO(datagram_sender_is_left)
{
	struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	static char block[1000];
	int pair[2], status = -1;

	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	while (send(pair[0], block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	pid_t child = fork();
	if (!child) {
		alarm(15);
		send(pair[0], block, sizeof(block), 0); /* sent or not: both happen on Linux */
		_exit(7);
	}
	until_asleep(child);
	T(connect(pair[1], &nobody, sizeof(nobody)));
	waitpid(child, &status, 0);
	say("%x", status);
}
