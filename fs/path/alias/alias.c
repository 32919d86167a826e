/* alias.c - see alias.h. */
#include "fs/path/alias/alias.h"

#ifdef CONFIG_DCACHE_SYMLINK_ALIAS

#include "core/memory/slab.h"

struct direct_alias *direct_aliases[ALIAS_PLACES];
static struct kmem_cache *alias_slab;

const struct mount *alias_tree(void)
{
	struct fs_context *fs = current->fs;
	const struct mount *mount = READ_ONCE(fs->root.mount);
	bool at_top = mount->parent == mount && READ_ONCE(fs->root.dentry) == mount->root;

	return at_top ? mount : NULL;
}

static void free_alias(struct rcu_head *head)
{
	kmem_cache_free(alias_slab, container_of(head, struct direct_alias, rcu));
}

/* Put @alias, or nothing, there: true: another one was there. */
static bool replace(struct direct_alias **place, struct direct_alias *alias)
{
	alias = __atomic_exchange_n(place, alias, __ATOMIC_ACQ_REL);
	if (alias)
		call_rcu(&alias->rcu, free_alias);
	return alias != NULL;
}

void alias_keep(const struct lockless_walk *walk, const struct signature *target, bool below)
{
	struct direct_alias *alias;

	/* the root in between, too, to which ".." and absolute links lead */
	if (!walk->direct.tree ||
	    read_seqcount_retry(&current->fs->sequence, walk->direct.fs_sequence))
		return;
	alias = kmem_cache_alloc(alias_slab, GFP_KERNEL | GFP_NOWARN);
	if (!alias)
		return;
	*alias = (struct direct_alias){.text = walk->direct.signature,
				       .target = *target,
				       .tree = walk->direct.tree,
				       .version = prefix_new_version(),
				       .changes = walk->direct.changes,
				       .mount_sequence = walk->mount_sequence,
				       .follow = walk->flags & LOOKUP_FOLLOW,
				       .below = below};
	prefix_remember(alias->version);
	replace(&direct_aliases[alias_place(&alias->text)], alias);
}

u64 alias_forget_all(void)
{
	u64 count = 0;

	for (unsigned i = 0; i < ALIAS_PLACES; i++)
		count += replace(&direct_aliases[i], NULL);
	return count;
}

void alias_init(void)
{
	alias_slab = kmem_cache_create("direct_alias", sizeof(struct direct_alias), 16,
				       SLAB_RECLAIMABLE);
}

#endif
