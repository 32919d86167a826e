/*
 * names.c - scenarios of making sockets, and of the names they are bound to.
 */
#include "sockets.h"

SCENARIO(socket_kinds)
{
	int pair[2];

	T(socket(AF_UNIX, SOCK_STREAM, 0));
	T(socket(AF_UNIX, SOCK_DGRAM, 1));
	T(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	T(fcntl(5, F_GETFD));
	T(fcntl(5, F_GETFL));
	T(option(socket(AF_UNIX, SOCK_RAW, 0), SO_TYPE));
	T(socket(AF_UNIX, SOCK_RDM, 0));
	T(socket(AF_UNIX, SOCK_STREAM, 2));
	T(socket(AF_UNIX, 0, 0));
	T(socket(AF_UNIX, 12, 0));
	T(socket(AF_UNIX, SOCK_STREAM | 0x100, 0));
	T(socket(-1, SOCK_STREAM, 0));
	T(socket(47, SOCK_STREAM, 0));
	T(socket(AF_UNSPEC, SOCK_STREAM, 0));
	T(socketpair(AF_UNIX, SOCK_RDM, 0, pair));
	T(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, 8));
	T(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	T(pair[0]);
	T(fcntl(pair[1], F_GETFD));
}

SCENARIO(socket_as_file)
{
	char link[64] = "", name[32];
	struct stat status;
	int fd = new_socket(SOCK_STREAM), pair[2];

	T(fstat(fd, &status));
	say("mode=%o links=%d size=%d", status.st_mode, (int)status.st_nlink, (int)status.st_size);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	readlink(name, link, sizeof(link) - 1);
	say("%.8s", link);
	T(open(name, O_RDWR));
	T(lseek(fd, 0, SEEK_SET));
	T(pread(fd, link, 1, 0));
	T(ftruncate(fd, 0));
	T(fsync(fd));
	T((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0));
	T(ioctl(fd, 0x5401, link));
	T(fchmod(fd, 0640));
	T(bind_to(fd, "s"));
	show_mode("s");
	T(fchmod(fd, 0666));
	show_mode("s");
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	T(write(pair[0], "one", 3));
	T(write(pair[0], "two", 3));
	T(readv(pair[1], (struct iovec[]){{link, 2}, {link + 2, 3}}, 2));
	T(read(pair[1], link, 0));
	T(read(pair[1], link, 9));
	T(write(pair[0], link, 0));
	T(writev(pair[0], (struct iovec[]){{link, 2}, {link + 2, 3}}, 2));
	show_read(pair[1]);
	show_read(pair[1]);
	T(write(pair[0], (void *)8, 3));
	T(write(pair[0], "abc", 3));
	T(read(pair[1], (void *)8, 3));
	show_read(pair[1]);
}

SCENARIO(calls_on_what_is_no_socket)
{
	int fd = make_file("f", "x");
	socklen_t length = 8;
	char buffer[8];

	fd = open("f", O_RDWR);
	T(bind_to(fd, "s"));
	T(connect_to(fd, "s"));
	T(listen(fd, 1));
	T(accept(fd, NULL, NULL));
	T(shutdown(fd, 0));
	T(send(fd, "x", 1, 0));
	T(recv(fd, buffer, 1, 0));
	T(raw_sendmsg(fd, (void *)8));
	T(raw_recvmsg(fd, (void *)8));
	T(getsockname(fd, (void *)buffer, &length));
	T(getpeername(fd, (void *)buffer, &length));
	T(getsockopt(fd, 1, 1, buffer, &length));
	T(setsockopt(fd, 1, 1, buffer, 4));
	T(listen(99, 1));
	T(listen(open("f", O_PATH), 1));
	T(accept4(fd, NULL, NULL, 1));
}

SCENARIO(bind_makes_a_file)
{
	int fd = new_socket(SOCK_STREAM), other = new_socket(SOCK_DGRAM);

	umask(027);
	T(bind_to(fd, "s"));
	show_mode("s");
	show_owner("s");
	show_links("s");
	show_size("s");
	show_name(getsockname, fd);
	show_name(getpeername, fd);
	T(bind_to(fd, "t"));
	T(access("t", F_OK));
	T(bind_to(other, "s"));
	T(bind_to(other, "none/s"));
	T(bind_to(other, "s/t"));
	T(bind_to(other, "u/"));
	T(bind_to(other, "."));
	T(symlink("target", "link"));
	T(bind_to(other, "link"));
	T(open("s", O_RDWR));
	T(open("s", O_RDONLY | O_NONBLOCK));
	T(open("s", O_PATH));
	T(open("s", O_RDONLY | O_CREAT, 0600));
	T(open("s", O_RDONLY | O_CREAT | O_EXCL, 0600));
	T(truncate("s", 0));
	T(mknod("m", S_IFSOCK | 0600, 0));
	T(connect_to(other, "m"));
	list(".");
}

SCENARIO(bind_lengths)
{
	int fd = new_socket(SOCK_STREAM);

	named("0123456789");
	T(bind(fd, (struct sockaddr *)&address, 1));
	T(bind(fd, (struct sockaddr *)&address, 0));
	T(bind(fd, (struct sockaddr *)&address, -1));
	T(bind(fd, (struct sockaddr *)&address, 111));
	T(bind(fd, (struct sockaddr *)&address, 129));
	T(bind(fd, (void *)8, 10));
	T(bind(fd, (void *)8, 200));
	T(bind(fd, (struct sockaddr *)&address, 7));
	show_name(getsockname, fd);
	list(".");
	fd = new_socket(SOCK_STREAM);
	address.sun_family = AF_INET;
	T(bind(fd, (struct sockaddr *)&address, 7));
	named("");
	memset(address.sun_path, 'x', 108);
	T(bind(fd, (struct sockaddr *)&address, 110));
	struct sockaddr_un got = {0};
	socklen_t length = 4;
	T(getsockname(fd, (struct sockaddr *)&got, &length));
	T(length);
	say("%.3s", got.sun_path);
	length = (socklen_t)-1;
	T(getsockname(fd, (struct sockaddr *)&got, &length));
	T(getsockname(fd, (void *)8, &length));
	length = 4;
	T(getsockname(fd, (void *)8, &length));
	T(getsockname(fd, (struct sockaddr *)&got, (void *)8));
}

SCENARIO(abstract_names)
{
	char name[32];
	int fd = new_socket(SOCK_STREAM), other = new_socket(SOCK_STREAM), client;

	snprintf(name, sizeof(name), "@%d", getpid());
	T(bind_to(fd, name));
	T(bind_to(other, name));
	client = new_socket(SOCK_STREAM);
	T(connect_to(client, name));
	T(listen(fd, 1));
	T(connect_to(client, name));
	strcat(name, "x");
	T(connect_to(new_socket(SOCK_STREAM), name));
	T(bind_to(other, name));
	name[strlen(name) - 1] = 0;
	close(fd);
	T(bind_to(new_socket(SOCK_DGRAM), name));
	list(".");
	socklen_t length = 2;
	named("x");
	fd = new_socket(SOCK_DGRAM);
	T(bind(fd, (struct sockaddr *)&address, length));
	length = sizeof(address);
	T(getsockname(fd, (struct sockaddr *)&address, &length));
	T(length);
	T(bind(fd, (struct sockaddr *)&address, 2));
	T(bind_to(fd, "x"));
}

/* The name is a file like any other. */
SCENARIO(bound_name_moves)
{
	int fd = listener(SOCK_STREAM, "s", 9);

	T(link("s", "hard"));
	T(rename("s", "moved"));
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	T(connect_to(new_socket(SOCK_STREAM), "moved"));
	T(connect_to(new_socket(SOCK_STREAM), "hard"));
	T(symlink("moved", "soft"));
	T(connect_to(new_socket(SOCK_STREAM), "soft"));
	show_name(getsockname, fd);
	T(unlink("moved"));
	T(unlink("hard"));
	T(connect_to(new_socket(SOCK_STREAM), "hard"));
	T(bind_to(new_socket(SOCK_STREAM), "s"));
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	close(fd);
	T(unlink("s"));
	fd = listener(SOCK_STREAM, "s", 9);
	T(chmod("s", 0600));
	AS(USER_A)
	{
		T(connect_to(new_socket(SOCK_STREAM), "s"));
		T(bind_to(new_socket(SOCK_STREAM), "t"));
	}
	T(chmod("s", 0622));
	AS(USER_A)
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	T(chown("s", USER_A, USER_A));
	T(chmod("s", 0455));
	AS(USER_A)
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	close(fd);
	T(connect_to(new_socket(SOCK_STREAM), "s"));
	AS(USER_B)
	T(connect_to(new_socket(SOCK_STREAM), "s"));
}
