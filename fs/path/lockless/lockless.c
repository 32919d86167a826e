/* lockless.c - see lockless.h. */
#include "fs/path/lockless/lockless.h"

#ifdef LOCKLESS_WALK

#include "fs/cred.h"
#include "fs/file/file_table.h"
#include "fs/inode/permission.h"
#include "fs/inode/times.h"
#include "fs/path/dcache.h"
#ifdef CONFIG_DCACHE_FASTPATH
#include "fs/path/direct/find.h"
#include "fs/path/lexical/lexical.h"
#endif

/* As dentry_compare(), of a dentry that may be changing: then what comes out means nothing, as its
 * sequence count will tell. */
static __always_inline int compare_changing(const struct dentry *dentry,
					    const struct dentry_key *key)
{
	const struct component *name = key->name;

	if (data_race(dentry->name_hash) != name->hash)
		return 1;
	*key->sequence = read_seqcount_begin(&dentry->sequence);
	if (data_race(dentry->parent) != key->parent)
		return 1;
	key->counts->compares++;

	const char *text = READ_ONCE(dentry->name);

	if (unlikely(name->length > 7)) {
		/* what is longer than any inline name only if the text has that length */
		if (name->length >= sizeof(dentry->inline_name) &&
		    (READ_ONCE(dentry->name_length) != name->length ||
		     read_seqcount_retry(&dentry->sequence, *key->sequence)))
			return 1;
		if (!words_equal(name, text))
			return 1;
		text += name->length & ~7ul;
	}
	return !rest_equals(name, text);
}

/* The cached child of that name and its sequence count, or NULL. @counts are this CPU's, on which a
 * walk without locks stays. A miss on the way is not counted, since the component is looked for
 * again, with references. */
enum place { ON_THE_WAY, AT_THE_END };
static CACHE_LOOKUP struct dentry *find_child(const struct dentry *parent,
					      const struct component *name, enum place place,
					      struct hash_counters *counts, u32 *sequence)
{
	const struct dentry_key key = {parent, name, counts, sequence};
	u64 steps = 0;

	rcu_assert_reader();
	REGION_MARK(HASH_dentry, 0);
	struct dentry *dentry =
		dentry_table_find(&dentry_table_instance, NULL, dentry_bucket(parent, name->hash),
				  &key, compare_changing, &steps);

	REGION_MARK(HASH_dentry, 1);
	if (dentry || place == AT_THE_END)
		hash_count_find(counts, dentry, steps);
	return dentry;
}

/* To @dentry of @walk's mount, as @known it was, or, if something is mounted there, to the top of
 * it. false: it is not simple, the walk is where it was; as below. */
static bool enter(struct lockless_walk *walk, struct dentry *dentry, u32 known)
{
	struct path path = {walk->path.mount, dentry};
	struct mount *mount;

	while ((READ_ONCE(path.dentry->flags) & D_MOUNTED) &&
	       (mount = mounted_on(path.mount, path.dentry)) != NULL)
		path = (struct path){mount, mount->root};
	u32 sequence = read_seqcount_begin(&path.dentry->sequence);
	struct inode *inode = READ_ONCE(path.dentry->inode);
	if (!inode || read_seqcount_retry(&path.dentry->sequence, sequence) ||
	    read_seqcount_retry(&dentry->sequence, known))
		return false;
	walk->path = path;
	walk->inode = inode;
	walk->sequence = sequence;
	return true;
}

static void read_path(struct path *path, const struct path *from)
{
	path->mount = READ_ONCE(from->mount);
	path->dentry = READ_ONCE(from->dentry);
}

/* "..", but for the one that leaves a mount. */
static bool step_up(struct lockless_walk *walk)
{
	struct fs_context *fs = current->fs;
	struct path root, path = walk->path;
	u32 sequence;

	do {
		sequence = read_seqcount_begin(&fs->sequence);
		read_path(&root, &fs->root);
	} while (read_seqcount_retry(&fs->sequence, sequence));
	if (path.dentry != root.dentry || path.mount != root.mount) {
		if (path.dentry == path.mount->root || path.mount->root != path.mount->sb->root)
			return false;
		path.dentry = READ_ONCE(path.dentry->parent);
	}
	sequence = read_seqcount_begin(&path.dentry->sequence);
	return lockless_still_there(walk) && enter(walk, path.dentry, sequence);
}

