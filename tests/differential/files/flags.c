/*
 * flags.c - scenarios of what a descriptor and an open file remember: numbers, flags, modes; and of what is asked and
 * answered by fcntl and ioctl.
 */
#include <sys/file.h>

#include "../scenarios.h"

/* ---- numbers ----------------------------------------------------------------------------------- */

SCENARIO(lowest_number_after_higher_ones)
{
	int fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY);
	T(fcntl(fd, F_DUPFD, 30) == 30);
	T(open("f", O_RDONLY) == fd + 1);
	T(dup2(fd, 40));
	T(open("f", O_RDONLY) == fd + 2);
	T(close(fd));
	T(close(fd + 1));
	T(fcntl(40, F_DUPFD, fd + 1) == fd + 1);
	T(dup(40) == fd);
	T(dup(40) == fd + 3);
	T(close(40));
	T(fcntl(30, F_DUPFD, 29));
	T(fcntl(30, F_DUPFD, 29));
	T(fcntl(30, F_DUPFD, 30));
	T(syscall(SYS_close_range, 31, 31, 0));
	T(fcntl(30, F_GETFD));
	T(fcntl(31, F_GETFD));
	T(fcntl(32, F_GETFD));
	T(syscall(SYS_close_range, 0xffffffffu, 0xffffffffu, 0));
}

SCENARIO(nothing_is_made_without_a_number)
{
	struct rlimit limit = {8, 8};
	int fds[2] = {-7, -7}, fd;

	make_file("f", "text");
	T(setrlimit(RLIMIT_NOFILE, &limit));
	while ((fd = dup(0)) < 7)
		;
	T(open("new", O_CREAT | O_WRONLY, 0644));
	T(open("f", O_WRONLY | O_TRUNC));
	T(open("none", O_RDONLY));
	T(open("f", O_RDONLY | O_TRUNC | O_CREAT | O_EXCL, 0644));
	T(pipe(fds));
	close(7);
	T(pipe(fds)); /* the first of the two has a number, the second not */
	say("%d %d", fds[0], fds[1]);
	T(dup(0));
	close(7);
	close(6);
	T(syscall(SYS_pipe2, 8L, 0));
	T(dup(0));
	T(dup(0));
	T(dup(0));
	close(7);
	slurp("f");
	list(".");
}

SCENARIO(close_on_exec_of_what_is_replaced)
{
	int fds[2], fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY | O_CLOEXEC);
	T(dup2(0, fd) == fd);
	T(fcntl(fd, F_GETFD));
	T(dup3(0, fd, O_CLOEXEC) == fd);
	T(fcntl(fd, F_GETFD));
	T(dup2(fd, fd) == fd);
	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, 2));
	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, 3));
	T(fcntl(fd, F_GETFD));
	T(ioctl(fd, FIONCLEX));
	T(ioctl(fd, FIOCLEX));
	T(fcntl(fd, F_GETFD));
	T(pipe2(fds, O_CLOEXEC));
	T(fcntl(fds[0], F_GETFD));
	T(fcntl(fds[1], F_GETFD));
	T(fcntl(fds[0], F_GETFL));
	T(fcntl(fds[1], F_GETFL));
	T(dup3(fd, 20, O_NONBLOCK));
	T(dup3(99, 99, 0));
	T(fcntl(fd, 9999, 0));
}

/* ---- flags of open files ------------------------------------------------------------------------- */

static void flags_of(int flags)
{
	int fd = (int)syscall(SYS_open, "f", flags, 0644);

	if (fd < 0)
		say("%o=%d", flags, errno);
	else
		say("%o=%o", flags, fcntl(fd, F_GETFL));
	close(fd);
}

SCENARIO(flags_that_are_kept)
{
	make_file("f", "x");
	flags_of(O_RDONLY);
	flags_of(O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC);
	flags_of(O_RDWR | O_APPEND | O_NONBLOCK | O_NOFOLLOW);
	flags_of(O_RDONLY | O_DSYNC);
	flags_of(O_RDONLY | O_SYNC);
	flags_of(O_RDONLY | O_NOATIME);
	flags_of(O_PATH | O_RDWR | O_APPEND | O_CLOEXEC);
	flags_of(O_PATH | O_NOFOLLOW);
	flags_of(3);
	unlink("f");
	flags_of(O_RDWR | O_CREAT | O_EXCL);
}

