/*
 * places.c - interleavings: where walks without locks may go. Working directories
 * that change, directories that are forbidden, mounts.
 */
#include <stdio.h>

#include "hosted/interleave/programs/lockless/lockless.h"

#define STRANGER 1000

/* ---- where walks begin ------------------------------------------------------------------------ */

static void change_directory(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		make_directory("/mnt/d", 0755);
		make_file("/mnt/d/file");
		CHECK_EQUAL(sys_chdir("/mnt/d"), 0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/file", 0), 0);
		CHECK_EQUAL(sys_chdir("/mnt/m"), 0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d", AT_REMOVEDIR), 0);
	}
}

static void look_from_there(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		int error = stat_path("file");

		CHECK(error == 0 || error == -ENOENT);
		CHECK_EQUAL(stat_path("../e"), 0);
	}
}

/* The directories /mnt/e and /mnt/m, on which there is another mount. */
static void mount_beside(void)
{
	world_mount();
	make_directory("/mnt/e", 0755);
	make_directory("/mnt/m", 0755);
	CHECK_EQUAL(sys_mount("none", "/mnt/m", "tmpfs", 0, "mode=755"), 0);
}

static void run_and_unmount(void)
{
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	CHECK_EQUAL(sys_umount2("/mnt/m", 0), 0);
	world_unmount();
}

/* Of threads, one changes the working directory, which is gone soon after, or the root of another
 * mount. */
RING_PROGRAM(lockless_chdir, world_tmpfs, 60)
{
	mount_beside();
	CHECK_EQUAL(sys_chdir("/mnt/e"), 0);
	task_start(look_from_there, NULL);
	task_start(change_directory, NULL);
	task_start(forget_names, NULL);
	run_and_unmount();
}

static void change_mounts(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_chdir("/mnt/m"), 0);
		CHECK_EQUAL(sys_chdir("/mnt/e"), 0);
	}
}

static void look_beside(void *unused)
{
	static const char name[40] = "../e";
	struct kstat stat;

	(void)unused;
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, name, &stat, 0), 0);
		CHECK(S_ISDIR(stat.mode));
	}
}

/* From one mount to another: never to the directory of the one by way of the other. */
RING_PROGRAM(lockless_chdir_mounts, world_tmpfs, 100)
{
	mount_beside();
	make_file("/mnt/m/e"); /* which "../e" never is */
	CHECK_EQUAL(sys_chdir("/mnt/e"), 0);
	task_start(look_beside, NULL);
	task_start(look_beside, NULL);
	task_start(change_mounts, NULL);
	run_and_unmount();
}

static void be_stranger(void)
{
	struct cred *cred = prepare_cred();

	cred->uid = cred->euid = cred->suid = STRANGER;
	cred->gid = cred->egid = cred->sgid = STRANGER;
	set_cred(cred);
}

/* ---- what is forbidden ------------------------------------------------------------------------ */

static void try_to_reach(void *path)
{
	be_stranger();
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		CHECK(stat_path(path) != 0);
	set_cred(get_cred(&init_cred));
}

/* The directory that all may search is removed, and one of its name, made of the same dentry, has
 * what only root may see. */
static void make_private(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d", AT_REMOVEDIR), 0);
	make_directory("/mnt/d", 0700);
	make_file("/mnt/d/secret");
}

RING_PROGRAM(lockless_private, world_tmpfs, 100)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	task_start(try_to_reach, "/mnt/d/secret");
	task_start(make_private, NULL);
	ring_run();
	world_unmount();
}

/* 0700 and root's, 0 and root's, 0 and the stranger's: he is never let in. */
static void change_owner(void *directory)
{
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(vfs_chmod(directory, 0), 0);
		CHECK_EQUAL(vfs_chown(directory, STRANGER, STRANGER), 0);
		CHECK_EQUAL(vfs_chown(directory, 0, 0), 0);
		CHECK_EQUAL(vfs_chmod(directory, 0700), 0);
	}
}

RING_PROGRAM(lockless_owner, world_tmpfs, 100)
{
	struct path directory;

	world_mount();
	make_directory("/mnt/d", 0700);
	make_file("/mnt/d/secret");
	CHECK_EQUAL(find_path("/mnt/d", 0, &directory), 0);
	task_start(try_to_reach, "/mnt/d/secret");
	task_start(change_owner, &directory);
	ring_run();
	path_put(&directory);
	world_unmount();
}

