/*
 * main.c - native: nanoseconds of single calls, here and on the host, for ./cw bench native
 * (docs/kernel/native.md).
 *
 *	native [options] kernel|host
 *	  --threads N	1 to 16 of them, all at the same at once
 *	  --ms N	how long each row is run
 *	  --row NAME	this row alone; may be repeated
 *	  --mix N	instead: N turns a thread of everything in one directory, then what is left
 *	  --files N	instead: a thousand and N files, what one takes and how long a look at it
 *	  --memory MB	of the hosted kernel
 *	  --options S	its command line
 *	  --list	instead: the names of the rows
 *	  --folder DIR	for the host's files
 *
 * Each thread keeps to a processor of the host's. A row is run in batches of some ten microseconds
 *by all threads at once. A batch counts if the host let its thread run through, and meanwhile as
 *many others went on as there are processors for, at least a quarter as fast: so what is measured
 *is threads that meet, however busy the host is. The figure is the median of all threads' batches,
 *`share` how many of them counted; a row goes on for twenty times its time until there are enough;
 *if there are hardly any, its ns are null. Output: a line of JSON for each row. Status 1: something
 *did not come out as it must; 2: the arguments.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "hosted/native/measure.h"

#define BATCH_NS 30000
#define PARTS 8		  /* of a batch, behind each of which others see how far it is */
#define SAMPLES_MAX 65536 /* of a thread */
#define SAMPLES_ENOUGH 50 /* of the first thread */
#define SAMPLES_LEAST 10  /* of all */
#define PATIENCE 20	  /* times as long as asked for */
#define ROWS_MAX 32
#define MIX_TOGETHER 4 /* turns */

static struct options {
	const struct side *side;
	unsigned threads, milliseconds, memory;
	unsigned long mix, files;
	bool list;
	const char *options, *folder;
	const char *rows[ROWS_MAX];
	unsigned row_count;
} options = {.threads = 1, .milliseconds = 20, .memory = 1024, .options = "", .folder = "/dev/shm"};

void measure_fail(const char *call, const char *name, long result)
{
	fprintf(stderr, "native: %s: %s %s: %ld", options.side->name, call, name, result);
	if (result < 0)
		fprintf(stderr, " %s", strerror((int)-result));
	fprintf(stderr, "\n");
	exit(1);
}

uint64_t measure_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

double measure_median(float *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

/* ---- a row ----------------------------------------------------------------------------------- */

static struct worker workers[MEASURE_CPUS];
static cpu_set_t allowed;   /* the host's processors that this process may use: */
static unsigned processors; /* so many */

static struct progress {
	uint64_t parts; /* of batches, since the program began; read by the others */
} __attribute__((aligned(64))) progress[MEASURE_CPUS];

struct race {
	const struct row *row;
	enum place place;
	unsigned arrived, ready, through; /* threads */
	uint64_t began;			  /* ns of the clock; set when all are there */
	bool over;
	struct sampled {
		float *ns; /* of a turn, by batch */
		unsigned batches, counted;
		uint64_t turns;
	} sampled[MEASURE_CPUS];
};

/* Wait until all threads have counted themselves in *@count. */
static void meet(unsigned *count)
{
	options.side->idle();
	__atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < options.threads)
		sched_yield();
	options.side->busy();
}

static void find_processors(void)
{
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		measure_fail("sched_getaffinity", "", -errno);
	processors = (unsigned)CPU_COUNT(&allowed);
}

