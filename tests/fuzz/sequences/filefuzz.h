/*
 * filefuzz.h - sequences of file calls whose outcome must be the same on Linux and on Chainwalk.
 *
 * A sequence is a list of operations; each is one call with its arguments. generate.c makes one
 * from a seed and reads and writes the text form, one operation a line ("rename a/b c");
 * operations.c performs them; filefuzz.c gives each sequence a directory and a process of its own
 * and writes down what came out, the trace: a line for each operation, then the tree that is left.
 *
 * Nothing may be in a trace that legitimately differs: inode numbers, sizes of directories, times
 * that were not set, order of directory entries, addresses.
 */
#pragma once

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ARGUMENTS 7
#define MAX_OPERATIONS 160
#define MAX_TEXT 40 /* of a path in a sequence, not expanded */

struct argument {
	long number;
	char text[MAX_TEXT]; /* a path: "a/b"; @255 stands for that many letters x, "" is empty */
};

/* What arguments an operation takes, a letter each:
 * n path, X one of a few, N target of a symbolic link, J name of an attribute, f slot of a
 * descriptor, d directory's slot or -1 (here), F open's flags, m mode, T type and mode of mknod, s
 * size, o offset, w whence, u user, g group, t time (-1 now, -2 as it is), p slot of a mapping, a
 * offset in a mapping, q offset of a mapping in its file, l pages, and sets of flags and small
 * numbers: see generate.c. */
struct kind {
	const char *name;
	const char *arguments;
	char theme; /* i contents, l locks, n names, a attributes, x extended ones, m mappings, t
		       mounts */
	int weight;
	long (*run)(const struct argument *arguments);
	bool (*works)(void); /* NULL: yes; asked in an empty directory, as root */
};

struct operation {
	const struct kind *kind;
	struct argument arguments[MAX_ARGUMENTS];
};

struct sequence {
	unsigned long name; /* the seed, or whatever the file says */
	int count;
	struct operation operations[MAX_OPERATIONS];
};

extern const struct kind kinds[];
extern const int kind_count;
extern bool absent[]; /* of each kind: left out of what is generated */

/* generate.c */
void generate(struct sequence *sequence, unsigned long seed);
void print_operation(const struct operation *operation, char *text, size_t size);
/* False: not an operation. */
bool parse_operation(struct operation *operation, char *line);

/* operations.c; each runs in the sequence's own process. */
void operations_start(void);
/* Perform those in [@first, @end) and write the trace. */
void perform(const struct sequence *sequence, int first, int end);
extern long step; /* the operation's place, from which written bytes are made */

/* filefuzz.c */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *error_name(int number);
uint32_t checksum(const void *data, size_t size, uint32_t before);
extern bool *mounted, *filled; /* shared: this sequence has used mounts; has filled holes */