SCENARIO(flags_that_change)
{
	int fds[2], on = 1, off = 0, fd, other;
	char c;

	make_file("f", "x");
	fd = open("f", O_RDWR | O_SYNC);
	other = dup(fd);
	T(pipe(fds));
	T(fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND | O_EXCL | O_TRUNC | O_WRONLY));
	say("%o %o", fcntl(fd, F_GETFL), fcntl(other, F_GETFL));
	T(fcntl(fd, F_SETFL, 0));
	say("%o", fcntl(other, F_GETFL));
	show_size("f");
	T(ioctl(fds[0], FIONBIO, &on));
	T(read(fds[0], &c, 1));
	say("%o %o", fcntl(fds[0], F_GETFL), fcntl(fds[1], F_GETFL));
	T(fcntl(fds[0], F_SETFL, O_APPEND));
	say("%o", fcntl(fds[0], F_GETFL));
	T(fcntl(fds[0], F_SETFL, O_NONBLOCK));
	T(ioctl(fds[0], FIONBIO, &off));
	say("%o", fcntl(fds[0], F_GETFL));
	T(ioctl(fds[0], FIONBIO, (void *)8));
	AS(USER_A) {
		int noatime = fcntl(fd, F_GETFL) | O_NOATIME;

		T(fcntl(fd, F_SETFL, noatime));
		T(open("f", O_RDONLY | O_NOATIME));
	}
	T(fcntl(fd, F_SETFL, O_NOATIME));
	AS(USER_A) {
		T(fcntl(fd, F_SETFL, O_NOATIME)); /* it is set already */
		T(fcntl(fd, F_SETFL, 0));
		T(fcntl(fd, F_SETFL, O_NOATIME));
	}
}

SCENARIO(bytes_left)
{
	int fd, directory = open(".", O_RDONLY), fds[2], left = -1;

	make_file("f", "0123456789");
	fd = open("f", O_RDWR);
	T(ioctl(fd, FIONREAD, &left));
	say("%d", left);
	lseek(fd, 3, SEEK_SET);
	T(ioctl(fd, FIONREAD, &left));
	say("%d", left);
	lseek(fd, 13, SEEK_SET);
	T(ioctl(fd, FIONREAD, &left));
	say("%d", left);
	T(ioctl(fd, FIONREAD, (void *)8));
	T(ioctl(directory, FIONREAD, &left));
	T(pipe(fds));
	T(write(fds[1], "abc", 3));
	T(ioctl(fds[1], FIONREAD, &left));
	say("%d", left);
	T(ioctl(fds[1], 0x5401, &left));
	T(ioctl(open("f", O_PATH), FIOCLEX));
}

/* What only names a file: the calls that are done with it, and those that are not. */
SCENARIO(path_descriptors)
{
	struct flock request = {.l_type = F_RDLCK};
	struct statfs fs;
	char text[16];
	int fd, directory, link;

	make_file("f", "text");
	make_directory("d");
	symlink("nowhere", "l");
	fd = open("f", O_PATH | O_TRUNC);
	directory = open("d", O_PATH);
	link = open("l", O_PATH | O_NOFOLLOW);
	show_size("f");
	T(fcntl(fd, F_SETFL, 0));
	T(fcntl(fd, F_GETLK, &request));
	T(fcntl(fd, F_GETPIPE_SZ));
	T(fcntl(fd, F_SETFD, FD_CLOEXEC));
	T(fcntl(fd, F_GETFD));
	T(fcntl(fcntl(fd, F_DUPFD, 20), F_GETFL) == fcntl(fd, F_GETFL));
	T(flock(fd, LOCK_UN));
	T(syscall(SYS_fchmod, fd, 0600));
	T(syscall(SYS_fchown, fd, 1, 1));
	T(ftruncate(fd, 0));
	T(fsync(fd));
	T(fdatasync(fd));
	T(syscall(SYS_utimensat, fd, NULL, NULL, 0));
	T(fallocate(fd, 0, 0, 1));
	T(posix_fadvise(fd, 0, 0, 0));
	T(pread(fd, text, 1, 0));
	T(syncfs(fd));
	T(fstatfs(fd, &fs));
	T(syscall(SYS_getdents64, directory, text, sizeof(text)));
	T(fchdir(fd));
	T(syscall(SYS_readlinkat, link, "", text, sizeof(text)));
	T(syscall(SYS_readlinkat, fd, "", text, sizeof(text)));
	T(syscall(SYS_readlinkat, directory, "", text, sizeof(text)));
	T(syscall(SYS_readlinkat, link, "", text, 0));
	T(fchdir(directory));
	T(access("../f", F_OK));
	T(openat(link, "x", O_RDONLY));
	T(openat(fd, "x", O_RDONLY));
}

SCENARIO(open_for_neither)
{
	int fd;
	char c;

	make_file("f", "text");
	chmod("f", 0444);
	fd = open("f", 3); /* not musl's O_ACCMODE, which has O_PATH in it */
	T(read(fd, &c, 1));
	T(write(fd, &c, 1));
	T(lseek(fd, 0, SEEK_END));
	T(flock(fd, LOCK_SH));
	T(flock(fd, LOCK_UN));
	T(flock(fd, 0));
	T(flock(fd, LOCK_SH | LOCK_EX));
	T(flock(fd, LOCK_NB));
	T(flock(99, LOCK_SH));
	T(ftruncate(fd, 0));
	T(fchmod(fd, 0666));
	AS(USER_A)
		T(open("f", 3) >= 0);
	chmod("f", 0644);
	AS(USER_A)
		T(open("f", 3));
}

