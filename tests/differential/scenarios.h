/*
 * scenarios.h - the frame for file-system scenarios whose printed outcome must be the same on Linux
 * and on Chainwalk.
 *
 * SCENARIO(name) { ... } runs in a child process of its own, in an empty directory of its own, as
 * root, with umask 022. T(call) makes a system call and prints "call=RESULT": the number it
 * returned or the errno's name. Everything printed of one scenario is one line:
 *
 *	017 open_excl_existing: creat=3 ... open(O_EXCL)=EEXIST
 *
 * Nothing may be printed that legitimately differs: inode numbers, absolute times, sizes of
 * directories.
 */
#pragma once

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define USER_A 1000
#define USER_B 1001

typedef void (*scenario_function)(void);

void scenario_register(int line, const char *file, const char *name, scenario_function function);

#define SCENARIO(name)                                                                             \
	static void scenario_##name(void);                                                         \
	__attribute__((constructor)) static void register_##name(void)                             \
	{                                                                                          \
		scenario_register(__LINE__, __FILE__, #name, scenario_##name);                     \
	}                                                                                          \
	static void scenario_##name(void)

/* Print " what=result", a negative result as the name of errno. */
long show(const char *what, long result);
#define T(call) show(#call, (long)(call))
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shorthands that stop the scenario when the preparation itself fails. */
int make_file(const char *name, const char *text); /* 0644 */
void make_directory(const char *name);
void slurp(const char *name); /* prints the contents */
void show_mode(const char *name);
void show_owner(const char *name);
void show_links(const char *name);
void show_size(const char *name);
void list(const char *name); /* sorted names */

/* This program, as a file @name of @mode: what it then does instead of scenarios its constructors say. */
void copy_myself(const char *name, mode_t mode);

/* On ext2, what is on disk is to be read from there again. */
void drop_caches(void);

/* Sleep so long, whatever signals come. */
void pause_ms(long ms);

/* Until @pid sleeps, or has ended: where it has but one call left to sleep in. */
void until_asleep(pid_t pid);

/* Run what follows as this user in a child, and wait: AS(USER_A) { ... } */
bool as_begin(uid_t uid, gid_t gid);
void as_end(void);
#define AS(uid) for (bool _run = as_begin(uid, uid); _run; as_end())
