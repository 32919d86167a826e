/*
 * mesi.h - the caches of a machine with several CPUs, kept coherent by MESI. No time: what happened
 * is told, and clocks.h makes cycles of it.
 *
 * Each CPU has a first and a second level of its own; what is in the first is in the second, too.
 * CPUs may share a third level by groups (the dies of a processor): a line comes into it when it is
 * fetched from memory and when a second level drops it. All levels are set-associative with true
 * LRU and have lines of one size.
 *
 * A CPU holds a line as one of
 *	modified	alone, and memory has an older content
 *	exclusive	alone, as memory has it: a write makes it modified, and nobody is told
 *	shared		perhaps beside others: a write takes the others' copies away first
 * or not at all. A read brings a line in as exclusive where nobody else has it, else as shared,
 * and who had it alone keeps it as shared. A write brings it in as modified, and all others lose
 * it. A line that nobody holds alone comes from the group's third level, or if there is one, from a
 * CPU of the group; else from memory, which answers for it. Which CPUs hold a line is known
 * exactly, as by a directory without limit, or by CPUs that all hear each other on a bus.
 *
 * A typical sequence: mesi_make(), mesi_access() again and again, mesi_free(). Not locked: one
 * thread only. Plain C without a word of QEMU.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MOST_CPUS 16

/* One level; no bytes: there is none. */
struct mesi_level {
	uint64_t bytes;
	unsigned ways;
};

struct mesi_shape {
	unsigned cpus;	/* 1 to MOST_CPUS */
	unsigned group; /* so many with numbers that follow each other share a third level, a die */
	unsigned line;	/* bytes, a power of two from 16 on */
	struct mesi_level first, second, third;
};

enum mesi_state { MESI_INVALID, MESI_SHARED, MESI_EXCLUSIVE, MESI_MODIFIED };

/* Where an access found its line: in this CPU's levels, the group's third, memory, or in a cache of
 * another CPU, of the same group or of another. */
enum mesi_found {
	FOUND_FIRST,
	FOUND_SECOND,
	FOUND_THIRD,
	FOUND_MEMORY,
	FOUND_NEAR,
	FOUND_FAR,
};

struct mesi_result {
	enum mesi_found found;
	bool was_alone;	       /* another CPU's cache had it, and no third one */
	bool upgraded;	       /* held as shared, and written */
	uint16_t invalidated;  /* CPUs that lost their copy by it, a bit each */
	bool far;	       /* one of these is of another group */
	unsigned written_back; /* lines that memory got, since they were modified */
};

struct mesi;

/* Empty caches. NULL: such caches cannot be (sets and lines are powers of two, the second level is
 * no smaller than the first), or there is no memory. mesi_free() gives them back. */
struct mesi *mesi_make(const struct mesi_shape *shape);
void mesi_free(struct mesi *mesi);

/* CPU @cpu (below shape's cpus) reads or writes the line of the address @physical, below 2^36. Ends
 * the program with a message where the host has no memory for what is known of a line. */
struct mesi_result mesi_access(struct mesi *mesi, unsigned cpu, uint64_t physical, bool write);

/* How @cpu holds the line of @physical: for tests, and for who looks at a line. */
enum mesi_state mesi_state_of(const struct mesi *mesi, unsigned cpu, uint64_t physical);

/* Do two CPUs share a third level? */
bool mesi_near(const struct mesi *mesi, unsigned a, unsigned b);

/* log2 of the bytes of a line. */
unsigned mesi_line_bits(const struct mesi *mesi);
