/*
 * contents.c - scenarios about what is in files: reading, writing, positions, sizes, holes,
 * mappings, pipes.
 */
#include "scenarios.h"

SCENARIO(read_write)
{
	char buffer[16] = "";
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(write(fd, "hello world", 11));
	T(read(fd, buffer, 16));
	T(lseek(fd, 0, SEEK_SET));
	T(read(fd, buffer, 5));
	say("%s", buffer);
	T(read(fd, buffer, 0));
	T(lseek(fd, 0, SEEK_CUR));
	T(write(fd, "", 0));
	show_size("f");
}

SCENARIO(wrong_mode)
{
	char c = 'x';
	int r, w;

	make_file("f", "abc");
	r = open("f", O_RDONLY);
	w = open("f", O_WRONLY);
	T(write(r, &c, 1));
	T(read(w, &c, 1));
	T(ftruncate(r, 0));
	T(pread(w, &c, 1, 0));
	T(pwrite(r, &c, 1, 0));
	T(fallocate(r, 0, 0, 10));
	T(read(99, &c, 1));
	T(write(-1, &c, 1));
	T(close(99));
}

SCENARIO(faults)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(write(fd, (void *)8, 10));
	T(write(fd, "abc", 3));
	T(pread(fd, (void *)8, 3, 0));
	T(read(fd, (void *)-8L, 3));
	T(lseek(fd, 0, SEEK_CUR));
	show_size("f");
}

SCENARIO(fault_in_the_middle)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	munmap(page + 4096, 4096);
	memset(page, 'p', 4096);
	T(write(fd, page + 4000, 200) > 0);
	lseek(fd, 0, SEEK_SET);
	ftruncate(fd, 8192);
	T(pread(fd, page + 4096, 10, 0));
}

SCENARIO(lseek_basic)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	write(fd, "0123456789", 10);
	T(lseek(fd, 3, SEEK_SET));
	T(lseek(fd, 2, SEEK_CUR));
	T(lseek(fd, -2, SEEK_END));
	T(lseek(fd, 100, SEEK_END));
	T(lseek(fd, -1, SEEK_SET));
	T(lseek(fd, -1000, SEEK_CUR));
	T(lseek(fd, 0, 77));
	T(lseek(fd, 0, SEEK_CUR));
	T(lseek(99, 0, SEEK_SET));
	show_size("f");
}

SCENARIO(lseek_overflow)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	write(fd, "x", 1);
	lseek(fd, 10, SEEK_SET);
	T(lseek(fd, INT64_MAX, SEEK_CUR));
	T(lseek(fd, INT64_MAX, SEEK_END));
	T(lseek(fd, INT64_MIN, SEEK_SET));
}

SCENARIO(hole)
{
	char buffer[16];
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(pwrite(fd, "end", 3, 10000));
	show_size("f");
	memset(buffer, 'x', sizeof(buffer));
	T(pread(fd, buffer, 10, 5000));
	T(buffer[0] | buffer[9]);
	T(pread(fd, buffer, 10, 9998));
	say("%d%d%c", buffer[0], buffer[1], buffer[2]);
}

SCENARIO(hole_by_lseek)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(lseek(fd, 8, SEEK_SET));
	show_size("f");
	T(write(fd, "x", 1));
	show_size("f");
	slurp("f");
}

SCENARIO(append)
{
	int a, b;

	make_file("f", "start");
	a = open("f", O_WRONLY | O_APPEND);
	b = open("f", O_WRONLY | O_APPEND);
	T(lseek(a, 0, SEEK_SET));
	T(write(a, "-a", 2));
	T(write(b, "-b", 2));
	T(write(a, "-c", 2));
	T(lseek(a, 0, SEEK_CUR));
	slurp("f");
	T(pwrite(a, "Z", 1, 0));
	slurp("f");
}

