/*
 * inotify.h - inotify(7): what is done to files, told to the programs that watch them.
 *
 *	queue.c		the events that wait to be read: the open file of an inotify
 *	watches.c	which inode is watched by which inotify, and for what
 *	tell.c		what the file systems' rooms call when something is done (fs/notify.h)
 *	calls.c		inotify_init, inotify_add_watch, inotify_rm_watch
 *
 * A watch holds a reference to its inode, but to no dentry and no mount: what is watched can be
 * removed and unmounted, and then the watch goes, which is an event of its own (IN_IGNORED).
 *
 * Lock order:
 *	mount_mutex, any inode->lock -> watches_mutex (sleeps; memory is allocated under it)
 *	-> inotify->lock, a spinlock; or dentry->lock -> inode->spin
 * No reference is let go under watches_mutex that could be the last: that frees a file.
 *
 * Limits: Linux's of old, and constant. They are those of a user, by the effective id that made the
 * inotify. I_NOTIFY stays where a watch has been: what is done there goes as far as to look for
 * watches, until the inode leaves memory.
 */
#pragma once

#include "fs/file/file.h"

#define INSTANCES_MAX 128 /* EMFILE */
#define WATCHES_MAX 8192  /* ENOSPC */
#define EVENTS_MAX 16384  /* of one inotify: then IN_Q_OVERFLOW, and what follows is lost; as it is
			   * when all events take an eighth of memory */

/* What fs/notify.h has no need of. */
enum { IN_MOVED_FROM = 64, IN_MOVED_TO = 128, IN_MOVE_SELF = 2048, IN_ALL_EVENTS = 0xfff };
enum { IN_CLOSE_WRITE = 8, IN_CLOSE_NOWRITE = 16 };
enum { IN_Q_OVERFLOW = 16384, IN_IGNORED = 32768, IN_ISDIR = 1 << 30 };
enum { IN_ONLYDIR = 1 << 24, IN_DONT_FOLLOW = 1 << 25, IN_EXCL_UNLINK = 1 << 26 };
enum { IN_MASK_CREATE = 1 << 28, IN_MASK_ADD = 1 << 29 };
#define IN_ONESHOT (1u << 31)

/* What is told: the end of it, the name of what it happened to in the directory that is watched, is
 * there if @length is not 0. */
struct event {
	struct list_head link; /* inotify->events */
	int wd;
	u32 mask, cookie, length;
	char name[];
};

struct inotify {
	/* constant */
	uid_t uid;

	/* watches_mutex */
	struct list_head watches, link; /* its own; and all inotifies */
	u32 watch_count;
	int last_wd;

	spinlock_t lock;
	struct list_head events;
	u32 count, bytes; /* of events, as a read gives them */
	wait_queue_head_t wait;
	struct event overflow; /* last: it has no name */
};

/* ---- queue.c --------------------------------------------------------------------------------- */

/* The open file of a new inotify with O_NONBLOCK or not; ERR_PTR(-EMFILE: current has too many,
 * -ENOMEM, -ENFILE). Sleeps. */
struct file *inotify_file(u32 flags);
/* The inotify that @file is, or NULL. */
struct inotify *inotify_of(const struct file *file);
/* Put an event at the end of the queue, and wake who waits for it. One that is equal to the last is
 * told with that; without memory, or room, IN_Q_OVERFLOW is told. @name of @length bytes. May
 * sleep; watches_mutex may be held. */
void queue_event(struct inotify *inotify, int wd, u32 mask, u32 cookie, const char *name,
		 u32 length);

/* ---- watches.c ------------------------------------------------------------------------------- */

struct watch {
	/* constant */
	struct inode *inode; /* referenced */
	struct inotify *inotify;
	int wd;

	/* watches_mutex */
	u32 mask;			  /* of IN_ALL_EVENTS, IN_ONESHOT and IN_EXCL_UNLINK */
	struct list_head link, hash_link; /* inotify->watches; the bucket of its inode */
};

extern struct mutex watches_mutex;

/* Count a new inotify, of current: 0, or -EMFILE. */
int inotify_enlist(struct inotify *inotify);
/* It ends, with all its watches. */
void inotify_delist(struct inotify *inotify);
/* Watch what @dentry stands for, as the @mask of inotify_add_watch(2) says: the watch's number, or
 * -EEXIST, -ENOSPC, -ENOMEM. Takes the inode's lock. Sleeps. */
int watch_set(struct inotify *inotify, struct dentry *dentry, u32 mask);
/* 0, or -EINVAL: it has no such watch. Sleeps. */
int watch_end(struct inotify *inotify, int wd);
/* Under watches_mutex: @watch is no more, which is told; it goes to the list @gone. */
void watch_remove(struct watch *watch, struct list_head *gone);
/* Without it: let go of the inodes, and free what is on @gone. */
void watches_free(struct list_head *gone);
/* The watches of @inode, and others; watches_mutex. */
struct list_head *watches_of(const struct inode *inode);
/* @inode has lost its last name, or @sb is unmounted: their watches end. Sleep. */
void watches_end(const struct inode *inode);
void watches_unmount(const struct super_block *sb);

/* ---- tell.c ---------------------------------------------------------------------------------- */

extern const struct notify_operations inotify_operations;
