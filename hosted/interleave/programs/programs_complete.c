/*
 * programs_complete.c - interleavings: directories that are listed and searched in memory
 * (fs/path/complete) against all that makes and removes names, and what evicts them. A name that
 * always exists is in every listing, once, and is found; one that a task has removed is not found
 * by it. What is listed in the end is what the disk has.
 */
#include <stdio.h>
#include <string.h>

#include "hosted/interleave/programs/lockless/lockless.h"

/* ---- listings ---------------------------------------------------------------------------------
 */

/* A name is a letter, or more that begin with it: how often each was seen, and how long they were. */
struct listing {
	unsigned seen[128], letters[128];
};

static void note_names(struct listing *listing, const char *entries, s64 bytes)
{
	for (s64 at = 0; at < bytes;) {
		const char *entry = entries + at;
		u16 length;

		memcpy(&length, entry + 16, sizeof(length));
		listing->seen[(unsigned char)entry[19] & 127]++;
		listing->letters[(unsigned char)entry[19] & 127] += (unsigned)strlen(entry + 19);
		at += length;
	}
}

/* Few entries a call, so that others come in between. */
static void list(const char *path, struct listing *listing, u32 room)
{
	char text[64], entries[256];
	s64 bytes;

	memset(listing, 0, sizeof(*listing));
	snprintf(text, sizeof(text), "%s", path);
	int fd = (int)sys_openat(AT_FDCWD, text, O_RDONLY | O_DIRECTORY, 0);
	CHECK(fd >= 0);
	while ((bytes = sys_getdents64(fd, entries, room)) > 0)
		note_names(listing, entries, bytes);
	CHECK_EQUAL(bytes, 0);
	CHECK_EQUAL(sys_close(fd), 0);
}

/* The names of capital letters are always there. */
static void list_again_and_again(void *path)
{
	struct listing listing;

	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		list(path, &listing, i & 1 ? 256 : 72);
		CHECK_EQUAL(listing.seen['.'], 2);
		CHECK_EQUAL(listing.seen['A'], 1);
		CHECK_EQUAL(listing.seen['B'], 1);
		CHECK_EQUAL(listing.seen['C'], 1);
	}
}

static void find_again_and_again(void *path)
{
	char text[64];

	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		snprintf(text, sizeof(text), "%s/%c", (char *)path, 'A' + (int)i % 3);
		CHECK_EQUAL(stat_path(text), 0);
		snprintf(text, sizeof(text), "%s/never", (char *)path);
		CHECK_EQUAL(stat_path(text), -ENOENT);
	}
}

/* What memory has, and, when it has been forgotten, the disk. */
static void compare_with_disk(const char *path)
{
	struct listing memory, again, disk;

	list(path, &memory, 256);
	list(path, &again, 72);
	shrink_dcache(1000);
	shrink_dcache(1000);
	list(path, &disk, 256);
	CHECK_EQUAL(memcmp(&memory, &disk, sizeof(disk)), 0);
	CHECK_EQUAL(memcmp(&again, &disk, sizeof(disk)), 0);
}

static void make_three(const char *directory)
{
	char text[64];

	make_directory(directory, 0755);
	for (char name = 'A'; name <= 'C'; name++) {
		snprintf(text, sizeof(text), "%s/%c", directory, name);
		make_file(text);
	}
}

/* With the tasks that were started one finds names, and one has them forgotten: then what memory
 * has of /mnt/d is what the disk has. */
static void run_until_compared(void)
{
	task_start(find_again_and_again, "/mnt/d");
	task_start(forget_names, NULL);
	ring_run();
	compare_with_disk("/mnt/d");
}

/* ---- against eviction -------------------------------------------------------------------------
 */

RING_PROGRAM(complete_evict, world_ext2, 100)
{
	world_mount();
	make_three("/mnt/d");
	task_start(list_again_and_again, "/mnt/d");
	run_until_compared();
	world_unmount();
}

#define SINGLES 6 /* directories, "/mnt/0" and so on, with a name each */
static int singles[SINGLES];

/* Opened before, so that most steps are those that may meet an eviction. */
static void read_singles(void *unused)
{
	char entries[128];

	(void)unused;
	for (unsigned i = 0; i < SINGLES; i++, ring_user()) {
		struct listing listing = {};

		CHECK_EQUAL(sys_lseek(singles[i], 0, SEEK_SET), 0);
		note_names(&listing, entries, sys_getdents64(singles[i], entries, sizeof(entries)));
		CHECK_EQUAL(listing.seen['A'], 1);
	}
}

static void evict_once(void *unused)
{
	(void)unused;
	shrink_dcache(100);
}

/* No other name is evicted behind it, which would tell that the directory is not complete. */
RING_PROGRAM(complete_single, world_ext2, 100)
{
	char path[] = "/mnt/0", name[] = "/mnt/0/A";

	world_mount();
	for (unsigned i = 0; i < SINGLES; i++, path[5]++, name[5]++) {
		make_directory(path, 0755);
		make_file(name);
		singles[i] = (int)sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
		CHECK(singles[i] >= 0);
	}
	task_start(evict_once, NULL);
	task_start(read_singles, NULL);
	ring_run();
	read_singles(NULL);
	for (unsigned i = 0; i < SINGLES; i++)
		CHECK_EQUAL(sys_close(singles[i]), 0);
	world_unmount();
}