SCENARIO(append_by_fcntl)
{
	int fd;

	make_file("f", "abc");
	fd = open("f", O_RDWR);
	T(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND));
	T(fcntl(fd, F_SETFL, O_APPEND));
	T(write(fd, "d", 1));
	slurp("f");
	T(fcntl(fd, F_SETFL, 0));
	lseek(fd, 0, SEEK_SET);
	T(write(fd, "X", 1));
	slurp("f");
	T(fcntl(fd, F_SETFL, O_WRONLY));
	T(fcntl(fd, F_GETFL) & O_ACCMODE);
}

SCENARIO(truncate_basic)
{
	make_file("f", "0123456789");
	T(truncate("f", 4));
	slurp("f");
	T(truncate("f", 8));
	slurp("f");
	T(truncate("f", -1));
	T(truncate("none", 0));
	make_directory("d");
	T(truncate("d", 0));
	symlink("f", "l");
	T(truncate("l", 1));
	show_size("f");
	T(truncate("", 0));
}

SCENARIO(truncate_page_edges)
{
	static char page[8192];
	char c;
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	memset(page, 'q', sizeof(page));
	T(write(fd, page, 8192));
	T(ftruncate(fd, 4097));
	T(ftruncate(fd, 8192));
	T(pread(fd, &c, 1, 4096));
	say("%c", c);
	T(pread(fd, &c, 1, 4097));
	T(c);
	T(ftruncate(fd, 0));
	T(ftruncate(fd, 4096));
	T(pread(fd, &c, 1, 0));
	T(c);
}

SCENARIO(truncate_permission)
{
	make_file("f", "x");
	AS(USER_A) {
		T(truncate("f", 0));
		T(open("f", O_RDONLY | O_TRUNC));
	}
	show_size("f");
	mkfifo("p", 0666);
	T(truncate("p", 0));
}

SCENARIO(ftruncate_errors)
{
	int fds[2];
	int fd = open(".", O_RDONLY);

	T(ftruncate(fd, 0));
	T(pipe(fds));
	T(ftruncate(fds[1], 0));
	T(ftruncate(99, 0));
	fd = open("f", O_CREAT | O_RDWR, 0644);
	T(ftruncate(fd, -1));
}

SCENARIO(file_size_limit)
{
	struct rlimit limit = {10, 10};
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	signal(SIGXFSZ, SIG_IGN);
	T(setrlimit(RLIMIT_FSIZE, &limit));
	T(write(fd, "0123456789abcdef", 16));
	T(write(fd, "x", 1));
	T(ftruncate(fd, 11));
	show_size("f");
}

SCENARIO(two_descriptors)
{
	char buffer[8] = "";
	int a, b;

	make_file("f", "abcdef");
	a = open("f", O_RDONLY);
	b = open("f", O_RDONLY);
	read(a, buffer, 3);
	T(lseek(b, 0, SEEK_CUR));
	T(read(b, buffer, 2));
	T(lseek(a, 0, SEEK_CUR));
}

SCENARIO(dup_shares_position)
{
	char buffer[8] = "";
	int a, b;

	make_file("f", "abcdef");
	a = open("f", O_RDONLY);
	b = dup(a);
	read(a, buffer, 3);
	T(lseek(b, 0, SEEK_CUR));
	T(read(b, buffer, 1));
	say("%c", buffer[0]);
	T(close(a));
	T(lseek(b, 0, SEEK_CUR));
	T(fcntl(b, F_GETFD));
}

SCENARIO(fork_shares_position)
{
	int fd;

	make_file("f", "abcdef");
	fd = open("f", O_RDONLY);
	if (!fork()) {
		lseek(fd, 4, SEEK_SET);
		_exit(0);
	}
	wait(NULL);
	T(lseek(fd, 0, SEEK_CUR));
}

