/* lockless.c - see lockless.h. */
#include "fs/path/lockless/lockless.h"

#ifdef LOCKLESS_WALK

#include "fs/cred.h"
#include "fs/file/file_table.h"
#include "fs/path/lockless/component.h"

/* What a step came to. STOPPED: it was not simple, the walk is where it was. */
enum outcome { STEPPED, STOPPED, ABSENT };

/* As dentry_compare(), of a dentry that may be changing: then what comes out means nothing, as its
 * sequence count will tell. */
static __always_inline int compare_changing(const struct dentry *dentry,
					    const struct dentry_key *key)
{
	if (READ_ONCE(dentry->name_hash) != key->hash)
		return 1;
	*key->sequence = read_seqcount_begin(&dentry->sequence);
	if (READ_ONCE(dentry->parent) != key->parent)
		return 1;
	key->counts->compares++;
	if (READ_ONCE(dentry->name_length) != key->length)
		return 1;

	const char *name = READ_ONCE(dentry->name);

	/* this text has that length, and is not a shorter one's */
	if (read_seqcount_retry(&dentry->sequence, *key->sequence))
		return 1;
	return !names_equal(name, key->name, key->length);
}

/* The cached child of that name and its sequence count, or NULL; not counted. */
static CACHE_LOOKUP struct dentry *find_child(const struct dentry *parent, const char *name,
					      u32 length, struct hash_counters *counts,
					      u32 *sequence, u64 *steps)
{
	u32 hash = dentry_name_hash(parent, name, length);
	const struct dentry_key key = {parent, name, hash, length, counts, sequence};

	REGION_MARK(HASH_dentry, 0);
	struct dentry *dentry = dentry_table_find(&dentry_table_instance, NULL,
						  dentry_bucket(parent, hash), &key,
						  compare_changing, steps);

	REGION_MARK(HASH_dentry, 1);
	return dentry;
}

/* To @at, or, if something is mounted there, to the top of it. */
static noinline enum outcome enter_mounts(struct lockless_place *place, struct lockless_place at)
{
	struct path *path = &at.path;
	struct mount *mount;

	while ((READ_ONCE(path->dentry->flags) & D_MOUNTED) &&
	       (mount = mount_on(path->mount, path->dentry)) != NULL)
		*path = (struct path){mount, mount->root};
	at.sequence = read_seqcount_begin(&path->dentry->sequence);
	at.inode = READ_ONCE(path->dentry->inode);
	if (!at.inode || !lockless_still_there(&at))
		return STOPPED;
	*place = at;
	return STEPPED;
}

/* "..", but for the one that leaves a mount. */
static noinline enum outcome step_up(struct lockless_place *place)
{
	struct path *path = &place->path;

	if (path->dentry == place->root.dentry && path->mount == place->root.mount)
		return STEPPED;
	if (path->dentry == path->mount->root || path->mount->root != path->mount->sb->root)
		return STOPPED;

	struct lockless_place up = *place;

	up.path.dentry = READ_ONCE(path->dentry->parent);
	up.sequence = read_seqcount_begin(&up.path.dentry->sequence);
	up.inode = READ_ONCE(up.path.dentry->inode);
	if (!up.inode || !lockless_still_there(&up) || !lockless_still_there(place))
		return STOPPED;
	return enter_mounts(place, up);
}

/* Onto the component @name, of that length, which is an ordinary name. A symbolic link is not
 * stepped onto if it @follows. */
