/*
 * tell.c - what is done to files, as the file systems' rooms tell of it (fs/notify.h), becomes
 * events of those who watch. See inotify.h.
 *
 * Who watches a directory hears of what is in it by the name that it was reached by; who watches
 * the thing itself, with no name. If both do, the directory's event comes first.
 */
#include "fs/inode/permission.h"
#include "fs/path/names.h"
#include "kernel/inotify/inotify.h"

struct notice {
	u32 event, cookie;
	const char *name; /* of what is in the directory; @length 0: it is about the inode itself */
	u32 length;
	const struct dentry
		*by; /* what it was reached by; NULL: does not matter (IN_EXCL_UNLINK) */
};

/* The watches of @inode hear of @notice, if they want to. */
static void tell(struct inode *inode, const struct notice *notice)
{
	struct watch *watch, *next;
	LIST_HEAD(gone);

	if (!(READ_ONCE(inode->flags) & I_WATCHED))
		return;
	mutex_lock(&watches_mutex);
	list_for_each_entry_safe (watch, next, watches_of(inode), hash_link) {
		if (watch->inode != inode || !(watch->mask & notice->event))
			continue;
		if ((watch->mask & IN_EXCL_UNLINK) && notice->by && d_unlinked(notice->by))
			continue;
		queue_event(watch->inotify, watch->wd, notice->event, notice->cookie, notice->name,
			    notice->length);
		if (watch->mask & IN_ONESHOT)
			watch_remove(watch, &gone);
	}
	mutex_unlock(&watches_mutex);
	watches_free(&gone);
}

static u32 if_directory(const struct inode *inode)
{
	return S_ISDIR(inode->mode) ? IN_ISDIR : 0;
}

/* @dentry's name as it is at one moment: its length. @name: NAME_MAX bytes. */
static u32 copy_name(char *name, const struct dentry *dentry)
{
	guard(spinlock, &dentry_tree_lock);
	memcpy(name, dentry->name, dentry->name_length);
	return dentry->name_length;
}

/* Of what was done by the name @dentry its directory hears, and it itself. */
static void tell_both(struct dentry *dentry, const struct notice *notice)
{
	struct dentry *dir __free(dput) = dget_parent(dentry);
	char name[NAME_MAX];

	if (dir != dentry && (READ_ONCE(dir->inode->flags) & I_WATCHED)) {
		struct notice named = *notice;

		named.name = name;
		named.length = copy_name(name, dentry);
		tell(dir->inode, &named);
	}
	tell(dentry->inode, notice);
}

/* ---- what the file systems' rooms call ------------------------------------------------------- */

/* Of the name @dentry of @inode, which has come into its directory, or left it: that one's lock
 * keeps the name. */
static void tell_of_name(const struct inode *inode, const struct dentry *dentry, u32 event)
{
	struct inode *dir = dentry->parent->inode;
	const struct notice notice = {
		.event = event | if_directory(inode),
		.name = dentry->name,
		.length = dentry->name_length,
	};

	lockdep_assert_held(&dir->lock);
	tell(dir, &notice);
}

/* Of a file that has one link more, or less; a directory's name is its only one. */
static void tell_of_links(struct inode *inode)
{
	const struct notice notice = {.event = IN_ATTRIB};

	if (!S_ISDIR(inode->mode))
		tell(inode, &notice);
}

static void created(struct inode *inode, const struct dentry *dentry)
{
	if (inode->nlink > 1)
		tell_of_links(inode);
	tell_of_name(inode, dentry, IN_CREATE);
}

/* @event: the name went (IN_DELETE), its dentry let go of the inode (IN_DELETE_SELF), or both. */
static void deleted(struct inode *inode, const struct dentry *dentry, u32 event)
{
	if (event & IN_DELETE)
		tell_of_links(inode);
	if ((event & IN_DELETE_SELF) && inode->nlink == 0)
		watches_end(inode);
	if (event & IN_DELETE)
		tell_of_name(inode, dentry, IN_DELETE);
}

static void inode_event(struct inode *inode, u32 event, struct dentry *dentry)
{
	const struct notice notice = {.event = event | if_directory(inode)};

	if (event == IN_UNMOUNT)
		watches_unmount(inode->sb);
	else if (event == IN_CREATE)
		created(inode, dentry);
	else if (event & (IN_DELETE | IN_DELETE_SELF))
		deleted(inode, dentry, event);
	else
		tell_both(dentry, &notice);
}

/*
 * A file that was not opened in truth (O_PATH, a failed open) tells of nothing, nor does one that
 * belongs to a program alone, as an eventfd. Who may only list a directory does not learn when
 * others read from or write to a device or a FIFO in it, as times do not tell him either.
 */
static void file_event(const struct file *file, u32 event)
{
	struct dentry *dentry = file->path.dentry;
	struct inode *inode = file->inode;

	if (file->fop == &bad_file_operations || !(inode->mode & S_IFMT))
		return;
	if (event == IN_CLOSE)
		event = file->mode & FMODE_WRITE ? IN_CLOSE_WRITE : IN_CLOSE_NOWRITE;
	const struct notice notice = {
		.event = event | if_directory(inode),
		.by = dentry,
	};
	if (is_special(inode) && (event & (IN_ACCESS | IN_MODIFY)))
		tell(inode, &notice);
	else
		tell_both(dentry, &notice);
}

/* One name went from one place to another; @replaced lost its name by that, or is NULL. */
static void moved_event(const struct renamed *from, const struct renamed *to, struct inode *moved,
			struct inode *replaced)
{
	static atomic_t last_cookie;
	struct notice notice = {.event = IN_MOVED_FROM | if_directory(moved)};

	notice.cookie = (u32)atomic_inc_return(&last_cookie);
	notice.name = from->name->name.name;
	notice.length = from->name->name.length;
	tell(from->dir, &notice);
	notice.event = IN_MOVED_TO | if_directory(moved);
	notice.name = to->name->name.name;
	notice.length = to->name->name.length;
	tell(to->dir, &notice);
	if (replaced) { /* its count of links */
		notice = (struct notice){.event = IN_ATTRIB | if_directory(replaced)};
		tell(replaced, &notice);
	}
	notice = (struct notice){.event = IN_MOVE_SELF};
	tell(moved, &notice);
}

static void rename_event(const struct renamed *from, const struct renamed *to, struct dentry *old,
			 struct dentry *new, u32 flags)
{
	u32 watched = from->dir->flags | to->dir->flags | old->inode->flags;

	lockdep_assert_held(&from->dir->lock);
	lockdep_assert_held(&to->dir->lock);
	if (new->inode)
		watched |= new->inode->flags;
	if (!(watched & I_WATCHED))
		return;
	if (flags & RENAME_EXCHANGE) {
		moved_event(from, to, old->inode, NULL);
		moved_event(to, from, new->inode, NULL);
	} else {
		moved_event(from, to, old->inode, new->inode);
	}
}

const struct notify_operations inotify_operations = {
	.event = inode_event,
	.file = file_event,
	.rename = rename_event,
};