/* Where the walk begins: false: not without a reference. */
static __always_inline bool begin(struct lockless_walk *walk, int dfd, bool at_root)
{
	struct fs_context *fs = current->fs;
	u32 sequence = read_seqcount_begin(&fs->sequence);
	struct path path;

	walk->mount_sequence = read_seqcount_begin(&mount_sequence);
	if (unlikely(dfd != AT_FDCWD) && !at_root) {
		if (!fd_peek_path(dfd, &path))
			return false;
	} else {
		read_path(&path, at_root ? &fs->root : &fs->cwd);
	}
	walk->path = path;
	walk->sequence = read_seqcount_begin(&path.dentry->sequence);
	struct inode *inode = READ_ONCE(path.dentry->inode);
	walk->inode = inode;
	/* last: it stays in memory, since it was there when we had begun to read */
	return !read_seqcount_retry(&fs->sequence, sequence) && inode;
}

/* Through the symbolic link @inode, whose text is in memory, from @walk, as it is there: the text,
 * or NULL: not without a reference. @next is to be walked behind it. */
static const char *follow_link(struct lockless_walk *walk, const struct inode *inode,
			       const char *next)
{
	const char *text = READ_ONCE(inode->link);
	u32 mounts = walk->mount_sequence;

	if (!text || !*text || walk->links == MAXSYMLINKS || atime_is_due(inode, walk->path.mount))
		return NULL;
	walk->links++;
	if (*text == '/' && (!begin(walk, AT_FDCWD, true) || walk->mount_sequence != mounts))
		return NULL; /* or the way to here was under other mounts */
	text = skip_slashes(text);
	if (!*text)
		return next;
	if (*next)
		walk->rest[walk->depth++] = next;
	return text;
}

/*
 * A component that is in the cache, but not simple: "." or "..", a symbolic link, a mount point, a
 * directory that not everybody may search; or the last one of a link's text. What is to be walked
 * next, or NULL: not without a reference.
 */
static const char *try_step(struct lockless_walk *walk, const struct component *name,
			    struct hash_counters *counts)
{
	enum last_type type = component_type(name);
	const char *next = skip_slashes(name->name + name->length);

	if (!*next && name->name[name->length])
		return NULL; /* followed by slashes alone, it has to be a directory */
	if (!*next && walk->depth)
		next = walk->rest[--walk->depth];
	if (type != LAST_NORM)
		return type == LAST_DOT || step_up(walk) ? next : NULL;

	struct dentry *child = walk->special;
	u32 sequence = walk->special_sequence;
	if (!child)
		child = find_child(walk->path.dentry, name, ON_THE_WAY, counts, &sequence);
	if (!child)
		return NULL;
	struct inode *inode = READ_ONCE(child->inode);
	if (!inode || use_not_plain(child) & D_UNHASHED ||
	    read_seqcount_retry(&child->sequence, sequence) || !lockless_still_there(walk))
		return NULL;
	if (S_ISLNK(READ_ONCE(inode->mode)) && (*next || (walk->flags & LOOKUP_FOLLOW)))
		return follow_link(walk, inode, next);
	return enter(walk, child, sequence) ? next : NULL;
}

static noinline const char *step_slowly(struct lockless_walk *walk, const struct component *name,
					struct hash_counters *counts)
{
	const char *next = try_step(walk, name, counts);
	struct hash_counters again = {0};
	u32 sequence;

	/* what was found, and counted, is looked for again with references, and counted then */
	if (!next && find_child(walk->path.dentry, name, ON_THE_WAY, &again, &sequence)) {
		counts->hits--;
		counts->hit_steps -= again.hit_steps;
		counts->compares -= again.compares;
	}
	return next;
}

/* What the last component is: to be found; to be found, or made; not looked for. */
enum last_use { LOCKLESS_FIND, LOCKLESS_CREATE, LOCKLESS_PARENT };

/* Why a walk stops. */
enum stop {
	FOUND,	    /* at its end, or, if the last component is not looked for, before that */
	AT_LAST,    /* the component is the last of its text; it was not looked for */
	AT_SLASH,   /* at a slash that ends its text, behind what may have to be a directory */
	ABSENT,	    /* there is no such name */
	MISSED,	    /* the last component is not in the cache */
	NOT_SIMPLE, /* the component is one for step_slowly() */
	UNKNOWN	    /* for the walk with references */
};

/* What was found under a name, as of one moment. */
struct found {
	struct dentry *dentry; /* NULL: it was not looked for, or not found */
	struct inode *inode;
	u32 sequence;
};

/* @child has no inode: since there is no such name, or since that is changing? */
static __always_inline enum stop why_none(const struct found *child)
{
	if (d_is_numbered(child->dentry) ||
	    read_seqcount_retry(&child->dentry->sequence, child->sequence))
		return UNKNOWN;
	use_not_plain(child->dentry);
	return ABSENT;
}

