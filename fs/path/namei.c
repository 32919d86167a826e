/*
 * namei.c - the path walk: from a name to a dentry, one component at a time.
 *
 * The walk holds one place, a referenced path. For each component it checks that the directory may
 * be searched, finds the component's end (eight bytes at a time), hashes its name, looks it up in
 * the dentry cache and moves its reference from the directory to what it found. What is not so
 * simple is done out of line: a miss (ask the file system, under the directory's lock), "..", a
 * mount point, a symbolic link.
 *
 * A symbolic link's text is walked in place of its name; what was still to be walked waits on a
 * stack (walk->rest), so links nest without recursion. The links themselves are held until the walk
 * ends, since the last component's name may lie in their text. At most MAXSYMLINKS links, then
 * ELOOP.
 *
 * No lock is held between components. A directory that is renamed meanwhile takes the walk with it.
 */
#include "fs/file/file_table.h"
#include "fs/inode/permission.h"
#include "fs/inode/times.h"
#include "fs/path/dcache.h"
#include "fs/path/lockless/lockless.h"
#include "core/memory/slab.h"

#ifdef CONFIG_OPENAT2
static noinline __cold int ask_limit(const struct walk *walk, enum step step)
{
	return walk->limit(walk, step);
}

/* May the walk take @step? */
static inline int may_step(const struct walk *walk, enum step step)
{
	return unlikely(walk->flags & LOOKUP_LIMITED) ? ask_limit(walk, step) : 0;
}
#else
#define may_step(walk, step) 0
#endif

/* ---- places ---------------------------------------------------------------------------------- */

static void walk_set_root(struct walk *walk)
{
	if (!walk->root.mount)
		context_path(&walk->root, current->fs, &current->fs->root);
}

/* On to the root, by an absolute link. */
static int walk_to_root(struct walk *walk)
{
	TRY(may_step(walk, STEP_TO_ROOT));
	walk_set_root(walk);
	path_put(&walk->path);
	walk->path = walk->root;
	path_get(&walk->path);
	return 0;
}

/* Something may be mounted where the walk has come to: go there. */
static noinline int walk_enter_mounts(struct walk *walk)
{
	follow_mounts(&walk->path);
	return may_step(walk, STEPPED_TO_MOUNT);
}

/*
 * "..". A mount of a part of a file system (a bind) is not left through a directory that a rename
 * has moved out of that part: -ENOENT, as in Linux. What is below such a directory can be reached.
 */
static noinline int walk_up(struct walk *walk)
{
	struct path *path = &walk->path;

	walk_set_root(walk);
	do {
		const struct mount *mount = path->mount;

		if (path->dentry == walk->root.dentry && mount == walk->root.mount) {
			TRY(may_step(walk, STEP_UP_FROM_ROOT));
			break;
		}
		if (path->dentry != mount->root) {
			struct dentry *parent = dget_parent(path->dentry);

			if (mount->root != mount->sb->root && !d_is_below(parent, mount->root)) {
				dput(parent);
				return -ENOENT;
			}
			dput(path->dentry);
			path->dentry = parent;
			break;
		}
	} while (follow_up(path));
	follow_mounts(path);
	return may_step(walk, STEPPED_UP);
}

noinline int descriptor_path(int number, unsigned flags, struct path *path)
{
	struct fd fd __free(fd) = flags & LOOKUP_FD_PATH ? fdget_raw(number) : fdget(number);

	if (!fd.file)
		return -EBADF;
	*path = fd.file->path;
	path_get(path);
	return 0;
}

static noinline void walk_release(struct walk *walk)
{
	while (walk->links) {
		struct held_link *link = &walk->held[--walk->links];
		kfree(link->text);
		path_put(&link->path);
	}
	if (walk->root.mount)
		path_put(&walk->root);
}

/* ---- one component --------------------------------------------------------------------------- */

/* Not in the cache: ask the file system, or make @create if it is not there. Referenced, positive
 * or negative, or ERR_PTR. */
static struct dentry *lookup_slow(const struct path *path, const struct component *name,
				  struct new_name *create)
{
	guard(parent, path->dentry->inode);
	struct dentry *dentry = lookup_locked(path->dentry, name, LOOK_AGAIN);
	if (!create || IS_ERR(dentry) || dentry->inode)
		return dentry;
	int error = make_locked(path, dentry, create);
	create->made = !error;
	if (!error) {
		notify(dentry->inode, IN_CREATE, dentry);
		return dentry;
	}
	dput(dentry);
	return ERR_PTR(error);
}

/* Where the link @inode, which is no text, leads. */
static int walk_jump(struct walk *walk, struct inode *inode)
{
	struct path place;

	TRY(inode->op->jump_link(inode, &place));
	walk->jumps++;
	path_put(&walk->path);
	walk->path = place;
	return may_step(walk, STEPPED_BY_LINK);
}

/*
 * Go through the symbolic link @link, whose reference is taken over. Its text, to be walked next
 * from where the walk now stands; NULL when it led to a place by itself; or ERR_PTR.
 */
