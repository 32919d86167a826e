/*
 * test_shmem.c - files in memory whose pages are swapped out (mm/swap/shmem.c): against a model of
 * their bytes, and when reads, writes and allocations fail.
 */
#include <string.h>

#include "core/sched/sched.h"
#include "hosted/harness/harness.h"
#include "hosted/machine/user.h"
#include "mm/swap/swap.h"

#define SLOTS 256u
#define PAGES 100u

static struct hosted_disk disk;

static void begin(void)
{
	hosted_init(16);
	hosted_quiet = true;
	swap_disk_create(&disk, SLOTS);
	leak_mark();
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
}

static void end(void)
{
	CHECK_EQUAL(sys_unlink("/file"), 0);
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1);
	CHECK_EQUAL(sys_swapoff("/swap"), 0);
	leak_check();
}

/* A file of PAGES pages, each with its number and @seed in it. */
static void fill(u32 seed)
{
	for (u32 i = 0; i < PAGES; i++) {
		u32 words[2] = {i, seed};

		CHECK_EQUAL(write_at("/file", O_WRONLY | O_CREAT, i * PAGE_SIZE + 8, words,
				     sizeof(words)),
			    sizeof(words));
	}
}

/* How many pages can't be read; all others are right. */
static unsigned check(u32 seed)
{
	unsigned lost = 0;

	for (u32 i = 0; i < PAGES; i++) {
		u32 words[2];
		s64 n = read_at("/file", i * PAGE_SIZE + 8, words, sizeof(words));

		if (n < 0) {
			CHECK_EQUAL(n, -EIO);
			lost++;
			continue;
		}
		CHECK_EQUAL(words[0], i);
		CHECK_EQUAL(words[1], seed);
	}
	return lost;
}

static u64 blocks(void)
{
	struct inode *inode = inode_by_path("/file");
	u64 found = inode->blocks;

	iput(inode);
	return found;
}

TEST(shmem_out_and_in)
{
	begin();
	fill(1);
	CHECK_EQUAL(blocks(), PAGES * 8);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	CHECK_EQUAL(memory_use_total(MEMORY_SHMEM), 0);
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1 - PAGES);
	CHECK_EQUAL(blocks(), PAGES * 8);
	CHECK_EQUAL(check(1), 0);
	CHECK_EQUAL(memory_use_total(MEMORY_SHMEM), PAGES);
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	fill(2); /* parts of pages */
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	CHECK_EQUAL(check(2), 0);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	end(); /* unlinked while it is out */
}

TEST(shmem_failed_writes_lose_nothing)
{
	begin();
	fill(3);
	for (unsigned one_in = 1; one_in < 4; one_in++) {
		disk.fail_one_in = one_in;
		swap_out(PAGES);
		disk.fail_one_in = 0;
		CHECK_EQUAL(check(3), 0);
	}
	CHECK(disk.failed > 0);
	disk.fail_one_in = 1;
	swap_out(PAGES);
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1);
	CHECK_EQUAL(memory_use_total(MEMORY_SHMEM), PAGES);
	disk.fail_one_in = 0;
	end();
}

/* EIO for who reads, SIGBUS for who has it mapped; nobody else, and only while it fails. */
TEST(shmem_failed_reads)
{
	begin();
	fill(4);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	user_enter(mm_create());
	u64 memory =
		(u64)user_map(0, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, "/file", 0);
	disk.fail_one_in = 3;
	unsigned lost = 0;
	for (u32 i = 0; i < PAGES; i++) {
		u32 word = ~0u;
		int signal = user_load(memory + i * PAGE_SIZE + 8, &word, sizeof(word));

		lost += signal != 0;
		CHECK(signal ? signal == USER_SIGBUS : word == i);
	}
	CHECK(lost > 0 && lost < PAGES);
	disk.fail_one_in = 1;
	CHECK(check(4) > 0);
	u32 word = 7;
	CHECK_EQUAL(swap_out(PAGES) > 0 || swap_free_pages() < SLOTS - 1, true);
	for (u32 i = 0; i < PAGES; i++) { /* nor may a part of it be written */
		s64 n = write_at("/file", O_WRONLY, i * PAGE_SIZE, &word, sizeof(word));

		CHECK(n == sizeof(word) || n == -EIO);
	}
	CHECK_EQUAL(sys_swapoff("/swap"), -EIO);
	disk.fail_one_in = 0;
	CHECK_EQUAL(check(4), 0);
	user_leave();
	end();
}

