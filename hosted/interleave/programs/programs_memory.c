/*
 * programs_memory.c - interleavings: programs' memory. Tasks load and store through mappings
 * (hosted/machine/user.h) while the files are written out, cut, and their frames reclaimed.
 */
#include <string.h>

#include "fs/block/dirty.h"
#include "fs/file/file.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "core/memory/page_alloc.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/machine/user.h"
#include "hosted/interleave/worlds/worlds.h"

#define PAGE 0x10000000ull /* where programs map the file's first page */

static void make_file(u64 bytes)
{
	static const char zeros[PAGE_SIZE];

	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, zeros, bytes), bytes);
}

static void map_file(void)
{
	CHECK_EQUAL(user_map(PAGE, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			     "/mnt/file", 0),
		    PAGE);
}

static void store_byte(u64 offset, char byte)
{
	CHECK_EQUAL(user_store(PAGE + offset, &byte, 1), 0);
}

static char load_byte(u64 offset)
{
	char byte = 0;

	CHECK_EQUAL(user_load(PAGE + offset, &byte, 1), 0);
	return byte;
}

static void check_file(u64 offset, char byte)
{
	char found = 0;

	CHECK_EQUAL(read_at("/mnt/file", (loff_t)offset, &found, 1), 1);
	CHECK_EQUAL(found, byte);
}

static void turn_the_clock(void *unused)
{
	(void)unused;
	drop_clean_pages();
}

/* ---- stores are not lost ------------------------------------------------------------------------
 */

static void extend_and_store(void *unused)
{
	(void)unused;
	map_file();
	store_byte(10, 'a');
	CHECK_EQUAL(truncate_path("/mnt/file", 3000), 0);
	store_byte(200, 'b'); /* behind what was the end */
	store_byte(2900, 'c');
	CHECK_EQUAL(load_byte(200), 'b');
}

/* What a program stores in a file that grows stays there, whoever writes the page out meanwhile. */
RING_PROGRAM(map_extend, world_memory, 100)
{
	world_mount();
	make_file(100);
	user_start(mm_create(), extend_and_store, NULL);
	task_start(world_write_back, NULL);
	ring_run();
	check_file(10, 'a');
	check_file(200, 'b');
	check_file(2900, 'c');
	world_unmount();
}

static void store_again(void *unused)
{
	(void)unused;
	map_file();
	for (char byte = 'a'; byte < 'd'; byte++) {
		store_byte(10, byte);
		CHECK_EQUAL(load_byte(10), byte);
	}
}

static ino_t sync_file(void)
{
	struct file *file = open_path("/mnt/file", O_RDWR, 0);
	ino_t number = file->inode->number;

	CHECK_EQUAL(vfs_fsync(file, false), 0);
	fput(file);
	return number;
}

static void check_on_disk(u64 offset, char byte)
{
	char found = 0;

	CHECK_EQUAL(world_on_disk(sync_file(), (loff_t)offset, &found, 1), 1);
	CHECK_EQUAL(found, byte);
}

/* A page that is stored to while it is written out is dirty again, and known to be. */
RING_PROGRAM(map_writeback, world_memory, 100)
{
	world_mount();
	make_file(100);
	user_start(mm_create(), store_again, NULL);
	task_start(world_write_back, NULL);
	ring_run();
	check_on_disk(10, 'c');
	world_unmount();
}

/* The same while reclaim takes the mapping away. */
RING_PROGRAM(map_reclaim, world_memory, 100)
{
	world_mount();
	make_file(100);
	user_start(mm_create(), store_again, NULL);
	task_start(turn_the_clock, NULL);
	task_start(world_write_back, NULL);
	ring_run();
	check_on_disk(10, 'c');
	world_unmount();
}

static void store_behind_the_end(void *unused)
{
	(void)unused;
	map_file();
	store_byte(200, 'x');
	sync_file();
}

/* What is stored behind the end never reaches the disk, where the file would have it as it grows. */
RING_PROGRAM(map_behind_end, world_memory, 100)
{
	world_mount();
	make_file(100);
	user_start(mm_create(), store_behind_the_end, NULL);
	task_start(world_write_back, NULL);
	task_start(world_write_back, NULL);
	ring_run();
	CHECK_EQUAL(truncate_path("/mnt/file", 1000), 0);
	check_on_disk(200, 0);
	world_unmount();
}

/* ---- a page that goes while it is touched -------------------------------------------------------
 */

static void touch(void *unused)
{
	char byte = 'x';

	(void)unused;
	map_file();
	for (unsigned i = 0; i < 2; i++) { /* there, or behind the end */
		int signal = user_store(PAGE + 10, &byte, 1);

		CHECK(signal == 0 || signal == USER_SIGBUS);
		signal = user_load(PAGE + 10, &byte, 1);
		CHECK(signal == USER_SIGBUS || byte == 'x' || byte == 0);
		byte = 'x';
	}
}

static void cut_and_extend(void *unused)
{
	(void)unused;
	CHECK_EQUAL(truncate_path("/mnt/file", 0), 0);
	CHECK_EQUAL(truncate_path("/mnt/file", 50), 0);
}

