/*
 * places.c - scenarios of mounts (bind, move, flags, lazy unmounting), and of copying between files
 * in the kernel.
 */
#include "../scenarios.h"

#include <sys/sysmacros.h>

#include <sys/xattr.h>

static long copy_range(int in, long *from, int out, long *to, size_t count, unsigned flags)
{
	return syscall(SYS_copy_file_range, in, from, out, to, count, flags);
}

SCENARIO(copy_file_range_contents)
{
	long from = 2, to = 5;
	int in, out = open("out", O_CREAT | O_RDWR, 0644);

	make_file("in", "0123456789");
	in = open("in", O_RDONLY);
	T(copy_range(in, &from, out, &to, 3, 0));
	say("%ld %ld", from, to);
	slurp("out");
	T(copy_range(in, NULL, out, NULL, 4, 0));
	T(copy_range(in, NULL, out, NULL, 100, 0));
	T(copy_range(in, NULL, out, NULL, 100, 0));
	slurp("out");
	T(lseek(in, 0, SEEK_CUR));
	T(lseek(out, 0, SEEK_CUR));
	T(copy_range(out, &from, out, &to, 3, 0));
	from = 0, to = 1;
	T(copy_range(out, &from, out, &to, 3, 0));
	to = 100;
	T(copy_range(in, &from, out, &to, 0, 0));
	show_size("out");
}

SCENARIO(copy_file_range_errors)
{
	long negative = -1, top = 0x7ffffffffffffff0L, zero = 0;
	int in, out, append, pipes[2], directory = open(".", O_RDONLY);

	make_file("in", "0123456789");
	make_file("out", "x");
	in = open("in", O_RDONLY);
	out = open("out", O_WRONLY);
	append = open("out", O_WRONLY | O_APPEND);
	pipe(pipes);
	T(copy_range(in, NULL, out, NULL, 1, 1));
	T(copy_range(in, NULL, in, NULL, 1, 0));
	T(copy_range(out, NULL, out, NULL, 1, 0));
	T(copy_range(in, NULL, append, NULL, 1, 0));
	T(copy_range(directory, NULL, out, NULL, 1, 0));
	T(copy_range(in, NULL, pipes[1], NULL, 1, 0));
	T(copy_range(in, NULL, 99, NULL, 1, 0));
	T(copy_range(in, (long *)8, out, NULL, 1, 0));
	T(copy_range(in, &zero, out, &top, 100, 0) == 10 || errno == EFBIG); /* ext2 has a limit */
	T(copy_range(in, &zero, out, &negative, 1, 0));
}

/*
 * A copy that is cut short, by the target's room or its limit, leaves the source's position behind
 * what was copied.
 */
SCENARIO(copies_cut_short)
{
	static char block[16384];
	struct rlimit limit = {10, 10};
	int in = open("in", O_CREAT | O_RDWR, 0644), out, ends[2];
	long from = 0, to = 0;

	T(write(in, block, sizeof(block)));
	pipe2(ends, O_NONBLOCK);
	T(write(ends[1], block, 61440));
	T(sendfile(ends[1], in, &from, 12288));
	T(sendfile(ends[1], in, &from, 12288));
	T(read(ends[0], block, 4096));
	T(lseek(in, 4096, SEEK_SET));
	T(sendfile(ends[1], in, NULL, 12288));
	T(sendfile(ends[1], in, NULL, 12288));
	say("%ld %ld", from, (long)lseek(in, 0, SEEK_CUR));
	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "size=8k"));
	out = open("m/f", O_CREAT | O_RDWR, 0644);
	T(sendfile(out, in, &from, 12288));
	say("%ld %ld", from, (long)lseek(out, 0, SEEK_CUR));
	close(out);
	T(umount("m"));
	signal(SIGXFSZ, SIG_IGN);
	T(setrlimit(RLIMIT_FSIZE, &limit));
	from = 0;
	out = open("out", O_CREAT | O_RDWR, 0644);
	T(sendfile(out, in, &from, 16));
	T(sendfile(out, in, &from, 16));
	T(lseek(out, 7, SEEK_SET));
	T(lseek(in, 7, SEEK_SET));
	T(sendfile(out, in, NULL, 16));
	say("%ld %ld", from, (long)lseek(in, 0, SEEK_CUR));
	from = 4;
	T(copy_range(in, &from, out, &to, 16, 0));
	say("%ld %ld", from, to);
	T(lseek(in, 3, SEEK_SET));
	T(lseek(out, 8, SEEK_SET));
	T(copy_range(in, NULL, out, NULL, 16, 0));
	say("%ld %ld", (long)lseek(in, 0, SEEK_CUR), (long)lseek(out, 0, SEEK_CUR));
}