SCENARIO(dup2_rules)
{
	int fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY);
	T(dup2(fd, 20));
	T(dup2(fd, fd) == fd);
	T(dup2(99, 21));
	T(dup2(99, 99));
	T(dup2(fd, -1));
	T(dup3(fd, fd, 0));
	T(dup3(fd, 22, O_CLOEXEC));
	T(fcntl(22, F_GETFD));
	T(fcntl(20, F_GETFD));
	T(dup3(fd, 23, 1));
	T(fcntl(fd, F_DUPFD, 30));
	T(fcntl(fd, F_DUPFD_CLOEXEC, 30));
	T(fcntl(31, F_GETFD));
	T(fcntl(fd, F_DUPFD, -1));
	T(fcntl(fd, 9999));
}

SCENARIO(descriptor_limit)
{
	struct rlimit limit = {16, 64};
	int fd = -1, last = -1;

	T(setrlimit(RLIMIT_NOFILE, &limit));
	make_file("f", "");
	while ((fd = open("f", O_RDONLY)) >= 0)
		last = fd;
	T(fd);
	T(last);
	T(dup(last));
	T(fcntl(last, F_DUPFD, 3));
	T(fcntl(last, F_DUPFD, 16));
	T(dup2(last, 16));
	close(7);
	T(open("f", O_RDONLY));
}

SCENARIO(lowest_descriptor)
{
	int a = open(".", O_RDONLY), b = open(".", O_RDONLY), c;

	close(a);
	c = open(".", O_RDONLY);
	T(c == a);
	T(b == a + 1);
	T(close(a));
	T(close(a));
}

SCENARIO(vectors)
{
	char a[4] = "", b[4] = "";
	struct iovec out[3] = {{"ab", 2}, {"", 0}, {"cdef", 4}};
	struct iovec in[2] = {{a, 3}, {b, 3}};
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(writev(fd, out, 3));
	lseek(fd, 0, SEEK_SET);
	T(readv(fd, in, 2));
	say("%s %s", a, b);
	T(readv(fd, in, 2));
	T(writev(fd, out, -1));
	T(writev(fd, out, 2000));
	T(writev(fd, (void *)8, 1));
	T(preadv(fd, in, 1, 3));
	say("%s", a);
	T(pwritev(fd, out, 1, 100));
	T(preadv(fd, in, 1, -1));
	T(writev(fd, out, 0));
	show_size("f");
}

SCENARIO(pread_pwrite)
{
	char buffer[8] = "";
	int fds[2];
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(pwrite(fd, "abcdef", 6, 2));
	T(lseek(fd, 0, SEEK_CUR));
	T(pread(fd, buffer, 4, 0));
	T(pread(fd, buffer, 4, 100));
	T(pread(fd, buffer, 4, -1));
	T(pwrite(fd, buffer, 4, -1));
	pipe(fds);
	T(pread(fds[0], buffer, 1, 0));
	T(pwrite(fds[1], buffer, 1, 0));
	T(lseek(fds[0], 0, SEEK_SET));
}

SCENARIO(sendfile_basic)
{
	off_t offset = 2;
	int in, out;

	make_file("a", "0123456789");
	in = open("a", O_RDONLY);
	out = open("b", O_CREAT | O_RDWR, 0644);
	T(sendfile(out, in, NULL, 4));
	T(lseek(in, 0, SEEK_CUR));
	T(sendfile(out, in, &offset, 3));
	T(offset);
	T(lseek(in, 0, SEEK_CUR));
	T(sendfile(out, in, NULL, 100));
	T(sendfile(out, in, NULL, 100));
	slurp("b");
	T(sendfile(out, 99, NULL, 1));
	T(sendfile(in, out, NULL, 1));
	T(lseek(out, 0, SEEK_SET));
	T(sendfile(out, out, NULL, 4)); /* each byte to its own place */
	T(lseek(out, 0, SEEK_CUR));
	slurp("b");
}

SCENARIO(fallocate_basic)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(fallocate(fd, 0, 0, 5000));
	show_size("f");
	T(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 100000));
	show_size("f");
	T(fallocate(fd, 0, -1, 10));
	T(fallocate(fd, 0, 0, 0));
	T(fallocate(99, 0, 0, 1));
}

