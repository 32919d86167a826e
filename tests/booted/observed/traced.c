/*
 * traced.c - calls whose trace is the same under strace on Linux and under ./cw run --strace.
 *
 * Runs in an empty directory. Calls without a library between: nothing but what stands here is made
 * after the first marker, a write of "begin\n".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void handler(int signo)
{
	(void)signo;
}

static void sockets(void)
{
	struct sockaddr_un file = {AF_UNIX, "socket"}, abstract = {AF_UNIX, "\0no one"};
	const struct sockaddr *name = (void *)&file, *nobody = (void *)&abstract;
	char buffer[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	socket(AF_UNSPEC, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
	bind(fd, name, sizeof(file));
	connect(fd, nobody, 9);
	sendto(fd, "datagram", 8, MSG_DONTWAIT | MSG_NOSIGNAL, name, sizeof(file));
	recvfrom(fd, buffer, sizeof(buffer), MSG_DONTWAIT | MSG_TRUNC, NULL, NULL);
	shutdown(fd, SHUT_RDWR);
	listen(fd, 5);
	close(fd);
}

int main(void)
{
	struct timespec times[2] = {{1, 2}, {3, UTIME_OMIT}};
	struct sigaction action = {.sa_handler = handler};
	struct rlimit limit;
	struct stat status;
	char buffer[64];
	int pair[2];
	pid_t child;

	write(1, "begin\n", 6);
	openat(AT_FDCWD, "missing", O_RDONLY | O_CLOEXEC);
	open("file", O_RDWR | O_CREAT | O_EXCL, 0640);
	write(3, "a line of text that is longer than 32 bytes\n\001\0022\377", 48);
	lseek(3, -5, SEEK_END);
	read(3, buffer, sizeof(buffer));
	pread(3, buffer, 10, 2);
	fstatat(AT_FDCWD, "file", &status, AT_SYMLINK_NOFOLLOW);
	mkdir("folder", 0751);
	unlinkat(AT_FDCWD, "folder", 0);
	unlinkat(AT_FDCWD, "folder", AT_REMOVEDIR);
	symlink("file", "link \"quoted\"");
	readlink("link \"quoted\"", buffer, sizeof(buffer));
	utimensat(AT_FDCWD, "file", times, 0);
	rename("file", "nowhere/file");
	access("file", R_OK | W_OK);
	access((char *)16, F_OK);
	chmod("file", 04755);
	chown("file", -1, 7);
	ftruncate(3, 100);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	fcntl(3, F_GETFD);
	fcntl(3, F_GETFL);
	fallocate(3, FALLOC_FL_KEEP_SIZE, 0, 50);
	close(3);
	close(77);
	syscall(SYS_pipe2, pair, O_CLOEXEC);
	write(pair[1], "x", 1);
	munmap(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192);
	mmap((void *)4097, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	getrlimit(RLIMIT_CORE, &limit);
	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
	kill(getpid(), 0);
	syscall(SYS_kill, 1 << 30, SIGTERM);
	sockets();
	umask(027);
	mknod("fifo", S_IFIFO | 0600, 0);
	child = fork();
	if (!child) {
		execve("/nonexistent", (char *[]){"one", "two words", NULL},
		       (char *[]){"A=B", NULL});
		_exit(3);
	}
	wait4(child, &pair[0], 0, NULL);
	write(1, "end\n", 4);
	syscall(SYS_exit_group, 0);
}
