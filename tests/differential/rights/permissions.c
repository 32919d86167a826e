/*
 * permissions.c - scenarios about owners, modes, users, sticky directories, set-id bits.
 */
#include "../scenarios.h"

SCENARIO(umask_applies)
{
	umask(027);
	T(open("f", O_CREAT | O_WRONLY, 0666) >= 0);
	T(mkdir("d", 0777));
	T(mkfifo("p", 0666));
	show_mode("f");
	show_mode("d");
	show_mode("p");
	T(umask(0777));
	T(umask(01777));
	T(umask(0));
}

SCENARIO(read_permission)
{
	make_file("f", "secret");
	chmod("f", 0600);
	AS(USER_A) {
		T(open("f", O_RDONLY));
		T(open("f", O_WRONLY));
		T(access("f", R_OK));
		T(access("f", F_OK));
	}
	chmod("f", 0604);
	AS(USER_A) {
		T(open("f", O_RDONLY) >= 0);
		T(open("f", O_RDWR));
	}
}

SCENARIO(owner_class_wins)
{
	make_file("f", "x");
	chown("f", USER_A, USER_A);
	chmod("f", 0077);
	AS(USER_A) {
		T(open("f", O_RDONLY));
		T(access("f", R_OK));
	}
	AS(USER_B) {
		T(open("f", O_RDONLY) >= 0);
	}
	T(open("f", O_RDWR) >= 0);
}

SCENARIO(group_class_wins)
{
	make_file("f", "x");
	chown("f", 0, USER_A);
	chmod("f", 0604);
	AS(USER_A) {
		T(open("f", O_RDONLY));
	}
	AS(USER_B) {
		T(open("f", O_RDONLY) >= 0);
	}
}

SCENARIO(supplementary_groups)
{
	gid_t groups[2] = {5, 77};
	int status;

	make_file("f", "x");
	chown("f", 0, 77);
	chmod("f", 0640);
	if (!fork()) {
		setgroups(2, groups);
		setgid(USER_A);
		setuid(USER_A);
		T(open("f", O_RDONLY) >= 0);
		T(open("f", O_WRONLY));
		T(getgroups(0, NULL));
		_exit(0);
	}
	wait(&status);
}

SCENARIO(search_permission)
{
	make_directory("d");
	make_file("d/f", "x");
	chmod("d", 0744);
	AS(USER_A) {
		struct stat st;

		T(open("d/f", O_RDONLY));
		T(stat("d/f", &st));
		T(stat("d/none", &st));
		T(open("d", O_RDONLY) >= 0);
		T(chdir("d"));
	}
	chmod("d", 0711);
	AS(USER_A) {
		T(open("d/f", O_RDONLY) >= 0);
		T(open("d", O_RDONLY));
		T(chdir("d"));
	}
}

SCENARIO(write_permission_of_directory)
{
	make_directory("d");
	make_file("d/f", "x");
	AS(USER_A) {
		T(open("d/new", O_CREAT | O_WRONLY, 0644));
		T(open("d/f", O_CREAT | O_RDONLY, 0644) >= 0);
		T(unlink("d/f"));
		T(mkdir("d/x", 0755));
		T(rename("d/f", "d/g"));
		T(symlink("x", "d/l"));
		T(link("d/f", "d/h"));
		T(rmdir("d"));
		T(unlink("d/none"));
		T(mkdir("d/f", 0755));
	}
}

SCENARIO(new_file_owner)
{
	make_directory("d");
	chmod("d", 0777);
	AS(USER_A) {
		T(open("d/f", O_CREAT | O_WRONLY, 0644) >= 0);
		T(mkdir("d/s", 0755));
		T(symlink("f", "d/l"));
	}
	show_owner("d/f");
	show_owner("d/s");
	show_owner("d/l");
}

SCENARIO(setgid_directory)
{
	make_directory("d");
	chown("d", 0, 77);
	chmod("d", 02777);
	AS(USER_A) {
		T(open("d/f", O_CREAT | O_WRONLY, 0644) >= 0);
		T(mkdir("d/s", 0755));
	}
	show_owner("d/f");
	show_mode("d/f");
	show_owner("d/s");
	show_mode("d/s");
}

