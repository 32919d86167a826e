/*
 * below.c - as places.c: all that is cached below a directory is visited (fs/path/direct/below.h)
 * while a name there gets another place among those beside it, by a rename or a listing. It was
 * looked for before, and so is remembered; the tree is changed once, and then nothing is found by
 * what was.
 */
#include "hosted/interleave/programs/direct/direct.h"

static struct path top;

/* /mnt/top/p/two/file and, if @more, what comes before it on tmpfs, where the youngest is last. */
static void make_top(bool more)
{
	world_mount();
	make_directory("/mnt/top", 0755);
	make_directory("/mnt/top/p", 0755);
	if (more) {
		make_directory("/mnt/top/p/one", 0755);
		make_file("/mnt/top/p/one/a");
		make_file("/mnt/top/p/one/b");
	}
	make_directory("/mnt/top/p/two", 0755);
	make_file("/mnt/top/p/two/file");
}

/* ---- others ---------------------------------------------------------------------------------- */

/* It becomes the youngest name of its directory, unless top has moved before. */
static void rename_inside(void *unused)
{
	char old[64] = "/mnt/top/p/one", new[64] = "/mnt/top/p/eno";
	int error = (int)sys_renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);

	(void)unused;
	CHECK(error == 0 || error == -ENOENT);
}

/* In a directory that is listed from memory each name gets the place that it has on the disk. */
static void list_inside(void *unused)
{
	char path[64] = "/mnt/top/p", entries[512];

	(void)unused;
	int fd = (int)sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
	CHECK(fd >= 0);
	while (sys_getdents64(fd, entries, sizeof(entries)) > 0)
		continue;
	CHECK_EQUAL(sys_close(fd), 0);
}

/* ---- who changes top ------------------------------------------------------------------------- */

static void close_top(void *unused)
{
	(void)unused;
	CHECK_EQUAL(vfs_chmod(&top, 0700), 0);
}

static void move_top(void *unused)
{
	(void)unused;
	move("/mnt/top", "/mnt/gone", 0);
}

/* The stranger has looked for all before. */
static void close_beside(void (*other)(void *), bool more)
{
	CHECK_EQUAL(find_path("/mnt/top", 0, &top), 0);
	subject = new_stranger();
	look_often(subject, "/mnt/top/p/two/file");
	if (more)
		look_often(subject, "/mnt/top/p/one/a");
	task_start(close_top, NULL);
	task_start(other, NULL);
	ring_run();
	set_cred(get_cred(subject));
	CHECK_EQUAL(stat_path("/mnt/top/p/two/file"), -EACCES);
	be_root();
	path_put(&top);
	put_cred(subject);
	world_unmount();
}

RING_PROGRAM(direct_chmod_beside_rename, world_tmpfs, 100)
{
	make_top(true);
	close_beside(rename_inside, true);
}

RING_PROGRAM(direct_rename_beside_rename, world_tmpfs, 100)
{
	make_top(true);
	world_warm("/mnt/top/p/two/file");
	world_warm("/mnt/top/p/one/a");
	task_start(move_top, NULL);
	task_start(rename_inside, NULL);
	ring_run();
	leads_nowhere("/mnt/top/p/two/file");
	world_unmount();
}

/* What nobody uses goes, so that no name has a place when it is looked for. */
static void forget_places(void)
{
	shrink_dcache(1000);
	shrink_dcache(1000);
}

RING_PROGRAM(direct_chmod_beside_listing, world_ext2, 100)
{
	make_top(true);
	forget_places();
	close_beside(list_inside, true);
}

/* The only name of a directory: for a moment there is none among its children. */
RING_PROGRAM(direct_chmod_beside_only, world_ext2, 100)
{
	make_top(false);
	forget_places();
	close_beside(list_inside, false);
}
