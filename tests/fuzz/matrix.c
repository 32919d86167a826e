/*
 * matrix.c - who may do what: users × modes × owners × calls, a line of cells for each.
 *
 *	matrix DIR
 *
 * "TABLE columns: a b c" names a table's calls; "TABLE what who: x y z" are the outcomes, each the
 * error's name, or ok and what can be seen of it. The same program prints Linux's table and
 * Chainwalk's; lab/check/fuzz/permissions.py names the cells that differ.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct user {
	const char *name;
	uid_t uid;
	gid_t gid;
	gid_t group; /* supplementary; 0: none */
} users[] = {
	{"root", 0, 0, 0},	    {"owner", 1000, 1000, 0},
	{"primary", 1004, 2000, 0}, {"member", 1002, 1002, 2000},
	{"other", 1003, 1003, 0},
};

static const struct {
	uid_t uid;
	gid_t gid;
} owners[] = {{0, 0}, {1000, 1000}, {1000, 2000}, {0, 2000}};

/* The cells of one row, written by a child. */
static struct {
	size_t size;
	char text[8192];
} * row;

__attribute__((format(printf, 1, 2))) static void cell(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	row->size += (size_t)vsnprintf(row->text + row->size, sizeof(row->text) - row->size, format,
				       arguments);
	va_end(arguments);
}

static const char *error_name(int number)
{
	static const char *const names[] = {
		[EPERM] = "EPERM",	     [ENOENT] = "ENOENT",   [ESRCH] = "ESRCH",
		[ENXIO] = "ENXIO",	     [ENOEXEC] = "ENOEXEC", [EBADF] = "EBADF",
		[EACCES] = "EACCES",	     [EBUSY] = "EBUSY",	    [EEXIST] = "EEXIST",
		[EXDEV] = "EXDEV",	     [ENOTDIR] = "ENOTDIR", [EISDIR] = "EISDIR",
		[EINVAL] = "EINVAL",	     [ETXTBSY] = "ETXTBSY", [EROFS] = "EROFS",
		[ENOTEMPTY] = "ENOTEMPTY",   [ENODATA] = "ENODATA", [EIO] = "EIO",
		[EOPNOTSUPP] = "EOPNOTSUPP", [EFAULT] = "EFAULT",
	};
	static char other[16];

	if (number > 0 && (size_t)number < COUNT(names) && names[number])
		return names[number];
	snprintf(other, sizeof(other), "E%d", number);
	return other;
}

static void outcome(long result)
{
	cell(" %s", result == -1 ? error_name(errno) : "ok");
}

static void become(const struct user *user)
{
	if (setgroups(user->group ? 1 : 0, &user->group) ||
	    setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid)) {
		cell(" cannot-become");
		_exit(1);
	}
}

/* True in a child that is @user, which ends with end_as(); false when it has ended. */
static bool as(const struct user *user)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid) {
		waitpid(pid, NULL, 0);
		return false;
	}
	become(user);
	return true;
}

static void end_as(void)
{
	fflush(stdout);
	_exit(0);
}

#define AS(user) for (bool run_ = as(user); run_; end_as())

static void make_file(const char *name, uid_t uid, gid_t gid, mode_t mode)
{
	int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);

	if (fd < 0 || write(fd, "text\n", 5) != 5 || fchown(fd, uid, gid) || fchmod(fd, mode))
		perror(name);
	close(fd);
}

/* ---- files
 * --------------------------------------------------------------------------------------- */

static long close_of(int fd)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return fd < 0 ? -1 : 0;
}

static const struct user *me; /* who a call below is made by */

