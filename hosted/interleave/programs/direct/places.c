/*
 * places.c - interleavings: direct lookup (fs/path/direct) against all that makes what it
 * remembers untrue. Who changes the tree looks for himself what it is like when his call has
 * returned; others look for the same paths all the while, and so remember them at any moment. Where
 * a path leads is told by the inode.
 *
 * Here: directories above move, and who may search them changes. names.c has files and mounts.
 *
 * All paths have two components or more, since one short name is walked.
 */
#include "hosted/interleave/programs/direct/direct.h"

/* ---- a directory above is renamed ------------------------------------------------------------ */

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

/* /mnt/one/dir/file and /mnt/two/dir/file. */
static void make_one_and_two(void)
{
	world_mount();
	make_directory("/mnt/one", 0755);
	make_directory("/mnt/two", 0755);
	make_directory("/mnt/one/dir", 0755);
	make_directory("/mnt/two/dir", 0755);
	make_file("/mnt/one/dir/file");
	make_file("/mnt/two/dir/file");
}

/* In the end they are not where they were: who has been waiting all the while is to see it. */
static void exchange_above(void *unused)
{
	ino_t one = number_of("/mnt/one/dir/file"), two = number_of("/mnt/two/dir/file");

	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS - 1; i++, ring_user()) {
		move("/mnt/one", "/mnt/two", RENAME_EXCHANGE);
		leads_to("/mnt/one/dir/file", i % 2 ? one : two);
		leads_to("/mnt/two/dir/file", i % 2 ? two : one);
	}
}

/* A name that always exists is never missed, and whoever looks twice sees no change undone. */
RING_PROGRAM(direct_exchange_above, world_tmpfs, 60)
{
	make_one_and_two();
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

/* ---- from a working directory ---------------------------------------------------------------- */

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

/* What is above moves, and then others may search it than before; where it was, the same is made
 * anew, and found. */
static void move_and_close(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/up", "/mnt/moved", 0);
		CHECK_EQUAL(chmod_path("/mnt/moved", 0700), 0);
		make_directory("/mnt/up", 0755);
		make_directory("/mnt/up/dir", 0755);
		make_directory("/mnt/up/dir/sub", 0755);
		make_file("/mnt/up/dir/sub/file");
		world_warm("/mnt/up/dir/sub/file");
		leads_to("sub/file", in_working_directory);
		remove_file("/mnt/up/dir/sub/file");
		remove_directory("/mnt/up/dir/sub");
		remove_directory("/mnt/up/dir");
		CHECK_EQUAL(chmod_path("/mnt/moved", 0755), 0);
		remove_directory("/mnt/up");
		move("/mnt/moved", "/mnt/up", 0);
	}
}

RING_PROGRAM(direct_void_stays, world_tmpfs, 60)
{
	make_up();
	make_directory("/mnt/up/dir/sub", 0755);
	make_file("/mnt/up/dir/sub/file");
	CHECK_EQUAL(sys_chdir("/mnt/up/dir"), 0);
	world_warm("sub/file");
	in_working_directory = number_of("sub/file");
	task_start(find_from_there, "sub/file");
	task_start(move_and_close, NULL);
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	world_unmount();
}

/* The working directory and another change places: from where one stands nothing changes. */
RING_PROGRAM(direct_start_moves, world_tmpfs, 60)
{
	make_one_and_two();
	world_warm("/mnt/two/dir/file");
	in_working_directory = number_of("/mnt/one/dir/file");
	CHECK_EQUAL(sys_chdir("/mnt/one"), 0);
	world_warm("dir/file");
	task_start(find_from_there, "dir/file");
	task_start(always_find, "/mnt/one/dir/file");
	task_start(exchange_above, NULL);
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	world_unmount();
}

/* ---- who may --------------------------------------------------------------------------------- */

/* The subject is a stranger, who has looked for @path often. */
static void make_stranger(const char *path)
{
	subject = new_stranger();
	look_often(subject, path);
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

/* The stranger looks for the file by @path. */
static void change_rights(void (*change)(void *), umode_t mode, uid_t owner, char *path)
{
	struct path directory;

	atomic_set(&forbidden, 0);
	make_up();
	CHECK_EQUAL(find_path("/mnt/up", 0, &directory), 0);
	CHECK_EQUAL(vfs_chmod(&directory, mode), 0);
	CHECK_EQUAL(vfs_chown(&directory, owner, 0), 0);
	make_stranger(path);
	task_start(try_as_subject, path);
	task_start(try_as_subject, path);
	task_start(change, &directory);
	ring_run();
	path_put(&directory);
	put_cred(subject);
	world_unmount();
}

RING_PROGRAM(direct_chmod, world_tmpfs, 100)
{
	change_rights(forbid_and_allow, 0755, 0, "/mnt/up/dir/file");
}

/* A name that nobody has looked for before gets its entry by who may reach it: not so the stranger,
 * who could reach its siblings until now. */
static const char *new_names_in;

static void forbid_then_make(void *directory)
{
	char text[64];

	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		snprintf(text, sizeof(text), "%s/new%u", new_names_in, i);
		CHECK_EQUAL(vfs_chmod(directory, 0), 0);
		make_file(text);
		CHECK_EQUAL(stat_path(text), 0);
		set_cred(get_cred(subject));
		for (unsigned made = 0; made <= i; made++) {
			snprintf(text, sizeof(text), "%s/new%u", new_names_in, made);
			CHECK_EQUAL(stat_path(text), -EACCES);
		}
		CHECK_EQUAL(stat_path("/mnt/up/dir/file"), -EACCES);
		be_root();
		CHECK_EQUAL(vfs_chmod(directory, 0755), 0);
	}
}

