/*
 * changed.c - scenarios of which times a call gives to which files, what a read-only mount still lets one do, and
 * what of a mode a new file gets.
 */
#include <sys/xattr.h>

#include "../scenarios.h"

/* ---- times ------------------------------------------------------------------------------------- */

static const char *const watched[] = {"a", "b", "a/f", "a/g", "b/h", "b/d"};
static struct stat before[6];

static void look(void)
{
	for (int i = 0; i < 6; i++)
		if (lstat(watched[i], &before[i]))
			before[i].st_nlink = 0;
	pause_ms(25);
}

static bool differs(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec || a.tv_nsec != b.tv_nsec;
}

/* Of each file, which may have moved: is its mtime new, its ctime? */
static void changes(void)
{
	for (int i = 0; i < 6; i++) {
		struct stat now;
		int was = 0;

		if (lstat(watched[i], &now))
			continue;
		while (was < 6 && (!before[was].st_nlink || before[was].st_ino != now.st_ino))
			was++;
		if (was == 6)
			continue;
		bool modified = differs(now.st_mtim, before[was].st_mtim);
		bool changed = differs(now.st_ctim, before[was].st_ctim);
		if (modified || changed)
			say("%s:%d%d", watched[i], modified, changed);
	}
	say("|");
}

#define TIMES(call) (look(), T(call), changes())

SCENARIO(times_of_calls)
{
	make_directory("a");
	make_directory("b");
	make_directory("b/d");
	make_file("a/f", "f");
	make_file("a/g", "g");
	make_file("b/h", "h");
	TIMES(chmod("a/f", 0600));
	TIMES(chown("a/f", 1, 1));
	TIMES(utimensat(AT_FDCWD, "a/g", (struct timespec[]){{5, 5}, {0, UTIME_OMIT}}, 0));
	TIMES(link("a/f", "b/f"));
	TIMES(rename("a/f", "a/f")); /* nothing is done */
	TIMES(rename("b/f", "a/f"));
	TIMES(unlink("b/f"));
	TIMES(mkdir("b/d/x", 0755));
	TIMES(rmdir("b/d/x"));
	TIMES(symlink("x", "b/x"));
	TIMES(mknod("b/p", S_IFIFO | 0600, 0));
	TIMES(rename("b/x", "a/x"));
	TIMES(rename("a/x", "a/y"));
	TIMES(unlink("a/y"));
	TIMES(truncate("a/f", 0));
	TIMES(truncate("a/g", 5));
	TIMES(setxattr("a/g", "trusted.x", "1", 1, 0));
	TIMES(removexattr("a/g", "trusted.x"));
	TIMES(open("a/g", O_WRONLY | O_TRUNC) < 0);
	TIMES(open("a/f", O_WRONLY | O_TRUNC) < 0); /* it is empty already */
	TIMES(open("a/g", O_WRONLY | O_CREAT, 0600) < 0);
	TIMES(open("a/none", O_RDONLY));
	TIMES(open("a/new", O_WRONLY | O_CREAT, 0600) < 0);
	TIMES(link("a/g", "b/g"));
	TIMES(rename("a/new", "b/g")); /* a name of a/g goes */
	TIMES(chmod("a/none", 0600));
	TIMES(rmdir("b"));
}

SCENARIO(times_of_what_is_exchanged)
{
	make_directory("a");
	make_directory("b");
	make_directory("b/d");
	make_file("a/f", "f");
	make_file("a/g", "g");
	make_file("b/h", "h");
	link("a/f", "a/g2");
	TIMES(syscall(SYS_renameat2, AT_FDCWD, "a/g", AT_FDCWD, "b/h", 2));
	TIMES(syscall(SYS_renameat2, AT_FDCWD, "a/g", AT_FDCWD, "b/h", 2));
	TIMES(syscall(SYS_renameat2, AT_FDCWD, "a/f", AT_FDCWD, "a/g2", 2));
	TIMES(syscall(SYS_renameat2, AT_FDCWD, "a/f", AT_FDCWD, "a/g", 1));
}

/* Is the file's access time new after this? */
static bool accessed(const char *name)
{
	struct stat st;

	lstat(name, &st);
	return st.st_atime != 1000;
}

