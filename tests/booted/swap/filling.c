/*
 * filling.c - files in memory and shared memory that do not fit, with swap on a disk: what read,
 * write, mmap, truncate, fallocate, lseek, stat and unlink make of pages that are swapped out. A
 * plain Linux program: it prints the same there.
 */
#include "common.h"
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define MOUNT "/tmp/filling"

static char page_bytes[PAGE];

/* Have all that was not used lately swapped out, some of it at least. */
static void push(void)
{
	long before = meminfo("SwapFree");
	unsigned long *memory = take(pages, MAP_PRIVATE);

	fill(memory, pages, 1);
	fill(memory, pages, 2);
	if (meminfo("SwapFree") >= before)
		fail("nothing is swapped out");
	munmap(memory, pages * PAGE);
}

static int new_file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		fail("%s", name);
	return fd;
}

static const char *pattern(unsigned long i, unsigned long seed)
{
	unsigned long *words = (unsigned long *)page_bytes;

	words[0] = word(i, seed);
	words[511] = ~word(i, seed);
	return page_bytes;
}

static void write_page(int fd, unsigned long i, unsigned long seed)
{
	if (pwrite(fd, pattern(i, seed), PAGE, (off_t)(i * PAGE)) != (ssize_t)PAGE)
		fail("write of page %lu", i);
}

static void read_page(int fd, unsigned long i, unsigned long seed)
{
	static unsigned long found[512];

	if (pread(fd, found, PAGE, (off_t)(i * PAGE)) != (ssize_t)PAGE)
		fail("read of page %lu", i);
	if (found[0] != word(i, seed) || found[511] != ~word(i, seed))
		fail("page %lu of the file: %lx, not %lx", i, found[0], word(i, seed));
}

static void mount_it(void)
{
	char options[64];

	mkdir(MOUNT, 0700);
	snprintf(options, sizeof(options), "size=%luM", pages * 2 / 256);
	if (mount("none", MOUNT, "tmpfs", 0, options))
		fail("mount");
}

