/*
 * changes.c - interleavings: walks without locks (fs/path/lockless) against all that
 * changes under them. A name that always exists is never missed, nobody comes to what he was never
 * allowed to, and nothing is looked at after its grace period.
 */
#include <stdio.h>

#include "hash/cache.h"
#include "hosted/interleave/programs/lockless/lockless.h"

int stat_path(const char *path)
{
	struct kstat stat;
	char text[64];

	snprintf(text, sizeof(text), "%s", path);
	return (int)sys_newfstatat(AT_FDCWD, text, &stat, 0);
}

void make_file(const char *path)
{
	CHECK_EQUAL(write_at(path, O_CREAT | O_WRONLY, 0, "x", 1), 1);
}

void make_directory(const char *path, umode_t mode)
{
	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, path, mode), 0);
}

void forget_names(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		shrink_dcache(100);
		shrink_icache(100);
	}
}

/* ---- names that always exist ------------------------------------------------------------------ */

/* One look by stat(2), which takes no reference, and one by open(2), which does. */
static void look_for(void *path)
{
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(stat_path(path), 0);
		struct file *file = open_path(path, O_RDONLY, 0);
		CHECK(!IS_ERR(file));
		CHECK_EQUAL(file->inode->nlink, 1);
		fput(file);
	}
}

static void exchange(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user())
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/one", AT_FDCWD, "/mnt/e/two",
					  RENAME_EXCHANGE),
			    0);
}

/* Both directories have a file of that name. */
static void exchange_directories(void)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_directory("/mnt/e", 0755);
	make_directory("/mnt/d/one", 0755);
	make_directory("/mnt/e/two", 0755);
	make_file("/mnt/d/one/file");
	make_file("/mnt/e/two/file");
	task_start(look_for, "/mnt/d/one/file");
	task_start(look_for, "/mnt/e/../e/two/file");
	task_start(exchange, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(lockless_exchange_ext2, world_ext2, 60)
{
	exchange_directories();
}

RING_PROGRAM(lockless_exchange_tmpfs, world_tmpfs, 60)
{
	exchange_directories();
}

/* What had the name that is looked for gets another, and loses that. */
static void exchange_and_remove(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		make_file("/mnt/d/spare");
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/spare", AT_FDCWD, "/mnt/keep",
					  RENAME_EXCHANGE),
			    0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/spare", 0), 0);
	}
}

static void see_that_it_is(void *path)
{
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user())
		CHECK_EQUAL(stat_path(path), 0);
}

void replaced_all_the_while(void)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_file("/mnt/keep");
	world_warm("/mnt/keep");
	task_start(see_that_it_is, "/mnt/keep");
	task_start(see_that_it_is, "/mnt/keep");
	task_start(exchange_and_remove, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(lockless_replaced, world_tmpfs, 100)
{
	replaced_all_the_while();
}

/* Into the chain of the name that is looked for, and out of it: the table is small. */
static void rename_around(void *unused)
{
	char from[64] = "/mnt/d/k0", to[64];

	(void)unused;
	for (unsigned i = 1; i < 4 * ROUNDS; i++, ring_user()) {
		snprintf(to, sizeof(to), "/mnt/d/k%u", i);
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, from, AT_FDCWD, to, 0), 0);
		memcpy(from, to, sizeof(from));
	}
}

static char long_name[256 + 8];

static void make_short_and_long(void *unused)
{
	static const char short_name[40] = "/mnt/d/short";

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, long_name, AT_FDCWD, short_name, 0), 0);
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, short_name, AT_FDCWD, long_name, 0), 0);
	}
}

static void look_for_long(void *unused)
{
	struct kstat stat;

	(void)unused;
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		int error = (int)sys_newfstatat(AT_FDCWD, long_name, &stat, 0);

		CHECK(error == 0 || error == -ENOENT);
	}
}

