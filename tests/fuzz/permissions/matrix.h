/*
 * matrix.h - what the tables of matrix.c share: who calls, whose files they are, the cells of a
 * row.
 */
#pragma once

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct user {
	const char *name;
	uid_t uid;
	gid_t gid;
	gid_t group; /* supplementary; 0: none */
};

extern const struct user users[5];

extern const struct owner {
	uid_t uid;
	gid_t gid;
} owners[4];

/* Real, effective and saved ones are drawn from these. */
extern const uid_t ids[3];

/* The cells of one row, written by a child. */
struct row {
	size_t size;
	char text[8192];
};
extern struct row *row;

/* Add to the row: what @format says; what a call returned, ok or the error's name. */
__attribute__((format(printf, 1, 2))) void cell(const char *format, ...);
void outcome(long result);
const char *error_name(int number);

/* AS(user) { ... }: in a child that is @user, and wait. */
bool as(const struct user *user);
void end_as(void);
#define AS(user) for (bool run_ = as(user); run_; end_as())

extern const struct user *me; /* who a call of a table is made by */

struct call {
	const char *name;
	long (*function)(const char *name);
};

#define CALL(name)                                                                                 \
	{                                                                                          \
#name, name                                                                        \
	}

/* The line that names a table's calls. */
void columns(const char *table, const struct call *calls, size_t count);

void make_file(const char *name, uid_t uid, gid_t gid, mode_t mode);
/* This program, as the file @to. */
void copy_self(const char *to);
/* Close @fd: 0, or -1 with the errno of the open that made it -1. */
long close_of(int fd);

/* files.c, directories.c */
void files(void);
void directories(void);

/* identities.c: set-user-id programs, and the calls that change one's identity */
void print_identity(void); /* of the program that was executed */
void programs(void);
void identities(void);

/* paths.c: ways that are looked at often, while what is above changes; and lists of groups */
void paths(void);
void group_lists(void);

/* processes.c: signals and /proc */
_Noreturn void wait_for_ever(void);
void signals(void);
void processes(void);
