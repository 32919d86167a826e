/*
 * limits.c - what a program may do to the kernel with Unix sockets and must not: use up memory,
 * descriptors or the kernel's stack, or leave behind what nobody can reach any more. Prints a line
 * for each part. All is let go at the end of each, by closing or by the end of the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static long send_file(int fd, int file)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), 0, SOL_SOCKET, SCM_RIGHTS}};
	struct iovec piece = {"x", 1};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	return sendmsg(fd, &message, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void pair_of(int *pair)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
		perror("socketpair");
		exit(1);
	}
}

/* What would be garbage: over itself, in a circle of three, and through a listener's queue. */
static void circles(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "circle"};
	int a[2], b[2], c[2], listener = socket(AF_UNIX, SOCK_STREAM, 0);
	int client = socket(AF_UNIX, SOCK_STREAM, 0);

	pair_of(a);
	pair_of(b);
	pair_of(c);
	printf("itself %ld", send_file(a[0], a[1]));
	printf(" other end %ld", send_file(a[0], a[0]));
	printf(" chain %ld %ld", send_file(a[0], b[1]), send_file(b[0], c[1]));
	printf(" circle %ld", send_file(c[0], a[1]));
	unlink("circle");
	if (bind(listener, (void *)&name, sizeof(name)) || listen(listener, 5) ||
	    connect(client, (void *)&name, sizeof(name)))
		perror("connect");
	printf(" listener %ld\n", send_file(client, listener));
}

/* One in the other, from the outside in, so that no look inwards finds it too deep: letting go of
 * the first lets all go. */
static void nested(int count)
{
	int outer[2], inner[2], made = 0;

	pair_of(outer);
	while (made < count) {
		pair_of(inner);
		if (send_file(outer[0], inner[1]))
			break;
		if (made)
			close(outer[1]);
		close(outer[0]);
		outer[0] = inner[0];
		outer[1] = inner[1];
		made++;
	}
	close(outer[1]);
	printf("nested %d\n", made);
}

/* From the inside out it ends soon. */
static void nested_inwards(void)
{
	int inner[2], outer[2], made = 0;

	pair_of(inner);
	for (; made < 20; made++) {
		pair_of(outer);
		if (send_file(outer[0], inner[1]))
			break;
		inner[1] = outer[1];
	}
	printf("inwards %d\n", made);
}

/* As many files under way as there may be, none with a descriptor. */
static void files_under_way(void)
{
	int pair[2], sent = 0, error = 0;

	for (int i = 0; i < 400 && error != -ETOOMANYREFS && error != -ENFILE; i++) {
		pair_of(pair);
		do {
			int file = open("/dev/null", O_RDONLY);

			if (file < 0) {
				error = -errno;
				break;
			}
			error = (int)send_file(pair[0], file);
			sent += !error;
			close(file);
		} while (!error);
	}
	printf("under way %d error %d\n", sent, error);
}

static void users_files_under_way(void)
{
	if (setuid(1000))
		_exit(1);
	files_under_way();
}

/* Queues filled until the kernel says no. */
static void memory(void)
{
	static char block[60000];
	int pair[2], error = 0, sockets = 0;
	long sent, bytes = 0;

	while (!error || error == EAGAIN) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
			error = errno;
			break;
		}
		sockets++;
		while ((sent = send(pair[0], block, sizeof(block), MSG_DONTWAIT)) > 0)
			bytes += sent;
		error = errno;
	}
	printf("memory %s after %d\n", error == ENOBUFS ? "ENOBUFS" : strerror(error),
	       sockets > 20);
	fprintf(stderr, "%ld bytes in %d pairs, %s\n", bytes, sockets, strerror(error));
}

/* Connections that nobody accepts: whose clients have gone keep no descriptor. */
static void unaccepted(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int error = 0, listeners = 0;

	for (; !error && listeners < 900; listeners++) {
		int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = 0;
		socklen_t length = sizeof(name);

		if (listener < 0 || bind(listener, (void *)&name, sizeof(name.sun_family)) ||
		    listen(listener, 4096) || getsockname(listener, (void *)&name, &length)) {
			error = errno;
			break;
		}
		for (int i = 0; i < 4096 && !error; i++) {
			client = socket(AF_UNIX, SOCK_STREAM, 0);
			if (client < 0 || connect(client, (void *)&name, length))
				error = errno;
			close(client);
		}
	}
	printf("unaccepted %s after %d\n", error == ENOMEM ? "ENOMEM" : strerror(error),
	       listeners > 2);
	fprintf(stderr, "%d listeners\n", listeners);
}

/* Descriptors, in the middle of a call that makes two. */
static void descriptors(void)
{
	struct rlimit few = {10, 10};
	int pair[2], error = 0, made = 0;

	setrlimit(RLIMIT_NOFILE, &few);
	for (; !error; made++)
		error = socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) ? errno : 0;
	printf("pairs %d error %d", made - 1, error);
	printf(" one more %d\n", socket(AF_UNIX, SOCK_DGRAM, 0) >= 0);
}

/* Many that talk and pass to each other at once, and are killed in the middle of it. */
static void torn_off(void)
{
	int ends[8][2], tosend;
	pid_t children[6];

	for (int i = 0; i < 8; i++)
		pair_of(ends[i]);
	for (int child = 0; child < 6; child++) {
		children[child] = fork();
		if (children[child])
			continue;
		srand((unsigned)child);
		for (;;) {
			char buffer[400], space[64];
			struct iovec piece = {buffer, sizeof(buffer)};
			struct msghdr message = {.msg_iov = &piece,
						 .msg_iovlen = 1,
						 .msg_control = space,
						 .msg_controllen = sizeof(space)};
			int pair[2], which = rand() % 8;

			pair_of(pair);
			tosend = rand() % 2 ? pair[0] : ends[rand() % 8][rand() % 2];
			send_file(ends[which][rand() % 2], tosend);
			send_file(pair[1], ends[rand() % 8][rand() % 2]);
			recvmsg(ends[which][rand() % 2], &message, MSG_DONTWAIT);
			close(pair[0]);
			close(pair[1]);
			for (int fd = 40; fd < 60; fd++)
				close(fd);
		}
	}
	usleep(300000);
	for (int child = 0; child < 6; child++)
		kill(children[child], SIGKILL);
	while (wait(NULL) > 0)
		;
	printf("torn off\n");
}

static void in_child(void (*part)(void))
{
	fflush(stdout);
	if (!fork()) {
		part();
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

static void deep(void)
{
	nested(3000);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) { /* what a user may have of it, in a machine that has as many files */
		in_child(users_files_under_way);
		return 0;
	}
	in_child(circles);
	in_child(deep);
	in_child(nested_inwards);
	in_child(files_under_way);
	in_child(memory);
	in_child(unaccepted);
	in_child(descriptors);
	in_child(torn_off);
	return 0;
}