/* The calling thread is the @cpu-th: it gets one processor, in turn. */
static void keep_to_processor(unsigned cpu)
{
	cpu_set_t one;
	int at = -1;

	for (unsigned left = cpu % processors + 1; left; left -= CPU_ISSET(at, &allowed) != 0)
		at++;
	CPU_ZERO(&one);
	CPU_SET(at, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		measure_fail("sched_setaffinity", "", -errno);
}

/* How many turns a part of a batch has, found by doubling: which also warms up. */
static unsigned turns_of_part(const struct row *row, struct worker *worker)
{
	for (unsigned turns = 2;; turns *= 2) {
		uint64_t began = measure_ns();

		row->turns(worker, turns);
		if (measure_ns() - began >= BATCH_NS / PARTS)
			return turns;
	}
}

static void look_at_others(uint64_t parts[MEASURE_CPUS])
{
	for (unsigned cpu = 0; cpu < options.threads; cpu++)
		parts[cpu] = __atomic_load_n(&progress[cpu].parts, __ATOMIC_RELAXED);
}

/* Have as many others as can gone on since @before? */
static bool were_together(unsigned cpu, const uint64_t before[MEASURE_CPUS])
{
	unsigned wanted = (options.threads < processors ? options.threads : processors) - 1;
	uint64_t now[MEASURE_CPUS];
	unsigned others = 0;

	look_at_others(now);
	for (unsigned other = 0; other < options.threads; other++)
		others += other != cpu && now[other] - before[other] >= PARTS / 4;
	return others >= wanted;
}

/* How often has the host taken the processor from this thread? */
static long taken_away(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		measure_fail("getrusage", "", -errno);
	return usage.ru_nivcsw;
}

/* A batch: ns. */
static uint64_t run_batch(const struct row *row, struct worker *worker, unsigned turns)
{
	uint64_t began = measure_ns();

	for (unsigned part = 0; part < PARTS; part++) {
		row->turns(worker, turns);
		__atomic_store_n(&progress[worker->cpu].parts, progress[worker->cpu].parts + 1,
				 __ATOMIC_RELAXED);
	}
	return measure_ns() - began;
}

/* The first thread says when it is over: when it has enough, or has waited too long. */
static bool is_over(struct race *race, const struct sampled *sampled, unsigned cpu)
{
	uint64_t passed = measure_ns() - race->began, wanted = options.milliseconds * 1000000ULL;

	if (cpu == 0 && passed >= wanted &&
	    (sampled->counted >= SAMPLES_ENOUGH || passed >= PATIENCE * wanted))
		__atomic_store_n(&race->over, true, __ATOMIC_RELEASE);
	return __atomic_load_n(&race->over, __ATOMIC_ACQUIRE);
}

static void run_row(unsigned cpu, void *of)
{
	struct race *race = of;
	struct worker *worker = &workers[cpu];
	struct sampled *sampled = &race->sampled[cpu];
	unsigned turns;

	keep_to_processor(cpu);
	options.side->begin(worker, cpu, race->place);
	turns = turns_of_part(race->row, worker);
	meet(&race->arrived);
	if (cpu == 0)
		race->began = measure_ns();
	meet(&race->ready);
	do {
		uint64_t before[MEASURE_CPUS], ns;
		long taken = taken_away();

		look_at_others(before);
		ns = run_batch(race->row, worker, turns);
		sampled->batches++;
		sampled->turns += turns * PARTS;
		if (were_together(cpu, before) && taken_away() == taken &&
		    sampled->counted < SAMPLES_MAX)
			sampled->ns[sampled->counted++] = (float)ns / (float)(turns * PARTS);
	} while (!is_over(race, sampled, cpu));
	meet(&race->through);
	options.side->end(worker);
}

static void print_row(const struct race *race)
{
	static float all[MEASURE_CPUS * SAMPLES_MAX];
	struct sampled sum = {.ns = all};
	char ns[32] = "null";
	const char *place = race->place == PLACE_SAME ? "same" : "own", *waited = NULL;
	uint64_t waits = 0;

	for (unsigned cpu = 0; cpu < options.threads; cpu++) {
		const struct sampled *one = &race->sampled[cpu];

		memcpy(all + sum.counted, one->ns, one->counted * sizeof(float));
		sum.counted += one->counted;
		sum.batches += one->batches;
		sum.turns += one->turns;
	}
	if (sum.counted >= SAMPLES_LEAST)
		snprintf(ns, sizeof(ns), "%.2f", measure_median(all, sum.counted));
	if (options.side->most_waited)
		waited = options.side->most_waited(&waits);
	printf("{\"row\": \"%s\", \"place\": \"%s\", \"calls\": %u, \"ns\": %s, "
	       "\"turns\": %llu, \"share\": %.3f, \"waited\": \"%s\", \"waits\": %llu}\n",
	       race->row->name, place, race->row->calls, ns, (unsigned long long)sum.turns,
	       (double)sum.counted / (double)sum.batches, waited ? waited : "",
	       (unsigned long long)waits);
	fflush(stdout);
}

static bool is_wanted(const char *name)
{
	for (unsigned i = 0; i < options.row_count; i++)
		if (strcmp(options.rows[i], name) == 0)
			return true;
	return options.row_count == 0;
}

static void race_begin(struct race *race, const struct row *row, enum place place)
{
	race->row = row;
	race->place = place;
	race->arrived = race->ready = race->through = 0;
	race->over = false;
	for (unsigned cpu = 0; cpu < options.threads; cpu++)
		race->sampled[cpu] = (struct sampled){.ns = race->sampled[cpu].ns};
}

static void measure_rows(void)
{
	const struct side *side = options.side;

	static struct race race;

	for (unsigned cpu = 0; cpu < options.threads; cpu++)
		race.sampled[cpu].ns = native_map(SAMPLES_MAX * sizeof(float));
	for (const struct row *row = side->rows; row < side->rows + side->row_count; row++) {
		if (!is_wanted(row->name))
			continue;
		for (enum place place = PLACE_SAME; place <= PLACE_OWN && !(place && row->alike);
		     place++) {
			race_begin(&race, row, place);
			side->run(options.threads, run_row, &race);
			print_row(&race);
		}
	}
}

/* ---- threads at odds ------------------------------------------------------------------------- */

static void run_mix(unsigned cpu, void *of)
{
	unsigned *arrived = of;

	keep_to_processor(cpu);
	options.side->begin(&workers[cpu], cpu, PLACE_SAME);
	meet(arrived);
	for (unsigned long left = options.mix, some; left; left -= some) {
		some = left < MIX_TOGETHER ? left : MIX_TOGETHER;
		options.side->mix(&workers[cpu], (unsigned)some);
		sched_yield(); /* where threads have one processor, they take turns often */
	}
	options.side->end(&workers[cpu]);
}

static void measure_mix(void)
{
	unsigned arrived = 0;
	struct mixed sum = {0};
	uint64_t left;

	options.side->run(options.threads, run_mix, &arrived);
	for (unsigned cpu = 0; cpu < options.threads; cpu++) {
		sum.turns += workers[cpu].mixed.turns;
		sum.made += workers[cpu].mixed.made;
		sum.removed += workers[cpu].mixed.removed;
	}
	left = options.side->mix_left();
	if (sum.made - sum.removed != left)
		measure_fail("files left over, not what was made less what was removed, in", "mix",
			     (long)left);
	printf("{\"row\": \"mix\", \"turns\": %llu, \"made\": %llu, \"removed\": %llu, "
	       "\"left\": %llu}\n",
	       (unsigned long long)sum.turns, (unsigned long long)sum.made,
	       (unsigned long long)sum.removed, (unsigned long long)left);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void bad(const char *what, const char *value)
{
	fprintf(stderr, "native: %s: %s\n", what, value);
	exit(2);
}

static unsigned long number(const char *name, const char *text, unsigned long least,
			    unsigned long most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "native: --%s %s: give a number from %lu to %lu\n", name, text,
			least, most);
		exit(2);
	}
	return value;
}