static void look_for_all(void *unused)
{
	char text[64];

	(void)unused;
	set_cred(get_cred(subject));
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		snprintf(text, sizeof(text), "%s/new%u", new_names_in, i / 2);
		int error = stat_path(text);

		CHECK(error == 0 || error == -ENOENT || error == -EACCES);
	}
	be_root();
}

/* The stranger knows @sibling, and others come in the directory @in. */
static void make_siblings(const char *sibling, const char *in)
{
	struct path directory;

	make_up();
	CHECK_EQUAL(find_path("/mnt/up", 0, &directory), 0);
	new_names_in = in;
	make_stranger(sibling);
	task_start(forbid_then_make, &directory);
	task_start(look_for_all, NULL);
	task_start(look_for_all, NULL);
	ring_run();
	path_put(&directory);
	put_cred(subject);
	world_unmount();
}

RING_PROGRAM(direct_new_names, world_tmpfs, 100)
{
	make_siblings("/mnt/up/dir", "/mnt/up");
}

RING_PROGRAM(direct_new_names_below, world_tmpfs, 100)
{
	make_siblings("/mnt/up/dir/file", "/mnt/up/dir");
}

/* The same where no name is in the cache when the rights change, but the directory is. */
RING_PROGRAM(direct_no_names, world_tmpfs, 20)
{
	struct path up, dir;

	make_up();
	CHECK_EQUAL(find_path("/mnt/up", 0, &up), 0);
	CHECK_EQUAL(find_path("/mnt/up/dir", 0, &dir), 0);
	make_stranger("/mnt/up/dir/file");
	remove_file("/mnt/up/dir/file");
	shrink_dcache(1000);
	shrink_dcache(1000);
	CHECK(list_empty(&dir.dentry->children));
	CHECK_EQUAL(vfs_chmod(&up, 0), 0);
	make_file("/mnt/up/dir/other");
	CHECK_EQUAL(stat_path("/mnt/up/dir/other"), 0);
	set_cred(get_cred(subject));
	CHECK_EQUAL(stat_path("/mnt/up/dir/other"), -EACCES);
	be_root();
	path_put(&dir);
	path_put(&up);
	put_cred(subject);
	world_unmount();
}

/* The versions' epoch ends on the way. */
RING_PROGRAM(direct_epoch_ends, world_tmpfs, 100)
{
#ifdef CONFIG_DCACHE_FASTPATH
	prefix_last_version = (prefix_last_version | ~0u) - 2 - ROUNDS;
#endif
	change_rights(forbid_and_allow, 0755, 0, "/mnt/up/dir/file");
}

/* In another epoch the lower halves of versions come again, those, too, that the stranger knows. */
RING_PROGRAM(direct_epochs_differ, world_tmpfs, 100)
{
#ifdef CONFIG_DCACHE_FASTPATH
	struct path directory;
	u64 first = prefix_last_version;

	make_up();
	CHECK_EQUAL(find_path("/mnt/up", 0, &directory), 0);
	make_stranger("/mnt/up/dir/file");
	u64 last = prefix_last_version;

	for (u64 version = first; version <= last; version++) {
		prefix_last_version += 1ull << 32;
		prefix_last_version = prefix_last_version >> 32 << 32 | (u32)version;
		CHECK_EQUAL(vfs_chmod(&directory, 0), 0);
		set_cred(get_cred(subject));
		CHECK_EQUAL(stat_path("/mnt/up/dir/file"), -EACCES);
		be_root();
		CHECK_EQUAL(vfs_chmod(&directory, 0755), 0);
	}
	path_put(&directory);
	put_cred(subject);
	world_unmount();
#endif
}

/* By a text that is not canonical. */
RING_PROGRAM(direct_alias_chmod, world_tmpfs, 100)
{
	change_rights(forbid_and_allow, 0755, 0, "/mnt/up/dir/../dir/file");
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
	change_rights(take_and_give, 0710, STRANGER, "/mnt/up/dir/file");
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
	set_cred(get_cred(subject));
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		CHECK(stat_path(path) != 0);
	be_root();
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
	put_cred(subject);
	world_unmount();
}

/* He may go to the file, but not by that way, which root goes all the while. */
RING_PROGRAM(direct_alias_closed, world_tmpfs, 60)
{
	make_up();
	make_directory("/mnt/up/closed", 0700);
	make_stranger("/mnt/up/dir/file");
	world_warm("/mnt/up/closed/../dir/file");
	task_start(never_reach, "/mnt/up/closed/../dir/file");
	task_start(look_whether, "/mnt/up/closed/../dir/file");
	ring_run();
	put_cred(subject);
	world_unmount();
}

/* He stands where he could not go any more: from there he finds all, from the root nothing. */
static void find_as_stranger(void *path)
{
	set_cred(get_cred(subject));
	find_from_there(path);
	be_root();
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
	put_cred(subject);
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
	task_start(try_as_subject, "/mnt/up/dir/file");
	task_start(try_as_subject, "/mnt/up/dir/file");
	task_start(forbid_and_allow, &directory);
	ring_run();
	path_put(&directory);
	put_cred(subject);
	CHECK_EQUAL(sys_umount2("/mnt/up/dir", 0), 0);
	world_unmount();
}