static void unmount_it(void)
{
	if (umount(MOUNT))
		fail("umount");
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Written by write(2), read in order and at random, changed, by several at once. */
static void part_file(void)
{
	int fd;

	mount_it();
	fd = new_file(MOUNT "/file");
	for (unsigned long i = 0; i < pages; i++)
		write_page(fd, i, 1);
	for (unsigned long i = 0; i < pages; i++)
		read_page(fd, i, 1);
	for (unsigned child = 0; child < 3; child++)
		if (!fork()) {
			unsigned long at = child;

			for (unsigned long n = 0; n < pages / 2; n++) {
				at = at * 6364136223846793005UL + 1442695040888963407UL;
				unsigned long i = (at >> 33) % (pages / 3) * 3 + child;

				if (i < pages)
					write_page(fd, i, 2 + child);
				if (i < pages)
					read_page(fd, i, 2 + child);
			}
			for (unsigned long i = child; i < pages; i += 3)
				write_page(fd, i, 2 + child);
			_exit(0);
		}
	wait_all(3);
	for (unsigned long i = 0; i < pages; i++)
		read_page(fd, i, 2 + i % 3);
	close(fd);
	unlink(MOUNT "/file");
	unmount_it();
}

/* Accounts stay what they are while pages are swapped out, and what is removed gives its slots
 * back. */
static void part_accounts(void)
{
	long free_before = meminfo("SwapFree");
	struct statfs before, filled, after;
	struct stat stat;
	int fd;

	mount_it();
	fd = new_file(MOUNT "/file");
	if (statfs(MOUNT, &before))
		fail("statfs");
	for (unsigned long i = 0; i < pages; i++)
		write_page(fd, i, 1);
	if (fstat(fd, &stat) || (unsigned long)stat.st_blocks != pages * 8)
		fail("%ld blocks", (long)stat.st_blocks);
	if (statfs(MOUNT, &filled) || before.f_bfree - filled.f_bfree != pages)
		fail("%lu pages are charged", before.f_bfree - filled.f_bfree);
	if (meminfo("SwapFree") >= free_before)
		fail("nothing is swapped out");
	unlink(MOUNT "/file"); /* it is open still */
	for (unsigned long i = 0; i < pages; i += 7)
		read_page(fd, i, 1);
	if (ftruncate(fd, (off_t)(pages / 2 * PAGE)))
		fail("ftruncate");
	if (fstat(fd, &stat) || (unsigned long)stat.st_blocks != pages / 2 * 8)
		fail("%ld blocks after truncation", (long)stat.st_blocks);
	close(fd);
	if (statfs(MOUNT, &after) || after.f_bfree != before.f_bfree)
		fail("%lu pages are charged still", before.f_bfree - after.f_bfree);
	wait_free(free_before, "unlink");
	unmount_it();
}

static void expect_seek(int fd, off_t from, int whence, off_t wanted)
{
	off_t found = lseek(fd, from, whence);

	if (found != wanted)
		fail("lseek(%ld, %s) = %ld, not %ld", (long)from,
		     whence == SEEK_DATA ? "data" : "hole", (long)found, (long)wanted);
}

static void expect_bytes(int fd, off_t from, off_t to, char wanted)
{
	for (off_t at = from; at < to; at += PAGE) {
		size_t n = (size_t)(to - at < (off_t)PAGE ? to - at : (off_t)PAGE);
		char found[PAGE];

		if (pread(fd, found, n, at) != (ssize_t)n)
			fail("read at %ld", (long)at);
		for (size_t i = 0; i < n; i++)
			if (found[i] != wanted)
				fail("byte %ld is %x, not %x", (long)(at + (off_t)i), found[i],
				     wanted);
	}
}

static void write_bytes(int fd, off_t from, off_t to, char byte)
{
	char bytes[PAGE];

	memset(bytes, byte, PAGE);
	for (off_t at = from; at < to; at += PAGE) {
		size_t n = (size_t)(to - at < (off_t)PAGE ? to - at : (off_t)PAGE);

		if (pwrite(fd, bytes, n, at) != (ssize_t)n)
			fail("write at %ld", (long)at);
	}
}

/* Data and holes, parts of pages, fallocate: of pages that are swapped out. */
static void part_holes(void)
{
	int fd;

	mount_it();
	fd = new_file(MOUNT "/file");
	write_bytes(fd, 0, 64 * PAGE, 'a');
	write_bytes(fd, 96 * PAGE, 128 * PAGE, 'b');
	push();
	expect_seek(fd, 0, SEEK_HOLE, 64 * PAGE);
	expect_seek(fd, 64 * PAGE, SEEK_DATA, 96 * PAGE);
	expect_seek(fd, 96 * PAGE + 5, SEEK_DATA, 96 * PAGE + 5);
	expect_seek(fd, 96 * PAGE, SEEK_HOLE, 128 * PAGE);
	expect_bytes(fd, 64 * PAGE, 96 * PAGE, 0);
	expect_bytes(fd, 0, 64 * PAGE, 'a');
	push();
	/* parts of two pages, and those between them */
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8 * PAGE + 100, 8 * PAGE))
		fail("punch");
	expect_bytes(fd, 0, 8 * PAGE + 100, 'a');
	expect_bytes(fd, 8 * PAGE + 100, 16 * PAGE + 100, 0);
	expect_bytes(fd, 16 * PAGE + 100, 64 * PAGE, 'a');
	expect_seek(fd, 8 * PAGE + 100, SEEK_HOLE, 9 * PAGE);
	push();
	if (ftruncate(fd, 100 * PAGE + 50) || ftruncate(fd, 120 * PAGE))
		fail("ftruncate");
	expect_bytes(fd, 96 * PAGE, 100 * PAGE + 50, 'b');
	expect_bytes(fd, 100 * PAGE + 50, 120 * PAGE, 0);
	push();
	write_bytes(fd, 40 * PAGE + 10, 40 * PAGE + 20, 'c');
	write_bytes(fd, 41 * PAGE, 42 * PAGE, 'd');
	if (fallocate(fd, 0, 30 * PAGE, 40 * PAGE))
		fail("fallocate");
	expect_bytes(fd, 30 * PAGE, 40 * PAGE + 10, 'a');
	expect_bytes(fd, 40 * PAGE + 10, 40 * PAGE + 20, 'c');
	expect_bytes(fd, 40 * PAGE + 20, 41 * PAGE, 'a');
	expect_bytes(fd, 41 * PAGE, 42 * PAGE, 'd');
	push();
	if (ftruncate(fd, 0) || ftruncate(fd, 4 * PAGE))
		fail("ftruncate");
	expect_bytes(fd, 0, 4 * PAGE, 0);
	close(fd);
	unlink(MOUNT "/file");
	unmount_it();
}

