/* table.c - as places.c: what the table of paths keeps of a path that leads elsewhere by now. */
#include "hosted/interleave/programs/direct/direct.h"
#ifdef CONFIG_DCACHE_FASTPATH
#include "fs/path/direct/find.h"
#endif

/* At every moment there is one entry of a path, at most. */
static void check_each_path_once(void)
{
#ifdef CONFIG_DCACHE_FASTPATH
	for (u32 bucket = 0; bucket < path_cache_hash.entries; bucket++) {
		struct direct_entry *one = NULL;

		while ((one = path_table_next(&path_table_instance, bucket, one))) {
			struct direct_entry *other = one;

			while ((other = path_table_next(&path_table_instance, bucket, other)))
				CHECK(signatures_differ(&one->signature, &other->signature));
		}
	}
#endif
}

/* A directory moves away, whose file's entry is void then, and another is made in its place. */
static void make_up_anew(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/up", "/mnt/old", 0);
		make_directory("/mnt/up", 0755);
		make_directory("/mnt/up/dir", 0755);
		make_file("/mnt/up/dir/file");
		CHECK_EQUAL(stat_path("/mnt/up/dir/file"), 0);
		check_each_path_once();
		remove_file("/mnt/up/dir/file");
		remove_directory("/mnt/up/dir");
		remove_directory("/mnt/up");
		check_each_path_once();
		move("/mnt/old", "/mnt/up", 0);
	}
}

RING_PROGRAM(direct_each_once, world_tmpfs, 60)
{
	make_up();
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(make_up_anew, NULL);
	ring_run();
	check_each_path_once();
	world_unmount();
}

/* ---- a file that is reached by two mounts ---------------------------------------------------- */

/* Do entries by two mounts lead to one file now, as many as there can be? */
static bool both_ways_known(void)
{
	bool found = true;
#if CONFIG_DIRECT_PATHS > 1
	found = false;
	for (u32 bucket = 0; bucket < path_cache_hash.entries; bucket++) {
		struct direct_entry *entry = NULL;

		while ((entry = path_table_next(&path_table_instance, bucket, entry)))
			found |= entry->place == 1 && entry->version && entry->path.dentry->inode &&
				 S_ISREG(entry->path.dentry->inode->mode) &&
				 entry->path.dentry->direct[0] &&
				 entry->path.dentry->direct[0]->version;
	}
#endif
	return found;
}

static ino_t the_file;

static void both_lead_to_it(void)
{
	leads_to("/mnt/up/dir/file", the_file);
	leads_to("/mnt/bound/dir/file", the_file);
}

static void both_lead_nowhere(void)
{
	leads_nowhere("/mnt/up/dir/file");
	leads_nowhere("/mnt/bound/dir/file");
}

/* Its directory moves to and fro: who has known it by both ways finds it by neither meanwhile. */
static void move_for_both(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/up/dir", "/mnt/up/other", 0);
		both_lead_nowhere();
		move("/mnt/bound/other", "/mnt/bound/dir", 0);
		both_lead_to_it();
	}
}

/* Itself it gets another name, and goes. */
static void rename_for_both(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		move("/mnt/bound/dir/file", "/mnt/bound/file", 0);
		both_lead_nowhere();
		make_file("/mnt/up/dir/file");
		CHECK_EQUAL(stat_path("/mnt/bound/dir/file"), 0);
		remove_file("/mnt/bound/dir/file");
		both_lead_nowhere();
		move("/mnt/up/file", "/mnt/up/dir/file", 0);
		both_lead_to_it();
	}
}

static void meet_on_both_ways(void (*change)(void *))
{
	make_up();
	make_directory("/mnt/bound", 0755);
	CHECK_EQUAL(sys_mount("/mnt/up", "/mnt/bound", "none", MS_BIND, NULL), 0);
	the_file = number_of("/mnt/up/dir/file");
	world_warm("/mnt/up/dir/file");
	world_warm("/mnt/bound/dir/file");
	CHECK(both_ways_known());
	task_start(look_whether, "/mnt/up/dir/file");
	task_start(look_whether, "/mnt/bound/dir/file");
	task_start(change, NULL);
	ring_run();
	both_lead_to_it();
	world_warm("/mnt/up/dir/file");
	world_warm("/mnt/bound/dir/file");
	CHECK(both_ways_known());
	CHECK_EQUAL(sys_umount2("/mnt/bound", 0), 0);
	world_unmount();
}

RING_PROGRAM(direct_both_move, world_tmpfs, 60)
{
	meet_on_both_ways(move_for_both);
}

RING_PROGRAM(direct_both_renamed, world_tmpfs, 60)
{
	meet_on_both_ways(rename_for_both);
}

/* ---- what is not known to be true yet --------------------------------------------------------- */

