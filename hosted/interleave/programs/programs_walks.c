/*
 * programs_walks.c - interleavings: walks that are not to leave a tree, and files that get their
 * first name.
 */
#include <stdio.h>

#include "fs/file/file_table.h"
#include "fs/openat2/openat2.h"
#include "fs/start.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/interleave/worlds/worlds.h"

/* ---- a restricted walk --------------------------------------------------------------------------
 */

static void move_out(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/a/b", AT_FDCWD, "/mnt/out/b", 0), 0);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/out/b", AT_FDCWD, "/mnt/d/a/b", 0), 0);
}

/* "../.." of what is moved out leads to where "out" is: nobody is to get there. */
static void walk_within(void *resolve)
{
	static const char name[40] = "a/b/../../out/secret";
	struct path path;
	int error = path_lookup_restricted(AT_FDCWD, name, 0, (unsigned)(uintptr_t)resolve, NULL,
					   &path);
	if (!error)
		path_put(&path);
	if (error != -ENOENT && error != -EAGAIN)
		test_failed(__FILE__, __LINE__, "restricted walk: %d", error);
}

static void leave_by_rename(unsigned resolve)
{
	world_mount();
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d/a", 0755), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d/a/b", 0755), 0);
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/out", 0755), 0);
	CHECK_EQUAL(write_at("/mnt/out/secret", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	CHECK_EQUAL(sys_chdir("/mnt/d"), 0);
	task_start(walk_within, (void *)(uintptr_t)resolve);
	task_start(move_out, NULL);
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	world_unmount();
}

RING_PROGRAM(beneath_rename, world_tmpfs, 100)
{
	leave_by_rename(RESOLVE_BENEATH);
}

RING_PROGRAM(in_root_rename, world_ext2, 100)
{
	leave_by_rename(RESOLVE_IN_ROOT);
}

/* ---- a file without a name ----------------------------------------------------------------------
 */

static void give_a_name(void *file)
{
	static const char name[40] = "/mnt/d/name";
	struct path *path = &((struct file *)file)->path;
	struct new_name new = {.old = path};
	struct path made;

	CHECK_EQUAL(path_lookup(AT_FDCWD, name, LOOKUP_EXCLUSIVE, &new, &made), 0);
	path_put(&made);
}

static void write_all_back(void *unused)
{
	(void)unused;
	writeback_once();
	CHECK_EQUAL(vfs_sync_all(), 0);
}

static void name_the_nameless(void)
{
	char data[8];

	world_mount();
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);

	struct file *file = open_path("/mnt", O_TMPFILE | O_RDWR, 0600);
	CHECK(!IS_ERR(file));
	struct io io = {.base = (void *)"nameless", .length = 8, .kind = IO_KERNEL};
	loff_t position = 0;
	CHECK_EQUAL(vfs_write(file, &io, &position), 8);
	task_start(give_a_name, file);
	task_start(write_all_back, NULL);
	ring_run();
	CHECK_EQUAL(file->inode->nlink, 1);
	fput(file);
	CHECK_EQUAL(read_at("/mnt/d/name", 0, data, 8), 8);
	world_unmount();
}

/* It gets its first name while it is written back as one that has none. */
RING_PROGRAM(nameless_ext2, world_ext2, 100)
{
	name_the_nameless();
}

RING_PROGRAM(nameless_tmpfs, world_tmpfs, 100)
{
	name_the_nameless();
}
