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
#include "hosted/tests/spaces/spaces.h"

#define THREADS 5u
#define OPERATIONS 100 /* of each thread */

static DEFINE_MUTEX(turn);
static unsigned threads_left; /* at 0 the others end, too */
static u64 operations;

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
	tasks_wait();
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
	leak_mark();
	count = test_scaled(count);
	for (u64 seed = first; seed < first + count; seed++)
		spaces_sequence(seed, ext2);
	image_check(&disk);
	printf("# %u sequences from seed %llu: %llu operations\n", count, (unsigned long long)first,
	       (unsigned long long)operations);
}

TEST(spaces_tmpfs)
{
	sequences(100, false);
}

TEST(spaces_ext2)
{
	sequences(100, true);
}
