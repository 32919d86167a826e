/*
 * test_swap.c - swap when something fails: reads, writes, allocations; and its slots, against a
 * model of who wants each.
 */
#include <string.h>

#include "core/sched/sched.h"
#include "hosted/harness/harness.h"
#include "hosted/machine/user.h"
#include "mm/swap/swap.h"

#define SLOTS 256u
#define PAGES 100u

static struct hosted_disk disk;
static u64 memory;

static void begin(void)
{
	hosted_init(16);
	hosted_quiet = true;
	swap_disk_create(&disk, SLOTS);
	leak_mark();
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
}

/* Memory of PAGES pages, each with its number and @seed in it. */
static void fill(u32 seed)
{
	if (!current->mm) {
		user_enter(mm_create());
		memory = (u64)user_map(0, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0);
	}
	for (u32 i = 0; i < PAGES; i++) {
		u32 words[2] = {i, seed};

		CHECK_EQUAL(user_store(memory + i * PAGE_SIZE, words, sizeof(words)), 0);
	}
}

/* How many pages can't be read; all others are right. */
static unsigned check(u32 seed)
{
	unsigned lost = 0;

	for (u32 i = 0; i < PAGES; i++) {
		u32 words[2];
		int signal = user_load(memory + i * PAGE_SIZE, words, sizeof(words));

		if (signal) {
			CHECK_EQUAL(signal, USER_SIGBUS);
			lost++;
			continue;
		}
		CHECK_EQUAL(words[0], i);
		CHECK_EQUAL(words[1], seed);
	}
	return lost;
}

static void end(void)
{
	user_leave();
	CHECK_EQUAL(sys_swapoff("/swap"), 0);
	leak_check();
}

TEST(swap_out_and_in)
{
	begin();
	fill(1);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	CHECK_EQUAL(current->mm->resident_pages, 0);
	CHECK_EQUAL(current->mm->swapped_pages, PAGES);
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1 - PAGES);
	u64 reads = disk.reads;
	CHECK_EQUAL(check(1), 0);
	CHECK(disk.reads - reads <= PAGES / SWAP_AROUND + 2); /* read ahead, in clusters */
	u64 writes = disk.writes;
	CHECK_EQUAL(swap_out(PAGES), PAGES); /* nothing has changed: nothing is written */
	CHECK_EQUAL(disk.writes, writes);
	fill(2);
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1); /* who writes needs the slot no more */
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	CHECK_EQUAL(check(2), 0);
	fill(2); /* also where it has been read before */
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	CHECK(disk.writes - writes <= 2 * (PAGES / SWAP_BATCH + 2));
	CHECK_EQUAL(check(2), 0);
	end();
}

TEST(swap_shared_after_fork)
{
	begin();
	fill(3);
	struct mm *parent = current->mm, *child;
	CHECK_EQUAL(swap_out(PAGES / 2) >= PAGES / 2, true);
	child = mm_fork(parent);
	swap_out(PAGES);
	atomic_inc(&parent->users);
	user_enter(child);
	CHECK_EQUAL(check(3), 0);
	fill(4); /* the parent's stay as they are */
	swap_out(PAGES);
	CHECK_EQUAL(check(4), 0);
	user_enter(parent);
	CHECK_EQUAL(check(3), 0);
	end();
}

/* Of pages that two have in memory, one's entries go. */
TEST(swap_out_of_one)
{
	begin();
	fill(8);
	struct mm *parent = current->mm, *child = mm_fork(parent);
	CHECK_EQUAL(mm_set_locked(child, memory, memory + PAGES * PAGE_SIZE, SWAP_LOCK), 0);
	for (unsigned n = 0; n < PAGES && parent->swapped_pages < PAGES; n++)
		swap_out(PAGES); /* frees nothing */
	CHECK_EQUAL(parent->swapped_pages, PAGES);
	CHECK_EQUAL(child->swapped_pages, 0);
	CHECK_EQUAL(child->resident_pages, PAGES);
	fill(9);
	atomic_inc(&parent->users);
	user_enter(child);
	CHECK_EQUAL(check(8), 0);
	user_enter(parent);
	CHECK_EQUAL(check(9), 0);
	end();
}

static void read_backwards(void *argument)
{
	for (u32 i = PAGES; i-- > 0;) {
		u32 word = ~0u;

		CHECK_EQUAL(user_load(memory + i * PAGE_SIZE, &word, sizeof(word)), 0);
		CHECK_EQUAL(word, i);
		cond_resched();
	}
}

