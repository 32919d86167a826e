/*
 * names.c - scenarios about names: creating, opening, linking, renaming, removing, walking.
 */
#include "scenarios.h"

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

SCENARIO(open_nofollow_only_last)
{
	make_directory("d");
	make_file("d/f", "x");
	symlink("d", "l");
	T(open("l/f", O_RDONLY | O_NOFOLLOW) >= 0);
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

SCENARIO(mkdir_basic)
{
	T(mkdir("d", 0777));
	show_mode("d");
	T(mkdir("d", 0755));
	make_file("f", "");
	T(mkdir("f", 0755));
	T(mkdir("e/", 0700));
	show_mode("e");
	T(mkdir(".", 0755));
	T(mkdir("..", 0755));
	T(mkdir("", 0755));
	T(mkdir("/", 0755));
}

SCENARIO(mkdir_links)
{
	make_directory("d");
	show_links("d");
	make_directory("d/a");
	make_directory("d/b");
	show_links("d");
	rmdir("d/a");
	show_links("d");
	make_file("d/f", "");
	show_links("d");
}

SCENARIO(mkdir_on_link)
{
	symlink("nowhere", "l");
	T(mkdir("l", 0755));
	T(mkdir("l/", 0755));
	T(mkdir("l/x", 0755));
}

SCENARIO(mkdir_mode_bits)
{
	umask(0);
	T(mkdir("a", 07777));
	show_mode("a");
	T(mkdir("b", 01777));
	show_mode("b");
}

SCENARIO(rmdir_basic)
{
	make_directory("d");
	make_directory("d/e");
	T(rmdir("d"));
	T(rmdir("d/e"));
	T(rmdir("d"));
	T(rmdir("d"));
	make_file("f", "");
	T(rmdir("f"));
	T(rmdir("."));
	T(rmdir("./"));
	make_directory("x");
	T(rmdir("x/."));
	T(rmdir("x/.."));
	T(rmdir("x/"));
	T(rmdir(""));
}

SCENARIO(rmdir_link)
{
	make_directory("d");
	symlink("d", "l");
	T(rmdir("l"));
	T(rmdir("l/"));
	T(unlink("l"));
}

SCENARIO(rmdir_root)
{
	T(rmdir("/"));
	T(unlink("/"));
	T(rename("/", "/x"));
}

SCENARIO(unlink_basic)
{
	make_file("f", "x");
	make_directory("d");
	T(unlink("f"));
	T(unlink("f"));
	T(unlink("d"));
	T(unlink("d/"));
	T(unlink("."));
	T(unlink(".."));
	T(unlink(""));
	symlink("nowhere", "l");
	T(unlink("l"));
	make_file("f", "x");
	T(unlink("f/"));
}

SCENARIO(make_with_slash)
{
	make_file("f", "x");
	make_directory("d");
	symlink("d", "l");
	symlink("nothing", "dangling");
	for (const char *const *at = (const char *const[]){"f/", "d/", "l/", "dangling/", "new/", ".",
							   "./", "..", "d/.", "f/.", "/", NULL};
	     *at; at++) {
		say("%s:", *at);
		T(symlink("t", *at));
		T(link("f", *at));
		T(mknod(*at, S_IFIFO | 0600, 0));
		T(open(*at, O_CREAT | O_WRONLY, 0600));
		T(open(*at, O_CREAT | O_EXCL | O_WRONLY, 0600));
		T(mkdir(*at, 0700));
	}
	list(".");
}

SCENARIO(unlinkat_flags)
{
	make_file("f", "x");
	make_directory("d");
	T(unlinkat(AT_FDCWD, "f", AT_REMOVEDIR));
	T(unlinkat(AT_FDCWD, "d", 0));
	T(unlinkat(AT_FDCWD, "d", 0x10));
	T(unlinkat(AT_FDCWD, "d", AT_REMOVEDIR));
	T(unlinkat(AT_FDCWD, "f", 0));
}

SCENARIO(unlinked_open_file)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	char buffer[8] = "";
	struct stat st;

	T(write(fd, "hello", 5));
	T(unlink("f"));
	T(access("f", F_OK));
	fstat(fd, &st);
	T(st.st_nlink);
	T(st.st_size);
	T(pread(fd, buffer, 5, 0));
	say("%s", buffer);
	T(write(fd, " more", 5));
	fstat(fd, &st);
	T(st.st_size);
	T(ftruncate(fd, 2));
	make_file("f", "new");
	T(pread(fd, buffer, 5, 0));
	slurp("f");
}

