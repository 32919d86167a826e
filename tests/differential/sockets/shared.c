/*
 * shared.c - what scenarios of sockets share. See sockets.h.
 */
#include "sockets.h"

struct sockaddr_un address;

socklen_t named(const char *name)
{
	size_t length = strlen(name);

	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, name, length);
	if (*name == '@')
		address.sun_path[0] = 0;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (*name != '@'));
}

int bind_to(int fd, const char *name)
{
	socklen_t length = named(name);

	return bind(fd, (struct sockaddr *)&address, length);
}

int connect_to(int fd, const char *name)
{
	socklen_t length = named(name);

	return connect(fd, (struct sockaddr *)&address, length);
}

long send_to(int fd, const char *text, const char *name)
{
	socklen_t length = named(name);

	return sendto(fd, text, strlen(text), 0, (struct sockaddr *)&address, length);
}

int new_socket(int type)
{
	return socket(AF_UNIX, type, 0);
}

int listener(int type, const char *name, int backlog)
{
	int fd = new_socket(type);

	if (bind_to(fd, name) || listen(fd, backlog))
		say("%s", "no listener");
	return fd;
}

void show_name(int (*ask)(int, struct sockaddr *, socklen_t *), int fd)
{
	struct sockaddr_un name = {0};
	socklen_t length = sizeof(name);

	if (ask(fd, (struct sockaddr *)&name, &length))
		show("name", -1);
	else if (name.sun_path[0])
		say("%d:%s", (int)length, name.sun_path);
	else
		say("%d:@%s", (int)length, name.sun_path + 1);
}

void show_poll(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP};

	poll(&poll_fd, 1, 0);
	say("poll=%#x", poll_fd.revents);
}

void show_read(int fd)
{
	char buffer[64] = "";
	long n = recv(fd, buffer, sizeof(buffer) - 1, MSG_DONTWAIT);

	if (n < 0)
		show("recv", n);
	else
		say("recv=%ld:%s", n, buffer);
}

long option(int fd, int which)
{
	int value = -1;
	socklen_t length = sizeof(value);
	int result = getsockopt(fd, SOL_SOCKET, which, &value, &length);

	return result ? result : value;
}

volatile int signals;

static void on_signal(int signo)
{
	(void)signo;
	signals++;
}

void catch_signal(int signo)
{
	struct sigaction action = {.sa_handler = on_signal};

	signals = 0;
	sigaction(signo, &action, NULL);
}

long raw_sendmsg(int fd, const struct msghdr *message)
{
	return syscall(SYS_sendmsg, fd, message, 0);
}

long raw_recvmsg(int fd, struct msghdr *message)
{
	return syscall(SYS_recvmsg, fd, message, 0);
}
