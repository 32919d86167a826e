/*
 * complete.h - directories all of whose names are in the dentry cache: an optional room (Tsai 2015,
 * section 5.1).
 *
 * A file system says of which directories it tells the positions of names (may_complete() and
 * others, below). In the order of these positions, which are dentry->cookie, names are the end of
 * their directory's children. Each such directory's known_to says how far that goes: every name at
 * a position before known_to has a dentry among the children, hashed, with its position. So
 *   - it is KNOWN_ALL, and the directory is complete, from mkdir on;
 *   - a reading that begins at or before known_to, and adds a dentry for each name that has none,
 *     brings it to where it ends; at the directory's end that is KNOWN_ALL. There may be
 *     many calls of it, by several readers, with lseek() in between: only the position counts;
 *   - it is 0 again when a name's dentry is evicted to reclaim space (child_lost()). What is
 *     made, linked, removed or renamed has its dentry anyway.
 *
 * The dentry that a reading adds is NUMBERED: it has the number and type of its inode, but not the
 * inode. It is not negative: whoever looks the name up has the file system link the inode, which
 * it finds by that number.
 *
 * Of a complete directory, getdents64() lists the children (listing.c); since positions are the
 * file system's, a reading can begin here and go on there. And what is not among them does not
 * exist: no lookup, nor who makes a file, has to ask the file system (lookup_uncached()).
 *
 * Who may change what, and why nobody is fooled:
 *   - a position: with the directory's inode->lock held for writing; or by the one reading that
 *     fills (FILLING), with it held for reading; and dentry->lock of the directory. That alone
 *     moves a dead name out of the order.
 *   - known_to: raised with inode->lock and dentry->lock; set to 0 with the child's bucket
 *     lock and dentry->lock, before the child is unhashed. Who misses a child in its bucket sees 0
 *     after that, and a lookup has the inode->lock, so that nobody raises it in between. A reading
 *     that fills meanwhile is told (LOST).
 *   - NUMBERED: inode->lock for writing, and a reference; the inode is there before the flag goes.
 * Lock order: inode->lock -> bucket lock -> dentry->lock of the directory.
 *
 * Limits: to put a name among many later ones takes steps over them, if it is not near the last.
 * A file system that comes to change by itself must not take part (/proc); tmpfs, whose directories
 * are complete in their own way, need not.
 */
#pragma once

#ifdef CONFIG_DCACHE_COMPLETE

struct file;
struct getdents;

#define KNOWN_ALL (~0ull)
enum { FILLING = 1, LOST = 2 }; /* dentry->filling: a reading adds dentries; one went meanwhile */

/* Is it without its inode, though there? If not, the inode read after this is the newest. */
static inline bool d_is_numbered(const struct dentry *dentry)
{
	return smp_load_acquire(&dentry->flags) & D_NUMBERED;
}

/* A new dentry, or one that is a new directory's: nothing is known of its names, nor of itself, but
 * what only a dentry with D_NUMBERED says. */
static inline void dentry_forget_children(struct dentry *dentry)
{
	dentry->known_to = 0;
	dentry->next_child = NULL;
	dentry->dotdot = dentry->filling = 0;
	dentry->listed = 0;
}

/* ---- for file systems ------------------------------------------------------------------------ */

/*
 * @dentry is a directory that may become complete: its `iterate` gives "." the position 0, ".." the
 * position @dotdot, and then the names in the order of their positions, which they keep as long as
 * they live, up to inode->data.size; and child_placed() is told of each new one. Nobody else knows
 * @dentry yet. Returns it; NULL is handed on.
 */
static inline struct dentry *may_complete(struct dentry *dentry, u8 dotdot)
{
	if (dentry)
		dentry->dotdot = dotdot;
	return dentry;
}

/* d_instantiate() of @dentry, whose inode is new. A directory is complete (@dotdot: above): it has
 * no names yet. Its parent's inode->lock is held for writing. */
void d_instantiate_new(struct dentry *dentry, struct inode *inode, u8 dotdot);
/* d_add() by lookup: of what may be numbered; a directory may become complete. The same lock. */
void d_add_found(struct dentry *dentry, struct inode *inode, u8 dotdot);
/* The number of the inode of @dentry, which is looked up, if that is known without asking; or 0. */
static inline ino_t d_number(const struct dentry *dentry)
{
	return d_is_numbered(dentry) ? dentry->number : 0;
}
/* The name of @dentry has been put at @offset of @block of its directory, which is its position.
 * inode->lock, for writing. */
void child_placed(struct dentry *dentry, u32 block, u32 offset);

/* ---- for the dentry cache and lookup --------------------------------------------------------- */

/* @dentry leaves @parent's children. @parent->lock is held. */
static inline void child_unlink(struct dentry *dentry, struct dentry *parent)
{
	lockdep_assert_held(&parent->lock);
	if (parent->next_child == dentry)
		parent->next_child = NULL;
	list_del(&dentry->child_link);
}
/* @dentry is about to be evicted, though its name may exist. Its bucket is locked, and
 * dentry_tree_lock. */
void child_lost(struct dentry *dentry);
/* d_delete(). */
static inline void d_delete_child(struct dentry *dentry)
{
	dentry->listed = 0;
	d_delete(dentry);
}
/* d_move(): the names keep their positions. */
void d_move_child(struct dentry *dentry, struct dentry *target, unsigned flags);
/* @dentry, found in the cache as a name in @dir: with its inode, unless it is negative; or ERR_PTR,
 * and the reference is gone. inode->lock for writing; sleeps if it is numbered. */
struct dentry *cached_name(struct inode *dir, struct dentry *dentry);
/* Look up @dentry, a new one, in @dir: 0, hashed, or -errno; as inode_operations.lookup. */
int lookup_uncached(struct inode *dir, struct dentry *dentry);

/* ---- for getdents64() ------------------------------------------------------------------------ */

/* Entries of @file, a directory, from its position on into @out: 0 or -errno. inode->lock is held
 * for reading. Sleeps. */
int iterate_directory(struct file *file, struct getdents *out);
/* @dentry gets @position among its directory's children, or leaves their order (0). */
void set_position(struct dentry *dentry, loff_t position);

#endif
