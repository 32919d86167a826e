/*
 * contents.c - scenarios about what is in files: reading, writing, positions, sizes, holes.
 */
#include "../scenarios.h"

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

/* Space that was not there in full is given back. */
SCENARIO(fallocate_that_fails_takes_nothing)
{
	struct statfs before, after;
	struct stat st;
	int fd;

	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "size=1m"));
	fd = open("m/f", O_CREAT | O_RDWR, 0644);
	T(ftruncate(fd, 600000));
	T(fallocate(fd, 0, 0, 500000));
	statfs("m", &before);
	int other = open("m/g", O_CREAT | O_RDWR, 0644);
	T(fallocate(other, 0, 0, 900000));
	statfs("m", &after);
	fstat(other, &st);
	say("%ld %ld %ld", (long)(before.f_bfree - after.f_bfree), (long)st.st_size, (long)st.st_blocks);
	close(fd);
	close(other);
	T(umount("m"));
}
