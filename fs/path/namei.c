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
#include "fs/path/namei.h"
#include "core/memory/slab.h"

struct held_link {
	struct dentry *dentry; /* referenced: keeps the inode, and so a fast link's text */
	char *text;	       /* from get_link(), or NULL */
};

struct walk {
	struct path path; /* referenced */
	struct path root; /* referenced; mount NULL: not yet needed */
	unsigned flags;	  /* LOOKUP_* */
	bool directory;	  /* the last component was followed by a slash: it must be one */
	unsigned depth;	  /* of rest */
	unsigned links;	  /* held; also the count for ELOOP */
	struct new_name *create; /* what to make if the last component is not there, or NULL */
	struct last *last;	 /* where to leave it, if only its directory is wanted, or NULL */
	const char *rest[MAXSYMLINKS];
	struct held_link held[MAXSYMLINKS];
};

/* ---- the text -------------------------------------------------------------------------------- */

int path_name_get(struct path_name *name, const char __user *from)
{
	name->allocated = NULL;
	name->text = name->small;
	s64 small = TRY(strncpy_from_user(name->small, from, NAME_SMALL));
	if (likely(small < NAME_SMALL))
		return 0;
	/* It does not fit the caller's frame: PATH_MAX and slack. */
	name->text = name->allocated = TRY_PTR(kmalloc(2 * PAGE_SIZE, GFP_KERNEL));
	s64 length = TRY(strncpy_from_user(name->allocated, from, PATH_MAX));
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Length of the component at @name: up to the next '/' or NUL. */
static __always_inline u32 component_length(const char *name)
{
	const u64 ones = ~0ULL / 255, tops = ones << 7, slashes = ones * '/';
	const char *p = name;

	for (;;) {
		/* A byte that is 0 borrows; no byte of a slash has its top bit, so ~word serves
		 * both tests. */
		u64 word = load_word(p), slash = word ^ slashes;
		u64 ends = ((word - ones) | (slash - ones)) & ~word & tops;

		if (likely(ends != 0))
			return (u32)(p - name) + (u32)(__builtin_ctzll(ends) >> 3);
		p += 8;
	}
}

/* ---- places ---------------------------------------------------------------------------------- */

static void walk_set_root(struct walk *walk)
{
	if (!walk->root.mount)
		context_path(&walk->root, &current->fs->root);
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

		if (path->dentry == walk->root.dentry && mount == walk->root.mount)
			break;
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
	return 0;
}

/* What descriptor @number has open (even by O_PATH if @any), referenced. */
static noinline int descriptor_path(int number, bool any, struct path *path)
{
	struct fd fd __free(fd) = any ? fdget_raw(number) : fdget(number);

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
		dput(link->dentry);
	}
	if (walk->root.mount)
		path_put(&walk->root);
}

/* ---- one component --------------------------------------------------------------------------- */

/* Not in the cache: ask the file system, or make @create if it is not there. Referenced, positive
 * or negative, or ERR_PTR. */
static struct dentry *lookup_slow(const struct path *path, const char *name, u32 length,
				  struct new_name *create)
{
	guard(parent, path->dentry->inode);
	struct dentry *dentry = lookup_locked(path->dentry, name, length, false);
	if (!create || IS_ERR(dentry) || dentry->inode)
		return dentry;
	int error = make_locked(path, dentry, create);
	create->made = !error;
	if (error) {
		dput(dentry);
		return ERR_PTR(error);
	}
	notify(dentry->inode, IN_CREATE, dentry);
	return dentry;
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
	struct path place;

	if (walk->links == MAXSYMLINKS) {
		text = ERR_PTR(-ELOOP);
	} else if (inode->op->jump_link) {
		text = ERR_PTR(inode->op->jump_link(inode, &place));
		if (!text) {
			path_put(&walk->path);
			walk->path = place;
		}
	} else if (!text) {
		text = copy = inode->op->get_link(inode);
	}
	if (IS_ERR_OR_NULL(text)) {
		dput(link);
		return text;
	}
	touch_inode_atime(inode, walk->path.mount);
	walk->held[walk->links++] = (struct held_link){link, copy};
	if (!*text)
		return ERR_PTR(-ENOENT);
	if (*text == '/') {
		walk_set_root(walk);
		path_put(&walk->path);
		walk->path = walk->root;
		path_get(&walk->path);
	}
	return text;
}

static __always_inline enum last_type component_type(const char *name, u32 length)
{
	if (likely(name[0] != '.' || length > 2))
		return LAST_NORM;
	if (length == 1)
		return LAST_DOT;
	return name[1] == '.' ? LAST_DOTDOT : LAST_NORM;
}

/*
 * Step onto component @name where it is not simple; @found is what the cache has, referenced, or
 * NULL. NULL: the walk stands on it. A text: it was a symbolic link, whose text is to be walked
 * first (of the last one only if asked for). ERR_PTR: -ENOENT and the like; the walk stays where it
 * was.
 */
enum place { ON_THE_WAY, AT_THE_END };
static noinline const char *step_slowly(struct walk *walk, const char *name, u32 length,
					struct dentry *found, enum place place)
{
	struct new_name *create = place == AT_THE_END ? walk->create : NULL;
	enum last_type type = component_type(name, length);

