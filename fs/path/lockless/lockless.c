/* lockless.c - see lockless.h. */
#include "fs/path/lockless/lockless.h"

#ifdef LOCKLESS_WALK

#include "fs/cred.h"
#include "fs/file/file_table.h"
#include "fs/path/lockless/component.h"

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

	/* what is longer than any inline name is compared only if the text has that length */
	if (unlikely(key->length >= DNAME_INLINE) &&
	    read_seqcount_retry(&dentry->sequence, *key->sequence))
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

/* To @dentry of @place's mount, or, if something is mounted there, to the top of it. false: it is
 * not simple, the walk is where it was; as below. */
static bool enter(struct lockless_place *place, struct dentry *dentry)
{
	struct path path = {place->path.mount, dentry};
	struct mount *mount;

	while ((READ_ONCE(path.dentry->flags) & D_MOUNTED) &&
	       (mount = mounted_on(path.mount, path.dentry)) != NULL)
		path = (struct path){mount, mount->root};
	u32 sequence = read_seqcount_begin(&path.dentry->sequence);
	struct inode *inode = READ_ONCE(path.dentry->inode);
	if (!inode || read_seqcount_retry(&path.dentry->sequence, sequence))
		return false;
	place->path = path;
	place->inode = inode;
	place->sequence = sequence;
	return true;
}

static void read_path(struct path *path, const struct path *from)
{
	path->mount = READ_ONCE(from->mount);
	path->dentry = READ_ONCE(from->dentry);
}

/* "..", but for the one that leaves a mount. */
static bool step_up(struct lockless_place *place)
{
	const struct path *path = &place->path;
	struct fs_context *fs = current->fs;
	struct path root;
	u32 sequence;

	do {
		sequence = read_seqcount_begin(&fs->sequence);
		read_path(&root, &fs->root);
	} while (read_seqcount_retry(&fs->sequence, sequence));
	if (path->dentry == root.dentry && path->mount == root.mount)
		return true;
	if (path->dentry == path->mount->root || path->mount->root != path->mount->sb->root)
		return false;
	struct dentry *parent = READ_ONCE(path->dentry->parent);
	if (!lockless_still_there(place))
		return false;
	return enter(place, parent);
}

/* What was looked for at the cost of @steps is taken for the answer. */
static __always_inline void count_hit(struct hash_counters *counts, u64 steps)
{
	counts->hits++;
	counts->hit_steps += steps;
}

/* The component @name, of that length, which is in the cache, but not simple: "." or "..", a
 * symbolic link, a mount point, a directory that not everybody may search. A symbolic link is not
 * stepped onto if it @follows. */
static noinline bool step_slowly(struct lockless_place *place, const char *name, u32 length,
				 bool follows)
{
	enum last_type type = component_type(name, length);
	struct hash_counters counts = {0};
	u64 steps = 0;
	u32 sequence;

	if (type != LAST_NORM)
		return type == LAST_DOT || step_up(place);
	struct dentry *child =
		find_child(place->path.dentry, name, length, &counts, &sequence, &steps);
	if (!child)
		return false;
	struct inode *inode = READ_ONCE(child->inode);
	if (!inode || (S_ISLNK(READ_ONCE(inode->mode)) && follows))
		return false;
	if (read_seqcount_retry(&child->sequence, sequence) || !lockless_still_there(place) ||
	    !enter(place, child))
		return false;
	count_hit(&counts, steps);
	count_lookups(&counts);
	return true;
}

/* Where the walk begins: false: not without a reference. */
static __always_inline bool begin(struct lockless_place *place, int dfd, bool at_root)
{
	struct fs_context *fs = current->fs;
	u32 sequence = read_seqcount_begin(&fs->sequence);

	place->mount_sequence = read_seqcount_begin(&mount_sequence);
	if (unlikely(dfd != AT_FDCWD) && !at_root) {
		if (!fd_peek_path(dfd, &place->path))
			return false;
	} else {
		read_path(&place->path, at_root ? &fs->root : &fs->cwd);
	}
	place->sequence = read_seqcount_begin(&place->path.dentry->sequence);
	place->inode = READ_ONCE(place->path.dentry->inode);
	/* last: it stays in memory, since it was there when we had begun to read */
	return !read_seqcount_retry(&fs->sequence, sequence) && place->inode;
}

/* What is to become of a walk that has come to the end of what is simple. */
struct stop {
	enum lockless_end end;
	bool follows; /* a symbolic link in the last component */
	bool known;   /* the name is in the cache, or "." or "..", and no link to follow */
};

/*
 * Step by step, as long as it is simple: what is left of @name, or ERR_PTR(-ENOENT). Where it
 * stops, @stop tells why. @counts grows by the names that were found.
 */
static __always_inline const char *walk_simply(struct lockless_place *place, const char *name,
					       struct stop *stop, struct hash_counters *counts)
{
	struct dentry *dentry = place->path.dentry;
	struct inode *inode = place->inode;
	u32 sequence = place->sequence;

	stop->known = false;
	if (unlikely(may_search(inode)))
		return name;
	for (;;) {
		u32 length = component_length(name), child_sequence;
		const char *next = name + length;
		bool at_end = !*next;
		u64 steps = 0;

		if (!at_end)
			next = skip_slashes(next + 1);
		if (at_end ? stop->end == LOCKLESS_PARENT : unlikely(!*next))
			break; /* followed by slashes alone, it has to be a directory */
		stop->known = *name == '.';
		if (unlikely(stop->known))
			break;
		struct dentry *child =
			find_child(dentry, name, length, counts, &child_sequence, &steps);
		/* whether the child stays what it was is looked at from the next, or at the end */
		if (unlikely(!child) || unlikely(read_seqcount_retry(&dentry->sequence, sequence)))
			break;
		inode = READ_ONCE(child->inode);
		if (unlikely(!inode)) { /* and if there is none, here */
			if ((at_end && stop->end == LOCKLESS_CREATE) ||
			    read_seqcount_retry(&child->sequence, child_sequence))
				break;
			count_hit(counts, steps);
			return ERR_PTR(-ENOENT);
		}
		umode_t mode = READ_ONCE(inode->mode);
		if (unlikely(READ_ONCE(child->flags) & D_MOUNTED) ||
		    (at_end ? S_ISLNK(mode) : unlikely(!is_open_directory(inode)))) {
			stop->known = !S_ISLNK(mode) || (at_end && !stop->follows);
			break;
		}
		count_hit(counts, steps);
		dentry = child;
		place->inode = inode;
		sequence = child_sequence;
		name = next;
		if (at_end)
			break;
	}
	place->path.dentry = dentry;
	place->sequence = sequence;
	return name;
}

const char *lockless_walk(int dfd, const char *name, unsigned flags, enum lockless_end end,
			  struct lockless_place *place)
{
	struct stop stop = {.end = end, .follows = flags & LOOKUP_FOLLOW};
	struct hash_counters counts = {0};

	if (unlikely(!*name) || !begin(place, dfd, *name == '/'))
		return NULL;
	name = skip_slashes(name);
	while (*name) {
		name = walk_simply(place, name, &stop, &counts);
		if (unlikely(IS_ERR(name)) || likely(!*name) || !stop.known)
			break;

		u32 length = component_length(name);
		const char *next = name + length;
		bool at_end = !*next;

		if (!step_slowly(place, name, length, !at_end || stop.follows))
			break;
		name = skip_slashes(next);
	}
	count_lookups(&counts);
	return name;
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
