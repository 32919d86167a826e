/*
 * memory.h - what the checks of the address space share: a check, what it asks with, and helpers.
 *
 * A check is a function that returns at the first thing that is not as it must be (CHECK). Each
 * file has an array of its own, ended by an empty one; main.c runs them in that order, in one
 * process.
 */
#pragma once

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define SHARED_ANON (MAP_SHARED | MAP_ANONYMOUS)

struct check {
	const char *name;
	void (*function)(void);
	bool by_name_only; /* for a machine with little memory, or a disk of its own */
};

extern const struct check anonymous_checks[], limits_checks[], files_checks[], fork_checks[],
	threads_checks[], little_checks[];

/* Where the check that runs has failed; 0: nowhere yet. */
extern int failed_line;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			if (!failed_line)                                                          \
				failed_line = __LINE__;                                            \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define CHECK_ERROR(call, wanted) CHECK((long)(call) == -1 && errno == (wanted))

/* The last fault that was caught, and where sigsetjmp() is to wait for the next one. */
extern sigjmp_buf fault_return;
extern volatile int fault_signal, fault_code;
extern void *volatile fault_address;

/* The signal that the access brings, or 0. */
int try_read(const volatile char *address);
int try_write(volatile char *address);
int try_run(void *address);

/* NULL: it does not go. */
char *map(unsigned long pages, int protection, int flags);
/* A file of @pages, a letter each, open for reading and writing; -1: it does not go. */
int make_file(const char *name, unsigned long pages);
/* The exit status of a child that calls @function. */
int in_child(void (*function)(void));
/* Memory with a number in each page, which holds() finds again. */
char *filled(unsigned long pages);
int holds(const char *p, unsigned long pages);
