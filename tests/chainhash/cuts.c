/*
 * cuts.c - power cuts at every write, and errors at every call: what was synced is there.
 *
 *	cuts FOLDER FIRST-SEED SEEDS
 *
 * Linked with --wrap for the library's calls of the system, so that every write, change of the
 * file's size and flush of the library passes through here, and is noted. A seed draws a small
 * table and a run of puts, deletes and syncs. Then, for every prefix of what was noted:
 *
 *   - The file as it may be after a power cut there: all writes up to the last flush that came to
 *     its end, and of those since then any subset, in any order, the last one perhaps in part
 *     (whole sectors of 512 bytes). It must hold the state of the last sync that returned, or,
 *     while one was under way, that one's or the one before, whole, and verify without a fault.
 *   - The same with two writers: the first is killed behind some call, the second finds what the
 *     system has of the file, goes on, and the power is cut while it does.
 *
 * And for every call, and every request for memory: it fails (EIO, ENOSPC, ENOMEM), or does a part
 * only. The caller must hear of it, and after reopening the last synced state must be there; where
 * the table goes on, it must do what the model does.
 */
#include "model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE, RESIZE, FLUSH };

struct event {
	enum kind kind;
	off_t offset; /* RESIZE: the new size */
	size_t size;
	unsigned char *bytes;
	int state; /* syncs that had returned, and whether one was under way */
	bool syncing;
};

enum { EVENTS_MOST = 20000, STATES_MOST = 64, SECTOR = 512 };

static struct event events[EVENTS_MOST];
static int event_count;
static bool recording;
static int syncs_done;
static bool sync_running;
static struct model states[STATES_MOST];

/* Which call is to fail, counted from now; negative: none. */
static long failing = -1;
static int failing_with; /* an errno; 0: a part is done */
static bool failing_for_good;
static bool failed;
static bool inside;		     /* in a call of the library */
static bool failing_memory;	     /* it is requests for memory that fail */
static bool looking, failed_looking; /* in a lookup: it need not be heard of */

ssize_t __real_pwritev64(int descriptor, const struct iovec *vector, int count, off_t offset);
ssize_t __real_pread64(int descriptor, void *bytes, size_t size, off_t offset);
int __real_fdatasync(int descriptor);
int __real_ftruncate64(int descriptor, off_t size);

/* Is it this call's turn? */
static bool fails(void)
{
	if (failing < 0 || !inside)
		return false;
	if (failing == 0) {
		failed = true;
		failed_looking |= looking;
		failing = failing_for_good ? 0 : -1;
		return true;
	}
	failing--;
	return false;
}

static void note(enum kind kind, off_t offset, const struct iovec *vector, int count)
{
	struct event *event = &events[event_count++];

	CHECK(event_count < EVENTS_MOST);
	*event = (struct event){kind, offset, 0, event->bytes, syncs_done, sync_running};
	for (int i = 0; i < count; i++)
		event->size += vector[i].iov_len;
	event->bytes = realloc(event->bytes, event->size + 1);
	CHECK(event->bytes);
	for (size_t i = 0, at = 0; i < (size_t)count; at += vector[i++].iov_len)
		memcpy(event->bytes + at, vector[i].iov_base, vector[i].iov_len);
}

ssize_t __wrap_pwritev64(int descriptor, const struct iovec *vector, int count, off_t offset)
{
	if (!failing_memory && fails()) {
		struct iovec part = vector[0];

		if (failing_with) {
			errno = failing_with;
			return -1;
		}
		part.iov_len = (part.iov_len + 1) / 2;
		return __real_pwritev64(descriptor, &part, 1, offset);
	}
	if (recording)
		note(WRITE, offset, vector, count);
	return __real_pwritev64(descriptor, vector, count, offset);
}

ssize_t __wrap_pread64(int descriptor, void *bytes, size_t size, off_t offset)
{
	if (!failing_memory && fails()) {
		errno = failing_with;
		return failing_with ? -1
				    : __real_pread64(descriptor, bytes, (size + 1) / 2, offset);
	}
	return __real_pread64(descriptor, bytes, size, offset);
}

int __wrap_fdatasync(int descriptor)
{
	(void)descriptor;
	if (!failing_memory && fails() && failing_with) {
		errno = failing_with;
		return -1;
	}
	if (recording)
		note(FLUSH, 0, NULL, 0);
	return 0; /* the test's disk is its memory */
}

