/*
 * ycsb.c - the six mixes of YCSB (Cooper and others 2010) by name, on one to many threads.
 *
 * - a: half reads, half updates
 * - b: 95 of 100 reads, the rest updates
 * - c: reads only
 * - d: 95 of 100 reads of the latest, the rest inserts
 * - e: 95 of 100 short scans, the rest inserts
 * - f: half reads, half read-modify-writes
 *
 * Which record is drawn by Zipf's law, exponent 0.99 by default: of `a` to `c`, `e` and `f` the
 * ranks are scattered over the records by a permutation, of `d` rank 1 is what was inserted last. A
 * hash table has no order to begin a scan at a key: `e` goes on where the last scan ended, for 1 to
 * 100 records. An insert adds a record that was not there; each thread has its own.
 *
 * All operations are drawn before the clock starts. The table is loaded before that, too, and on a
 * disk synced; threads get their handles before as well. A table of 10 million records is loaded
 * but once (plan->loaded), and the mixes run on it one after the other, each with inserts of its
 * own.
 *
 * Threads of a system that has none (or no second writer) can take turns by a lock around each
 * operation and its one handle, as their programs would have to.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { READ, UPDATE, INSERT, SCAN, MODIFY, KINDS };
enum { SCAN_MOST = 100 };

/* Of 100 operations of mix 'a' + i. */
static const struct mix {
	int percent[KINDS];
	bool latest;
} mixes[] = {
	{.percent = {[READ] = 50, [UPDATE] = 50}},
	{.percent = {[READ] = 95, [UPDATE] = 5}},
	{.percent = {[READ] = 100}},
	{.percent = {[READ] = 95, [INSERT] = 5}, .latest = true},
	{.percent = {[SCAN] = 95, [INSERT] = 5}},
	{.percent = {[READ] = 50, [MODIFY] = 50}},
};

bool ycsb_writes(char mix)
{
	return mixes[mix - 'a'].percent[READ] < 100;
}

static uint64_t operations_of(const struct plan *plan, const struct mix *mix)
{
	return mix->percent[SCAN] && plan->scans ? plan->scans : plan->operations;
}

/* Twice what is drawn on average, and some for a few operations. */
uint64_t ycsb_inserts(const struct plan *plan, char mix)
{
	const uint64_t operations = operations_of(plan, &mixes[mix - 'a']);
	const uint64_t most = operations / 50 * (uint64_t)mixes[mix - 'a'].percent[INSERT] + 1000;

	if (!mixes[mix - 'a'].percent[INSERT])
		return 0;
	return most < operations ? most : operations;
}

bool ycsb_needs_lock(const struct plan *plan, const struct variant *variant, char mix)
{
	const unsigned traits = variant->system->traits;

	if (plan->threads == 1 || traits & SYSTEM_THREADS)
		return false;
	return ycsb_writes(mix) || !(traits & SYSTEM_READERS);
}

/*
 * Zipf's law on 1 to n by rejection-inversion (Hoermann and Derflinger 1996): a number under the
 * integral of x^-s is turned into an x, and its rank is taken with the part of the area that
 * belongs to it. No sum over all ranks is needed, and every exponent but 1 will do.
 */
struct zipf {
	double exponent, upper, lower;
	double count;
};

static double area(const struct zipf *zipf, double x)
{
	return (pow(x, 1 - zipf->exponent) - 1) / (1 - zipf->exponent);
}

static double area_inverse(const struct zipf *zipf, double area)
{
	return pow(1 + area * (1 - zipf->exponent), 1 / (1 - zipf->exponent));
}

static void zipf_set(struct zipf *zipf, double exponent, size_t count)
{
	zipf->exponent = exponent;
	zipf->count = (double)count;
	zipf->upper = area(zipf, (double)count + 0.5);
	zipf->lower = area(zipf, 1.5) - 1;
}