/* A name's text is in the dentry, or elsewhere: nobody reads a long one where a short one is. */
RING_PROGRAM(lockless_long_name, world_tmpfs, 100)
{
	snprintf(long_name, sizeof(long_name), "/mnt/d/%0240d", 0);
	world_mount();
	make_directory("/mnt/d", 0755);
	make_file(long_name);
	task_start(look_for_long, NULL);
	task_start(look_for_long, NULL);
	task_start(make_short_and_long, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(lockless_neighbours, world_tmpfs, 60)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_file("/mnt/d/k0");
	make_file("/mnt/d/keep");
	task_start(look_for, "/mnt/d/keep");
	task_start(rename_around, NULL);
	ring_run();
	world_unmount();
}

#define COLLIDING (1u << 19)

static void spell(char *name, u32 number)
{
	snprintf(name, 16, "%08x", number * 0x9e3779b1u);
}

/* Two names of one hash value in whatever directory, found by the birthdays of some 400,000: as
 * long as NAME_HASH does not look at the directory. */
static void collide(char *one, char *two)
{
	static u32 known[COLLIDING]; /* numbers of names, by hash value; 0: none */

	for (unsigned number = 1; number < COLLIDING * 3 / 4; number++) {
		spell(two, number);
		u32 hash = name_hash(0, two, strlen(two));
		u32 at = hash * 0x9e3779b1u % COLLIDING;

		for (; known[at]; at = (at + 1) % COLLIDING) {
			spell(one, known[at]);
			if (name_hash(0, one, strlen(one)) == hash)
				return;
		}
		known[at] = number;
	}
	panic("no two names with one hash value");
}

static char there[64], elsewhere[64], never_there[2][64];

static void move_and_back(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, there, AT_FDCWD, elsewhere, 0), 0);
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, elsewhere, AT_FDCWD, there, 0), 0);
	}
}

static void never_find(void *path)
{
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		CHECK_EQUAL(stat_path(path), -ENOENT);
}

/* A file moves to another directory and name. It never has the old name in the new directory, or the
 * new one in the old; their hash values do not tell. */
static void prepare_names(void)
{
	char one[16], two[16];

	world_tmpfs();
	collide(one, two);
	snprintf(there, sizeof(there), "/mnt/d/%s", one);
	snprintf(elsewhere, sizeof(elsewhere), "/mnt/e/%s", two);
	snprintf(never_there[0], sizeof(never_there[0]), "/mnt/d/%s", two);
	snprintf(never_there[1], sizeof(never_there[1]), "/mnt/e/%s", one);
}

RING_PROGRAM(lockless_half_moved, prepare_names, 100)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_directory("/mnt/e", 0755);
	make_file(there);
	task_start(never_find, never_there[0]);
	task_start(never_find, never_there[1]);
	task_start(move_and_back, NULL);
	ring_run();
	world_unmount();
}

/* What is looked at is reclaimed, and read in again. */
RING_PROGRAM(lockless_reclaim, world_ext2, 60)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_directory("/mnt/d/e", 0755);
	make_file("/mnt/d/e/file");
	sys_sync();
	task_start(look_for, "/mnt/d/e/file");
	task_start(look_for, "/mnt/d/e/./../e/file");
	task_start(forget_names, NULL);
	ring_run();
	world_unmount();
}

/* ---- names that come and go ------------------------------------------------------------------- */

static void make_and_remove(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		make_directory("/mnt/d/e", 0755);
		make_file("/mnt/d/e/file");
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/e/file", 0), 0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/e", AT_REMOVEDIR), 0);
	}
}

static void look_whether(void *path)
{
	struct kstat stat;
	char text[64];

	snprintf(text, sizeof(text), "%s", (const char *)path);
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user()) {
		int error = (int)sys_newfstatat(AT_FDCWD, text, &stat, 0);

		CHECK(error == 0 || error == -ENOENT);
		if (!error) /* of one file, and not of what was made of its memory */
			CHECK_EQUAL(stat.mode, S_IFREG | 0644);
		struct file *file = open_path(path, O_RDONLY, 0);
		CHECK(!IS_ERR(file) || PTR_ERR(file) == -ENOENT);
		if (!IS_ERR(file))
			fput(file);
	}
}