static noinline const char *follow_link(struct walk *walk, struct dentry *link)
{
	struct inode *inode = link->inode;
	const char *text = inode->link;
	char *copy = NULL;
	int error = may_step(walk, STEP_THROUGH_LINK);

	if (walk->links + walk->jumps == MAXSYMLINKS)
		error = -ELOOP;
	if (error)
		text = ERR_PTR(error);
	else if (inode->op->jump_link)
		text = ERR_PTR(walk_jump(walk, inode));
	else if (!text)
		text = copy = inode->op->get_link(inode);
	if (IS_ERR_OR_NULL(text)) {
		dput(link);
		return text;
	}
	touch_inode_atime(inode, walk->path.mount);
	walk->held[walk->links++] = (struct held_link){{mntget(walk->path.mount), link}, copy};
	if (!*text)
		return ERR_PTR(-ENOENT);
	if (*text != '/')
		return text;
	error = walk_to_root(walk);
	return error ? ERR_PTR(error) : text;
}

/*
 * Step onto component @name where it is not simple; @found is what the cache has, referenced, or
 * NULL. NULL: the walk stands on it. A text: it was a symbolic link, whose text is to be walked
 * first (of the last one only if asked for). ERR_PTR: -ENOENT and the like; the walk stays where it
 * was.
 */
enum place { ON_THE_WAY, AT_THE_END };
static noinline const char *step_slowly(struct walk *walk, const struct component *name,
					struct dentry *found, enum place place)
{
	struct new_name *create = place == AT_THE_END ? walk->create : NULL;
	enum last_type type = component_type(name);

	if (type == LAST_DOTDOT)
		return ERR_PTR(walk_up(walk));
	if (type == LAST_DOT)
		return NULL;
	if (found && (d_is_numbered(found) || create) && !READ_ONCE(found->inode)) {
		dput(found);
		found = NULL;
	}
	if (!found) {
		int error = may_step(walk, STEP_UNCACHED);

		if (error)
			return ERR_PTR(error);
		found = lookup_slow(&walk->path, name, create);
	}
	if (IS_ERR(found))
		return ERR_CAST(found);
	struct inode *inode = smp_load_acquire(&found->inode);
	if (!inode) {
		dput(found);
		return ERR_PTR(-ENOENT);
	}
	bool follows = place == ON_THE_WAY || (walk->flags & LOOKUP_FOLLOW) || walk->directory;
	if (S_ISLNK(READ_ONCE(inode->mode)) && follows)
		return follow_link(walk, found);
	dput(walk->path.dentry);
	walk->path.dentry = found;
	if (unlikely(READ_ONCE(found->flags) & D_MOUNTED))
		return ERR_PTR(walk_enter_mounts(walk));
	return NULL;
}

/* The cached child of that name, referenced, or NULL; its inode in *@inode, if it has one and is no
 * mount point. */
static __always_inline struct dentry *find_child(const struct dentry *dentry,
						 const struct component *name,
						 struct inode **inode)
{
	struct dentry *child = NULL;