static size_t zipf_draw(const struct zipf *zipf, uint64_t *state)
{
	for (;;) {
		const double uniform = (double)(random_next(state) >> 11) * 0x1p-53;
		const double under = zipf->upper + uniform * (zipf->lower - zipf->upper);
		double rank = floor(area_inverse(zipf, under) + 0.5);

		if (rank < 1)
			rank = 1;
		if (rank > zipf->count)
			rank = zipf->count;
		if (under >= area(zipf, rank + 0.5) - pow(rank, -zipf->exponent))
			return (size_t)rank;
	}
}

struct operation {
	uint32_t kind;
	uint32_t scan; /* records */
	uint64_t record;
};

struct worker {
	const struct dataset *set;
	struct table *table;
	struct operation *operations;
	uint64_t count;
	struct cursor cursor;
	uint64_t inserted; /* how many of the operations are inserts */
	uint64_t missing, wrong, refused;
	int error;
	pthread_t thread;
	pthread_barrier_t *start;
	pthread_mutex_t *lock; /* NULL: none is needed */
};

static uint32_t draw_kind(const struct mix *mix, uint64_t *state)
{
	int left = (int)(random_next(state) % 100);
	uint32_t kind = 0;

	while (left >= mix->percent[kind])
		left -= mix->percent[kind++];
	return kind;
}

/*
 * The operations of thread @number of @threads, whose inserts are every @threads-th new record.
 * -ERANGE: there are no records left for them.
 */
static int draw_operations(const struct plan *plan, const struct mix *mix, struct worker *worker,
			   unsigned number)
{
	const size_t count = plan->set->count, factor = data_scattering(count);
	const uint64_t fresh = count + plan->inserted;
	uint64_t state = plan->seed + 1 + number, inserted = 0;
	struct zipf zipf;

	zipf_set(&zipf, plan->zipf, count);
	for (uint64_t i = 0; i < worker->count; i++) {
		struct operation *operation = &worker->operations[i];
		const size_t rank = zipf_draw(&zipf, &state);

		operation->kind = draw_kind(mix, &state);
		operation->scan = 1 + (uint32_t)(random_next(&state) % SCAN_MOST);
		if (operation->kind == INSERT)
			operation->record = fresh + number + inserted++ * plan->threads;
		else if (!mix->latest)
			operation->record =
				(uint64_t)((unsigned __int128)(rank - 1) * factor % count);
		else if (rank <= inserted)
			operation->record = fresh + number + (inserted - rank) * plan->threads;
		else
			operation->record = count - (rank - inserted);
		if (operation->record >= plan->set->room)
			return -ERANGE;
	}
	worker->inserted = inserted;
	return 0;
}

