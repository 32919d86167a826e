/*
 * bystanders.c - who leaves at once instead of waiting is not there for others: two races.
 *
 * "futex": one thread waits for a value that the word never has, on a fresh page each time, so that
 * a look at it takes a while, and another wakes: nobody is ever woken. "fifo": a reader that waits
 * for a writer and a writer that does not wait open a FIFO at once: while the writer is refused the
 * reader is not let in. Each prints one line.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

#define WAITS 300
#define ROUNDS 100

static volatile int waits, woken;

static void *wait_in_vain(void *word)
{
	for (; waits < WAITS; waits++) {
		madvise(word, 4096, MADV_DONTNEED);
		if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 8, NULL) == 0)
			woken++;
	}
	return NULL;
}

static void futexes(void)
{
	void *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long taken = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, wait_in_vain, word);
	while (waits < WAITS)
		taken += syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1);
	pthread_join(thread, NULL);
	printf("woken %d, wake-ups taken %ld\n", woken, taken);
}

/* Of two who open at once: the round begun, that in which the reader is in, and that which is over. */
struct meeting {
	volatile int begun, in, over;
};

static void read_each(struct meeting *meeting)
{
	for (int round = 1; round <= ROUNDS; round++) {
		while (meeting->begun != round)
			sched_yield();
		int fd = open("fifo", O_RDONLY);
		meeting->in = round;
		while (meeting->over != round)
			sched_yield();
		close(fd);
	}
	_exit(0);
}

/* Keeps the FIFO's lock busy, so that who comes to be counted, or to be counted no more, waits. */
static void change_mode(void)
{
	for (;;)
		chmod("fifo", 0600);
}

static void fifos(void)
{
	struct meeting *meeting = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t reader, changer;
	int alone = 0;

	mkfifo("fifo", 0600);
	reader = fork();
	if (!reader)
		read_each(meeting);
	changer = fork();
	if (!changer)
		change_mode();
	for (int round = 1; round <= ROUNDS; round++) {
		int fd = -1;

		meeting->begun = round;
		while (fd < 0 && meeting->in != round) {
			fd = open("fifo", O_WRONLY | O_NONBLOCK);
			/* if the reader was let in he will have said so */
			for (volatile int i = 0; fd < 0 && i < 5000; i++)
				;
		}
		alone += fd < 0;
		while (meeting->in != round)
			sched_yield();
		close(fd);
		meeting->over = round;
	}
	waitpid(reader, NULL, 0);
	kill(changer, SIGKILL);
	waitpid(changer, NULL, 0);
	printf("let in without a writer %d\n", alone);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "fifo"))
		fifos();
	else
		futexes();
	return 0;
}