/* The path's last component, in @dentry: FOUND, in *@child, or why not. */
static __always_inline enum stop find_last(const struct dentry *dentry, u32 sequence,
					   const struct component *name, unsigned flags,
					   struct hash_counters *counts, struct found *child)
{
	if (unlikely(*name->name == '.'))
		return NOT_SIMPLE;
	child->dentry = find_child(dentry, name, AT_THE_END, counts, &child->sequence);
	if (unlikely(read_seqcount_retry(&dentry->sequence, sequence)))
		return UNKNOWN;
	if (unlikely(!child->dentry))
		return MISSED;
	child->inode = READ_ONCE(child->dentry->inode);
	if (unlikely(!child->inode))
		return why_none(child);
	if (unlikely(use_not_plain(child->dentry)))
		return NOT_SIMPLE;
	if (unlikely(S_ISLNK(READ_ONCE(child->inode->mode))) && (flags & LOOKUP_FOLLOW))
		return NOT_SIMPLE;
	return FOUND;
}

/* The walk stops where it is, before @child, which is what there is, if it was looked for. */
static __always_inline enum stop stop_before(struct lockless_walk *walk, const struct found *child,
					     enum stop stop, enum last_use use)
{
	if (stop == AT_LAST && use == LOCKLESS_PARENT && likely(!walk->depth))
		return FOUND;
	walk->special = child->dentry;
	walk->special_sequence = child->sequence;
	walk->inode = READ_ONCE(walk->path.dentry->inode);
	return likely(walk->inode != NULL) ? stop : UNKNOWN; /* it has been removed meanwhile */
}

/*
 * From directory to directory, as long as it is simple, from the component walk->left on: to the
 * end, or to another such, which is *walk->component then, unless it is UNKNOWN. Whether a child
 * stays what it was is looked at when its own child has been found, or at the end.
 */
static __always_inline enum stop walk_on(struct lockless_walk *walk, enum last_use use,
					 struct hash_counters *counts)
{
	const char *name = walk->left;
	struct dentry *dentry = walk->path.dentry;
	u32 sequence = walk->sequence;
	struct component component;
	struct found child = {NULL};
	enum stop stop = UNKNOWN;

	if (unlikely(may_search(walk->inode)))
		return UNKNOWN;
	for (;;) {
		component = take_component(dentry, name);
		if (unlikely(!component.length)) { /* a slash behind a slash */
			name = skip_slashes(name);
			if (*name)
				continue;
		}
		if (!name[component.length]) {
			stop = component.length ? AT_LAST : AT_SLASH;
			break;
		}
		if (unlikely(*name == '.')) {
			stop = NOT_SIMPLE;
			break;
		}
		child.dentry = find_child(dentry, &component, ON_THE_WAY, counts, &child.sequence);
		if (unlikely(!child.dentry) ||
		    unlikely(read_seqcount_retry(&dentry->sequence, sequence)))
			break;
		child.inode = READ_ONCE(child.dentry->inode);
		if (unlikely(!child.inode)) {
			stop = why_none(&child);
			break;
		}
		if (unlikely(use_not_plain(child.dentry)) || unlikely(may_search(child.inode))) {
			stop = NOT_SIMPLE;
			break;
		}
		dentry = child.dentry;
		sequence = child.sequence;
		child.dentry = NULL;
		name += component.length + 1;
	}
	if (stop == AT_LAST && use != LOCKLESS_PARENT && likely(!walk->depth))
		stop = find_last(dentry, sequence, &component, walk->flags, counts, &child);
	walk->left = name;
	if (likely(stop == FOUND)) {
		walk->path.dentry = child.dentry;
		walk->inode = child.inode;
		walk->sequence = child.sequence;
		return FOUND;
	}
	*walk->component = component;
	walk->path.dentry = dentry;
	walk->sequence = sequence;
	return stop_before(walk, &child, stop, use);
}

/* The walk. @counts: this CPU's, on which it stays. */
static __always_inline int walk_without_locks(int dfd, const char *name, unsigned flags,
					      enum last_use use, struct lockless_walk *walk)
{
	struct hash_counters __maybe_unused uncounted;
	struct hash_counters *counts = HASH_CPU_COUNTERS(dentry, &uncounted);
	__asm__("" : "+r"(counts)); /* not to be found anew each time */
	enum stop stop;

