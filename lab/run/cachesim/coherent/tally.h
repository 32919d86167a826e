/*
 * tally.h - who is charged for what the CPUs of a machine do: regions, classes of locks, lines; and
 * the file that is written of it. coherentsim.c includes it, once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mesi.h"

/* Regions of the kernel's marks, then what is outside of all. */
enum region { PAGE, BUFFER, INODE, DENTRY, INTERRUPT, PATH, KERNEL, USER, REGIONS };
#define MARKED KERNEL /* the first that has no marks */
static const char *const region_names[REGIONS] = {"page",      "buffer", "inode",  "dentry",
						  "interrupt", "path",	 "kernel", "user"};

#define MOST_PARTS 256
#define MOST_CLASSES 192 /* core/lock/spinlock.h */
#define HOT_LINES 65536	 /* a power of two */
#define SHOWN_LINES 24

/* What happened in a region: numbers without a gap, in the order of tally_names. */
struct tally {
	uint64_t lookups, instructions, accesses, locked; /* locked: instructions */
	uint64_t l1_misses, l2_misses, memory;		  /* memory: of the misses found there */
	uint64_t transfers, far;    /* from another CPU's cache; of these, from another group */
	uint64_t upgrades;	    /* writes to what others had a copy of, too */
	uint64_t invalidations;	    /* copies that others lost */
	uint64_t stall;		    /* cycles of accesses, without what follows */
	uint64_t for_line, for_bus; /* cycles waited for a line's other transfers, for the bus */
	uint64_t for_lock;	    /* cycles waited for holders */
};
#define TALLY_NUMBERS (sizeof(struct tally) / sizeof(uint64_t))
static const char *const tally_names[TALLY_NUMBERS] = {
	"lookups",	 "instructions", "accesses",  "locked",	 "l1_misses",
	"l2_misses",	 "memory",	 "transfers", "far",	 "upgrades",
	"invalidations", "stall",	 "for_line",  "for_bus", "for_lock",
};

/* What became of the locks of a class; the numbers in the order of lock_names. */
struct lock_tally {
	uint64_t taken, waited; /* waited: of these, by who had to wait for a holder */
	uint64_t for_lock;	/* cycles of that */
	uint64_t transfers;	/* of the lock's line, when it was taken */
	uint64_t stall;		/* cycles of that */
};
#define LOCK_NUMBERS (sizeof(struct lock_tally) / sizeof(uint64_t))
static const char *const lock_names[LOCK_NUMBERS] = {"taken", "waited", "for_lock", "transfers",
						     "stall"};

struct part {
	struct tally regions[REGIONS];
	struct lock_tally locks[MOST_CLASSES];
	uint64_t turns;
	uint64_t clocks[MOST_CPUS]; /* at the part's end, or when the CPU was done */
	uint16_t done;		    /* CPUs that said so, a bit each */
};

/* A line that went from CPU to CPU, and an address at which it did. */
struct hot_line {
	uint64_t line, address, transfers;
};

static struct part now, parts[MOST_PARTS], sum;
static size_t count_of_parts;
static uint64_t class_addresses[MOST_CLASSES]; /* of struct lock_class in the guest; 0: no more */
static struct hot_line hot_lines[HOT_LINES];
static uint64_t unbalanced; /* marks without their partner */

/* ---- counting -------------------------------------------------------------------------------- */

/* The tally of the lock class whose struct the guest has at @address; of classes beyond
 * MOST_CLASSES the last one's. */
static struct lock_tally *lock_tally_of(uint64_t address)
{
	unsigned i = 0;

	while (i < MOST_CLASSES - 1 && class_addresses[i] && class_addresses[i] != address)
		i++;
	class_addresses[i] = address;
	return &now.locks[i];
}

/* Two lines that share a place in the table: the one that is there stays. */
static void count_hot(uint64_t line, uint64_t address)
{
	struct hot_line *hot = &hot_lines[(line * 0x9e3779b97f4a7c15ull >> 40) % HOT_LINES];

	if (hot->transfers && hot->line != line)
		return;
	hot->line = line;
	hot->address = address;
	hot->transfers++;
}