int __wrap_ftruncate64(int descriptor, off_t size)
{
	if (!failing_memory && fails() && failing_with) {
		errno = failing_with;
		return -1;
	}
	if (recording)
		note(RESIZE, size, NULL, 0);
	return __real_ftruncate64(descriptor, size);
}

/* Memory: only what the library asks for fails. */
#define WRAP(name, parameters, arguments)                                                          \
	void *__real_##name parameters;                                                            \
	void *__wrap_##name parameters                                                             \
	{                                                                                          \
		return inside && failing_memory && fails() ? NULL : __real_##name arguments;       \
	}

WRAP(malloc, (size_t size), (size))
WRAP(calloc, (size_t count, size_t size), (count, size))
WRAP(realloc, (void *old, size_t size), (old, size))

struct trial {
	unsigned long long seed;
	uint64_t random;
	char path[200], cut[200];
	struct chainhash_options options;
	struct chainhash *table;
	struct model now;
	uint32_t version;
};

static void draw(struct trial *trial)
{
	static const uint32_t largest[] = {20, 60, 2000};

	trial->options = (struct chainhash_options){
		.bucket_size = 128u << random_below(&trial->random, 4),
		.fill_factor = random_below(&trial->random, 2) ? 6 : 0,
		.cache_size = 1, /* eight pages: writes between syncs, too */
		.seed = 5,
		.split = random_below(&trial->random, 3),
	};
	trial->now = (struct model){.keys = 40u << random_below(&trial->random, 3),
				    .largest = largest[random_below(&trial->random, 3)],
				    .largest_key = 20};
}

/* A change, made in the model when it was made in the table. Gives the table's error. */
static int change(struct trial *trial)
{
	uint32_t key = random_below(&trial->random, trial->now.keys);
	bool put = random_below(&trial->random, 3) != 0;
	uint32_t version = ++trial->version;
	int error;
	struct chainhash_item name = model_key(&trial->now, key);
	struct chainhash_item data = model_data(&trial->now, key, version);

	inside = true;
	error = put ? chainhash_put(trial->table, name, data, CHAINHASH_REPLACE)
		    : chainhash_delete(trial->table, name);
	inside = false;
	if (!put && error == -ENOENT) {
		CHECK(!trial->now.versions[key]);
		return 0;
	}
	if (!error)
		trial->now.versions[key] = put ? version : 0;
	return error;
}

/* Look something up: an error of reading is heard of, one of writing waits for the next change. */
static void look(struct trial *trial, int with)
{
	uint32_t key = random_below(&trial->random, trial->now.keys);
	struct chainhash_item name, data;
	int error;

	name = model_key(&trial->now, key);
	looking = inside = true;
	error = chainhash_get(trial->table, name, &data);
	looking = inside = false;
	CHECK(error == -with || error == (trial->now.versions[key] ? 0 : -ENOENT));
}

static int sync_table(struct trial *trial)
{
	int error;

	CHECK(syncs_done + 1 < STATES_MOST);
	states[syncs_done + 1] = trial->now;
	sync_running = inside = true;
	error = chainhash_sync(trial->table);
	sync_running = inside = false;
	if (!error)
		syncs_done++;
	return error;
}

/* Do to a file what an event did, of a write the first @size bytes. */
static void play(int descriptor, const struct event *event, size_t size)
{
	if (event->kind == RESIZE)
		CHECK(!__real_ftruncate64(descriptor, event->offset));
	if (event->kind == WRITE)
		CHECK(pwrite(descriptor, event->bytes, size, event->offset) == (ssize_t)size);
}

static int open_empty(const char *path)
{
	int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(descriptor >= 0);
	return descriptor;
}

