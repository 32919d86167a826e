/*
 * watches.c - which inode is watched by which inotify, and for what. See inotify.h.
 *
 * A watch stands in two lists, of its inotify and of the bucket of its inode; both are
 * watches_mutex's. It goes when the program says so, when what it watches does, after one event if
 * it is IN_ONESHOT, or with its inotify.
 *
 * Whether an inode has watches its I_WATCHED tells: of a directory, to whom names come into it.
 * What is in it already is told when the watch begins, under the directory's lock, so that no name
 * comes or goes in between.
 */
#include "core/base/room.h"
#include "core/memory/slab.h"
#include "fs/proc/proc.h"
#include "kernel/inotify/inotify.h"

#define BUCKET_BITS 8

DEFINE_MUTEX(watches_mutex);
static LIST_HEAD(inotifies);
static struct list_head buckets[1 << BUCKET_BITS];

struct list_head *watches_of(const struct inode *inode)
{
	u64 spread = (uintptr_t)inode * 0x9e3779b97f4a7c15ULL; /* 2^64 / the golden ratio */

	return &buckets[spread >> (64 - BUCKET_BITS)];
}

/* ---- inotifies ------------------------------------------------------------------------------- */

int inotify_enlist(struct inotify *inotify)
{
	struct inotify *other;
	unsigned count = 0;

	guard(mutex, &watches_mutex);
	list_for_each_entry (other, &inotifies, link)
		count += other->uid == inotify->uid;
	if (count >= INSTANCES_MAX)
		return -EMFILE;
	list_add(&inotify->link, &inotifies);
	return 0;
}

void inotify_delist(struct inotify *inotify)
{
	LIST_HEAD(gone);

	mutex_lock(&watches_mutex);
	while (!list_empty(&inotify->watches))
		watch_remove(list_first_entry(&inotify->watches, struct watch, link), &gone);
	list_del(&inotify->link);
	mutex_unlock(&watches_mutex);
	watches_free(&gone);
}

/* Has the user whose @inotify is as many watches as he may have? watches_mutex held. */
static bool too_many_watches(const struct inotify *inotify)
{
	struct inotify *each;
	u32 count = 0;

	lockdep_assert_held(&watches_mutex);
	list_for_each_entry (each, &inotifies, link)
		if (each->uid == inotify->uid)
			count += each->watch_count;
	return count >= WATCHES_MAX;
}

/* ---- watches come ---------------------------------------------------------------------------- */

/* watches_mutex held. */
static struct watch *find_watch(const struct inotify *inotify, const struct inode *inode)
{
	struct watch *watch;

	lockdep_assert_held(&watches_mutex);
	list_for_each_entry (watch, watches_of(inode), hash_link)
		if (watch->inode == inode && watch->inotify == inotify)
			return watch;
	return NULL;
}

/* From now on what is done to @dentry's inode, and to what is in it, is asked about. Its lock is
 * held. */
static void listen(struct dentry *dentry)
{
	struct inode *inode = dentry->inode;
	struct dentry *child;

	lockdep_assert_held(&inode->lock);
	inode_change_flags(inode, I_WATCHED | I_NOTIFY, 0);
	inode_change_flags(inode->sb->root->inode, I_NOTIFY, 0); /* for IN_UNMOUNT */
	guard(spinlock, &dentry->lock);
	list_for_each_entry (child, &dentry->children, child_link)
		if (child->inode)
			inode_change_flags(child->inode, I_NOTIFY, 0);
}

/* @watch, which is taken over, becomes one: its number, -ENOSPC. watches_mutex held. */
static int new_watch(struct watch *watch, struct inotify *inotify, struct inode *inode, u32 mask)
{
	lockdep_assert_held(&watches_mutex);
	if (too_many_watches(inotify) || inotify->last_wd == 0x7fffffff)
		return -ENOSPC;
	*watch = (struct watch){
		.inode = inode,
		.inotify = inotify,
		.wd = ++inotify->last_wd, /* none is used twice */
		.mask = mask,
	};
	ihold(inode);
	list_add(&watch->link, &inotify->watches);
	list_add(&watch->hash_link, watches_of(inode));
	inotify->watch_count++;
	return watch->wd;
}