SCENARIO(sticky_directory)
{
	make_directory("d");
	chmod("d", 01777);
	AS(USER_A) {
		make_file("d/a", "A's");
		make_directory("d/ad");
	}
	AS(USER_B) {
		make_file("d/b", "B's");
		T(unlink("d/a"));
		T(rename("d/a", "d/z"));
		T(rename("d/b", "d/a"));
		T(rmdir("d/ad"));
		T(unlink("d/b"));
	}
	AS(USER_A) {
		T(unlink("d/a"));
		T(rmdir("d/ad"));
	}
}

SCENARIO(sticky_directory_owner)
{
	make_directory("d");
	chown("d", USER_A, USER_A);
	chmod("d", 01777);
	AS(USER_B) {
		make_file("d/b", "B's");
	}
	AS(USER_A) {
		T(unlink("d/b"));
	}
}

SCENARIO(chmod_rules)
{
	make_file("f", "x");
	AS(USER_A) {
		T(chmod("f", 0777));
	}
	chown("f", USER_A, USER_A);
	AS(USER_A) {
		T(chmod("f", 04755));
		T(chmod("f", 02755));
	}
	show_mode("f");
	T(chmod("none", 0644));
	T(chmod("f", 0107777));
	show_mode("f");
}

SCENARIO(chmod_setgid_of_foreign_group)
{
	make_file("f", "x");
	chown("f", USER_A, 77);
	AS(USER_A) {
		T(chmod("f", 02755));
	}
	show_mode("f");
}

SCENARIO(chmod_link)
{
	make_file("f", "x");
	symlink("f", "l");
	T(chmod("l", 0600));
	show_mode("f");
	show_mode("l");
	symlink("none", "m");
	T(chmod("m", 0600));
}

SCENARIO(fchmod_basic)
{
	int fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY);
	T(fchmod(fd, 0640));
	show_mode("f");
	T(fchmod(99, 0644));
	T(fchmodat(AT_FDCWD, "f", 0600, 0));
	show_mode("f");
}

SCENARIO(chown_rules)
{
	make_file("f", "x");
	T(chown("f", USER_A, USER_A));
	show_owner("f");
	T(chown("f", -1, USER_B));
	show_owner("f");
	T(chown("f", USER_B, -1));
	show_owner("f");
	T(chown("f", -1, -1));
	T(chown("none", 0, 0));
	AS(USER_B) {
		T(chown("f", USER_A, -1));
		T(chown("f", USER_B, -1));
		T(chown("f", -1, USER_B));
		T(chown("f", -1, 77));
		T(chown("f", -1, -1));
	}
	AS(USER_A) {
		T(chown("f", -1, USER_A));
		T(chown("f", -1, -1));
	}
}

SCENARIO(chown_clears_set_id)
{
	make_file("f", "x");
	chmod("f", 06755);
	T(chown("f", USER_A, USER_A));
	show_mode("f");
	chmod("f", 06745);
	T(chown("f", USER_A, 77));
	show_mode("f");
	make_directory("d");
	chmod("d", 06755);
	T(chown("d", USER_A, USER_A));
	show_mode("d");
}

SCENARIO(write_clears_set_id)
{
	make_file("f", "x");
	chown("f", USER_A, USER_A);
	chmod("f", 06777);
	AS(USER_B) {
		int fd = open("f", O_WRONLY);

		T(write(fd, "y", 1));
	}
	show_mode("f");
}

SCENARIO(truncate_clears_set_id)
{
	make_file("f", "xyz");
	chmod("f", 06777);
	AS(USER_B) {
		T(truncate("f", 1));
	}
	show_mode("f");
}

SCENARIO(root_write_keeps_set_id)
{
	int fd;

	make_file("f", "x");
	chmod("f", 06755);
	fd = open("f", O_WRONLY);
	T(write(fd, "y", 1));
	show_mode("f");
}

SCENARIO(lchown_link)
{
	make_file("f", "x");
	symlink("f", "l");
	T(lchown("l", USER_A, USER_B));
	show_owner("l");
	show_owner("f");
	T(chown("l", USER_B, USER_A));
	show_owner("l");
	show_owner("f");
	T(fchownat(AT_FDCWD, "l", 5, 6, AT_SYMLINK_NOFOLLOW));
	show_owner("l");
	T(fchownat(AT_FDCWD, "l", 5, 6, 0x40));
}

SCENARIO(fchown_basic)
{
	int fd;

	make_file("f", "x");
	fd = open("f", O_RDONLY);
	T(fchown(fd, USER_A, USER_B));
	show_owner("f");
	T(fchown(88, 0, 0));
	T(fchownat(fd, "", 7, 8, AT_EMPTY_PATH));
	show_owner("f");
}

