/*
 * names.c - scenarios of inotify(7): names made, removed and renamed, and file systems that go.
 */
#include "notify.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
#endif

SCENARIO(notify_made)
{
	int fd = notify_queue();

	WATCH(fd, ".", IN_ALL_EVENTS);
	close(open("f", O_CREAT | O_WRONLY, 0644));
	look(fd);
	mkdir("d", 0755);
	look(fd);
	symlink("f", "s");
	look(fd);
	mknod("p", S_IFIFO | 0600, 0);
	look(fd);
	mknod("r", S_IFREG | 0600, 0);
	look(fd);
	link("f", "g");
	look(fd);
	mkdir("d", 0755);
	mkdir("missing/d", 0755);
	link("missing", "h");
	look(fd);
	mkdir("d/below", 0755);
	look(fd);
	T(readlink("s", (char[8]){0}, 8));
	look(fd);
}

SCENARIO(notify_link_of_watched)
{
	int fd = notify_queue();

	make_file("f", "text");
	make_directory("d");
	WATCH(fd, "f", IN_ALL_EVENTS);
	link("f", "d/g");
	look(fd);
	close(open("d/g", O_RDONLY)); /* the same file by another name */
	look(fd);
	unlink("f");
	look(fd);
	unlink("d/g");
	look(fd);
}

/* By a name in a directory that nobody watches nothing is told, even if it has one in another. */
SCENARIO(notify_other_name)
{
	int fd = notify_queue();

	make_file("f", "text");
	make_directory("d");
	link("f", "d/g");
	WATCH(fd, "d", IN_OPEN | IN_CLOSE | IN_ATTRIB);
	close(open("f", O_RDONLY));
	chmod("f", 0600);
	look(fd);
	close(open("d/g", O_RDONLY));
	chmod("d/g", 0644);
	look(fd);
}

SCENARIO(notify_removed)
{
	int fd = notify_queue();

	make_file("f", "text");
	make_directory("d");
	make_directory("e");
	make_file("e/f", "text");
	WATCH(fd, ".", IN_ALL_EVENTS);
	WATCH(fd, "f", IN_ALL_EVENTS);
	WATCH(fd, "d", IN_ALL_EVENTS);
	unlink("f");
	look(fd);
	rmdir("d");
	look(fd);
	rmdir("e");
	unlink("e");
	unlink("missing");
	look(fd);
	T(inotify_rm_watch(fd, 2));
	look(fd);
}

SCENARIO(notify_removed_open)
{
	int fd = notify_queue(), file, dir;

	make_file("f", "text");
	make_directory("d");
	WATCH(fd, ".", IN_ALL_EVENTS);
	WATCH(fd, "f", IN_ALL_EVENTS);
	WATCH(fd, "d", IN_ALL_EVENTS);
	file = open("f", O_RDWR);
	dir = open("d", O_RDONLY);
	look(fd);
	unlink("f");
	look(fd);
	write(file, "x", 1);
	fchmod(file, 0600);
	look(fd);
	close(file);
	look(fd);
	rmdir("d");
	look(fd);
	close(dir);
	look(fd);
}

SCENARIO(notify_excl_unlink)
{
	int fd = notify_queue(), file;

	make_file("f", "text");
	WATCH(fd, ".", IN_ALL_EVENTS | IN_EXCL_UNLINK);
	WATCH(fd, "f", IN_ALL_EVENTS | IN_EXCL_UNLINK);
	file = open("f", O_RDWR);
	write(file, "x", 1);
	look(fd);
	unlink("f");
	look(fd);
	write(file, "x", 1);
	look(fd);
	fchmod(file, 0600);
	look(fd);
	close(file);
	look(fd);
}

SCENARIO(notify_removed_while_watched_only_for_that)
{
	int fd = notify_queue();

	make_file("f", "text");
	make_file("g", "text");
	WATCH(fd, "f", IN_DELETE_SELF);
	WATCH(fd, "g", IN_OPEN);
	unlink("f");
	look(fd);
	unlink("g");
	look(fd);
	make_file("f", "text");
	T(inotify_add_watch(fd, "f", IN_DELETE_SELF)); /* another file, another watch */
}

