/*
 * programs_mounts.c - interleavings: a file system becomes read-only while it is changed; mounts
 * leave the tree while others walk.
 */
#include "fs/ext2/ext2.h"
#include "fs/file/file.h"
#include "fs/path/mount.h"
#include "fs/path/namei.h"
#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/interleave/worlds/worlds.h"

static unsigned remount_flags;

/* Once it has become so, no change goes on, and the disk is as it is to stay. */
static void become_read_only(void *unused)
{
	(void)unused;
	s64 error = sys_mount("none", "/mnt", NULL, MS_REMOUNT | remount_flags, NULL);

	CHECK(error == 0 || error == -EBUSY);
}

static bool is_read_only(const struct file *file)
{
	return mount_writable(file->path.mount) != 0;
}

/* A file that is open for writing can be written, as long as it is. */
static void open_to_write(void *unused)
{
	(void)unused;
	struct file *file = open_path("/mnt/file", O_RDWR, 0);

	if (IS_ERR(file)) {
		CHECK_EQUAL(PTR_ERR(file), -EROFS);
		return;
	}
	CHECK(!is_read_only(file));
	ring_user();
	CHECK(!is_read_only(file));
	fput(file);
}

static void make_and_remove(void *unused)
{
	(void)unused;
	static const char names[][24] = {"/mnt/a", "/mnt/b", "/mnt/c", "/mnt/d"};
	s64 error = sys_unlinkat(AT_FDCWD, "/mnt/file", 0);

	CHECK(error == 0 || error == -EROFS);
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++, ring_user()) {
		error = sys_mkdirat(AT_FDCWD, names[i], 0755);
		CHECK(error == 0 || error == -EROFS);
	}
	struct file *root = open_path("/mnt", O_RDONLY, 0);
	CHECK(!IS_ERR(root));
	if (is_read_only(root)) /* since before the last of them, or after all */
		world_check_inode(root->inode);
	fput(root);
}

/* What has no name any more goes when it is let go, which takes a disk that may be written to. */
static void remove_what_is_open(void *unused)
{
	(void)unused;
	struct file *file = open_path("/mnt/file", O_RDONLY, 0);

	CHECK(!IS_ERR(file));
	s64 error = sys_unlinkat(AT_FDCWD, "/mnt/file", 0);
	CHECK(error == 0 || error == -EROFS);
	ring_user();
	CHECK(error || !is_read_only(file));
	fput(file);
}

static void with(void (*change)(void *), unsigned flags)
{
	remount_flags = SB_RDONLY | flags;
	world_mount();
	CHECK_EQUAL(write_at("/mnt/file", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	task_start(change, NULL);
	task_start(become_read_only, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(remount_opening, world_ext2, 100)
{
	with(open_to_write, rng_below(&ring_program_rng, 2) ? MS_BIND : 0);
}

RING_PROGRAM(remount_changing, world_ext2, 100)
{
	with(make_and_remove, 0);
}

RING_PROGRAM(remount_removed, world_ext2, 100)
{
	with(remove_what_is_open, 0);
}

/* ---- mounts leave -------------------------------------------------------------------------------
 */

static void mount_memory(const char *where)
{
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, where, 0755), 0);
	CHECK_EQUAL(sys_mount("none", where, "tmpfs", 0, ""), 0);
}

static void detach_above(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_umount2("/mnt/above", MNT_DETACH), 0);
}

/* What lies under a mount is not to be seen, neither before all goes nor afterwards. */
static void look_for_hidden(void *unused)
{
	static const char hidden[40] = "/mnt/above/on/hidden";
	struct path path;

	(void)unused;
	for (unsigned i = 0; i < 3; i++, ring_user())
		CHECK_EQUAL(path_lookup(AT_FDCWD, hidden, 0, NULL, &path), -ENOENT);
}

RING_PROGRAM(detach_with_children, world_tmpfs, 100)
{
	world_mount();
	mount_memory("/mnt/above");
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/above/on", 0755), 0);
	CHECK_EQUAL(write_at("/mnt/above/on/hidden", O_CREAT | O_WRONLY, 0, "x", 1), 1);
	CHECK_EQUAL(sys_mount("none", "/mnt/above/on", "tmpfs", 0, ""), 0);
	task_start(detach_above, NULL);
	task_start(look_for_hidden, NULL);
	ring_run();
	world_unmount();
}

static void follow_links(void *unused)
{
	static const char link[40] = "/mnt/first/link";
	struct path path;

	(void)unused;
	if (path_lookup(AT_FDCWD, link, LOOKUP_FOLLOW, NULL, &path) == 0)
		path_put(&path);
}

static void unmount_second(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_umount2("/mnt/second", MNT_DETACH), 0);
}

static void unmount_first(void *unused)
{
	(void)unused;
	while (sys_umount2("/mnt/first", 0) == -EBUSY)
		ring_user();
}

/* Who follows a link uses the mount in which it lies, until the walk ends. */
RING_PROGRAM(unmount_links, world_tmpfs, 100)
{
	world_mount();
	mount_memory("/mnt/first");
	mount_memory("/mnt/second");
	CHECK_EQUAL(sys_symlinkat("/mnt/second/link", AT_FDCWD, "/mnt/first/link"), 0);
	CHECK_EQUAL(sys_symlinkat("/mnt", AT_FDCWD, "/mnt/second/link"), 0);
	task_start(follow_links, NULL);
	task_start(unmount_second, NULL);
	task_start(unmount_first, NULL);
	ring_run();
	world_unmount();
}