/* What a mode is refused for, before the descriptor is: each combination on one that cannot be written to. */
SCENARIO(fallocate_modes)
{
	int fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY);
	for (int mode = 0; mode < 128; mode++) {
		fallocate(fd, mode, 0, 1);
		say("%d:%d", mode, errno);
	}
	T(fallocate(open("f", O_WRONLY), 0x08, 0, 4096));
	T(fallocate(open("f", O_WRONLY), 0x10, 0, 4096));
}

SCENARIO(fsync_basic)
{
	int fds[2];
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	write(fd, "x", 1);
	T(fsync(fd));
	T(fdatasync(fd));
	T(fsync(99));
	pipe(fds);
	T(fsync(fds[0]));
	T(fsync(open(".", O_RDONLY)));
}

SCENARIO(mmap_private)
{
	char *p;
	int fd;

	make_file("f", "private");
	fd = open("f", O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	T(p != MAP_FAILED);
	p[0] = 'X';
	say("%.7s", p);
	slurp("f");
	T(munmap(p, 4096));
}

SCENARIO(mmap_shared)
{
	char *p, buffer[8] = "";
	int fd;

	make_file("f", "shared!");
	fd = open("f", O_RDWR);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	T(p != MAP_FAILED);
	p[0] = 'S';
	T(pread(fd, buffer, 7, 0));
	say("%s", buffer);
	T(pwrite(fd, "R", 1, 6));
	say("%.7s", p);
	T(msync(p, 4096, MS_SYNC));
	T(msync(p, 4096, MS_SYNC | MS_ASYNC));
	T(munmap(p, 4096));
	slurp("f");
}

SCENARIO(mmap_shared_with_child)
{
	char *p;
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	ftruncate(fd, 4096);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!fork()) {
		strcpy(p, "from the child");
		_exit(0);
	}
	wait(NULL);
	say("%s", p);
	T(access("f", F_OK));
}

SCENARIO(mmap_anonymous_shared)
{
	int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	T(p != MAP_FAILED);
	if (!fork()) {
		*p = 42;
		_exit(0);
	}
	wait(NULL);
	T(*p);
}

SCENARIO(mmap_errors)
{
	int r, w;

	make_file("f", "x");
	r = open("f", O_RDONLY);
	w = open("f", O_WRONLY);
	T(mmap(NULL, 4096, PROT_READ, MAP_SHARED, w, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, r, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE, w, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, r, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, r, 100) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 99, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_READ, 0, r, 0) == MAP_FAILED ? -1 : 0);
	T(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(".", O_RDONLY), 0) == MAP_FAILED ? -1 : 0);
	T(mmap((void *)1, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, r, 0) == MAP_FAILED ? -1 : 0);
	T(munmap((void *)1, 4096));
	T(mprotect((void *)0x10000, 4096, PROT_READ));
}

static void on_bus(int signo)
{
	say("signal %d", signo);
	_exit(0);
}

SCENARIO(mmap_past_end)
{
	volatile char *p;
	int fd;

	make_file("f", "short");
	fd = open("f", O_RDONLY);
	p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
	T(p[4095]);
	signal(SIGBUS, on_bus);
	T(p[4096]);
}

SCENARIO(mmap_truncated_file)
{
	volatile char *p;
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	ftruncate(fd, 8192);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p[5000] = 'x';
	T(p[5000]);
	ftruncate(fd, 4096);
	T(p[0]);
	signal(SIGBUS, on_bus);
	T(p[5000]);
}

SCENARIO(mmap_write_protection)
{
	volatile char *p;
	int fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	T(mprotect((void *)p, 4096, PROT_READ | PROT_WRITE));
	signal(SIGSEGV, on_bus);
	p[0] = 'y';
}

SCENARIO(mmap_unlinked_file)
{
	char *p;
	int fd;

	make_file("f", "still here");
	fd = open("f", O_RDONLY);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	unlink("f");
	say("%s", p);
}

