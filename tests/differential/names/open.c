/*
 * open.c - scenarios of opening by name: flags, lengths, dots, roots, odd names.
 */
#include "../scenarios.h"

static char long_name[300];

static const char *name_of(int length)
{
	memset(long_name, 'n', sizeof(long_name));
	long_name[length] = 0;
	return long_name;
}

SCENARIO(open_missing)
{
	T(open("missing", O_RDONLY));
	T(open("missing", O_WRONLY));
	T(open("missing", O_RDWR | O_TRUNC));
}

SCENARIO(open_creat)
{
	T(open("f", O_CREAT | O_WRONLY, 0666) >= 0);
	show_mode("f");
	T(open("g", O_CREAT | O_RDONLY, 0) >= 0);
	show_mode("g");
}

SCENARIO(open_creat_existing)
{
	make_file("f", "text");
	T(open("f", O_CREAT | O_WRONLY, 0600) >= 0);
	show_mode("f");
	slurp("f");
}

SCENARIO(open_excl)
{
	T(open("f", O_CREAT | O_EXCL | O_WRONLY, 0644) >= 0);
	T(open("f", O_CREAT | O_EXCL | O_WRONLY, 0644));
	make_directory("d");
	T(open("d", O_CREAT | O_EXCL | O_WRONLY, 0644));
}

SCENARIO(open_excl_dangling_link)
{
	symlink("nowhere", "l");
	T(open("l", O_CREAT | O_EXCL | O_WRONLY, 0644));
	list(".");
	T(open("l", O_CREAT | O_WRONLY, 0644) >= 0);
	list(".");
}

SCENARIO(open_trunc)
{
	make_file("f", "hello");
	T(open("f", O_WRONLY | O_TRUNC) >= 0);
	show_size("f");
	make_file("g", "hello");
	T(open("g", O_RDONLY | O_TRUNC) >= 0);
	show_size("g");
}

SCENARIO(open_directory_for_writing)
{
	make_directory("d");
	T(open("d", O_WRONLY));
	T(open("d", O_RDWR));
	T(open("d", O_RDONLY) >= 0);
	T(open("d", O_RDONLY | O_CREAT, 0644));
	T(open("d", O_RDONLY | O_TRUNC));
}

