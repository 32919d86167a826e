/*
 * regions.h - who is charged: the regions of the kernel's marks, the parts of a program's marks,
 * and the file that is written of them. cachesim.c has the marks and includes this.
 */
#pragma once

#include "model.h"

/* Regions of the kernel's marks, then what is outside of all. */
enum region { PAGE, BUFFER, INODE, DENTRY, INTERRUPT, PATH, KERNEL, USER, REGIONS };
#define MARKED KERNEL /* the first that has no marks */
static const char *const region_names[REGIONS] = {"page",      "buffer", "inode",  "dentry",
						  "interrupt", "path",	 "kernel", "user"};
#define DEEPEST 8
#define MOST_PARTS 1024

static struct models models;
static char out[4096];

/* What was counted between a program's marks: each time by itself, the first MOST_PARTS of them,
 * and all times together. */
struct part {
	struct counts regions[REGIONS];
};

static struct part now, parts[MOST_PARTS], sum;
static size_t count_of_parts;
static struct counts not_counted;
static struct counts *of_kernel = &not_counted, *of_user = &not_counted; /* where misses count */

/* Since the last change of these two: what happens most often is counted here. */
struct often {
	uint64_t instructions, accesses;
};
static struct often kernel, user;

static bool in_job, by_program; /* between init's marks; a program has had marks of its own */
static bool from_mark;		/* the caches stay empty until a program's first mark */
static bool simulating;		/* accesses go to the caches */
static bool counting;
static enum region stack[DEEPEST + 1] = {KERNEL}; /* of regions that have begun */
static unsigned depth;
static uint64_t unbalanced; /* marks without their partner */

static void give(struct counts *to, struct often *often)
{
	to->instructions += often->instructions;
	to->accesses += often->accesses;
	*often = (struct often){0};
}

/* Give what was counted since the last call to whose it is, and look who is next. */
static void change_region(void)
{
	give(of_kernel, &kernel);
	give(of_user, &user);
	of_kernel = counting ? &now.regions[stack[depth]] : &not_counted;
	of_user = counting ? &now.regions[USER] : &not_counted;
}

static void begin_region(unsigned region)
{
	if (depth == DEEPEST) {
		unbalanced++;
		return;
	}
	stack[++depth] = region;
	change_region();
	of_kernel->lookups++;
}

static void end_region(unsigned region)
{
	if (!depth || stack[depth] != region) {
		unbalanced++;
		return;
	}
	depth--;
	change_region();
}

static void set_counting(bool on)
{
	counting = on;
	change_region();
}

/* Counts are numbers without a gap. */
static void add_counts(struct counts *to, const struct counts *more)
{
	const uint64_t *from = (const uint64_t *)more;
	uint64_t *into = (uint64_t *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*into); i++)
		into[i] += from[i];
}

/* A program's part has ended: put it by, and begin with nothing again. */
static void end_part(void)
{
	if (count_of_parts < MOST_PARTS)
		parts[count_of_parts++] = now;
	for (unsigned i = 0; i < REGIONS; i++)
		add_counts(&sum.regions[i], &now.regions[i]);
	now = (struct part){0};
}

/* The numbers of struct misses in their order; what it misses is said by counts.py's MISSES. */
static void write_misses(FILE *file, const struct misses *misses)
{
	const uint64_t *number = (const uint64_t *)misses;

	for (size_t i = 0; i < sizeof(*misses) / sizeof(*number); i++)
		fprintf(file, "%s%llu", i ? ", " : "[", (unsigned long long)number[i]);
	fprintf(file, "]");
}

/* The members of an object, all regions of a part. */
static void write_part(FILE *file, const struct part *part)
{
	for (unsigned i = 0; i < REGIONS; i++) {
		const struct counts *counts = &part->regions[i];

		fprintf(file,
			"%s\"%s\": {\"lookups\": %llu, \"accesses\": %llu, \"instructions\": %llu, "
			"\"misses\": [",
			i ? ", " : "", region_names[i], (unsigned long long)counts->lookups,
			(unsigned long long)counts->accesses,
			(unsigned long long)counts->instructions);
		for (unsigned model = 0; model < models.number; model++) {
			fputs(model ? ", " : "", file);
			write_misses(file, &counts->misses[model]);
		}
		fprintf(file, "]}");
	}
}

/* What was counted since the last part's end is of the job, or of a part that never ended. */
static void write_counts(void)
{
	FILE *file = fopen(out, "w");

	if (!file)
		return;
	for (unsigned i = 0; i < REGIONS; i++)
		add_counts(&sum.regions[i], &now.regions[i]);
	fprintf(file,
		"{\"by_program\": %s, \"unbalanced\": %llu, \"untranslated\": %llu, \"parts\": [",
		by_program ? "true" : "false", (unsigned long long)unbalanced,
		(unsigned long long)untranslated);
	for (size_t i = 0; i < count_of_parts; i++) {
		fprintf(file, "%s{", i ? ", " : "");
		write_part(file, &parts[i]);
		fprintf(file, "}");
	}
	fprintf(file, "], \"whole\": {");
	write_part(file, &sum);
	fprintf(file, "}}\n");
	fclose(file);
}

static void job_mark(unsigned number)
{
	if (number == 1 && !in_job) {
		in_job = true;
		models_clear(&models);
		if (!from_mark) {
			simulating = true;
			set_counting(true);
		}
	} else if (number == 2 && in_job) {
		in_job = simulating = false;
		set_counting(false);
		write_counts();
	}
}

static void program_mark(unsigned number)
{
	if (!in_job)
		return;
	if (!by_program) {
		by_program = simulating = true;
		set_counting(false);
		now = (struct part){0};
	}
	if (number == 0) {
		set_counting(true);
	} else if (counting) {
		set_counting(false);
		end_part();
	}
}
