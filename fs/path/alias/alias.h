/*
 * alias.h - texts that are not canonical: through symbolic links, with ".", ".." or a slash too
 * many. What such a text leads to is remembered as the signature of the canonical path of that
 * place, where direct lookup goes on (Tsai 2015, section 4.2, has dentries for it).
 *
 * When is an alias true? As long as nothing has changed that could lead elsewhere: no directory and
 * no link has been renamed, removed or replaced anywhere, no right to search one has changed, and
 * no mount. There is one count of all these changes (direct_changes.begun): an alias has it as it
 * was before its walk, and is void when it has moved on. So one change costs each alias one walk;
 * to tell which aliases it concerns would take more on each change. Files come and go without it:
 * what the canonical path says of them is asked each time.
 *
 * Where an absolute link and ".." lead depends on the root of who walks: aliases are of those, and
 * for those, who have the root of one and the same tree of mounts. The text's start, and so its
 * signature, may be of another tree: a directory that was opened in another namespace.
 *
 * With DCACHE_NEGATIVE there are aliases of what is absent since a component before the last is
 * absent, or no directory: such a text leads to nothing as long as the path of that component does,
 * and below a file as long as that leads to one.
 *
 * There is a fixed number of places (place.h). Readers take no lock and write nothing; an alias is
 * freed a grace period after it has been replaced.
 */
#pragma once

#ifdef CONFIG_DCACHE_SYMLINK_ALIAS

#include "fs/path/alias/place.h"
#include "fs/path/direct/find.h"

struct direct_alias {
	struct signature text, target;
	const struct mount *tree; /* not referenced: mount_sequence says whether it is there */
	u64 version;		  /* of prefix.h: who may go that way */
	u64 changes;
	u32 mount_sequence;
	u32 follow; /* LOOKUP_FOLLOW, if a link at the end was to be followed, or 0 */
	bool below; /* what is absent, or no directory: the target; so the text leads nowhere */
	struct rcu_head rcu;
};

extern struct direct_alias *direct_aliases[ALIAS_PLACES];

/* The mount that is the root of the tree, if it is current's root directory, too; else NULL. */
const struct mount *alias_tree(void);

/* Is the root of current still, or also, that of @alias's tree? mount_sequence says that it is one.
 */
static __always_inline bool alias_is_of_my_tree(const struct direct_alias *alias)
{
	const struct path *root = &current->fs->root;

	return READ_ONCE(root->mount) == alias->tree &&
	       READ_ONCE(root->dentry) == alias->tree->root;
}

/* The alias of what @walk looks for, or NULL. Within a reader's section. */
static inline const struct direct_alias *alias_of(const struct lockless_walk *walk)
{
	const struct signature *text = &walk->direct.signature;
	const struct direct_alias *alias = READ_ONCE(direct_aliases[alias_place(text)]);

	rcu_assert_reader();
	if (!alias || signatures_differ(&alias->text, text) ||
	    alias->follow != (walk->flags & LOOKUP_FOLLOW) ||
	    alias->changes != (u64)atomic_read(&direct_changes.begun) ||
	    alias->mount_sequence != walk->mount_sequence || !alias_is_of_my_tree(alias))
		return NULL;
	return alias;
}

/* If current may use it, too. */
static inline const struct direct_alias *alias_find(const struct lockless_walk *walk)
{
	const struct direct_alias *alias = alias_of(walk);
	struct prefix_cache *prefix = smp_load_acquire(&current->cred->prefix);

	return alias && prefix_allows(prefix, alias->version) ? alias : NULL;
}

/* As direct_arrive(), to where the alias of what @walk looks for leads, if there is one. */
static inline enum direct_result alias_arrive(struct lockless_walk *walk,
					      const struct direct_entry *from)
{
	const struct direct_alias *alias = alias_find(walk);
	const struct path start = walk->path;
	struct inode *inode = walk->inode;
	u32 sequence = walk->sequence;

	if (!alias)
		return DIRECT_UNKNOWN;
	enum direct_result result = direct_arrive(walk, from, direct_probe(walk, &alias->target));

	if (!alias->below || result != DIRECT_FOUND)
		return result;
	if (direct_is_file(walk))
		return DIRECT_BELOW_FILE;
	walk->path = start; /* it is there now, and the text goes on: to be walked */
	walk->inode = inode;
	walk->sequence = sequence;
	return DIRECT_UNKNOWN;
}

/* Nothing was found by one: what alias_keep() wants to know of @walk is written down. */
static inline void alias_attempt(struct lockless_walk *walk)
{
	walk->direct.fs_sequence = read_seqcount_begin(&current->fs->sequence);
	walk->direct.tree = alias_tree();
}

/* As direct_version_of() the place @dentry, to which @walk has come by an alias of its text, whose
 * own version is *@alias_version then. 0: there is none. Within a reader's section. */
static inline u64 alias_version_of(const struct lockless_walk *walk, const struct dentry *dentry,
				   u64 *alias_version)
{
	const struct direct_alias *alias = alias_of(walk);

	if (!alias || alias->below)
		return 0;
	*alias_version = alias->version;
	return direct_version_of(dentry, walk->path.mount, &alias->target, walk->mount_sequence);
}

/* What @walk was for leads to the place of the canonical path @target, or @below it, which is
 * absent or no directory: it does since before the walk began, if nothing has changed. */
void alias_keep(const struct lockless_walk *walk, const struct signature *target, bool below);
/* Free them all: how many there were. Does not sleep. */
u64 alias_forget_all(void);
void alias_init(void);

#else /* without aliases */

#define alias_arrive(walk, from) DIRECT_UNKNOWN
#define alias_attempt(walk) ((void)0)
#define alias_version_of(walk, dentry, version) 0
#define alias_forget_all() 0
#define alias_init() ((void)0)

#endif
