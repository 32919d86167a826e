/*
 * passing.c - scenarios of what is passed along: open files, and who sent a message.
 */
#include "sockets.h"

union control {
	struct cmsghdr header;
	char space[1024 + 256];
};

static long send_files(int fd, const int *files, int count, int flags)
{
	static union control control;
	struct iovec piece = {"data", 4};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int))};

	control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN((size_t)count * sizeof(int)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), files, (size_t)count * sizeof(int));
	return sendmsg(fd, &message, flags);
}

static long send_file(int fd, int file)
{
	return send_files(fd, &file, 1, 0);
}

static const char *who_is(pid_t pid)
{
	if (pid == getpid())
		return "me";
	return pid ? "other" : "none";
}

/* Receive with room for so many bytes of control data, and show what came. */
static int receive(int fd, size_t room, size_t bytes, int flags)
{
	static union control control;
	char buffer[64];
	struct iovec piece = {buffer, bytes};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = room};
	long n = recvmsg(fd, &message, flags | MSG_DONTWAIT);
	int file = -1;

	if (n < 0) {
		show("recvmsg", n);
		return -1;
	}
	say("got %ld flags %#x control %d", n, message.msg_flags, (int)message.msg_controllen);
	for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at; at = CMSG_NXTHDR(&message, at)) {
		say("type %d length %d", at->cmsg_type, (int)at->cmsg_len);
		if (at->cmsg_type == SCM_RIGHTS)
			memcpy(&file, CMSG_DATA(at), sizeof(file));
		if (at->cmsg_type == 2) {
			struct ucred sender;

			memcpy(&sender, CMSG_DATA(at), sizeof(sender));
			say("%s %d %d", who_is(sender.pid), (int)sender.uid, (int)sender.gid);
		}
	}
	return file;
}

SCENARIO(files_are_passed)
{
	int pair[2], file, got;

	make_file("f", "contents");
	file = open("f", O_RDONLY);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(send_file(pair[0], file));
	T(lseek(file, 3, SEEK_SET));
	T(close(file));
	got = receive(pair[1], 64, 64, 0);
	T(got);
	T(fcntl(got, F_GETFD));
	show_read(got);
	char text[9] = "";
	T(read(got, text, 8));
	say("%s", text);
	T(send_file(pair[0], got));
	file = receive(pair[1], 64, 64, MSG_CMSG_CLOEXEC);
	T(fcntl(file, F_GETFD));
	T(send_file(pair[0], 99));
	T(send_file(pair[0], -1));
	T(send_file(pair[0], open("f", O_PATH)));
	receive(pair[1], 64, 64, 0);
	T(send_files(pair[0], (int[]){0, 1, 2}, 3, 0));
	receive(pair[1], CMSG_LEN(2 * sizeof(int)), 64, 0);
	T(send_file(pair[0], 0));
	receive(pair[1], CMSG_LEN(0), 64, 0);
	T(send_file(pair[0], 0));
	receive(pair[1], 10, 64, 0);
	T(send_file(pair[0], 0));
	receive(pair[1], 0, 64, 0);
	T(send_file(pair[0], 0));
	show_read(pair[1]);
	T(dup(0));
}

SCENARIO(files_end_a_read)
{
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	write(pair[0], "plain", 5);
	send_file(pair[0], 0);
	send_file(pair[0], 1);
	write(pair[0], "plain", 5);
	receive(pair[1], 64, 64, MSG_PEEK);
	receive(pair[1], 64, 64, MSG_PEEK);
	receive(pair[1], 64, 64, 0);
	receive(pair[1], 64, 2, 0);
	receive(pair[1], 64, 64, 0);
	receive(pair[1], 64, 64, 0);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	send_file(pair[0], 0);
	send_file(pair[0], 0);
	receive(pair[1], 64, 64, MSG_PEEK);
	receive(pair[1], 64, 2, 0);
	receive(pair[1], 64, 2, MSG_TRUNC);
	receive(pair[1], 64, 2, 0);
	send_file(pair[0], 0);
	close(pair[0]);
	receive(pair[1], 64, 64, 0);
	struct rlimit few = {8, 8};
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	send_files(pair[0], (int[]){0, 1, 2, 0, 1, 2, 0, 1, 2, 0}, 10, 0);
	setrlimit(RLIMIT_NOFILE, &few);
	receive(pair[1], 256, 64, 0);
}

