/*
 * siblings.h - prefix caches that know directories: an optional room of direct lookup
 * (fs/path/direct/direct.h).
 *
 * The paper's prefix cache has a word for each name that somebody may reach (Tsai 2015, section
 * 3.1); of ours 64 KB have room for 16,384. Who goes through 20,000 files one after the other, as
 * git status does, finds none of them there the second time. But that somebody may reach a name
 * means that he may search all directories above it, which is the same for all names of a
 * directory. So their entries have one version, and a prefix cache one word for them.
 *
 * The entry of a directory's path has that version: `below`, 0 while nobody has asked. An entry
 * comes into the table unsure, as direct.h tells, and no change gives it the common version, which
 * others have remembered: it makes it void. When it has turned out that nothing had changed, it
 * gets a version of its own, and then the common one, each by a compare-and-swap: in between a
 * change may have begun, and made its version another, or it void.
 *
 * Who changes the rights to search a directory, or one above, gives `below` of each directory there
 * another version before it gives that to the entries of names (changes.c). What has changed
 * before that is seen by who has read `below`, since it looks again whether nothing has. Of one
 * that goes elsewhere, too: if it is removed, its entry may stay, since its dentry does, for who
 * asks for what is not there; and another directory may be made of that. The entries of directories
 * below have ended then, with what they had.
 *
 * An entry whose directory has none, by the same mount, keeps a version of its own; so does that of
 * a mount's root.
 */
#pragma once

#include "fs/path/lockless/lockless.h"

struct direct_entry;

#ifdef CONFIG_PREFIX_SIBLINGS
/* The entry of @path, which is referenced, has @version, and may have that of its siblings, if
 * nothing has changed since @walk began: the one that it has then. Within a reader's section.
 */
u64 siblings_share(const struct path *path, const struct lockless_walk *walk, u64 version);
/* Has the directory of @path, which is referenced, no entry that its names could share? Then it
 * is *@directory, with a reference. Takes a spin lock. */
bool siblings_have_none(const struct path *path, const struct lockless_walk *walk,
			struct path *directory);
/* The rights to search @directory change, or those above, and dentry_tree_lock is held: its names
 * are to have another version. */
void siblings_renew(struct dentry *directory);
/* The version for the entry @of a name in @directory, whose rights change: theirs. */
u64 siblings_version(const struct dentry *directory, const struct direct_entry *of);
#else
#define siblings_share(path, walk, version) (version)
#define siblings_renew(directory) ((void)0)
#define siblings_version(directory, of) prefix_new_version()
#endif
