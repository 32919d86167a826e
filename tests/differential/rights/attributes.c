/*
 * attributes.c - scenarios of what chattr sets: files that are not changed, or only appended to.
 */
#include <sys/xattr.h>

#include "../scenarios.h"

#define FS_IOC_GETFLAGS 0x80086601 /* of <linux/fs.h> */
#define FS_IOC_SETFLAGS 0x40086602
enum { IMMUTABLE = 0x10, APPEND = 0x20, NODUMP = 0x40, NOATIME = 0x80 };

static long change(const char *name, int attributes)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK);
	long result = fd < 0 ? -1 : ioctl(fd, FS_IOC_SETFLAGS, &attributes);

	close(fd);
	return result;
}

static void show_attributes(const char *name)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK), attributes = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &attributes))
		say("%s:%s", name, strerror(errno));
	else
		say("%s:%#x", name, attributes & 0xff);
	close(fd);
}

static long try_open(const char *name, int flags)
{
	int fd = open(name, flags, 0600);

	return fd < 0 ? -1 : close(fd);
}

SCENARIO(attributes_are_kept)
{
	int fd;

	make_file("f", "x");
	make_directory("d");
	mkfifo("p", 0600);
	symlink("f", "l");
	show_attributes("f");
	T(change("f", NODUMP | NOATIME));
	T(change("d", NODUMP | NOATIME));
	show_attributes("f");
	make_file("d/f", "");
	make_directory("d/d");
	show_attributes("d/f");
	show_attributes("d/d");
	T(change("f", IMMUTABLE | NODUMP));
	drop_caches();
	show_attributes("f");
	T(change("f", APPEND));
	show_attributes("f");
	T(change("f", 0));
	show_attributes("f");
	T(change("p", 0));
	T(change("/dev/null", 0));
	T(change("/proc/self/stat", 0));
	fd = open("l", O_PATH);
	T(ioctl(fd, FS_IOC_GETFLAGS, &fd));
	fd = open("f", O_RDONLY);
	T(ioctl(fd, FS_IOC_GETFLAGS, (void *)8));
	T(ioctl(fd, FS_IOC_SETFLAGS, (void *)8));
	T(change("f", 1 << 30)); /* there is no such one */
	fd = open("d", O_TMPFILE | O_RDWR, 0600);
	int attributes = 0;
	ioctl(fd, FS_IOC_GETFLAGS, &attributes);
	say("nameless:%#x", attributes & 0xff);
}

SCENARIO(attributes_and_their_owner)
{
	make_file("f", "x");
	make_file("root", "x");
	chown("f", USER_A, USER_A);
	chmod(".", 0777);
	AS(USER_A)
	{
		T(change("f", NODUMP));
		T(change("f", NODUMP | IMMUTABLE));
		T(change("f", APPEND));
		T(change("root", NODUMP));
		show_attributes("root");
	}
	T(change("f", APPEND | NODUMP));
	AS(USER_A)
	{
		T(change("f", APPEND));
		T(change("f", 0));
		show_attributes("f");
	}
	T(change("f", 0));
	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, NULL));
	make_file("m/f", "x");
	T(mount(NULL, "m", NULL, MS_REMOUNT | MS_RDONLY | MS_BIND, NULL));
	T(change("m/f", NODUMP));
	T(umount("m"));
}

/* All that would change the file @f, or a name in the directory @d. */
static void try_everything(void)
{
	int fd;

	T(try_open("f", O_RDONLY));
	T(try_open("f", O_WRONLY));
	T(try_open("f", O_RDWR | O_APPEND));
	T(try_open("f", O_RDONLY | O_TRUNC));
	T(try_open("f", O_WRONLY | O_APPEND | O_TRUNC));
	T(try_open("f", O_WRONLY | O_CREAT | O_APPEND));
	T(truncate("f", 0));
	T(chmod("f", 0600));
	T(chown("f", USER_A, USER_A));
	T(chown("f", -1, -1));
	T(utimensat(AT_FDCWD, "f", NULL, 0));
	T(utimensat(AT_FDCWD, "f", (struct timespec[2]){{1, 0}, {2, 0}}, 0));
	T(access("f", R_OK));
	T(access("f", W_OK));
	T(link("f", "new"));
	T(rename("f", "new"));
	T(rename("g", "f"));
	T(unlink("f"));
	T(setxattr("f", "trusted.a", "x", 1, 0));
	fd = open("f", O_WRONLY | O_APPEND);
	if (fd >= 0) {
		T(write(fd, "more", 4));
		T(pwrite(fd, "more", 4, 0));
		T(ftruncate(fd, 0));
		T(fcntl(fd, F_SETFL, 0));
		T(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK));
		close(fd);
	}
	fd = open("f", O_RDWR | O_APPEND);
	if (fd >= 0) {
		T(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
		T(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1
											     : 0);
		T(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
	}
	T(try_open("d", O_RDONLY));
	T(try_open("d/new", O_WRONLY | O_CREAT));
	T(try_open("d/f", O_WRONLY));
	T(open("d", O_TMPFILE | O_RDWR, 0600) >= 0 ? 0 : -1);
	T(mkdir("d/dir", 0700));
	T(link("g", "d/link"));
	T(unlink("d/f"));
	T(rename("d/f", "out"));
	T(rename("g", "d/g"));
	T(rename("d", "e"));
	T(rmdir("d"));
	T(chmod("d", 0700));
	list("d");
	list(".");
}

static void make_all(void)
{
	make_file("f", "text");
	make_file("g", "other");
	make_directory("d");
	make_file("d/f", "x");
}

SCENARIO(immutable_files)
{
	int writer;

	make_all();
	writer = open("f", O_RDWR);
	T(change("f", IMMUTABLE));
	T(change("d", IMMUTABLE));
	T(write(writer, "T", 1)); /* who has it open already may write */
	T(ftruncate(writer, 3));
	T(fallocate(writer, 0, 0, 10));
	try_everything();
	T(change("f", 0));
	T(change("d", 0));
	slurp("f");
	T(unlink("f"));
}

SCENARIO(append_only_files)
{
	make_all();
	T(change("f", APPEND));
	T(change("d", APPEND));
	try_everything();
	T(change("f", 0));
	T(change("d", 0));
	slurp("f");
	T(unlink("f"));
}

/* An access time that stays where it was. */
SCENARIO(files_without_access_times)
{
	struct timespec old[2] = {{1000, 0}, {2000, 0}};
	struct stat st;

	make_file("f", "x");
	T(change("f", NOATIME));
	T(utimensat(AT_FDCWD, "f", old, 0));
	slurp("f");
	stat("f", &st);
	T(st.st_atime);
	T(change("f", 0));
	slurp("f");
	stat("f", &st);
	T(st.st_atime > 1000);
}
