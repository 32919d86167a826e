/*
 * labels.c - as places.c: security labels (fs/label). A label or a rule changes under those whose
 * lookups it forbids; it is so by walks without locks, by walks with references, and by what direct
 * lookup, where it is compiled, remembers.
 */
#include "hosted/interleave/programs/direct/direct.h"

#include "fs/direct_hooks.h"

#ifdef CONFIG_SECURITY_LABELS

/* A stranger's credential with that label. */
static struct cred *new_subject(const char *label)
{
	struct cred *cred = new_stranger();

	cred->label = label_get(label, strlen(label));
	return cred;
}

/* Who has it has looked for @path often enough that he would be let in without being asked. */
static struct cred *known_subject(const char *label, const char *path)
{
	struct cred *cred = new_subject(label);

	look_often(cred, path);
	return cred;
}

static void set_label(const char *path, const char *label)
{
	CHECK_EQUAL(sys_setxattr(path, LABEL_ATTRIBUTE, label, strlen(label), 0), 0);
}

static void take_label(const char *path)
{
	CHECK_EQUAL(sys_removexattr(path, LABEL_ATTRIBUTE), 0);
}

static void set_rule(const char *line)
{
	CHECK_EQUAL(label_rules_write(line), 0);
}

/* ---- what is forbidden and allowed all the while --------------------------------------------- */

/* Whose threads share what they may reach. */
static struct cred *clerk, *guest, *climber;

static void label_and_take(void *directory)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		set_label(directory, "secret");
		atomic_inc(&forbidden);
		ring_user();
		atomic_inc(&forbidden);
		take_label(directory);
		ring_user();
	}
}

static void forbid_and_allow(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		set_rule("clerk secret rw");
		atomic_inc(&forbidden);
		ring_user();
		atomic_inc(&forbidden);
		set_rule("clerk secret x");
		ring_user();
	}
}

static void change_all_the_while(void (*change)(void *), char *path)
{
	atomic_set(&forbidden, 0);
	subject = known_subject("clerk", path);
	task_start(try_as_subject, path);
	task_start(try_as_subject, path);
	task_start(change, "/mnt/up");
	ring_run();
	put_cred(subject);
	world_unmount();
}

RING_PROGRAM(labels_change, world_tmpfs, 100)
{
	make_up();
	change_all_the_while(label_and_take, "/mnt/up/dir/file");
}

RING_PROGRAM(labels_change_on_disk, world_ext2, 60)
{
	make_up();
	change_all_the_while(label_and_take, "/mnt/up/dir/file");
}

RING_PROGRAM(labels_rule, world_tmpfs, 100)
{
	make_up();
	set_label("/mnt/up", "secret");
	set_rule("clerk secret x");
	change_all_the_while(forbid_and_allow, "/mnt/up/dir/file");
}

/* By a text that is not canonical. */
RING_PROGRAM(labels_rule_by_alias, world_tmpfs, 60)
{
	make_up();
	set_label("/mnt/up", "secret");
	set_rule("clerk secret x");
	change_all_the_while(forbid_and_allow, "/mnt/up/dir/../dir/file");
}

/* Who has been refused by a walk is not let in by what is remembered. */
static void try_by_walk_first(void *unused)
{
	(void)unused;
	set_cred(get_cred(clerk));
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user())
		if (stat_path("/mnt/../mnt/up/dir/file"))
			CHECK_EQUAL(stat_path("/mnt/up/dir/file"), -EACCES);
	be_root();
}

static void label_once(void *unused)
{
	(void)unused;
	set_label("/mnt/up", "secret");
}

static void forbid_once(void *unused)
{
	(void)unused;
	set_rule("clerk secret -");
}

static void change_once(void (*change)(void *))
{
	clerk = known_subject("clerk", "/mnt/up/dir/file");
	task_start(try_by_walk_first, NULL);
	task_start(try_by_walk_first, NULL);
	task_start(change, NULL);
	ring_run();
	put_cred(clerk);
	world_unmount();
}

RING_PROGRAM(labels_change_once, world_tmpfs, 60)
{
	make_up();
	change_once(label_once);
}

RING_PROGRAM(labels_rule_once, world_tmpfs, 60)
{
	make_up();
	set_label("/mnt/up", "secret");
	set_rule("clerk secret x");
	change_once(forbid_once);
}

/* ---- who never may --------------------------------------------------------------------------- */

