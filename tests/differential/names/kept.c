/*
 * kept.c - scenarios of names that move: links that are counted, names of every length, what /proc tells of open
 * files, texts of paths at their limits.
 */
#include "../scenarios.h"

static long rename2(const char *from, const char *to, unsigned flags)
{
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

/* ---- link counts ------------------------------------------------------------------------------- */

SCENARIO(links_of_directories_that_move)
{
	make_directory("a");
	make_directory("b");
	make_directory("a/d");
	make_directory("a/e");
	make_file("b/f", "f");
	T(rename("a/d", "b/d"));
	show_links("a");
	show_links("b");
	show_links("b/d");
	T(rename2("a/e", "b/f", 2)); /* a directory against a file */
	show_links("a");
	show_links("b");
	show_links("a/e");
	show_links("b/f");
	T(rename2("a/e", "b/f", 2));
	show_links("a");
	show_links("b");
	T(rename2("a/e", "b/d", 2)); /* two directories */
	show_links("a");
	show_links("b");
	T(rename("a/e", "b/d")); /* one over the other */
	show_links("a");
	show_links("b");
	show_links("b/d");
	T(rename("b/d", "b/g"));
	show_links("b");
	T(mkdir("b/h", 0755));
	T(rename("b/g", "b/h"));
	show_links("b");
	T(rmdir("b/h"));
	show_links("b");
	T(rename("b", "a/b"));
	show_links("a");
	drop_caches();
	show_links("a");
	show_links("a/b");
	list("a/b");
}

SCENARIO(links_of_files_that_move)
{
	struct stat st;
	int fd;

	make_file("a", "a");
	make_file("b", "b");
	link("a", "a2");
	link("b", "b2");
	fd = open("b", O_RDONLY);
	T(rename2("a", "b", 2));
	show_links("a");
	show_links("b");
	T(rename("a", "b")); /* b's file, over the name of a's */
	show_links("b");
	show_links("a2");
	T(rename2("b", "b2", 1));
	T(rename2("b", "b2", 2));
	T(rename2("b", "b2", 0));
	show_links("b");
	T(rename("a2", "b"));
	T(rename("b", "b2"));
	fstat(fd, &st);
	T(st.st_nlink);
	list(".");
	slurp("b2");
}

/* ---- names of every length ------------------------------------------------------------------------ */

static const char *name_of(int length, int letter)
{
	static char names[4][300];
	static int next;
	char *name = names[next++ & 3];

	memset(name, letter, 300);
	name[length] = 0;
	return name;
}

SCENARIO(names_of_every_length_move)
{
	int wrong = 0;

	for (int from = 1; from <= 250; from += from < 64 ? 1 : 31)
		for (int to = 1; to <= 250; to += to < 64 ? 7 : 31) {
			struct stat a, b, now;

			close(open(name_of(from, 'a'), O_CREAT | O_WRONLY, 0644));
			close(open(name_of(to, 'b'), O_CREAT | O_WRONLY, 0644));
			stat(name_of(from, 'a'), &a);
			stat(name_of(to, 'b'), &b);
			rename2(name_of(from, 'a'), name_of(to, 'b'), 2);
			wrong += stat(name_of(from, 'a'), &now) || now.st_ino != b.st_ino;
			wrong += stat(name_of(to, 'b'), &now) || now.st_ino != a.st_ino;
			rename(name_of(from, 'a'), name_of(to, 'b'));
			wrong += stat(name_of(to, 'b'), &now) || now.st_ino != b.st_ino;
			wrong += !stat(name_of(from, 'a'), &now);
			rename(name_of(to, 'b'), name_of(from, 'c'));
			wrong += stat(name_of(from, 'c'), &now) || now.st_ino != b.st_ino;
			unlink(name_of(from, 'c'));
		}
	T(wrong);
	list(".");
}

/* What /proc says of an open file, from its directory on. */
static void place_of(int fd)
{
	char name[32], text[4200];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = 0;
	say("%s", strrchr(text, '/') ? strrchr(text, '/') : text);
}

SCENARIO(places_of_open_files)
{
	int a, b, d;

	make_file("a", "a");
	make_file("bb", "b");
	make_directory("d");
	a = open("a", O_RDONLY);
	b = open("bb", O_RDONLY);
	d = open("d", O_RDONLY);
	rename2("a", "bb", 2);
	place_of(a);
	place_of(b);
	rename2("a", name_of(60, 'n'), 0);
	place_of(b);
	rename2(name_of(60, 'n'), "bb", 2);
	place_of(a);
	place_of(b);
	rename2("bb", "short", 0);
	place_of(b);
	rename("short", "x");
	rename(name_of(60, 'n'), "bb");
	rename("x", "bb"); /* a's name is taken */
	place_of(a);
	place_of(b);
	unlink("bb");
	place_of(b);
	close(open("bb", O_CREAT | O_WRONLY, 0644));
	place_of(b);
	rename("d", "e");
	place_of(d);
	rmdir("e");
	place_of(d);
}

/* ---- slashes and dots ------------------------------------------------------------------------------ */

SCENARIO(renames_with_slashes_and_dots)
{
	make_file("f", "f");
	make_directory("d");
	make_directory("e");
	symlink("d", "l");
	T(rename("l/", "x"));
	T(rename("l", "x/"));
	T(rename("f", "new/"));
	T(rename("d", "new/"));
	T(rename("new", "d"));
	T(rename2("f", "d/", 2));
	T(rename2("d", "f/", 2));
	T(rename2("d/", "f", 2));
	T(rename2("d/", "e/", 2));
	T(rename2("d", ".", 1));
	T(rename2("d", "..", 1));
	T(rename2("d", ".", 2));
	T(rename2("none", ".", 1));
	T(rename2(".", "e", 1));
	T(rename2("f", "d/.", 0));
	T(rename2("none", "none", 2));
	T(rename2("f", "f", 1));
	T(rename2("f", "f", 2));
	T(rename("f/x", "y"));
	T(rename("d/none", "y"));
	T(rename("f", "none/y"));
	list(".");
}

SCENARIO(paths_of_every_length)
{
	static char path[4200];
	int wrong = 0;

	make_file("f", "f");
	for (int i = 0; i < 2090; i += i < 400 ? 1 : 13) { /* ././ ... f */
		char *at = path;

		for (int j = 0; j < i && at - path + 3 < 4096; j++)
			at = stpcpy(at, "./");
		strcpy(at, "f");
		wrong += access(path, F_OK) != (strlen(path) < 4096 ? 0 : -1);
		strcpy(at, "g");
		wrong += !access(path, F_OK) || errno != ENOENT;
		for (char *slash = path; *slash; slash++) /* and the same with slashes alone in front */
			if (*slash == '/')
				*slash = '.';
	}
	T(wrong);
}

SCENARIO(where_we_stand_in_bytes)
{
	char buffer[4200];
	long length;
	int depth = 0;

	length = syscall(SYS_getcwd, buffer, sizeof(buffer));
	T(length == (long)strlen(buffer) + 1);
	T(syscall(SYS_getcwd, buffer, length) == length);
	T(syscall(SYS_getcwd, buffer, length - 1));
	T(syscall(SYS_getcwd, buffer, 0));
	for (; depth < 17; depth++)
		if (mkdir(name_of(250, 'd'), 0755) || chdir(name_of(250, 'd')))
			break;
	T(depth);
	T(syscall(SYS_getcwd, buffer, sizeof(buffer)));
	T(access(".", F_OK));
	for (; depth > 0; depth--) {
		chdir("..");
		rmdir(name_of(250, 'd'));
	}
	T(syscall(SYS_getcwd, buffer, sizeof(buffer)) == length);
	list(".");
}

/* ---- what has no name of its own -------------------------------------------------------------------- */

SCENARIO(calls_by_empty_names)
{
	struct timespec omit[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
	struct stat st;
	char text[8];
	int fd;

	make_file("f", "text");
	fd = open("f", O_RDONLY);
	T(syscall(SYS_newfstatat, AT_FDCWD, "", &st, AT_EMPTY_PATH));
	say("%o", st.st_mode & S_IFMT);
	T(syscall(SYS_newfstatat, fd, "", &st, 0));
	T(syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW));
	T(syscall(SYS_newfstatat, fd, "x", &st, AT_EMPTY_PATH));
	T(syscall(SYS_newfstatat, 99, "", &st, AT_EMPTY_PATH));
	T(syscall(SYS_newfstatat, 99, "/", &st, AT_EMPTY_PATH));
	T(syscall(SYS_newfstatat, fd, "", 8L, AT_EMPTY_PATH));
	T(syscall(SYS_faccessat2, fd, "", R_OK, AT_EMPTY_PATH));
	T(syscall(SYS_faccessat2, fd, "", R_OK, 0));
	T(syscall(SYS_faccessat2, AT_FDCWD, "f", 8, 0));
	T(syscall(SYS_faccessat2, AT_FDCWD, "f", R_OK, 0x4000));
	T(syscall(SYS_readlinkat, AT_FDCWD, "", text, sizeof(text)));
	T(syscall(SYS_readlinkat, AT_FDCWD, "f", text, -1));
	T(syscall(SYS_readlinkat, AT_FDCWD, "none", text, 0));
	T(syscall(SYS_utimensat, 99, "none", omit, 0));
	T(syscall(SYS_utimensat, 99, "none", omit, 0x40));
	T(syscall(SYS_utimensat, AT_FDCWD, NULL, NULL, 0));
	T(syscall(SYS_utimensat, fd, NULL, NULL, AT_SYMLINK_NOFOLLOW));
	T(syscall(SYS_utimensat, 99, NULL, NULL, 0));
	T(syscall(SYS_utimensat, fd, NULL, NULL, 0));
	T(openat(99, "/", O_RDONLY) >= 0);
	T(openat(99, "f", O_RDONLY));
	T(openat(fd, "f", O_RDONLY));
	T(mkdirat(fd, "d", 0755));
	T(unlinkat(99, "f", 0));
}

/* ---- /proc ------------------------------------------------------------------------------------------ */

SCENARIO(names_that_are_numbers)
{
	char name[64], whole[64], part[64] = "";
	int fd = open("/proc/self/comm", O_RDONLY), n, at = 0;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	T(access(name, F_OK));
	snprintf(name, sizeof(name), "/proc/self/fd/0%d", fd);
	T(access(name, F_OK));
	T(access("/proc/self/fd/", F_OK));
	T(access("/proc/self/fd/-1", F_OK));
	T(access("/proc/self/fd/+3", F_OK));
	T(access("/proc/self/fd/3x", F_OK));
	T(access("/proc/self/fd/999", F_OK));
	T(access("/proc/self/fd/9999999999", F_OK));
	T(access("/proc/self/fd/4294967296", F_OK));
	snprintf(name, sizeof(name), "/proc/0%d", getpid());
	T(access(name, F_OK));
	T(access("/proc/0", F_OK));
	T(open("/proc/self/new", O_CREAT | O_WRONLY, 0644));
	T(mkdir("/proc/self/new", 0755));
	T(unlink("/proc/self/comm"));
	T(rename("/proc/self/comm", "/proc/self/x"));
	n = (int)read(fd, whole, sizeof(whole));
	T(n);
	T(read(fd, part, 1));
	T(pread(fd, part, 1, 100));
	T(lseek(fd, 0, SEEK_SET));
	while (read(fd, part + at, 1) == 1)
		at++;
	T(at == n && !memcmp(part, whole, (size_t)n));
	T(pread(fd, part, 3, 1));
	T(!memcmp(part, whole + 1, 3));
	T(read(fd, (void *)8, 1));
	T(lseek(fd, 2, SEEK_SET));
	T(read(fd, (void *)8, 4));
	T(lseek(fd, 0, SEEK_CUR));
	T(syscall(SYS_prctl, 15, "renamed", 0, 0, 0));
	T(lseek(fd, 0, SEEK_SET));
	n = (int)read(fd, whole, sizeof(whole));
	say("%.*s", n - 1, whole);
}
