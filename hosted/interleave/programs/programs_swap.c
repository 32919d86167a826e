/*
 * programs_swap.c - interleavings: pages of files in memory that are swapped out while programs
 * store to them, read them, cut them off, and while swap is to go.
 */
#include "core/memory/page_alloc.h"
#include "fs/file/file.h"
#include "hosted/harness/harness.h"
#include "hosted/interleave/worlds/worlds.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/machine/user.h"
#include "mm/swap/swap.h"

#define PAGE 0x10000000ull /* where programs map the file's first page */

static void begin(u32 pages)
{
	world_mount();
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
	for (u32 i = 0; i < pages; i++) {
		char byte = (char)('A' + i);

		CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, i * PAGE_SIZE, &byte, 1), 1);
	}
	if (pages)
		CHECK_EQUAL(truncate_path("/mnt/file", pages * PAGE_SIZE), 0);
}

static void end(void)
{
	CHECK_EQUAL(sys_swapoff("/swap"), 0);
	world_unmount();
}

static void check_byte(loff_t at, char wanted)
{
	char found = 1;

	CHECK_EQUAL(read_at("/mnt/file", at, &found, 1), 1);
	CHECK_EQUAL(found, wanted);
}

/* Pages of the file that are in memory, and those that are swapped out, are those charged for. */
static void check_blocks(u64 pages)
{
	struct inode *inode = inode_by_path("/mnt/file");

	CHECK_EQUAL(inode->blocks, pages * (PAGE_SIZE / 512));
	iput(inode);
}

static void swap_all_out(void *unused)
{
	(void)unused;
	swap_out(2);
	swap_out(2);
}

static void store_and_load(void *unused)
{
	(void)unused;
	CHECK_EQUAL(user_map(PAGE, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			     "/mnt/file", 0),
		    PAGE);
	for (char byte = 'a'; byte < 'd'; byte++) {
		char found = 0;

		CHECK_EQUAL(user_store(PAGE + 10, &byte, 1), 0);
		CHECK_EQUAL(user_load(PAGE + 10, &found, 1), 0);
		CHECK_EQUAL(found, byte);
	}
}

/* What is stored while a page is written to swap is not lost. */
RING_PROGRAM(shmem_stores, world_swap, 100)
{
	begin(1);
	user_start(mm_create(), store_and_load, NULL);
	task_start(swap_all_out, NULL);
	ring_run();
	check_byte(10, 'c');
	check_byte(0, 'A');
	check_blocks(1);
	end();
}

static void store_one(void *unused)
{
	char byte = 'b', found = 0;

	(void)unused;
	CHECK_EQUAL(user_store(PAGE + 10, &byte, 1), 0);
	for (unsigned i = 0; i < 3; i++, ring_user()) {
		CHECK_EQUAL(user_load(PAGE + 10, &found, 1), 0);
		CHECK_EQUAL(found, byte);
	}
}

static void load_twice(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2; i++, ring_user()) {
		char found = 0;

		CHECK_EQUAL(user_load(PAGE + 10, &found, 1), 0);
		CHECK(found == 'a' || found == 'b');
	}
}

static void bring_back_and_store(void *unused)
{
	char byte = 'a';

	(void)unused;
	CHECK_EQUAL(user_map(PAGE, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, NULL, 0),
		    PAGE);
	CHECK_EQUAL(user_store(PAGE + 10, &byte, 1), 0);
	swap_out(1);
	CHECK_EQUAL(user_load(PAGE + 10, &byte, 1), 0); /* back, and in the swap cache */
	user_start(user_share(), store_one, NULL);
	user_start(user_share(), load_twice, NULL);
	for (unsigned i = 0; i < 5; i++)
		swap_out(1);
}

/* A page of memory goes and comes back the same while a thread is about to store to it: the store
 * is not lost, though swap has the old bytes. */
RING_PROGRAM(swap_stores, world_swap, 100)
{
	world_mount();
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
	user_start(mm_create(), bring_back_and_store, NULL);
	ring_run();
	end();
}

static void write_and_read(void *unused)
{
	(void)unused;
	for (char byte = 'a'; byte < 'd'; byte++) {
		CHECK_EQUAL(write_at("/mnt/file", O_WRONLY, 20, &byte, 1), 1);
		check_byte(20, byte);
		check_byte(0, 'A');
	}
}

/* Nor what is written; and readers meet who reads the same page back. */
RING_PROGRAM(shmem_writes, world_swap, 100)
{
	begin(2);
	swap_out(2);
	task_start(write_and_read, NULL);
	user_start(mm_create(), store_and_load, NULL);
	task_start(swap_all_out, NULL);
	ring_run();
	check_byte(20, 'c');
	check_byte(10, 'c');
	check_byte(PAGE_SIZE, 'B');
	check_blocks(2);
	end();
}

