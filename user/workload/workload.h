/*
 * workload - loads for the four caches, after those of the papers: one static Linux program, many
 * loads.
 *
 * `workload LOAD [options]` runs one of the loads below and prints its results on stdout, one JSON
 * object a line:
 *
 *	{"workload":"sdm","case":"16 scripts","seed":1,"elapsed_ns":812345678,...,"digest":"90c1.."}
 *
 * Nothing else on stdout begins with a brace. Times are CLOCK_MONOTONIC's. Whatever is random is
 * drawn from --seed by the generator here, so that a seed means the same operations on every
 * system; "digest" is a checksum of them. Files are made in a folder of the program's own below
 * --dir, which is removed at the end, also by SIGINT and SIGTERM; with --keep it stays.
 *
 * Exit status: 0 all went well; 1 something failed, and stderr says what; 2 wrong arguments; 128+N
 * ended by signal N. docs/lab/workloads.md says what each load stands for.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };
enum { LIST_LENGTH = 32 };

/* The argument of a program that lat executes: it ends at once. */
#define EXIT_AT_ONCE "--exit"

/* Numbers of a list option, "16,32". */
struct list {
	unsigned count;
	uint64_t values[LIST_LENGTH];
};

enum option_kind {
	OPTION_FLAG,   /* int *: set to 1 */
	OPTION_NUMBER, /* uint64_t *: a number, K, M, G for powers of 1024 */
	OPTION_LIST,   /* struct list *: numbers with commas between */
	OPTION_TEXT,   /* const char ** */
	OPTION_CHOICE, /* int *: the place of the word in `value`, words with | between */
};

/* An option of a load; a table of them ends with a row without a name. */
struct option_row {
	const char *name; /* without the dashes */
	enum option_kind kind;
	const char *value; /* what stands for the value in --help; the words of a choice */
	const char *about;
	void *target;
	uint64_t least, most; /* of a number */
};

/* A load. */
struct load {
	const char *name;
	const char *about;
	const struct option_row *options;
	void (*check)(void); /* refuses, with usage(), what cannot work; or none */
	void (*run)(void);
};

extern const struct load sdm_load, sdet_load, files_load, lat_load, readdir_load, mkstemp_load,
	maildir_load, tree_load, miss_load, ladder_load, change_load, listing_load, programs_load,
	collide_load;

/* What every load is told. */
struct common {
	uint64_t seed;
	const char *directory;
	int progress; /* a line on stderr though it is no terminal */
	int keep;     /* the files stay */
};

extern struct common common;

/* ---- ends ---- */

/* Print "workload: ..." and errno's text, and end with STATUS_FAILED. */
void fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Print "workload: ..." and end with STATUS_FAILED. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Print "workload: ..." and where help is, and end with STATUS_USAGE. */
void usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- memory and numbers ---- */

/* Zeroed memory, or end. */
void *allocate(size_t size);

/* printf() into new memory, or end. */
char *join(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t now_ns(void);

/* xoshiro256** (Blackman and Vigna, 2018), its state filled by splitmix64. */
struct random {
	uint64_t state[4];
};

/* A generator of its own for each @stream of a @seed. */
void random_start(struct random *random, uint64_t seed, uint64_t stream);
uint64_t random_next(struct random *random);

/* 0 to @limit - 1; @limit is not 0. */
uint64_t random_below(struct random *random, uint64_t limit);

/* Exponentially distributed with this mean, in whole numbers, at most eight times the mean. */
uint64_t random_exponential(struct random *random, uint64_t mean);

/* Put the @count numbers 0 .. count-1 into @order, shuffled. */
void random_order(struct random *random, unsigned *order, unsigned count);

/* A checksum of a sequence of operations: FNV-1a of 64 bits over what is added, a zero byte
 * between. */
void digest_add(uint64_t *digest, const char *text);
void digest_add_number(uint64_t *digest, uint64_t number);
#define DIGEST_START UINT64_C(0xcbf29ce484222325)

/* ---- results ---- */

/* A line of results: begin, numbers, end. The first four keys are the same in all. */
void result_begin(const char *name_of_case, uint64_t elapsed_ns);
void result_number(const char *name, uint64_t value);
void result_real(const char *name, double value);
void result_end(uint64_t digest);

/* ---- what is measured ---- */

/*
 * Begin and end the part of a load that its next result is about. The memory-cache simulation
 * counts in it alone, and what the kernel's four caches counted meanwhile, if it tells
 * (/proc/hash), becomes part of that result. The clock is read after the one and before the other:
 * to read the counters takes time.
 */
void measured_start(void);
void measured_stop(void);

/* Which part was measured last, 0 the first, and its counters, as members of the result's object.
 * Each result is of a part of its own. */
void measured_print(void);

/* Rates: @count in @elapsed_ns a second; 0 where no time passed. */
double per_second(uint64_t count, uint64_t elapsed_ns);

/* ---- progress: a line that the supervisor draws, from memory that all processes share ---- */

/* From now on @what is done in @total steps. */
void progress_start(const char *what, uint64_t total);
void progress_add(uint64_t steps);
uint64_t progress_count(void);

/* ---- processes and files ---- */

/*
 * The work runs in a child, in a process group of its own and in a new folder below --dir, which is
 * its current one. The parent draws the progress line, waits, takes SIGINT, SIGTERM and SIGHUP,
 * kills what is left of the group, removes the folder, and returns the program's exit status.
 */
int supervise(const struct load *load);

/* Remove @path and all below it; what is not there is fine. False with errno if something stays. */
int remove_tree(const char *path);

/* Make the folder @path, or end. */
void make_folder(const char *path);

/* Write back, then drop clean pages (1), unused dentries and inodes (2) or both (3); needs root. Or
 * end. */
void drop_caches(int what);

/* Fork, or end. What is buffered on stdout is written before, so that it is written once. */
pid_t fork_child(void);
