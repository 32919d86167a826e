/*
 * bench.h - what the files of the bench share: data sets, one measurement, what is to be run.
 *
 * command.c reads the command line, main.c takes systems and runs in turn, a process for each;
 * tests.c has the tests of Seltzer and Yigit 1991, ycsb.c the mixes of YCSB, data.c the records,
 * report.c the lines of JSON and the medians.
 */
#pragma once

#include <stdio.h>

#include "../others/system.h"
#include "adapters/adapters.h"

/* A record is a key, with a zero byte behind it that is not counted and none in it, and data. */
struct dataset {
	char name[32];	    /* of the file, or --name */
	size_t count;	    /* that a test puts in */
	size_t room;	    /* records that there are: ycsb's inserts take the others */
	struct item *items; /* key and data of record i: 2 i and 2 i + 1; NULL for made records */
	char *keys;	    /* of made records: KEY_STRIDE bytes each */
	char *pool;	    /* from somewhere in which their data are */
	char *text;	    /* the file, changed in place */
};

/* Words, a line each; the data of word n is the number n, as in the text. Errors end the program.
 */
void data_read_words(struct dataset *set, const char *path);

/* passwd(5): two records for each account, by its name (the rest of the line) and its user id (the
 * line). */
void data_read_passwd(struct dataset *set, const char *path);

/* @count records, and room for @more, of 16 letters and 100 bytes; the same for the same @seed. */
void data_make(struct dataset *set, size_t count, size_t more, uint64_t seed);

struct item data_key(const struct dataset *set, size_t record);
struct item data_value(const struct dataset *set, size_t record);

/* Numbers times this, modulo @count, are a permutation that scatters neighbours. Below @count. */
size_t data_scattering(size_t count);

/* The next number of splitmix64 (Steele and others 2014). */
uint64_t random_next(uint64_t *state);

/* A system with its options, as it stands on the command line. */
struct variant {
	const struct system *system;
	char label[128]; /* NAME or NAME:OPTIONS */
	uint64_t values[SYSTEM_OPTIONS];
};

/* What one test came to. Times are seconds. */
struct result {
	char test[16];
	char skipped[64]; /* why it was not run; then all else is 0 */
	unsigned threads;
	uint64_t operations;
	uint64_t refused; /* puts that met a limit: EMSGSIZE, ENOSPC */
	uint64_t missing; /* keys that should have been there */
	uint64_t wrong;	  /* data that are not what was put */
	int error;	  /* a negative errno that ended the test */
	double user, system, elapsed;
	double cpu;	 /* user and system by a clock, finer than the two */
	uint64_t faults; /* pages that were read in */
	uint64_t blocks_in, blocks_out;
	uint64_t resident;	    /* kilobytes at most, of the whole process so far */
	uint64_t bytes, disk_bytes; /* of the files: their sizes, and what they take */
	uint64_t stored;	    /* bytes of keys and data that were put */
	double wait;		    /* elapsed, and not computing: for the disk; of one thread */
	double rate;		    /* operations a second of the elapsed time */
	double disk_ratio;	    /* disk_bytes for each byte stored; 0: not known of this test */
	uint64_t part;		    /* of the machine's measured parts, from 1 on; 0: none */
	bool locked;		    /* threads took turns by a lock of the bench */
};

/* What to do, as main.c hands it to the tests. */
struct plan {
	const struct dataset *set;
	const char *folder; /* for files */
	bool cold;	    /* drop the system's caches before each test on a file */
	bool loaded;	    /* mixes run on the file that create has made */
	bool locked;	    /* systems without threads take turns by a lock */
	uint64_t inserted;  /* records that mixes have put into that file, behind the set's own */
	uint64_t *parts;    /* shared by all processes: how many parts were measured */
	uint64_t operations, scans; /* of a mix; of mix e, 0: as many */
	unsigned threads;
	unsigned run, runs; /* the one at hand, from 1 on, and how many there are */
	double zipf;
	uint64_t seed;
};

/*
 * A clock and rusage, from the begin to the end of a test. In between lies a part that the lab's
 * simulation of memory caches counts by itself (user/region.h); result->part says which.
 */
struct watch {
	double user, system, elapsed, cpu;
	uint64_t faults, blocks_in, blocks_out;
};
void watch_start(const struct plan *plan, struct watch *watch, struct result *result);
void watch_stop(const struct watch *watch, struct result *result);

/*
 * The tests by name: create, read, scattered, verify, keys, pairs (on a file that create has made),
 * both (on a file), memory, and the mixes a to f. A name that ends with NULL closes the list.
 */
extern const char *const test_names[];

/* Does the system have what @test needs? If not, why, in at most 64 bytes with the zero. */
bool test_possible(const struct plan *plan, const struct variant *variant, const char *test,
		   char why[64]);

/* Run one test; the result's error and counts tell how it went. The file is left for the next. */
void test_run(struct plan *plan, const struct variant *variant, const char *test,
	      struct result *result);

/*
 * A mix of YCSB, @mix from 'a' to 'f', on a table that is loaded first; with plan->loaded on the
 * file that is there (-ENOENT: there is none), as YCSB itself does with one mix after the other.
 * -ERANGE: more inserts were drawn than the set has room for.
 */
void ycsb_run(struct plan *plan, const struct variant *variant, char mix, struct result *result);
bool ycsb_writes(char mix);

/* Records that the inserts of a mix may take. 0: the mix inserts none. */
uint64_t ycsb_inserts(const struct plan *plan, char mix);

/* Whether threads of @mix need the bench's lock, since the system has no threads of its own. */
bool ycsb_needs_lock(const struct plan *plan, const struct variant *variant, char mix);

/* Put all records of the set; refused ones are counted. 0 or a negative errno. */
int put_all(const struct plan *plan, struct table *table, struct result *result);

/* Remove the files of the table; those that are not there are none. */
void remove_files(const struct plan *plan);

/* The path of the table; NULL: no memory. */
const char *table_path(const struct plan *plan);

/* A line of JSON for a result, and for the median of @count results of one test. */
void report_result(const struct plan *plan, const struct variant *variant, unsigned run,
		   const struct result *result);
void report_median(const struct plan *plan, const struct variant *variant, struct result *results,
		   unsigned count);