SCENARIO(link_basic)
{
	make_file("f", "one");
	T(link("f", "g"));
	show_links("f");
	T(link("f", "g"));
	T(link("none", "h"));
	T(unlink("f"));
	show_links("g");
	slurp("g");
	make_directory("d");
	T(link("d", "dd"));
	T(link("g", "d"));
	T(link("g", "d/g"));
	show_links("g");
	T(link("g", "no/g"));
}

SCENARIO(link_to_symlink)
{
	make_file("f", "x");
	symlink("f", "l");
	T(link("l", "l2"));
	show_mode("l2");
	T(linkat(AT_FDCWD, "l", AT_FDCWD, "l3", AT_SYMLINK_FOLLOW));
	show_mode("l3");
	T(linkat(AT_FDCWD, "l", AT_FDCWD, "l4", 0x8000));
	show_links("f");
}

SCENARIO(link_dangling)
{
	symlink("nowhere", "l");
	T(link("l", "m"));
	T(linkat(AT_FDCWD, "l", AT_FDCWD, "n", AT_SYMLINK_FOLLOW));
	make_file("f", "");
	T(link("f", "l"));
}

SCENARIO(symlink_basic)
{
	char buffer[64] = "";

	T(symlink("target", "l"));
	T(readlink("l", buffer, sizeof(buffer)));
	say("%s", buffer);
	memset(buffer, 0, sizeof(buffer));
	T(readlink("l", buffer, 3));
	say("%s", buffer);
	T(readlink("l", buffer, 0));
	T(symlink("other", "l"));
	show_mode("l");
	show_size("l");
	make_file("f", "");
	T(readlink("f", buffer, 10));
	T(readlink("none", buffer, 10));
	T(readlink(".", buffer, 10));
}

SCENARIO(symlink_follow)
{
	make_directory("d");
	make_file("d/f", "deep");
	symlink("d", "l");
	symlink("../d/f", "d/up");
	symlink("l/up", "chain");
	slurp("l/f");
	slurp("chain");
	symlink("d/", "slash");
	slurp("slash/f");
	symlink(".", "here");
	slurp("here/here/here/d/f");
}

SCENARIO(symlink_loop)
{
	struct stat st;

	symlink("b", "a");
	symlink("a", "b");
	symlink("self", "self");
	T(open("a", O_RDONLY));
	T(stat("self", &st));
	T(lstat("self", &st));
	T(open("self/x", O_RDONLY));
	T(chdir("a"));
	T(unlink("self"));
	T(open("a", O_CREAT | O_WRONLY, 0644));
}

SCENARIO(symlink_forty)
{
	char name[16], target[16];

	make_file("l0", "end");
	for (int i = 1; i <= 42; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		snprintf(target, sizeof(target), "l%d", i - 1);
		symlink(target, name);
	}
	slurp("l39");
	slurp("l40");
	slurp("l41");
}

SCENARIO(symlink_to_absolute)
{
	struct stat a, b;

	symlink("/", "root");
	T(stat("root", &a));
	stat("/", &b);
	T(a.st_ino == b.st_ino);
	T(access("root/.", F_OK));
	T(unlink("root/"));
}

SCENARIO(symlink_in_middle_to_file)
{
	make_file("f", "x");
	symlink("f", "l");
	T(open("l/x", O_RDONLY));
	T(open("l/", O_RDONLY));
	T(mkdir("l/x", 0755));
}

SCENARIO(rename_basic)
{
	make_file("a", "A");
	T(rename("a", "b"));
	slurp("a");
	slurp("b");
	T(rename("none", "c"));
	T(rename("b", "b"));
	make_file("c", "C");
	T(rename("b", "c"));
	slurp("c");
	list(".");
}

SCENARIO(rename_hard_links)
{
	make_file("a", "A");
	link("a", "b");
	T(rename("a", "b"));
	list(".");
	show_links("a");
}

SCENARIO(rename_directories)
{
	make_directory("a");
	make_file("a/f", "f");
	make_directory("b");
	T(rename("a", "b"));
	list("b");
	make_directory("c");
	make_file("c/x", "");
	T(rename("b", "c"));
	T(rename("c", "b/c"));
	list("b");
	show_links("b");
}

SCENARIO(rename_type_mismatch)
{
	make_file("f", "");
	make_directory("d");
	T(rename("f", "d"));
	T(rename("d", "f"));
	T(rename("f", "d/"));
	T(rename("f/", "g"));
	T(rename("d/", "e/"));
	list(".");
}

SCENARIO(rename_into_itself)
{
	make_directory("a");
	make_directory("a/b");
	T(rename("a", "a/c"));
	T(rename("a", "a/b/c"));
	T(rename("a/b", "a"));
	T(rename("a", "a"));
	list("a");
}