static long open_r(const char *f)
{
	return close_of(open(f, O_RDONLY));
}
static long open_w(const char *f)
{
	return close_of(open(f, O_WRONLY));
}
static long open_rw(const char *f)
{
	return close_of(open(f, O_RDWR));
}
static long open_trunc(const char *f)
{
	return close_of(open(f, O_RDONLY | O_TRUNC));
}
static long open_creat(const char *f)
{
	return close_of(open(f, O_WRONLY | O_CREAT, 0666));
}
static long open_noatime(const char *f)
{
	return close_of(open(f, O_RDONLY | O_NOATIME));
}
static long open_path(const char *f)
{
	return close_of(open(f, O_PATH));
}
static long access_f(const char *f)
{
	return access(f, F_OK);
}
static long access_r(const char *f)
{
	return access(f, R_OK);
}
static long access_w(const char *f)
{
	return access(f, W_OK);
}
static long access_x(const char *f)
{
	return access(f, X_OK);
}
static long access_rwx(const char *f)
{
	return access(f, 7);
}
static long truncate_0(const char *f)
{
	return truncate(f, 0);
}
static long truncate_same(const char *f)
{
	return truncate(f, 5);
}
static long chmod_604(const char *f)
{
	return chmod(f, 0604);
}
static long chmod_6755(const char *f)
{
	return chmod(f, 06755);
}
static long chmod_2745(const char *f)
{
	return chmod(f, 02745);
}
static long chown_none(const char *f)
{
	return chown(f, (uid_t)-1, (gid_t)-1);
}
static long chown_me(const char *f)
{
	return chown(f, me->uid, (gid_t)-1);
}
static long chown_other(const char *f)
{
	return chown(f, 1003, (gid_t)-1);
}
static long chgrp_me(const char *f)
{
	return chown(f, (uid_t)-1, me->gid);
}
static long chgrp_2000(const char *f)
{
	return chown(f, (uid_t)-1, 2000);
}
static long chgrp_0(const char *f)
{
	return chown(f, (uid_t)-1, 0);
}
static long link_to(const char *f)
{
	return link(f, "linked") ? -1 : unlink("linked");
}
static long stat_it(const char *f)
{
	struct stat st;
	return stat(f, &st);
}
static long setxattr_user(const char *f)
{
	return syscall(SYS_setxattr, f, "user.a", "b", 1, 0);
}
static long getxattr_user(const char *f)
{
	char b[8];
	return syscall(SYS_getxattr, f, "user.a", b, 8);
}
static long setxattr_trusted(const char *f)
{
	return syscall(SYS_setxattr, f, "trusted.a", "b", 1, 0);
}
static long listxattr_it(const char *f)
{
	char b[99];
	return syscall(SYS_listxattr, f, b, sizeof(b));
}

static long write_1(const char *f)
{
	int fd = open(f, O_WRONLY | O_APPEND);
	long result = fd < 0 ? -1 : write(fd, "x", 1);

	close_of(fd);
	return result;
}

static long fchmod_r(const char *f)
{
	int fd = open(f, O_RDONLY);
	long result = fd < 0 ? -1 : fchmod(fd, 0640);

	close_of(fd);
	return result;
}

static long ftruncate_r(const char *f)
{
	int fd = open(f, O_RDONLY);
	long result = fd < 0 ? -1 : ftruncate(fd, 0);

	close_of(fd);
	return result;
}

static long map_shared(const char *f)
{
	int fd = open(f, O_RDONLY);
	void *at =
		fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close_of(fd);
	return at == MAP_FAILED ? -1 : munmap(at, 4096);
}

static long execute(const char *f)
{
	char *argv[] = {"x", NULL};

	return execv(f, argv); /* never one: it holds text */
}

static long utimes_now(const char *f)
{
	return utimensat(AT_FDCWD, f, NULL, 0);
}

static long utimes_set(const char *f)
{
	struct timespec times[2] = {{1, 0}, {2, 0}};

	return utimensat(AT_FDCWD, f, times, 0);
}

static long utimes_omit(const char *f)
{
	struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};

	return utimensat(AT_FDCWD, f, times, 0);
}

struct call {
	const char *name;
	long (*function)(const char *name);
};

#define CALL(name)                                                                                 \
	{                                                                                          \
#name, name                                                                        \
	}

static const struct call file_calls[] = {
	CALL(open_r),	   CALL(open_w),	CALL(open_rw),	  CALL(open_trunc),
	CALL(open_creat),  CALL(open_noatime),	CALL(open_path),  CALL(access_f),
	CALL(access_r),	   CALL(access_w),	CALL(access_x),	  CALL(access_rwx),
	CALL(truncate_0),  CALL(truncate_same), CALL(chmod_604),  CALL(chmod_6755),
	CALL(chmod_2745),  CALL(chown_none),	CALL(chown_me),	  CALL(chown_other),
	CALL(chgrp_me),	   CALL(chgrp_2000),	CALL(chgrp_0),	  CALL(link_to),
	CALL(stat_it),	   CALL(write_1),	CALL(fchmod_r),	  CALL(ftruncate_r),
	CALL(map_shared),  CALL(execute),	CALL(utimes_now), CALL(utimes_set),
	CALL(utimes_omit),
};

