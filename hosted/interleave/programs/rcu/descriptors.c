/*
 * descriptors.c - interleavings: the descriptors of threads (fs/file/file_table.h). What another
 * thread closes, duplicates or has the arrays grown for is open or not, and stays as long as it is
 * held.
 */
#include "fs/file/file_table.h"
#include "fs/start.h"
#include "hosted/harness/harness.h"
#include "hosted/interleave/worlds/worlds.h"
#include "hosted/interleave/ring/ring.h"

#define ROUNDS 4

/* ---- descriptors of threads -------------------------------------------------------------------
 */

enum { OWN_FD = 3, TABLE_FULL = 64, TABLE_LARGE = 512 };

/* What another closes, and has open again, is there or not, and stays as long as we have it. */
static void read_descriptor(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user()) {
		struct fd fd = fdget(OWN_FD);
		char byte = 0;

		if (!fd.file)
			continue;
		CHECK(fd.counted);
		CHECK_EQUAL(kernel_read(fd.file, &byte, 1, 0), 1);
		CHECK_EQUAL(byte, 'x');
		fdput(fd);
	}
}

/* Far behind the arrays as they were: within the larger ones, of which nobody has used that. */
static void look_behind(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 6 * ROUNDS; i++, ring_user()) {
		u32 size = file_table_size(current->files);

		for (unsigned again = 0; again < 3; again++)
			CHECK(!fdget((int)(size + size / 2)).file);
	}
}

static void close_and_open(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(fd_close(OWN_FD), 0);
		CHECK_EQUAL(fd_add(open_path("/mnt/x", O_RDONLY, 0), OWN_FD, 0), OWN_FD);
	}
}

/* The arrays grow four times: from the second on old ones are freed. */
static void open_many(void *unused)
{
	struct file *file = open_path("/mnt/x", O_RDONLY, 0);

	(void)unused;
	for (unsigned fd = TABLE_FULL; fd <= TABLE_LARGE; fd *= 2, ring_user())
		CHECK_EQUAL(fd_duplicate(file, fd, 0), fd);
	for (unsigned fd = TABLE_FULL; fd <= TABLE_LARGE; fd *= 2)
		CHECK_EQUAL(fd_close((int)fd), 0);
	fput(file);
}

RING_PROGRAM(descriptors, world_tmpfs, 100)
{
	struct file_table *before = current->files;

	world_mount();
	current->files = file_table_create();
	CHECK_EQUAL(write_at("/mnt/x", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	CHECK_EQUAL(fd_add(open_path("/mnt/x", O_RDONLY, 0), OWN_FD, 0), OWN_FD);
	task_start(read_descriptor, NULL);
	task_start(look_behind, NULL);
	task_start(close_and_open, NULL);
	task_start(open_many, NULL);
	ring_run();
	CHECK_EQUAL(fd_close(OWN_FD), 0);
	file_table_put(current->files);
	current->files = before;
	world_unmount();
}

/* ---- a table that one task uses alone, and another looks at ------------------------------------
 */

static struct file_table *owned;

static void change_own(void *unused)
{
	struct file_table *before = current->files;

	(void)unused;
	current->files = owned;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		struct file *file = open_path("/mnt/x", O_RDONLY, 0);

		for (unsigned fd = OWN_FD; fd <= TABLE_LARGE; fd *= 2)
			CHECK_EQUAL(fd_duplicate(file, fd, 0), fd);
		for (unsigned fd = OWN_FD; fd <= TABLE_LARGE; fd *= 2)
			CHECK_EQUAL(fd_close((int)fd), 0);
		fput(file);
	}
	current->files = before;
}

static void look_from_outside(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user())
		for (int fd = 0; (fd = file_table_next(owned, fd)) >= 0; fd++) {
			struct fd found = fdget_shared(owned, (u32)fd);
			char byte = 0;

			CHECK_EQUAL(fd % OWN_FD, 0);
			if (!found.file)
				continue; /* closed meanwhile */
			CHECK_EQUAL(kernel_read(found.file, &byte, 1, 0), 1);
			CHECK_EQUAL(byte, 'x');
			fdput(found);
		}
}

RING_PROGRAM(descriptors_looked_at, world_tmpfs, 100)
{
	world_mount();
	CHECK_EQUAL(write_at("/mnt/x", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	owned = file_table_create();
	file_table_hold(owned);
	task_start(change_own, NULL);
	task_start(look_from_outside, NULL);
	ring_run();
	file_table_put(owned);
	file_table_release(owned);
	world_unmount();
}

/* ---- a table that its last task but one leaves --------------------------------------------------
 */

static struct file_table *after_leaving;

/* Within the program: what task_end() does is not seen by who looks for races. */
static void leave_table(void)
{
	struct file_table *table = current->files;

	file_table_get(after_leaving);
	current->files = after_leaving;
	file_table_put(table);
}

static void change_and_leave(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 6 * ROUNDS; i++, ring_user()) {
		int fd = fd_add(open_path("/mnt/x", O_RDONLY, 0), 0, 0);
		struct fd found = fdget(fd);
		char byte = 0;

		CHECK(found.file);
		CHECK_EQUAL(kernel_read(found.file, &byte, 1, 0), 1);
		fdput(found);
		CHECK_EQUAL(fd_close(fd), 0);
	}
	leave_table();
}

static void grow_and_leave(void *unused)
{
	struct file *file = open_path("/mnt/x", O_RDONLY, 0);

	(void)unused;
	for (unsigned fd = TABLE_FULL / 2; fd <= 2 * TABLE_FULL; fd *= 2)
		CHECK_EQUAL(fd_duplicate(file, fd, 0), fd);
	fput(file);
	leave_table();
}

RING_PROGRAM(descriptors_left_alone, world_tmpfs, 100)
{
	struct file_table *table = file_table_create();

	world_mount();
	CHECK_EQUAL(write_at("/mnt/x", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	after_leaving = current->files;
	current->files = table;
	task_start(grow_and_leave, NULL);
	task_start(change_and_leave, NULL);
	current->files = after_leaving;
	file_table_put(table);
	ring_run();
	world_unmount();
}

/* ---- a directory that another user of the table closes, who leaves ------------------------------
 */

/* Its descriptor is where the path begins: it leads there, or is not open. */
static void stat_from_descriptor(void *unused)
{
	static const char name[64] = "y"; /* a user's names are read by whole words */

	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		struct kstat stat;
		int error = (int)sys_newfstatat(OWN_FD, name, &stat, 0);

		CHECK(error == 0 || error == -EBADF);
	}
	leave_table();
}

static void close_and_leave(void *unused)
{
	(void)unused;
	ring_user();
	CHECK_EQUAL(fd_close(OWN_FD), 0);
	leave_table();
}

RING_PROGRAM(descriptors_walked_from, world_tmpfs, 100)
{
	struct file_table *table = file_table_create();

	world_mount();
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
	CHECK_EQUAL(write_at("/mnt/d/y", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	after_leaving = current->files;
	current->files = table;
	CHECK_EQUAL(fd_add(open_path("/mnt/d", O_RDONLY | O_DIRECTORY, 0), OWN_FD, 0), OWN_FD);
	task_start(stat_from_descriptor, NULL);
	task_start(close_and_leave, NULL);
	current->files = after_leaving;
	file_table_put(table);
	ring_run();
	world_unmount();
}