/* Two lots of files in one message are one when they come. */
SCENARIO(files_in_two_lots)
{
	static union control control;
	struct cmsghdr *lot = &control.header;
	struct iovec piece = {"data", 4};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = 2 * CMSG_SPACE(2 * sizeof(int))};
	int pair[2];

	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	for (int i = 0; i < 2; i++, lot = CMSG_NXTHDR(&message, lot)) {
		lot->cmsg_len = CMSG_LEN(2 * sizeof(int));
		lot->cmsg_level = SOL_SOCKET;
		lot->cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(lot), (int[]){i, pair[0]}, 2 * sizeof(int));
		if (!i)
			((struct cmsghdr *)((char *)lot + CMSG_SPACE(2 * sizeof(int))))->cmsg_len =
				CMSG_LEN(2 * sizeof(int));
	}
	T(sendmsg(new_socket(SOCK_SEQPACKET), &message, 0));
	T(sendmsg(pair[0], &message, 0));
	receive(pair[1], 256, 64, 0);
	T(dup(0));
}

SCENARIO(control_data_is_checked)
{
	static union control control;
	struct iovec piece = {"data", 4};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control};
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	control.header = (struct cmsghdr){.cmsg_len = 4, .cmsg_level = SOL_SOCKET, .cmsg_type = 1};
	message.msg_controllen = 20;
	T(raw_sendmsg(pair[0], &message));
	control.header.cmsg_len = 24;
	T(raw_sendmsg(pair[0], &message));
	message.msg_controllen = 15;
	T(raw_sendmsg(pair[0], &message));
	control.header.cmsg_len = 16;
	message.msg_controllen = 16;
	T(raw_sendmsg(pair[0], &message));
	control.header.cmsg_type = 9;
	T(raw_sendmsg(pair[0], &message));
	control.header.cmsg_level = 9;
	T(raw_sendmsg(pair[0], &message));
	control.header = (struct cmsghdr){.cmsg_len = 20, .cmsg_level = SOL_SOCKET, .cmsg_type = 2};
	message.msg_controllen = 20;
	T(raw_sendmsg(pair[0], &message));
	message.msg_control = (void *)8;
	T(raw_sendmsg(pair[0], &message));
	message.msg_iovlen = 2000;
	T(raw_sendmsg(pair[0], &message));
	for (int count = 253; count <= 254; count++) {
		control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN((size_t)count * sizeof(int)),
						  .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS};
		memset(CMSG_DATA(&control.header), 0, (size_t)count * sizeof(int));
		message = (struct msghdr){.msg_iov = &piece,
					  .msg_iovlen = 1,
					  .msg_control = &control,
					  .msg_controllen = control.header.cmsg_len};
		T(raw_sendmsg(pair[0], &message));
	}
	message = (struct msghdr){.msg_iov = (void *)8, .msg_iovlen = 1};
	T(raw_sendmsg(pair[0], &message));
	T(raw_recvmsg(pair[0], &message));
	message = (struct msghdr){.msg_name = &address, .msg_namelen = (socklen_t)-1};
	T(raw_sendmsg(pair[0], &message));
	T(raw_recvmsg(pair[0], &message));
}

SCENARIO(who_sent_it)
{
	struct ucred who = {1, 2, 3};
	socklen_t length = sizeof(who);
	int pair[2], one = 1;

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(getsockopt(new_socket(SOCK_STREAM), SOL_SOCKET, SO_PEERCRED, &who, &length));
	say("%d %d %d", who.pid, (int)who.uid, (int)who.gid);
	T(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &who, &length));
	say("%s %d %d", who.pid == getpid() ? "me" : "other", (int)who.uid, (int)who.gid);
	T(option(pair[1], SO_PASSCRED));
	T(send(pair[0], "before", 6, 0));
	T(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)));
	T(option(pair[1], SO_PASSCRED));
	T(send(pair[0], "after", 5, 0));
	AS(USER_A)
	T(send(pair[0], "user", 4, 0));
	receive(pair[1], 64, 64, 0);
	receive(pair[1], 64, 64, 0);
	receive(pair[1], 20, 64, 0);
	send_file(pair[0], 0);
	receive(pair[1], 64, 64, 0);
	send_file(pair[0], 0);
	receive(pair[1], 32, 64, 0);
	show_name(getsockname, pair[0]);
	int fd = listener(SOCK_STREAM, "s", 4);
	chmod("s", 0666);
	AS(USER_A)
	{
		int client = new_socket(SOCK_STREAM);

		T(connect_to(client, "s"));
		T(getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &length));
		say("%d %d", (int)who.uid, (int)who.gid);
	}
	T(getsockopt(accept(fd, NULL, NULL), SOL_SOCKET, SO_PEERCRED, &who, &length));
	say("%d %d", (int)who.uid, (int)who.gid);
	fd = new_socket(SOCK_DGRAM);
	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one));
	T(connect_to(fd, "none"));
	length = sizeof(address);
	T(getsockname(fd, (struct sockaddr *)&address, &length));
	T(length);
}

