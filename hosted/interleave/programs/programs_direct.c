/*
 * programs_direct.c - interleavings: direct lookup (fs/path/direct) against all that makes what it
 * remembers untrue. Who changes the tree looks for himself what it is like when his call has
 * returned; others look for the same paths all the while, and so remember them at any moment. Where
 * a path leads is told by the inode.
 *
 * All paths have two components or more, since one short name is walked.
 */
#include <stdio.h>

#include "fs/path/direct/direct.h"
#include "hosted/interleave/programs/lockless.h"

#define STRANGER 1000

/* What stat(2) tells of @path: 0 or -errno; *@number: the inode. */
static int look(const char *path, ino_t *number)
{
	struct kstat stat = {0};
	char text[64];

	snprintf(text, sizeof(text), "%s", path);
	int error = (int)sys_newfstatat(AT_FDCWD, text, &stat, 0);
	*number = stat.ino;
	return error;
}

static ino_t number_of(const char *path)
{
	ino_t number;

	CHECK_EQUAL(look(path, &number), 0);
	return number;
}

static void leads_to(const char *path, ino_t number)
{
	CHECK_EQUAL(number_of(path), number);
}

static void leads_nowhere(const char *path)
{
	CHECK_EQUAL(stat_path(path), -ENOENT);
}

static void move(const char *from, const char *to, unsigned flags)
{
	char old[64], new[64];

	snprintf(old, sizeof(old), "%s", from);
	snprintf(new, sizeof(new), "%s", to);
	CHECK_EQUAL(sys_renameat2(AT_FDCWD, old, AT_FDCWD, new, flags), 0);
}

static void remove_file(const char *path)
{
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, path, 0), 0);
}

static void remove_directory(const char *path)
{
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR), 0);
}

/* ---- who looks all the while ------------------------------------------------------------------ */

static void look_whether(void *path)
{
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		int error = stat_path(path);

		CHECK(error == 0 || error == -ENOENT);
	}
}

/* It is always there: by stat(2), which takes no reference, and by open(2), which does. */
static void always_find(void *path)
{
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(stat_path(path), 0);
		struct file *file = open_path(path, O_RDONLY, 0);
		CHECK(!IS_ERR(file));
		fput(file);
	}
}

static void never_find(void *path)
{
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		leads_nowhere(path);
}

/* ---- a directory above is renamed ------------------------------------------------------------- */

/* /mnt/up/dir/file, and where it went meanwhile; at the old name another. */
static void move_above(void *unused)
{
	ino_t file = number_of("/mnt/up/dir/file");

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/up", "/mnt/moved", 0);
		leads_nowhere("/mnt/up/dir/file");
		leads_to("/mnt/moved/dir/file", file);
		make_directory("/mnt/up", 0755);
		make_directory("/mnt/up/dir", 0755);
		make_file("/mnt/up/dir/file");
		make_file("/mnt/up/dir/more");
		CHECK(number_of("/mnt/up/dir/file") != file);
		leads_to("/mnt/moved/dir/file", file);
		remove_file("/mnt/up/dir/file");
		remove_file("/mnt/up/dir/more");
		remove_directory("/mnt/up/dir");
		remove_directory("/mnt/up");
		leads_nowhere("/mnt/up/dir/file");
		move("/mnt/moved", "/mnt/up", 0);
		leads_to("/mnt/up/dir/file", file);
		leads_nowhere("/mnt/moved/dir/file");
	}
}

static void make_up(void)
{
	world_mount();
	make_directory("/mnt/up", 0755);
	make_directory("/mnt/up/dir", 0755);
	make_file("/mnt/up/dir/file");
	world_warm("/mnt/up/dir/file");
}

RING_PROGRAM(direct_rename_above, world_tmpfs, 60)
{
	make_up();
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(look_whether, "/mnt/moved/dir/file");
	task_start(never_find, "/mnt/moved/dir/more"); /* which is never there */
	task_start(move_above, NULL);
	ring_run();
	world_unmount();
}

static void exchange_above(void *unused)
{
	ino_t one = number_of("/mnt/one/dir/file"), two = number_of("/mnt/two/dir/file");

	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		move("/mnt/one", "/mnt/two", RENAME_EXCHANGE);
		leads_to("/mnt/one/dir/file", i % 2 ? one : two);
		leads_to("/mnt/two/dir/file", i % 2 ? two : one);
	}
}