/* Memory that processes share, written by some and seen by all. */
static void part_shared(void)
{
	unsigned long *memory = take(pages, MAP_SHARED), quarter = pages / 4;

	for (unsigned long child = 0; child < 4; child++)
		if (!fork()) {
			fill(memory + child * quarter * 512, quarter, 10 + child);
			check(memory + child * quarter * 512, quarter, 10 + child);
			_exit(0);
		}
	wait_all(4);
	for (unsigned long child = 0; child < 4; child++)
		if (!fork()) {
			unsigned long other = (child + 1) % 4;

			check(memory + other * quarter * 512, quarter, 10 + other);
			for (unsigned long i = 0; i < pages; i++)
				__atomic_fetch_add(&memory[i * 512 + 9], 1 + child,
						   __ATOMIC_RELAXED);
			_exit(0);
		}
	wait_all(4);
	for (unsigned long i = 0; i < pages; i++)
		if (memory[i * 512 + 9] != 10)
			fail("page %lu was changed by %lu, not by 10", i, memory[i * 512 + 9]);
	munmap(memory, pages * PAGE);
}

/* Shown by a shared and by a private area at once. */
static void part_private(void)
{
	unsigned long count = pages / 8;
	int fd;

	mount_it();
	fd = new_file(MOUNT "/file");
	for (unsigned long i = 0; i < count; i++)
		write_page(fd, i, 1);
	unsigned long *ours = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	unsigned long *all = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ours == MAP_FAILED || all == MAP_FAILED)
		fail("mmap");
	check(ours, count, 1);
	fill(ours, count / 2, 2);
	push();
	check(all, count, 1);
	check(ours, count / 2, 2);
	push();
	fill(all, count, 3);
	push();
	for (unsigned long i = 0; i < count; i++)
		read_page(fd, i, 3);
	check(ours, count / 2, 2);
	for (unsigned long i = count / 2; i < count; i++)
		check_page(ours, i, 3);
	munmap(ours, count * PAGE);
	munmap(all, count * PAGE);
	close(fd);
	unlink(MOUNT "/file");
	unmount_it();
}

/* System V's, attached again after it was swapped out. */
static void part_segment(void)
{
	int id = shmget(IPC_PRIVATE, pages / 4 * PAGE, IPC_CREAT | 0600);
	unsigned long *memory = shmat(id, NULL, 0);

	if (id < 0 || memory == (void *)-1)
		fail("shmget, shmat");
	fill(memory, pages / 4, 4);
	shmdt(memory);
	push();
	memory = shmat(id, NULL, 0);
	check(memory, pages / 4, 4);
	shmctl(id, IPC_RMID, NULL);
	push();
	check(memory, pages / 4, 4);
	shmdt(memory);
}

/* What some process has locked stays, although others have it, too. */
static void part_locked(void)
{
	unsigned long *memory = take(256, MAP_SHARED);
	unsigned char resident[256];

	fill(memory, 256, 12);
	if (mlock(memory, 256 * PAGE))
		fail("mlock");
	push();
	if (mincore(memory, 256 * PAGE, resident))
		fail("mincore");
	for (unsigned i = 0; i < 256; i++)
		if (!(resident[i] & 1))
			fail("locked page %u is not in memory", i);
	munlock(memory, 256 * PAGE);
	push();
	check(memory, 256, 12);
	munmap(memory, 256 * PAGE);
}

/* swapoff brings back what files have there, used or not. */
static void part_off(void)
{
	unsigned long *memory = take(pages / 6, MAP_SHARED);
	int fd;

	mount_it();
	fd = new_file(MOUNT "/file");
	for (unsigned long i = 0; i < pages / 6; i++)
		write_page(fd, i, 1);
	fill(memory, pages / 6, 14);
	push();
	if (!fork()) {
		for (unsigned round = 0; round < 10; round++) {
			for (unsigned long i = round; i < pages / 6; i += 10)
				write_page(fd, i, 2);
			check(memory, pages / 6, 14);
		}
		_exit(0);
	}
	if (swapoff(device))
		fail("swapoff");
	if (meminfo("SwapTotal") != 0)
		fail("SwapTotal is %ld", meminfo("SwapTotal"));
	wait_all(1);
	check(memory, pages / 6, 14);
	for (unsigned long i = 0; i < pages / 6; i++)
		read_page(fd, i, 2);
	if (swapon(device, 0))
		fail("swapon again");
	push();
	for (unsigned long i = 0; i < pages / 6; i++)
		read_page(fd, i, 2);
	close(fd);
	unlink(MOUNT "/file");
	unmount_it();
	munmap(memory, pages / 6 * PAGE);
}

const struct part parts[] = {
	{"file", part_file},	 {"accounts", part_accounts}, {"holes", part_holes},
	{"shared", part_shared}, {"private", part_private},   {"segment", part_segment},
	{"locked", part_locked}, {"off", part_off},	      {NULL, NULL},
};