static void add_row(const char *name)
{
	if (options.row_count == ROWS_MAX)
		bad("--row: too many", name);
	options.rows[options.row_count++] = name;
}

static void check_rows(void)
{
	for (unsigned i = 0; i < options.row_count; i++) {
		const struct side *side = options.side;
		unsigned at = 0;

		while (at < side->row_count && strcmp(side->rows[at].name, options.rows[i]))
			if (++at == side->row_count)
				bad("there is no such row", options.rows[i]);
	}
}

static void read_arguments(int argc, char **argv)
{
	static const struct option known[] = {{"threads", 1, NULL, 't'}, {"ms", 1, NULL, 'm'},
					      {"row", 1, NULL, 'r'},	 {"mix", 1, NULL, 'x'},
					      {"files", 1, NULL, 'f'},	 {"memory", 1, NULL, 'M'},
					      {"options", 1, NULL, 'o'}, {"folder", 1, NULL, 'd'},
					      {"list", 0, NULL, 'l'},	 {NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 't':
			options.threads = (unsigned)number("threads", optarg, 1, MEASURE_CPUS);
			break;
		case 'm':
			options.milliseconds = (unsigned)number("ms", optarg, 1, 60000);
			break;
		case 'M':
			options.memory = (unsigned)number("memory", optarg, 64, 1 << 16);
			break;
		case 'x':
			options.mix = number("mix", optarg, 1, 1000000000);
			break;
		case 'f':
			options.files = number("files", optarg, 1000, 5000000);
			break;
		case 'r':
			add_row(optarg);
			break;
		case 'o':
			options.options = optarg;
			break;
		case 'd':
			options.folder = optarg;
			break;
		case 'l':
			options.list = true;
			break;
		default:
			exit(2);
		}
	}
	if (optind + 1 != argc)
		bad("which side", "kernel or host, one of them");
	if (strcmp(argv[optind], kernel_side.name) == 0)
		options.side = &kernel_side;
	else if (strcmp(argv[optind], host_side.name) == 0)
		options.side = &host_side;
	else
		bad("there is no such side", argv[optind]);
}

int main(int argc, char **argv)
{
	const struct side *side;

	read_arguments(argc, argv);
	side = options.side;
	if (options.list) {
		for (unsigned i = 0; i < side->row_count; i++)
			printf("{\"row\": \"%s\", \"calls\": %u}\n", side->rows[i].name,
			       side->rows[i].calls);
		return 0;
	}
	check_rows();
	find_processors();
	side->start(options.threads, options.memory, options.options, options.folder);
	if (options.files) {
		files_measure(side, options.files, options.milliseconds);
		return 0;
	}
	side->prepare(options.threads);
	if (options.mix)
		measure_mix();
	else
		measure_rows();
	side->stop(options.threads);
	return 0;
}