SCENARIO(access_real_ids)
{
	make_file("f", "x");
	chmod("f", 0600);
	if (!fork()) {
		setresuid(USER_A, 0, 0);
		T(access("f", R_OK));
		T(faccessat(AT_FDCWD, "f", R_OK, AT_EACCESS));
		T(open("f", O_RDONLY) >= 0);
		_exit(0);
	}
	wait(NULL);
}

SCENARIO(access_modes)
{
	make_file("f", "x");
	T(access("f", R_OK | W_OK));
	T(access("f", X_OK));
	chmod("f", 0100);
	T(access("f", X_OK));
	T(access("f", 8));
	T(access("none", R_OK));
	make_directory("d");
	chmod("d", 0);
	T(access("d", R_OK | W_OK | X_OK));
	symlink("none", "l");
	T(access("l", F_OK));
	T(faccessat(AT_FDCWD, "l", F_OK, AT_SYMLINK_NOFOLLOW));
}

SCENARIO(root_executes_only_executables)
{
	char *argv[] = {"./f", NULL};

	make_file("f", "#!/none\n");
	T(execve("f", argv, NULL));
	chmod("f", 0111);
	T(execve("f", argv, NULL));
	make_directory("d");
	T(execve("d", argv, NULL));
	T(execve("none", argv, NULL));
	T(execve("f/x", argv, NULL));
	make_file("garbage", "not a program at all");
	chmod("garbage", 0755);
	T(execve("garbage", argv, NULL));
	make_file("empty", "");
	chmod("empty", 0755);
	T(execve("empty", argv, NULL));
	T(execve("", argv, NULL));
	T(syscall(SYS_execve, 8L, argv, NULL));
}

SCENARIO(exec_text_busy)
{
	char *argv[] = {"./f", NULL};
	int fd;

	make_file("f", "not really a program");
	chmod("f", 0755);
	fd = open("f", O_RDWR);
	T(fd >= 0);
	T(execve("f", argv, NULL));
	close(fd);
	T(execve("f", argv, NULL));
}

SCENARIO(exec_user_permission)
{
	char *argv[] = {"./f", NULL};

	make_file("f", "x");
	chmod("f", 0744);
	AS(USER_A) {
		T(execve("f", argv, NULL));
	}
	make_file("g", "#!/no/such/interpreter\n");
	chmod("g", 0755);
	T(execve("g", argv, NULL));
	symlink("g", "l");
	T(execve("l", argv, NULL));
	symlink("m", "m");
	T(execve("m", argv, NULL));
}

SCENARIO(seteuid_files)
{
	make_file("f", "x");
	chmod("f", 0600);
	make_directory("d");
	chmod("d", 0777);
	T(seteuid(USER_A));
	T(open("f", O_RDONLY));
	T(open("d/g", O_CREAT | O_WRONLY, 0644) >= 0);
	T(seteuid(0));
	T(open("f", O_RDONLY) >= 0);
	show_owner("d/g");
}

SCENARIO(setuid_rules)
{
	uid_t r, e, s;

	if (!fork()) {
		T(setresuid(USER_A, USER_A, USER_B));
		T(setuid(USER_B));
		getresuid(&r, &e, &s);
		say("%u %u %u", r, e, s);
		T(setuid(0));
		T(setreuid(USER_B, USER_A));
		getresuid(&r, &e, &s);
		say("%u %u %u", r, e, s);
		T(setresuid(-1, 5, -1));
		T(setgid(0));
		T(setgroups(0, NULL));
		_exit(0);
	}
	wait(NULL);
}

/* An ordinary user has none. */
SCENARIO(capabilities)
{
	unsigned header[2] = {0x20080522, 0}, sets[6] = {1, 2, 3, 4, 5, 6};

	AS(USER_A) {
		T(syscall(SYS_capget, header, sets));
		T(sets[0] | sets[1] | sets[2] | sets[3] | sets[4] | sets[5]);
		header[1] = -1;
		T(syscall(SYS_capget, header, sets));
		header[0] = 7;
		T(syscall(SYS_capget, header, sets));
		T(header[0]);
		T(syscall(SYS_capget, header, NULL));
		T(syscall(SYS_capget, NULL, sets));
	}
}
