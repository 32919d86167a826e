/*
 * test_stores.c - what programs load and store while others sync, truncate and reclaim the same
 * file, with nothing that keeps them apart: no store is lost, and none is seen behind an end. The
 * order is drawn from the seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "core/sched/sched.h"
#include "mm/cache/page_cache.h"
#include "hosted/machine/user.h"

#define RW (PROT_READ | PROT_WRITE)
#define PAGES 8u
#define BYTES (PAGES * PAGE_SIZE)
#define PATH_OF_FILE "/mnt/f"

static struct hosted_disk disk;
static struct rng rng;
static unsigned tasks_left; /* those that sync and reclaim go on until it is 0 */
static u64 mapped;	    /* where the file is mapped, shared */

static unsigned pick(u64 n)
{
	return (unsigned)rng_below(&rng, n);
}

static void rest(unsigned most)
{
	for (unsigned n = (unsigned)rng_below(&disk_rng, most); n && tasks_left; n--)
		schedule();
}

static void run_sync(void *argument)
{
	struct file *file = open_path(PATH_OF_FILE, O_RDWR, 0);

	while (tasks_left) {
		CHECK_EQUAL(rng_below(&disk_rng, 2) ? vfs_fsync(file, false)
						    : sys_msync(mapped, BYTES, MS_SYNC),
			    0);
		rest(20);
	}
	fput(file);
}

static void run_reclaim(void *argument)
{
	while (tasks_left) {
		/* what is mapped loses its mappings, then its second chance, then goes */
		for (unsigned n = 0; n < 3; n++)
			drop_clean_pages();
		rest(6);
	}
}

