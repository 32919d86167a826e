/*
 * rename.c - scenarios of rename(2) and renameat2(2).
 */
#include "../scenarios.h"

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