SCENARIO(pipe_basic)
{
	char buffer[16] = "";
	int fds[2];

	T(pipe(fds));
	T(write(fds[1], "abc", 3));
	T(read(fds[0], buffer, 16));
	say("%s", buffer);
	T(read(fds[1], buffer, 1));
	T(write(fds[0], buffer, 1));
	T(close(fds[1]));
	T(read(fds[0], buffer, 1));
}

SCENARIO(pipe_broken)
{
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	pipe(fds);
	close(fds[0]);
	T(write(fds[1], "x", 1));
	signal(SIGPIPE, on_bus);
	T(write(fds[1], "x", 1));
}

SCENARIO(pipe_nonblocking)
{
	static char big[100000];
	char c;
	int fds[2];
	long total = 0, n;

	T(pipe2(fds, O_NONBLOCK));
	T(read(fds[0], &c, 1));
	while ((n = write(fds[1], big, 4096)) > 0)
		total += n;
	T(n);
	T(total);
	T(write(fds[1], big, 1));
	T(read(fds[0], big, 4096));
	T(write(fds[1], big, 4096));
	T(pipe2(fds, 0x1));
	T(fcntl(fds[0], F_GETFL) & O_NONBLOCK ? 1 : 0);
}

SCENARIO(pipe_large_write)
{
	static char big[200000];
	int fds[2];
	long total = 0, n;

	pipe(fds);
	if (!fork()) {
		close(fds[0]);
		memset(big, 'b', sizeof(big));
		_exit(write(fds[1], big, sizeof(big)) == sizeof(big) ? 0 : 1);
	}
	close(fds[1]);
	while ((n = read(fds[0], big, 7777)) > 0)
		total += n;
	T(total);
	int status;
	wait(&status);
	T(status);
}

SCENARIO(pipe_poll)
{
	struct pollfd p;
	int fds[2];

	pipe(fds);
	p = (struct pollfd){fds[0], POLLIN, 0};
	T(poll(&p, 1, 0));
	write(fds[1], "x", 1);
	T(poll(&p, 1, 0));
	T(p.revents);
	p = (struct pollfd){fds[1], POLLOUT, 0};
	T(poll(&p, 1, 0));
	T(p.revents);
	close(fds[1]);
	p = (struct pollfd){fds[0], POLLIN, 0};
	T(poll(&p, 1, 0));
	T(p.revents);
	p = (struct pollfd){999, POLLIN, 0};
	T(poll(&p, 1, 0));
	T(p.revents);
	p = (struct pollfd){-1, POLLIN, 0};
	T(poll(&p, 1, 0));
}

SCENARIO(select_basic)
{
	struct timeval now = {0, 0};
	fd_set set;
	int fds[2];

	pipe(fds);
	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	T(select(fds[0] + 1, &set, NULL, NULL, &now));
	write(fds[1], "x", 1);
	FD_SET(fds[0], &set);
	T(select(fds[0] + 1, &set, NULL, NULL, &now));
	T(FD_ISSET(fds[0], &set) != 0);
	FD_ZERO(&set);
	FD_SET(60, &set);
	T(select(61, &set, NULL, NULL, &now));
	T(select(-1, &set, NULL, NULL, &now));
}

SCENARIO(fifo_basic)
{
	char buffer[8] = "";
	int r, w;

	T(mkfifo("p", 0644));
	T(open("p", O_WRONLY | O_NONBLOCK));
	r = open("p", O_RDONLY | O_NONBLOCK);
	T(r >= 0);
	T(read(r, buffer, 1));
	w = open("p", O_WRONLY);
	T(write(w, "through", 7));
	T(read(r, buffer, 7));
	say("%s", buffer);
	T(read(r, buffer, 7));
	close(w);
	T(read(r, buffer, 7));
	show_size("p");
	T(lseek(r, 0, SEEK_SET));
}

SCENARIO(fifo_two_processes)
{
	char buffer[32] = "";

	mkfifo("p", 0644);
	if (!fork()) {
		int w = open("p", O_WRONLY);

		write(w, "hello from the fifo", 19);
		_exit(0);
	}
	int r = open("p", O_RDONLY);
	T(read(r, buffer, sizeof(buffer)));
	say("%s", buffer);
	wait(NULL);
	T(read(r, buffer, sizeof(buffer)));
	T(unlink("p"));
}

