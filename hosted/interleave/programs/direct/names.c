/* names.c - as places.c: direct lookup while files, their memory and mounts come and go. */
#include "hosted/interleave/programs/direct/direct.h"
#ifdef CONFIG_DCACHE_FASTPATH
#include "fs/path/direct/find.h"
#endif

/* ---- names come and go ----------------------------------------------------------------------- */

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

/* @from becomes @to, and that @from again: what was the file @path is @moved_path meanwhile. */
static void move_to_and_fro(const char *from, const char *to, const char *path,
			    const char *moved_path)
{
	ino_t file = number_of(path);

	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move(from, to, 0);
		leads_nowhere(path);
		leads_to(moved_path, file);
		move(to, from, 0);
		leads_to(path, file);
		leads_nowhere(moved_path);
	}
}

static void move_file(void *unused)
{
	(void)unused;
	move_to_and_fro("/mnt/up/dir/file", "/mnt/up/other", "/mnt/up/dir/file", "/mnt/up/other");
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

#define NAMES 8
static char names[NAMES][sizeof("/mnt/up/dir/.0")]; /* and so on */

/* @dot: "" or ".", with which names begin that are not simple. */
static void set_names(const char *dot)
{
	for (unsigned i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]), "/mnt/up/dir/%s%u", dot, i);
}

/* Nobody has looked for them: so who does walks, and remembers. */
static void make_names(const char *dot)
{
	make_up();
	set_names(dot);
	for (unsigned i = 0; i < NAMES; i++)
		make_file(names[i]);
}

static void look_at_names(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < NAMES; i++, ring_user()) {
		int error = stat_path(names[i]);

		CHECK(error == 0 || error == -ENOENT);
	}
}

static void move_names(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < NAMES; i++, ring_user()) {
		char to[sizeof(names[i])];

		snprintf(to, sizeof(to), "/mnt/up/%u", i);
		move(names[i], to, 0);
	}
}

/* Who has walked to a file does not remember it where it is not any more. */
static void walk_and_move(const char *dot)
{
	make_names(dot);
	task_start(look_at_names, NULL);
	task_start(move_names, NULL);
	ring_run();
	for (unsigned i = 0; i < NAMES; i++)
		leads_nowhere(names[i]);
	world_unmount();
}

RING_PROGRAM(direct_walked_to, world_tmpfs, 60)
{
	walk_and_move("");
}

RING_PROGRAM(direct_walked_to_hidden, world_tmpfs, 60)
{
	walk_and_move(".");
}

/* What is found where it is now is not found where it was. */
static void move_and_find(void *unused)
{
	(void)unused;
	move("/mnt/up", "/mnt/moved", 0);
	schedule(); /* who has walked to the old place goes on */
	for (unsigned i = 0; i < NAMES; i++, ring_user()) {
		char path[64];

		snprintf(path, sizeof(path), "/mnt/moved/dir/%u", i);
		CHECK_EQUAL(stat_path(path), 0);
		leads_nowhere(names[i]);
	}
}

/* Nor is he believed until he sees that: the entry that he makes has a version that nobody knows.
 */
RING_PROGRAM(direct_moved_meanwhile, world_tmpfs, 60)
{
	make_names("");
	task_start(look_at_names, NULL);
	task_start(move_and_find, NULL);
	ring_run();
	world_unmount();
}

static void look_once(void *unused)
{
	(void)unused;
	stat_path(names[0]);
}

/* When it has got another name other people may search its directory than before; and who learns
 * that he may, learns it for all that is there. */
static void move_and_change_rights(void *unused)
{
	(void)unused;
	move(names[0], "/mnt/up/dir/other", 0);
	schedule(); /* as above */
	CHECK_EQUAL(chmod_path("/mnt/up/dir", 0700), 0);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQUAL(stat_path("/mnt/up/dir/file"), 0);
		leads_nowhere(names[0]);
	}
}

RING_PROGRAM(direct_moved_from_siblings, world_tmpfs, 100)
{
	make_names("");
	task_start(look_once, NULL);
	task_start(move_and_change_rights, NULL);
	ring_run();
	world_unmount();
}

