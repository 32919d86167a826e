/*
 * credentials.c - direct lookup: who has the same ids and groups as before keeps the prefix cache,
 * and who has others does not, which is all that keeps him from where he may not go.
 */
#include "core/memory/slab.h"
#include "fs/direct_hooks.h"
#include "hosted/interleave/programs/direct/direct.h"

#define GROUP 2000
#define OTHER_GROUP 2001

static struct cred *new_member(gid_t group)
{
	struct cred *cred = new_stranger();

	cred->groups[cred->group_count++] = group;
	return cred;
}

#ifdef CONFIG_DCACHE_FASTPATH
/* @id of @new, which is current's otherwise, is another: so it is a credential of its own. */
static void make_differ(struct cred *new, u32 *id)
{
	++*id;
	CHECK(cred_or_equal(new) == new);
	put_cred(new);
}

#define CHECK_DIFFERS_BY(field)                                                                    \
	do {                                                                                       \
		struct cred *new_ = prepare_cred();                                                \
		make_differ(new_, &new_->field);                                                   \
	} while (0)
#endif

RING_PROGRAM(direct_equal_credentials, world_tmpfs, 1)
{
	world_mount();
#ifdef CONFIG_DCACHE_FASTPATH
	subject = new_member(GROUP);
	set_cred(get_cred(subject));
	const struct cred *equal = cred_or_equal(prepare_cred());

	CHECK(equal == subject);
	put_cred(equal);
	CHECK_DIFFERS_BY(uid);
	CHECK_DIFFERS_BY(euid);
	CHECK_DIFFERS_BY(suid);
	CHECK_DIFFERS_BY(gid);
	CHECK_DIFFERS_BY(egid);
	CHECK_DIFFERS_BY(sgid);
	CHECK_DIFFERS_BY(group_count);
	CHECK_DIFFERS_BY(groups[0]);
	be_root();
	put_cred(subject);
#endif
	world_unmount();
}

/* Who was let in by one group, and has another in its place, is let in no more. */
static void change_group(void *path)
{
	for (unsigned i = 0; i < ROUNDS; i++, ring_user()) {
		set_cred(get_cred(subject));
		CHECK_EQUAL(stat_path(path), 0);
		struct cred *new = prepare_cred();

		new->groups[0] = OTHER_GROUP;
		set_cred(cred_or_equal(new));
		CHECK_EQUAL(stat_path(path), -EACCES);
		be_root();
	}
}

static struct cred *other_member;

static void always_as_member(void *path)
{
	set_cred(get_cred(other_member));
	always_find(path);
	be_root();
}

RING_PROGRAM(direct_other_group, world_tmpfs, 60)
{
	struct path directory;

	make_up();
	CHECK_EQUAL(find_path("/mnt/up", 0, &directory), 0);
	CHECK_EQUAL(vfs_chown(&directory, 0, GROUP), 0);
	CHECK_EQUAL(vfs_chmod(&directory, 0710), 0);
	path_put(&directory);
	subject = new_member(GROUP);
	other_member = new_member(GROUP);
	look_often(subject, "/mnt/up/dir/file");
	task_start(change_group, "/mnt/up/dir/file");
	task_start(always_as_member, "/mnt/up/dir/file");
	ring_run();
	put_cred(subject);
	put_cred(other_member);
	world_unmount();
}