TEST(swap_off_while_used)
{
	begin();
	fill(10);
	CHECK_EQUAL(swap_out(PAGES), PAGES);
	user_start(user_share(), read_backwards, NULL);
	CHECK_EQUAL(sys_swapoff("/swap"), 0);
	tasks_wait();
	CHECK_EQUAL(swap_total_pages(), 0);
	CHECK_EQUAL(check(10), 0);
	CHECK_EQUAL(sys_swapon("/swap", 0), 0);
	end();
}

TEST(swap_failed_writes_lose_nothing)
{
	begin();
	fill(5);
	for (unsigned one_in = 1; one_in < 4; one_in++) {
		disk.fail_one_in = one_in;
		swap_out(PAGES);
		disk.fail_one_in = 0;
		CHECK_EQUAL(check(5), 0);
		swap_out(PAGES);
		CHECK_EQUAL(check(5), 0);
	}
	CHECK(disk.failed > 0);
	disk.fail_one_in = 1;
	fill(5);
	swap_out(PAGES);
	disk.fail_one_in = 0;
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1 - PAGES);
	user_leave(); /* in the cache, and nobody wants them */
	CHECK_EQUAL(swap_free_pages(), SLOTS - 1);
	end();
}

TEST(swap_failed_reads_are_sigbus)
{
	begin();
	fill(6);
	swap_out(PAGES);
	disk.fail_one_in = 3;
	CHECK(check(6) > 0);
	CHECK(sys_swapoff("/swap") == -EIO || !swap_in_use());
	disk.fail_one_in = 0;
	CHECK_EQUAL(check(6), 0); /* for who needs the page then, and nothing else */
	end();
}

/* Pages come back while the @n-th allocation fails: how many cannot. */
static unsigned killed_for_memory(int n)
{
	unsigned killed = 0;

	swap_out(PAGES);
	hosted_fail_after = n;
	for (u32 i = 0; i < PAGES; i += 3) {
		u32 word = ~0u;
		int signal = user_load(memory + i * PAGE_SIZE, &word, sizeof(word));

		killed += signal != 0;
		CHECK(signal ? signal == USER_SIGKILL : word == i);
	}
	CHECK(hosted_fail_after <= 1); /* it has been reached */
	hosted_fail_after = n;
	swap_out(PAGES / 2);
	hosted_fail_after = 0;
	CHECK_EQUAL(check(7), 0);
	return killed;
}

/* One allocation that fails is tried again; while all fail the program has no memory, and loses
 * none of what it had. */
TEST(swap_no_memory)
{
	unsigned killed = 0;

	begin();
	fill(7);
	for (int n = 1; n < 60; n++) {
		hosted_fail_on = false;
		CHECK_EQUAL(killed_for_memory(n), 0);
		hosted_fail_on = true;
		killed += killed_for_memory(n);
	}
	hosted_fail_on = false;
	CHECK(killed > 59);
	end();
}

/* Random takers of slots: as many are used as somebody wants, and no slot is given out twice. */
TEST(swap_slots)
{
	static u16 model[SLOTS];
	struct rng rng = {test_seed()};
	unsigned used = 0;

	begin();
	for (unsigned n = 0; n < test_scaled(100000); n++) {
		u64 slot = 1 + rng_below(&rng, SLOTS - 1), entry = swap_entry(0, slot);

		if (rng_below(&rng, 3) == 0) {
			entry = swap_alloc();
			CHECK_EQUAL(!entry, used == SLOTS - 1);
			if (!entry)
				continue;
			slot = swap_slot(entry);
			CHECK(slot && slot < SLOTS && !swap_type(entry));
			CHECK_EQUAL(model[slot], 0);
			used++;
			model[slot] = 1;
		} else if (rng_below(&rng, 5) < 2) {
			CHECK_EQUAL(swap_get_used(entry), model[slot] > 0);
			model[slot] += model[slot] > 0;
		} else if (model[slot]) {
			swap_put(entry);
			used -= !--model[slot];
		}
		CHECK_EQUAL(swap_count(entry), model[slot]);
		CHECK_EQUAL(swap_free_pages(), SLOTS - 1 - used);
		CHECK(pte_to_swap(swap_to_pte(entry)) == entry && pte_is_swap(swap_to_pte(entry)));
	}
}