static void tally_access(struct tally *tally, const struct mesi_result *result)
{
	bool transfer = result->found == FOUND_NEAR || result->found == FOUND_FAR;

	tally->l1_misses += result->found != FOUND_FIRST;
	tally->l2_misses += result->found > FOUND_SECOND;
	tally->memory += result->found == FOUND_MEMORY;
	tally->transfers += transfer;
	tally->far += result->found == FOUND_FAR;
	tally->upgrades += result->upgraded;
	tally->invalidations += (uint64_t)__builtin_popcount(result->invalidated);
}

static void add_numbers(void *into, const void *from, size_t bytes)
{
	uint64_t *to = into;
	const uint64_t *more = from;

	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] += more[i];
}

/* What is counted now goes to the whole. */
static void add_to_sum(void)
{
	add_numbers(sum.regions, now.regions, sizeof(sum.regions));
	add_numbers(sum.locks, now.locks, sizeof(sum.locks));
	add_numbers(sum.clocks, now.clocks, sizeof(sum.clocks));
	sum.turns += now.turns;
	sum.done |= now.done;
}

/* A part has ended: put it by, and begin with nothing again. */
static void end_part(void)
{
	if (count_of_parts < MOST_PARTS)
		parts[count_of_parts++] = now;
	add_to_sum();
	now = (struct part){0};
}

/* ---- the file -------------------------------------------------------------------------------- */

static void write_numbers(FILE *file, const void *numbers, const char *const *names, size_t count)
{
	const uint64_t *number = numbers;

	for (size_t i = 0; i < count; i++)
		fprintf(file, "%s\"%s\": %llu", i ? ", " : "{", names[i],
			(unsigned long long)number[i]);
	fprintf(file, "}");
}

/* @name_of: the guest's name of a class, by the address of its struct. */
static void write_locks(FILE *file, const struct part *part, const char *(*name_of)(uint64_t))
{
	const char *before = "";

	fprintf(file, "\"locks\": {");
	for (unsigned i = 0; i < MOST_CLASSES && class_addresses[i]; i++) {
		if (!part->locks[i].taken)
			continue;
		fprintf(file, "%s\"%s\": ", before, name_of(class_addresses[i]));
		write_numbers(file, &part->locks[i], lock_names, LOCK_NUMBERS);
		before = ", ";
	}
	fprintf(file, "}");
}

static void write_part(FILE *file, const struct part *part, unsigned cpus,
		       const char *(*name_of)(uint64_t))
{
	for (unsigned i = 0; i < REGIONS; i++) {
		fprintf(file, "%s\"%s\": ", i ? ", " : "{", region_names[i]);
		write_numbers(file, &part->regions[i], tally_names, TALLY_NUMBERS);
	}
	fprintf(file, ", \"turns\": %llu, \"done\": %u, \"clocks\": [",
		(unsigned long long)part->turns, part->done);
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		fprintf(file, "%s%llu", cpu ? ", " : "", (unsigned long long)part->clocks[cpu]);
	fprintf(file, "], ");
	write_locks(file, part, name_of);
	fprintf(file, "}");
}

/* The lines that went from CPU to CPU most often, the first first. */
static void write_lines(FILE *file, unsigned line_bits)
{
	fprintf(file, "\"lines\": [");
	for (unsigned shown = 0; shown < SHOWN_LINES; shown++) {
		struct hot_line *most = &hot_lines[0];

		for (unsigned i = 1; i < HOT_LINES; i++)
			if (hot_lines[i].transfers > most->transfers)
				most = &hot_lines[i];
		if (!most->transfers)
			break;
		fprintf(file, "%s{\"physical\": %llu, \"address\": %llu, \"transfers\": %llu}",
			shown ? ", " : "", (unsigned long long)(most->line << line_bits),
			(unsigned long long)most->address, (unsigned long long)most->transfers);
		most->transfers = 0;
	}
	fprintf(file, "]");
}
