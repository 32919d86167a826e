/*
 * directories.c - users × modes × owners × calls in a directory.
 */
#include "matrix.h"

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

void directories(void)
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