	*inode = NULL;
	if (likely(component_type(name) == LAST_NORM))
		child = d_lookup(dentry, name, HASH_FIND);
	if (likely(child != NULL) && likely(!(READ_ONCE(child->flags) & D_MOUNTED)))
		*inode = smp_load_acquire(&child->inode);
	return child;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* The last component is followed by a slash, which a directory may be: -EISDIR where open(2) would
 * make a file. What else would be made is not then, so that it is -EEXIST or -ENOENT. */
static int last_slash(struct walk *walk)
{
	bool exclusive = walk->flags & LOOKUP_EXCLUSIVE;

	walk->directory = !exclusive;
	if (walk->create && !S_ISDIR(walk->create->mode)) {
		if (!exclusive)
			return -EISDIR;
		walk->create = NULL;
	}
	return 0;
}

/* Go to the first component of *@name, or of the text that waits for it to end. false: there is
 * none, the walk stands at its end. */
static __always_inline bool first_component(struct walk *walk, const char **name)
{
	if (unlikely(**name == '/'))
		*name = skip_slashes(*name);
	if (likely(**name))
		return true;
	if (walk->depth) {
		*name = walk->rest[--walk->depth];
		return true;
	}
	if (walk->last)
		walk->last->type = LAST_ROOT;
	return false;
}

static __always_inline int walk_names(struct walk *walk, const char *name)
{
	struct dentry *dentry = walk->path.dentry, *child; /* the walk's place, while simple */
	struct component component;
	const char *next, *text;
	struct inode *inode;
next_text:
	if (!first_component(walk, &name))
		return 0;
next_directory: /* @name is a component of what must be a directory, @dentry */
	TRY(may_search(dentry->inode));
	for (;;) {
		component = take_component(dentry, name);
		next = name + component.length;
		if (*next && unlikely(*++next == '/'))
			next = skip_slashes(next);
		if (!*next) {
			if (likely(!walk->depth))
				break; /* it is the last one */
			next = walk->rest[--walk->depth];
		}
		child = find_child(dentry, &component, &inode);
		if (likely(inode != NULL) && likely(is_searchable(inode, READ_ONCE(inode->mode)))) {
			walk->path.dentry = child;
			dput(dentry);
			dentry = child;
			name = next;
			continue;
		}
		text = step_slowly(walk, &component, child, ON_THE_WAY);
		if (IS_ERR(text))
			return (int)PTR_ERR(text);
		dentry = walk->path.dentry;
		name = next;
		if (!text)
			goto next_directory;
		walk->rest[walk->depth++] = next;
		name = text;
		goto next_text;
	}
	if (walk->last) {
		walk->last->name = component;
		note_last(walk->last);
		return 0;
	}
	if (unlikely(name[component.length] == '/') && component_type(&component) == LAST_NORM)
		TRY(last_slash(walk));
	child = find_child(dentry, &component, &inode);
	if (likely(inode != NULL) && likely(!S_ISLNK(READ_ONCE(inode->mode)))) {
		walk->path.dentry = child;
		dput(dentry);
		return 0;
	}
	text = step_slowly(walk, &component, child, AT_THE_END);
	if (!text || IS_ERR(text))
		return PTR_ERR_OR_ZERO(text);
	dentry = walk->path.dentry;
	name = text;
	goto next_text;
}

/* The walk begins at the root, or where @dfd says. */
static __always_inline int walk_start(struct walk *walk, int dfd, bool at_root)
{
	struct fs_context *fs = current->fs;
	const struct path *start = at_root ? &fs->root : &fs->cwd;

	if (unlikely(dfd != AT_FDCWD) && !at_root)
		return descriptor_path(dfd, LOOKUP_FD_PATH, &walk->path);
	context_path(&walk->path, fs, start);
	return 0;
}

/* From there on to the end of @name. */
static __always_inline int walk_to_end(struct walk *walk, const char *name, struct path *path)
{
	int error = PTR_ERR_OR_ZERO(name);

	if (likely(!error) && likely(*name))
		error = walk_names(walk, name);
	if (likely(!error) && unlikely(walk->directory) && !S_ISDIR(walk->path.dentry->inode->mode))
		error = -ENOTDIR;
	if (unlikely(walk->links || walk->root.mount))
		walk_release(walk);
	if (likely(!error))
		*path = walk->path;
	else
		path_put(&walk->path);
	return error;
}

static __always_inline void walk_prepare(struct walk *walk, unsigned flags,
					 struct new_name *create, struct last *last)
{
	walk->root.mount = NULL;
	walk->flags = flags;
	walk->directory = false;
	walk->depth = walk->links = walk->jumps = 0;
	walk->create = create;
	walk->last = last;
}

int walk_with_references(int dfd, const char *name, unsigned flags, struct new_name *create,
			 struct last *last, struct path *path)
{
	struct walk walk;

	if (unlikely(!*name && !path->mount && !(flags & LOOKUP_EMPTY)))
		return -ENOENT;
	if (path->mount)
		walk.path = *path;
	else
		TRY(walk_start(&walk, dfd, *name == '/'));
	path->mount = NULL;
	walk_prepare(&walk, flags, create, last);
	return walk_to_end(&walk, name, path);
}

#ifdef LOCKLESS_WALK
int walk_missed(const struct component *name, unsigned flags, struct new_name *create,
		struct path *path)
{
	struct dentry *found = lookup_slow(path, name, create);
	struct walk walk;

	if (IS_ERR(found)) {
		path_put(path);
		path->mount = NULL;
		return (int)PTR_ERR(found);
	}
	struct inode *inode = smp_load_acquire(&found->inode);
	if (likely(inode != NULL) && likely(!S_ISLNK(READ_ONCE(inode->mode))) &&
	    likely(!(READ_ONCE(found->flags) & D_MOUNTED))) {
		dput(path->dentry);
		path->dentry = found;
		return 0;
	}
	walk.path = *path;
	path->mount = NULL;
	walk_prepare(&walk, flags, create, NULL);
	const char *text = step_slowly(&walk, name, found, AT_THE_END);
	return walk_to_end(&walk, text ?: "", path);
}
#else
int path_lookup(int dfd, const char *name, unsigned flags, struct new_name *create,
		struct path *path)
{
	path->mount = NULL;
	return walk_with_references(dfd, name, flags, create, NULL, path);
}

int path_parent(int dfd, const char *name, struct last *last, struct path *path)
{
	path->mount = NULL;
	return walk_with_references(dfd, name, 0, NULL, last, path);
}
#endif

#ifdef CONFIG_OPENAT2
int walk_begin(struct walk *walk, int dfd, bool at_root)
{
	return walk_start(walk, dfd, at_root);
}

int walk_finish(struct walk *walk, const char *name, struct path *path)
{
	return walk_to_end(walk, name, path);
}
#endif
