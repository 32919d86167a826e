/* namespaces.c - as places.c: direct lookup of one text in two mount namespaces. */
#include "hosted/interleave/programs/direct/direct.h"

#ifdef CONFIG_MOUNT_NS

/* As unshare(2) and CLONE_NEWNS. */
static void leave_namespace(void)
{
	struct fs_context *fs = fs_context_fork(current->fs);

	CHECK(fs);
	CHECK_EQUAL(namespace_copy(fs), 0);
	fs_context_put(current->fs);
	current->fs = fs;
}

/* In a namespace of one's own another file system is mounted on /mnt/up, which is never seen from
 * another. It ends with its last user, mounts and all. */
static void look_elsewhere(void *unused)
{
	ino_t file = number_of("/mnt/up/dir/file");

	(void)unused;
	leave_namespace();
	leads_to("/mnt/up/dir/file", file);
	CHECK_EQUAL(sys_mount("none", "/mnt/up", "tmpfs", 0, "mode=755"), 0);
	leads_nowhere("/mnt/up/dir/file");
	make_directory("/mnt/up/dir", 0755);
	make_file("/mnt/up/dir/over");
	make_file("/mnt/up/dir/file");
	ino_t over = number_of("/mnt/up/dir/over"), own = number_of("/mnt/up/dir/file");
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		leads_to("/mnt/up/dir/over", over);
		leads_to("/mnt/up/dir/file", own);
	}
	leave_namespace();
	leads_to("/mnt/up/dir/over", over);
}

static ino_t outside;

static void look_here(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		leads_to("/mnt/up/dir/file", outside);
		leads_nowhere("/mnt/up/dir/over");
	}
}

RING_PROGRAM(direct_namespaces, world_tmpfs, 60)
{
	make_up();
	outside = number_of("/mnt/up/dir/file");
	task_start(look_here, NULL);
	task_start(look_elsewhere, NULL);
	task_start(look_elsewhere, NULL);
	ring_run();
	world_unmount();
}

/* What is mounted and unmounted while the tree is copied is in the copy, or is not. */
static void copy_and_look(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		leave_namespace();
		int error = stat_path("/mnt/up/dir/over");

		CHECK(error == 0 || error == -ENOENT);
		if (!error)
			leads_nowhere("/mnt/up/dir/file");
		CHECK_EQUAL(stat_path("/mnt/up/dir/over"), error); /* nobody changes it here */
	}
}

static void mount_and_unmount(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_mount("none", "/mnt/up/dir", "tmpfs", 0, "mode=755"), 0);
		CHECK_EQUAL(sys_umount2("/mnt/up/dir", MNT_DETACH), 0);
		CHECK_EQUAL(sys_mount("/mnt/other", "/mnt/up/dir", "none", MS_BIND, NULL), 0);
		int error = (int)sys_umount2("/mnt/up/dir", 0);

		CHECK(error == 0 || error == -EBUSY);
		if (error)
			CHECK_EQUAL(sys_umount2("/mnt/up/dir", MNT_DETACH), 0);
	}
}

RING_PROGRAM(direct_namespace_copied, world_tmpfs, 60)
{
	make_up();
	make_directory("/mnt/other", 0755);
	make_file("/mnt/other/over");
	task_start(copy_and_look, NULL);
	task_start(copy_and_look, NULL);
	task_start(mount_and_unmount, NULL);
	ring_run();
	world_unmount();
}

/* A directory on which another namespace has something mounted is moved and removed: who is there
 * finds what is mounted by the one name or the other, and by none once the call has returned. */
static struct fs_context *elsewhere;
static atomic_t removed;

static void look_at_what_is_mounted(void *unused)
{
	(void)unused;
	fs_context_put(current->fs);
	current->fs = elsewhere;
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user()) {
		bool gone = atomic_read(&removed);
		int before = stat_path("/mnt/up/point/over");
		int after = stat_path("/mnt/up/moved/over");

		CHECK((before == 0 || before == -ENOENT) && (after == 0 || after == -ENOENT));
		CHECK(!gone || (before && after));
	}
}

static void move_and_remove(void *unused)
{
	(void)unused;
	move("/mnt/up/point", "/mnt/up/moved", 0);
	ring_user();
	remove_directory("/mnt/up/moved");
	atomic_set(&removed, 1);
}

RING_PROGRAM(direct_namespace_removed, world_tmpfs, 60)
{
	struct fs_context *own = current->fs;

	make_up();
	make_directory("/mnt/up/point", 0755);
	elsewhere = fs_context_fork(own);
	CHECK(elsewhere);
	CHECK_EQUAL(namespace_copy(elsewhere), 0);
	current->fs = elsewhere;
	CHECK_EQUAL(sys_mount("none", "/mnt/up/point", "tmpfs", 0, "mode=755"), 0);
	make_file("/mnt/up/point/over");
	world_warm("/mnt/up/point/over");
	current->fs = own;
	atomic_set(&removed, 0);
	task_start(look_at_what_is_mounted, NULL);
	task_start(move_and_remove, NULL);
	ring_run();
	world_unmount();
}