/* What has got another name, and lost that, too, is not taken for what its old path leads to. */
RING_PROGRAM(direct_replaced, world_tmpfs, 100)
{
	replaced_all_the_while();
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

/* All entries go at once, but nothing else: without prefix caches nobody would come to an entry
 * that is about to go. */
static void forget_paths(void *unused)
{
	(void)unused;
#ifdef CONFIG_DCACHE_FASTPATH
	for (unsigned i = 0; i < ROUNDS; i++, ring_user())
		direct_forget_entries();
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

static bool all_evicted;
static DEFINE_WAIT_QUEUE(evicting);

/* At every moment the dentry of an entry in the table has that: one that has none may be freed. */
static void check_entries(void)
{
#ifdef CONFIG_DCACHE_FASTPATH
	for (u32 bucket = 0; bucket < path_cache_hash.entries; bucket++) {
		struct direct_entry *entry = NULL;

		while ((entry = path_table_next(&path_table_instance, bucket, entry)))
			CHECK(entry->path.dentry->direct[entry->place] == entry);
	}
#endif
}

static void evict_all(void *unused)
{
	(void)unused;
	shrink_dcache(100); /* they are marked as used */
	shrink_dcache(100);
	check_entries();
	ring_user();
	WRITE_ONCE(all_evicted, true);
	wake_up(&evicting);
}

/* The first looks may find that the entry of the start is gone, and make it anew. */
static void look_for_evicted(void *unused)
{
	(void)unused;
	wait_event(evicting, READ_ONCE(all_evicted));
	for (unsigned i = 0; i < 2 * NAMES; i++) {
		ring_user();
		leads_nowhere(names[i % NAMES]);
	}
}

/* Who finds an entry that another is about to take out looks at its dentry, which stays until he is
 * through, though it is evicted meanwhile. */
RING_PROGRAM(direct_evicted, world_tmpfs, 100)
{
	make_up();
	set_names("");
	all_evicted = false;
	for (unsigned i = 0; i < NAMES; i++)
		world_warm(names[i]); /* which is not there */
	task_start(forget_paths, NULL);
	task_start(evict_all, NULL);
	task_start(look_for_evicted, NULL);
	task_start(look_for_evicted, NULL);
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

/* ---- mounts ---------------------------------------------------------------------------------- */

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

/* Something is mounted over it, and nobody asks for it until the count of mounts comes again. */
RING_PROGRAM(direct_mount_count_ends, world_tmpfs, 1)
{
	make_up();
#ifdef CONFIG_DCACHE_FASTPATH
	u32 then = mount_sequence.sequence;

	mount_sequence.sequence = ~1u; /* the last of them */
	CHECK_EQUAL(sys_mount("none", "/mnt/up", "tmpfs", 0, "mode=755"), 0);
	CHECK(mount_sequence.sequence < then);
	mount_sequence.sequence = then;
	leads_nowhere("/mnt/up/dir/file");
	CHECK_EQUAL(sys_umount2("/mnt/up", 0), 0);
#endif
	world_unmount();
}

/* A directory moves with what is mounted below it. */
static void move_with_mount(void *unused)
{
	(void)unused;
	move_to_and_fro("/mnt/up", "/mnt/moved", "/mnt/up/dir/sub/file", "/mnt/moved/dir/sub/file");
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

/* A directory that is there by two mounts: what is mounted below it by the one way is not found by
 * the other, though it may have one entry alone, which is now of the one, now of the other. */
RING_PROGRAM(direct_two_ways, world_tmpfs, 60)
{
	make_up();
	make_directory("/mnt/bound", 0755);
	make_directory("/mnt/up/dir/sub", 0755);
	make_file("/mnt/up/dir/sub/file");
	in_working_directory = number_of("/mnt/up/dir/sub/file");
	CHECK_EQUAL(sys_mount("/mnt/up", "/mnt/bound", "none", MS_BIND, NULL), 0);
	CHECK_EQUAL(sys_mount("none", "/mnt/up/dir/sub", "tmpfs", 0, "mode=755"), 0);
	make_file("/mnt/up/dir/sub/file");
	CHECK(number_of("/mnt/up/dir/sub/file") != in_working_directory);
	world_warm("/mnt/up/dir"); /* this one is known before the other */
	CHECK_EQUAL(sys_chdir("/mnt/bound/dir"), 0);
	task_start(find_from_there, "sub/file");
	task_start(always_find, "/mnt/up/dir/sub/file");
	task_start(always_find, "/mnt/up/dir");
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	CHECK_EQUAL(sys_umount2("/mnt/up/dir/sub", 0), 0);
	CHECK_EQUAL(sys_umount2("/mnt/bound", 0), 0);
	world_unmount();
}

static void bind_and_unbind(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_mount("/mnt/up", "/mnt/bound", "none", MS_BIND, NULL), 0);
		world_warm("/mnt/bound/dir/file");
		CHECK_EQUAL(sys_umount2("/mnt/bound", MNT_DETACH), 0);
		ring_user(); /* the mount's memory may go now, as far as it is for us */
		leads_nowhere("/mnt/bound/dir/file");
		ring_user();
		leads_nowhere("/mnt/bound/dir/file");
	}
}

/* What was found through a mount that is gone has its entry, which nobody looks through. */
RING_PROGRAM(direct_unbound, world_tmpfs, 60)
{
	make_up();
	make_directory("/mnt/bound", 0755);
	task_start(look_whether, "/mnt/bound/dir/file");
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(bind_and_unbind, NULL);
	ring_run();
	world_unmount();
}