/* A name that always exists is never missed, and whoever looks twice sees no change undone. */
RING_PROGRAM(direct_exchange_above, world_tmpfs, 60)
{
	world_mount();
	make_directory("/mnt/one", 0755);
	make_directory("/mnt/two", 0755);
	make_directory("/mnt/one/dir", 0755);
	make_directory("/mnt/two/dir", 0755);
	make_file("/mnt/one/dir/file");
	make_file("/mnt/two/dir/file");
	world_warm("/mnt/one/dir/file");
	world_warm("/mnt/two/dir/file");
	task_start(always_find, "/mnt/one/dir/file");
	task_start(always_find, "/mnt/two/dir/file");
	task_start(exchange_above, NULL);
	ring_run();
	world_unmount();
}

static void move_once(void *unused)
{
	(void)unused;
	move("/mnt/up", "/mnt/moved", 0);
}

/* Who has found it at the new place does not find it at the old one any more. */
static void find_new_then_old(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user())
		if (!stat_path("/mnt/moved/dir/file"))
			leads_nowhere("/mnt/up/dir/file");
}

RING_PROGRAM(direct_no_way_back, world_tmpfs, 100)
{
	make_up();
	task_start(find_new_then_old, NULL);
	task_start(find_new_then_old, NULL);
	task_start(move_once, NULL);
	ring_run();
	world_unmount();
}

/* ---- from a working directory ----------------------------------------------------------------- */

static ino_t in_working_directory;

static void find_from_there(void *path)
{
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		leads_to(path, in_working_directory);
}

/* What is above the working directory moves, and another takes its place. */
RING_PROGRAM(direct_working_directory, world_tmpfs, 60)
{
	make_up();
	CHECK_EQUAL(sys_chdir("/mnt"), 0);
	world_warm("up/dir/file");
	in_working_directory = number_of("/mnt/up/dir/file");
	CHECK_EQUAL(sys_chdir("/mnt/up"), 0);
	world_warm("dir/file");
	task_start(find_from_there, "dir/file");
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(move_above, NULL);
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	world_unmount();
}

/* The working directory and another change places: from where one stands nothing changes. */
static void exchange_under(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		move("/mnt/one", "/mnt/two", RENAME_EXCHANGE);
}

RING_PROGRAM(direct_start_moves, world_tmpfs, 60)
{
	world_mount();
	make_directory("/mnt/one", 0755);
	make_directory("/mnt/two", 0755);
	make_directory("/mnt/one/dir", 0755);
	make_directory("/mnt/two/dir", 0755);
	make_file("/mnt/one/dir/file");
	make_file("/mnt/two/dir/file");
	world_warm("/mnt/two/dir/file");
	in_working_directory = number_of("/mnt/one/dir/file");
	CHECK_EQUAL(sys_chdir("/mnt/one"), 0);
	world_warm("dir/file");
	task_start(find_from_there, "dir/file");
	task_start(always_find, "/mnt/one/dir/file");
	task_start(exchange_under, NULL);
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	world_unmount();
}

/* ---- who may ---------------------------------------------------------------------------------- */

static struct cred *stranger; /* whose threads share what he may reach */

/* He has looked for @path often enough that he would be let in without being asked, if he was let
 * in before. */
static void make_stranger(const char *path)
{
	stranger = prepare_cred();
	stranger->uid = stranger->euid = stranger->suid = STRANGER;
	stranger->gid = stranger->egid = stranger->sgid = STRANGER;
	set_cred(get_cred(stranger));
	world_warm(path);
	set_cred(get_cred(&init_cred));
}

/* Odd: what the stranger looks for is forbidden, by a call that has returned, until it is even. */
static atomic_t forbidden;

static void try_as_stranger(void *path)
{
	set_cred(get_cred(stranger));
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user()) {
		int before = atomic_read(&forbidden);
		int error = stat_path(path);

		CHECK(error == 0 || error == -EACCES);
		if (before % 2 && atomic_read(&forbidden) == before)
			CHECK_EQUAL(error, -EACCES);
	}
	set_cred(get_cred(&init_cred));
}