SCENARIO(mount_bind)
{
	make_directory("a");
	make_directory("a/sub");
	make_file("a/file", "x");
	make_directory("b");
	make_file("c", "y");
	T(mount("a", "b", NULL, MS_BIND, NULL));
	slurp("b/file");
	T(rmdir("b"));
	T(rename("a/file", "b/moved"));
	T(rename("b/file", "b/moved"));
	slurp("a/moved");
	T(mount("a/moved", "c", NULL, MS_BIND, NULL));
	slurp("c");
	T(unlink("c"));
	T(mount("a", "c", NULL, MS_BIND, NULL));
	T(mount("nothing", "b", NULL, MS_BIND, NULL));
	T(mount("", "b", NULL, MS_BIND, NULL));
	T(mount(NULL, "b", NULL, MS_BIND, NULL));
	T(umount("c"));
	slurp("c");
	T(umount("b"));
	list("b");
}

SCENARIO(mount_bind_read_only)
{
	int fd;

	make_directory("a");
	make_file("a/file", "x");
	make_directory("b");
	T(mount("a", "b", NULL, MS_BIND, NULL));
	fd = open("b/file", O_WRONLY);
	T(mount(NULL, "b", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL));
	close(fd);
	T(mount(NULL, "b", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL));
	T(open("b/file", O_WRONLY));
	T(open("a/file", O_WRONLY) >= 0);
	T(mkdir("b/new", 0755));
	T(chmod("b/file", 0600));
	T(access("b/file", W_OK));
	T(truncate("b/file", 0));
	T(mount(NULL, "a", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL));
	T(mount(NULL, "b", NULL, MS_BIND | MS_REMOUNT, NULL));
	T(mkdir("b/new", 0755));
	T(umount("b"));
}

/* Whatever attribute it is, and by whatever way: the mount that is read-only is asked first. */
SCENARIO(attributes_on_read_only_mounts)
{
	static const char *const keys[] = {"user.x", "trusted.x", "security.x"};

	make_directory("a");
	make_file("a/file", "x");
	make_directory("b");
	T(mount("a", "b", NULL, MS_BIND, NULL));
	T(mount(NULL, "b", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL));
	int fd = open("b/file", O_RDONLY);
	for (int i = 0; i < 3; i++) {
		say("%s:", keys[i]);
		T(setxattr("b/file", keys[i], "1", 1, 0));
		T(lsetxattr("b", keys[i], "1", 1, XATTR_CREATE));
		T(fsetxattr(fd, keys[i], "1", 1, XATTR_REPLACE));
		T(removexattr("b", keys[i]));
		T(lremovexattr("b/file", keys[i]));
		T(fremovexattr(fd, keys[i]));
	}
	close(fd);
	T(umount("b"));
	T(mount("none", "b", "tmpfs", MS_RDONLY, NULL));
	for (int i = 0; i < 3; i++) {
		T(setxattr("b", keys[i], "1", 1, 0));
		T(removexattr("b", keys[i]));
	}
	T(umount("b"));
}

static bool is_touched(const char *name, long atime, long mtime)
{
	struct timespec now, times[2];
	struct stat st;
	char c;
	int fd = open(name, O_RDONLY);

	clock_gettime(CLOCK_REALTIME, &now);
	times[0] = (struct timespec){now.tv_sec + atime, 0};
	times[1] = (struct timespec){now.tv_sec + mtime, 0};
	futimens(fd, times);
	read(fd, &c, 1);
	fstat(fd, &st);
	close(fd);
	return st.st_atim.tv_sec != times[0].tv_sec;
}

/* The change time is that of the setting: now. */
SCENARIO(access_times_of_mounts)
{
	static const struct {
		const char *name;
		unsigned long flags;
	} ways[] = {
		{"usual", 0},
		{"relatime", MS_RELATIME},
		{"strictatime", MS_STRICTATIME},
		{"noatime", MS_NOATIME},
	};

	make_directory("m");
	make_directory("b");
	for (int i = 0; i < 4; i++) {
		T(mount("none", "m", "tmpfs", ways[i].flags, NULL));
		make_file("m/f", "x");
		say("%s:", ways[i].name);
		T(is_touched("m/f", 1000, 500));   /* later than both */
		T(is_touched("m/f", 1000, 2000));  /* than the change only */
		T(is_touched("m/f", -500, -1000)); /* than the contents only */
		T(is_touched("m/f", -1000, -500));
		T(is_touched("m/f", 1000, 1000));
		T(mount("m", "b", NULL, MS_BIND, NULL)); /* as the mount that it shows */
		T(is_touched("b/f", 1000, 500));
		T(is_touched("b/f", -500, -1000));
		T(umount("b"));
		T(umount("m"));
	}
}

