/* siblings.c - see siblings.h. */
#include "fs/path/siblings/siblings.h"
#include "fs/path/direct/find.h"

/* The entry of the directory of @path, if it is true; or NULL. Within a reader's section. */
static struct direct_entry *directory_of(const struct path *path, u32 mount_sequence)
{
	const struct dentry *parent = READ_ONCE(path->dentry->parent);
	struct direct_entry *entry;

	rcu_assert_reader();
	if (path->dentry == path->mount->root || path->dentry == parent)
		return NULL;
	entry = direct_entry_of(parent, path->mount);
	return entry && entry->mount_sequence == mount_sequence &&
			       direct_counts(READ_ONCE(entry->version))
		       ? entry
		       : NULL;
}

/* What the names of the directory whose entry is @of have. */
static u64 version_below(struct direct_entry *of)
{
	u64 version = READ_ONCE(of->below), new;

	if (version && !prefix_is_old(version))
		return version;
	new = prefix_new_version();
	return __atomic_compare_exchange_n(&of->below, &version, new, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED)
		       ? new
		       : version;
}

u64 siblings_share(const struct path *path, const struct lockless_walk *walk, u64 version)
{
	/* In this order: if it is not void at the end, its dentry is still where it was then. */
	struct direct_entry *entry = direct_entry_of(path->dentry, path->mount),
			    *directory = directory_of(path, walk->mount_sequence);
	u64 common = entry && directory ? version_below(directory) : 0, own = version;

	if (common && direct_nothing_changed(walk) &&
	    __atomic_compare_exchange_n(&entry->version, &own, common, false, __ATOMIC_ACQ_REL,
					__ATOMIC_RELAXED))
		version = common;
	return version;
}

bool siblings_have_none(const struct path *path, const struct lockless_walk *walk,
			struct path *directory)
{
	rcu_read_lock();
	bool there = directory_of(path, walk->mount_sequence);

	rcu_read_unlock();
	if (there || path->dentry == path->mount->root)
		return false;
	*directory = (struct path){path->mount, dget_parent(path->dentry)};
	mntget(path->mount);
	return true;
}

void siblings_renew(struct dentry *directory)
{
	lockdep_assert_held(&dentry_tree_lock);
	for (unsigned place = 0; place < CONFIG_DIRECT_PATHS; place++) {
		struct direct_entry *entry = READ_ONCE(directory->direct[place]);

		if (entry && READ_ONCE(entry->below))
			WRITE_ONCE(entry->below, prefix_new_version());
	}
}

u64 siblings_version(const struct dentry *directory, const struct direct_entry *of)
{
	const struct direct_entry *entry = direct_entry_of(directory, of->path.mount);
	u64 version = entry ? READ_ONCE(entry->below) : 0;

	return version ?: prefix_new_version();
}