int watch_set(struct inotify *inotify, struct dentry *dentry, u32 mask)
{
	u32 kept = mask & (IN_ALL_EVENTS | IN_ONESHOT | IN_EXCL_UNLINK);
	struct inode *inode = dentry->inode;

	/* before the mutex, which reclaim may need as well (queue_event()) */
	struct watch *fresh __free(kfree) = TRY_PTR(kmalloc(sizeof(*fresh), GFP_KERNEL));

	guard(read, &inode->lock);
	guard(mutex, &watches_mutex);
	struct watch *watch = find_watch(inotify, inode);
	if (!watch) {
		int wd = TRY(new_watch(fresh, inotify, inode, kept));

		fresh = NULL;
		listen(dentry);
		return wd;
	}
	if (mask & IN_MASK_CREATE)
		return -EEXIST;
	if (mask & IN_MASK_ADD)
		kept |= watch->mask;
	watch->mask = kept;
	return watch->wd;
}

/* ---- watches go ------------------------------------------------------------------------------ */

void watch_remove(struct watch *watch, struct list_head *gone)
{
	struct inode *inode = watch->inode;
	struct watch *other;

	lockdep_assert_held(&watches_mutex);
	queue_event(watch->inotify, watch->wd, IN_IGNORED, 0, "", 0);
	watch->inotify->watch_count--;
	list_move(&watch->link, gone);
	list_del(&watch->hash_link);
	list_for_each_entry (other, watches_of(inode), hash_link)
		if (other->inode == inode)
			return;
	inode_change_flags(inode, 0, I_WATCHED);
}

void watches_free(struct list_head *gone)
{
	while (!list_empty(gone)) {
		struct watch *watch = list_first_entry(gone, struct watch, link);

		list_del(&watch->link);
		iput(watch->inode);
		kfree(watch);
	}
}

int watch_end(struct inotify *inotify, int wd)
{
	struct watch *watch;
	LIST_HEAD(gone);

	mutex_lock(&watches_mutex);
	list_for_each_entry (watch, &inotify->watches, link)
		if (watch->wd == wd) {
			watch_remove(watch, &gone);
			break;
		}
	mutex_unlock(&watches_mutex);
	if (list_empty(&gone))
		return -EINVAL;
	watches_free(&gone);
	return 0;
}

void watches_end(const struct inode *inode)
{
	struct watch *watch, *next;
	LIST_HEAD(gone);

	if (!(READ_ONCE(inode->flags) & I_WATCHED))
		return;
	mutex_lock(&watches_mutex);
	list_for_each_entry_safe (watch, next, watches_of(inode), hash_link) {
		if (watch->inode != inode)
			continue;
		if (watch->mask & IN_DELETE_SELF)
			queue_event(watch->inotify, watch->wd, IN_DELETE_SELF, 0, "", 0);
		watch_remove(watch, &gone);
	}
	mutex_unlock(&watches_mutex);
	watches_free(&gone);
}

void watches_unmount(const struct super_block *sb)
{
	struct watch *watch, *next;
	LIST_HEAD(gone);

	mutex_lock(&watches_mutex);
	for (unsigned i = 0; i < ARRAY_SIZE(buckets); i++)
		list_for_each_entry_safe (watch, next, &buckets[i], hash_link) {
			u32 directory = S_ISDIR(watch->inode->mode) ? IN_ISDIR : 0;

			if (watch->inode->sb != sb)
				continue;
			queue_event(watch->inotify, watch->wd, IN_UNMOUNT | directory, 0, "", 0);
			watch_remove(watch, &gone);
		}
	mutex_unlock(&watches_mutex);
	watches_free(&gone);
}

/* ---- start-up -------------------------------------------------------------------------------- */

/* The node's data, as a number. */
static void show_limit(struct text *out, const struct proc_entry *entry)
{
	text_printf(out, "%llu\n", (u64)(uintptr_t)entry->node->data);
}

static const struct proc_node limits[] = {
	{"max_queued_events", PROC_FILE, .show = show_limit, .data = (void *)EVENTS_MAX},
	{"max_user_instances", PROC_FILE, .show = show_limit, .data = (void *)INSTANCES_MAX},
	{"max_user_watches", PROC_FILE, .show = show_limit, .data = (void *)WATCHES_MAX},
	{NULL},
};
static const struct proc_node fs_nodes[] = {
	{"inotify", PROC_DIR, .children = limits},
	{NULL},
};

static void inotify_start(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(buckets); i++)
		INIT_LIST_HEAD(&buckets[i]);
	notify_operations = &inotify_operations;
	proc_register_fs(fs_nodes);
}
ROOM_START(inotify_start);
