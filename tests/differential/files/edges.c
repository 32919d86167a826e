/*
 * edges.c - scenarios at the edges: access mode 3, limits below what is open, sums that overflow,
 * dots, closed files.
 */
#include "../scenarios.h"

SCENARIO(fifo_without_access)
{
	int reader;

	T(mkfifo("p", 0644));
	reader = open("p", O_RDONLY | O_NONBLOCK);
	T(open("p", 3));
	T(open("p", 3 | O_NONBLOCK));
	T(close(reader));
}

SCENARIO(fork_below_open_numbers)
{
	struct rlimit limit = {100, 4096};
	int fd = fcntl(open("f", O_CREAT | O_RDWR, 0644), F_DUPFD, 500), status = -1;
	pid_t child;

	T(fd);
	T(setrlimit(RLIMIT_NOFILE, &limit));
	child = fork();
	if (!child)
		_exit(write(fd, "x", 1) == 1 ? 7 : 8);
	T(child > 0);
	T(waitpid(child, &status, 0) == child);
	T(WEXITSTATUS(status));
	T(fcntl(fd, F_DUPFD, 99));
	T(fcntl(fd, F_DUPFD, 100));
}

SCENARIO(overflowing_ranges)
{
	const long long top = 0x7fffffffffffffffLL;
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	char c = 'x';

	T(fallocate(fd, 0, top, 1));
	T(fallocate(fd, 0, top - 4096, 8192));
	T(fallocate(fd, 0, 1, top));
	T(pread(fd, &c, 1, top));
	T(pwrite(fd, &c, 1, top));
	T(pread(fd, &c, 1, top - 1));
	T(pread(fd, &c, 1, -1));
	T(lseek(fd, top, SEEK_SET) >= 0 || errno == EINVAL); /* tmpfs has no limit */
	T(lseek(fd, 1, SEEK_SET));
	T(lseek(fd, top, SEEK_CUR));
	T(write(fd, &c, 1));
	T(lseek(fd, top, SEEK_END));
	show_size("f");
}

SCENARIO(create_dots)
{
	T(open(".", O_CREAT | O_RDWR, 0644));
	T(open("..", O_CREAT | O_EXCL | O_RDWR, 0644));
	T(open("/", O_CREAT | O_EXCL | O_RDWR, 0644));
	T(open("/", O_CREAT | O_RDONLY, 0644));
	make_directory("d");
	T(open("d/.", O_CREAT | O_RDONLY, 0644));
	T(open("d/.", O_CREAT | O_EXCL, 0644));
	T(open("d/", O_CREAT | O_EXCL, 0644));
}

SCENARIO(read_only_while_written)
{
	int fd;

	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "size=1m"));
	fd = open("m/f", O_CREAT | O_WRONLY, 0644);
	T(fallocate(fd, 0, 0, 2 << 20));
	T(mount(NULL, "m", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	T(write(fd, "x", 1));
	T(close(fd));
	fd = open("m/f", O_RDONLY);
	T(mount(NULL, "m", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	T(open("m/f", O_WRONLY));
	T(umount("m"));
	T(close(fd));
	T(umount("m"));
}

SCENARIO(times_of_others)
{
	struct timespec now_and_omit[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
	struct timespec omit_and_now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
	struct timespec both_now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};

	make_file("f", "x");
	make_file("w", "x");
	chmod("w", 0666);
	AS(USER_A) {
		T(utimensat(AT_FDCWD, "f", now_and_omit, 0));
		T(utimensat(AT_FDCWD, "f", omit_and_now, 0));
		T(utimensat(AT_FDCWD, "f", both_now, 0));
		T(utimensat(AT_FDCWD, "w", now_and_omit, 0));
		T(utimensat(AT_FDCWD, "w", omit_and_now, 0));
		T(utimensat(AT_FDCWD, "w", both_now, 0));
	}
	T(utimensat(AT_FDCWD, "f", omit_and_now, 0));
}

SCENARIO(flags_of_closed)
{
	int fd = open("f", O_CREAT | O_RDWR | O_CLOEXEC, 0644);

	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, 0));
	T(fcntl(fd, F_GETFD));
	T(close(fd));
	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_SETFD, FD_CLOEXEC));
	T(fcntl(-1, F_GETFD));
	T(open("f", O_RDONLY) == fd);
	T(fcntl(fd, F_GETFD));
}

/* Data and holes: a file that is one hole, one page in its middle, behind the last. */
SCENARIO(seek_data_and_holes)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);

	T(ftruncate(fd, 100000));
	T(lseek(fd, 0, SEEK_DATA));
	T(lseek(fd, 0, SEEK_HOLE));
	T(pwrite(fd, "x", 1, 50000));
	T(lseek(fd, 0, SEEK_DATA));
	T(lseek(fd, 50000, SEEK_DATA));
	T(lseek(fd, 50000, SEEK_HOLE));
	T(lseek(fd, 60000, SEEK_DATA));
	T(lseek(fd, 60000, SEEK_HOLE));
	T(lseek(fd, 100000, SEEK_HOLE));
}

/*
 * Where the data behind a hole is found from every place of the hole: blocks of pointers are
 * missing on the way, in the file's first part and in its last. Each page of data is 4,096 bytes at
 * a multiple of that.
 */
SCENARIO(seek_data_from_within_a_hole)
{
	const long first = 1036 * 4096L, second = first + 900 * 4096L, page = 4096;
	int fd = open("f", O_RDWR | O_CREAT, 0600), found = 0, holes = 0;

	T(pwrite(fd, "x", 1, first));
	T(pwrite(fd, "x", 1, second));
	T(ftruncate(fd, second + 3000 * page));
	for (long at = 0; at < first; at += 37 * page)
		found += lseek(fd, at, SEEK_DATA) == first;
	for (long at = first + page; at < second; at += 37 * page + 1) {
		found += lseek(fd, at, SEEK_DATA) == second;
		holes += lseek(fd, at, SEEK_HOLE) == at;
	}
	say("%d %d", found, holes);
	T(lseek(fd, first - 500 * page, SEEK_DATA));
	T(lseek(fd, first, SEEK_HOLE));
	T(lseek(fd, second + page, SEEK_DATA));
	T(lseek(fd, second + 2999 * page, SEEK_DATA));
	T(lseek(fd, second + 2999 * page, SEEK_HOLE));
}

/* At the borders of 32 bits and of the four times that by which ext2 prolongs them. */
SCENARIO(times_far_from_now)
{
	static const long seconds[] = {
		0, 1, -1, -86400, INT32_MIN, INT32_MAX, INT32_MAX + 1L, 2208988800L, UINT32_MAX,
		1L << 32, (1L << 32) + INT32_MAX, (1L << 33) + 5, (3L << 32) + INT32_MAX,
	};
	const int count = sizeof(seconds) / sizeof(seconds[0]);
	struct stat st;
	char name[8];

	for (int i = 0; i < count; i++) {
		struct timespec times[2] = {{seconds[i], 999999999}, {seconds[count - 1 - i], i}};

		snprintf(name, sizeof(name), "f%d", i);
		make_file(name, "");
		if (utimensat(AT_FDCWD, name, times, 0))
			say("%s: %d", name, errno);
	}
	drop_caches();
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		stat(name, &st);
		say("%ld.%ld %ld.%ld", (long)st.st_atim.tv_sec, st.st_atim.tv_nsec,
		    (long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	}
}
