/*
 * command.h - the command line of hashbench, read into what is to be run.
 *
 * What makes no sense ends the program with status 2 and the reason on stderr; so does --help with
 * 0.
 */
#pragma once

#include "bench.h"

enum { VARIANTS = 64, STEPS = 64, THREADS_MOST = 64 };

struct step {
	const char *test;
	unsigned threads;
};

struct command {
	const char *words, *passwd, *name, *common, *nelem, *tests, *threads;
	uint64_t records, runs;
	const char *systems[VARIANTS];
	size_t system_count;
};

/* End the program: `hashbench: WHAT: WHY`. */
void refuse(const char *what, const char *why) __attribute__((noreturn));

/* The words of the command line, over what @command and @plan have. */
void command_read(int count, char **words, struct command *command, struct plan *plan);

/* Every test that is asked for, a mix for each number of threads; how many they are. */
size_t command_steps(const struct command *command, struct step *steps);

/* Every system with its options. @known: the number of elements that --nelem known tells them. */
size_t command_variants(const struct command *command, struct variant *variants, size_t known);

/* Set OPTION=VALUE if the system has the option; a value out of its range is refused. */
void variant_set(struct variant *variant, const char *setting);
