/*
 * files.c - users × modes × owners × calls on a file.
 */
#include "matrix.h"

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

static void table(const char *name, const struct call *calls, size_t count, size_t first_mode,
		  size_t mode_count)
{
	columns(name, calls, count);
	for (size_t mode = first_mode; mode < first_mode + mode_count; mode++)
		for (size_t owner = 0; owner < COUNT(owners); owner++)
			for (size_t user = 0; user < COUNT(users); user++)
				files_row(name, calls, count, file_modes[mode], owner,
					  &users[user]);
}

void files(void)
{
	table("file", file_calls, COUNT(file_calls), 0, COUNT(file_modes));
	table("attribute", xattr_calls, COUNT(xattr_calls), 8, 9);
}
