/*
 * processes.c - who may send signals to whom, and see what of him in /proc.
 */
#include "matrix.h"

void wait_for_ever(void)
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

void signals(void)
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
void processes(void)
{
	static const char *const names[] = {"stat", "status", "cmdline", "comm", "environ",
					    "maps", "mem",    "fd",	 "fd/0", "exe",
					    "cwd",  "root",   "mounts",	 "task"};

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
