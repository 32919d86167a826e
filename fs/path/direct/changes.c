/* changes.c - direct lookup: what is done before the tree is changed. See direct.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/direct/below.h"
#include "fs/path/direct/find.h"
#include "fs/path/siblings/siblings.h"

struct direct_changes direct_changes;

struct change {
	enum direct_kind kind;
	bool mounts; /* is something mounted on what it concerns? */
};

static inline void change_one(struct dentry *dentry, const struct dentry *parent, void *context)
{
	struct change *change = context;

	for (unsigned place = 0; place < CONFIG_DIRECT_PATHS; place++) {
		struct direct_entry *entry = READ_ONCE(dentry->direct[place]);

		if (entry && change->kind == DIRECT_PLACE)
			direct_void(entry);
		else if (entry)
			direct_renew(entry, siblings_version(parent, entry));
	}
	if (change->kind == DIRECT_RIGHTS)
		siblings_renew(dentry); /* though it may have no names in the cache now */
	change->mounts |= READ_ONCE(dentry->flags) & D_MOUNTED;
}

void direct_change_begin(struct dentry *dentry, enum direct_kind kind)
{
	struct change change = {.kind = kind};

	if (!dentry)
		return;
	atomic_inc(&direct_changes.begun);
	smp_mb(); /* who has not seen that remembers what is given up now */
	/* what another namespace has mounted on it goes with it */
	change.mounts = kind == DIRECT_PLACE && (READ_ONCE(dentry->flags) & D_MOUNTED);
	spin_lock(&dentry_tree_lock);
	siblings_renew(dentry);
	visit_all_below(dentry, change_one, &change);
	spin_unlock(&dentry_tree_lock);
	if (change.mounts)
		mounts_have_moved(); /* not only what is mounted below is void then: all is */
}

void direct_change_end(struct dentry *dentry)
{
	if (!dentry)
		return;
	smp_mb();
	atomic_inc(&direct_changes.ended);
}

void direct_change_all_begin(const void *change)
{
	if (!change)
		return;
	atomic_inc(&direct_changes.begun);
	smp_mb(); /* as above */
	mounts_have_moved();
}

#endif