/* What another namespace has mounted on a name goes where that goes: a directory, or a file, renamed
 * or exchanged. Who finds it at the new place does not find it at the old one any more. */
static const char *moved_from, *moved_to, *below;

static void find_new_then_old(void *unused)
{
	char old[64], new[64];

	(void)unused;
	fs_context_put(current->fs);
	current->fs = elsewhere;
	snprintf(old, sizeof(old), "%s%s", moved_from, below);
	snprintf(new, sizeof(new), "%s%s", moved_to, below);
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user())
		if (!stat_path(new))
			leads_nowhere(old);
	while (!atomic_read(&removed)) {
		ring_user();
		schedule();
	}
	leads_nowhere(old);
	CHECK_EQUAL(stat_path(new), 0);
}

static void move_what_is_mounted_on(void *flags)
{
	move(moved_from, moved_to, *(unsigned *)flags);
	atomic_set(&removed, 1);
}

/* In a namespace of its own, which is elsewhere, @source is mounted on @from (NULL: a tmpfs). */
static void mount_elsewhere(const char *source, const char *from, const char *file)
{
	struct fs_context *own = current->fs;

	elsewhere = fs_context_fork(own);
	CHECK(elsewhere);
	CHECK_EQUAL(namespace_copy(elsewhere), 0);
	current->fs = elsewhere;
	if (source)
		CHECK_EQUAL(sys_mount(source, from, "none", MS_BIND, NULL), 0);
	else
		CHECK_EQUAL(sys_mount("none", from, "tmpfs", 0, "mode=755"), 0);
	if (!source) {
		make_directory("/mnt/up/point/sub", 0755);
		make_file(file);
	}
	world_warm(file);
	current->fs = own;
}

static void move_mounted(const char *source, const char *from, const char *to, const char *rest,
			 unsigned flags)
{
	char file[64];

	make_up();
	make_directory("/mnt/up/point", 0755);
	make_file("/mnt/up/covered");
	if (flags)
		make_directory(to, 0755);
	moved_from = from;
	moved_to = to;
	below = rest;
	snprintf(file, sizeof(file), "%s%s", from, rest);
	mount_elsewhere(source, from, file);
	atomic_set(&removed, 0);
	task_start(find_new_then_old, NULL);
	task_start(move_what_is_mounted_on, &flags);
	ring_run();
	world_unmount();
}

RING_PROGRAM(direct_namespace_renamed, world_tmpfs, 60)
{
	move_mounted(NULL, "/mnt/up/point", "/mnt/up/moved", "/sub/file", 0);
}

RING_PROGRAM(direct_namespace_exchanged, world_tmpfs, 60)
{
	move_mounted(NULL, "/mnt/up/point", "/mnt/up/moved", "/sub/file", RENAME_EXCHANGE);
}

RING_PROGRAM(direct_namespace_file_renamed, world_tmpfs, 60)
{
	move_mounted("/mnt/up/dir/file", "/mnt/up/covered", "/mnt/up/moved", "", 0);
}

/* It is mounted on the file while that is renamed. */
static void mount_meanwhile(void *unused)
{
	struct fs_context *own = current->fs;

	(void)unused;
	current->fs = elsewhere;
	int error = (int)sys_mount("/mnt/up/dir/file", "/mnt/up/covered", "none", MS_BIND, NULL);

	CHECK(error == 0 || error == -ENOENT);
	for (unsigned i = 0; i < 3; i++) {
		ring_user();
		stat_path("/mnt/up/covered");
	}
	current->fs = own;
}

static void move_covered(void *unused)
{
	(void)unused;
	move("/mnt/up/covered", "/mnt/up/moved", 0);
}

RING_PROGRAM(direct_namespace_mounted_meanwhile, world_tmpfs, 60)
{
	struct fs_context *own = current->fs;

	make_up();
	make_file("/mnt/up/covered");
	elsewhere = fs_context_fork(own);
	CHECK(elsewhere);
	CHECK_EQUAL(namespace_copy(elsewhere), 0);
	current->fs = elsewhere;
	world_warm("/mnt/up/dir/file");
	current->fs = own;
	task_start(mount_meanwhile, NULL);
	task_start(move_covered, NULL);
	ring_run();
	current->fs = elsewhere;
	leads_nowhere("/mnt/up/covered");
	CHECK_EQUAL(stat_path("/mnt/up/moved"), 0);
	current->fs = own;
	fs_context_put(elsewhere);
	world_unmount();
}

#endif
