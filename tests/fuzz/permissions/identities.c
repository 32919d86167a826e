/*
 * identities.c - what set-user-id programs become, and the calls that change one's identity.
 */
#include "matrix.h"

void print_identity(void)
{
	uid_t uid[3];
	gid_t gid[3];

	getresuid(&uid[0], &uid[1], &uid[2]);
	getresgid(&gid[0], &gid[1], &gid[2]);
	printf(" %u,%u,%u:%u,%u,%u", uid[0], uid[1], uid[2], gid[0], gid[1], gid[2]);
	fflush(stdout);
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

void programs(void)
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
	static const int numbers[] = {SYS_setuid, SYS_setreuid, SYS_setresuid,
				      SYS_setgid, SYS_setregid, SYS_setresgid};
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

void identities(void)
{
	for (size_t i = 0; i < 27; i++)
		identity_row(ids[i / 9], ids[i / 3 % 3], ids[i % 3]);
}
