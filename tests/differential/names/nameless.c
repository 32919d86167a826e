/*
 * nameless.c - scenarios of O_TMPFILE: files without a name, who may make them, and how they get
 * one.
 */
#include "../scenarios.h"

/* Where an open file lies, the digits of its number as "N". */
static void show_place(int fd)
{
	char link[40], text[PATH_MAX] = "", *name;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, text, sizeof(text) - 1) < 0 || !(name = strrchr(text, '/')))
		name = text;
	putchar(' ');
	for (; *name; name++)
		if (*name < '0' || *name > '9')
			putchar(*name);
		else if (name[1] < '0' || name[1] > '9')
			putchar('N');
	fflush(stdout);
}

static void show_file(int fd)
{
	struct stat st;

	fstat(fd, &st);
	say("%06o links=%lu size=%ld", st.st_mode, (unsigned long)st.st_nlink, (long)st.st_size);
}

static int link_by_proc(int fd, const char *name)
{
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

SCENARIO(tmpfile_and_its_names)
{
	int fd;

	make_directory("d");
	make_directory("e");
	fd = open("d", O_TMPFILE | O_RDWR, 0664);
	T(fd >= 0);
	T(fcntl(fd, F_GETFL));
	show_place(fd);
	show_file(fd);
	list("d");
	T(write(fd, "hello", 5));
	T(link_by_proc(fd, "e/first"));
	show_file(fd);
	slurp("e/first");
	T(link_by_proc(fd, "e/first"));
	T(link("e/first", "d/second"));
	T(link_by_proc(fd, "third"));
	show_links("third");
	show_place(fd);
	T(unlink("third"));
	T(unlink("d/second"));
	T(rename("e/first", "e/other"));
	T(write(fd, "!", 1));
	slurp("e/other");
	T(unlink("e/other"));
	show_file(fd);
	T(link_by_proc(fd, "again")); /* it had a name, and has none: as every file */
	T(rmdir("d"));
	T(rmdir("e"));
	T(pread(fd, (char[8]){0}, 8, 0));
}

SCENARIO(tmpfile_linked_by_descriptor)
{
	int fd = open(".", O_TMPFILE | O_WRONLY, 0600), other;

	T(linkat(fd, "", AT_FDCWD, "f", AT_EMPTY_PATH));
	show_mode("f");
	other = open(".", O_TMPFILE | O_EXCL | O_RDWR, 0600);
	T(other >= 0);
	T(linkat(other, "", AT_FDCWD, "g", AT_EMPTY_PATH));
	T(link_by_proc(other, "g"));
	show_file(other);
	T(chmod(".", 0777));
	AS(USER_A)
	{
		fd = open(".", O_TMPFILE | O_RDWR, 0600);
		T(link_by_proc(fd, "mine"));
		show_owner("mine");
		T(link_by_proc(other, "roots"));
	}
	list(".");
}

SCENARIO(tmpfile_arguments)
{
	make_file("f", "");
	make_directory("d");
	symlink("d", "l");
	T(open("d", O_TMPFILE | O_RDONLY, 0600));
	T(open("d", (O_TMPFILE & ~O_DIRECTORY) | O_RDWR, 0600));
	T(open("d", O_TMPFILE | O_CREAT | O_RDWR, 0600));
	T(open("d", O_TMPFILE | O_TRUNC | O_RDWR, 0600) >= 0);
	T(open("d", O_TMPFILE | O_ACCMODE, 0600) >= 0);
	T(open("d", O_TMPFILE | O_APPEND | O_NOATIME | O_WRONLY, 0600) >= 0);
	T(open("d", O_TMPFILE | O_PATH | O_RDWR, 0600) >= 0); /* the directory */
	T(open("f", O_TMPFILE | O_RDWR, 0600));
	T(open("none", O_TMPFILE | O_RDWR, 0600));
	T(open("l", O_TMPFILE | O_RDWR, 0600) >= 0);
	T(open("l", O_TMPFILE | O_NOFOLLOW | O_RDWR, 0600));
	T(open("/proc", O_TMPFILE | O_RDWR, 0600));
	list("d");
}

SCENARIO(tmpfile_rights)
{
	int fd;

	umask(027);
	make_directory("d");
	chmod("d", 02775);
	chown("d", 0, USER_B);
	fd = open("d", O_TMPFILE | O_RDWR, 02777);
	show_file(fd);
	T(link_by_proc(fd, "d/f"));
	show_owner("d/f");
	make_directory("shut");
	chmod("shut", 0777 & ~0022);
	T(chmod("d", 02777));
	AS(USER_A)
	{
		T(open("shut", O_TMPFILE | O_RDWR, 0600));
		fd = open("d", O_TMPFILE | O_RDWR, 02777);
		show_file(fd);
		fd = open("d", O_TMPFILE | O_RDWR, 0);
		show_file(fd);
		T(write(fd, "x", 1));
		T(link_by_proc(fd, "d/mine"));
		T(open("d/mine", O_RDONLY));
		show_owner("d/mine");
	}
}

/* A name more is counted, the first one is the inode's own: nothing is left over, and nothing is
 * lacking. */
SCENARIO(tmpfile_counts)
{
	struct statfs before, meanwhile, after;

	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "nr_inodes=6"));
	statfs("m", &before);
	for (int round = 0; round < 10; round++) {
		int fd = open("m", O_TMPFILE | O_RDWR, 0600),
		    other = open("m", O_TMPFILE | O_RDWR, 0600);

		if (link_by_proc(fd, "m/one") || link("m/one", "m/two") || unlink("m/one"))
			say("round %d", round);
		statfs("m", &meanwhile);
		unlink("m/two");
		close(fd);
		close(other);
	}
	statfs("m", &after);
	T(before.f_ffree - meanwhile.f_ffree);
	T(before.f_ffree - after.f_ffree);
	int made = 0, fds[10];
	while (made < 10 && (fds[made] = open("m", O_TMPFILE | O_RDWR, 0600)) >= 0)
		made++;
	show("open", -1);
	T(made);
	while (made)
		close(fds[--made]);
	T(mount(NULL, "m", NULL, MS_REMOUNT | MS_RDONLY | MS_BIND, NULL));
	T(open("m", O_TMPFILE | O_RDWR, 0600));
	T(umount2("m", MNT_DETACH));
}
