/*
 * cmdline.h - the kernel's command line: NAME, NAME=VALUE, and the program to run.
 *
 *	quiet root=/dev/vda seed=7 -- /bin/busybox ls -l my%20file
 *
 * Words are separated by blanks and hold none; the arguments of init write theirs as %20
 * (user/init.c). The word `--` ends the kernel's options; what follows are those arguments (with no
 * init= the first is the program). Of several options with one name the last counts.
 */
#pragma once

#define CMDLINE_WORDS 128

/* Split @line, which stays. Returns 0, or -E2BIG when it has too many words or characters (cut
 * there). */
int cmdline_init(const char *line);

/* Value of NAME=VALUE ("" for a bare NAME), or NULL. */
const char *cmdline_value(const char *name);

/* NAME, or NAME= with anything but 0. */
bool cmdline_flag(const char *name);

/* NAME=NUMBER with K, M, G suffixes; false (value untouched) when absent or not a number (with a
 * warning). */
bool cmdline_u64(const char *name, u64 *value);

/* The words after `--`; a NULL ends them. *count may be 0. */
char **cmdline_init_args(int *count);
