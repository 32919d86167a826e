/*
 * tool.h - what the commands of chainhash share.
 *
 * Statuses: 0, done; 1, the answer is no (no such key, something is wrong with the file); 2, it
 * could not be done, and a line on standard error says why.
 */
#pragma once

#include "chainhash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, NO = 1, FAILED = 2 };

/* What the command line says. */
struct settings {
	struct chainhash_options options;
	int flags;
	bool json, quiet, help, keep; /* keep: a key that is there stays as it is */
	char **words;		      /* after the command's name */
	int word_count;
	struct chainhash_item items[2]; /* the words that are a key and data */
	uint64_t listed, notes;		/* problems, with the mere notes among them */
};

/*
 * The commands: each gives a status. The table is open as main.c says; if the status is DONE, it is
 * synced then.
 */
typedef int command_function(struct settings *settings, struct chainhash *table);
command_function command_load, command_dump, command_get, command_put, command_delete;
command_function command_stat, command_tune, command_verify, command_repair;

/* Words for CHAINHASH_SPLIT_..., and NULL. */
extern const char *const split_names[];

/* Say what went wrong and give FAILED. @error is a negative errno, or 0. */
__attribute__((__format__(__printf__, 2, 3))) int complain(int error, const char *format, ...);

/* Open the table, or complain. */
struct chainhash *open_table(const struct settings *settings, const char *path, int flags);

/* Close it after changes, or complain; gives @status if all is well. */
int close_table(struct chainhash *table, const char *path, int status);

/*
 * Show on a terminal how far long work is: @done of @all, or @done so far with an @all of 0. The
 * context is the settings.
 */
void progress(void *context, uint64_t done, uint64_t all);
void progress_end(const struct settings *settings);

/* Text of bytes: \\, \t, \n and \xNN for what is not printed; and back: false if it is none. */
void print_escaped(FILE *file, struct chainhash_item item);
bool unescape(const char *text, size_t size, char *bytes, size_t *count);