static const struct call xattr_calls[] = {
	CALL(setxattr_user),
	CALL(getxattr_user),
	CALL(setxattr_trusted),
	CALL(listxattr_it),
};

static void columns(const char *table, const struct call *calls, size_t count)
{
	printf("%s columns:", table);
	for (size_t i = 0; i < count; i++)
		printf(" %s", calls[i].name);
	printf("\n");
}

static const mode_t file_modes[] = {0000, 0400, 0200,  0100,  0040,  0020,  0010,
				    0004, 0002, 0001,  0644,  0640,  0750,  0707,
				    0666, 0777, 04755, 02755, 06777, 02745, 01777};

/* A file of its own for each call, so that none sees what another one did; what became of its mode
 * and owner is seen by root. */
static void files_row(const char *table, const struct call *calls, size_t count, mode_t mode,
		      size_t owner, const struct user *user)
{
	char name[16];
	size_t at = 0;
	struct stat st;

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "f%zu", i);
		make_file(name, owners[owner].uid, owners[owner].gid, mode);
	}
	me = user;
	row->size = 0;
	AS(user)
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "f%zu", i);
		outcome(calls[i].function(name));
	}
	printf("%s %04o %u:%u %s:", table, mode, owners[owner].uid, owners[owner].gid, user->name);
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(row->text + at + 1, " ") + 1;

		printf("%.*s", (int)length, row->text + at);
		at += length;
		snprintf(name, sizeof(name), "f%zu", i);
		if (stat(name, &st))
			printf("/gone");
		else if ((st.st_mode & 07777) != mode || st.st_uid != owners[owner].uid ||
			 st.st_gid != owners[owner].gid)
			printf("/%o:%u:%u", st.st_mode & 07777, st.st_uid, st.st_gid);
		unlink(name);
	}
	printf("\n");
}

static void files(const char *table, const struct call *calls, size_t count, size_t first_mode,
		  size_t mode_count)
{
	columns(table, calls, count);
	for (size_t mode = first_mode; mode < first_mode + mode_count; mode++)
		for (size_t owner = 0; owner < COUNT(owners); owner++)
			for (size_t user = 0; user < COUNT(users); user++)
				files_row(table, calls, count, file_modes[mode], owner,
					  &users[user]);
}

/* ---- directories
 * ---------------------------------------------------------------------------------- */

static const char *const victims[] = {"unlink", "rename", "out", "over", "stat", "open", "swap"};

static long dir_list(const char *d)
{
	DIR *dir = opendir(d);
	long result = dir ? 0 : -1;

	if (dir)
		closedir(dir);
	return result;
}

static long dir_chdir(const char *d)
{
	return chdir(d) ? -1 : chdir("..");
}
static long dir_stat(const char *d)
{
	(void)d;
	return access("d/stat", F_OK);
}
static long dir_open(const char *d)
{
	(void)d;
	return close_of(open("d/open", O_RDONLY));
}
static long dir_unlink(const char *d)
{
	(void)d;
	return unlink("d/unlink");
}
static long dir_rmdir(const char *d)
{
	(void)d;
	return rmdir("d/sub");
}
static long dir_rename(const char *d)
{
	(void)d;
	return rename("d/rename", "d/renamed");
}
static long dir_rename_out(const char *d)
{
	(void)d;
	return rename("d/out", "out");
}
static long dir_rename_in(const char *d)
{
	(void)d;
	return rename("mine", "d/mine");
}
static long dir_rename_over(const char *d)
{
	(void)d;
	return rename("mine2", "d/over");
}
static long dir_move_dir(const char *d)
{
	(void)d;
	return rename("d/sub2", "sub2");
}
static long dir_exchange(const char *d)
{
	(void)d;
	return syscall(SYS_renameat2, AT_FDCWD, "mine3", AT_FDCWD, "d/swap", 2);
}
static long dir_link(const char *d)
{
	(void)d;
	return link("mine4", "d/link");
}
static long dir_create(const char *d)
{
	(void)d;
	return close_of(open("d/new", O_CREAT | O_EXCL | O_RDWR, 02770));
}
static long dir_mkdir(const char *d)
{
	(void)d;
	return mkdir("d/newdir", 0770);
}
static long dir_symlink(const char *d)
{
	(void)d;
	return symlink("x", "d/newlink");
}
static long dir_mkfifo(const char *d)
{
	(void)d;
	return mkfifo("d/newfifo", 0660);
}
static long dir_mknod(const char *d)
{
	(void)d;
	return mknod("d/newnode", S_IFCHR | 0666, 0x103);
}
static long dir_chmod(const char *d)
{
	return chmod(d, 0711);
}
static long dir_access_w(const char *d)
{
	return access(d, W_OK | X_OK);
}

