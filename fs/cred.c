/*
 * cred.c - who a task is (struct cred) and where it stands (struct fs_context). See cred.h.
 *
 * A cred is never changed once a task has it: the task makes a copy, changes that and puts it in
 * place of the old. A reference can be had only by the task itself, or under a lock that keeps it
 * (proc/).
 */
#include "fs/cred.h"
#include "fs/direct_hooks.h"
#include "core/memory/slab.h"

struct cred init_cred = {.refcount = ATOMIC_INIT(1)};
struct fs_context init_fs_context = {.refcount = ATOMIC_INIT(1), .umask = 022};
NAME_LOCK(init_fs_context, init_fs_context.lock, "fs_context->lock");

const struct cred *swap_cred(const struct cred *cred)
{
	const struct cred *old = current->cred;

	current->cred = cred;
	return old;
}

const struct cred *get_cred(const struct cred *cred)
{
	atomic_inc(&((struct cred *)cred)->refcount);
	return cred;
}

void put_cred(const struct cred *cred)
{
	if (atomic_dec_and_test(&((struct cred *)cred)->refcount) && cred != &init_cred)
		free_cred((struct cred *)cred);
}

struct cred *prepare_cred(void)
{
	struct cred *cred = kmalloc(sizeof(*cred), GFP_KERNEL);

	if (!cred)
		return NULL;
	*cred = *current->cred;
	atomic_set(&cred->refcount, 1);
#ifdef CONFIG_DCACHE_FASTPATH
	cred->prefix = NULL;
	cred->prefix_asked = 0;
#endif
	return cred;
}

bool in_group(const struct cred *cred, gid_t gid)
{
	if (cred->egid == gid)
		return true;
	for (unsigned i = 0; i < cred->group_count; i++)
		if (cred->groups[i] == gid)
			return true;
	return false;
}

struct fs_context *fs_context_fork(struct fs_context *parent)
{
	struct fs_context *fs = kmalloc(sizeof(*fs), GFP_KERNEL);

	if (!fs)
		return NULL;
	guard(spinlock, &parent->lock);
	*fs = (struct fs_context){.refcount = ATOMIC_INIT(1),
				  .umask = parent->umask,
				  .root = parent->root,
				  .cwd = parent->cwd};
#ifdef CONFIG_MOUNT_NS
	fs->namespace = namespace_get(parent->namespace);
#endif
	spin_lock_init(&fs->lock, "fs_context->lock");
	path_get(&fs->root);
	path_get(&fs->cwd);
	return fs;
}

void fs_context_put(struct fs_context *fs)
{
	if (!fs || !atomic_dec_and_test(&fs->refcount))
		return;
	path_put(&fs->root);
	path_put(&fs->cwd);
#ifdef CONFIG_MOUNT_NS
	namespace_put(fs->namespace);
#endif
	kfree(fs);
}
