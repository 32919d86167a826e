/*
 * thresholds.c - scenarios at the exact border of a rule of files: one byte more or less, the second of two checks.
 */
#include "../scenarios.h"

/* ---- memory of files on a mount where nothing is executed ------------------------------------- */

static long map_file(int fd, int rights, int kind)
{
	void *at = mmap(NULL, 4096, rights, kind, fd, 0);

	return at == MAP_FAILED ? -1 : munmap(at, 4096);
}

/* Of a page of @fd that is readable at first: becomes it @rights? */
static long change_map(int fd, int rights, int kind)
{
	void *at = mmap(NULL, 4096, PROT_READ, kind, fd, 0);
	long result = at == MAP_FAILED ? -2 : mprotect(at, 4096, rights);
	int error = errno;

	munmap(at, 4096);
	errno = error;
	return result;
}

SCENARIO(maps_on_noexec)
{
	int fd, other;

	make_directory("m");
	make_directory("b");
	T(mount("none", "m", "tmpfs", MS_NOEXEC, NULL));
	make_file("m/f", "text");
	make_file("outside", "text");
	T(mount(".", "b", NULL, MS_BIND, NULL));
	T(mount(NULL, "b", NULL, MS_REMOUNT | MS_BIND | MS_NOEXEC, NULL));
	fd = open("m/f", O_RDWR);
	other = open("b/outside", O_RDONLY);
	T(map_file(fd, PROT_READ, MAP_PRIVATE));
	T(map_file(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(map_file(fd, PROT_READ | PROT_EXEC, MAP_SHARED));
	T(change_map(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(fd, PROT_EXEC, MAP_SHARED));
	T(change_map(fd, PROT_READ | PROT_WRITE, MAP_SHARED));
	T(map_file(other, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_WRITE, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_WRITE, MAP_SHARED));
	close(other);
	other = open("outside", O_RDONLY);
	T(map_file(other, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	T(change_map(other, PROT_READ | PROT_WRITE, MAP_SHARED));
	close(fd);
	close(other);
	T(umount("b"));
	T(umount("m"));
}

/* ---- pipes ------------------------------------------------------------------------------------ */

static char bytes[65536 + 4096];

static void writable(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLOUT | POLLIN};

	poll(&one, 1, 0);
	say("poll:%x", one.revents);
}

SCENARIO(pipe_with_room_for_exactly_that)
{
	int ends[2];

	T(pipe2(ends, O_NONBLOCK));
	T(write(ends[1], bytes, 65536 - 4096));
	writable(ends[1]);
	T(write(ends[1], bytes, 4096));
	writable(ends[1]);
	T(write(ends[1], bytes, 1));
	T(read(ends[0], bytes, 4095));
	writable(ends[1]);
	T(write(ends[1], bytes, 4096));
	T(read(ends[0], bytes, 1));
	writable(ends[1]);
	T(write(ends[1], bytes, 4096));
	T(write(ends[1], bytes, 4096));
	T(read(ends[0], bytes, sizeof(bytes)));
	T(read(ends[0], bytes, 1));
	T(write(ends[1], bytes, sizeof(bytes)));
	writable(ends[0]);
	close(ends[1]);
	writable(ends[0]);
	T(read(ends[0], bytes, sizeof(bytes)));
	T(read(ends[0], bytes, 1));
	writable(ends[0]);
}

/* ---- copying ---------------------------------------------------------------------------------- */

static long copy(int fd, long from, long to, size_t count)
{
	return syscall(SYS_copy_file_range, fd, &from, fd, &to, count, 0);
}

SCENARIO(copy_of_neighbours)
{
	int fd;

	make_file("f", "abcdefgh");
	fd = open("f", O_RDWR);
	T(copy(fd, 0, 4, 4));
	slurp("f");
	T(pwrite(fd, "abcdefgh", 8, 0));
	T(copy(fd, 4, 0, 4));
	slurp("f");
	T(pwrite(fd, "abcdefgh", 8, 0));
	T(copy(fd, 0, 3, 4));
	T(copy(fd, 3, 0, 4));
	T(copy(fd, 2, 2, 1));
	T(copy(fd, 0, 4, 5));
	T(copy(fd, 7, 8, 9));
	T(copy(fd, 9, 0, 9));
	T(copy(fd, 8, 8, 0));
	slurp("f");
}

/* ---- waiting for files and children ------------------------------------------------------------ */

SCENARIO(select_and_poll_at_their_limits)
{
	struct rlimit limit = {8, 8};
	struct timeval none = {0, 0};
	struct pollfd many[9];
	fd_set in, out;
	int ends[2];

	T(pipe(ends));
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(ends[0], &in);
	FD_SET(ends[1], &out);
	T(select(ends[1] + 1, &in, &out, NULL, &none));
	say("%d %d", !!FD_ISSET(ends[0], &in), !!FD_ISSET(ends[1], &out));
	T(write(ends[1], "x", 1));
	FD_SET(ends[0], &in);
	T(select(ends[1] + 1, &in, &out, NULL, &none));
	say("%d %d", !!FD_ISSET(ends[0], &in), !!FD_ISSET(ends[1], &out));
	FD_SET(ends[0], &in);
	T(select(ends[0], &in, NULL, NULL, &none)); /* below its number */
	T(select(ends[1], &in, NULL, NULL, &none));
	FD_ZERO(&in);
	FD_SET(7, &in);
	T(select(8, &in, NULL, NULL, &none));
	for (int i = 0; i < 9; i++)
		many[i] = (struct pollfd){.fd = i < 8 ? -1 : ends[0], .events = POLLIN};
	T(setrlimit(RLIMIT_NOFILE, &limit));
	T(poll(many, 8, 0));
	T(poll(many, 9, 0));
	T(poll(many + 8, 1, 0));
	many[7].fd = 7;
	T(poll(many, 8, 0));
	say("%x %x", many[7].revents, many[6].revents);
	T(syscall(SYS_poll, (void *)8, 1, 0));
}

/* ---- vectors ----------------------------------------------------------------------------------- */

SCENARIO(vectors_of_many_pieces)
{
	static struct iovec vector[1025];
	int fd = open("f", O_CREAT | O_RDWR, 0644);

	for (int i = 0; i < 1025; i++)
		vector[i] = (struct iovec){bytes + i, 1};
	T(writev(fd, vector, 1024));
	T(writev(fd, vector, 1025));
	T(writev(fd, vector, 0));
	T(writev(fd, vector, -1));
	show_size("f");
	T(preadv(fd, vector, 1024, 1));
	T(preadv(fd, vector, 1024, -1));
	T(pwritev(fd, vector, 2, 1023));
	show_size("f");
	vector[1].iov_len = (size_t)-1;
	T(writev(fd, vector, 2));
	vector[1] = (struct iovec){(void *)8, 1};
	T(pwritev(fd, vector, 2, 0)); /* what can be read is written */
	T(pwritev(fd, vector + 1, 1, 0));
	T(syscall(SYS_writev, fd, (void *)8, 1));
	T(syscall(SYS_preadv2, fd, vector, 1, 0, 0, 1 << 30));
	T(writev(99, vector, 1));
	show_size("f");
}

/* ---- who decides ------------------------------------------------------------------------------- */

/* As a real and an effective user, write to a file that has both set-id bits. */
static void write_as(uid_t real, uid_t effective)
{
	int fd, status;

	fd = open("set-id", O_CREAT | O_TRUNC | O_WRONLY, 0755);
	fchmod(fd, 06755);
	if (!fork()) {
		setresuid(real, effective, 0);
		write(fd, "x", 1);
		_exit(0);
	}
	wait(&status);
	close(fd);
	show_mode("set-id");
}

SCENARIO(set_id_bits_stay_if_the_effective_user_is_root)
{
	write_as(USER_A, 0);
	write_as(0, USER_A);
}

SCENARIO(advice_and_copies_at_their_limits)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644), out = open("g", O_CREAT | O_RDWR, 0644), ends[2];
	off_t one = 1;

	pipe(ends);
	T(syscall(SYS_fadvise64, fd, -1L, 1L, 0));
	T(syscall(SYS_fadvise64, ends[0], 0L, 1L, 0));
	T(syscall(SYS_fadvise64, open("/dev/null", O_RDONLY), 0L, 1L, 0));
	T(syscall(SYS_sendfile, out, fd, &one, -1L));
	lseek(fd, 1, SEEK_SET);
	T(syscall(SYS_sendfile, out, fd, NULL, -1L));
	T(syscall(SYS_sendfile, out, fd, NULL, LONG_MAX));
}