#ifdef CONFIG_DCACHE_FASTPATH
/* @path gets an entry by the path that @other had, as if it had been there, and moved meanwhile. */
static struct direct_entry *enter_wrongly(const struct path *path, const struct signature *other)
{
	direct_forget(path->dentry);
	CHECK(direct_enter(path, other, mount_sequence.sequence));
	CHECK_EQUAL(direct_version_of(path->dentry, path->mount, other, mount_sequence.sequence), 0);
	return direct_entry_of(path->dentry, path->mount);
}
#endif

/* Nobody learns the version of such an entry, nor goes on from it; a change above makes it void. */
RING_PROGRAM(direct_unsure, world_tmpfs, 1)
{
#ifdef CONFIG_DCACHE_FASTPATH
	struct path up, other;

	make_up();
	the_file = number_of("/mnt/up/dir/file");
	make_directory("/mnt/other", 0755);
	make_directory("/mnt/other/dir", 0755);
	make_file("/mnt/other/dir/file");
	world_warm("/mnt/other/dir/file");
	world_warm("/mnt/other");
	CHECK_EQUAL(find_path("/mnt/up", 0, &up), 0);
	CHECK_EQUAL(find_path("/mnt/other", 0, &other), 0);
	CHECK(direct_entry_of(other.dentry, other.mount));
	const struct signature wrong = direct_entry_of(other.dentry, other.mount)->signature;

	CHECK_EQUAL(sys_chdir("/mnt/up"), 0);
	enter_wrongly(&up, &wrong);
	leads_to("dir/file", the_file);
	struct direct_entry *entry = enter_wrongly(&up, &wrong);
	CHECK(entry->version);
	CHECK_EQUAL(chmod_path("/mnt", 0700), 0);
	CHECK_EQUAL(entry->version, 0);
	CHECK_EQUAL(sys_chdir("/"), 0);
	path_put(&other);
	path_put(&up);
	world_unmount();
#endif
}

/* ---- long paths ------------------------------------------------------------------------------ */

/* Make @count directories, each in the one before, with a name of 250 bytes; their path into @text. */
static void __maybe_unused make_long(unsigned count, char *text)
{
	char name[256] = "";

	memset(name, 'x', 250);
	for (*text = '\0'; count; count--) {
		strcat(strcat(text, *text ? "/" : ""), name);
		make_directory(name, 0755);
		CHECK_EQUAL(sys_chdir(name), 0);
	}
}

/* From a long path a text goes on that is nearly as long as any: their canonical path, which is
 * longer, has an entry. */
RING_PROGRAM(direct_long, world_tmpfs, 1)
{
#ifdef CONFIG_DCACHE_FASTPATH
	static char start[PATH_MAX + 8], rest[PATH_MAX + 8];
	struct kstat stat;

	make_up();
	CHECK_EQUAL(sys_mount("none", "/mnt/up", "tmpfs", 0, "mode=755,nr_inodes=64"), 0);
	CHECK_EQUAL(sys_chdir("/mnt/up"), 0);
	make_long(3, start);
	make_long(15, rest);
	CHECK_EQUAL(sys_chdir("/mnt/up"), 0);
	CHECK_EQUAL(sys_chdir(start), 0);
	for (unsigned i = 0; i < PREFIX_PATIENCE + 3; i++)
		CHECK_EQUAL(sys_newfstatat(AT_FDCWD, rest, &stat, 0), 0);
	direct_check();
	CHECK_EQUAL(sys_chdir("/"), 0);
	CHECK_EQUAL(sys_umount2("/mnt/up", 0), 0);
	world_unmount();
#endif
}

/* ---- the prefix cache ------------------------------------------------------------------------ */

/* Of versions whose words have one set of the prefix cache, the one used least recently goes. */
RING_PROGRAM(direct_least_recent, world_tmpfs, 1)
{
#ifdef CONFIG_DCACHE_FASTPATH
	const u64 epoch = prefix_last_version >> 32 << 32, apart = KB(CONFIG_PREFIX_KB) / 4;

	subject = new_stranger();
	subject->prefix_asked = PREFIX_PATIENCE;
	set_cred(get_cred(subject));
	for (u64 i = 1; i <= CONFIG_PREFIX_WAYS; i++)
		prefix_remember(epoch + i * apart);
	for (u64 i = 1; i <= CONFIG_PREFIX_WAYS; i++)
		CHECK(prefix_allows(subject->prefix, epoch + i * apart));
	CHECK(prefix_allows(subject->prefix, epoch + apart));
	prefix_remember(epoch + (CONFIG_PREFIX_WAYS + 1) * apart);
	prefix_remember(epoch + 1); /* of another set */
	for (u64 i = 1; i <= CONFIG_PREFIX_WAYS + 1; i++)
		CHECK_EQUAL(prefix_allows(subject->prefix, epoch + i * apart), i != 2);
	be_root();
	put_cred(subject);
#endif
}
