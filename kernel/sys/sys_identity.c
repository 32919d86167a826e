/*
 * sys_identity.c - who a process is: user and group ids, groups, names.
 *
 * A change makes a new struct cred, so that whoever looks at the old one sees it whole. The one
 * privilege is an effective uid of 0. Limit: 32 supplementary groups (Linux: 65536).
 */
#include "core/system_name.h"
#include "kernel/proc/process.h"

#define KEEP ((u32)-1) /* "leave this id as it is" */

/* A user's ids and a group's lie in the same order in struct cred: what is said of the one holds
 * for the other. */
enum { REAL, EFFECTIVE, SAVED, IDS };
enum owner { USER, GROUP };

static u32 *ids_of(const struct cred *cred, enum owner owner)
{
	return (u32 *)(owner == GROUP ? &cred->gid : &cred->uid);
}

static_assert(offsetof(struct cred, suid) - offsetof(struct cred, uid) == 8, "REAL ... in order");
static_assert(offsetof(struct cred, sgid) - offsetof(struct cred, gid) == 8, "REAL ... in order");

s64 sys_getpid(void)
{
	return current->process_id;
}

s64 sys_gettid(void)
{
	return current->pid;
}

s64 sys_getppid(void)
{
	return READ_ONCE(current->process->parent_pid);
}

/* May the caller take @id: root, or has it as one of the first @count of its own? */
static bool may_take(enum owner owner, u32 id, int count)
{
	const u32 *ids = ids_of(current->cred, owner);
	bool may = id == KEEP || capable(current->cred);

	for (int i = REAL; i < count; i++)
		may |= ids[i] == id;
	return may;
}

static s64 set_ids(enum owner owner, u32 real, u32 effective, u32 saved)
{
	const u32 new_ids[] = {real, effective, saved};
	struct cred *new = TRY_PTR(prepare_cred());
	u32 *ids = ids_of(new, owner);

	for (int i = REAL; i < IDS; i++)
		if (new_ids[i] != KEEP)
			ids[i] = new_ids[i];
	task_set_cred(new);
	return 0;
}

static s64 set_id(enum owner owner, u32 id)
{
	const u32 *ids = ids_of(current->cred, owner);

	if (id == KEEP)
		return -EINVAL;
	if (capable(current->cred))
		return set_ids(owner, id, id, id);
	if (id != ids[REAL] && id != ids[SAVED])
		return -EPERM;
	return set_ids(owner, KEEP, id, KEEP);
}

static s64 set_three(enum owner owner, u32 real, u32 effective, u32 saved)
{
	if (!may_take(owner, real, IDS) || !may_take(owner, effective, IDS) ||
	    !may_take(owner, saved, IDS))
		return -EPERM;
	return set_ids(owner, real, effective, saved);
}

/* The saved id becomes the effective one when an id changes that is not the same as the real. */
static s64 set_two(enum owner owner, u32 real, u32 effective)
{
	const u32 *ids = ids_of(current->cred, owner);
	u32 next = effective != KEEP ? effective : ids[EFFECTIVE], saved = KEEP;

	if (real != KEEP || (effective != KEEP && effective != ids[REAL]))
		saved = next;
	if (!may_take(owner, real, SAVED) || !may_take(owner, effective, IDS))
		return -EPERM;
	return set_ids(owner, real, next, saved);
}

static s64 get_three(enum owner owner, u32 *real, u32 *effective, u32 *saved)
{
	const u32 *ids = ids_of(current->cred, owner);

	TRY(put_user(ids[REAL], real));
	TRY(put_user(ids[EFFECTIVE], effective));
	return put_user(ids[SAVED], saved);
}

/* ---- the calls on a user's ids, and on a group's --------------------------------------------- */

s64 sys_getuid(void)
{
	return current->cred->uid;
}

s64 sys_geteuid(void)
{
	return current->cred->euid;
}

s64 sys_setuid(u32 id)
{
	return set_id(USER, id);
}

s64 sys_setreuid(u32 real, u32 effective)
{
	return set_two(USER, real, effective);
}

s64 sys_setresuid(u32 real, u32 effective, u32 saved)
{
	return set_three(USER, real, effective, saved);
}

s64 sys_getresuid(u32 *real, u32 *effective, u32 *saved)
{
	return get_three(USER, real, effective, saved);
}

s64 sys_getgid(void)
{
	return current->cred->gid;
}

s64 sys_getegid(void)
{
	return current->cred->egid;
}

s64 sys_setgid(u32 id)
{
	return set_id(GROUP, id);
}

s64 sys_setregid(u32 real, u32 effective)
{
	return set_two(GROUP, real, effective);
}

s64 sys_setresgid(u32 real, u32 effective, u32 saved)
{
	return set_three(GROUP, real, effective, saved);
}

s64 sys_getresgid(u32 *real, u32 *effective, u32 *saved)
{
	return get_three(GROUP, real, effective, saved);
}

s64 sys_getgroups(int count, gid_t *groups)
{
	const struct cred *cred = current->cred;
	int have = (int)cred->group_count;

	if (count < 0 || (count && count < have))
		return -EINVAL;
	if (count)
		TRY(write_user(groups, cred->groups, (size_t)have * sizeof(gid_t)));
	return have;
}

s64 sys_setgroups(int count, const gid_t *groups)
{
	gid_t copy[NGROUPS_MAX_INLINE];

	if (!capable(current->cred))
		return -EPERM;
	if (count < 0 || count > NGROUPS_MAX_INLINE)
		return -EINVAL;
	TRY(read_user(copy, groups, (size_t)count * sizeof(gid_t)));

	struct cred *new = TRY_PTR(prepare_cred());

	memcpy(new->groups, copy, (size_t)count * sizeof(gid_t));
	new->group_count = (unsigned)count;
	task_set_cred(new);
	return 0;
}

/* ---- the system's name ----------------------------------------------------------------------- */

/* Linux's struct utsname: six texts of 65 bytes, the last of them the domain's name. */
s64 sys_uname(void *to)
{
	static const char names[6][65] = {SYSTEM_NAME,	  SYSTEM_NODE,	  SYSTEM_RELEASE,
					  SYSTEM_VERSION, SYSTEM_MACHINE, "(none)"};

	return write_user(to, names, sizeof(names));
}