static void prepare(void)
{
	hosted_init(16);
	disk_create(&disk, "ram0", 0, MB(2));
	disk.asynchronous = true;
	image_make(&disk, 1024, 2048, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
}

/* The file is there, full of @byte, and mapped; @tasks are to begin. */
static void begin(u64 seed, int byte, unsigned tasks)
{
	static unsigned char data[BYTES];

	test_where("seed %llu", (unsigned long long)seed);
	rng.state = seed;
	disk_rng.state = seed + 1;
	tasks_left = tasks;
	memset(data, byte, BYTES);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(write_at(PATH_OF_FILE, O_CREAT | O_TRUNC | O_RDWR, 0, data, BYTES), BYTES);
	user_enter(mm_create());
	mapped = (u64)user_map(0, BYTES, RW, MAP_SHARED, PATH_OF_FILE, 0);
	CHECK((s64)mapped > 0);
}

static void end(void)
{
	user_leave();
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
}

/* ---- no store is lost ------------------------------------------------------------------------ */

#define LANE 512u /* of each page each task stores in one of its own */
#define STORES 25

static unsigned char expected[BYTES];
static u64 size;

static void store(u64 at, unsigned length)
{
	unsigned char data[64];

	memset(data, (int)(1 + pick(255)), length);
	CHECK_EQUAL(user_store(mapped + at, data, length), 0);
	memcpy(expected + at, data, length);
}

static void run_stores(void *argument)
{
	unsigned lane = *(unsigned *)argument;

	for (unsigned n = 0; n < STORES; n++) {
		/* pages that are in the file all the time */
		store(pick(3) * PAGE_SIZE + lane * LANE + pick(LANE - 64), 1 + pick(64));
		if (!pick(3))
			schedule();
	}
	tasks_left--;
}

/* Makes the file longer, and stores there. */
static void run_extend(void *argument)
{
	while (size < BYTES - 700) {
		u64 old = size;

		size += 1 + pick(700);
		if (pick(2)) {
			CHECK_EQUAL(truncate_path(PATH_OF_FILE, (loff_t)size), 0);
		} else {
			CHECK_EQUAL(write_at(PATH_OF_FILE, O_RDWR, (loff_t)size - 1, "x", 1), 1);
			expected[size - 1] = 'x';
		}
		for (unsigned n = pick(3); n; n--) {
			unsigned length = 1 + pick(min(size - old, 64ULL));

			store(old + pick(size - old - length + 1), length);
		}
	}
	tasks_left--;
}

/* After the last sync the disk has all, whatever the kernel would write later. */
static void stores_sequence(u64 seed, bool extend, unsigned char *image)
{
	static unsigned lanes[] = {0, 1};
	static unsigned char data[BYTES];
	struct file *file;

	begin(seed, 0, 2 + extend);
	size = 3 * PAGE_SIZE + pick(500);
	memset(expected, 0, sizeof(expected));
	CHECK_EQUAL(truncate_path(PATH_OF_FILE, (loff_t)size), 0);
	user_start(user_share(), run_stores, &lanes[0]);
	user_start(mm_fork(current->mm), run_stores, &lanes[1]);
	if (extend)
		user_start(user_share(), run_extend, NULL);
	user_start(user_share(), run_sync, NULL);
	task_start(run_reclaim, NULL);
	tasks_wait();
	file = open_path(PATH_OF_FILE, O_RDWR, 0);
	CHECK_EQUAL(vfs_fsync(file, false), 0);
	fput(file);
	image_keep(&disk, image);
	end();
	image_check(&disk);
	image_restore(&disk, image);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(read_at(PATH_OF_FILE, 0, data, BYTES), size);
	for (u64 at = 0; at < size; at++)
		if (data[at] != expected[at]) {
			test_failed(__FILE__, __LINE__, "byte %llu of %llu is %u, not %u",
				    (unsigned long long)at, (unsigned long long)size, data[at],
				    expected[at]);
			break;
		}
	CHECK_EQUAL(umount_disk(), 0);
}

static void stores(unsigned count, bool extend)
{
	u64 first = test_seed();

	prepare();
	hosted_quiet = true; /* the images are of a mounted file system, as the log says each time */
	unsigned char *image = malloc(disk.bytes), *fresh = malloc(disk.bytes);
	image_keep(&disk, fresh);
	count = test_scaled(count);
	for (u64 seed = first; seed < first + count; seed++) {
		/* not the last one's: what a mounted file system had freed is lost to it without e2fsck */
		memcpy(disk.image, fresh, disk.bytes);
		stores_sequence(seed, extend, image);
	}
	free(image);
	free(fresh);
}

TEST(stores_while_synced)
{
	stores(150, false);
}

TEST(stores_while_extended)
{
	stores(150, true);
}

/* ---- nothing is seen behind an end ----------------------------------------------------------- */

#define ROUNDS 6
#define LOADERS 3

static u64 behind; /* where a private mapping lies */

static void run_loads(void *argument)
{
	while (tasks_left) {
		u64 at = (pick(3) ? mapped : behind) + pick(BYTES);
		unsigned char byte = 0;
		int signal = user_load(at, &byte, 1);

		CHECK(signal == USER_SIGBUS || (!signal && (byte == 0 || byte == 'f')));
		if (at >= behind && at < behind + BYTES && !pick(4))
			user_store(at, "f", 1);
		if (pick(4))
			schedule();
	}
}

/* What a truncation took is not seen again when the file has grown: neither the pages nor, in
 * private memory, what was made of them before. */
static void run_truncate(void *argument)
{
	static unsigned char data[BYTES];

	memset(data, 'f', sizeof(data));
	for (unsigned round = 0; round < ROUNDS; round++) {
		/* within a block truncation itself must read first, and all others get on */
		u64 length = pick(2) ? pick(BYTES) : pick(PAGES) * PAGE_SIZE;

		CHECK_EQUAL(write_at(PATH_OF_FILE, O_RDWR, 0, data, BYTES), BYTES);
		sys_sync();
		for (unsigned n = pick(8); n; n--)
			schedule();
		CHECK_EQUAL(truncate_path(PATH_OF_FILE, (loff_t)length), 0);
		for (unsigned n = pick(4); n; n--)
			schedule();
		if (round_up(length, PAGE_SIZE) < BYTES)
			CHECK_EQUAL(user_load(mapped + round_up(length, PAGE_SIZE), data, 1),
				    USER_SIGBUS);
		CHECK_EQUAL(truncate_path(PATH_OF_FILE, BYTES), 0);
		for (unsigned at = 0; at < BYTES; at += PAGE_SIZE / 16) {
			unsigned char byte = 1;

			CHECK_EQUAL(user_load(mapped + at, &byte, 1), 0);
			CHECK_EQUAL(byte, at < length ? 'f' : 0);
		}
	}
	tasks_left--;
}

static void truncate_sequence(u64 seed)
{
	begin(seed, 'f', 1);
	behind = (u64)user_map(0, BYTES, RW, MAP_PRIVATE, PATH_OF_FILE, 0);
	for (unsigned n = 0; n < LOADERS; n++)
		user_start(n ? user_share() : mm_fork(current->mm), run_loads, NULL);
	user_start(user_share(), run_truncate, NULL);
	task_start(run_reclaim, NULL);
	tasks_wait();
	end();
}

TEST(loads_while_truncated)
{
	unsigned count = test_scaled(100);
	u64 first = test_seed();

	prepare();
	for (u64 seed = first; seed < first + count; seed++)
		truncate_sequence(seed);
	image_check(&disk);
}
