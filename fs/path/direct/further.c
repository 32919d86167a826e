/*
 * further.c - direct lookup: entries of a dentry beside its first, by other mounts that lead to it
 * (DIRECT_PATHS). See direct.h.
 */
#if defined(CONFIG_DCACHE_FASTPATH) && CONFIG_DIRECT_PATHS > 1

#include "fs/path/direct/find.h"

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
