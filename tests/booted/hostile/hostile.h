/*
 * hostile.h - what the parts of the hostile program share.
 */
#pragma once

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern int wrong;

uint64_t next_random(void);
/* Count and print what is not @right. */
void check(bool right, const char *what, long value);
/* Run @function in a child of its own, at most a minute; its wait status. */
int in_child(void (*function)(void));
void pause_ms(long ms);
/* A test that goes on with -1 for a child would kill everybody: this ends instead. */
pid_t must_fork(void);

/* machine.c: registers and instructions. */
void test_sigreturn(void);
void test_instructions(void);

/* calls.c */
void test_calls(void);

/* memory.c */
void test_hogs(void);

/* files.c */
void test_entries(void);
void test_deep(void);
void test_links(void);
void test_cuts(void);
void test_moments(void);

/* processes.c */
void test_storm(void);
void test_stops(void);
void test_orphans(void);
void test_groups(void);
void test_vfork(void);
void test_kill(void);
void test_refused(void);

/* threads.c */
void test_threads(void);
int exec_of_thread(void);