/* Which of a mount's own options /proc/mounts names, in their order. */
static void show_options(const char *where)
{
	static const char *const names[] = {"ro",      "rw",	     "nosuid",	 "nodev",
					    "noexec",  "noatime",    "nodiratime", "relatime"};
	FILE *mounts = fopen("/proc/self/mounts", "r");
	char line[4096], path[4096], options[1024];
	size_t n = strlen(where);

	while (fgets(line, sizeof(line), mounts)) {
		sscanf(line, "%*s %4095s %*s %1023s", path, options);
		if (strlen(path) <= n || strcmp(path + strlen(path) - n, where))
			continue;
		for (char *one = strtok(options, ","); one; one = strtok(NULL, ","))
			for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
				if (!strcmp(one, names[i]))
					say("%s", one);
	}
	fclose(mounts);
}

/* What a mount forbids its bind mounts forbid, too, whether it was bound before or after. */
SCENARIO(bind_mounts_keep_flags)
{
	static const unsigned long flags[] = {MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC,
					      MS_NOATIME, MS_NODIRATIME, MS_STRICTATIME, 0};
	struct statfs st;
	int fd;

	make_directory("m");
	make_directory("b");
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		T(mount("none", "m", "tmpfs", flags[i], NULL));
		T(mount("m", "b", NULL, MS_BIND, NULL));
		statfs("b", &st);
		T(st.f_flags & ~0x20L); /* ST_VALID */
		show_options("/b");
		T(mknod("b/null", S_IFCHR | 0666, makedev(1, 3)));
		fd = open("b/null", O_RDONLY);
		T(fd >= 0);
		close(fd);
		T(umount("b"));
		T(umount("m"));
	}
}

SCENARIO(mount_bind_with_children)
{
	make_directory("a");
	make_directory("a/m");
	make_directory("a/n");
	make_directory("b");
	make_directory("c");
	T(mount("none", "a/m", "tmpfs", 0, NULL));
	make_directory("a/m/deep");
	T(mount("none", "a/m/deep", "tmpfs", 0, NULL));
	make_file("a/m/deep/file", "deep");
	T(mount("a", "b", NULL, MS_BIND, NULL));
	list("b/m");
	T(mount("a", "c", NULL, MS_BIND, NULL));
	T(mount("none", "c/n", "tmpfs", 0, NULL));
	make_file("c/n/file", "deep");
	slurp("c/n/file");
	list("a/n");
	T(umount("c"));
	T(umount("a/m"));
	T(umount2("c", MNT_DETACH));
	list("c");
	T(umount("b"));
	T(umount("a/m/deep"));
	T(umount("a/m"));
}

SCENARIO(mount_move)
{
	make_directory("a");
	make_directory("b");
	make_directory("plain");
	make_file("file", "x");
	T(mount("none", "a", "tmpfs", 0, NULL));
	T(mount(NULL, "a", NULL, MS_PRIVATE, NULL));
	make_directory("a/inner");
	make_file("a/inside", "moved");
	T(mount("plain", "b", NULL, MS_MOVE, NULL));
	T(mount("a", "a/inner", NULL, MS_MOVE, NULL));
	T(mount("a", "file", NULL, MS_MOVE, NULL) == -1);
	T(mount("a", "b", NULL, MS_MOVE, NULL));
	list("a");
	slurp("b/inside");
	chdir("b/inner");
	T(open("../../file", O_RDONLY) >= 0);
	chdir("../..");
	T(umount("a"));
	T(umount("b/inner"));
	T(umount("b"));
	T(umount("b"));
	list("b");
}