SCENARIO(rename_dots)
{
	make_directory("a");
	T(rename(".", "x"));
	T(rename("a/.", "x"));
	T(rename("a/..", "x"));
	T(rename("a", "."));
	T(rename("a", ".."));
	T(rename("", "x"));
	T(rename("a", ""));
}

SCENARIO(rename_dotdot_follows_move)
{
	make_directory("a");
	make_directory("a/m");
	make_directory("b");
	make_file("b/mark", "in b");
	make_file("a/mark", "in a");
	T(chdir("a/m"));
	T(rename("../m", "../../b/m"));
	slurp("../mark");
}

SCENARIO(rename_symlinks)
{
	make_file("f", "F");
	symlink("f", "l");
	T(rename("l", "m"));
	show_mode("m");
	make_file("g", "G");
	symlink("g", "n");
	T(rename("f", "n"));
	slurp("n");
	show_mode("n");
	slurp("g");
}

SCENARIO(rename_over_open_file)
{
	char buffer[8] = "";
	int fd;

	make_file("a", "new");
	make_file("b", "old");
	fd = open("b", O_RDONLY);
	T(rename("a", "b"));
	T(read(fd, buffer, 7));
	say("%s", buffer);
	slurp("b");
}

SCENARIO(renameat2_noreplace)
{
	make_file("a", "A");
	make_file("b", "B");
	T(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 1));
	T(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "c", 1));
	list(".");
	T(syscall(SYS_renameat2, AT_FDCWD, "b", AT_FDCWD, "c", 3));
	T(syscall(SYS_renameat2, AT_FDCWD, "b", AT_FDCWD, "c", 64));
}

SCENARIO(renameat2_exchange)
{
	make_file("a", "A");
	make_directory("d");
	make_file("d/x", "X");
	T(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "d", 2));
	slurp("d");
	list("a");
	T(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "none", 2));
	T(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "a/x", 2));
}

SCENARIO(rename_busy_cwd)
{
	make_directory("a");
	T(chdir("a"));
	T(rename("../a", "../b"));
	T(open("f", O_CREAT | O_WRONLY, 0644) >= 0);
	T(chdir(".."));
	list("b");
}

SCENARIO(at_directory_descriptor)
{
	int d, f;
	struct stat st;

	make_directory("d");
	d = open("d", O_RDONLY | O_DIRECTORY);
	T(openat(d, "f", O_CREAT | O_WRONLY, 0644) >= 0);
	T(mkdirat(d, "sub", 0755));
	T(symlinkat("f", d, "l"));
	T(linkat(d, "f", d, "g", 0));
	T(renameat(d, "g", AT_FDCWD, "moved"));
	T(fstatat(d, "f", &st, 0));
	T(faccessat(d, "sub", R_OK, 0));
	T(fchmodat(d, "f", 0600, 0));
	T(unlinkat(d, "l", 0));
	list("d");
	list(".");
	f = open("d/f", O_RDONLY);
	T(openat(f, "x", O_RDONLY));
	T(openat(999, "x", O_RDONLY));
	T(openat(999, "/", O_RDONLY) >= 0);
	T(mkdirat(f, "x", 0755));
	T(fstatat(f, "", &st, AT_EMPTY_PATH));
	T(fstatat(f, "", &st, 0));
}

SCENARIO(removed_cwd)
{
	char buffer[256];

	make_directory("d");
	T(chdir("d"));
	T(rmdir("../d"));
	T(open("f", O_CREAT | O_WRONLY, 0644));
	T(mkdir("x", 0755));
	T(getcwd(buffer, sizeof(buffer)) ? 0 : -1);
	T(access(".", F_OK));
	T(access("..", F_OK));
	list(".");
	T(chdir(".."));
	T(access("d", F_OK));
}

SCENARIO(removed_open_directory)
{
	struct stat st;
	int fd;

	make_directory("d");
	fd = open("d", O_RDONLY);
	T(rmdir("d"));
	fstat(fd, &st);
	T(st.st_nlink);
	T(openat(fd, "f", O_CREAT | O_WRONLY, 0644));
	T(openat(fd, ".", O_RDONLY) >= 0);
	T(fchdir(fd));
	T(symlink("a", "b"));
}

