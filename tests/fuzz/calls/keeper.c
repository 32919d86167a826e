/*
 * keeper.c - who lets the workers live, ends them, and clears away what they made.
 */
#include "callfuzz.h"

static void remove_all(const char *name)
{
	struct dirent *entry;
	DIR *dir;

	if (!unlink(name) || !rmdir(name) || errno == ENOENT)
		return;
	if (chdir(name))
		return;
	dir = opendir(".");
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			remove_all(entry->d_name);
	if (dir)
		closedir(dir);
	if (chdir(".."))
		perror("..");
	if (rmdir(name))
		perror(name);
}

/* Kill all of this user; false: somebody was there, or did not go. */
static bool kill_user(void)
{
	struct dirent *entry;
	bool gone = true;
	struct stat st;
	DIR *proc;
	pid_t pid = fork();

	if (!pid) {
		if (!setuid(USER))
			kill(-1, SIGKILL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    !fstatat(dirfd(proc), entry->d_name, &st, 0) && st.st_uid == USER)
			gone = false;
	if (proc)
		closedir(proc);
	return gone && proc;
}

/* What the user has made elsewhere in /tmp. */
static void remove_users_files(void)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	if (chdir("/tmp"))
		return;
	dir = opendir(".");
	while (dir && (entry = readdir(dir)))
		if (!lstat(entry->d_name, &st) && st.st_uid == USER &&
		    strcmp(entry->d_name, "..") && strcmp(entry->d_name, "."))
			remove_all(entry->d_name);
	if (dir)
		closedir(dir);
	if (chdir("/"))
		perror("/");
}

/*
 * Segments and sets of semaphores outlive who made them. Their numbers grow: none is above that of
 * a new one but what was in the table beside it.
 */
static void remove_lasting(int get, int control)
{
	long last = -1;

	for (long below = 1 << 10; last < 0 && below < 1 << 30; below <<= 2) {
		last = syscall(get, 0, 1, 0600); /* IPC_PRIVATE */
		for (long id = 0; id < (last < 0 ? below : last + 1024); id++)
			syscall(control, id, 0, 0, 0); /* IPC_RMID */
	}
}

static void pause_ms(long ms)
{
	struct timespec time = {0, ms * 1000000};

	nanosleep(&time, NULL);
}

void keep(int processes, int threads)
{
	uint64_t before[MAX_PROCESSES] = {0};
	unsigned incarnations[MAX_PROCESSES] = {0};
	pid_t pids[MAX_PROCESSES] = {0}, ended;
	int left = processes, stalls[MAX_PROCESSES] = {0};

	while (left) {
		left = 0;
		for (int i = 0; i < processes; i++) {
			if (counts->made[i] >= goal && !pids[i])
				continue;
			left++;
			if (!pids[i]) {
				pids[i] = fork();
				if (!pids[i])
					work(i, incarnations[i], threads);
				incarnations[i]++;
				stalls[i] = 0;
			} else if (counts->made[i] != before[i]) {
				stalls[i] = 0;
			} else if (++stalls[i] >= 3) {
				kill(pids[i], SIGKILL);
			}
			before[i] = counts->made[i];
		}
		pause_ms(4);
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			for (int i = 0; i < processes; i++)
				if (pids[i] == ended)
					pids[i] = 0;
	}
	for (int i = 0; i < processes; i++)
		printf("process %d: %lu calls, %u lives\n", i, (unsigned long)counts->made[i],
		       incarnations[i]);
}

bool end_user(void)
{
	bool gone = false;

	for (int i = 0; i < 500 && !gone; i++) {
		gone = kill_user();
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		pause_ms(2);
	}
	return gone;
}

void remove_what_is_left(void)
{
	if (chdir("/"))
		perror("/");
	remove_lasting(SYS_shmget, SYS_shmctl);
	remove_lasting(SYS_semget, SYS_semctl);
	umount2(FOLDER, MNT_DETACH);
	remove_all(FOLDER);
	remove_users_files();
}
