/*
 * sharing.c - two processes, each on a CPU of its own, that share lines of memory in a way whose
 * transfers are known: for the simulation of several CPUs (test_coherent.py).
 *
 *	sharing PATTERN ROUNDS
 *
 *	pong	they write the same line in turn: one waits until the other has
 *	false	each writes a word of its own, both words in one line
 *	apart	the same, in a line each
 *	mostly	both read a line all the time; the first writes it every tenth time
 *
 * A `pause` ends a turn of QEMU's: so accesses of the two alternate.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../user/region.h"

static struct shared {
	_Alignas(128) _Atomic unsigned ready;
	_Atomic unsigned begun, finished; /* in the same line */
	_Alignas(128) _Atomic unsigned turn;
	_Alignas(128) volatile uint64_t words[2];
	_Alignas(128) volatile uint64_t far_words[2][16];
} * shared;

static void wait_until(_Atomic unsigned *number, unsigned value)
{
	while (atomic_load(number) < value)
		__builtin_ia32_pause();
}

static void ping_pong(unsigned me, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		while (atomic_load_explicit(&shared->turn, memory_order_relaxed) % 2 != me)
			__builtin_ia32_pause();
		atomic_store_explicit(&shared->turn, 2 * i + me + 1, memory_order_relaxed);
	}
}

static void write_words(volatile uint64_t *word, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		*word = i;
		__builtin_ia32_pause();
	}
}

static void read_mostly(unsigned me, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		if (me == 0 && i % 10 == 9)
			shared->words[0] = i;
		else
			(void)shared->words[0];
		__builtin_ia32_pause();
	}
}

static void share(unsigned me, const char *pattern, unsigned rounds)
{
	if (!strcmp(pattern, "pong"))
		ping_pong(me, rounds);
	else if (!strcmp(pattern, "false"))
		write_words(&shared->words[me], rounds);
	else if (!strcmp(pattern, "apart"))
		write_words(shared->far_words[me], rounds);
	else if (!strcmp(pattern, "mostly"))
		read_mostly(me, rounds);
	else
		exit(2);
}

/* All that is touched later is touched before: while one has a page fault the other would be done.
 */
static void take_part(unsigned me, const char *pattern, unsigned rounds)
{
	share(me, pattern, 10);
	atomic_fetch_add(&shared->ready, 1);
	wait_until(&shared->ready, 2);
	if (me == 0) {
		region_start();
		atomic_store(&shared->begun, 1);
	}
	wait_until(&shared->begun, 1);
	share(me, pattern, rounds);
	region_done();
	atomic_fetch_add(&shared->finished, 1);
	wait_until(&shared->finished, 2);
	if (me == 0)
		region_stop();
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
	int status = 1;
	pid_t child;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (!rounds || shared == MAP_FAILED)
		return 2;
	child = fork();
	if (child == 0) {
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* woken on an idle CPU */
		take_part(1, argv[1], rounds);
		return 0;
	}
	take_part(0, argv[1], rounds);
	return child < 0 || wait(&status) < 0 || status ? 1 : 0;
}