static const struct call dir_calls[] = {
	CALL(dir_list),	      CALL(dir_chdir),	   CALL(dir_access_w),	  CALL(dir_stat),
	CALL(dir_open),	      CALL(dir_unlink),	   CALL(dir_rmdir),	  CALL(dir_rename),
	CALL(dir_rename_out), CALL(dir_rename_in), CALL(dir_rename_over), CALL(dir_move_dir),
	CALL(dir_exchange),   CALL(dir_link),	   CALL(dir_create),	  CALL(dir_mkdir),
	CALL(dir_symlink),    CALL(dir_mkfifo),	   CALL(dir_mknod),	  CALL(dir_chmod),
};

static const mode_t dir_modes[] = {0777, 01777, 0755,  0700,  0333, 0555,
				   0444, 0111,	02777, 03770, 0070, 0000};

static void say_made(const char *name)
{
	struct stat st;

	if (!lstat(name, &st))
		printf(" %o:%u:%u", st.st_mode, st.st_uid, st.st_gid);
}

static void remove_names(void)
{
	static const char *const here[] = {"out", "mine", "mine2", "mine3", "mine4"};
	struct dirent *entry;
	DIR *dir = opendir("d");

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && unlinkat(dirfd(dir), entry->d_name, 0))
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
	rmdir("d");
	rmdir("sub2");
	for (size_t i = 0; i < COUNT(here); i++)
		unlink(here[i]);
}

static void dir_row(mode_t mode, size_t owner, uid_t victim, const struct user *user)
{
	static const char *const mine[] = {"mine", "mine2", "mine3", "mine4"};
	char name[32];

	mkdir("d", 0700);
	for (size_t i = 0; i < COUNT(victims); i++) {
		snprintf(name, sizeof(name), "d/%s", victims[i]);
		make_file(name, victim, victim, 0644);
	}
	for (size_t i = 0; i < COUNT(mine); i++)
		make_file(mine[i], user->uid, user->gid, 0644);
	for (int i = 0; i < 2; i++) {
		const char *sub = i ? "d/sub2" : "d/sub";

		if (mkdir(sub, 0755) || chown(sub, victim, victim))
			perror(sub);
	}
	if (chown("d", owners[owner].uid, owners[owner].gid) || chmod("d", mode))
		perror("d");
	row->size = 0;
	AS(user)
	for (size_t i = 0; i < COUNT(dir_calls); i++)
		outcome(dir_calls[i].function("d"));
	printf("directory %04o %u:%u of-%u %s:%s", mode, owners[owner].uid, owners[owner].gid,
	       victim, user->name, row->text);
	say_made("d/new");
	say_made("d/newdir");
	say_made("d");
	printf("\n");
	remove_names();
}

static void directories(void)
{
	static const uid_t victim_owners[] = {0, 1000, 1002};

	columns("directory", dir_calls, COUNT(dir_calls));
	for (size_t mode = 0; mode < COUNT(dir_modes); mode++)
		for (size_t owner = 0; owner < COUNT(owners) - 1; owner++)
			for (size_t victim = 0; victim < COUNT(victim_owners); victim++)
				for (size_t user = 0; user < COUNT(users); user++)
					dir_row(dir_modes[mode], owner, victim_owners[victim],
						&users[user]);
}