	walk->flags = flags;
#ifdef CONFIG_DCACHE_FASTPATH
	lexical_begin(name);
	walk->direct.tried = false;
	walk->direct.hinted = NULL;
#endif
	if (unlikely(!*name) || !begin(walk, dfd, *name == '/'))
		return LOCKLESS_NOT;
	walk->left = skip_slashes(name);
	walk->links = walk->depth = 0;
#ifdef CONFIG_DCACHE_FASTPATH
	if (use != LOCKLESS_PARENT && !direct_is_longer(walk->left)) {
		enum direct_result result = direct_find(walk, walk->left);

		if (likely(result == DIRECT_FOUND))
			return LOCKLESS_ALL;
		if (result == DIRECT_ABSENT && use == LOCKLESS_FIND)
			return -ENOENT;
		if (result == DIRECT_BELOW_FILE)
			return -ENOTDIR;
	}
#endif
	while (*walk->left) {
		stop = walk_on(walk, use, counts);
		if (likely(stop == FOUND))
			break;
		if (stop != AT_LAST && stop != NOT_SIMPLE)
			goto stopped;
		const char *text = step_slowly(walk, walk->component, counts);
		if (!text)
			goto stopped;
		walk->left = text;
	}
#ifdef CONFIG_DCACHE_FASTPATH
	if (direct_ends_new(walk))
		return LOCKLESS_NEW;
#endif
	return LOCKLESS_ALL;
stopped:
	if (stop == ABSENT) {
		name = walk->left + walk->component->length;
		if (use == LOCKLESS_FIND || *skip_slashes(name))
			return -ENOENT;
		stop = *name ? UNKNOWN : MISSED; /* it may be made */
	}
	/* what is left may lie in a text without a reference; the last name may be asked for */
	if (walk->links || (stop == AT_SLASH && use != LOCKLESS_FIND))
		return LOCKLESS_NOT;
	return stop == MISSED ? LOCKLESS_MISSED : LOCKLESS_PART;
}

int lockless_find(int dfd, const char *name, unsigned flags, struct lockless_walk *walk)
{
	return walk_without_locks(dfd, name, flags, LOCKLESS_FIND, walk);
}

/*
 * End the reader's section with a reference to where @walk is: true, and *@path; or without, since
 * that is no more what it was: begin anew, with references. May sleep when that happens.
 */
static __always_inline bool hold(const struct lockless_walk *walk, struct path *path)
{
	struct mount *mount = walk->path.mount;
	struct dentry *dentry = walk->path.dentry;

	rcu_assert_reader();
	if (unlikely(!atomic_inc_not_zero(&dentry->refcount))) {
		rcu_read_unlock();
		return false;
	}
	if (unlikely(!percpu_ref_tryget(&mount->references))) {
		rcu_read_unlock();
		dput(dentry);
		return false;
	}
	bool unchanged = lockless_still_there(walk) &&
			 !read_seqcount_retry(&mount_sequence, walk->mount_sequence);
	rcu_read_unlock();
	*path = (struct path){mount, dentry};
	if (unlikely(!unchanged))
		path_put(path);
	return unchanged;
}

/* As path_lookup(), or, with @last, as path_parent(), after a walk that ended with @walked. */
static __always_inline int end_with_reference(int walked, const struct lockless_walk *walk, int dfd,
					      const char *name, struct new_name *create,
					      struct last *last, struct path *path)
{
#ifdef CONFIG_DCACHE_FASTPATH
	if (unlikely(walked <= LOCKLESS_PART) && direct_leads_nowhere(walk, &walked)) {
		if (direct_has_to_learn(walk))
			direct_end_nowhere(walk, walked, dfd, name);
		else
			rcu_read_unlock();
		return walked;
	}
#endif
	if (unlikely(walked <= LOCKLESS_NOT)) {
		rcu_read_unlock();
		if (walked < 0)
			return walked;
	} else if (likely(hold(walk, path))) {
#ifdef CONFIG_DCACHE_FASTPATH
		if (walked == LOCKLESS_NEW) {
			direct_remember(walk, dfd, name, path, walk->sequence, false);
			return 0;
		}
#endif
		if (likely(walked == LOCKLESS_ALL)) {
			if (last && likely(*walk->left))
				note_last(last);
			else if (last)
				last->type = LAST_ROOT;
			return 0;
		}
		if (walked == LOCKLESS_MISSED && !last)
			return walk_missed(walk->component, walk->flags, create, path);
		return walk_with_references(dfd, walk->left, walk->flags, create, last, path);
	}
	path->mount = NULL;
	return walk_with_references(dfd, name, walk->flags, create, last, path);
}

int lockless_end(int walked, const struct lockless_walk *walk, int dfd, const char *name,
		 struct path *path)
{
	return end_with_reference(walked, walk, dfd, name, NULL, NULL, path);
}

int path_lookup(int dfd, const char *name, unsigned flags, struct new_name *create,
		struct path *path)
{
	struct component component;
	struct lockless_walk walk;

	walk.component = &component;
	rcu_read_lock();
	int walked = walk_without_locks(dfd, name, flags, create ? LOCKLESS_CREATE : LOCKLESS_FIND,
					&walk);
	return end_with_reference(walked, &walk, dfd, name, create, NULL, path);
}

int path_parent(int dfd, const char *name, struct last *last, struct path *path)
{
	struct lockless_walk walk;

	walk.component = &last->name;
	rcu_read_lock();
	int walked = walk_without_locks(dfd, name, 0, LOCKLESS_PARENT, &walk);
	return end_with_reference(walked, &walk, dfd, name, NULL, last, path);
}

#endif