static void make_old(const char *name)
{
	utimensat(AT_FDCWD, name, (struct timespec[]){{1000, 0}, {2000, 0}}, AT_SYMLINK_NOFOLLOW);
}

#define ACCESS(name, call) (make_old(name), (void)(call), say("%s: %d", #call, accessed(name)))

static long list_one(const char *name)
{
	char buffer[512];
	int fd = open(name, O_RDONLY);
	long n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));

	close(fd);
	return n;
}

static void accesses(void)
{
	char text[64];
	int fd, noatime, null = open("/dev/null", O_WRONLY);
	struct iovec vector = {text, 4};

	make_file("m/f", "text");
	make_directory("m/d");
	symlink("f", "m/l");
	fd = open("m/f", O_RDWR);
	noatime = open("m/f", O_RDWR | O_NOATIME);
	ACCESS("m/f", pread(fd, text, 4, 0));
	ACCESS("m/f", pread(fd, text, 4, 4));
	ACCESS("m/f", pread(fd, text, 64, 0));
	ACCESS("m/f", pread(noatime, text, 4, 0));
	ACCESS("m/f", pwrite(fd, text, 4, 0));
	ACCESS("m/f", preadv(fd, &vector, 1, 0));
	ACCESS("m/f", munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0), 4096));
	ACCESS("m/f", munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, noatime, 0), 4096));
	ACCESS("m/f", close(open("m/l", O_RDONLY)));
	ACCESS("m/f", lseek(fd, 0, SEEK_SET));
	ACCESS("m/f", sendfile(null, fd, NULL, 4));
	ACCESS("m/l", close(open("m/l", O_RDONLY)));
	ACCESS("m/l", readlink("m/l", text, 8));
	ACCESS("m/l", close(open("m/l", O_PATH | O_NOFOLLOW)));
	ACCESS("m/l", lstat("m/l", &(struct stat){0}));
	ACCESS("m/d", list_one("m/d"));
	ACCESS("m/d", access("m/d/none", F_OK));
	close(fd);
	close(noatime);
}

SCENARIO(accesses_that_count)
{
	static const unsigned long flags[] = {0, MS_NODIRATIME, MS_NOATIME};

	make_directory("m");
	for (int i = 0; i < 3; i++) {
		T(mount("none", "m", "tmpfs", flags[i], NULL));
		accesses();
		T(umount("m"));
	}
}

/* ---- read-only mounts ------------------------------------------------------------------------------ */