/* ---- mounts ----------------------------------------------------------------------------------- */

static void mount_over(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_mount("none", "/mnt/d", "tmpfs", 0, "mode=755"), 0);
		make_file("/mnt/d/over");
		int error = (int)sys_umount2("/mnt/d", 0);
		CHECK(error == 0 || error == -EBUSY);
		if (error)
			CHECK_EQUAL(sys_umount2("/mnt/d", MNT_DETACH), 0);
	}
}

static void look_through(void *path)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", (const char *)path);
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		int error = stat_path(text);
		CHECK(error == 0 || error == -ENOENT);
		struct file *file = open_path(text, O_RDONLY, 0);
		CHECK(!IS_ERR(file) || PTR_ERR(file) == -ENOENT);
		if (!IS_ERR(file))
			fput(file);
	}
}

static void bind_over(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_mount("/mnt/e", "/mnt/d", "none", MS_BIND, NULL), 0);
		CHECK_EQUAL(sys_umount2("/mnt/d", MNT_DETACH), 0);
	}
}

/* A mount of a part of a file system that stays. */
RING_PROGRAM(lockless_binds, world_tmpfs, 100)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_directory("/mnt/e", 0755);
	make_file("/mnt/e/over");
	task_start(look_through, "/mnt/d/over");
	task_start(look_through, "/mnt/d/over");
	task_start(bind_over, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(lockless_mounts, world_tmpfs, 60)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_file("/mnt/d/under");
	task_start(look_through, "/mnt/d/under");
	task_start(look_through, "/mnt/d/over");
	task_start(mount_over, NULL);
	ring_run();
	CHECK_EQUAL(stat_path("/mnt/d/under"), 0);
	world_unmount();
}

static atomic_t files_open; /* at least so many, of what is mounted */
static atomic_t unmounted;

static void open_once(void *unused)
{
	(void)unused;
	struct file *file = open_path("/mnt/d/file", O_RDONLY, 0);
	CHECK(!IS_ERR(file) || PTR_ERR(file) == -ENOENT);
	if (IS_ERR(file))
		return;
	atomic_inc(&files_open);
	for (unsigned i = 0; i < 2 * ROUNDS; i++)
		ring_user();
	atomic_dec(&files_open);
	CHECK_EQUAL(atomic_read(&unmounted), 0);
	fput(file);
}

static void unmount_once(void *unused)
{
	(void)unused;
	int error = (int)sys_umount2("/mnt/d", 0);
	CHECK(error == 0 || error == -EBUSY);
	if (error)
		return;
	CHECK_EQUAL(atomic_read(&files_open), 0);
	atomic_set(&unmounted, 1);
}

/* What is unmounted, as nobody uses it, is not opened any more. */
RING_PROGRAM(lockless_umount, world_tmpfs, 100)
{
	atomic_set(&unmounted, 0);
	world_mount();
	make_directory("/mnt/d", 0755);
	CHECK_EQUAL(sys_mount("none", "/mnt/d", "tmpfs", 0, "mode=755"), 0);
	make_file("/mnt/d/file");
	task_start(open_once, NULL);
	task_start(open_once, NULL);
	task_start(unmount_once, NULL);
	ring_run();
	sys_umount2("/mnt/d", 0);
	world_unmount();
}

/* ---- names that are not simple ----------------------------------------------------------------
 */

/* A file that is always there is whole, though another takes its place; its name begins with a dot. */
static void replace_hidden(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		make_file("/mnt/d/.new");
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/.new", AT_FDCWD, "/mnt/d/.file", 0), 0);
	}
}

static void see_hidden(void *unused)
{
	struct kstat stat;
	static const char name[64] = "/mnt/d/.file";

	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, name, &stat, 0), 0);
		CHECK_EQUAL(stat.size, 1);
	}
}

RING_PROGRAM(lockless_evict_hidden, world_ext2, 60)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_file("/mnt/d/.file");
	task_start(see_hidden, NULL);
	task_start(see_hidden, NULL);
	task_start(replace_hidden, NULL);
	ring_run();
	world_unmount();
}