static __always_inline enum outcome step(struct lockless_place *place, const char *name, u32 length,
					 bool follows, struct hash_counters *counts)
{
	u64 steps = 0;
	u32 sequence;
	struct dentry *child = find_child(place->path.dentry, name, length, counts, &sequence,
					  &steps);

	if (unlikely(!child))
		return STOPPED;
	struct inode *inode = READ_ONCE(child->inode);
	u8 flags = READ_ONCE(child->flags);
	if (unlikely(read_seqcount_retry(&child->sequence, sequence)) ||
	    unlikely(!lockless_still_there(place)) || unlikely(flags & D_UNHASHED))
		return STOPPED;
	if (likely(inode != NULL) && unlikely(S_ISLNK(READ_ONCE(inode->mode))) && follows)
		return STOPPED;
	counts->hits++;
	counts->hit_steps += steps;
	if (unlikely(!inode))
		return ABSENT;
	if (unlikely(flags & D_MOUNTED)) {
		struct lockless_place at = *place;

		at.path.dentry = child;
		return enter_mounts(place, at);
	}
	place->path.dentry = child;
	place->inode = inode;
	place->sequence = sequence;
	return STEPPED;
}

/* Where the walk begins: false: not without a reference. */
static __always_inline bool begin(struct lockless_place *place, int dfd, bool at_root)
{
	struct fs_context *fs = current->fs;
	u32 sequence = read_seqcount_begin(&fs->sequence);

	place->mount_sequence = read_seqcount_begin(&mount_sequence);
	place->root.mount = READ_ONCE(fs->root.mount);
	place->root.dentry = READ_ONCE(fs->root.dentry);
	place->path = place->root;
	if (!at_root) {
		if (unlikely(dfd != AT_FDCWD)) {
			if (!fd_peek_path(dfd, &place->path))
				return false;
		} else {
			place->path.mount = READ_ONCE(fs->cwd.mount);
			place->path.dentry = READ_ONCE(fs->cwd.dentry);
		}
	}
	place->sequence = read_seqcount_begin(&place->path.dentry->sequence);
	place->inode = READ_ONCE(place->path.dentry->inode);
	/* in this order: it stays in memory if it was there when we had begun to read */
	return !read_seqcount_retry(&fs->sequence, sequence) && place->inode;
}

/* The steps of the walk: what is left of @name. */
static __always_inline const char *walk(struct lockless_place *place, const char *name,
					unsigned flags, bool create, bool last,
					struct hash_counters *counts)
{
	for (;;) {
		name = skip_slashes(name);
		if (unlikely(!*name))
			return name;
		if (unlikely(may_search(place->inode)))
			return name;

		u32 length = component_length(name);
		const char *next = name + length;
		bool at_end = !*next;
		enum outcome outcome;

		if (unlikely(at_end && last) || unlikely(!at_end && !*skip_slashes(next)))
			return name; /* the last one, or followed by slashes alone */
		switch (component_type(name, length)) {
		case LAST_NORM:
			outcome = step(place, name, length, !at_end || (flags & LOOKUP_FOLLOW),
				       counts);
			break;
		case LAST_DOTDOT:
			outcome = step_up(place);
			break;
		default: /* "." */
			outcome = STEPPED;
		}
		if (unlikely(outcome == ABSENT) && !(at_end && create))
			return ERR_PTR(-ENOENT);
		if (unlikely(outcome != STEPPED))
			return name;
		name = next;
	}
}

const char *lockless_walk(int dfd, const char *name, unsigned flags, bool create, bool last,
			  struct lockless_place *place)
{
	struct hash_counters counts = {0};

	if (unlikely(!*name) || !begin(place, dfd, *name == '/'))
		return NULL;
	const char *rest = walk(place, name, flags, create, last, &counts);
	count_lookups(&counts);
	return rest;
}

bool lockless_hold(const struct lockless_place *place, struct path *path)
{
	struct mount *mount = place->path.mount;
	struct dentry *dentry = place->path.dentry;
	bool has_dentry = atomic_inc_not_zero(&dentry->refcount);
	bool has_mount = atomic_inc_not_zero(&mount->refcount);
	bool good = has_dentry && has_mount && lockless_still_there(place) &&
		    !read_seqcount_retry(&mount_sequence, place->mount_sequence);

	rcu_read_unlock();
	if (likely(good)) {
		*path = place->path;
		return true;
	}
	if (has_dentry)
		dput(dentry);
	if (has_mount)
		mntput(mount);
	return false;
}

#endif
