/*
 * programs.c - what real programs were seen to do when they failed here and not on Linux.
 */
#include "../scenarios.h"

/* bash's process substitution: comm <(...) opens /dev/fd/63 when its writer may have gone already.
 */
SCENARIO(pipe_opened_again)
{
	char name[32], byte;
	int fds[2], again;

	alarm(5); /* a hang is the end of the scenario */
	T(pipe(fds));
	T(write(fds[1], "xy", 2));
	close(fds[1]);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fds[0]);
	again = open(name, O_RDONLY);
	T(again >= 0);
	T(read(again, &byte, 1));
	T(read(fds[0], &byte, 1));
	T(read(again, &byte, 1));
	T(open(name, O_WRONLY | O_NONBLOCK) >= 0);
}

/* dbench counts in memory that its clients share. */
SCENARIO(shared_segments)
{
	int id, other, *p, *again, status;

	T(shmget(0x4321, 100, 0600));
	T(shmget(IPC_PRIVATE, 0, IPC_CREAT | 0600));
	T((id = shmget(IPC_PRIVATE, 10000, 0640)) >= 0);
	T((other = shmget(IPC_PRIVATE, 100, IPC_CREAT | 0600)) == id);
	T(shmctl(other, IPC_RMID, NULL));
	p = shmat(id, NULL, 0);
	again = shmat(id, NULL, 0);
	T(p != (void *)-1 && again != (void *)-1 && p != again);
	p[0] = 1;
	p[2499] = 7;
	if (!fork()) {
		p[0] += 41;
		_exit(0);
	}
	wait(NULL);
	T(again[0]);
	T(again[2499]);
	T((long)shmat(id, (char *)p + 1, 0));
	AS(USER_A)
	{
		T((long)shmat(id, NULL, 0));
		T(shmctl(id, IPC_RMID, NULL));
	}
	if (!fork()) { /* a member of its group, though not by the group it acts as */
		gid_t group = 0;

		setgroups(1, &group);
		setresgid(USER_A, USER_A, USER_A);
		setresuid(USER_A, USER_A, USER_A);
		_exit((long)shmat(id, NULL, 0) == -1 && errno == EACCES);
	}
	wait(&status);
	T(WEXITSTATUS(status));
	T(semctl(id, 0, GETVAL));
	T(munmap(p, 10000));
	T(shmctl(id, IPC_RMID, NULL));
	T(again[0]);
	T(munmap(again, 10000));
	T(shmctl(id, IPC_RMID, NULL));
	T((long)shmat(-1, NULL, 0));
}

SCENARIO(memory_files)
{
	char text[300], byte;
	struct stat status;
	char *map;
	int fd;

	memset(text, 'x', sizeof(text));
	text[250] = 0;
	T(memfd_create(text, 0));
	T(memfd_create("x", 1 << 20));
	T((fd = memfd_create("name", MFD_CLOEXEC)) >= 0);
	T(fcntl(fd, F_GETFD));
	T(write(fd, "hello", 5));
	T(ftruncate(fd, 9000));
	T(lseek(fd, 0, SEEK_END));
	T(pread(fd, &byte, 1, 4));
	map = mmap(NULL, 9000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	map[8999] = 'z';
	T(pread(fd, &byte, 1, 8999));
	T(byte);
	T(fstat(fd, &status));
	T(status.st_size);
	T(status.st_nlink);
	T(S_ISREG(status.st_mode));
	T(close(fd));
	T(map[4]);
}

/* What a process did with SEM_UNDO is undone at its end: of semaphore @id, 3 before and 2 after. */
static void children_take_back(int id)
{
	struct sembuf down = {0, -1, 0};
	int status;

	if (!fork()) {
		semop(id, &(struct sembuf){0, -2, SEM_UNDO}, 1);
		semop(id, &down, 1);
		_exit(semctl(id, 0, GETVAL));
	}
	wait(&status);
	T(WEXITSTATUS(status));
	T(semctl(id, 0, GETVAL));
	if (!fork()) { /* as dbench raises it, and it ends before it takes that back */
		semop(id, &(struct sembuf){0, 5, SEM_UNDO}, 1);
		semop(id, &(struct sembuf){0, -1, SEM_UNDO}, 1);
		_exit(semctl(id, 0, GETVAL));
	}
	wait(&status);
	T(WEXITSTATUS(status));
	T(semctl(id, 0, GETVAL));
}

/* Who waits for semaphore @id is told that it is gone. */
static void removed_under_waiters(int id)
{
	struct sembuf zero = {0, 0, 0};
	int status;

	if (!fork())
		_exit(semop(id, &(struct sembuf){0, -9, 0}, 1) == -1 && errno == EIDRM ? 9 : 1);
	if (!fork())
		_exit(semop(id, &zero, 1) == -1 && errno == EIDRM ? 9 : 1);
	usleep(200000);
	T(semctl(id, 0, GETZCNT));
	T(semctl(id, 1, GETZCNT));
	T(semctl(id, 0, IPC_RMID));
	wait(&status);
	T(WEXITSTATUS(status));
	wait(&status);
	T(WEXITSTATUS(status));
}

/* dbench's clients begin together at a semaphore. */
SCENARIO(semaphores)
{
	struct sembuf up = {0, 3, 0}, down = {0, -1, 0}, zero = {0, 0, 0}, now = {0, 0, IPC_NOWAIT};
	struct sembuf second = {1, 1, 0}, most = {0, 32767, 0};
	int id, other, status;

	T(semget(0x77, 1, 0600));
	T((id = semget(IPC_PRIVATE, 1, 0600)) >= 0);
	T(semget(IPC_PRIVATE, 0, IPC_CREAT | 0600));
	T((other = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600)) == id);
	T(semctl(other, 0, IPC_RMID));
	T(semop(id, &up, 1));
	T(semctl(id, 0, GETVAL));
	T(semop(id, &now, 1));
	T(semop(id, &second, 1));
	T(semop(id, &most, 1));
	T(semop(id, &(struct sembuf){0, -4, IPC_NOWAIT}, 1));
	T(semctl(id, 0, GETVAL));
	T(semctl(id, 1, GETVAL));
	T(semop(id, &up, 0));
	T(semop(id, &down, 1));
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			semop(id, &down, 1);
			_exit(semop(id, &zero, 1));
		}
	T(semop(id, &zero, 1));
	T(wait(&status) > 0 && wait(&status) > 0 && status == 0);
	AS(USER_A)
	{
		T(semctl(id, 0, GETVAL));
		T(semop(id, &up, 1));
		T(semctl(id, 0, IPC_RMID));
	}
	T(semop(id, &up, 1));
	children_take_back(id);
	removed_under_waiters(id);
	T(semop(id, &up, 1));
	T(semctl(id, 0, GETVAL));
}