SCENARIO(mount_noexec_nodev)
{
	int fd;

	make_directory("m");
	T(mount("none", "m", "tmpfs", MS_NOEXEC | MS_NODEV | MS_NOSUID, NULL));
	T(mknod("m/null", S_IFCHR | 0666, 0x103));
	T(open("m/null", O_RDONLY));
	make_file("m/program", "#!/bin/true\n");
	chmod("m/program", 0755);
	T(access("m/program", X_OK));
	T(execl("m/program", "program", NULL));
	T(mount(NULL, "m", NULL, MS_REMOUNT, NULL));
	fd = open("m/null", O_RDONLY);
	T(fd >= 0);
	close(fd);
	T(access("m/program", X_OK));
	T(umount("m"));
}

SCENARIO(umount_flags)
{
	int fd;

	make_directory("m");
	symlink("m", "link");
	T(mount("none", "m", "tmpfs", 0, NULL));
	T(umount2("link", UMOUNT_NOFOLLOW));
	T(umount2("m", 16));
	fd = open("m", O_RDONLY);
	T(umount2("m", 0));
	make_file("m/file", "still there");
	T(umount2("m", MNT_DETACH));
	list("m");
	T(openat(fd, "file", O_RDONLY) >= 0);
	T(mount("none", "m", "tmpfs", 0, NULL));
	T(umount2("m", MNT_FORCE));
	T(umount2("m", MNT_FORCE));
	AS(USER_A) {
		T(mount("none", "m", "tmpfs", 0, NULL));
		T(umount("m"));
		T(umount("nothing"));
		T(chroot("m"));
	}
}

static long exchange(const char *one, const char *other)
{
	return syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2);
}

/*
 * A directory that goes to another place has its ".." changed: who moves it must be able to write
 * to it, and to nothing else that moves.
 */
SCENARIO(exchanges_across_directories)
{
	make_directory("a");
	make_directory("b");
	make_directory("a/mine");
	make_directory("b/mine");
	make_directory("a/roots");
	make_directory("b/roots");
	make_file("a/roots_file", "x");
	make_file("b/roots_file", "y");
	chown("a", USER_A, USER_A);
	chown("b", USER_A, USER_A);
	chown("a/mine", USER_A, USER_A);
	chown("b/mine", USER_A, USER_A);
	AS(USER_A)
	{
		T(exchange("a/mine", "b/roots"));
		T(exchange("a/roots", "b/mine"));
		T(exchange("a/roots", "b/roots"));
		T(exchange("a/roots_file", "b/roots"));
		T(exchange("a/roots", "b/roots_file"));
		T(exchange("a/roots_file", "b/mine"));
		T(exchange("a/roots_file", "b/roots_file"));
		T(exchange("a/mine", "a/roots"));
		T(rename("a/roots_file", "b/new"));
	}
	list("a");
	list("b");
}

struct how {
	unsigned long flags, mode, resolve, more;
};

static long open2(const char *name, struct how how, size_t size)
{
	long fd = syscall(SYS_openat2, AT_FDCWD, name, &how, size);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0 ? 0 : fd;
}

SCENARIO(openat2_arguments)
{
	make_file("f", "x");
	T(open2("f", (struct how){0}, 16));
	T(open2("f", (struct how){0, 0, 0, 1}, 32));
	T(open2("f", (struct how){0}, 5000));
	T(open2("f", (struct how){0, 0600, 0, 0}, 24));
	T(open2("f", (struct how){O_CREAT, 0200000, 0, 0}, 24));
	T(open2("f", (struct how){1UL << 40, 0, 0, 0}, 24));
	T(open2("f", (struct how){0, 0, 64, 0}, 24));
	T(open2("f", (struct how){0, 0, 24, 0}, 24));
	T(open2("f", (struct how){O_PATH | O_RDWR, 0, 0, 0}, 24));
	T(open2("nothing", (struct how){0}, 24));
	T(open2("new", (struct how){O_CREAT | O_EXCL | O_WRONLY, 0600, 0, 0}, 24));
	show_mode("new");
}

SCENARIO(close_range_calls)
{
	int a = open(".", O_RDONLY), b = dup(a), c = dup(a);

	T(syscall(SYS_close_range, b, c, 4));
	T(fcntl(b, F_GETFD));
	T(fcntl(a, F_GETFD));
	T(syscall(SYS_close_range, b, 0xffffffffu, 0));
	T(fcntl(c, F_GETFD));
	T(fcntl(a, F_GETFD));
	T(syscall(SYS_close_range, 5, 4, 0));
	T(syscall(SYS_close_range, 100000, 0xffffffffu, 0));
	T(syscall(SYS_close_range, 100, 200, 64));
	T(syncfs(a));
	T(syncfs(99));
}