SCENARIO(open_o_directory)
{
	make_file("f", "");
	make_directory("d");
	symlink("d", "ld");
	symlink("f", "lf");
	T(open("f", O_RDONLY | O_DIRECTORY));
	T(open("d", O_RDONLY | O_DIRECTORY) >= 0);
	T(open("ld", O_RDONLY | O_DIRECTORY) >= 0);
	T(open("lf", O_RDONLY | O_DIRECTORY));
	T(open("ld", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
	T(open("none", O_RDONLY | O_DIRECTORY));
}

SCENARIO(open_nofollow)
{
	make_file("f", "x");
	symlink("f", "l");
	T(open("l", O_RDONLY | O_NOFOLLOW));
	T(open("f", O_RDONLY | O_NOFOLLOW) >= 0);
	T(open("l", O_RDONLY | O_NOFOLLOW | O_PATH) >= 0);
}

/* Nothing is below the link itself, however often a text through it has led somewhere. */
static void open_below_the_link(void)
{
	struct stat st;

	make_directory("d/inner");
	make_file("d/inner/file", "x");
	symlink("d", "link-to-the-directory");
	for (int i = 0; i < 20; i++) {
		stat("link-to-the-directory/inner/file", &st);
		lstat("link-to-the-directory", &st);
	}
	int fd = open("link-to-the-directory", O_RDONLY | O_NOFOLLOW | O_PATH);
	for (int i = 0; i < 3; i++) {
		T(openat(fd, "inner/file", O_RDONLY));
		T(openat(fd, "inner/none", O_RDONLY));
		T(openat(fd, "../d/inner/file", O_RDONLY));
	}
}

SCENARIO(open_nofollow_only_last)
{
	make_directory("d");
	make_file("d/f", "x");
	symlink("d", "l");
	T(open("l/f", O_RDONLY | O_NOFOLLOW) >= 0);
	open_below_the_link();
}

SCENARIO(open_path_descriptor)
{
	int fd;
	char c;
	struct stat st;

	make_file("f", "x");
	fd = open("f", O_PATH);
	T(fd >= 0);
	T(read(fd, &c, 1));
	T(write(fd, &c, 1));
	T(fstat(fd, &st));
	T(fchmod(fd, 0600));
	T(lseek(fd, 0, SEEK_SET));
	T(fcntl(fd, F_GETFL) & O_PATH ? 1 : 0);
	T(dup(fd) >= 0);
	T(ioctl(fd, 0, 0));
}

SCENARIO(open_path_without_permission)
{
	make_file("f", "x");
	chmod("f", 0);
	AS(USER_A) {
		T(open("f", O_RDONLY));
		T(open("f", O_PATH) >= 0);
	}
}

SCENARIO(open_trailing_slash)
{
	make_file("f", "x");
	make_directory("d");
	T(open("f/", O_RDONLY));
	T(open("d/", O_RDONLY) >= 0);
	T(open("d//", O_RDONLY) >= 0);
	T(open("new/", O_CREAT | O_WRONLY, 0644));
	T(open("new/", O_RDONLY));
	T(open("f/", O_CREAT | O_WRONLY, 0644));
}

SCENARIO(open_empty_name)
{
	T(open("", O_RDONLY));
	T(open("", O_CREAT | O_WRONLY, 0644));
	T(openat(AT_FDCWD, "", O_RDONLY | O_DIRECTORY));
}

SCENARIO(open_fault)
{
	T(open((char *)8, O_RDONLY));
	T(open((char *)-4096L, O_RDONLY));
}

SCENARIO(open_file_as_directory)
{
	make_file("f", "x");
	T(open("f/x", O_RDONLY));
	T(open("f/x", O_CREAT | O_WRONLY, 0644));
	T(open("f/..", O_RDONLY));
	T(open("f/.", O_RDONLY));
	T(mkdir("f/d", 0755));
	T(unlink("f/x"));
}

SCENARIO(open_missing_directory)
{
	T(open("no/x", O_CREAT | O_WRONLY, 0644));
	T(mkdir("no/x", 0755));
	T(symlink("a", "no/x"));
	T(rename("no/x", "y"));
	T(open("no/../f", O_CREAT | O_WRONLY, 0644));
}

SCENARIO(name_length)
{
	T(open(name_of(255), O_CREAT | O_WRONLY, 0644) >= 0);
	T(open(name_of(256), O_CREAT | O_WRONLY, 0644));
	T(open(name_of(256), O_RDONLY));
	T(mkdir(name_of(256), 0755));
	T(symlink("x", name_of(256)));
	T(unlink(name_of(256)));
	T(access(name_of(255), F_OK));
	T(unlink(name_of(255)));
}

SCENARIO(path_length)
{
	static char path[5000];

	memset(path, '/', sizeof(path));
	path[0] = '.';
	path[4095] = 0;
	T(access(path, F_OK));
	path[4095] = '/';
	path[4096] = 0;
	T(access(path, F_OK));
	for (int i = 0; i < 4095; i += 2)
		memcpy(path + i, "./", 2);
	path[4094] = 0;
	T(access(path, F_OK));
}

SCENARIO(symlink_target_length)
{
	static char target[5000];

	memset(target, 't', sizeof(target));
	target[4095] = 0;
	T(symlink(target, "l1"));
	target[4095] = 't';
	target[4096] = 0;
	T(symlink(target, "l2"));
	T(symlink("", "l3"));
	T(readlink("l1", target, sizeof(target)));
	T(open("l1", O_RDONLY));
}

SCENARIO(dots)
{
	make_directory("a");
	make_directory("a/b");
	make_file("a/f", "in a");
	slurp("a/b/../f");
	slurp("./a/./f");
	slurp("a/b/../../a/f");
	slurp("a//f");
	T(access("a/b/..", F_OK));
	T(access("a/none/..", F_OK));
}

SCENARIO(dot_dot_at_root)
{
	struct stat a, b;

	stat("/", &a);
	stat("/..", &b);
	T(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	stat("/../../..", &b);
	T(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
}

SCENARIO(chroot_basic)
{
	char buffer[256];

	make_directory("r");
	make_directory("r/bin");
	make_file("r/f", "inside");
	T(chroot("r"));
	slurp("/f");
	T(chdir("/"));
	T(getcwd(buffer, sizeof(buffer)) != NULL);
	say("%s", buffer);
	slurp("../../f");
	list("/");
	T(chroot("f"));
	T(chroot("none"));
}

SCENARIO(chroot_not_root)
{
	make_directory("r");
	AS(USER_A) {
		T(chroot("r"));
	}
}

SCENARIO(chroot_absolute_symlink)
{
	make_directory("r");
	make_file("r/f", "inside");
	symlink("/f", "r/l");
	T(chroot("r"));
	T(chdir("/"));
	slurp("l");
}

SCENARIO(names_with_odd_bytes)
{
	make_file("a b", "space");
	make_file("t\tb", "tab");
	make_file("\303\244", "umlaut");
	make_file("...", "dots");
	make_file("..x", "dots x");
	slurp("a b");
	slurp("...");
	slurp("..x");
	T(access("\303\244", F_OK));
	T(access("t\tb", F_OK));
	T(access("\303", F_OK));
}

SCENARIO(case_matters)
{
	make_file("File", "upper");
	T(access("file", F_OK));
	make_file("file", "lower");
	slurp("File");
	slurp("file");
}

SCENARIO(negative_then_create)
{
	struct stat st;

	T(stat("x", &st));
	make_file("x", "now");
	slurp("x");
	T(unlink("x"));
	T(stat("x", &st));
	T(mkdir("x", 0755));
	T(stat("x", &st));
	T(rmdir("x"));
	T(symlink("y", "x"));
	T(stat("x", &st));
	T(lstat("x", &st));
	make_file("y", "via link");
	slurp("x");
}

SCENARIO(stat_faults)
{
	struct stat st;

	make_file("f", "");
	T(syscall(SYS_stat, "f", 8L));
	T(lstat((char *)8, &st));
	T(fstat(99, &st));
	T(syscall(SYS_newfstatat, AT_FDCWD, "f", &st, 0x40000));
}
