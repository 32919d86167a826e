/*
 * aliases.c - interleavings: what texts through links and ".." lead to (fs/path/alias/alias.h),
 * against all that lets them lead elsewhere.
 */
#include "hosted/interleave/programs/direct/direct.h"
#ifdef CONFIG_DCACHE_FASTPATH
#include "fs/path/direct/find.h"
#endif

static ino_t file_of_one, file_of_two;

/* /mnt/one/file and /mnt/two/file, and the link /mnt/to to /mnt/one. */
static void make_one_and_two(void)
{
	world_mount();
	make_directory("/mnt/one", 0755);
	make_directory("/mnt/two", 0755);
	make_file("/mnt/one/file");
	make_file("/mnt/two/file");
	file_of_one = number_of("/mnt/one/file");
	file_of_two = number_of("/mnt/two/file");
	CHECK_EQUAL(sys_symlinkat("one", AT_FDCWD, "/mnt/to"), 0);
	world_warm("/mnt/to/file");
}

/* ---- the link changes ------------------------------------------------------------------------ */

/* Another link takes its place: at no moment there is none. */
static void replace_link(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_symlinkat(i % 2 ? "one" : "two", AT_FDCWD, "/mnt/new"), 0);
		move("/mnt/new", "/mnt/to", 0);
		leads_to("/mnt/to/file", i % 2 ? file_of_one : file_of_two);
	}
}

RING_PROGRAM(direct_alias_replaced, world_tmpfs, 60)
{
	make_one_and_two();
	task_start(always_find, "/mnt/to/file");
	task_start(always_find, "/mnt/to/file");
	task_start(replace_link, NULL);
	ring_run();
	world_unmount();
}

/* It goes, and another one comes; and it is the last of a path, too, followed or not. */
static void make_link_anew(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		remove_file("/mnt/to");
		leads_nowhere("/mnt/to/file");
		leads_nowhere("/mnt/./to");
		CHECK_EQUAL(sys_symlinkat(i % 2 ? "one" : "two", AT_FDCWD, "/mnt/to"), 0);
		leads_to("/mnt/to/file", i % 2 ? file_of_one : file_of_two);
		CHECK_EQUAL(stat_path("/mnt/./to"), 0);
	}
}

RING_PROGRAM(direct_alias_removed, world_tmpfs, 60)
{
	make_one_and_two();
	task_start(look_whether, "/mnt/to/file");
	task_start(look_whether, "/mnt/./to");
	task_start(make_link_anew, NULL);
	ring_run();
	world_unmount();
}

/* The link is replaced, and nobody asks for its alias until 2^32 changes have been made. */
RING_PROGRAM(direct_alias_count_ends, world_tmpfs, 1)
{
	make_one_and_two();
#ifdef CONFIG_DCACHE_FASTPATH
	s64 count = atomic_read(&direct_changes.begun) + (1ll << 32);

	CHECK_EQUAL(sys_symlinkat("two", AT_FDCWD, "/mnt/new"), 0);
	move("/mnt/new", "/mnt/to", 0);
	atomic_set(&direct_changes.begun, (__typeof__(direct_changes.begun.counter))count);
	atomic_set(&direct_changes.ended, (__typeof__(direct_changes.ended.counter))count);
#endif
	leads_to("/mnt/to/file", file_of_two);
	world_unmount();
}

/* Whether the link at the end is followed is not what another one asked. */
static void look_both_ways(void *unused)
{
	ino_t one = number_of("/mnt/one");

	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		struct kstat stat = {0};

		leads_to("/mnt/./to", one);
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/./to", &stat, AT_SYMLINK_NOFOLLOW), 0);
		CHECK(S_ISLNK(stat.mode));
	}
}

RING_PROGRAM(direct_alias_followed, world_tmpfs, 60)
{
	make_one_and_two();
	task_start(look_both_ways, NULL);
	task_start(look_both_ways, NULL);
	ring_run();
	world_unmount();
}

/* Nothing is below the link itself, whatever a text through it leads to. */
RING_PROGRAM(direct_alias_below_the_link, world_tmpfs, 1)
{
	struct kstat stat;

	make_one_and_two();
	make_directory("/mnt/one/inner", 0755);
	make_file("/mnt/one/inner/file");
	CHECK_EQUAL(sys_symlinkat("one", AT_FDCWD, "/mnt/the-link"), 0);
	world_warm("/mnt/the-link/inner/file");
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/the-link", &stat, AT_SYMLINK_NOFOLLOW), 0);
	int fd = (int)sys_openat(AT_FDCWD, "/mnt/the-link", O_PATH | O_NOFOLLOW, 0);
	CHECK(fd >= 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQUAL(sys_newfstatat(fd, "inner/file", &stat, 0), -ENOTDIR);
	CHECK_EQUAL(sys_close(fd), 0);
	world_unmount();
}

/* ---- what lies behind it changes ------------------------------------------------------------- */

/* The directory that the link leads to is another one. */
static void exchange_behind(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		move("/mnt/one", "/mnt/two", RENAME_EXCHANGE);
		leads_to("/mnt/to/file", i % 2 ? file_of_one : file_of_two);
	}
}