static void forbid_and_allow(void *directory)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK_EQUAL(vfs_chmod(directory, 0), 0);
		atomic_inc(&forbidden);
		ring_user();
		atomic_inc(&forbidden);
		CHECK_EQUAL(vfs_chmod(directory, 0755), 0);
		ring_user();
	}
}

static void change_rights(void (*change)(void *), umode_t mode, uid_t owner)
{
	struct path directory;

	atomic_set(&forbidden, 0);
	make_up();
	CHECK_EQUAL(find_path("/mnt/up", 0, &directory), 0);
	CHECK_EQUAL(vfs_chmod(&directory, mode), 0);
	CHECK_EQUAL(vfs_chown(&directory, owner, 0), 0);
	make_stranger("/mnt/up/dir/file");
	task_start(try_as_stranger, "/mnt/up/dir/file");
	task_start(try_as_stranger, "/mnt/up/dir/file");
	task_start(change, &directory);
	ring_run();
	path_put(&directory);
	put_cred(stranger);
	world_unmount();
}

RING_PROGRAM(direct_chmod, world_tmpfs, 100)
{
	change_rights(forbid_and_allow, 0755, 0);
}

/* Now he is the owner, now of the group. */
static void take_and_give(void *directory)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		CHECK_EQUAL(vfs_chown(directory, 0, 0), 0);
		atomic_inc(&forbidden);
		ring_user();
		atomic_inc(&forbidden);
		if (i % 2)
			CHECK_EQUAL(vfs_chown(directory, 0, STRANGER), 0);
		else
			CHECK_EQUAL(vfs_chown(directory, STRANGER, 0), 0);
		ring_user();
	}
}

RING_PROGRAM(direct_chown, world_tmpfs, 100)
{
	change_rights(take_and_give, 0710, STRANGER);
}

/* The directory that all may search is removed, and one of its name has what only root may see. */
static void make_private(void *unused)
{
	(void)unused;
	remove_directory("/mnt/up/dir");
	make_directory("/mnt/up/dir", 0700);
	make_file("/mnt/up/dir/secret");
	CHECK_EQUAL(stat_path("/mnt/up/dir/secret"), 0);
}

static void never_reach(void *path)
{
	set_cred(get_cred(stranger));
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		CHECK(stat_path(path) != 0);
	set_cred(get_cred(&init_cred));
}

RING_PROGRAM(direct_private, world_tmpfs, 100)
{
	world_mount();
	make_directory("/mnt/up", 0755);
	make_directory("/mnt/up/dir", 0755);
	make_stranger("/mnt/up/dir/secret");
	task_start(never_reach, "/mnt/up/dir/secret");
	task_start(look_whether, "/mnt/up/dir/secret");
	task_start(make_private, NULL);
	ring_run();
	put_cred(stranger);
	world_unmount();
}

/* He stands where he could not go any more: from there he finds all, from the root nothing. */
static void find_as_stranger(void *path)
{
	set_cred(get_cred(stranger));
	find_from_there(path);
	set_cred(get_cred(&init_cred));
}

RING_PROGRAM(direct_kept_rights, world_tmpfs, 60)
{
	make_up();
	in_working_directory = number_of("/mnt/up/dir/file");
	CHECK_EQUAL(chmod_path("/mnt/up", 0700), 0);
	CHECK_EQUAL(sys_chdir("/mnt/up/dir"), 0);
	make_directory("sub", 0755);
	move("file", "sub/file", 0);
	make_stranger("sub/file");
	task_start(find_as_stranger, "sub/file");
	task_start(never_reach, "/mnt/up/dir/sub/file");
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	put_cred(stranger);
	world_unmount();
}

/* ---- names come and go ------------------------------------------------------------------------ */

static void make_and_remove(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		make_file("/mnt/up/new");
		CHECK_EQUAL(stat_path("/mnt/up/new"), 0);
		remove_file("/mnt/up/new");
		leads_nowhere("/mnt/up/new");
	}
}

