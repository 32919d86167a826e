/*
 * dentry.h - dentries: the names in directories, known to exist or known not to.
 *
 * States: new (unhashed, negative, count 1) -> cached (d_add(): hashed and on the LRU list,
 * DREF_KEPT; positive or negative; its count may be 0) -> dropped (its name was removed or is
 * another's: unhashed)
 * -> freed with its last reference. A positive one has an inode; a negative one says that there is
 * no such name.
 *
 * Who calls what, in this order: a lookup finds a cached dentry (names.h), or makes a new one and
 * has the file system d_add() it; who makes a file, d_instantiate()s the negative dentry; who
 * removes the name, calls d_delete(); who renames, d_move(). Each with the directory's inode->lock
 * held for writing, and with a reference, which dput() lets go.
 *
 * References: dget(); a dentry holds its parent and its inode. Names are found word by word: a name
 * that is looked up, and the text of a symbolic link, has 8 readable bytes behind its end.
 *
 * Who walks without locks (lockless/lockless.h) has neither lock nor reference. What he reads of a
 * dentry is one state of it if dentry->sequence has not changed meanwhile.
 *
 * Lock order: inode->lock of the directory -> dentry_tree_lock -> dentry bucket lock ->
 * dentry->lock
 * -> LRU list.
 */
#pragma once

#include "core/lock/rcu.h"
#include "core/lock/seqcount.h"
#include "fs/notify.h" /* and inodes */

/* Paths are walked without locks and references where DENTRY_LOCK is rcu (lockless/lockless.h). Not
 * where their keys are recorded, in the order in which their buckets are locked. */
#if defined(CONFIG_DENTRY_LOCK_RCU) && !defined(CONFIG_RECORD_DENTRIES)
#define LOCKLESS_WALK
#define free_when_unseen(head, function) call_rcu(head, function)
#elif defined(CONFIG_INODE_LOCK_SEQUENCE) /* inodes are (fs/inode/unlocked.h) */
#define free_when_unseen(head, function) call_rcu(head, function)
#else /* nobody is seen without a reference */
#define free_when_unseen(head, function) (function)(head)
#endif

/*
 * dentry->flags. MOUNTED: something may be mounted here, ask the mount table; UNHASHED: not to be
 * found by name (removed, or never added); UNCACHED: never hashed, though there: looked up each
 * time (/proc/PID); NUMBERED: without its inode, but not negative (complete/complete.h).
 */
enum { D_MOUNTED = 1, D_UNCACHED = 2, D_UNHASHED = 4, D_NUMBERED = 8, D_PLAIN = 1 << 8 };

/*
 * A bit of dentry->refcount beside the count: the dentry is hashed and on the LRU list, so that a
 * count of zero only makes it reclaimable. Whoever brings the whole word to zero therefore holds
 * the last trace of an unhashed dentry and frees it; dget and dput of a cached one are one atomic
 * instruction each.
 */
#define DREF_KEPT (1 << 30)