/* ---- set-user-id programs
 * -------------------------------------------------------------------------- */

static void print_identity(void)
{
	uid_t uid[3];
	gid_t gid[3];

	getresuid(&uid[0], &uid[1], &uid[2]);
	getresgid(&gid[0], &gid[1], &gid[2]);
	printf(" %u,%u,%u:%u,%u,%u", uid[0], uid[1], uid[2], gid[0], gid[1], gid[2]);
	fflush(stdout);
}

static void copy_self(const char *to)
{
	static char data[1 << 20];
	int from = open("/proc/self/exe", O_RDONLY),
	    fd = open(to, O_CREAT | O_WRONLY | O_TRUNC, 0755);
	ssize_t n = read(from, data, sizeof(data));

	if (from < 0 || fd < 0 || n <= 0 || write(fd, data, (size_t)n) != n)
		perror(to);
	close(from);
	close(fd);
}

static void set_id_rows(const char *where, const char *program)
{
	static const mode_t modes[] = {0755,  04755, 02755, 06755, 04750,
				       02745, 04700, 06050, 04000, 04001};

	for (size_t mode = 0; mode < COUNT(modes); mode++) {
		for (size_t owner = 0; owner < COUNT(owners); owner++) {
			if (chown(program, owners[owner].uid, owners[owner].gid) ||
			    chmod(program, modes[mode]))
				perror(program);
			printf("program-%s %04o %u:%u all:", where, modes[mode], owners[owner].uid,
			       owners[owner].gid);
			for (size_t user = 0; user < COUNT(users); user++) {
				fflush(stdout);
				AS(&users[user])
				{
					char *argv[] = {"matrix", "identity", NULL};

					execv(program, argv);
					printf(" %s", error_name(errno));
				}
			}
			printf("\n");
		}
	}
}

static void programs(void)
{
	copy_self("program");
	set_id_rows("plain", "program");
	mkdir("nosuid", 0755);
	if (!mount("none", "nosuid", "tmpfs", MS_NOSUID, "mode=755")) {
		copy_self("nosuid/program");
		set_id_rows("nosuid", "nosuid/program");
		umount("nosuid");
	}
	rmdir("nosuid");
	unlink("program");
}

/* ---- identities
 * -------------------------------------------------------------------------------------- */

static const uid_t ids[] = {0, 1000, 1001};

static void say_identity(void)
{
	uid_t uid[3];
	gid_t gid[3];

	getresuid(&uid[0], &uid[1], &uid[2]);
	getresgid(&gid[0], &gid[1], &gid[2]);
	cell("/%u,%u,%u/%u,%u,%u", uid[0], uid[1], uid[2], gid[0], gid[1], gid[2]);
}

