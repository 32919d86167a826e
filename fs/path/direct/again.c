/* again.c - direct lookup: what a walk has found is in the table, but it was not known that current
 * may reach it. See direct.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/alias/alias.h"
#include "fs/path/direct/find.h"

bool direct_nothing_changed(const struct lockless_walk *walk)
{
	smp_mb(); /* what was done is seen before the look: direct_change_begin() the other way */
	return (u64)atomic_read(&direct_changes.begun) == walk->direct.changes &&
	       !read_seqcount_retry(&mount_sequence, walk->mount_sequence);
}

#if CONFIG_DIRECT_PATHS > 1
struct direct_entry *direct_entry_further(const struct dentry *dentry, const struct mount *mount)
{
	for (unsigned place = 1; place < CONFIG_DIRECT_PATHS; place++) {
		struct direct_entry *entry = READ_ONCE(dentry->direct[place]);

		if (entry && entry->path.mount == mount)
			return entry;
	}
	return NULL;
}
#endif

u64 direct_version_of(const struct dentry *dentry, const struct mount *mount,
		      const struct signature *signature, u32 mount_sequence)
{
	struct direct_entry *entry = direct_entry_of(dentry, mount);

	rcu_assert_reader();
	if (!entry || entry->mount_sequence != mount_sequence ||
	    signatures_differ(&entry->signature, signature))
		return 0;
	u64 version = READ_ONCE(entry->version);

	if (direct_counts(version) && unlikely(prefix_is_old(version)))
		version = direct_renew(entry, prefix_new_version());
	return direct_counts(version) ? version : 0;
}

bool direct_remember_again(const struct lockless_walk *walk, const struct dentry *dentry)
{
	const struct direct_entry *from = walk->direct.from;
	u64 version = 0, alias_version = 0; /* of the alias by which it is there, if it is by one */

	if (!from || !direct_allows(from))
		return false;
	if (!walk->links)
		version = direct_version_of(dentry, walk->path.mount, &walk->direct.signature,
					    walk->mount_sequence);
	if (!version)
		version = alias_version_of(walk, dentry, &alias_version);
	if (!version || !direct_nothing_changed(walk))
		return false;
	return (!alias_version || prefix_remember_now(alias_version)) &&
	       prefix_remember_now(version);
}

#endif
