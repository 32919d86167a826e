/*
 * negative.h - names that are known not to exist, kept in more cases: an optional room (Tsai 2015,
 * section 5.2).
 *
 * A dentry whose file is in use when its name goes is unhashed, and so is, by rename, the one whose
 * place another takes: nothing is left to say that there is no such name now. Here a new negative
 * dentry says so. And a file system that has no negative dentries, since it asks no disk, may keep
 * some: /proc those of names that can't come by themselves, which numbers do (processes), and all
 * in a process's directories.
 *
 * If there is no memory for such a dentry, there is none. They are evicted as all others; whoever
 * makes such a name finds its dentry, and gives it its inode.
 */
#pragma once

#ifdef CONFIG_DCACHE_NEGATIVE

/* d_delete() of a name that is gone; d_move() likewise. A negative dentry stays. Sleeps, for
 * memory. */
void d_delete_name(struct dentry *dentry);
void d_move_name(struct dentry *dentry, struct dentry *target, unsigned flags);

/* Lookup of @dentry, which is new: there is no such name, nor will there be (@for_good). It is to
 * be told as -ENOENT, which is returned. inode->lock of its directory for writing. */
static inline int no_such_name(struct dentry *dentry, bool for_good)
{
	if (for_good)
		d_add(dentry, NULL);
	return -ENOENT;
}

/* @dentry as lookup in @dir found it (or ERR_PTR): -ENOENT and no reference, if there is none of
 * the name and nobody can make one: as no_such_name() told who came first. */
static inline struct dentry *cached_absence(const struct inode *dir, struct dentry *dentry)
{
	if (IS_ERR(dentry) || dentry->inode || dir->op->make)
		return dentry;
	dput(dentry);
	return ERR_PTR(-ENOENT);
}

#endif
