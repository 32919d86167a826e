/*
 * sys_identity.c - who a process is: user and group ids, groups, names.
 *
 * A change makes a new struct cred, so that whoever looks at the old one sees it whole. The one
 * privilege is an effective uid of 0. Limit: 32 supplementary groups (Linux: 65536).
 */
#include "fs/vfs.h"
#include "kernel/core/system_name.h"
#include "kernel/proc/process.h"
#include "kernel/sys/syscalls.h"

#define KEEP ((u32)-1) /* "leave this id as it is" */

/* A user's ids and a group's lie in the same order in struct cred: what is said of the one holds
 * for the other. */
enum { REAL, EFFECTIVE, SAVED, FILESYSTEM };

static u32 *ids_of(const struct cred *cred, bool group)
{
	return (u32 *)(group ? &cred->gid : &cred->uid);
}

_Static_assert(offsetof(struct cred, fsuid) - offsetof(struct cred, uid) == 12, "REAL ... in order");
_Static_assert(offsetof(struct cred, fsgid) - offsetof(struct cred, gid) == 12, "REAL ... in order");

s64 sys_getpid(void)
{
	return current->process->pid;
}

s64 sys_gettid(void)
{
	return current->pid;
}

s64 sys_getppid(void)
{
	return READ_ONCE(current->process->parent_pid);
}

s64 sys_getuid(void)
{
	return current->cred->uid;
}

s64 sys_geteuid(void)
{
	return current->cred->euid;
}

s64 sys_getgid(void)
{
	return current->cred->gid;
}

s64 sys_getegid(void)
{
	return current->cred->egid;
}

/* ---- changing ids ---------------------------------------------------------------------------- */

static s64 commit_ids(bool group, const u32 new_ids[FILESYSTEM + 1])
{
	struct cred *new = prepare_cred();

	if (!new)
		return -ENOMEM;
	for (int i = REAL; i <= FILESYSTEM; i++) {
		if (new_ids[i] != KEEP)
			ids_of(new, group)[i] = new_ids[i];
	}
	task_set_cred(new);
	return 0;
}

static s64 set_ids(bool group, u32 real, u32 effective, u32 saved)
{
	u32 new_ids[] = {real, effective, saved, effective};

	if (effective == KEEP)
		new_ids[FILESYSTEM] = ids_of(current->cred, group)[EFFECTIVE];
	return commit_ids(group, new_ids);
}

