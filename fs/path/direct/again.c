/* again.c - direct lookup: what a walk has found is in the table, but it was not known that current
 * may reach it. See direct.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include "fs/path/alias/alias.h"
#include "fs/path/direct/find.h"

bool direct_nothing_changed(const struct lockless_walk *walk)
{
	smp_mb(); /* what was done is seen before the look: direct_change_begin() the other way */
	return (u32)atomic_read(&direct_changes.begun) == walk->direct.changes &&
	       !read_seqcount_retry(&mount_sequence, walk->mount_sequence);
}

/* Is it @walk's own text that leads to @entry, or an alias of that, whose version is
 * *@alias_version then (0: none)? */
static bool leads_there(const struct lockless_walk *walk, const struct direct_entry *entry,
			u64 *alias_version)
{
	*alias_version = 0;
	if (!signatures_differ(&entry->signature, &walk->direct.signature))
		return !walk->links;
#ifdef CONFIG_DCACHE_SYMLINK_ALIAS
	const struct direct_alias *alias = alias_of(walk);

	if (alias && !alias->below && !signatures_differ(&entry->signature, &alias->target)) {
		*alias_version = alias->version;
		return true;
	}
#endif
	return false;
}

bool direct_remember_again(const struct lockless_walk *walk, const struct dentry *dentry)
{
	const struct direct_entry *entry = READ_ONCE(dentry->direct), *from = walk->direct.from;
	u64 version, alias_version;

	if (!from || !entry || !direct_allows(from) || entry->path.mount != walk->path.mount ||
	    entry->mount_sequence != walk->mount_sequence ||
	    !leads_there(walk, entry, &alias_version))
		return false;
	version = READ_ONCE(entry->version);
	if (!direct_nothing_changed(walk))
		return false;
	return (!alias_version || prefix_remember_now(alias_version)) &&
	       prefix_remember_now(version);
}

#endif