static void change(int call, uid_t a, uid_t b, uid_t c)
{
	static const int numbers[] = {SYS_setuid,   SYS_setreuid,  SYS_setresuid, SYS_setgid,
				      SYS_setregid, SYS_setresgid};
	pid_t pid = fork();

	if (!pid) {
		outcome(syscall(numbers[call], a, b, c) == -1 ? -1 : 0);
		say_identity();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void identity_row(uid_t real, uid_t effective, uid_t saved)
{
	pid_t pid;

	row->size = 0;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* groups first: one that is not root cannot change them as it likes */
		syscall(SYS_setgroups, 0, NULL);
		syscall(SYS_setresgid, real, effective, saved);
		syscall(SYS_setresuid, real, effective, saved);
		outcome(syscall(SYS_setgroups, 0, NULL));
		for (size_t i = 0; i < 3; i++) {
			change(0, ids[i], 0, 0);
			change(3, ids[i], 0, 0);
			for (size_t j = 0; j < 3; j++) {
				change(1, i ? ids[i] : (uid_t)-1, ids[j], 0);
				change(4, ids[i], j ? ids[j] : (uid_t)-1, 0);
				change(2, ids[i], ids[j], (uid_t)-1);
				change(5, (uid_t)-1, ids[i], ids[j]);
			}
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("identity %u,%u,%u all:%s\n", real, effective, saved, row->text);
}

static void identities(void)
{
	for (size_t i = 0; i < 27; i++)
		identity_row(ids[i / 9], ids[i / 3 % 3], ids[i % 3]);
}

/* ---- signals and /proc
 * ---------------------------------------------------------------------------------- */

static void wait_for_ever(void)
{
	if (write(9, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* @afresh: it executes a program, after which what was root's is no more in its memory. */
static pid_t start_target(uid_t real, uid_t effective, uid_t saved, bool afresh)
{
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds))
		perror("pipe");
	pid = fork();
	if (!pid) {
		setsid(); /* SIGCONT is for everybody of a session */
		syscall(SYS_setresgid, real, effective, saved);
		syscall(SYS_setresuid, real, effective, saved);
		dup2(fds[1], 9);
		if (afresh)
			execl("./program", "matrix", "wait", NULL);
		wait_for_ever();
	}
	if (read(fds[0], &c, 1) != 1)
		perror("read");
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static void stop_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void signals(void)
{
	static const int numbers[] = {0, SIGWINCH, SIGCONT};

	for (size_t i = 0; i < 27; i++) {
		pid_t target = start_target(ids[i / 9], ids[i / 3 % 3], ids[i % 3], false);

		row->size = 0;
		for (size_t j = 0; j < 9; j++) {
			pid_t pid = fork();

			if (!pid) {
				syscall(SYS_setresuid, ids[j / 3], ids[j % 3], ids[j % 3]);
				for (size_t k = 0; k < COUNT(numbers); k++)
					outcome(kill(target, numbers[k]));
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
		stop_target(target);
		printf("signal %u,%u,%u all:%s\n", ids[i / 9], ids[i / 3 % 3], ids[i % 3],
		       row->text);
	}
}

static void read_of_process(pid_t pid, const char *name)
{
	char path[64], data[64];
	struct stat st;
	long result;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	if (lstat(path, &st)) {
		outcome(-1);
		return;
	}
	if (S_ISLNK(st.st_mode)) {
		outcome(readlink(path, data, sizeof(data)));
		return;
	}
	fd = open(path, S_ISDIR(st.st_mode) ? O_RDONLY | O_DIRECTORY : O_RDONLY);
	if (fd < 0) {
		outcome(-1);
		return;
	}
	result = S_ISDIR(st.st_mode) ? syscall(SYS_getdents64, fd, data, 64) : read(fd, data, 0);
	outcome(result);
	close(fd);
}

/* What nothing of the other's contents shows in is open to all. */
static void processes(void)
{
	static const char *const names[] = {
		"stat", "status", "cmdline", "comm", "environ", "maps",	  "mem",    "fd",
		"fd/0", "exe",	  "cwd",     "root", "mounts",	"task"};

	printf("process columns:");
	for (size_t i = 0; i < COUNT(names); i++)
		printf(" %s", names[i]);
	printf("\n");
	copy_self("program");
	for (size_t i = 0; i < 9; i++) {
		pid_t target;

		/* A process that took on an ordinary user's rights: who owns its files in /proc
		 * is a matter of whether it may be dumped, which is not told apart here. */
		if (i / 3 != i % 3 && i % 3)
			continue;
		target = start_target(ids[i / 3], ids[i % 3], ids[i % 3], true);

		for (size_t user = 0; user < COUNT(users); user++) {
			row->size = 0;
			AS(&users[user])
			for (size_t j = 0; j < COUNT(names); j++)
				read_of_process(target, names[j]);
			printf("process %u,%u - %s:%s\n", ids[i / 3], ids[i % 3], users[user].name,
			       row->text);
		}
		stop_target(target);
	}
	unlink("program");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "identity")) {
		print_identity();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "wait"))
		wait_for_ever();
	if (argc < 2 || chdir(argv[1]) || chmod(".", 0777)) {
		perror("matrix DIR");
		return 2;
	}
	umask(0);
	signal(SIGCONT, SIG_IGN);
	signal(SIGWINCH, SIG_IGN);
	row = mmap(NULL, sizeof(*row), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	files("file", file_calls, COUNT(file_calls), 0, COUNT(file_modes));
	files("attribute", xattr_calls, COUNT(xattr_calls), 8, 9);
	directories();
	programs();
	identities();
	signals();
	processes();
	printf("end\n");
	return 0;
}