SCENARIO(sender_is_told)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(struct ucred)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = 2}};
	struct iovec piece = {"data", 4};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct ucred *told = (struct ucred *)CMSG_DATA(&control.header);
	int pair[2], one = 1;

	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one));
	*told = (struct ucred){getpid(), 5, 6};
	T(sendmsg(pair[0], &message, 0));
	receive(pair[1], 64, 64, 0);
	AS(USER_A)
	{
		T(sendmsg(pair[0], &message, 0));
		*told = (struct ucred){getpid(), USER_A, USER_A};
		T(sendmsg(pair[0], &message, 0));
		told->gid = 0;
		T(sendmsg(pair[0], &message, 0));
		*told = (struct ucred){1, USER_A, USER_A};
		T(sendmsg(pair[0], &message, 0));
	}
	receive(pair[1], 64, 64, 0);
	receive(pair[1], 64, 64, 0);
}

/* Who listens says it for all that he accepts; what was sent before then is told, too. */
SCENARIO(sender_is_told_to_the_accepted)
{
	int fd = listener(SOCK_STREAM, "s", 4), client = new_socket(SOCK_STREAM), server, one = 1;

	T(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)));
	T(connect_to(client, "s"));
	T(send(client, "early", 5, 0));
	server = accept(fd, NULL, NULL);
	T(option(server, SO_PASSCRED));
	receive(server, 64, 64, 0);
	T(send(client, "late", 4, 0));
	receive(server, 64, 64, 0);
	T(option(client, SO_PASSCRED));
}

/* Sockets over sockets: the message outlives both ends that sent it. */
SCENARIO(sockets_are_passed)
{
	int pair[2], inner[2], fd = listener(SOCK_STREAM, "s", 4), got;

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	socketpair(AF_UNIX, SOCK_STREAM, 0, inner);
	T(send_file(inner[0], 0));
	T(send_file(pair[0], inner[1]));
	close(inner[1]);
	T(send(inner[0], "more", 4, 0));
	got = receive(pair[1], 64, 64, 0);
	T(got);
	receive(got, 64, 4, 0);
	show_read(got);
	T(send_file(pair[0], got));
	close(got);
	close(pair[0]);
	close(pair[1]);
	show_poll(inner[0]);
	show_read(inner[0]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(send_file(pair[0], fd));
	close(fd);
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	close(pair[0]);
	got = receive(pair[1], 64, 64, 0);
	T(accept(got, NULL, NULL));
}

SCENARIO(file_whose_number_cannot_be_told_is_not_open)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char buffer[4];
	struct iovec piece = {buffer, sizeof(buffer)};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = page + 4096 - sizeof(struct cmsghdr),
				 .msg_controllen = CMSG_LEN(sizeof(int))};
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(send_file(pair[0], 0));
	munmap(page + 4096, 4096);
	T(recvmsg(pair[1], &message, 0));
	say("flags %#x control %d", message.msg_flags, (int)message.msg_controllen);
	T(dup(0));
}

/* All of a stream that one call sends is from who it says, however many pieces there are. */
SCENARIO(a_long_stream_is_of_one_sender)
{
	const int one = 1, size = 40000;
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(struct ucred)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_CREDENTIALS}};
	struct ucred who = {getpid(), 5, 6}, told;
	struct iovec piece = {calloc(1, size), size};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int pair[2], others = 0, got = 0;

	T(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	T(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)));
	memcpy(CMSG_DATA(&control.header), &who, sizeof(who));
	T(sendmsg(pair[0], &message, 0));
	while (got < size) {
		message.msg_controllen = sizeof(control);
		got += (int)recvmsg(pair[1], &message, 0);
		memcpy(&told, CMSG_DATA(&control.header), sizeof(told));
		others += told.uid != 5 || told.gid != 6;
	}
	say("%d bytes, of others %d", got, others);
}