/* Two readings at a time, of what was forgotten: each adds what the other has not. */
RING_PROGRAM(complete_fill, world_ext2, 100)
{
	world_mount();
	make_three("/mnt/d");
	shrink_dcache(1000);
	shrink_dcache(1000);
	task_start(list_again_and_again, "/mnt/d");
	task_start(list_again_and_again, "/mnt/d");
	run_until_compared();
	world_unmount();
}

/* ---- against changes --------------------------------------------------------------------------
 */

/* Is @name listed, as this task, which makes and removes it, knows? */
static void is_listed(const char *name, bool there)
{
	struct listing listing;

	list("/mnt/d", &listing, 256);
	CHECK_EQUAL(listing.seen[(unsigned char)*name], there);
	CHECK_EQUAL(listing.letters[(unsigned char)*name], there ? strlen(name) : 0);
}

/* It is the only one who has this name. */
static void make_and_remove(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		struct file *file = open_path("/mnt/d/x", O_CREAT | O_EXCL | O_WRONLY, 0644);

		CHECK(!IS_ERR(file));
		CHECK_EQUAL(stat_path("/mnt/d/x"), 0);
		is_listed("x", true);
		if (i & 1)
			fput(file);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/x", 0), 0);
		is_listed("x", false);
		CHECK_EQUAL(stat_path("/mnt/d/x"), -ENOENT);
		if (!(i & 1))
			fput(file);
	}
}

static void rename_to_and_fro(void *unused)
{
	static const char *const names[] = {"/mnt/d/y", "/mnt/e/y", "/mnt/d/yet_another_name"};

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		const char *from = names[i % 3], *to = names[(i + 1) % 3];

		CHECK_EQUAL(sys_renameat2(AT_FDCWD, from, AT_FDCWD, to, 0), 0);
		CHECK_EQUAL(stat_path(from), -ENOENT);
		CHECK_EQUAL(stat_path(to), 0);
		is_listed(to + strlen("/mnt/d/"), i % 3 != 0);
	}
}

/* There is @file, too. */
static void change_under_listings(void (*change)(void *unused), const char *file)
{
	world_mount();
	make_three("/mnt/d");
	make_directory("/mnt/e", 0755);
	make_file(file);
	task_start(list_again_and_again, "/mnt/d");
	task_start(change, NULL);
	run_until_compared();
	compare_with_disk("/mnt/e");
	world_unmount();
}

RING_PROGRAM(complete_make, world_ext2, 60)
{
	change_under_listings(make_and_remove, "/mnt/d/y");
}

RING_PROGRAM(complete_rename, world_ext2, 60)
{
	change_under_listings(rename_to_and_fro, "/mnt/d/y");
}

static void exchange_names(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(
			sys_renameat2(AT_FDCWD, "/mnt/d/A", AT_FDCWD, "/mnt/d/B", RENAME_EXCHANGE),
			0);
		CHECK_EQUAL(
			sys_renameat2(AT_FDCWD, "/mnt/d/A", AT_FDCWD, "/mnt/e/z", RENAME_EXCHANGE),
			0);
	}
}

RING_PROGRAM(complete_exchange, world_ext2, 60)
{
	change_under_listings(exchange_names, "/mnt/e/z");
}

/* What is listed, and has no inode yet, is looked up by several, and removed. */
static void look_then_remove(void *path)
{
	int found = stat_path(path), error = (int)sys_unlinkat(AT_FDCWD, path, 0);

	CHECK(found == 0 || found == -ENOENT);
	CHECK(error == 0 || error == -ENOENT);
	CHECK_EQUAL(stat_path(path), -ENOENT);
}

RING_PROGRAM(complete_number, world_ext2, 100)
{
	static const char name[40] = "/mnt/d/x";
	struct listing listing;

	world_mount();
	make_three("/mnt/d");
	make_file(name);
	shrink_dcache(1000);
	shrink_dcache(1000);
	list("/mnt/d", &listing, 256); /* they are numbered now */
	task_start(look_then_remove, (void *)name);
	task_start(look_then_remove, (void *)name);
	task_start(find_again_and_again, "/mnt/d");
	ring_run();
	compare_with_disk("/mnt/d");
	world_unmount();
}

/* ---- negative dentries (fs/path/negative) -----------------------------------------------------
 */

static void replace(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		make_file("/mnt/d/w");
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/w", AT_FDCWD, "/mnt/d/A", 0), 0);
		CHECK_EQUAL(stat_path("/mnt/d/w"), -ENOENT);
	}
}

static void replaced_names(void)
{
	world_mount();
	make_three("/mnt/d");
	task_start(replace, NULL);
	task_start(make_and_remove, NULL);
	run_until_compared();
	world_unmount();
}

RING_PROGRAM(negative_ext2, world_ext2, 60)
{
	replaced_names();
}

RING_PROGRAM(negative_tmpfs, world_tmpfs, 60)
{
	replaced_names();
}