static void cut(void *unused)
{
	(void)unused;
	CHECK_EQUAL(truncate_path("/mnt/file", PAGE_SIZE / 2), 0);
	CHECK_EQUAL(truncate_path("/mnt/file", 3 * PAGE_SIZE), 0);
	check_byte(PAGE_SIZE, 0);
	check_byte(2 * PAGE_SIZE, 0);
}

static void read_all(void *unused)
{
	(void)unused;
	for (u32 i = 0; i < 3; i++) {
		char found = 0;
		s64 n = read_at("/mnt/file", i * PAGE_SIZE, &found, 1);

		CHECK(n == 0 || (n == 1 && (found == 0 || found == (char)('A' + i))));
	}
}

/* What is cut off is gone, in memory and in swap, and charged for no more. */
RING_PROGRAM(shmem_cut, world_swap, 100)
{
	begin(3);
	swap_out(1);
	task_start(cut, NULL);
	task_start(swap_all_out, NULL);
	task_start(read_all, NULL);
	ring_run();
	check_byte(0, 'A');
	check_byte(PAGE_SIZE, 0);
	check_byte(2 * PAGE_SIZE, 0);
	check_blocks(1);
	end();
}

static void punch(void *unused)
{
	struct file *file = open_path("/mnt/file", O_RDWR, 0);

	(void)unused;
	down_write(&file->inode->lock);
	CHECK_EQUAL(file->inode->op->fallocate(file->inode,
					       FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					       PAGE_SIZE, 2 * PAGE_SIZE),
		    0);
	up_write(&file->inode->lock);
	fput(file);
	check_byte(PAGE_SIZE, 0);
	check_byte(2 * PAGE_SIZE, 0);
}

/* Beside punch(), and what else was started. */
static void swap_out_beside_punch(void)
{
	task_start(swap_all_out, NULL);
	ring_run();
	check_byte(PAGE_SIZE, 0);
	check_byte(2 * PAGE_SIZE, 0);
	check_blocks(1);
	end();
}

/* Nothing goes to swap behind truncation's back. */
RING_PROGRAM(shmem_gone, world_swap, 100)
{
	begin(3);
	task_start(punch, NULL);
	swap_out_beside_punch();
}

/* Of a hole readers bring nothing back. */
RING_PROGRAM(shmem_punch, world_swap, 100)
{
	begin(3);
	swap_out(2);
	task_start(punch, NULL);
	task_start(read_all, NULL);
	swap_out_beside_punch();
}

static void cut_and_reserve(void *unused)
{
	struct file *file = open_path("/mnt/file", O_RDWR, 0);

	(void)unused;
	CHECK_EQUAL(truncate_path("/mnt/file", 0), 0);
	down_write(&file->inode->lock);
	CHECK_EQUAL(file->inode->op->fallocate(file->inode, FALLOC_FL_KEEP_SIZE, 0, PAGE_SIZE), 0);
	up_write(&file->inode->lock);
	fput(file);
}

static void read_hole(void *unused)
{
	char byte = 0;
	s64 n = read_at("/mnt/file", 0, &byte, 1);

	(void)unused;
	CHECK((n == 0 || n == 1) && !byte);
}

/* What is reserved behind the end stays so, though a reader still looks for what was there. */
RING_PROGRAM(shmem_reserved, world_swap, 100)
{
	begin(0);
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "", 0), 0);
	CHECK_EQUAL(truncate_path("/mnt/file", PAGE_SIZE), 0);
	task_start(cut_and_reserve, NULL);
	task_start(read_hole, NULL);
	ring_run();
	check_blocks(1);
	end();
}

static void swap_off_and_on(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_swapoff("/swap"), 0);
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
}

/* swapoff meets who reads the same pages back, and who cuts them off. */
RING_PROGRAM(shmem_off, world_swap, 100)
{
	begin(3);
	swap_out(3);
	task_start(swap_off_and_on, NULL);
	task_start(cut, NULL);
	task_start(write_and_read, NULL);
	ring_run();
	check_byte(0, 'A');
	check_byte(20, 'c');
	check_byte(PAGE_SIZE, 0);
	end();
}

static void remove_file(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_unlink("/mnt/file"), 0);
}

/* A file goes while its pages are on their way out, or back. */
RING_PROGRAM(shmem_unlink, world_swap, 100)
{
	begin(3);
	swap_out(1);
	task_start(remove_file, NULL);
	task_start(swap_all_out, NULL);
	task_start(swap_off_and_on, NULL);
	ring_run();
	CHECK_EQUAL(swap_free_pages(), swap_total_pages());
	end();
}