/* ---- answers of F_GETLK ------------------------------------------------------------------------- */

static void ask(int fd, int command, struct flock request)
{
	const char *whose = "other";

	T(fcntl(fd, command, &request));
	if (request.l_pid == -1)
		whose = "-1";
	if (request.l_pid == getppid())
		whose = "parent";
	say("%d %d %lld %lld %s", request.l_type, request.l_whence, (long long)request.l_start,
	    (long long)request.l_len, whose);
}

SCENARIO(whose_lock_it_is)
{
	struct flock request = {.l_type = F_WRLCK, .l_start = 4, .l_len = 3};
	int fd, other;

	make_file("f", "0123456789");
	fd = open("f", O_RDWR);
	other = open("f", O_RDWR);
	T(fcntl(fd, F_SETLK, &request));
	request.l_start = 100;
	request.l_len = 0x7fffffffffffffffLL - 99;
	T(fcntl(fd, F_SETLK, &request));
	lseek(other, 3, SEEK_SET);
	AS(0) {
		ask(other, F_GETLK, (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_len = 2, .l_pid = 7});
		ask(other, F_GETLK, (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_len = 1, .l_pid = 7});
		ask(other, F_GETLK, (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_END, .l_start = -4, .l_len = 4});
		ask(other, F_GETLK, (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_END, .l_start = -3, .l_len = -1});
		ask(other, F_GETLK, (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_END, .l_start = -3, .l_len = 93});
		ask(other, F_GETLK, (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_END, .l_start = -3, .l_len = 94});
		ask(other, F_OFD_GETLK, (struct flock){.l_type = F_RDLCK, .l_len = 5});
	}
	/* one's own is not in the way of oneself, but of one's own open file */
	ask(fd, F_GETLK, (struct flock){.l_type = F_WRLCK});
	request = (struct flock){.l_type = F_UNLCK};
	T(fcntl(fd, F_SETLK, &request));
	request = (struct flock){.l_type = F_WRLCK, .l_len = 2};
	T(fcntl(fd, F_OFD_SETLK, &request));
	ask(fd, F_GETLK, (struct flock){.l_type = F_RDLCK});
	ask(other, F_OFD_GETLK, (struct flock){.l_type = F_RDLCK, .l_start = 1});
	ask(fd, F_OFD_GETLK, (struct flock){.l_type = F_RDLCK, .l_start = 1});
}

/* A process's record locks go with the first close, by whatever call, but not of what only names the file. */
SCENARIO(what_takes_record_locks_away)
{
	struct flock request = {.l_type = F_WRLCK, .l_len = 10};
	int fd, path, other;

	make_file("f", "x");
	make_file("g", "x");
	fd = open("f", O_RDWR);
	path = open("f", O_PATH);
	other = open("g", O_RDWR);
	T(fcntl(fd, F_SETLK, &request));
	close(path);
	close(other);
	AS(0)
		ask(fd, F_GETLK, (struct flock){.l_type = F_WRLCK});
	T(dup2(0, dup(fd)) > 0);
	AS(0)
		ask(fd, F_GETLK, (struct flock){.l_type = F_WRLCK});
	T(fcntl(fd, F_SETLK, &request));
	T(syscall(SYS_close_range, dup(fd), 1000, 0));
	AS(0)
		ask(fd, F_GETLK, (struct flock){.l_type = F_WRLCK});
	T(fcntl(fd, F_OFD_SETLK, &request));
	close(dup(fd));
	other = open("f", O_RDONLY);
	close(other);
	other = open("f", O_RDONLY);
	ask(other, F_OFD_GETLK, (struct flock){.l_type = F_RDLCK});
	T(flock(fd, LOCK_EX));
	close(dup(fd));
	T(flock(other, LOCK_SH | LOCK_NB));
	close(fd);
	T(flock(other, LOCK_SH | LOCK_NB));
	ask(other, F_OFD_GETLK, (struct flock){.l_type = F_RDLCK});
}

/* Of a file both can be set, and nobody hears of its input. */
SCENARIO(signals_and_direct_access_to_a_file)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(fcntl(fd, F_SETFL, O_ASYNC));
	T((fcntl(fd, F_GETFL) & O_ASYNC) != 0);
	T(fcntl(fd, F_SETFL, O_DIRECT | O_NONBLOCK));
	T((fcntl(fd, F_GETFL) & O_DIRECT) != 0);
	T((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	T(fcntl(fd, F_SETFL, 0));
	T((fcntl(fd, F_GETFL) & O_DIRECT) != 0);
}
