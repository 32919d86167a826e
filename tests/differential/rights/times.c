/*
 * times.c - scenarios of the times of files: who may set them, what sets them.
 */
#include "../scenarios.h"

SCENARIO(times_set)
{
	struct timespec times[2] = {{1000, 5}, {2000, 7}};
	struct stat st;

	make_file("f", "x");
	T(utimensat(AT_FDCWD, "f", times, 0));
	stat("f", &st);
	say("%lld %lld", (long long)st.st_atim.tv_sec, (long long)st.st_mtim.tv_sec);
	times[0].tv_nsec = UTIME_OMIT;
	times[1].tv_sec = 3000;
	T(utimensat(AT_FDCWD, "f", times, 0));
	stat("f", &st);
	say("%lld %lld", (long long)st.st_atim.tv_sec, (long long)st.st_mtim.tv_sec);
	times[0].tv_nsec = 1000000000;
	T(utimensat(AT_FDCWD, "f", times, 0));
	T(utimensat(AT_FDCWD, "none", NULL, 0));
	T(utimensat(AT_FDCWD, "f", NULL, 0));
	stat("f", &st);
	T(st.st_mtim.tv_sec > 1000000);
	T(utimensat(AT_FDCWD, "f", NULL, 0x40));
}

SCENARIO(times_permission)
{
	struct timespec times[2] = {{1000, 0}, {2000, 0}};

	make_file("f", "x");
	chmod("f", 0666);
	AS(USER_A) {
		T(utimensat(AT_FDCWD, "f", times, 0));
		T(utimensat(AT_FDCWD, "f", NULL, 0));
	}
	chmod("f", 0644);
	AS(USER_A) {
		T(utimensat(AT_FDCWD, "f", NULL, 0));
	}
}

SCENARIO(times_link)
{
	struct timespec times[2] = {{1000, 0}, {2000, 0}};
	struct stat st;

	make_file("f", "x");
	symlink("f", "l");
	T(utimensat(AT_FDCWD, "l", times, AT_SYMLINK_NOFOLLOW));
	lstat("l", &st);
	T(st.st_mtim.tv_sec);
	stat("f", &st);
	T(st.st_mtim.tv_sec == 2000);
}

static int after(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static void wait_a_tick(void)
{
	struct timespec pause = {0, 30 * 1000 * 1000};

	nanosleep(&pause, NULL);
}

SCENARIO(times_relations)
{
	struct stat before, now;
	int fd;

	make_file("f", "x");
	stat("f", &before);
	wait_a_tick();
	fd = open("f", O_WRONLY);
	stat("f", &now);
	T(after(now.st_mtim, before.st_mtim));
	write(fd, "y", 1);
	stat("f", &now);
	T(after(now.st_mtim, before.st_mtim));
	T(after(now.st_ctim, before.st_ctim));
	before = now;
	wait_a_tick();
	chmod("f", 0600);
	stat("f", &now);
	T(after(now.st_mtim, before.st_mtim));
	T(after(now.st_ctim, before.st_ctim));
	before = now;
	wait_a_tick();
	link("f", "g");
	stat("f", &now);
	T(after(now.st_ctim, before.st_ctim));
	before = now;
	wait_a_tick();
	rename("g", "h");
	stat("f", &now);
	T(after(now.st_mtim, before.st_mtim));
}

SCENARIO(times_of_directory)
{
	struct stat before, now;

	make_directory("d");
	make_file("d/f", "x");
	stat("d", &before);
	wait_a_tick();
	chmod("d/f", 0600);
	stat("d", &now);
	T(after(now.st_mtim, before.st_mtim));
	make_file("d/g", "");
	stat("d", &now);
	T(after(now.st_mtim, before.st_mtim));
	before = now;
	wait_a_tick();
	unlink("d/g");
	stat("d", &now);
	T(after(now.st_mtim, before.st_mtim));
	before = now;
	wait_a_tick();
	rename("d/f", "f");
	stat("d", &now);
	T(after(now.st_mtim, before.st_mtim));
}

SCENARIO(times_old_calls)
{
	struct timeval times[2] = {{100, 1}, {200, 2}};
	struct stat st;

	make_file("f", "x");
	T(syscall(SYS_utimes, "f", times));
	stat("f", &st);
	T(st.st_atim.tv_sec);
	T(st.st_mtim.tv_nsec);
	times[0].tv_usec = 1000000;
	T(syscall(SYS_utimes, "f", times));
	T(syscall(SYS_futimesat, AT_FDCWD, "f", NULL));
}