SCENARIO(fifo_permission)
{
	mkfifo("p", 0600);
	AS(USER_A) {
		T(open("p", O_RDONLY | O_NONBLOCK));
	}
	int fd = open("p", O_RDWR);
	T(fd >= 0);
	T(write(fd, "x", 1));
}

SCENARIO(device_null)
{
	char buffer[8] = "zzz";
	int fd = open("/dev/null", O_RDWR);

	T(fd >= 0);
	T(write(fd, buffer, 8));
	T(read(fd, buffer, 8));
	T(lseek(fd, 100, SEEK_SET) >= 0);
	T(ftruncate(fd, 0));
}

static int map_shared(int fd, int protection)
{
	return mmap(NULL, 4096, protection, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0;
}

SCENARIO(device_zero_full)
{
	char buffer[8] = "zzz";
	int zero = open("/dev/zero", O_RDWR), full = open("/dev/full", O_RDWR);
	int r = open("/dev/zero", O_RDONLY), w = open("/dev/zero", O_WRONLY);
	void *zeros = mmap(NULL, 4096, PROT_READ, MAP_SHARED, r, 0);

	T(read(zero, buffer, 8));
	T(buffer[0]);
	T(write(zero, buffer, 8));
	T(write(full, buffer, 8));
	buffer[0] = 'x';
	T(read(full, buffer, 8));
	T(buffer[0]);
	T(mprotect(zeros, 4096, PROT_READ | PROT_WRITE));
	T(mprotect(zeros, 4096, PROT_NONE));
	T(mprotect(zeros, 4096, PROT_READ));
	T(*(char *)zeros);
	T(map_shared(r, PROT_READ | PROT_WRITE));
	T(map_shared(w, PROT_READ));
	T(map_shared(zero, PROT_READ | PROT_WRITE));
}

SCENARIO(not_a_terminal)
{
	struct winsize size;
	int fd = open("f", O_CREAT | O_RDWR, 0644), left;

	T(isatty(fd));
	T(ioctl(fd, TIOCGWINSZ, &size));
	write(fd, "12345", 5);
	lseek(fd, 2, SEEK_SET);
	T(ioctl(fd, FIONREAD, &left));
	T(left);
	T(ioctl(fd, 0xdead, 0));
	T(ioctl(99, 0xdead, 0));
}

SCENARIO(close_on_exec_flag)
{
	int fd = open(".", O_RDONLY | O_CLOEXEC);

	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, 0));
	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, FD_CLOEXEC));
	T(fcntl(dup(fd), F_GETFD));
	T(ioctl(fd, FIONCLEX, 0));
	T(fcntl(fd, F_GETFD));
	T(fcntl(99, F_GETFD));
}

SCENARIO(large_offsets)
{
	char c = 0;
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	T(pwrite(fd, "x", 1, 5000000000L));
	show_size("f");
	T(pread(fd, &c, 1, 5000000000L));
	say("%c", c);
	T(pread(fd, &c, 1, 4999999999L));
	T(c);
	T(truncate("f", 1));
	show_size("f");
}

SCENARIO(overwrite_middle)
{
	static char page[12288];
	char c;
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	memset(page, 'a', sizeof(page));
	write(fd, page, sizeof(page));
	T(pwrite(fd, "BB", 2, 4095));
	T(pread(fd, page, 4, 4094));
	say("%.4s", page);
	T(pread(fd, &c, 1, 12287));
	say("%c", c);
	show_size("f");
}

SCENARIO(statfs_basic)
{
	struct statfs st;
	int fd = open(".", O_RDONLY);

	T(statfs(".", &st));
	T(st.f_bsize > 0);
	T(st.f_bfree <= st.f_blocks);
	T(fstatfs(fd, &st));
	T(statfs("none", &st));
	T(fstatfs(99, &st));
	T(syscall(SYS_statfs, ".", 8L));
}

