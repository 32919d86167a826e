/*
 * victims.c - who is ended when memory is out, by /proc/PID/oom_score_adj.
 *
 * A large process that is never to be ended, a small one that is to be first, and a third that
 * takes memory until one of them is gone. Prints how the small one ended, whether the large one
 * lives, and how the third fared.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB (1L << 20)

static void adjust(const char *score)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);

	if (fd < 0 || write(fd, score, strlen(score)) < 0)
		perror("oom_score_adj");
	close(fd);
}

static char *take(long bytes)
{
	char *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (long at = 0; at < bytes; at += 4096)
		memory[at] = 1;
	return memory;
}

/* A child of that score that has taken so much, and stays. */
static pid_t keeper(const char *score, long bytes)
{
	int ready[2];
	char byte = 0;
	pid_t child;

	pipe(ready);
	child = fork();
	if (!child) {
		adjust(score);
		take(bytes);
		write(ready[1], &byte, 1);
		for (;;)
			pause();
	}
	read(ready[0], &byte, 1);
	return child;
}

int main(void)
{
	pid_t large = keeper("-1000", 20 * MB), small = keeper("1000", 4 * MB);
	int status = 0, large_status = 0, taken = 0;

	while (waitpid(small, &status, WNOHANG) == 0 && taken < 200) {
		take(MB / 4);
		taken++;
	}
	printf("small: signal %d\n", WTERMSIG(status));
	printf("large: %s\n", waitpid(large, &large_status, WNOHANG) == 0 ? "lives" : "ended");
	printf("we: took %s\n", taken > 20 ? "enough" : "little");
	kill(large, SIGKILL);
	return 0;
}
