/*
 * callfuzz.h - what the parts of callfuzz share: the random numbers, the counts, the memory.
 */
#pragma once

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define USER 1000
#define MAX_PROCESSES 16
#define REGION ((char *)0x20000000L) /* 64 pages: some there, some read-only, some not there */
#define REGION_SIZE (64 * 4096L)
#define FOLDER "/tmp/callfuzz"

/* Shared by all, and in reach of wild writes: nothing else hangs on it. */
struct counts {
	uint64_t made[MAX_PROCESSES];
	uint64_t results[140]; /* by errno; 0: success */
	long numbers[16];      /* of segments and sets of semaphores that were made */
};

extern struct counts *counts;
extern uint64_t goal, seed; /* calls of each process */

/* A number below @below, by the state of the thread that asks. */
extern __thread uint64_t state;
uint64_t draw(uint64_t below);
#define PICK(list) (list)[draw(sizeof(list) / sizeof((list)[0]))]

/* arguments.c: one of the kind that a letter says: p path, r other text, f descriptor, d
 * directory's, b memory to be written, c memory to be read, n size, a address, o offset, i small
 * number, u user or group, m mode, s signal, P process, t time, v vector, g argv, F open's flags, k
 * command of ioctl or fcntl, x flags, S set of signals, I number of a segment or a set of
 * semaphores, U family and T type of a socket, A address, y flags of a message, M message with a
 * vector and open files to be passed */
long argument(char kind);

/* work.c: in a process of its own, as the user, until process @number has made its calls. */
extern const size_t kinds_of_calls;
void work(int number, unsigned incarnation, int threads);

/* keeper.c: let @processes work, each anew when it has ended, until all is done; print what each
 * did. */
void keep(int processes, int threads);
/* End all processes of the user; false: somebody still lives. Then remove what he has left behind.
 */
bool end_user(void);
void remove_what_is_left(void);