SCENARIO(getcwd_basic)
{
	char buffer[PATH_MAX], *end;

	make_directory("a");
	make_directory("a/b");
	T(chdir("a/b"));
	T(getcwd(buffer, sizeof(buffer)) != NULL);
	end = strstr(buffer, "/a/b");
	say("%s", end ? end : buffer);
	T(syscall(SYS_getcwd, buffer, 2));
	T(syscall(SYS_getcwd, (char *)8, 4096));
	T(rename("../../a", "../../z"));
	T(getcwd(buffer, sizeof(buffer)) != NULL);
	end = strstr(buffer, "/z/b");
	say("%s", end ? end : buffer);
}

SCENARIO(chdir_errors)
{
	make_file("f", "");
	T(chdir("f"));
	T(chdir("none"));
	T(chdir(""));
	make_directory("d");
	chmod("d", 0600);
	AS(USER_A) {
		T(chdir("d"));
	}
	T(chdir("d"));
}

SCENARIO(fchdir_basic)
{
	int d, f;

	make_directory("d");
	make_file("d/f", "x");
	d = open("d", O_RDONLY);
	f = open("d/f", O_RDONLY);
	T(fchdir(f));
	T(fchdir(d));
	slurp("f");
	T(fchdir(777));
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

SCENARIO(mknod_types)
{
	T(mknod("fifo", S_IFIFO | 0644, 0));
	show_mode("fifo");
	T(mknod("file", S_IFREG | 0600, 0));
	show_mode("file");
	T(mknod("zero", 0600, 0));
	show_mode("zero");
	T(mknod("dir", S_IFDIR | 0755, 0));
	T(mknod("fifo", S_IFIFO | 0644, 0));
	T(mknod("odd", 0150000, 0));
	AS(USER_A) {
		T(mknod("null", S_IFCHR | 0666, 0x103));
	}
}

SCENARIO(many_names)
{
	char name[32];
	int removed = 0, n = 0;
	struct dirent *entry;
	DIR *dir;

	make_directory("d");
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "d/file-number-%d", i);
		make_file(name, "");
	}
	dir = opendir("d");
	while ((entry = readdir(dir)))
		n++;
	T(n);
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "d/%.28s", entry->d_name);
		removed += !unlink(name);
	}
	T(removed);
	T(rmdir("d"));
}

SCENARIO(readdir_seek)
{
	struct dirent *entry;
	char second[256];
	long place;
	DIR *dir;

	make_file("a", "");
	make_file("b", "");
	make_file("c", "");
	dir = opendir(".");
	readdir(dir);
	place = telldir(dir);
	entry = readdir(dir);
	snprintf(second, sizeof(second), "%s", entry->d_name);
	while (readdir(dir))
		;
	seekdir(dir, place);
	entry = readdir(dir);
	T(entry && !strcmp(entry->d_name, second));
	T(lseek(dirfd(dir), 0, SEEK_SET));
}

SCENARIO(readdir_types)
{
	struct dirent *entry;
	unsigned types[16] = {0};
	DIR *dir;

	make_file("f", "");
	make_directory("d");
	symlink("f", "l");
	mkfifo("p", 0644);
	dir = opendir(".");
	while ((entry = readdir(dir)))
		types[entry->d_type & 15]++;
	T(types[DT_REG]);
	T(types[DT_DIR]);
	T(types[DT_LNK]);
	T(types[DT_FIFO]);
	T(types[DT_UNKNOWN]);
}

SCENARIO(getdents_errors)
{
	char buffer[1024];
	int f, d;

	make_file("f", "");
	f = open("f", O_RDONLY);
	d = open(".", O_RDONLY);
	T(syscall(SYS_getdents64, f, buffer, sizeof(buffer)));
	T(syscall(SYS_getdents64, d, buffer, 8));
	T(syscall(SYS_getdents64, d, (void *)8, 1024));
	T(syscall(SYS_getdents64, 99, buffer, 1024));
	T(syscall(SYS_getdents64, d, buffer, sizeof(buffer)) > 0);
	T(syscall(SYS_getdents64, d, buffer, sizeof(buffer)));
	T(write(d, buffer, 10));
}

SCENARIO(readdir_dot_entries)
{
	struct dirent *entry;
	struct stat here, up;
	DIR *dir;

	make_directory("d");
	stat("d", &here);
	stat(".", &up);
	dir = opendir("d");
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, "."))
			T(entry->d_ino == here.st_ino);
		if (!strcmp(entry->d_name, ".."))
			T(entry->d_ino == up.st_ino);
	}
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

SCENARIO(deep_tree)
{
	int depth = 0;

	while (depth < 60 && !mkdir("directory", 0755) && !chdir("directory"))
		depth++;
	T(depth);
	make_file("f", "bottom");
	slurp("f");
	while (depth-- > 0)
		chdir("..");
	T(access("directory/directory/directory", F_OK));
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
