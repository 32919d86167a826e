/* lockless.c - see lockless.h. */
#include "fs/path/lockless/lockless.h"

#ifdef LOCKLESS_WALK

#include "fs/cred.h"
#include "fs/file/file_table.h"
#include "fs/inode/permission.h"
#include "fs/inode/times.h"
#include "fs/path/dcache.h"

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
		if (name->length >= DNAME_INLINE &&
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
 * walk without locks stays; what is looked for again, with references, is counted again. */
static CACHE_LOOKUP struct dentry *find_child(const struct dentry *parent,
					      const struct component *name,
					      struct hash_counters *counts, u32 *sequence)
{
	const struct dentry_key key = {parent, name, counts, sequence};
	u64 steps = 0;

	REGION_MARK(HASH_dentry, 0);
	struct dentry *dentry = dentry_table_find(&dentry_table_instance, NULL,
						  dentry_bucket(parent, name->hash), &key,
						  compare_changing, &steps);

	REGION_MARK(HASH_dentry, 1);
	hash_count_find(counts, dentry, steps);
	return dentry;
}

/* To @dentry of @walk's mount, or, if something is mounted there, to the top of it. false: it is
 * not simple, the walk is where it was; as below. */
static bool enter(struct lockless_walk *walk, struct dentry *dentry)
{
	struct path path = {walk->path.mount, dentry};
	struct mount *mount;

	while ((READ_ONCE(path.dentry->flags) & D_MOUNTED) &&
	       (mount = mounted_on(path.mount, path.dentry)) != NULL)
		path = (struct path){mount, mount->root};
	u32 sequence = read_seqcount_begin(&path.dentry->sequence);
	struct inode *inode = READ_ONCE(path.dentry->inode);
	if (!inode || read_seqcount_retry(&path.dentry->sequence, sequence))
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
	return lockless_still_there(walk) && enter(walk, path.dentry); /* something may be there */
}

/* Used now, which is written down only where it does not stand yet: may something be mounted on
 * @dentry? */
static __always_inline bool use_mounted(struct dentry *dentry)
{
	if (likely(data_race(dentry->flags_and_referenced) == D_PLAIN))
		return false;
	if (!READ_ONCE(dentry->referenced))
		WRITE_ONCE(dentry->referenced, 1);
	return READ_ONCE(dentry->flags) & D_MOUNTED;
}

/* Where the walk begins: false: not without a reference. */
static __always_inline bool begin(struct lockless_walk *walk, int dfd, bool at_root)
{
	struct fs_context *fs = current->fs;
	u32 sequence = read_seqcount_begin(&fs->sequence);

	walk->mount_sequence = read_seqcount_begin(&mount_sequence);
	if (unlikely(dfd != AT_FDCWD) && !at_root) {
		if (!fd_peek_path(dfd, &walk->path))
			return false;
	} else {
		read_path(&walk->path, at_root ? &fs->root : &fs->cwd);
	}
	walk->sequence = read_seqcount_begin(&walk->path.dentry->sequence);
	walk->inode = READ_ONCE(walk->path.dentry->inode);
	/* last: it stays in memory, since it was there when we had begun to read */
	return !read_seqcount_retry(&fs->sequence, sequence) && walk->inode;
}

/* Through the symbolic link @inode, whose text is in memory, from @walk, as it is there: the text,
 * or NULL: not without a reference. @next is to be walked behind it. */
static const char *follow_link(struct lockless_walk *walk, const struct inode *inode,
			       const char *next)
{
	const char *text = READ_ONCE(inode->link);

	if (!text || !*text || walk->links == MAXSYMLINKS || atime_is_due(inode, walk->path.mount))
		return NULL;
	walk->links++;
	if (*text == '/' && (read_seqcount_retry(&mount_sequence, walk->mount_sequence) ||
			     !begin(walk, AT_FDCWD, true)))
		return NULL;
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
static noinline const char *step_slowly(struct lockless_walk *walk, const struct component *name,
					struct hash_counters *counts)
{
	enum last_type type = component_type(name);
	const char *next = skip_slashes(name->name + name->length);
	u32 sequence;

	if (!*next && name->name[name->length])
		return NULL; /* followed by slashes alone, it has to be a directory */
	if (!*next && walk->depth)
		next = walk->rest[--walk->depth];
	if (type != LAST_NORM)
		return type == LAST_DOT || step_up(walk) ? next : NULL;

	struct dentry *child = find_child(walk->path.dentry, name, counts, &sequence);
	if (!child)
		return NULL;
	struct inode *inode = READ_ONCE(child->inode);
	if (!inode || read_seqcount_retry(&child->sequence, sequence) ||
	    !lockless_still_there(walk))
		return NULL;
	use_mounted(child);
	if (S_ISLNK(READ_ONCE(inode->mode)) && (*next || walk->follows))
		return follow_link(walk, inode, next);
	return enter(walk, child) ? next : NULL;
}

/* Why a walk stops. */
enum stop {
	FOUND,	    /* at its end */
	AT_LAST,    /* the component is the last of its text; it was not looked for */
	AT_SLASH,   /* at a slash that ends its text, behind what may have to be a directory */
	ABSENT,	    /* there is no such name */
	MISSED,	    /* the last component is not in the cache */
	NOT_SIMPLE, /* the component is one for step_slowly() */
	UNKNOWN	    /* for the walk with references */
};

/*
 * From directory to directory, as long as it is simple, from the component walk->left to another
 * such, which is walk->component then, unless it is UNKNOWN. Whether a child stays what it was is
 * looked at when its own child has been found, or at the end.
 */
static __always_inline enum stop walk_directories(struct lockless_walk *walk,
						  struct hash_counters *counts)
{
	const char *name = walk->left;
	struct dentry *dentry = walk->path.dentry;
	u32 sequence = walk->sequence, child_sequence;
	struct component component;
	enum stop stop = UNKNOWN;

	if (unlikely(may_search(walk->inode)))
		return UNKNOWN;
	for (;;) {
		component = take_component(dentry, name);
		if (unlikely(!component.length)) { /* a slash behind a slash */
			name = skip_slashes(name);
			if (*name)
				continue;
			return AT_SLASH;
		}
		if (!name[component.length]) {
			stop = AT_LAST;
			break;
		}
		if (unlikely(*name == '.')) {
			stop = NOT_SIMPLE;
			break;
		}
		struct dentry *child = find_child(dentry, &component, counts, &child_sequence);
		if (unlikely(!child) || unlikely(read_seqcount_retry(&dentry->sequence, sequence)))
			break;
		struct inode *inode = READ_ONCE(child->inode);
		if (unlikely(!inode)) {
			if (!read_seqcount_retry(&child->sequence, child_sequence))
				stop = ABSENT;
			break;
		}
		if (unlikely(use_mounted(child)) || unlikely(may_search(inode))) {
			stop = NOT_SIMPLE;
			break;
		}
		dentry = child;
		sequence = child_sequence;
		name += component.length + 1;
	}
	walk->left = name;
	walk->component = component;
	walk->path.dentry = dentry;
	walk->inode = READ_ONCE(dentry->inode); /* none: it has been removed meanwhile */
	walk->sequence = sequence;
	return likely(walk->inode != NULL) ? stop : UNKNOWN;
}

/* The path's last component. */
static __always_inline enum stop find_last(struct lockless_walk *walk, bool follows,
					   struct hash_counters *counts)
{
	u32 sequence;

	if (unlikely(*walk->left == '.'))
		return NOT_SIMPLE;
	struct dentry *child =
		find_child(walk->path.dentry, &walk->component, counts, &sequence);
	if (unlikely(!child) || unlikely(!lockless_still_there(walk)))
		return child ? UNKNOWN : MISSED;
	struct inode *inode = READ_ONCE(child->inode);
	if (unlikely(!inode))
		return read_seqcount_retry(&child->sequence, sequence) ? UNKNOWN : ABSENT;
	if (unlikely(use_mounted(child)) ||
	    unlikely(S_ISLNK(READ_ONCE(inode->mode)) && follows))
		return NOT_SIMPLE;
	walk->path.dentry = child;
	walk->inode = inode;
	walk->sequence = sequence;
	walk->left += walk->component.length;
	return FOUND;
}

int lockless_walk(int dfd, const char *name, unsigned flags, enum lockless_end end,
		  struct lockless_walk *walk)
{
	struct hash_counters __maybe_unused uncounted;
	struct hash_counters *counts = HASH_CPU_COUNTERS(dentry, &uncounted);
	__asm__("" : "+r"(counts)); /* not to be found anew each time */
	enum stop stop;

	if (unlikely(!*name) || !begin(walk, dfd, *name == '/'))
		return LOCKLESS_NOT;
	walk->left = skip_slashes(name);
	walk->follows = flags & LOOKUP_FOLLOW;
	walk->links = walk->depth = 0;
	while (*walk->left) {
		stop = walk_directories(walk, counts);
		if (likely(stop == AT_LAST) && likely(!walk->depth)) {
			if (end == LOCKLESS_PARENT)
				break;
			stop = find_last(walk, walk->follows, counts);
			if (likely(stop == FOUND))
				break;
		}
		if (stop != AT_LAST && stop != NOT_SIMPLE)
			goto stopped;
		const char *text = step_slowly(walk, &walk->component, counts);
		if (!text)
			goto stopped;
		walk->left = text;
	}
	return LOCKLESS_ALL;
stopped:
	if (stop == ABSENT) {
		name = walk->left + walk->component.length;
		if (end == LOCKLESS_FIND || *skip_slashes(name))
			return -ENOENT;
		stop = *name ? UNKNOWN : MISSED; /* it may be made */
	}
	/* what is left may lie in a text without a reference; a directory may have to be one */
	if (walk->links || stop == AT_SLASH)
		return LOCKLESS_NOT;
	return stop == MISSED ? LOCKLESS_MISSED : LOCKLESS_PART;
}

#endif
