/*
 * test_mmap_tasks.c - address spaces of several tasks: a parent and its child, and threads, whose
 * TLBs have to hear of what others change.
 */
#include "core/sched/sched.h"
#include "hosted/tests/mmap/mmap.h"

/* Tasks take turns: each waits for its own. */
static unsigned turn;
static DEFINE_WAIT_QUEUE(turns);

static void wait_turn(unsigned mine)
{
	wait_event(turns, turn == mine);
}

static void next_turn(void)
{
	turn++;
	wake_up(&turns);
}

static void forked_child(void *argument)
{
	u64 at = *(u64 *)argument;

	wait_turn(1);
	CHECK_EQUAL(peek(at), '1');
	CHECK_EQUAL(peek(at + PAGE(1)), '1'); /* what the parent did later is not ours ... */
	CHECK_EQUAL(poke(at, 'C'), 0);
	CHECK_EQUAL(peek(at + PAGE(2)), 'b'); /* private: made from the file by the parent */
	CHECK_EQUAL(peek(at + PAGE(3)), 'P'); /* ... but for what is shared */
	CHECK_EQUAL(poke(at + PAGE(3), 'S'), 0);
	next_turn();
	wait_turn(3);
	CHECK_EQUAL(peek(at), 'C');
}

static void forks(void)
{
	u64 at = GB(1);

	turn = 0;
	make_file("/mnt/f", 2);
	CHECK_EQUAL(user_map(at, PAGE(2), RW, MAP_PRIVATE | MAP_FIXED, NULL, 0), at);
	CHECK_EQUAL(user_map(at + PAGE(2), PAGE(1), RW, MAP_PRIVATE | MAP_FIXED, "/mnt/f", PAGE(1)),
		    at + PAGE(2));
	CHECK_EQUAL(user_map(at + PAGE(3), PAGE(1), RW, MAP_SHARED | MAP_FIXED, "/mnt/f", 0),
		    at + PAGE(3));
	for (unsigned n = 0; n < 4; n++)
		CHECK_EQUAL(poke(at + PAGE(n) + (n == 2), '1'), 0);
	user_start(mm_fork(current->mm), forked_child, &at);
	CHECK_EQUAL(poke(at + PAGE(1), 'P'), 0);
	CHECK_EQUAL(poke(at + PAGE(2), 'P'), 0);
	CHECK_EQUAL(poke(at + PAGE(3), 'P'), 0);
	next_turn();
	wait_turn(2);
	CHECK_EQUAL(peek(at), '1');
	CHECK_EQUAL(peek(at + PAGE(1)), 'P');
	CHECK_EQUAL(peek(at + PAGE(3)), 'S');
	CHECK_EQUAL(poke(at, 'P'), 0);
	next_turn();
	tasks_wait();
	CHECK_EQUAL(file_byte("/mnt/f", 0), 'S');
	CHECK_EQUAL(file_byte("/mnt/f", PAGE(1)), 'b');
}

TEST(mmap_forks)
{
	on_each(forks);
}

/* A thread, whose TLB has what it saw last: whatever the other does to the entry must be seen. */
static void second_thread(void *argument)
{
	u64 at = *(u64 *)argument;

	CHECK_EQUAL(peek(at), 'a');
	next_turn();
	wait_turn(2);
	CHECK_EQUAL(peek(at), 'x'); /* a copy took the page's place */
	CHECK_EQUAL(poke(at + 1, 'y'), 0);
	next_turn();
	wait_turn(4);
	CHECK_EQUAL(poke(at, 'z'), -USER_SIGSEGV);
	CHECK_EQUAL(peek(at), 'x');
	next_turn();
	wait_turn(6);
	CHECK_EQUAL(peek(at), 'n');
	next_turn();
	wait_turn(8);
	CHECK_EQUAL(peek(at), -USER_SIGSEGV);
}

static void threads(void)
{
	u64 at;

	turn = 0;
	make_file("/mnt/f", 1);
	at = MAPPED(user_map(0, PAGE(1), RW, MAP_PRIVATE, "/mnt/f", 0));
	user_start(user_share(), second_thread, &at);
	wait_turn(1);
	CHECK_EQUAL(poke(at, 'x'), 0);
	next_turn();
	wait_turn(3);
	CHECK_EQUAL(sys_mprotect(at, PAGE(1), PROT_READ), 0);
	next_turn();
	wait_turn(5);
	CHECK_EQUAL(user_map(at, PAGE(1), RW, MAP_PRIVATE | MAP_FIXED, NULL, 0), at);
	CHECK_EQUAL(poke(at, 'n'), 0);
	next_turn();
	wait_turn(7);
	CHECK_EQUAL(sys_munmap(at, PAGE(1)), 0);
	next_turn();
	tasks_wait();
}

TEST(mmap_threads)
{
	on_each(threads);
}

/* No thread can go on writing to what another runs. */
static void write_again(void *argument)
{
	u64 faults, at = *(u64 *)argument;

	CHECK_EQUAL(poke(at, 'x'), 0);
	next_turn();
	wait_turn(2);
	faults = current->minor_faults;
	CHECK_EQUAL(poke(at, 'y'), 0);
	CHECK_EQUAL(current->minor_faults, faults + 1);
	next_turn();
}

static void write_or_run(void)
{
	u64 at = MAPPED(user_map(0, PAGE(2), RW | PROT_EXEC, MAP_PRIVATE, NULL, 0));

	for (unsigned round = 0; round < 3; round++) {
		CHECK_EQUAL(poke(at, 'a' + (int)round), 0);
		CHECK_EQUAL(user_fetch(at), 0);
		CHECK_EQUAL(peek(at), 'a' + (int)round);
	}
	turn = 0;
	user_start(user_share(), write_again, &at);
	wait_turn(1);
	CHECK_EQUAL(user_fetch(at), 0);
	next_turn();
	wait_turn(3);
}

TEST(mmap_write_or_run)
{
	on_each(write_or_run);
}

/* What is written goes away while the block that it is to change is read: the file stays as it is. */
static void take_away(void *argument)
{
	CHECK_EQUAL(sys_munmap(*(u64 *)argument, PAGE(1)), 0);
}

/* Is the file on a disk? Its pages are to be read from there again. */
static bool forget_pages(const char *path)
{
	struct inode *inode = inode_by_path(path);
	bool on_disk = inode->data.ops->writepage;

	sys_sync();
	invalidate_inode_pages(&inode->data);
	iput(inode);
	return on_disk;
}

static void written_from_nowhere(void)
{
	unsigned away = 0;
	bool on_disk = false;

	for (unsigned round = 0; round < 20; round++) {
		make_file("/mnt/f", 1);
		on_disk = forget_pages("/mnt/f");
		u64 at = MAPPED(user_map(0, PAGE(1), RW, MAP_PRIVATE, NULL, 0));
		int fd = (int)sys_open("/mnt/f", O_RDWR, 0);

		CHECK_EQUAL(poke(at, 'x'), 0);
		user_start(user_share(), take_away, &at);
		s64 result = sys_pwrite64(fd, (const void *)at, 200, 100);

		tasks_wait();
		CHECK(result == 200 || result == -EFAULT);
		CHECK_EQUAL(file_byte("/mnt/f", 100), result == 200 ? 'x' : 'a');
		for (u64 i = 101; i < 300; i++)
			CHECK_EQUAL(file_byte("/mnt/f", i), result == 200 ? 0 : 'a');
		CHECK_EQUAL(sys_close(fd), 0);
		away += result < 0;
	}
	CHECK(away > 0 || !on_disk);
}

TEST(mmap_written_from_nowhere)
{
	on_each(written_from_nowhere);
}
