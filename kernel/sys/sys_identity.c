/*
 * sys_identity.c - who a process is: user and group ids, groups, process groups, sessions, names.
 *
 * A change makes a new struct cred, so that whoever looks at the old one sees it whole. The one
 * privilege is an effective uid of 0. Limit: 32 supplementary groups (Linux: 65536).
 */
#include "fs/vfs.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/jobctl.h"
#include "kernel/proc/process.h"
#include "kernel/proc/system_name.h"
#include "kernel/sys/syscalls.h"

#define KEEP ((u32)-1) /* "leave this id as it is" */

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

/* ---- changing user ids ----------------------------------------------------------------------- */

static s64 commit_uids(uid_t real, uid_t effective, uid_t saved)
{
	struct cred *new = prepare_cred();

	if (!new)
		return -ENOMEM;
	if (real != KEEP)
		new->uid = real;
	if (effective != KEEP)
		new->euid = effective;
	if (saved != KEEP)
		new->suid = saved;
	new->fsuid = new->euid;
	task_set_cred(new);
	return 0;
}

static s64 commit_gids(gid_t real, gid_t effective, gid_t saved)
{
	struct cred *new = prepare_cred();

	if (!new)
		return -ENOMEM;
	if (real != KEEP)
		new->gid = real;
	if (effective != KEEP)
		new->egid = effective;
	if (saved != KEEP)
		new->sgid = saved;
	new->fsgid = new->egid;
	task_set_cred(new);
	return 0;
}

s64 sys_setuid(uid_t uid)
{
	const struct cred *cred = current->cred;

	if (uid == KEEP)
		return -EINVAL;
	if (capable(cred))
		return commit_uids(uid, uid, uid);
	if (uid != cred->uid && uid != cred->suid)
		return -EPERM;
	return commit_uids(KEEP, uid, KEEP);
}

s64 sys_setgid(gid_t gid)
{
	const struct cred *cred = current->cred;

	if (gid == KEEP)
		return -EINVAL;
	if (capable(cred))
		return commit_gids(gid, gid, gid);
	if (gid != cred->gid && gid != cred->sgid)
		return -EPERM;
	return commit_gids(KEEP, gid, KEEP);
}

s64 sys_setreuid(uid_t real, uid_t effective)
{
	const struct cred *cred = current->cred;
	uid_t saved = KEEP;

	if (!capable(cred)) {
		if (real != KEEP && real != cred->uid && real != cred->euid)
			return -EPERM;
		if (effective != KEEP && effective != cred->uid && effective != cred->euid &&
		    effective != cred->suid)
			return -EPERM;
	}
	if (real != KEEP || (effective != KEEP && effective != cred->uid))
		saved = effective != KEEP ? effective : cred->euid;
	return commit_uids(real, effective, saved);
}

s64 sys_setregid(gid_t real, gid_t effective)
{
	const struct cred *cred = current->cred;
	gid_t saved = KEEP;

	if (!capable(cred)) {
		if (real != KEEP && real != cred->gid && real != cred->egid)
			return -EPERM;
		if (effective != KEEP && effective != cred->gid && effective != cred->egid &&
		    effective != cred->sgid)
			return -EPERM;
	}
	if (real != KEEP || (effective != KEEP && effective != cred->gid))
		saved = effective != KEEP ? effective : cred->egid;
	return commit_gids(real, effective, saved);
}

static bool is_my_uid(const struct cred *cred, uid_t uid)
{
	return uid == KEEP || uid == cred->uid || uid == cred->euid || uid == cred->suid;
}

static bool is_my_gid(const struct cred *cred, gid_t gid)
{
	return gid == KEEP || gid == cred->gid || gid == cred->egid || gid == cred->sgid;
}

s64 sys_setresuid(uid_t real, uid_t effective, uid_t saved)
{
	const struct cred *cred = current->cred;

	if (!capable(cred) && !(is_my_uid(cred, real) && is_my_uid(cred, effective) &&
				is_my_uid(cred, saved)))
		return -EPERM;
	return commit_uids(real, effective, saved);
}

s64 sys_setresgid(gid_t real, gid_t effective, gid_t saved)
{
	const struct cred *cred = current->cred;

	if (!capable(cred) && !(is_my_gid(cred, real) && is_my_gid(cred, effective) &&
				is_my_gid(cred, saved)))
		return -EPERM;
	return commit_gids(real, effective, saved);
}

s64 sys_getresuid(uid_t *real, uid_t *effective, uid_t *saved)
{
	const struct cred *cred = current->cred;

	return put_user(cred->uid, real) || put_user(cred->euid, effective) ||
			       put_user(cred->suid, saved)
		       ? -EFAULT
		       : 0;
}

s64 sys_getresgid(gid_t *real, gid_t *effective, gid_t *saved)
{
	const struct cred *cred = current->cred;

	return put_user(cred->gid, real) || put_user(cred->egid, effective) ||
			       put_user(cred->sgid, saved)
		       ? -EFAULT
		       : 0;
}

/* These two return the former id, whether or not they changed it. */
s64 sys_setfsuid(uid_t uid)
{
	const struct cred *cred = current->cred;
	uid_t old = cred->fsuid;
	struct cred *new;

	if (uid == KEEP || uid == old ||
	    !(capable(cred) || is_my_uid(cred, uid)))
		return old;
	new = prepare_cred();
	if (new) {
		new->fsuid = uid;
		task_set_cred(new);
	}
	return old;
}

s64 sys_setfsgid(gid_t gid)
{
	const struct cred *cred = current->cred;
	gid_t old = cred->fsgid;
	struct cred *new;

	if (gid == KEEP || gid == old ||
	    !(capable(cred) || is_my_gid(cred, gid)))
		return old;
	new = prepare_cred();
	if (new) {
		new->fsgid = gid;
		task_set_cred(new);
	}
	return old;
}

s64 sys_getgroups(int count, gid_t *groups)
{
	const struct cred *cred = current->cred;
	int have = (int)cred->group_count;

	if (count < 0)
		return -EINVAL;
	if (!count)
		return have;
	if (count < have)
		return -EINVAL;
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

/* ---- process groups and sessions ------------------------------------------------------------- */

s64 sys_setpgid(int pid, int group)
{
	return process_set_group(pid, group);
}

s64 sys_getpgid(int pid)
{
	return process_group_of(pid, false);
}

s64 sys_getpgrp(void)
{
	return current->process->group;
}

s64 sys_setsid(void)
{
	return process_new_session();
}

s64 sys_getsid(int pid)
{
	return process_group_of(pid, true);
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

s64 sys_sethostname(const char *from, int length)
{
	char name[65] = "";

	if (!capable(current->cred))
		return -EPERM;
	if (length < 0 || length > 64)
		return -EINVAL;
	if (copy_from_user(name, from, (size_t)length))
		return -EFAULT;
	memcpy(system_node_name, name, sizeof(name));
	return 0;
}