static void come_and_go(void)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	task_start(look_whether, "/mnt/d/e/file");
	task_start(make_and_remove, NULL);
	task_start(forget_names, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(lockless_unlink_ext2, world_ext2, 60)
{
	come_and_go();
}

RING_PROGRAM(lockless_unlink_tmpfs, world_tmpfs, 60)
{
	come_and_go();
}

static void open_once(void *unused)
{
	(void)unused;
	struct file *file = open_path("/mnt/d/file", O_RDONLY, 0);
	CHECK(!IS_ERR(file) || PTR_ERR(file) == -ENOENT);
	if (!IS_ERR(file))
		fput(file);
}

static void remove_once(void *unused)
{
	(void)unused;
	struct file *file = open_path("/mnt/d/file", O_RDONLY, 0);
	CHECK(!IS_ERR(file));
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/file", 0), 0);
	fput(file); /* the last reference to an unhashed dentry */
}

RING_PROGRAM(lockless_last_reference, world_tmpfs, 100)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	make_file("/mnt/d/file");
	task_start(open_once, NULL);
	task_start(open_once, NULL);
	task_start(remove_once, NULL);
	ring_run();
	world_unmount();
}

/* Whole before it has its name, and until it has lost it. */
static void rename_and_remove(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		make_file("/mnt/d/new");
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/new", AT_FDCWD, "/mnt/d/file", 0), 0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/file", 0), 0);
	}
}

static void see_it_whole(void *unused)
{
	struct kstat stat;
	static const char name[64] = "/mnt/d/file";

	(void)unused;
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user())
		if (!sys_newfstatat(AT_FDCWD, name, &stat, 0))
			CHECK_EQUAL(stat.size, 1);
}

RING_PROGRAM(lockless_evict, world_ext2, 60)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	task_start(see_it_whole, NULL);
	task_start(see_it_whole, NULL);
	task_start(rename_and_remove, NULL);
	ring_run();
	world_unmount();
}

/* Who has it open has a reference to its dentry, which therefore leaves the table with its inode. */
static void rename_and_remove_open(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		make_file("/mnt/d/new");
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/d/new", AT_FDCWD, "/mnt/d/file", 0), 0);
		struct file *file = open_path("/mnt/d/file", O_RDONLY, 0);
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/d/file", 0), 0);
		fput(file);
	}
}

RING_PROGRAM(lockless_evict_open, world_ext2, 60)
{
	world_mount();
	make_directory("/mnt/d", 0755);
	task_start(see_it_whole, NULL);
	task_start(see_it_whole, NULL);
	task_start(rename_and_remove_open, NULL);
	ring_run();
	world_unmount();
}

/* ---- symbolic links --------------------------------------------------------------------------- */

static void replace_link(void *unused)
{
	static const char *const texts[] = {"/mnt/one", "two", "./../mnt/one"};

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		char text[64];

		snprintf(text, sizeof(text), "%s", texts[i % 3]);
		CHECK_EQUAL(sys_symlinkat(text, AT_FDCWD, "/mnt/new"), 0);
		CHECK_EQUAL(sys_renameat2(AT_FDCWD, "/mnt/new", AT_FDCWD, "/mnt/link", 0), 0);
	}
}

/* Through a link that is replaced, a link to that, and to a name in there that does not exist. */
static void walk_through(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(stat_path("/mnt/link/file"), 0);
		CHECK_EQUAL(stat_path("/mnt/to-link/file"), 0);
		CHECK_EQUAL(stat_path("/mnt/link/none"), -ENOENT);
		struct file *file = open_path("/mnt/link/more", O_CREAT | O_RDWR, 0644);
		CHECK(!IS_ERR(file));
		fput(file);
	}
}

static void links_change(void)
{
	world_mount();
	make_directory("/mnt/one", 0755);
	make_directory("/mnt/two", 0755);
	make_file("/mnt/one/file");
	make_file("/mnt/two/file");
	CHECK_EQUAL(sys_symlinkat("two", AT_FDCWD, "/mnt/link"), 0);
	CHECK_EQUAL(sys_symlinkat("link", AT_FDCWD, "/mnt/to-link"), 0);
	task_start(walk_through, NULL);
	task_start(walk_through, NULL);
	task_start(replace_link, NULL);
	ring_run();
	world_unmount();
}

RING_PROGRAM(lockless_links_ext2, world_ext2, 60)
{
	links_change();
}

RING_PROGRAM(lockless_links_tmpfs, world_tmpfs, 60)
{
	links_change();
}
