/*
 * test_mmap.c - programs' memory over files: each rule of mm/ by itself, on tmpfs and on ext2. What
 * a program sees goes through page tables and TLBs (user.h), so a flush that is missing shows.
 */
#include <string.h>

#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "core/sched/sched.h"
#include "mm/cache/page_cache.h"
#include "hosted/machine/user.h"

#define RW (PROT_READ | PROT_WRITE)
#define PAGE(n) ((u64)(n) * PAGE_SIZE)
#define MAPPED(call)                                                                               \
	({                                                                                         \
		s64 _at = (call);                                                                  \
		CHECK(_at > 0);                                                                    \
		(u64) _at;                                                                         \
	})

static struct hosted_disk disk;

/* Run @test on a tmpfs and on an ext2, each on /mnt. */
static void on_each(void (*test)(void))
{
	hosted_init(16);
	disk_create(&disk, "ram0", 0, MB(4));
	disk.asynchronous = true;
	image_make(&disk, 1024, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
	for (unsigned round = 0; round < 2; round++) {
		test_where("%s", round ? "ext2" : "tmpfs");
		CHECK_EQUAL(round ? mount_disk("ram0", 0) : sys_mount("", "/mnt", "tmpfs", 0, ""),
			    0);
		user_enter(mm_create());
		test();
		tasks_wait();
		user_leave();
		CHECK_EQUAL(umount_disk(), 0);
		leak_check();
	}
	image_check(&disk);
}

/* A file of @pages pages: the n-th is full of 'a' + n. */
static void make_file(const char *path, unsigned pages)
{
	char page[PAGE_SIZE];

	for (unsigned n = 0; n < pages; n++) {
		memset(page, (int)('a' + n), sizeof(page));
		CHECK_EQUAL(write_at(path, O_CREAT | O_RDWR, (loff_t)PAGE(n), page, sizeof(page)),
			    PAGE_SIZE);
	}
}

/* The byte at @address, or minus the signal. */
static int peek(u64 address)
{
	unsigned char byte = 0;
	int signal = user_load(address, &byte, 1);

	return signal ? -signal : byte;
}

/* 0, or minus the signal. */
static int poke(u64 address, int byte)
{
	char value = (char)byte;

	return -user_store(address, &value, 1);
}

static int file_byte(const char *path, u64 offset)
{
	unsigned char byte = 0;

	return read_at(path, (loff_t)offset, &byte, 1) == 1 ? byte : -1;
}

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

/* ---- one address space ----------------------------------------------------------------------- */

static void anonymous(void)
{
	u64 at = MAPPED(user_map(0, PAGE(4), RW, MAP_PRIVATE, NULL, 0));
	char text[PAGE_SIZE + 100], back[sizeof(text)];

	CHECK_EQUAL(peek(at + 17), 0);
	memset(text, 'x', sizeof(text));
	CHECK_EQUAL(user_store(at + PAGE(1) - 50, text, sizeof(text)), 0);
	CHECK_EQUAL(user_load(at + PAGE(1) - 50, back, sizeof(back)), 0);
	CHECK(memcmp(text, back, sizeof(text)) == 0);
	CHECK_EQUAL(peek(at + PAGE(1) - 51), 0);
	CHECK_EQUAL(current->mm->resident_pages, 3);
	CHECK_EQUAL(peek(at + PAGE(4)), -USER_SIGSEGV);
	CHECK_EQUAL(user_store(at + PAGE(4) - 1, text, 2), USER_SIGSEGV);
	CHECK_EQUAL(peek(at + PAGE(4) - 1), 'x'); /* the first byte could be touched */
	CHECK_EQUAL(peek(0), -USER_SIGSEGV);
	CHECK_EQUAL(peek(USER_TOP), -USER_SIGSEGV);
	CHECK_EQUAL(user_fetch(at), USER_SIGSEGV);
	CHECK_EQUAL(sys_munmap(at, PAGE(4)), 0);
	CHECK_EQUAL(current->mm->resident_pages, 0);
}

TEST(mmap_anonymous)
{
	on_each(anonymous);
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

static void protection(void)
{
	u64 at = MAPPED(user_map(0, PAGE(3), RW, MAP_PRIVATE, NULL, 0));

	for (unsigned n = 0; n < 3; n++)
		CHECK_EQUAL(poke(at + PAGE(n), 'a' + (int)n), 0);
	CHECK_EQUAL(sys_mprotect(at + PAGE(1), PAGE(1), PROT_READ), 0);
	CHECK_EQUAL(poke(at + PAGE(1), 'x'), -USER_SIGSEGV);
	CHECK_EQUAL(peek(at + PAGE(1)), 'b');
	CHECK_EQUAL(poke(at, 'A'), 0);
	CHECK_EQUAL(sys_mprotect(at, PAGE(3), PROT_NONE), 0);
	CHECK_EQUAL(peek(at), -USER_SIGSEGV);
	CHECK_EQUAL(sys_mprotect(at, PAGE(3), RW), 0);
	CHECK_EQUAL(poke(at + PAGE(1), 'B'), 0);
	CHECK_EQUAL(peek(at), 'A');
	CHECK_EQUAL(peek(at + PAGE(1)), 'B');
	CHECK_EQUAL(peek(at + PAGE(2)), 'c');
	CHECK_EQUAL(sys_mprotect(at, PAGE(4), PROT_READ), -ENOMEM); /* up to the hole it is done */
	CHECK_EQUAL(poke(at + PAGE(2), 'x'), -USER_SIGSEGV);
}

TEST(mmap_protection)
{
	on_each(protection);
}

/* Where the area at @address begins and ends. */
static void check_area(u64 address, u64 start, u64 end)
{
	const struct vma *vma;

	guard(read, &current->mm->lock);
	vma = find_vma(current->mm, address);
	CHECK(vma && vma->start == start && vma->end == end);
}

static void split_and_merge(void)
{
	make_file("/mnt/f", 8);
	u64 at = MAPPED(user_map(0, PAGE(8), PROT_READ, MAP_PRIVATE, "/mnt/f", 0));

	for (unsigned n = 0; n < 8; n++)
		CHECK_EQUAL(peek(at + PAGE(n)), 'a' + (int)n);
	CHECK_EQUAL(sys_munmap(at + PAGE(3), PAGE(2)), 0);
	check_area(at, at, at + PAGE(3));
	check_area(at + PAGE(3), at + PAGE(5), at + PAGE(8));
	for (unsigned n = 0; n < 8; n++)
		CHECK_EQUAL(peek(at + PAGE(n)), n == 3 || n == 4 ? -USER_SIGSEGV : 'a' + (int)n);
	CHECK_EQUAL(sys_mprotect(at + PAGE(6), PAGE(1), RW), 0);
	check_area(at + PAGE(6), at + PAGE(6), at + PAGE(7));
	CHECK_EQUAL(poke(at + PAGE(6), 'G'), 0);
	CHECK_EQUAL(sys_mprotect(at + PAGE(6), PAGE(1), PROT_READ), 0);
	check_area(at + PAGE(6), at + PAGE(5), at + PAGE(8));
	CHECK_EQUAL(peek(at + PAGE(6)), 'G');
	CHECK_EQUAL(peek(at + PAGE(7)), 'h');
	CHECK_EQUAL(user_map(at + PAGE(2), PAGE(4), RW, MAP_PRIVATE | MAP_FIXED, NULL, 0),
		    at + PAGE(2));
	CHECK_EQUAL(peek(at + PAGE(1)), 'b');
	CHECK_EQUAL(peek(at + PAGE(2)), 0);
	CHECK_EQUAL(peek(at + PAGE(5)), 0);
	CHECK_EQUAL(peek(at + PAGE(6)), 'G');
}

TEST(mmap_split_and_merge)
{
	on_each(split_and_merge);
}

/* Tables without an area are freed; those with one are not. */
static void many_tables(void)
{
	u64 at = GB(1);

	for (unsigned n = 0; n < 100; n++) {
		u64 here = at + n * MB(4);

		CHECK_EQUAL(user_map(here, PAGE(1), RW, MAP_PRIVATE | MAP_FIXED, NULL, 0), here);
		CHECK_EQUAL(poke(here, 'x'), 0);
	}
	for (unsigned n = 0; n < 100; n++)
		if (n % 10)
			CHECK_EQUAL(sys_munmap(at + n * MB(4), PAGE(1)), 0);
	for (unsigned n = 0; n < 100; n++)
		CHECK_EQUAL(peek(at + n * MB(4)), n % 10 ? -USER_SIGSEGV : 'x');
	CHECK(hosted_pages_in_use < 150);
}

TEST(mmap_many_tables)
{
	on_each(many_tables);
}

static void stack_and_break(void)
{
	struct mm *mm = current->mm;
	u64 top = GB(4);

	mm->brk_start = mm->brk_end = GB(2) + 100;
	CHECK_EQUAL(sys_brk(0), GB(2) + 100);
	CHECK_EQUAL(peek(GB(2) + PAGE(1)), -USER_SIGSEGV);
	CHECK_EQUAL(sys_brk(GB(2) + PAGE(3)), GB(2) + PAGE(3));
	CHECK_EQUAL(poke(GB(2) + PAGE(2), 'b'), 0);
	CHECK_EQUAL(sys_brk(GB(2) + PAGE(1)), GB(2) + PAGE(1));
	CHECK_EQUAL(peek(GB(2) + PAGE(2)), -USER_SIGSEGV);
	CHECK_EQUAL(user_map(top - PAGE(1), PAGE(1), RW, MAP_PRIVATE | MAP_FIXED | MAP_GROWSDOWN,
			     NULL, 0),
		    top - PAGE(1));
	hosted_limits[RLIMIT_STACK].soft = PAGE(8);
	CHECK_EQUAL(poke(top - PAGE(8), 's'), 0);
	CHECK_EQUAL(poke(top - PAGE(8) - 1, 's'), -USER_SIGSEGV);
	hosted_limits[RLIMIT_STACK].soft = ~0ULL;
	hosted_limits[RLIMIT_AS].soft = PAGE(mm->total_pages + 1);
	CHECK_EQUAL(user_map(0, PAGE(2), RW, MAP_PRIVATE, NULL, 0), -ENOMEM);
	CHECK(user_map(0, PAGE(1), RW, MAP_PRIVATE, NULL, 0) > 0);
	hosted_limits[RLIMIT_AS].soft = ~0ULL;
}

TEST(mmap_stack_and_break)
{
	on_each(stack_and_break);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void shared_file(void)
{
	make_file("/mnt/f", 2);
	CHECK_EQUAL(truncate_path("/mnt/f", (loff_t)PAGE(1) + 100), 0);
	u64 at = MAPPED(user_map(0, PAGE(4), RW, MAP_SHARED, "/mnt/f", 0));
	u64 again = MAPPED(user_map(0, PAGE(1), PROT_READ, MAP_SHARED, "/mnt/f", PAGE(1)));

	CHECK_EQUAL(peek(at), 'a');
	CHECK_EQUAL(peek(at + PAGE(1) + 99), 'b');
	CHECK_EQUAL(peek(at + PAGE(1) + 100), 0);
	CHECK_EQUAL(peek(at + PAGE(2)), -USER_SIGBUS);
	CHECK_EQUAL(poke(at + PAGE(2), 'x'), -USER_SIGBUS);
	CHECK_EQUAL(poke(at + PAGE(1), 'x'), 0);
	CHECK_EQUAL(peek(again), 'x');
	CHECK_EQUAL(poke(again, 'y'), -USER_SIGSEGV);
	CHECK_EQUAL(file_byte("/mnt/f", PAGE(1)), 'x');
	CHECK_EQUAL(write_at("/mnt/f", O_RDWR, (loff_t)PAGE(2), "w", 1), 1);
	CHECK_EQUAL(peek(at + PAGE(2)), 'w');
	CHECK_EQUAL(user_map(0, PAGE(1), PROT_READ, MAP_PRIVATE, "/mnt", 0), -ENODEV);
}

TEST(mmap_shared_file)
{
	on_each(shared_file);
}

/* A store to a hole has no block yet; a write that gets one must leave what was stored: in a hole
 * from the start, and in what a truncation left. */
static void store_and_write(void)
{
	make_file("/mnt/f", 2);
	CHECK_EQUAL(truncate_path("/mnt/f", 100), 0);
	CHECK_EQUAL(truncate_path("/mnt/f", (loff_t)PAGE(2)), 0);
	u64 at = MAPPED(user_map(0, PAGE(2), RW, MAP_SHARED, "/mnt/f", 0));

	for (unsigned n = 0; n < 2; n++) {
		u64 offset = PAGE(n) + 3000;

		CHECK_EQUAL(poke(at + offset, 's'), 0);
		CHECK_EQUAL(write_at("/mnt/f", O_RDWR, (loff_t)offset + 1, "w", 1), 1);
		CHECK_EQUAL(peek(at + offset + 1), 'w');
		CHECK_EQUAL(peek(at + offset), 's');
	}
}

TEST(mmap_store_and_write)
{
	on_each(store_and_write);
}

static void private_file(void)
{
	make_file("/mnt/f", 3);
	u64 at = MAPPED(user_map(0, PAGE(3), RW, MAP_PRIVATE, "/mnt/f", 0));

	CHECK_EQUAL(peek(at), 'a');
	CHECK_EQUAL(write_at("/mnt/f", O_RDWR, 0, "A", 1), 1);
	CHECK_EQUAL(peek(at), 'A');
	CHECK_EQUAL(poke(at + 1, 'x'), 0); /* from here on the page is ours */
	CHECK_EQUAL(poke(at + PAGE(1), 'y'), 0);
	CHECK_EQUAL(write_at("/mnt/f", O_RDWR, 0, "WW", 2), 2);
	CHECK_EQUAL(peek(at), 'A');
	CHECK_EQUAL(peek(at + 1), 'x');
	CHECK_EQUAL(peek(at + PAGE(1) + 1), 'b');
	CHECK_EQUAL(file_byte("/mnt/f", PAGE(1)), 'b');
	CHECK_EQUAL(sys_madvise(at, PAGE(3), MADV_DONTNEED), 0);
	CHECK_EQUAL(peek(at), 'W');
	CHECK_EQUAL(peek(at + PAGE(1)), 'b');
}

TEST(mmap_private_file)
{
	on_each(private_file);
}

static void truncation(void)
{
	make_file("/mnt/f", 4);
	u64 shared = MAPPED(user_map(0, PAGE(4), RW, MAP_SHARED, "/mnt/f", 0));
	u64 private = MAPPED(user_map(0, PAGE(4), RW, MAP_PRIVATE, "/mnt/f", 0));

	for (unsigned n = 0; n < 4; n++) {
		CHECK_EQUAL(poke(shared + PAGE(n), '0' + (int)n), 0);
		CHECK_EQUAL(poke(private + PAGE(n) + 1, 'P'), 0);
	}
	CHECK_EQUAL(truncate_path("/mnt/f", (loff_t)PAGE(1) + 1), 0);
	for (unsigned n = 0; n < 4; n++) {
		CHECK_EQUAL(peek(shared + PAGE(n)), n < 2 ? '0' + (int)n : -USER_SIGBUS);
		CHECK_EQUAL(poke(private + PAGE(n) + 2, 'p'), n < 2 ? 0 : -USER_SIGBUS);
	}
	CHECK_EQUAL(peek(shared + PAGE(1) + 1), 0);
	CHECK_EQUAL(peek(private + PAGE(1) + 1), 'P');
	CHECK_EQUAL(truncate_path("/mnt/f", (loff_t)PAGE(4)), 0);
	CHECK_EQUAL(peek(shared + PAGE(2)), 0);
	CHECK_EQUAL(peek(private + PAGE(2) + 1), 0);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/f", 0), 0);
	CHECK_EQUAL(poke(shared + PAGE(3), 'z'), 0);
	CHECK_EQUAL(peek(private + PAGE(3)), 'z');
}

TEST(mmap_truncation)
{
	on_each(truncation);
}

/* Stores after each sync are seen by the next: the entry is write-protected, and no TLB has it
 * otherwise. */
static void sync_and_store(void)
{
	u64 at;

	make_file("/mnt/f", 3);
	at = MAPPED(user_map(0, PAGE(3), RW, MAP_SHARED, "/mnt/f", 0));
	for (int round = 0; round < 4; round++) {
		struct file *file = open_path("/mnt/f", O_RDWR, 0);
		struct page *page;

		CHECK_EQUAL(poke(at + PAGE(1) + (u64)round, '0' + round), 0);
		page = find_or_create_page(&file->inode->data, 1);
		CHECK(test_bit(PG_dirty, &page->flags));
		unlock_page(page);
		if (round % 2)
			CHECK_EQUAL(sys_msync(at, PAGE(3), MS_SYNC), 0);
		else
			CHECK_EQUAL(vfs_fsync(file, false), 0);
		CHECK_EQUAL(test_bit(PG_dirty, &page->flags),
			    !file->inode->data.ops->writepage);
		put_page(page);
		fput(file);
	}
	CHECK_EQUAL(sys_msync(at, PAGE(4), MS_SYNC), -ENOMEM);
	if (!strcmp(test_place(), "ext2")) {
		char text[5] = "";

		user_leave();
		CHECK_EQUAL(umount_disk(), 0);
		CHECK_EQUAL(mount_disk("ram0", 0), 0);
		CHECK_EQUAL(read_at("/mnt/f", (loff_t)PAGE(1), text, 4), 4);
		CHECK(strcmp(text, "0123") == 0);
	}
}

TEST(mmap_sync_and_store)
{
	on_each(sync_and_store);
}

/* What is mapped and clean goes, and comes back; what was written to stays. */
static void reclaimed(void)
{
	make_file("/mnt/f", 8);
	sys_sync();
	u64 shared = MAPPED(user_map(0, PAGE(8), RW, MAP_SHARED, "/mnt/f", 0));
	u64 private = MAPPED(user_map(0, PAGE(8), RW, MAP_PRIVATE, "/mnt/f", 0));

	for (unsigned n = 0; n < 8; n++) {
		CHECK_EQUAL(peek(private + PAGE(n)), 'a' + (int)n);
		if (n % 2)
			CHECK_EQUAL(poke(shared + PAGE(n) + 1, 'S'), 0);
		if (n % 4 == 0)
			CHECK_EQUAL(poke(private + PAGE(n) + 2, 'P'), 0);
	}
	for (unsigned round = 0; round < 3; round++)
		drop_clean_pages();
	if (!strcmp(test_place(), "ext2"))
		CHECK_EQUAL(current->mm->file_pages, 8); /* 4 each that the file has dirty */
	for (unsigned n = 0; n < 8; n++) {
		CHECK_EQUAL(peek(shared + PAGE(n)), 'a' + (int)n);
		CHECK_EQUAL(peek(shared + PAGE(n) + 1), n % 2 ? 'S' : 'a' + (int)n);
		CHECK_EQUAL(peek(private + PAGE(n) + 2), n % 4 ? 'a' + (int)n : 'P');
	}
}

TEST(mmap_reclaimed)
{
	on_each(reclaimed);
}

/* Nothing on a file system that says so can be run, however it is mapped. */
static void noexec(void)
{
	enum { MS_NOEXEC = 8 };

	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/noexec", 0755), 0);
	CHECK_EQUAL(sys_mount("", "/mnt/noexec", "tmpfs", MS_NOEXEC, ""), 0);
	make_file("/mnt/noexec/f", 1);
	CHECK_EQUAL(user_map(0, PAGE(1), PROT_EXEC, MAP_PRIVATE, "/mnt/noexec/f", 0), -EPERM);
	u64 at = MAPPED(user_map(0, PAGE(1), PROT_READ, MAP_PRIVATE, "/mnt/noexec/f", 0));
	CHECK_EQUAL(sys_mprotect(at, PAGE(1), PROT_READ | PROT_EXEC), -EACCES);
	CHECK_EQUAL(user_fetch(at), USER_SIGSEGV);
	CHECK_EQUAL(sys_munmap(at, PAGE(1)), 0);
	CHECK_EQUAL(sys_umount2("/mnt/noexec", 0), 0);
	make_file("/mnt/f", 1);
	at = MAPPED(user_map(0, PAGE(1), PROT_READ, MAP_PRIVATE, "/mnt/f", 0));
	CHECK_EQUAL(sys_mprotect(at, PAGE(1), PROT_READ | PROT_EXEC), 0);
	CHECK_EQUAL(user_fetch(at), 0);
}

TEST(mmap_noexec)
{
	on_each(noexec);
}

/* ---- calls ----------------------------------------------------------------------------------- */

#define POINTER(address) ((void *)(uintptr_t)(address))

/* The buffer of a read or a write may be the very page of the file, or end in nothing. */
static void buffers_of_calls(void)
{
	int fd;

	make_file("/mnt/f", 2);
	u64 own = MAPPED(user_map(0, PAGE(2), RW, MAP_PRIVATE, NULL, 0));
	u64 at = MAPPED(user_map(0, PAGE(2), RW, MAP_SHARED, "/mnt/f", 0));

	CHECK_EQUAL(user_store(own, "/mnt/f", 7), 0);
	fd = (int)sys_openat(AT_FDCWD, POINTER(own), O_RDWR, 0);
	CHECK(fd >= 0);
	CHECK_EQUAL(sys_pread64(fd, POINTER(at + 1), PAGE_SIZE, (loff_t)PAGE(1)), PAGE_SIZE);
	CHECK_EQUAL(peek(at), 'a');
	CHECK_EQUAL(peek(at + 1), 'b');
	CHECK_EQUAL(peek(at + PAGE(1)), 'b');
	CHECK_EQUAL(sys_pwrite64(fd, POINTER(at), PAGE_SIZE, (loff_t)PAGE(1)), PAGE_SIZE);
	CHECK_EQUAL(peek(at + PAGE(1)), 'a');
	CHECK_EQUAL(sys_pread64(fd, POINTER(own + PAGE(2) - 10), 20, 0), 10);
	CHECK_EQUAL(peek(own + PAGE(2) - 10), 'a');
	CHECK_EQUAL(sys_pread64(fd, POINTER(own + PAGE(2)), 20, 0), -EFAULT);
	CHECK_EQUAL(sys_mprotect(own, PAGE(1), PROT_READ), 0);
	CHECK_EQUAL(sys_pread64(fd, POINTER(own), 20, 0), -EFAULT);
	CHECK_EQUAL(sys_pwrite64(fd, POINTER(own), 5, 0), 5);
	CHECK_EQUAL(peek(at), '/');
	CHECK_EQUAL(sys_close(fd), 0);
}

TEST(mmap_buffers_of_calls)
{
	on_each(buffers_of_calls);
}

/* ---- several tasks --------------------------------------------------------------------------- */

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

/* ---- memory ends ----------------------------------------------------------------------------- */

/* Whichever allocation of a fork or a call fails: nothing is half done, nothing is lost. */
static void allocations_fail(void)
{
	struct mm *child;
	u64 at;
	s64 result;

	make_file("/mnt/f", 2);
	at = MAPPED(user_map(0, PAGE(4), RW, MAP_PRIVATE, NULL, 0));
	MAPPED(user_map(0, PAGE(2), RW, MAP_PRIVATE, "/mnt/f", 0));
	CHECK_EQUAL(poke(at, 'x'), 0);
	for (int n = 1;; n++) {
		hosted_fail_after = n;
		child = mm_fork(current->mm);
		if (child)
			mm_put(child);
		if (hosted_fail_after)
			break;
		CHECK(!child);
	}
	for (int n = 1;; n++) {
		hosted_fail_after = n;
		result = sys_mprotect(at + PAGE(1), PAGE(1), PROT_READ);
		CHECK_EQUAL(poke(at + PAGE(1), 'x'), result ? 0 : -USER_SIGSEGV);
		if (hosted_fail_after)
			break;
	}
	hosted_fail_after = 0;
	CHECK_EQUAL(peek(at), 'x');
}

TEST(mmap_allocations_fail)
{
	on_each(allocations_fail);
}