/* Play what was noted up to @count into the file @trial->cut, as a power cut may leave it. */
static void make_cut(struct trial *trial, int count, uint64_t *random)
{
	int descriptor = open_empty(trial->cut), flushed = 0, since = 0;
	uint32_t kept = random_below(random, 5);
	static int order[EVENTS_MOST];

	for (int i = 0; i < count; i++)
		if (events[i].kind == FLUSH)
			flushed = i;
	for (int i = 0; i < count; i++) {
		if (i >= flushed && kept < 4 && random_below(random, 4) >= kept)
			continue;
		order[since++] = i;
	}
	/* Those before the flush stay in order; the others may change places. */
	for (int i = 0; i < since; i++) {
		int j = i + (int)random_below(random, (uint32_t)(since - i)), swap = order[i];

		if (order[i] < flushed)
			continue;
		order[i] = order[j];
		order[j] = swap;
	}
	for (int i = 0; i < since; i++) {
		size_t size = events[order[i]].size;

		if (order[i] >= flushed && i == since - 1 && size > SECTOR &&
		    random_below(random, 2))
			size = random_below(random, (uint32_t)(size / SECTOR)) * SECTOR;
		play(descriptor, &events[order[i]], size);
	}
	close(descriptor);
}

static void report(void *context, const char *problem)
{
	(void)context;
	fprintf(stderr, "verify: %s\n", problem);
}

/* The file must hold state @state, or @state + 1 while that one was being synced. */
static void check_file(struct trial *trial, const char *path, int state, bool syncing)
{
	struct chainhash *table;
	int error = chainhash_open(&table, path, 0, 0, &trial->options);
	struct chainhash_status status;

	/* -EINVAL: zeros and pages, where the disk cut the file off before it wrote to it. */
	if (error == -ENODATA || error == -EINVAL) {
		CHECK(state == 0);
		return;
	}
	if (error)
		fprintf(stderr, "open: %d %s\n", error, chainhash_message());
	CHECK(!error);
	chainhash_status(table, &status);
	CHECK(status.sequence - (uint64_t)state <= syncing);
	CHECK(model_equal(&states[status.sequence], table));
	CHECK(!chainhash_verify(table, report, NULL, NULL));
	chainhash_abandon(table);
}

static void begin(struct trial *trial, const char *folder, uint64_t seed)
{
	*trial = (struct trial){.seed = seed, .random = seed};
	snprintf(trial->path, sizeof(trial->path), "%s/cuts.%d", folder, (int)getpid());
	snprintf(trial->cut, sizeof(trial->cut), "%s/cut.%d", folder, (int)getpid());
	unlink(trial->path);
	draw(trial);
	event_count = 0;
	syncs_done = 0;
	states[0] = trial->now;
}

/* A few changes, one of which is a new version of record 0 in any case. */
static void change_some(struct trial *trial)
{
	for (uint32_t j = random_below(&trial->random, 60) + 1; j; j--)
		CHECK(!change(trial));
	trial->version++;
	CHECK(!chainhash_put(trial->table, model_key(&trial->now, 0),
			     model_data(&trial->now, 0, trial->version), 0));
	trial->now.versions[0] = trial->version;
}

/* Cut the power before each event from number @first on, and at the end, @times times. */
static void cut_from(struct trial *trial, int first, int times, uint64_t *random)
{
	for (int count = first; count <= event_count; count++) {
		bool last = count == event_count;
		int state = last ? syncs_done : events[count].state;

		snprintf(check_context, sizeof(check_context), "seed %llu, cut %d, %d to %d",
			 trial->seed, count, first, event_count);
		for (int i = 0; i < times; i++) {
			make_cut(trial, count, random);
			check_file(trial, trial->cut, state, !last && events[count].syncing);
		}
	}
}

/*
 * The first writer is killed behind @count events, all of which the system has. What a second one
 * finds and goes on from is on the disk when its open returns.
 */
static void run_second(struct trial *trial, int count, uint64_t *random)
{
	int descriptor = open_empty(trial->path);
	struct chainhash_status status;

	for (int i = 0; i < count; i++)
		play(descriptor, &events[i], events[i].size);
	close(descriptor);
	syncs_done = events[count].state;
	sync_running = events[count].syncing;
	event_count = count;
	recording = true;
	CHECK(!chainhash_open(&trial->table, trial->path, CHAINHASH_CREATE, 0, &trial->options));
	chainhash_status(trial->table, &status);
	CHECK(status.sequence - (uint64_t)syncs_done <= sync_running);
	syncs_done = (int)status.sequence;
	sync_running = false;
	trial->now = states[syncs_done];
	change_some(trial);
	if (random_below(random, 2))
		CHECK(!sync_table(trial));
	change_some(trial);
	recording = false;
	chainhash_abandon(trial->table);
	cut_from(trial, count, 2, random);
}