RING_PROGRAM(direct_alias_behind, world_tmpfs, 60)
{
	make_one_and_two();
	task_start(always_find, "/mnt/to/file");
	task_start(look_whether, "/mnt/to/file");
	task_start(exchange_behind, NULL);
	ring_run();
	world_unmount();
}

/* The file itself goes and comes, and gets another name, which no alias is told of. */
static void rename_file(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/one/file", "/mnt/one/other", 0);
		leads_nowhere("/mnt/to/file");
		leads_to("/mnt/to/other", file_of_one);
		make_file("/mnt/one/file");
		CHECK(number_of("/mnt/to/file") != file_of_one);
		remove_file("/mnt/one/file");
		leads_nowhere("/mnt/to/file");
		move("/mnt/one/other", "/mnt/one/file", 0);
		leads_to("/mnt/to/file", file_of_one);
		leads_nowhere("/mnt/to/other");
	}
}

RING_PROGRAM(direct_alias_of_file, world_tmpfs, 60)
{
	make_one_and_two();
	task_start(look_whether, "/mnt/to/file");
	task_start(look_whether, "/mnt/one/other");
	task_start(rename_file, NULL);
	ring_run();
	world_unmount();
}

/* Texts that nobody has looked for before: so they are walked, and remembered. */
static const char *const texts_of_file[] = {"/mnt/to/./file", "/mnt/one/./file", "/mnt/./one/file",
					    "/mnt/two/../to/file", "/mnt/two/../one/file"};

static void look_by_all(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(texts_of_file); i++, ring_user()) {
		int error = stat_path(texts_of_file[i]);

		CHECK(error == 0 || error == -ENOENT);
	}
}

static void rename_once(void *unused)
{
	(void)unused;
	move("/mnt/one/file", "/mnt/one/other", 0);
}

/* Who has come to a file does not remember that his text leads to the name that it gets then. */
RING_PROGRAM(direct_alias_renamed, world_tmpfs, 60)
{
	make_one_and_two();
	task_start(look_by_all, NULL);
	task_start(rename_once, NULL);
	ring_run();
	world_warm("/mnt/one/other");
	for (unsigned i = 0; i < ARRAY_SIZE(texts_of_file); i++)
		leads_nowhere(texts_of_file[i]);
	world_unmount();
}

/* ---- mounts ---------------------------------------------------------------------------------- */

/* Through an absolute link below what something is mounted on, as nobody has looked for it before. */
static const char *const texts_of_up[] = {"/mnt/up/link/file", "/mnt/up/./link/file",
					  "/mnt/up//link/file", "/mnt/./up/link/file",
					  "/mnt/up/link/./file"};

static void look_through_up(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ARRAY_SIZE(texts_of_up); i++, ring_user()) {
		int error = stat_path(texts_of_up[i]);

		CHECK(error == 0 || error == -ENOENT);
	}
}

static void mount_on_up(void *unused)
{
	(void)unused;
	CHECK_EQUAL(sys_mount("none", "/mnt/up", "tmpfs", 0, "mode=755"), 0);
}

RING_PROGRAM(direct_alias_mounted, world_tmpfs, 100)
{
	make_one_and_two();
	make_directory("/mnt/up", 0755);
	CHECK_EQUAL(sys_symlinkat("/mnt/one", AT_FDCWD, "/mnt/up/link"), 0);
	world_warm("/mnt/up/link/../one/file"); /* reads the link: that need not be noted again */
	task_start(look_through_up, NULL);
	task_start(mount_on_up, NULL);
	ring_run();
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < ARRAY_SIZE(texts_of_up); i++)
			leads_nowhere(texts_of_up[i]);
	CHECK_EQUAL(sys_umount2("/mnt/up", 0), 0);
	world_unmount();
}

/* ---- ".." ------------------------------------------------------------------------------------ */

/* The directory whose parent is meant moves below another. */
static void move_below_another(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/one/sub", "/mnt/two/sub", 0);
		leads_nowhere("/mnt/one/sub/../file");
		leads_to("/mnt/two/sub/../file", file_of_two);
		move("/mnt/two/sub", "/mnt/one/sub", 0);
		leads_to("/mnt/one/sub/../file", file_of_one);
		leads_nowhere("/mnt/two/sub/../file");
	}
}

RING_PROGRAM(direct_alias_parent, world_tmpfs, 60)
{
	make_one_and_two();
	make_directory("/mnt/one/sub", 0755);
	task_start(look_whether, "/mnt/one/sub/../file");
	task_start(look_whether, "/mnt/two/sub/../file");
	task_start(move_below_another, NULL);
	ring_run();
	world_unmount();
}

/* ---- below what is absent -------------------------------------------------------------------- */