RING_PROGRAM(map_truncate, world_memory, 100)
{
	world_mount();
	make_file(100);
	user_start(mm_create(), touch, NULL);
	task_start(cut_and_extend, NULL);
	if (rng_below(&ring_program_rng, 2))
		task_start(turn_the_clock, NULL);
	ring_run();
	world_unmount();
}

/* ---- fork, and threads of one program -----------------------------------------------------------
 */

static void map_private(void)
{
	CHECK_EQUAL(
		user_map(PAGE, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, NULL, 0),
		PAGE);
}

static void store_own(void *argument)
{
	char byte = *(const char *)argument;

	CHECK_EQUAL(load_byte(10), 'p'); /* what it was at the fork */
	store_byte(10, byte);
	CHECK_EQUAL(load_byte(10), byte);
}

static void fork_twice(void *unused)
{
	static const char bytes[] = {'c', 'd'};

	(void)unused;
	map_private();
	store_byte(10, 'p');
	user_start(mm_fork(current->mm), store_own, (void *)&bytes[0]);
	store_byte(20, 'q');
	user_start(mm_fork(current->mm), store_own, (void *)&bytes[1]);
	store_byte(10, 'r');
	CHECK_EQUAL(load_byte(10), 'r');
	CHECK_EQUAL(load_byte(20), 'q');
}

/* Copies on writing: each sees its own. */
RING_PROGRAM(fork_copies, world_memory, 100)
{
	world_mount();
	user_start(mm_create(), fork_twice, NULL);
	ring_run();
	world_unmount();
}

static void store_beside(void *argument)
{
	u64 offset = *(const u64 *)argument;

	for (char byte = 'a'; byte < 'c'; byte++) {
		store_byte(offset, byte);
		CHECK_EQUAL(load_byte(offset), byte);
	}
}

static void two_threads(void *unused)
{
	static const u64 offsets[] = {100, 200};

	(void)unused;
	map_private();
	user_start(user_share(), store_beside, (void *)&offsets[0]);
	user_start(mm_fork(current->mm), store_beside, (void *)&offsets[1]);
	store_beside((void *)&offsets[1]);
}

/* Two threads store into one page, while a fork makes it one that is copied. */
RING_PROGRAM(threads_fork, world_memory, 100)
{
	world_mount();
	user_start(mm_create(), two_threads, NULL);
	ring_run();
	world_unmount();
}

static bool stored;

static void store_and_tell(void *unused)
{
	(void)unused;
	store_byte(11, 'c');
	WRITE_ONCE(stored, true);
}

static void look_when_told(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 4; i++, ring_user()) {
		bool told = READ_ONCE(stored);
		char byte = load_byte(11);

		if (told)
			CHECK_EQUAL(byte, 'c');
	}
}

static void three_threads(void *unused)
{
	(void)unused;
	stored = false;
	map_private();
	store_byte(10, 'p');
	struct mm *copy = mm_fork(current->mm);
	user_start(user_share(), store_and_tell, NULL);
	user_start(user_share(), look_when_told, NULL);
	store_byte(10, 'a');
	mm_put(copy);
}

/* A page is copied: what one thread stores in the copy another sees, when it knows of it. */
RING_PROGRAM(threads_copy, world_memory, 100)
{
	world_mount();
	user_start(mm_create(), three_threads, NULL);
	ring_run();
	world_unmount();
}

/* ---- a page frame used again --------------------------------------------------------------------
 */

static void remove_and_write(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/one", 0), 0);
	CHECK_EQUAL(write_at("/mnt/two", O_CREAT | O_WRONLY, 0, "two", 3), 3);
}

/* A page goes and its frame becomes another's while reclaim looks at it. */
static void frames(void)
{
	world_mount();
	CHECK_EQUAL(write_at("/mnt/one", O_CREAT | O_WRONLY, 0, "one", 3), 3);
	drop_clean_pages(); /* no page counts as used lately */
	task_start(remove_and_write, NULL);
	task_start(turn_the_clock, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(frames_ext2, world_ext2, 100)
{
	frames();
}

RING_PROGRAM(frames_tmpfs, world_tmpfs, 100)
{
	frames();
}

static void read_often(void *argument)
{
	struct file *file = argument;

	for (int i = 0; i < 6; i++, ring_user()) {
		char text[4] = "";
		struct io io = {.base = text, .length = 3};
		loff_t at = 0;

		if (vfs_read(file, &io, &at) == 3)
			CHECK(strcmp(text, "one") == 0);
	}
}

static void empty_and_write(void *unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++, ring_user()) {
		CHECK_EQUAL(sys_truncate("/mnt/one", 0), 0);
		CHECK_EQUAL(write_at("/mnt/two", O_CREAT | O_WRONLY, 0, "two", 3), 3);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/two", 0), 0);
		CHECK_EQUAL(write_at("/mnt/one", O_WRONLY, 0, "one", 3), 3);
	}
}

/* A page goes and its frame becomes another's while somebody looks it up: nobody reads another's. */
RING_PROGRAM(frames_read, world_tmpfs, 100)
{
	world_mount();
	CHECK_EQUAL(write_at("/mnt/one", O_CREAT | O_WRONLY, 0, "one", 3), 3);
	struct file *file = open_path("/mnt/one", O_RDONLY, 0);
	task_start(read_often, file);
	task_start(read_often, file);
	task_start(empty_and_write, NULL);
	ring_run();
	fput(file);
	world_unmount();
}
