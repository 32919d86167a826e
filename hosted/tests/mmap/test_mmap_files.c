/*
 * test_mmap_files.c - files in a program's memory: what reads, writes, truncations, syncs and
 * reclaim of the file and loads and stores of the program see of each other.
 */
#include <string.h>

#include "core/memory/page_alloc.h"
#include "mm/cache/page_cache.h"
#include "hosted/tests/mmap/mmap.h"

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
		CHECK_EQUAL(test_bit(PG_dirty, &page->flags), !file->inode->data.ops->writepage);
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

/* Each piece of a vector is faulted in as far as it reaches: behind it may be nothing, and the next
 * one not be there yet. */
static void pieces_of_vectors(void)
{
	u64 own = MAPPED(user_map(0, PAGE(3), RW, MAP_PRIVATE, NULL, 0));
	const struct iovec vector[] = {{POINTER(own + PAGE(1) - 20), 10},
				       {POINTER(own + PAGE(2)), 10}};
	int fd;

	CHECK_EQUAL(user_store(own + PAGE(1) - 20, "/mnt/f", 7), 0);
	CHECK_EQUAL(sys_munmap(own + PAGE(1), PAGE(1)), 0);
	fd = (int)sys_openat(AT_FDCWD, POINTER(own + PAGE(1) - 20), O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0);
	CHECK_EQUAL(sys_writev(fd, vector, 2), 20);
	CHECK_EQUAL(file_byte("/mnt/f", 5), 'f');
	CHECK_EQUAL(file_byte("/mnt/f", 19), 0);
	CHECK_EQUAL(sys_close(fd), 0);
}

TEST(mmap_pieces_of_vectors)
{
	on_each(pieces_of_vectors);
}