static void come_and_go(void)
{
	make_up();
	world_warm("/mnt/up/new");
	task_start(look_whether, "/mnt/up/new");
	task_start(look_whether, "/mnt/up/new");
	task_start(make_and_remove, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(direct_unlink_ext2, world_ext2, 60)
{
	come_and_go();
}

RING_PROGRAM(direct_unlink_tmpfs, world_tmpfs, 60)
{
	come_and_go();
}

static void move_file(void *unused)
{
	ino_t file = number_of("/mnt/up/dir/file");

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/up/dir/file", "/mnt/up/other", 0);
		leads_nowhere("/mnt/up/dir/file");
		leads_to("/mnt/up/other", file);
		move("/mnt/up/other", "/mnt/up/dir/file", 0);
		leads_to("/mnt/up/dir/file", file);
		leads_nowhere("/mnt/up/other");
	}
}

RING_PROGRAM(direct_rename_file, world_tmpfs, 60)
{
	make_up();
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(look_whether, "/mnt/up/other");
	task_start(move_file, NULL);
	ring_run();
	world_unmount();
}

static void make_and_remove_directory(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		remove_file("/mnt/up/dir/file");
		remove_directory("/mnt/up/dir");
		leads_nowhere("/mnt/up/dir/file");
		make_directory("/mnt/up/dir", 0755);
		leads_nowhere("/mnt/up/dir/file");
		make_file("/mnt/up/dir/file");
		CHECK_EQUAL(stat_path("/mnt/up/dir/file"), 0);
	}
}

RING_PROGRAM(direct_rmdir, world_ext2, 60)
{
	make_up();
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(make_and_remove_directory, NULL);
	task_start(forget_names, NULL);
	ring_run();
	world_unmount();
}

/* All that is remembered goes at once, which no other program makes happen. */
static void forget_paths(void *unused)
{
	(void)unused;
#ifdef CONFIG_DCACHE_FASTPATH
	for (unsigned i = 0; i < ROUNDS; i++, ring_user())
		direct_forget_all();
#endif
}

/* What is known is reclaimed, and its memory used again. */
RING_PROGRAM(direct_reclaim, world_ext2, 60)
{
	make_up();
	make_directory("/mnt/up/more", 0755);
	make_file("/mnt/up/more/file");
	sys_sync();
	task_start(always_find, "/mnt/up/dir/file");
	task_start(always_find, "/mnt/up/more/file");
	task_start(forget_names, NULL);
	task_start(forget_paths, NULL);
	ring_run();
	world_unmount();
}

/* Two learn the same from nothing. */
RING_PROGRAM(direct_together, world_tmpfs, 60)
{
	world_mount();
	make_directory("/mnt/up", 0755);
	make_directory("/mnt/up/dir", 0755);
	make_file("/mnt/up/dir/file");
	task_start(always_find, "/mnt/up/dir/file");
	task_start(always_find, "/mnt/up/dir/file");
	ring_run();
	world_unmount();
}

/* ---- mounts ----------------------------------------------------------------------------------- */

static void mount_above(void *unused)
{
	ino_t file = number_of("/mnt/up/dir/file");

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_mount("none", "/mnt/up", "tmpfs", 0, "mode=755"), 0);
		leads_nowhere("/mnt/up/dir/file");
		make_directory("/mnt/up/dir", 0755);
		make_file("/mnt/up/dir/over");
		CHECK_EQUAL(stat_path("/mnt/up/dir/over"), 0);
		CHECK_EQUAL(sys_umount2("/mnt/up", MNT_DETACH), 0);
		leads_to("/mnt/up/dir/file", file);
		leads_nowhere("/mnt/up/dir/over");
	}
}

RING_PROGRAM(direct_mount_above, world_tmpfs, 60)
{
	make_up();
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(look_whether, "/mnt/up/dir/over");
	task_start(mount_above, NULL);
	ring_run();
	world_unmount();
}

/* A directory moves with what is mounted below it. */
static void move_with_mount(void *unused)
{
	ino_t file = number_of("/mnt/up/dir/sub/file");

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/up", "/mnt/moved", 0);
		leads_nowhere("/mnt/up/dir/sub/file");
		leads_to("/mnt/moved/dir/sub/file", file);
		move("/mnt/moved", "/mnt/up", 0);
		leads_to("/mnt/up/dir/sub/file", file);
		leads_nowhere("/mnt/moved/dir/sub/file");
	}
}