	if (type != LAST_NORM)
		return type == LAST_DOTDOT ? ERR_PTR(walk_up(walk)) : NULL;
	if (found && create && !READ_ONCE(found->inode)) {
		dput(found);
		found = NULL;
	}
	if (!found)
		found = lookup_slow(&walk->path, name, length, create);
	if (IS_ERR(found))
		return ERR_CAST(found);
	struct inode *inode = smp_load_acquire(&found->inode);
	if (!inode) {
		dput(found);
		return ERR_PTR(-ENOENT);
	}
	bool follows = place == ON_THE_WAY || (walk->flags & LOOKUP_FOLLOW) || walk->directory;
	if (S_ISLNK(inode->mode) && follows)
		return follow_link(walk, found);
	dput(walk->path.dentry);
	walk->path.dentry = found;
	follow_mounts(&walk->path);
	return NULL;
}

/* The cached child of that name, referenced, or NULL; its inode in *@inode, if it has one and is no
 * mount point. */
static __always_inline struct dentry *find_child(const struct dentry *dentry, const char *name,
						 u32 length, struct inode **inode,
						 struct hash_counters *counts)
{
	struct dentry *child = NULL;

	*inode = NULL;
	if (likely(component_type(name, length) == LAST_NORM))
		child = d_lookup(dentry, name, length, dentry_name_hash(dentry, name, length),
				 counts, true);
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
	while (**name == '/')
		++*name;
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

/* A directory that everybody may search: one test instead of two. */
static __always_inline bool is_open_directory(const struct inode *inode)
{
	return (inode->mode & (S_IFMT | S_IXUGO)) == (S_IFDIR | S_IXUGO);
}

static __always_inline int may_search(struct inode *inode)
{
	if (likely(is_open_directory(inode)))
		return 0;
	if (!S_ISDIR(inode->mode))
		return -ENOTDIR;
	return inode_permission(inode, MAY_EXEC);
}

/* @name, of @length bytes, is the last component: that goes to walk->last. */
static void note_last(struct walk *walk, const char *name, u32 length)
{
	bool slash = name[length] == '/';

	*walk->last = (struct last){name, length, component_type(name, length), slash};
}

static __always_inline int walk_names(struct walk *walk, const char *name,
				      struct hash_counters *counts)
{
	/* the walk's place, while all is simple */
	struct dentry *dentry = walk->path.dentry, *child;
	const char *next, *text;
	struct inode *inode;
	u32 length;
next_text:
	if (!first_component(walk, &name))
		return 0;
next_directory: /* @name is a component of what must be a directory, @dentry */
	TRY(may_search(dentry->inode));
	for (;;) {
		length = component_length(name);
		next = name + length;
		while (*next == '/')
			next++;
		if (!*next) {
			if (likely(!walk->depth))
				break; /* it is the last one */
			next = walk->rest[--walk->depth];
		}
		child = find_child(dentry, name, length, &inode, counts);
		if (likely(inode != NULL) && likely(is_open_directory(inode))) {
			walk->path.dentry = child;
			dput(dentry);
			dentry = child;
			name = next;
			continue;
		}
		text = step_slowly(walk, name, length, child, ON_THE_WAY);
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
		note_last(walk, name, length);
		return 0;
	}
	if (unlikely(name[length] == '/') && component_type(name, length) == LAST_NORM)
		TRY(last_slash(walk));
	child = find_child(dentry, name, length, &inode, counts);
	if (likely(inode != NULL) && likely(!S_ISLNK(inode->mode))) {
		walk->path.dentry = child;
		dput(dentry);
		return 0;
	}
	text = step_slowly(walk, name, length, child, AT_THE_END);
	if (!text || IS_ERR(text))
		return PTR_ERR_OR_ZERO(text);
	dentry = walk->path.dentry;
	name = text;
	goto next_text;
}

int path_lookup(int dfd, const char *name, unsigned flags, struct new_name *create,
		struct last *last, struct path *path)
{
	struct hash_counters counts = {0};
	bool absolute = *name == '/';
	struct walk walk;

	if (unlikely(!*name && !(flags & LOOKUP_EMPTY)))
		return -ENOENT;
	if (absolute || likely(dfd == AT_FDCWD))
		context_path(&walk.path, absolute ? &current->fs->root : &current->fs->cwd);
	else
		TRY(descriptor_path(dfd, true, &walk.path));
	walk.root.mount = NULL;
	walk.flags = flags;
	walk.directory = false;
	walk.depth = walk.links = 0;
	walk.create = create;
	walk.last = last;
	int error = likely(*name) ? walk_names(&walk, name, &counts) : 0;
	count_lookups(&counts);
	if (likely(!error) && unlikely(walk.directory) && !S_ISDIR(walk.path.dentry->inode->mode))
		error = -ENOTDIR;
	if (unlikely(walk.links || walk.root.mount))
		walk_release(&walk);
	if (likely(!error))
		*path = walk.path;
	else
		path_put(&walk.path);
	return error;
}

int user_path_at(int dfd, const char __user *from, unsigned flags, struct path *path)
{
	if (flags & (LOOKUP_FD | LOOKUP_FD_PATH))
		return descriptor_path(dfd, flags & LOOKUP_FD_PATH, path);
	struct path_name name __free(name);
	TRY(path_name_get(&name, from));
	return path_lookup(dfd, name.text, flags, NULL, NULL, path);
}

int kern_path(const char *name, unsigned flags, struct path *path)
{
	return path_lookup(AT_FDCWD, name, flags, NULL, NULL, path);
}
