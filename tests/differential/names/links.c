/*
 * links.c - scenarios of hard and symbolic links, of special files, and of removing names.
 */
#include "../scenarios.h"

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

/* A long target is charged to a file system in memory, a page each; a short one is not. */
SCENARIO(links_fill_a_tmpfs)
{
	char target[201] = "", name[16];
	int made = 0, again = 0;

	memset(target, 'a', 200);
	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "size=64k"));
	for (int i = 0; i < 40; i++) {
		sprintf(name, "m/%d", i);
		made += symlink(target, name) == 0;
	}
	show("made", made);
	T(symlink(target, "m/more"));
	target[127] = 0;
	T(symlink(target, "m/short"));
	target[127] = 'a';
	target[128] = 0;
	T(symlink(target, "m/more"));
	T(unlink("m/3"));
	T(symlink(target, "m/more"));
	for (int i = 0; i < 40; i++) {
		sprintf(name, "m/%d", i);
		unlink(name);
	}
	for (int i = 0; i < 40; i++) {
		sprintf(name, "m/%d", i);
		again += symlink(target, name) == 0;
	}
	show("again", again);
	T(umount("m"));
}

/* A link of /proc that is no text counts like any other. */
SCENARIO(links_that_lead_by_themselves)
{
	char path[100], *at = path;
	int fd;

	chdir("/proc/self/fd");
	fd = open(".", O_RDONLY | O_DIRECTORY);
	dup2(fd, 9);
	for (int i = 0; i < 40; i++)
		at = stpcpy(at, "9/");
	at[-1] = 0;
	show("access 40", access(path, F_OK));
	strcpy(at - 1, "/9");
	show("access 41", access(path, F_OK));
}
