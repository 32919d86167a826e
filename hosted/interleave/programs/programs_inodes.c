/*
 * programs_inodes.c - interleavings: an inode changes while it is put into the table of inodes, or
 * while another changes it. Who changes it finds it dirty or not; either way the next sync has the
 * change, if no other had. And one is cut off while its pages are written out.
 */
#include "fs/block/dirty.h"
#include "fs/file/file.h"
#include "fs/inode/attributes.h"
#include "fs/writeback.h"
#include "hosted/harness/harness.h"
#include "hosted/interleave/worlds/worlds.h"
#include "hosted/interleave/ring/ring.h"

static struct file *file; /* /mnt/d/file */

/* ---- changes ------------------------------------------------------------------------------------
 */

static void link_file(void)
{
	CHECK_EQUAL(sys_linkat(AT_FDCWD, "/mnt/d/file", AT_FDCWD, "/mnt/other", 0), 0);
}

static void move_file(void)
{
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/file", AT_FDCWD, "/mnt/d/moved", 0), 0);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/moved", AT_FDCWD, "/mnt/d/file", 0), 0);
}

static void lengthen_file(void)
{
	CHECK_EQUAL(do_truncate(file->inode, 3000, TOUCH_ALWAYS), 0);
}

static void set_file_times(void)
{
	static const struct timespec64 times[2] = {{1000000, 1}, {2000000, 2}};

	CHECK_EQUAL(set_times(&file->path, times, TIMES_GIVEN), 0);
}

static void change_mode(void)
{
	CHECK_EQUAL(vfs_chmod(&file->path, 0640), 0);
}

static void change_owner(void)
{
	CHECK_EQUAL(vfs_chown(&file->path, 100000, 200000), 0);
}

enum { LINK, MOVE, LENGTHEN, TIMES, MODE, OWNER, CHANGES };
static void (*const changes[])(void) = {
	[LINK] = link_file,	  [MOVE] = move_file,	[LENGTHEN] = lengthen_file,
	[TIMES] = set_file_times, [MODE] = change_mode, [OWNER] = change_owner};

static void change_once(void *argument)
{
	changes[*(const unsigned *)argument]();
}

static void change_twice(void *argument)
{
	const unsigned *which = argument;

	changes[which[0]]();
	changes[which[1]]();
}

/* ---- who writes it out --------------------------------------------------------------------------
 */

static void sync_file(void *unused)
{
	(void)unused;
	CHECK_EQUAL(vfs_fsync(file, false), 0);
}

static void start_writer(void)
{
	static void (*const writers[])(void *) = {sync_file, world_sync_all, world_write_back};

	task_start(writers[rng_below(&ring_program_rng, ARRAY_SIZE(writers))], NULL);
}

/* ---- programs -----------------------------------------------------------------------------------
 */

static void make_file(void)
{
	world_mount();
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/d", 0755), 0);
	file = open_path("/mnt/d/file", O_CREAT | O_RDWR, 0600);
	CHECK(!IS_ERR(file));
	if (rng_below(&ring_program_rng, 2)) /* else it is dirty from the start */
		sys_sync();
}

/* After a sync the disk has what memory has. */
RING_PROGRAM(inode_changes, world_ext2, 60)
{
	unsigned which[2] = {(unsigned)rng_below(&ring_program_rng, CHANGES)};

	which[1] = (which[0] + 1 + (unsigned)rng_below(&ring_program_rng, CHANGES - 1)) % CHANGES;
	make_file();
	task_start(change_twice, which);
	start_writer();
	ring_run();
	sys_sync();
	world_check_inode(file->inode);
	fput(file);
	world_unmount();
}

/* A rename renews the ctime of a file whose lock another has. */
static void move_and_change(void)
{
	static const unsigned moves = MOVE, others[] = {LENGTHEN, TIMES};

	make_file();
	task_start(change_once, (void *)&moves);
	task_start(change_once, (void *)&others[rng_below(&ring_program_rng, ARRAY_SIZE(others))]);
	start_writer();
	ring_run();
	sys_sync();
}

RING_PROGRAM(move_and_change_ext2, world_ext2, 60)
{
	move_and_change();
	world_check_inode(file->inode);
	fput(file);
	world_unmount();
}

RING_PROGRAM(move_and_change_tmpfs, world_tmpfs, 60)
{
	move_and_change();
	fput(file);
	world_unmount();
}

/* ---- truncation ---------------------------------------------------------------------------------
 */

static void cut_to_nothing(void *inode)
{
	CHECK_EQUAL(truncate_path("/mnt/file", 0), 0);
	CHECK_EQUAL(((struct inode *)inode)->data.nr_pages, 0);
}

/* No page is left behind the end, though its becoming clean moves it from list to list. */
RING_PROGRAM(truncate_written, world_ext2, 100)
{
	struct path path;

	world_mount();
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "data", 4), 4);
	CHECK_EQUAL(find_path("/mnt/file", 0, &path), 0);
	task_start(cut_to_nothing, path.dentry->inode);
	task_start(world_write_back, NULL);
	ring_run();
	path_put(&path);
	world_unmount();
}