RING_PROGRAM(direct_mount_below, world_tmpfs, 60)
{
	make_up();
	CHECK_EQUAL(sys_mount("none", "/mnt/up/dir", "tmpfs", 0, "mode=755"), 0);
	make_directory("/mnt/up/dir/sub", 0755);
	make_file("/mnt/up/dir/sub/file");
	world_warm("/mnt/up/dir/sub/file");
	task_start(look_whether, "/mnt/up/dir/sub/file");
	task_start(look_whether, "/mnt/moved/dir/sub/file");
	task_start(move_with_mount, NULL);
	ring_run();
	CHECK_EQUAL(sys_umount2("/mnt/up/dir", 0), 0);
	world_unmount();
}

/* What is mounted below a directory is forbidden with it. */
RING_PROGRAM(direct_chmod_mount, world_tmpfs, 60)
{
	struct path directory;

	atomic_set(&forbidden, 0);
	make_up();
	CHECK_EQUAL(sys_mount("none", "/mnt/up/dir", "tmpfs", 0, "mode=755"), 0);
	make_file("/mnt/up/dir/file");
	CHECK_EQUAL(find_path("/mnt/up", 0, &directory), 0);
	make_stranger("/mnt/up/dir/file");
	task_start(try_as_stranger, "/mnt/up/dir/file");
	task_start(try_as_stranger, "/mnt/up/dir/file");
	task_start(forbid_and_allow, &directory);
	ring_run();
	path_put(&directory);
	put_cred(stranger);
	CHECK_EQUAL(sys_umount2("/mnt/up/dir", 0), 0);
	world_unmount();
}

/* From a working directory on which another file system was mounted, or above it, all is found as
 * before; the path that it had leads to what is mounted. */
RING_PROGRAM(direct_hidden, world_tmpfs, 60)
{
	make_up();
	in_working_directory = number_of("/mnt/up/dir/file");
	CHECK_EQUAL(sys_chdir("/mnt/up"), 0);
	CHECK_EQUAL(sys_mount("none", "/mnt/up", "tmpfs", 0, "mode=755"), 0);
	make_directory("/mnt/up/dir", 0755);
	task_start(find_from_there, "dir/file");
	task_start(never_find, "/mnt/up/dir/file");
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	CHECK_EQUAL(sys_umount2("/mnt/up", 0), 0);
	world_unmount();
}

/* The same in a file system that is mounted nowhere any more: its root is not the root. */
RING_PROGRAM(direct_detached, world_tmpfs, 60)
{
	world_mount();
	make_directory("/mnt/up", 0755);
	CHECK_EQUAL(sys_mount("none", "/mnt/up", "tmpfs", 0, "mode=755"), 0);
	make_directory("/mnt/up/mnt", 0755);
	make_file("/mnt/up/mnt/file");
	in_working_directory = number_of("/mnt/up/mnt/file");
	CHECK_EQUAL(sys_chdir("/mnt/up"), 0);
	CHECK_EQUAL(sys_umount2("/mnt/up", MNT_DETACH), 0);
	task_start(find_from_there, "mnt/file");
	task_start(never_find, "/mnt/file");
	task_start(never_find, "/mnt/up/mnt/file");
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	world_unmount();
}

static void move_out_and_in(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		move("/mnt/up/dir", "/mnt/out", 0);
		leads_nowhere("/mnt/bound/dir/file");
		move("/mnt/out", "/mnt/up/dir", 0);
		CHECK_EQUAL(stat_path("/mnt/bound/dir/file"), 0);
	}
}

/* A working directory that is seen through a bind mount leaves what that shows. */
RING_PROGRAM(direct_bind, world_tmpfs, 60)
{
	make_up();
	make_directory("/mnt/bound", 0755);
	make_directory("/mnt/up/dir/sub", 0755);
	move("/mnt/up/dir/file", "/mnt/up/dir/sub/file", 0);
	make_file("/mnt/up/dir/file");
	in_working_directory = number_of("/mnt/up/dir/sub/file");
	CHECK_EQUAL(sys_mount("/mnt/up", "/mnt/bound", "none", MS_BIND, NULL), 0);
	CHECK_EQUAL(sys_chdir("/mnt/bound/dir"), 0);
	task_start(find_from_there, "sub/file");
	task_start(look_whether, "/mnt/bound/dir/sub/file");
	task_start(move_out_and_in, NULL);
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	CHECK_EQUAL(sys_umount2("/mnt/bound", 0), 0);
	world_unmount();
}
