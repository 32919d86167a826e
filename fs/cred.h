/*
 * cred.h - who a task is (struct cred) and where it stands (struct fs_context).
 *
 * A cred is immutable once a task has it. To change one: prepare_cred() makes a copy of current's,
 * which is private until it is given to the task in place of the old one (kernel/proc/task.c).
 * References: the task's, and those of get_cred(), which only the task itself may call, or who
 * holds a lock that keeps the task's cred as it is.
 *
 * A context is shared by the threads of a process; a process of its own gets a copy
 * (fs_context_fork()). A path of it is read by context_path(), which gives a reference.
 */
#pragma once

#include "fs/path/mount.h"

#define NGROUPS_MAX_INLINE 32
#define CAP_LAST_CAP 40 /* of Linux 6.1's; all of them are one privilege here: capable() */

struct cred {
	atomic_t refcount;
	/* constant */
	uid_t uid, euid, suid;
	gid_t gid, egid, sgid;
	unsigned group_count;
#ifdef CONFIG_SECURITY_LABELS
	const struct label *label; /* fs/label; NULL: the floor */
#endif
	gid_t groups[NGROUPS_MAX_INLINE];
#ifdef CONFIG_DCACHE_FASTPATH
	struct prefix_cache *prefix; /* path/direct/prefix.h; NULL: none yet */
	unsigned prefix_asked;	     /* how often somebody wanted one before */
#endif
};

struct fs_context {
	atomic_t refcount; /* tasks, and who looks at it from outside */
	umode_t umask;	   /* changed by xchg() */

	/* lock, against another thread's chdir; inside mount_lock's. Who walks without locks reads
	 * by the sequence count. */
	spinlock_t lock;
	seqcount_t sequence;
	struct path root, cwd;
#ifdef CONFIG_MOUNT_NS
	struct mount_namespace *namespace; /* constant; NULL: the first */
#endif
};

extern struct cred init_cred; /* root's; never freed */
const struct cred *get_cred(const struct cred *cred);
void put_cred(const struct cred *cred);
struct cred *prepare_cred(void); /* a private copy of current's, to be changed */
/* To act by another for a moment: access(2) asks as the real user. Puts @cred in place of
 * current's, which is returned with its reference. Others look at real_cred, and see none of it. */
const struct cred *swap_cred(const struct cred *cred);
bool in_group(const struct cred *cred, gid_t gid); /* egid or a supplementary group */
static inline bool capable(const struct cred *cred)
{
	return cred->euid == 0; /* the only privilege there is: being root */
}
extern struct fs_context init_fs_context; /* init's; vfs_mount_root() sets root and cwd */
struct fs_context *fs_context_fork(struct fs_context *parent); /* a copy */
#define fs_context_get(fs) atomic_inc(&(fs)->refcount)
void fs_context_put(struct fs_context *fs); /* NULL is allowed; may sleep */

/* @from, a path of @fs, of which the caller has a reference: *@path, referenced. The lock is needed
 * only if somebody else has one. */
static __always_inline void context_path(struct path *path, struct fs_context *fs,
					 const struct path *from)
{
	bool shared = atomic_read(&fs->refcount) != 1;

	if (unlikely(shared))
		spin_lock(&fs->lock);
	*path = *from;
	path_get(path);
	if (unlikely(shared))
		spin_unlock(&fs->lock);
}