static void try_to_change(const char *name)
{
	struct timespec omit[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
	struct stat st;
	int fd;

	if (chdir(name))
		return;
	fd = open("f", O_RDONLY);
	T(link("f", "g"));
	T(link("f", "d"));
	T(symlink("f", "g"));
	T(mknod("g", S_IFIFO | 0600, 0));
	T(mkdir("d", 0755));
	T(mkdir("g", 0755));
	T(rmdir("d"));
	T(rmdir("none"));
	T(unlink("none"));
	T(unlink("f"));
	T(rename("f", "g"));
	T(rename("none", "g"));
	T(rename("f", "f"));
	T(chown("f", 1, 1));
	T(fchmod(fd, 0600));
	T(fchown(fd, 1, 1));
	T(utimensat(AT_FDCWD, "f", NULL, 0));
	T(utimensat(AT_FDCWD, "f", omit, 0));
	T(open("f", O_RDWR));
	T(open("f", O_RDONLY | O_TRUNC));
	T(open("f", O_RDONLY | O_CREAT, 0600) >= 0);
	T(open("f", O_WRONLY | O_CREAT | O_EXCL, 0600));
	T(open("f", O_WRONLY | O_PATH) >= 0);
	T(open("none", O_RDONLY | O_CREAT, 0600));
	T(open("none", O_WRONLY));
	T(open("d", O_TMPFILE | O_RDWR, 0600));
	T(open("p", O_RDWR | O_NONBLOCK) >= 0); /* what goes there changes no file system */
	T(open("n", O_WRONLY) >= 0);
	T(access("p", W_OK));
	T(access("n", W_OK));
	T(access("f", W_OK));
	T(access("d", W_OK));
	T(access("f", R_OK));
	T(access("l", W_OK));
	AS(USER_A) {
		T(access("f", W_OK));
		T(open("f", O_WRONLY));
		T(mkdir("g", 0755));
		T(unlink("f"));
		T(chmod("f", 0777));
	}
	T(stat("f", &st));
	say("%o %u %lld", st.st_mode, st.st_uid, (long long)st.st_size);
	close(fd);
	chdir("..");
}

SCENARIO(what_read_only_mounts_refuse)
{
	make_directory("m");
	make_directory("b");
	T(mount("none", "m", "tmpfs", 0, NULL));
	make_file("m/f", "x");
	make_directory("m/d");
	symlink("f", "m/l");
	mknod("m/p", S_IFIFO | 0600, 0);
	mknod("m/n", S_IFCHR | 0666, 0x103);
	T(mount("m", "b", NULL, MS_BIND, NULL));
	T(mount(NULL, "b", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL));
	try_to_change("b"); /* the mount */
	T(rename("b/f", "m/g"));
	T(rename("m/f", "b/g"));
	T(umount2("b", MNT_DETACH));
	T(mount(NULL, "m", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	try_to_change("m"); /* the file system */
	umount2("m", MNT_DETACH);
}

/* ---- new files ------------------------------------------------------------------------------------- */

SCENARIO(modes_of_new_files)
{
	int fd;

	umask(027);
	T(close(open("a", O_CREAT | O_WRONLY, 07777)));
	T(close(open("b", O_CREAT | O_WRONLY, 0170000 | 0666)));
	T(mknod("c", S_IFREG | 07777, 0));
	T(mknod("d", S_IFIFO | 01666, 0));
	T(mkdir("e", 07777));
	show_mode("a");
	show_mode("b");
	show_mode("c");
	show_mode("d");
	show_mode("e");
	make_directory("set");
	chown("set", 0, 77);
	chmod("set", 02777);
	AS(USER_A) {
		umask(0);
		fd = open("set/a", O_CREAT | O_RDWR, 02777); /* one is not of that group */
		T(write(fd, "x", 1));
		T(close(open("set/b", O_CREAT | O_RDWR, 02767)));
		T(mkdir("set/c", 0700));
		T(mknod("set/d", S_IFIFO | 02777, 0));
		T(mknod("set/n", S_IFCHR | 0666, 0x103));
		T(mknod("set/a", S_IFCHR | 0666, 0x103));
		T(symlink("x", "set/l"));
		/* who makes a file may do with it what its mode forbids */
		fd = open("set/none", O_CREAT | O_RDWR, 0);
		T(write(fd, "x", 1));
		T(open("set/none", O_RDONLY));
		T(open("set/none", O_RDONLY | O_CREAT, 0777));
		T(open("set/z", O_CREAT | O_RDONLY | O_TRUNC, 0) >= 0);
		T(link("set/none", "set/more"));
	}
	show_mode("set/a");
	show_mode("set/b");
	show_mode("set/c");
	show_mode("set/d");
	show_owner("set/a");
	show_owner("set/c");
	show_owner("set/l");
	chmod("set", 0777);
	AS(USER_A)
		T(close(open("set/y", O_CREAT | O_RDWR, 02777)));
	show_mode("set/y");
	show_owner("set/y");
}

SCENARIO(directories_of_others_do_not_move)
{
	make_directory("a");
	make_directory("b");
	chown("a", USER_A, USER_A);
	chown("b", USER_A, USER_A);
	make_directory("a/theirs");
	make_directory("a/shared");
	chmod("a/shared", 0777);
	make_file("a/file", "x");
	AS(USER_A) {
		T(rename("a/theirs", "b/theirs")); /* its ".." would change */
		T(rename("a/theirs", "a/renamed"));
		T(rename("a/shared", "b/shared"));
		T(rename("a/file", "b/file"));
		T(rmdir("a/renamed"));
		T(mkdir("a/own", 0));
		T(rename("a/own", "b/own"));
		T(rename("a/own", "a/own2"));
		T(unlink("b/file"));
	}
}