/* It comes, and with it what is below, one by one; and all goes again. */
static void make_the_way(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		leads_nowhere("/mnt/no/way/file");
		make_directory("/mnt/no", 0755);
		leads_nowhere("/mnt/no/way/file");
		make_directory("/mnt/no/way", 0755);
		make_file("/mnt/no/way/file");
		CHECK_EQUAL(stat_path("/mnt/no/way/file"), 0);
		CHECK_EQUAL(stat_path("/mnt/no/way/../way/file"), 0);
		remove_file("/mnt/no/way/file");
		remove_directory("/mnt/no/way");
		leads_nowhere("/mnt/no/way/../way/file");
		remove_directory("/mnt/no");
	}
}

RING_PROGRAM(direct_alias_below, world_tmpfs, 60)
{
	world_mount();
	task_start(look_whether, "/mnt/no/way/file");
	task_start(look_whether, "/mnt/no/way/../way/file");
	task_start(never_find, "/mnt/no/way/other");
	task_start(make_the_way, NULL);
	ring_run();
	world_unmount();
}

/* The same from the working directory, whose entry has a hint of the first component. */
static void make_the_first(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		leads_nowhere("not/way/file");
		leads_nowhere("no/way/file");
		leads_nowhere("no/way/file");
		make_directory("/mnt/no", 0755);
		leads_nowhere("no/way/file");
		make_directory("/mnt/no/way", 0755);
		make_file("/mnt/no/way/file");
		CHECK_EQUAL(stat_path("no/way/file"), 0);
		remove_file("/mnt/no/way/file");
		remove_directory("/mnt/no/way");
		leads_nowhere("no/way/file");
		remove_directory("/mnt/no");
	}
}

RING_PROGRAM(direct_hint, world_tmpfs, 60)
{
	world_mount();
	CHECK_EQUAL(sys_chdir("/mnt"), 0);
	task_start(look_whether, "no/way/file");
	task_start(never_find, "not/way/file");
	task_start(make_the_first, NULL);
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	world_unmount();
}

/* ---- below what is no directory --------------------------------------------------------------- */

/* A file has nothing below; then a directory is there, and then a link to another one. */
static void make_it_a_directory(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(stat_path("/mnt/thing/below/file"), -ENOTDIR);
		remove_file("/mnt/thing");
		leads_nowhere("/mnt/thing/below/file");
		make_directory("/mnt/thing", 0755);
		make_directory("/mnt/thing/below", 0755);
		make_file("/mnt/thing/below/file");
		CHECK_EQUAL(stat_path("/mnt/thing/below/file"), 0);
		remove_file("/mnt/thing/below/file");
		make_file("/mnt/other");
		CHECK_EQUAL(stat_path("/mnt/other/below/file"), -ENOTDIR);
		CHECK_EQUAL(sys_symlinkat("two", AT_FDCWD, "/mnt/link"), 0);
		move("/mnt/link", "/mnt/other", 0);
		leads_to("/mnt/other/below/file", file_of_two);
		remove_directory("/mnt/thing/below");
		remove_directory("/mnt/thing");
		move("/mnt/other", "/mnt/thing", 0);
		leads_to("/mnt/thing/below/file", file_of_two);
		make_file("/mnt/new");
		move("/mnt/new", "/mnt/thing", 0);
	}
}

static void look_below(void *path)
{
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		int error = stat_path(path);

		CHECK(error == 0 || error == -ENOENT || error == -ENOTDIR);
	}
}

RING_PROGRAM(direct_alias_below_file, world_tmpfs, 60)
{
	world_mount();
	make_directory("/mnt/two", 0755);
	make_directory("/mnt/two/below", 0755);
	make_file("/mnt/two/below/file");
	make_file("/mnt/thing");
	file_of_two = number_of("/mnt/two/below/file");
	task_start(look_below, "/mnt/thing/below/file");
	task_start(look_below, "/mnt/other/below/file");
	task_start(make_it_a_directory, NULL);
	ring_run();
	world_unmount();
}

/* What was the directory of the path gets another name, and becomes a file there. */
static void make_another_a_file(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/one", "/mnt/two", RENAME_EXCHANGE);
		remove_file("/mnt/two/file");
		remove_directory("/mnt/two");
		make_file("/mnt/two");
		remove_file("/mnt/two");
		make_directory("/mnt/two", 0755);
		make_file("/mnt/two/file");
	}
}

RING_PROGRAM(direct_alias_other_file, world_tmpfs, 60)
{
	make_one_and_two();
	task_start(always_find, "/mnt/one/file");
	task_start(always_find, "/mnt/one/file");
	task_start(look_whether, "/mnt/one/other");
	task_start(make_another_a_file, NULL);
	ring_run();
	world_unmount();
}

/* ---- they go --------------------------------------------------------------------------------- */

static void forget_them(void *unused)
{
	(void)unused;
#ifdef CONFIG_DCACHE_FASTPATH
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		direct_forget_all();
#endif
}

RING_PROGRAM(direct_alias_forgotten, world_tmpfs, 60)
{
	make_one_and_two();
	task_start(always_find, "/mnt/to/file");
	task_start(always_find, "/mnt/one/../to/file");
	task_start(forget_them, NULL);
	ring_run();
	world_unmount();
}