/* One record in the way of @operation->kind; the errno of the table. */
static int operate(struct worker *worker, const struct operation *operation)
{
	const struct item key = data_key(worker->set, operation->record);
	const struct item wanted = data_value(worker->set, operation->record);
	struct item data, next;
	int error = 0;

	switch (operation->kind) {
	case READ:
		return table_get(worker->table, key, &data);
	case MODIFY:
		error = table_get(worker->table, key, &data);
		if (!error && data.size != wanted.size)
			worker->wrong++;
		if (error)
			return error;
		return table_put(worker->table, key, wanted, true);
	case SCAN:
		for (uint32_t i = 0; i < operation->scan && !error; i++)
			error = table_scan(worker->table, &worker->cursor, &next, &data);
		if (error == -ENOENT) {
			memset(&worker->cursor, 0, sizeof(worker->cursor));
			error = 0;
		}
		return error ? error : table_pause(worker->table);
	default:
		return table_put(worker->table, key, wanted, true);
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	pthread_barrier_wait(worker->start);
	for (uint64_t i = 0; i < worker->count && !worker->error; i++) {
		int error;

		if (worker->lock)
			pthread_mutex_lock(worker->lock);
		error = operate(worker, &worker->operations[i]);
		if (worker->lock)
			pthread_mutex_unlock(worker->lock);
		if (error == -ENOENT)
			worker->missing++;
		else if (error == -EMSGSIZE || error == -ENOSPC)
			worker->refused++;
		else
			worker->error = error;
	}
	pthread_barrier_wait(worker->start);
	return NULL;
}

static int have_worker(const struct plan *plan, const struct mix *mix, struct table *table,
		       struct worker *worker, unsigned number)
{
	int error;

	worker->set = plan->set;
	worker->count = operations_of(plan, mix) / plan->threads;
	worker->operations = malloc((worker->count + 1) * sizeof(*worker->operations));
	if (!worker->operations)
		return -ENOMEM;
	error = draw_operations(plan, mix, worker, number);
	if (error)
		return error;
	if (number && !worker->lock)
		return table_attach(table, &worker->table);
	worker->table = table;
	return 0;
}

/* The clock runs from the barrier at which all threads are to the one behind their work. */
static int run_workers(const struct plan *plan, struct worker *workers, struct result *result)
{
	pthread_barrier_t barrier;
	struct watch watch;

	pthread_barrier_init(&barrier, NULL, plan->threads + 1);
	for (unsigned i = 0; i < plan->threads; i++) {
		workers[i].start = &barrier;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return -EAGAIN; /* the process ends with those that wait */
	}
	watch_start(plan, &watch, result);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	watch_stop(&watch, result);
	for (unsigned i = 0; i < plan->threads; i++) {
		pthread_join(workers[i].thread, NULL);
		result->operations += workers[i].count;
		result->missing += workers[i].missing;
		result->wrong += workers[i].wrong;
		result->refused += workers[i].refused;
		if (!result->error)
			result->error = workers[i].error;
	}
	pthread_barrier_destroy(&barrier);
	return result->error;
}

static int load(const struct plan *plan, struct table *table, struct result *result)
{
	const int error = put_all(plan, table, result);

	result->operations = 0;
	return error ? error : table_sync(table);
}

/* A table with the set's records, made or as it lies on the disk. */
static int open_loaded(const struct plan *plan, const struct variant *variant, struct table **table,
		       struct result *result)
{
	const bool on_disk = variant->system->traits & SYSTEM_DISK;
	const bool made = plan->loaded && on_disk;
	const char *path = on_disk ? table_path(plan) : NULL;
	const unsigned flags = made ? 0 : TABLE_CREATE;
	int error;

	if (!made)
		remove_files(plan);
	error = table_open(variant->system, table, path, flags, variant->values);
	if (!error && !made) {
		error = load(plan, *table, result);
		if (error)
			table_close(*table);
	}
	return error;
}

/* The next mix on this file inserts other records. */
static void count_inserted(struct plan *plan, const struct worker *workers)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < plan->threads; i++)
		most = workers[i].inserted > most ? workers[i].inserted : most;
	plan->inserted += most * plan->threads;
}

void ycsb_run(struct plan *plan, const struct variant *variant, char mix, struct result *result)
{
	struct worker *workers = calloc(plan->threads, sizeof(*workers));
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct table *table;

	result->threads = plan->threads;
	result->locked = ycsb_needs_lock(plan, variant, mix);
	if (!plan->loaded)
		plan->inserted = 0;
	result->error = workers ? open_loaded(plan, variant, &table, result) : -ENOMEM;
	if (result->error) {
		free(workers);
		return;
	}
	for (unsigned i = 0; i < plan->threads && !result->error; i++) {
		workers[i].lock = result->locked ? &lock : NULL;
		result->error = have_worker(plan, &mixes[mix - 'a'], table, &workers[i], i);
	}
	if (!result->error)
		result->error = run_workers(plan, workers, result);
	if (result->elapsed > 0)
		result->rate = (double)result->operations / result->elapsed;
	count_inserted(plan, workers);
	for (unsigned i = 0; i < plan->threads; i++) {
		free(workers[i].operations);
		if (i && workers[i].table && !workers[i].lock)
			table_close(workers[i].table);
	}
	free(workers);
	table_close(table);
}