SCENARIO(mount_errors)
{
	make_directory("m");
	make_file("f", "");
	T(mount("none", "m", "nosuchfs", 0, NULL));
	T(umount("m"));
	T(umount("none"));
	T(umount2("m", 0x1000));
	AS(USER_A) {
		T(mount("none", "m", "tmpfs", 0, NULL));
		T(umount("m"));
	}
	T(mount("none", "nowhere", "tmpfs", 0, NULL));
}

SCENARIO(mount_tmpfs)
{
	make_directory("m");
	make_file("m/under", "covered");
	T(mount("none", "m", "tmpfs", 0, NULL));
	list("m");
	make_file("m/f", "on tmpfs");
	slurp("m/f");
	T(rmdir("m"));
	T(rename("m", "n"));
	T(rename("m/f", "g"));
	T(link("m/f", "g"));
	int fd = open("m/f", O_RDONLY);
	T(umount("m"));
	close(fd);
	chdir("m");
	T(umount("."));
	chdir("..");
	T(umount("m"));
	list("m");
}

SCENARIO(mount_read_only)
{
	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, NULL));
	make_file("m/f", "x");
	T(mount(NULL, "m", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	T(open("m/f", O_WRONLY));
	T(open("m/new", O_CREAT | O_WRONLY, 0644));
	T(mkdir("m/d", 0755));
	T(mkdir("m/f", 0755));
	T(unlink("m/f"));
	T(chmod("m/f", 0600));
	T(truncate("m/f", 0));
	T(access("m/f", W_OK));
	T(access("m/f", R_OK));
	T(rename("m/f", "m/g"));
	slurp("m/f");
	T(umount("m"));
}

SCENARIO(mount_dot_dot)
{
	make_directory("m");
	make_file("mark", "outside");
	T(mount("none", "m", "tmpfs", 0, NULL));
	T(mkdir("m/in", 0755));
	slurp("m/../mark");
	slurp("m/in/../../mark");
	T(chdir("m/in"));
	slurp("../../mark");
	T(chdir("../.."));
	T(umount("m"));
}

SCENARIO(wait_statuses)
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(300);
	T(waitpid(pid, &status, 0) == pid);
	T(WIFEXITED(status));
	T(WEXITSTATUS(status));
	pid = fork();
	if (!pid) {
		signal(SIGTERM, SIG_DFL);
		kill(getpid(), SIGTERM);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	T(WIFSIGNALED(status));
	T(WTERMSIG(status));
	T(waitpid(-1, &status, 0));
	T(waitpid(99999, &status, WNOHANG));
	T(kill(99999, 0));
	T(kill(getpid(), 65));
}

SCENARIO(stop_and_continue)
{
	int status, fds[2];
	char c;
	pid_t pid;

	/* The child stays until the pipe is closed: its end would hide that it was continued. */
	if (pipe(fds))
		return;
	pid = fork();
	if (!pid) {
		close(fds[1]);
		raise(SIGSTOP);
		_exit(read(fds[0], &c, 1) == 0 ? 3 : 4);
	}
	close(fds[0]);
	T(waitpid(pid, &status, WUNTRACED) == pid);
	T(WIFSTOPPED(status));
	T(WSTOPSIG(status));
	T(waitpid(pid, &status, WNOHANG));
	kill(pid, SIGCONT);
	T(waitpid(pid, &status, WCONTINUED) == pid);
	T(WIFCONTINUED(status));
	close(fds[1]);
	waitpid(pid, &status, 0);
	T(WEXITSTATUS(status));
}

static volatile int caught;

static void count_signal(int signo)
{
	(void)signo;
	caught++;
}

SCENARIO(signal_interrupts_read)
{
	struct sigaction action = {.sa_handler = count_signal};
	int fds[2];
	char c;
	pid_t pid, parent = getpid();

	pipe(fds);
	sigaction(SIGUSR1, &action, NULL);
	pid = fork();
	if (!pid) {
		struct timespec t = {0, 500 * 1000 * 1000}; /* until the parent surely reads */

		nanosleep(&t, NULL);
		kill(parent, SIGUSR1);
		_exit(0);
	}
	T(read(fds[0], &c, 1));
	T(caught);
	waitpid(pid, NULL, 0);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	pid = fork();
	if (!pid) {
		struct timespec t = {0, 50 * 1000 * 1000};

		nanosleep(&t, NULL);
		kill(parent, SIGUSR1);
		nanosleep(&t, NULL);
		write(fds[1], "x", 1);
		_exit(0);
	}
	T(read(fds[0], &c, 1));
	T(caught);
}

SCENARIO(signal_masks)
{
	sigset_t set, old;

	signal(SIGUSR1, count_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	T(sigprocmask(SIG_BLOCK, &set, &old));
	raise(SIGUSR1);
	raise(SIGUSR1);
	T(caught);
	T(sigpending(&old));
	T(sigismember(&old, SIGUSR1));
	T(sigsuspend(&(sigset_t){0}));
	T(caught);
	T(sigprocmask(SIG_UNBLOCK, &set, NULL));
	T(caught);
	T(sigprocmask(99, &set, NULL));
	T(signal(SIGKILL, count_signal) == SIG_ERR ? -1 : 0);
}

SCENARIO(process_groups)
{
	pid_t pid = fork();

	if (!pid) {
		T(setpgid(0, 0));
		T(getpgrp() == getpid());
		T(setsid());
		pid_t child = fork();

		if (!child) {
			T(setsid() == getpid());
			T(getsid(0) == getpid());
			T(setpgid(0, 0));
			_exit(0);
		}
		wait(NULL);
		T(setpgid(child, child));
		T(setpgid(0, -1));
		T(setpgid(1, 1));
		T(getpgid(99999));
		_exit(0);
	}
	wait(NULL);
}

SCENARIO(poll_and_select)
{
	struct pollfd fds[12] = {{.fd = -1}};
	struct timeval time = {.tv_usec = 1000};
	struct timespec short_time = {.tv_nsec = 1000};
	int pipes[2], fifo;
	fd_set in, out, except;

	pipe(pipes);
	for (int i = 0; i < 12; i++)
		fds[i] = (struct pollfd){i % 2 ? pipes[0] : pipes[1], POLLIN | POLLOUT, 0};
	fds[3].fd = -1;
	fds[5].fd = 999;
	T(poll(fds, 12, 0));
	for (int i = 0; i < 6; i++)
		show("revents", fds[i].revents);
	T(ppoll(&fds[1], 1, &short_time, NULL));
	write(pipes[1], "x", 1);
	T(poll(fds, 2, -1));
	show("revents", fds[1].revents);
	FD_ZERO(&in);
	FD_SET(pipes[0], &in);
	FD_SET(pipes[1], &in);
	out = except = in;
	T(select(pipes[1] + 1, &in, &out, &except, &time));
	show("in", FD_ISSET(pipes[0], &in) + 2 * FD_ISSET(pipes[1], &in));
	show("out", FD_ISSET(pipes[0], &out) + 2 * FD_ISSET(pipes[1], &out));
	show("except", FD_ISSET(pipes[0], &except) + 2 * FD_ISSET(pipes[1], &except));
	FD_SET(60, &in);
	T(select(61, &in, NULL, NULL, &time));
	T(pselect(0, NULL, NULL, NULL, &short_time, NULL));
	T(select(-1, NULL, NULL, NULL, NULL));
	close(pipes[1]);
	T(poll(&fds[1], 1, 0));
	show("revents", fds[1].revents);
	mkfifo("fifo", 0600);
	fds[0].fd = fifo = open("fifo", O_RDONLY | O_NONBLOCK);
	T(poll(fds, 1, 0));
	close(open("fifo", O_WRONLY));
	T(poll(fds, 1, 0));
	show("revents", fds[0].revents);
	close(fifo);
}