static void run_cuts(const char *folder, uint64_t seed)
{
	struct trial trial;
	uint64_t random = seed * 31;

	begin(&trial, folder, seed);
	recording = true;
	CHECK(!chainhash_open(&trial.table, trial.path, CHAINHASH_CREATE, 0600, &trial.options));
	for (int i = 0; i < 8; i++) {
		change_some(&trial);
		CHECK(!sync_table(&trial));
	}
	recording = false;
	chainhash_abandon(trial.table);
	cut_from(&trial, 0, 3, &random);
	/* Backwards, since the second writer's events take the place of those that came then. */
	for (int count = event_count - 1; count > 0; count -= 1 + count / 8)
		run_second(&trial, count, &random);
	unlink(trial.path);
	unlink(trial.cut);
}

/*
 * After a run of failing calls: what a sync has now made the state is there; or, if it can't, the
 * state of the last sync, or of that one if only its last flush failed.
 */
static void check_reopened(struct trial *trial)
{
	const struct model last = trial->now, *expected = &last;
	bool synced = !chainhash_sync(trial->table);
	struct chainhash_status status;
	struct chainhash *table;
	int error;

	chainhash_abandon(trial->table);
	error = chainhash_open(&table, trial->path, 0, 0, &trial->options);
	if (error && error != -ENODATA)
		fprintf(stderr, "open: %d %s\n", error, chainhash_message());
	CHECK(!error || (error == -ENODATA && !synced && !syncs_done));
	if (error)
		return;
	chainhash_status(table, &status);
	if (!synced) {
		CHECK(status.sequence - (uint64_t)syncs_done <= 1);
		expected = &states[status.sequence];
	}
	CHECK(model_equal(expected, table));
	CHECK(!chainhash_verify(table, report, NULL, NULL));
	chainhash_abandon(table);
}

/* One run in which call number @number fails: false when there were fewer calls. */
static bool run_error(const char *folder, uint64_t seed, long number, int with, bool for_good)
{
	struct trial trial;
	bool heard = false;
	int error;

	begin(&trial, folder, seed);
	snprintf(check_context, sizeof(check_context), "seed %llu, call %ld fails with %d%s",
		 trial.seed, number, with, for_good ? " for good" : "");
	CHECK(!chainhash_open(&trial.table, trial.path, CHAINHASH_CREATE, 0600, &trial.options));
	failing = number;
	failing_with = with;
	failing_memory = with == ENOMEM;
	failing_for_good = for_good;
	failed = failed_looking = false;
	for (int i = 0; i < 4; i++) {
		for (uint32_t j = 10 + random_below(&trial.random, 50); j; j--) {
			error = change(&trial);
			heard |= error != 0;
			CHECK(!error || error == -with || error == -EIO);
			look(&trial, with);
		}
		error = sync_table(&trial);
		heard |= error != 0;
		CHECK(!error || error == -with || error == -EIO);
	}
	failing = -1;
	/* A call that does a part only is no error; without memory to note a free page there is
	 * just that. */
	CHECK(!failed || heard || !with || failed_looking || failing_memory);
	CHECK(model_equal(&trial.now, trial.table));
	check_reopened(&trial);
	unlink(trial.path);
	return failed;
}

int main(int argc, char **argv)
{
	static const int errors[] = {EIO, ENOSPC, 0, ENOMEM};
	uint64_t first, count;

	if (argc != 4) {
		fprintf(stderr, "usage: cuts FOLDER FIRST-SEED SEEDS\n");
		return 2;
	}
	first = strtoull(argv[2], NULL, 10);
	count = strtoull(argv[3], NULL, 10);
	for (uint64_t seed = first; seed < first + count; seed++) {
		long calls = 0, number, cuts;

		run_cuts(argv[1], seed);
		cuts = event_count;
		for (int i = 0; i < 4; i++)
			for (int for_good = 0; for_good < 2; for_good++)
				for (number = 0;
				     run_error(argv[1], seed, number, errors[i], for_good);
				     number += 1 + number / 8)
					calls++;
		printf("seed %llu: %ld cuts, %ld calls that failed\n", (unsigned long long)seed,
		       cuts, calls);
	}
	return 0;
}