struct dentry {
	/* Read by lookup. Unchanged while hashed. */
	struct dentry_table_link hash_link; /* bucket lock */
	struct dentry *parent;		    /* itself at a root; changes under lock */
	u32 name_hash;
	u8 name_length;
	u8 lru_cpu;    /* whose LRU list it is on */
	union {
		struct {
			/* D_*; changed by atomic operations: UNHASHED under the bucket lock */
			u8 flags;
			u8 referenced; /* used since the LRU last looked; racy */
		};
		u16 flags_and_referenced; /* D_PLAIN: no flag, and used */
	};
	/* inline_name, if it and its NUL fit, or kmalloc'ed; 8 readable bytes past the end */
	const char *name;
	struct inode *inode; /* NULL: negative. A reference keeps a positive one positive */
	atomic_t refcount;   /* with DREF_KEPT */
	spinlock_t lock;     /* parent, and children */
#ifdef LOCKLESS_WALK
	seqcount_t sequence; /* of all above but the counts: dcache.h, changes_begin() */
#endif
#ifdef CONFIG_DCACHE_COMPLETE
	/* complete/complete.h. All that a listing reads of a name is in one line of memory, which
	 * begins here: */
	u32 number __aligned(64); /* the inode's; of a dentry with D_NUMBERED, or if it is listed */
	u8 type;		  /* DT_*, likewise */
	u8 listed; /* the name's length, if all this is there; 0: look closer */
	/* of a directory, under its lock: */
	u8 dotdot;  /* the position of ".."; 0: it is not to become complete */
	u8 filling; /* FILLING, LOST */
#endif
	union {
		char inline_name[40];
		const char *elsewhere; /* of a longer name that is listed: name again */
	};
	u64 cookie; /* the file system's; 0: new, or not among its names; parent->lock */
	/* child_link: parent->children, cookies last; parent->lock */
	struct list_head child_link, children;
	union {
		struct list_head lru; /* the LRU list's lock */
		struct rcu_head rcu;  /* once it is dead */
	};
#ifdef CONFIG_DCACHE_COMPLETE
	/* likewise: */
	u64 known_to; /* the names before that position are among the children; KNOWN_ALL */
	struct dentry *next_child; /* a child with a position, to begin to look at; or NULL */
#endif
#ifdef CONFIG_DCACHE_FASTPATH
	struct direct_entry *direct[CONFIG_DIRECT_PATHS]; /* of whole paths (direct/direct.h) */
#endif
};

/* A component of a path's text, taken for a directory (component.h). */
struct component {
	const char *name; /* 8 readable bytes behind its end, which is a '/' or a NUL */
	size_t length;	  /* may be more than any name has */
	u32 hash;	  /* in that directory */
	u64 rest; /* what is left of the name behind its whole words, 0 to 7 bytes, and zeros */
	u64 mask; /* ones in the place of those and of the end */
};

/* Takes over @root's reference, even if it fails; NULL: out of memory, or @root is NULL. */
struct dentry *d_alloc_root(struct inode *root);
/* hash it, with @inode's reference (NULL: negative) */
void d_add(struct dentry *dentry, struct inode *inode);
void d_instantiate(struct dentry *dentry, struct inode *inode); /* negative -> positive */
/* name removed: turn negative if unused, else unhash */
void d_delete(struct dentry *dentry);
/* take target's place (rename), which by RENAME_EXCHANGE takes the other's, else: is unhashed */
void d_move(struct dentry *dentry, struct dentry *target, unsigned flags);
static inline struct dentry *dget(struct dentry *dentry)
{
	atomic_inc(&dentry->refcount);
	return dentry;
}
void dentry_free(struct dentry *dentry); /* dcache.c's own: count and DREF_KEPT are gone */
/* May sleep when it drops the last reference to an unlinked inode. NULL is not allowed. */
static inline void dput(struct dentry *dentry)
{
	if (unlikely(atomic_dec_return(&dentry->refcount) == 0))
		dentry_free(dentry);
}
DEFINE_FREE(dput, struct dentry *, dput(*variable))
static inline int dentry_count(const struct dentry *dentry)
{
	return atomic_read(&dentry->refcount) & ~DREF_KEPT;
}
struct dentry *dget_parent(struct dentry *dentry); /* referenced */
/* has its name been removed? Not fooled by a rename. */
bool d_unlinked(const struct dentry *dentry);
/* Does @dentry lie below @ancestor of the same file system, or is it that? At one moment: a rename
 * is seen whole. */
bool d_is_below(const struct dentry *dentry, const struct dentry *ancestor);
/* Parents and names: taken by d_move(), d_path() and whoever walks upwards without references. */
extern spinlock_t dentry_tree_lock;
/* drop the unused ones of a removed directory */
void shrink_dcache_children(struct dentry *parent);
/* Umount: drop all dentries of @sb but the root; of a `pinned` type, with the reference of the file
 * system that each positive one carries. -EBUSY when one is still in use. */
int shrink_dcache_sb(struct super_block *sb);
/* In a debug kernel: table, LRU list and counters agree, or panic. Nothing else runs. */
#ifdef CONFIG_DEBUG
void dentry_cache_check(void);
#else
static inline void dentry_cache_check(void) {}
#endif
void dentry_cache_init(void);
#include "fs/dcache_rooms.h"