/* What a failed read leaves in the page cache is not in the way of a swapoff when the disk is well. */
TEST(shmem_off_after_failed_reads)
{
	begin();
	fill(6);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	disk.fail_one_in = 1;
	CHECK_EQUAL(check(6), PAGES);
	disk.fail_one_in = 0;
	CHECK_EQUAL(sys_swapoff("/swap"), 0);
	CHECK_EQUAL(check(6), 0);
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
	end();
}

TEST(shmem_no_memory)
{
	unsigned reads = 0, offs = 0;

	begin();
	fill(5);
	for (int n = 1; n < 60; n++) {
		hosted_fail_after = n;
		swap_out(PAGES);
		hosted_fail_after = n;
		for (u32 i = 0; i < PAGES; i += 3) {
			u32 word = ~0u;
			s64 got = read_at("/file", i * PAGE_SIZE + 8, &word, sizeof(word));

			reads += got < 0;
			CHECK(got < 0 ? got == -ENOMEM || got == -ENFILE : word == i);
		}
		hosted_fail_after = n;
		int error = (int)sys_swapoff("/swap");

		offs += error != 0;
		CHECK(!error || error == -ENOMEM || error == -EIO);
		hosted_fail_after = 0;
		CHECK_EQUAL(check(5), 0);
		if (!error)
			CHECK_EQUAL(sys_swapon("/swap", 0), 0);
	}
	printf("# %u reads and %u swapoffs failed\n", reads, offs);
	CHECK(reads > 20 && offs > 20);
	end();
}

TEST(shmem_off)
{
	begin();
	fill(6);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	CHECK_EQUAL(sys_swapoff("/swap"), 0);
	CHECK_EQUAL(memory_use_total(MEMORY_SHMEM), PAGES);
	CHECK_EQUAL(check(6), 0);
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
	end();
}

/* ---- against a model ------------------------------------------------------------------------- */

#define MODEL_PAGES 40u
#define HALF (PAGE_SIZE / 2)

/* Halves of pages, each of one byte; beyond the size there is nothing. */
static u8 model[2 * MODEL_PAGES];
static bool data[MODEL_PAGES]; /* pages that are no holes */
static u32 halves;

static void model_write(struct rng *rng)
{
	static u8 bytes[HALF];
	u32 at = rng_below(rng, 2 * MODEL_PAGES);
	u8 byte = (u8)(1 + rng_below(rng, 255));

	memset(bytes, byte, HALF);
	CHECK_EQUAL(write_at("/file", O_WRONLY, at * HALF, bytes, HALF), HALF);
	model[at] = byte;
	data[at / 2] = true;
	halves = max(halves, at + 1);
}

static void model_truncate(struct rng *rng)
{
	u32 to = rng_below(rng, 2 * MODEL_PAGES);

	CHECK_EQUAL(truncate_path("/file", to * HALF), 0);
	memset(model + to, 0, 2 * MODEL_PAGES - to);
	for (u32 i = DIV_ROUND_UP(to, 2); to <= halves && i < MODEL_PAGES; i++)
		data[i] = false;
	halves = to;
}

static void model_punch(struct rng *rng)
{
	u32 from = rng_below(rng, 2 * MODEL_PAGES), n = 1 + rng_below(rng, 12);
	struct file *file = open_path("/file", O_RDWR, 0);

	n = min(n, 2 * MODEL_PAGES - from);
	down_write(&file->inode->lock);
	CHECK_EQUAL(file->inode->op->fallocate(file->inode,
					       FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					       from * HALF, n * HALF),
		    0);
	up_write(&file->inode->lock);
	fput(file);
	memset(model + from, 0, n);
	for (u32 i = DIV_ROUND_UP(from, 2); i < (from + n) / 2; i++)
		data[i] = false;
}

