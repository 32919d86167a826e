/*
 * test_spaces.c - random sequences of what programs do with memory, against a model (spaces.h).
 *
 * Several threads in several address spaces do one operation each in turn, under one mutex, and
 * compare. Meanwhile others sync and reclaim as they like, which nobody may notice. In the end all
 * is compared once more, after the files have been read back from the disk. A seed repeats a
 * sequence.
 */
#include <stdio.h>
#include <string.h>

#include "core/memory/shrinker.h"
#include "core/sched/sched.h"
#include "mm/cache/page_cache.h"
#include "mm/swap/swap.h"
#include "hosted/tests/spaces/spaces.h"

#define SWAP_PAGES 128
#define THREADS 5u
#define OPERATIONS 100 /* of each thread */

static DEFINE_MUTEX(turn);
static unsigned threads_left; /* at 0 the others end, too */
static u64 operations, swapped;
static bool with_swap;

static void run_thread(void *argument)
{
	struct space *space = argument;

	for (unsigned n = 0; n < OPERATIONS; n++) {
		mutex_lock(&turn);
		if (current->mm != space->mm) {
			atomic_inc(&space->mm->users);
			user_enter(space->mm);
		}
		operations++;
		random_operation(space);
		mutex_unlock(&turn);
		cond_resched();
	}
	threads_left--;
}

static void run_sync(void *argument)
{
	while (threads_left) {
		sys_sync();
		for (unsigned n = (unsigned)rng_below(&disk_rng, 20); n && threads_left; n--)
			schedule();
	}
}

static void run_reclaim(void *argument)
{
	while (threads_left) {
		reclaim_pages(1 + rng_below(&disk_rng, 50));
		for (unsigned n = (unsigned)rng_below(&disk_rng, 20); n && threads_left; n--)
			schedule();
	}
}

/* ---- swap ------------------------------------------------------------------------------------ */

static struct hosted_disk swap_disk;

static void begin_swap(bool first)
{
	hosted_quiet = true;
	if (first)
		swap_disk_create(&swap_disk, SWAP_PAGES);
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
}

/* Swaps out whatever there is, and now and then gives swap up. */
static void run_swap(void *argument)
{
	while (threads_left) {
		swapped += swap_out(1 + rng_below(&disk_rng, 40));
		for (unsigned n = (unsigned)rng_below(&disk_rng, 10); n && threads_left; n--)
			schedule();
		if (rng_below(&disk_rng, 10))
			continue;
		CHECK_EQUAL(sys_swapoff("/swap"), 0);
		begin_swap(false);
	}
}

/* ---- a sequence ------------------------------------------------------------------------------ */

static void check_spaces(void)
{
	unsigned char data[PAGE_SIZE];

	for (struct space *space = spaces; space < spaces + SPACES; space++) {
		atomic_inc(&space->mm->users);
		user_enter(space->mm);
		for (unsigned n = 0; n < WINDOW; n++) {
			int signal = user_load(page_start(n), data, PAGE_SIZE);

			CHECK_EQUAL(signal, signal_for(&space->pages[n], PROT_READ));
			for (unsigned i = 0; i < PAGE_SIZE && !signal; i++)
				if (data[i] != byte_of(&space->pages[n], i)) {
					CHECK_EQUAL(data[i], byte_of(&space->pages[n], i));
					break;
				}
		}
	}
	user_leave();
}

static int mount_files(bool ext2)
{
	return ext2 ? mount_disk("ram0", 0) : (int)sys_mount("", "/mnt", "tmpfs", 0, "");
}

static void spaces_sequence(u64 seed, bool ext2)
{
	test_where("seed %llu", (unsigned long long)seed);
	spaces_rng.state = seed;
	disk_rng.state = seed + 1;
	threads_left = THREADS;
	CHECK_EQUAL(mount_files(ext2), 0);
	for (unsigned n = 0; n < FILES; n++) {
		memset(&files[n], 0, sizeof(files[n]));
		snprintf(files[n].path, sizeof(files[n].path), "/mnt/%u", n);
		files[n].open = open_path(files[n].path, O_CREAT | O_TRUNC | O_RDWR, 0644);
		CHECK(!IS_ERR(files[n].open));
	}
	for (struct space *space = spaces; space < spaces + SPACES; space++)
		*space = (struct space){.mm = mm_create()};
	for (unsigned n = 0; n < THREADS; n++)
		task_start(run_thread, &spaces[n % SPACES]);
	task_start(run_sync, NULL);
	task_start(run_reclaim, NULL);
	if (with_swap)
		task_start(run_swap, NULL);
	tasks_wait();
	if (with_swap)
		swapped += swap_out(2 * SPACES * WINDOW);
	check_spaces();
	for (struct space *space = spaces; space < spaces + SPACES; space++) {
		unmap_model(space, 0, WINDOW);
		mm_put(space->mm);
	}
	for (unsigned n = 0; n < FILES; n++)
		fput(files[n].open);
	if (ext2) {
		CHECK_EQUAL(umount_disk(), 0);
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
	}
	for (unsigned n = 0; n < FILES; n++)
		check_file(&files[n], 0, FILE_BYTES);
	CHECK_EQUAL(umount_disk(), 0);
	drop_clean_pages(); /* read ahead for who has ended meanwhile */
	if (with_swap)
		CHECK_EQUAL(swap_free_pages(), SWAP_PAGES - 1);
	leak_check();
}

static void sequences(unsigned count, bool ext2)
{
	static struct hosted_disk disk;
	u64 first = test_seed();

	hosted_init(16);
	disk_create(&disk, "ram0", 0, MB(4));
	disk.asynchronous = true;
	image_make(&disk, 1024, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_files(ext2), 0);
	CHECK_EQUAL(umount_disk(), 0);
	if (with_swap)
		begin_swap(true);
	leak_mark();
	count = test_scaled(count);
	for (u64 seed = first; seed < first + count; seed++)
		spaces_sequence(seed, ext2);
	image_check(&disk);
	printf("# %u sequences from seed %llu: %llu operations, %llu pages swapped out\n", count,
	       (unsigned long long)first, (unsigned long long)operations,
	       (unsigned long long)swapped);
}

TEST(spaces_tmpfs)
{
	sequences(100, false);
}

TEST(spaces_ext2)
{
	sequences(100, true);
}

TEST(spaces_swap)
{
	with_swap = true;
	sequences(100, true);
	CHECK(swapped > test_scaled(1000));
}