static void never_as_clerk(void *path)
{
	set_cred(get_cred(clerk));
	for (unsigned i = 0; i < 2 * ROUNDS; i++, ring_user())
		CHECK_EQUAL(stat_path(path), -EACCES);
	be_root();
}

/* Others may, of another label and the same ids, and look all the while. */
static void always_as_guest(void *path)
{
	set_cred(get_cred(guest));
	always_find(path);
	be_root();
}

static void one_may_and_one_never(char *path)
{
	make_up();
	set_label("/mnt/up", "secret");
	set_rule("guest secret x");
	clerk = known_subject("clerk", path);
	guest = new_subject("guest");
	task_start(never_as_clerk, path);
	task_start(always_as_guest, path);
	task_start(look_whether, path);
	ring_run();
	put_cred(clerk);
	put_cred(guest);
	world_unmount();
}

RING_PROGRAM(labels_never, world_tmpfs, 60)
{
	one_may_and_one_never("/mnt/up/dir/file");
}

/* From "..", behind which something is mounted, a walk goes on with references. */
RING_PROGRAM(labels_never_by_references, world_tmpfs, 60)
{
	one_may_and_one_never("/mnt/../mnt/up/dir/file");
}

/* Who was a guest, and becomes a clerk, is let in no more; another guest still is. */
static void become_clerk(void *path)
{
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		set_cred(get_cred(climber));
		CHECK_EQUAL(stat_path(path), 0);
		struct cred *new = prepare_cred();

		new->label = label_get("clerk", 5);
		set_cred(cred_or_equal(new));
		CHECK_EQUAL(stat_path(path), -EACCES);
		be_root();
	}
}

RING_PROGRAM(labels_become, world_tmpfs, 60)
{
	make_up();
	set_label("/mnt/up", "secret");
	set_rule("guest secret x");
	climber = known_subject("guest", "/mnt/up/dir/file");
	guest = new_subject("guest");
	task_start(become_clerk, "/mnt/up/dir/file");
	task_start(always_as_guest, "/mnt/up/dir/file");
	ring_run();
	put_cred(climber);
	put_cred(guest);
	world_unmount();
}

/* What is made has its maker's label when its name is there. */
static void make_and_remove(void *unused)
{
	(void)unused;
	set_cred(get_cred(clerk));
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt/open/new", 0755), 0);
		CHECK_EQUAL(stat_path("/mnt/open/new/."), 0);
		remove_directory("/mnt/open/new");
	}
	be_root();
}

static void never_search_as_guest(void *path)
{
	set_cred(get_cred(guest));
	for (unsigned i = 0; i < 3 * ROUNDS; i++, ring_user()) {
		int error = stat_path(path);

		CHECK(error == -EACCES || error == -ENOENT);
	}
	be_root();
}

static void made_all_the_while(void)
{
	world_mount();
	make_directory("/mnt/open", 0777);
	CHECK_EQUAL(chmod_path("/mnt/open", 0777), 0);
	set_label("/mnt/open", "*");
	clerk = new_subject("clerk");
	guest = new_subject("guest");
	task_start(make_and_remove, NULL);
	task_start(never_search_as_guest, "/mnt/open/new/.");
	task_start(never_search_as_guest, "/mnt/open/new/../new/.");
	ring_run();
	put_cred(clerk);
	put_cred(guest);
	world_unmount();
}

RING_PROGRAM(labels_made, world_tmpfs, 60)
{
	made_all_the_while();
}

RING_PROGRAM(labels_made_on_disk, world_ext2, 60)
{
	made_all_the_while();
}

/* ---- where one stands ------------------------------------------------------------------------ */

static void find_as_clerk(void *path)
{
	set_cred(get_cred(clerk));
	find_from_there(path);
	be_root();
}

/* A directory above the working directory becomes one that he may not search. */
RING_PROGRAM(labels_kept_rights, world_tmpfs, 60)
{
	make_up();
	make_directory("/mnt/up/dir/sub", 0755);
	move("/mnt/up/dir/file", "/mnt/up/dir/sub/file", 0);
	in_working_directory = number_of("/mnt/up/dir/sub/file");
	CHECK_EQUAL(sys_chdir("/mnt/up/dir"), 0);
	clerk = known_subject("clerk", "sub/file");
	set_label("/mnt/up", "secret");
	task_start(find_as_clerk, "sub/file");
	task_start(never_as_clerk, "/mnt/up/dir/sub/file");
	ring_run();
	CHECK_EQUAL(sys_chdir("/"), 0);
	put_cred(clerk);
	world_unmount();
}

#endif