static void model_check(void)
{
	static u8 bytes[HALF];
	u32 pages = 0;

	for (u32 i = 0; i < halves; i++) {
		CHECK_EQUAL(read_at("/file", i * HALF, bytes, HALF), HALF);
		for (u32 n = 0; n < HALF; n++)
			CHECK_EQUAL(bytes[n], model[i]);
	}
	for (u32 i = 0; i < MODEL_PAGES; i++)
		pages += data[i];
	CHECK_EQUAL(blocks(), pages * 8);
}

static void model_seek(struct rng *rng)
{
	u32 from = rng_below(rng, MODEL_PAGES), next = from;
	struct inode *inode = inode_by_path("/file");
	bool hole = rng_below(rng, 2);
	loff_t found;

	while (next < MODEL_PAGES && data[next] == hole)
		next++;
	if (from * 2 < halves) {
		int error = inode->op->seek(inode, from * PAGE_SIZE, hole, &found);
		loff_t wanted = min((loff_t)(next * PAGE_SIZE), (loff_t)(halves * HALF));

		if (!hole && wanted == (loff_t)(halves * HALF))
			CHECK_EQUAL(error, -ENXIO);
		else
			CHECK_EQUAL(error ? error : found, wanted);
	}
	iput(inode);
}

TEST(shmem_is_as_its_model)
{
	struct rng rng = {test_seed()};

	begin();
	write_at("/file", O_WRONLY | O_CREAT, 0, "", 0);
	halves = 0;
	memset(model, 0, sizeof(model));
	memset(data, 0, sizeof(data));
	for (unsigned n = 0; n < test_scaled(20000); n++) {
		switch (rng_below(&rng, 12)) {
		case 0:
			model_truncate(&rng);
			break;
		case 1:
			model_punch(&rng);
			break;
		case 2:
		case 3:
			swap_out(1 + rng_below(&rng, 20));
			break;
		case 4:
			model_seek(&rng);
			break;
		case 5:
			if (rng_below(&rng, 20) == 0)
				model_check();
			break;
		default:
			model_write(&rng);
		}
	}
	model_check();
	end();
}

/* ---- at once --------------------------------------------------------------------------------- */

static void change_all(void *argument)
{
	u32 seed = (u32)(uintptr_t)argument;

	for (u32 round = 0; round < 5; round++)
		for (u32 i = seed; i < PAGES; i += 2) {
			u32 words[2] = {i, round};

			CHECK_EQUAL(write_at("/file", O_WRONLY, i * PAGE_SIZE + 8, words,
					     sizeof(words)),
				    sizeof(words));
			CHECK_EQUAL(read_at("/file", i * PAGE_SIZE + 8, words, sizeof(words)),
				    sizeof(words));
			CHECK(words[0] == i && words[1] == round);
			cond_resched();
		}
}

static void cut_and_punch(void *argument)
{
	for (u32 i = 0; i < 40; i++) {
		CHECK_EQUAL(truncate_path("/cut", 0), 0);
		for (u32 page = 0; page < 20; page++)
			CHECK_EQUAL(
				write_at("/cut", O_WRONLY, page * PAGE_SIZE, &page, sizeof(page)),
				sizeof(page));
		CHECK_EQUAL(truncate_path("/cut", 10 * PAGE_SIZE + i), 0);
		CHECK_EQUAL(truncate_path("/cut", 20 * PAGE_SIZE), 0);
		for (u32 page = 0; page < 20; page++) {
			u32 word = ~0u;

			CHECK_EQUAL(read_at("/cut", page * PAGE_SIZE, &word, sizeof(word)),
				    sizeof(word));
			CHECK_EQUAL(word, page < 10 || (page == 10 && i) ? page : 0);
			cond_resched();
		}
	}
}

static void swap_all_out(void *argument)
{
	for (u32 i = 0; i < 100; i++) {
		swap_out(PAGES);
		sleep_ns(1000);
	}
}

TEST(shmem_while_used)
{
	begin();
	fill(0);
	write_at("/cut", O_WRONLY | O_CREAT, 0, "", 0);
	task_start(change_all, (void *)0);
	task_start(change_all, (void *)1);
	task_start(cut_and_punch, NULL);
	task_start(swap_all_out, NULL);
	tasks_wait();
	CHECK_EQUAL(check(4), 0);
	CHECK_EQUAL(sys_unlink("/cut"), 0);
	end();
}
