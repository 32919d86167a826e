/*
 * measure.h - native: what the measuring program's files have in common (main.c says what it does).
 *
 * A row is a call, or a short sequence of calls, made again and again by every thread at once. It
 * is written once, in side.h, and compiled twice: over the hosted kernel (kernel_side.c) and over
 * the host's Linux (host_side.c), each of which says what a call is. This header has nothing of
 * either's, since their names collide.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURE_CPUS 16 /* at most; the kernel's NR_CPUS */
#define PATH_BYTES 64	/* of a worker's paths: what is behind a NUL can be read */
#define BUFFER_BYTES 8192

/* Do all threads use the same names and objects, or each its own? */
enum place { PLACE_SAME, PLACE_OWN };

enum length { COMPONENTS_1, COMPONENTS_2, COMPONENTS_4, COMPONENTS_8, LENGTHS };

/* What one thread works on: its own alone, and in cache lines of its own. */
struct worker {
	unsigned cpu;
	enum place place;
	char file[LENGTHS][PATH_BYTES]; /* of 1, 2, 4 and 8 components */
	char made[PATH_BYTES];		/* made and removed; no other thread's name */
	char name[2][PATH_BYTES];	/* renamed from the one to the other and back */
	int data, directory;		/* descriptors: a file of some pages; one of 100 entries */
	uint64_t random;
	struct mixed {
		uint64_t turns, made, removed;
	} mixed;
	char buffer[BUFFER_BYTES];
} __attribute__((aligned(64)));

struct row {
	const char *name;
	unsigned calls; /* of the system, a turn; 0: a look into a cache of the kernel's */
	void (*turns)(struct worker *worker, unsigned turns);
	bool alike; /* the place makes no difference: measured at PLACE_SAME alone */
};

struct side {
	const char *name;
	const struct row *rows;
	unsigned row_count;

	/* Once, by the first thread: for @threads of them, in @folder (the host's), with so much
	 * memory and the kernel's options. */
	void (*start)(unsigned threads, unsigned megabytes, const char *options,
		      const char *folder);
	void (*prepare)(unsigned threads); /* make what the rows use */
	void (*stop)(unsigned threads);	   /* take it away again, where others would see it */
	/* function(thread's number, argument) on each thread, together; returns behind the last. */
	void (*run)(unsigned threads, void (*function)(unsigned cpu, void *argument),
		    void *argument);
	void (*begin)(struct worker *worker, unsigned cpu, enum place place);
	void (*end)(struct worker *worker);
	/* The calling thread makes no calls for a while, and again. */
	void (*idle)(void);
	void (*busy)(void);

	/* Threads at odds in one directory (side.h): a turn; and afterwards, what is left. */
	void (*mix)(struct worker *worker, unsigned turns);
	uint64_t (*mix_left)(void);

	/* Files by number (files.c). */
	void (*file_make)(uint64_t file);
	void (*file_remove)(uint64_t file);
	void (*file_stat)(const char *path);
	uint64_t (*memory_used)(void); /* bytes, of the system */
	/* The kernel's alone, else NULL. */
	/* Which lock was waited for most, and how often, since it was asked last; NULL: none was */
	const char *(*most_waited)(uint64_t *times);
	double (*dentry_steps)(void); /* objects visited, a hit, since the last time */
	void (*objects_make)(uint64_t from, uint64_t to); /* inodes by number, cached */
	void (*object_find)(uint64_t number);
};
extern const struct side kernel_side, host_side;

#define FILES_A_FOLDER 1000
/* "d12/f345" of file 12345, from the start folder */
void file_name(char path[PATH_BYTES], uint64_t file);
/* Print how @side fares with a thousand and with @files files (files.c). */
void files_measure(const struct side *side, uint64_t files, unsigned milliseconds);

/* What came of a call is not what must: says so, and ends the program with status 1. */
void measure_fail(const char *call, const char *name, long result) __attribute__((noreturn, cold));

uint64_t measure_ns(void);			    /* of the host's clock */
double measure_median(float *values, size_t count); /* at least one; sorts them */
void *native_map(size_t bytes);			    /* as in machine/machine.h */

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}