SCENARIO(notify_renamed)
{
	int fd = notify_queue();

	make_file("f", "text");
	make_directory("d");
	make_directory("e");
	WATCH(fd, ".", IN_ALL_EVENTS);
	WATCH(fd, "d", IN_ALL_EVENTS);
	WATCH(fd, "f", IN_ALL_EVENTS);
	WATCH(fd, "e", IN_ALL_EVENTS);
	rename("f", "g");
	look(fd);
	rename("g", "d/f");
	look(fd);
	rename("d/f", "d/a name of more than forty bytes, so that it is not kept in line");
	look(fd);
	rename("d/a name of more than forty bytes, so that it is not kept in line", "f");
	look(fd);
	rename("e", "d/e");
	look(fd);
	rename("d/e", "e");
	rename("e", "e2");
	look(fd);
	rename("missing", "x");
	rename("f", "f");
	look(fd);
}

SCENARIO(notify_renamed_over)
{
	int fd = notify_queue(), file;

	make_file("a", "text");
	make_file("b", "text");
	make_directory("d");
	make_directory("e");
	WATCH(fd, ".", IN_ALL_EVENTS);
	WATCH(fd, "a", IN_ALL_EVENTS);
	WATCH(fd, "b", IN_ALL_EVENTS);
	WATCH(fd, "e", IN_ALL_EVENTS);
	rename("a", "b");
	look(fd);
	rename("d", "e");
	look(fd);
	make_file("c", "text");
	file = open("c", O_RDONLY);
	WATCH(fd, "c", IN_ALL_EVENTS);
	look(fd);
	rename("b", "c");
	look(fd);
	close(file);
	look(fd);
	link("c", "h");
	look(fd);
	rename("c", "h"); /* two names of one file */
	look(fd);
}

SCENARIO(notify_exchanged)
{
	int fd = notify_queue();

	make_file("a", "text");
	make_directory("d");
	make_directory("d/b");
	WATCH(fd, ".", IN_ALL_EVENTS);
	WATCH(fd, "d", IN_ALL_EVENTS);
	WATCH(fd, "a", IN_ALL_EVENTS);
	WATCH(fd, "d/b", IN_ALL_EVENTS);
	T(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "d/b", RENAME_EXCHANGE));
	look(fd);
	T(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "d", RENAME_NOREPLACE));
	look(fd);
}

/* A name that comes into a watched directory is heard of, one that leaves it no more. */
SCENARIO(notify_moved_in_and_out)
{
	int fd = notify_queue(), file;

	make_directory("d");
	make_file("f", "text");
	WATCH(fd, "d", IN_OPEN | IN_MODIFY | IN_MOVE);
	file = open("f", O_RDWR);
	write(file, "x", 1);
	look(fd);
	rename("f", "d/f");
	write(file, "x", 1);
	look(fd);
	rename("d/f", "f");
	write(file, "x", 1);
	look(fd);
}

/* A directory that moves takes its watch along. */
SCENARIO(notify_directory_moves)
{
	int fd = notify_queue();

	make_directory("d");
	make_directory("e");
	make_file("d/f", "text");
	WATCH(fd, "d", IN_ALL_EVENTS);
	rename("d", "e/d");
	look(fd);
	close(open("e/d/f", O_RDONLY));
	make_directory("e/d/sub");
	look(fd);
	rename("e", "e2");
	look(fd);
	unlink("e2/d/f");
	rmdir("e2/d/sub");
	look(fd);
	rmdir("e2/d");
	look(fd);
}

/* ---- file systems ---------------------------------------------------------------------------- */

SCENARIO(notify_unmount)
{
	int fd = notify_queue();

	make_directory("m");
	WATCH(fd, "m", IN_ALL_EVENTS);
	T(mount("none", "m", "tmpfs", 0, NULL));
	make_file("m/f", "text");
	make_directory("m/d");
	look(fd);
	WATCH(fd, "m/f", IN_ALL_EVENTS);
	T(umount("m"));
	look(fd);
	T(inotify_rm_watch(fd, 2));
	close(open("m", O_RDONLY));
	look(fd);
}

SCENARIO(notify_unmount_lazily)
{
	int fd = notify_queue(), file;

	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, NULL));
	make_file("m/f", "text");
	WATCH(fd, "m", IN_ALL_EVENTS);
	file = open("m/f", O_RDWR);
	look(fd);
	T(umount2("m", MNT_DETACH));
	look(fd);
	write(file, "x", 1);
	look(fd);
	close(file);
	look(fd);
}

/* One of two places goes: the file system stays, and so do its watches. */
SCENARIO(notify_unmount_one_of_two)
{
	int fd = notify_queue();

	make_directory("m");
	make_directory("n");
	T(mount("none", "m", "tmpfs", 0, NULL));
	T(mount("m", "n", NULL, MS_BIND, NULL));
	WATCH(fd, "m", IN_ALL_EVENTS);
	T(umount("m"));
	look(fd);
	make_file("n/f", "text");
	look(fd);
	T(umount("n"));
	look(fd);
}