/* May the caller take @id: root, or has it as one of the first @count of its own? */
static bool may_take(bool group, u32 id, int count)
{
	const u32 *ids = ids_of(current->cred, group);

	if (id == KEEP || capable(current->cred))
		return true;
	for (int i = REAL; i < count; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

static s64 set_id(bool group, u32 id)
{
	const u32 *ids = ids_of(current->cred, group);

	if (id == KEEP)
		return -EINVAL;
	if (capable(current->cred))
		return set_ids(group, id, id, id);
	return id == ids[REAL] || id == ids[SAVED] ? set_ids(group, KEEP, id, KEEP) : -EPERM;
}

static s64 set_two(bool group, u32 real, u32 effective)
{
	const u32 *ids = ids_of(current->cred, group);
	u32 saved = KEEP;

	if (!may_take(group, real, SAVED) || !may_take(group, effective, FILESYSTEM))
		return -EPERM;
	if (real != KEEP || (effective != KEEP && effective != ids[REAL]))
		saved = effective != KEEP ? effective : ids[EFFECTIVE];
	return set_ids(group, real, effective, saved);
}

static s64 set_three(bool group, u32 real, u32 effective, u32 saved)
{
	if (!may_take(group, real, FILESYSTEM) || !may_take(group, effective, FILESYSTEM) ||
	    !may_take(group, saved, FILESYSTEM))
		return -EPERM;
	return set_ids(group, real, effective, saved);
}

static s64 get_three(bool group, u32 *real, u32 *effective, u32 *saved)
{
	const u32 *ids = ids_of(current->cred, group);

	return put_user(ids[REAL], real) || put_user(ids[EFFECTIVE], effective) ||
			       put_user(ids[SAVED], saved)
		       ? -EFAULT
		       : 0;
}

/* The former id, whether or not it was changed. */
static s64 set_filesystem_id(bool group, u32 id)
{
	u32 old = ids_of(current->cred, group)[FILESYSTEM];
	const u32 new_ids[] = {KEEP, KEEP, KEEP, id};

	if (may_take(group, id, FILESYSTEM))
		(void)commit_ids(group, new_ids);
	return old;
}

s64 sys_setuid(uid_t uid)
{
	return set_id(false, uid);
}

s64 sys_setgid(gid_t gid)
{
	return set_id(true, gid);
}

s64 sys_setreuid(uid_t real, uid_t effective)
{
	return set_two(false, real, effective);
}

s64 sys_setregid(gid_t real, gid_t effective)
{
	return set_two(true, real, effective);
}

s64 sys_setresuid(uid_t real, uid_t effective, uid_t saved)
{
	return set_three(false, real, effective, saved);
}

s64 sys_setresgid(gid_t real, gid_t effective, gid_t saved)
{
	return set_three(true, real, effective, saved);
}

s64 sys_getresuid(uid_t *real, uid_t *effective, uid_t *saved)
{
	return get_three(false, real, effective, saved);
}

s64 sys_getresgid(gid_t *real, gid_t *effective, gid_t *saved)
{
	return get_three(true, real, effective, saved);
}

s64 sys_setfsuid(uid_t uid)
{
	return set_filesystem_id(false, uid);
}

s64 sys_setfsgid(gid_t gid)
{
	return set_filesystem_id(true, gid);
}

s64 sys_getgroups(int count, gid_t *groups)
{
	const struct cred *cred = current->cred;
	int have = (int)cred->group_count;

	if (count < 0 || (count && count < have))
		return -EINVAL;
	if (!count)
		return have;
	return copy_to_user(groups, cred->groups, (size_t)have * sizeof(gid_t)) ? -EFAULT : have;
}

s64 sys_setgroups(int count, const gid_t *groups)
{
	struct cred *new;

	if (!capable(current->cred))
		return -EPERM;
	if (count < 0 || count > NGROUPS_MAX_INLINE)
		return -EINVAL;
	new = prepare_cred();
	if (!new)
		return -ENOMEM;
	if (copy_from_user(new->groups, groups, (size_t)count * sizeof(gid_t))) {
		put_cred(new);
		return -EFAULT;
	}
	new->group_count = (unsigned)count;
	task_set_cred(new);
	return 0;
}

/* The one privilege there is, in the shape of capabilities: all or none. */
s64 sys_capget(u32 *user_header, u32 *data)
{
	enum { VERSION_1 = 0x19980330, VERSION_2 = 0x20071026, VERSION_3 = 0x20080522 };
	u32 all = capable(current->cred) ? ~0u : 0, header[2];
	/* effective, permitted, inheritable, twice */
	u32 sets[6] = {all, all, 0, all & 0x1ff, all & 0x1ff, 0};

	if (copy_from_user(header, user_header, sizeof(header)))
		return -EFAULT;
	if (header[0] != VERSION_1 && header[0] != VERSION_2 && header[0] != VERSION_3) {
		if (put_user((u32)VERSION_3, user_header))
			return -EFAULT;
		return data ? -EINVAL : 0;
	}
	if ((int)header[1] < 0)
		return -EINVAL;
	if (header[1] && (pid_t)header[1] != current->pid)
		return -ESRCH; /* of others: not known */
	return copy_to_user(data, sets, header[0] == VERSION_1 ? 12 : 24) ? -EFAULT : 0;
}

/* ---- the system's name ----------------------------------------------------------------------- */

struct utsname {
	char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};

char system_node_name[65] = "chainwalk";

s64 sys_uname(void *to)
{
	struct utsname name = {
		.sysname = SYSTEM_NAME,
		.release = SYSTEM_RELEASE,
		.version = SYSTEM_VERSION,
		.machine = SYSTEM_MACHINE,
		.domainname = "(none)",
	};

	strlcpy(name.nodename, system_node_name, sizeof(name.nodename));
	return copy_to_user(to, &name, sizeof(name)) ? -EFAULT : 0;
}

int set_node_name(const char *name, size_t length)
{
	if (length >= sizeof(system_node_name))
		return -EINVAL;
	memcpy(system_node_name, name, length);
	system_node_name[length] = 0;
	return 0;
}

s64 sys_sethostname(const char *from, int length)
{
	char name[65] = "";

	if (!capable(current->cred))
		return -EPERM;
	if (length < 0 || length > 64)
		return -EINVAL;
	return copy_from_user(name, from, (size_t)length) ? -EFAULT
							  : set_node_name(name, (size_t)length);
}
