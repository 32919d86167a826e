/*
 * notify.h - who watches files is told what is done to them (inotify(7): kernel/inotify).
 *
 * Who has used or changed a file calls one of these when it is done: one test of the inode's flags,
 * where nobody watches, and nothing at all in a kernel without kernel/inotify. I_WATCHED: the inode
 * has watches. I_NOTIFY: it or a directory that it has a name in has, or had them, so somebody may
 * want to know. A name that comes into a watched directory brings the inode that flag (dcache.c);
 * who begins to watch a directory gives it to what is there, with the directory's inode->lock held.
 *
 * May sleep. Any inode->lock may be held, and mount_mutex.
 */
#pragma once

#include "fs/inode/inode.h"

struct dentry;
struct file;
struct last;

/* One of the two names of a rename. */
struct renamed {
	struct inode *dir;
	const struct last *name;
};

/* What is done, as programs know it. */
enum { IN_ACCESS = 1, IN_MODIFY = 2, IN_ATTRIB = 4, IN_CLOSE = 8 | 16 /* which: by mode */ };
enum { IN_OPEN = 32, IN_CREATE = 256, IN_DELETE = 512, IN_DELETE_SELF = 1024, IN_UNMOUNT = 8192 };

#ifdef CONFIG_INOTIFY
enum { I_WATCHED = 64, I_NOTIFY = 128 };

struct notify_operations {
	void (*event)(struct inode *inode, u32 event, struct dentry *dentry);
	void (*file)(const struct file *file, u32 event);
	void (*rename)(const struct renamed *from, const struct renamed *to, struct dentry *old,
		       struct dentry *new, unsigned flags);
};
extern const struct notify_operations *notify_operations; /* set once, before there is a watch */

/*
 * @event was done to @inode by its name @dentry. Of IN_CREATE that name is new, of IN_DELETE gone,
 * and its directory locked. IN_DELETE_SELF, with that or alone (@dentry NULL): a dentry has let go
 * of the inode, which is an event if it has no more links. IN_UNMOUNT: of a file system with this
 * root. No @event: nothing.
 */
static __always_inline void notify(struct inode *inode, u32 event, struct dentry *dentry)
{
	if (unlikely(READ_ONCE(inode->flags) & I_NOTIFY) && event)
		notify_operations->event(inode, event, dentry);
}

/* @event was done to @inode, which is what @file has open. */
static __always_inline void notify_open(const struct inode *inode, u32 event,
					const struct file *file)
{
	if (unlikely(READ_ONCE(inode->flags) & I_NOTIFY))
		notify_operations->file(file, event);
}

/* @inode, if there is one, has got a name in @dir, before that is told: who watches there listens
 * to it, too. Does not sleep. */
static __always_inline void notify_inherit(const struct inode *dir, struct inode *inode)
{
	if (unlikely(READ_ONCE(dir->flags) & I_WATCHED) && inode)
		inode_change_flags(inode, I_NOTIFY, 0);
}

/* Of @old, which had the name @from in @old_dir and has @to in @new_dir, and @new, which it
 * replaced, or with which it was exchanged. Both directories are locked. */
static inline void notify_rename(struct inode *old_dir, const struct last *from,
				 struct inode *new_dir, const struct last *to, struct dentry *old,
				 struct dentry *new, unsigned flags)
{
	const struct renamed left = {old_dir, from}, reached = {new_dir, to};

	if (unlikely(notify_operations != NULL))
		notify_operations->rename(&left, &reached, old, new, flags);
}
#else
static inline void notify(struct inode *inode, u32 event, struct dentry *dentry) {}
static inline void notify_open(struct inode *inode, u32 event, const struct file *file) {}
static inline void notify_inherit(struct inode *dir, struct inode *inode) {}
static inline void notify_rename(struct inode *old_dir, const struct last *from,
				 struct inode *new_dir, const struct last *to, struct dentry *old,
				 struct dentry *new, unsigned flags) {}
#endif
