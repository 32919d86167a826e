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
#include "fs/dcache.h"
#include "fs/internal.h"

struct held_link {
	struct dentry *dentry; /* referenced: keeps the inode, and so a fast link's text */
	char *text;	       /* from get_link(), or NULL */
};

struct walk {
	struct path path; /* referenced */
	struct path root; /* referenced; mount NULL: not yet needed */
	unsigned resolve; /* RESOLVE_* of openat2(2) */
	/* a last component was followed by a slash: the result must be a directory */
	bool directory;
	unsigned depth; /* of rest */
	unsigned links; /* held; also the count for ELOOP */
	struct last last;
	const char *rest[MAXSYMLINKS];
	struct held_link held[MAXSYMLINKS];
};

/* ---- the text -------------------------------------------------------------------------------- */

/* Bytes before the NUL; @size or more: it is longer. A kernel string has no slack behind it, so it
 * is copied as a program's is. */
static __always_inline s64 copy_text(char *to, const char *from, size_t size, bool kernel)
{
	return kernel ? (s64)strlcpy(to, from, size) : strncpy_from_user(to, from, size);
}

/* A path that does not fit the caller's frame: PATH_MAX and slack. */
static noinline int path_name_get_long(struct path_name *name, const char *from, bool kernel)
{
	name->text = name->allocated = TRY_PTR(get_free_pages(GFP_KERNEL, 1));
	return TRY(copy_text(name->allocated, from, PATH_MAX, kernel)) < PATH_MAX ? 0
										  : -ENAMETOOLONG;
}

static __always_inline int name_get(struct path_name *name, const char *from, bool kernel)
{
	name->allocated = NULL;
	name->text = name->small;
	if (unlikely(TRY(copy_text(name->small, from, NAME_SMALL, kernel)) >= NAME_SMALL))
		return path_name_get_long(name, from, kernel);
	return 0;
}

int path_name_get(struct path_name *name, const char *from, bool kernel)
{
	return name_get(name, from, kernel);
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

/* "..": 0 or -EXDEV. */
static noinline int walk_up(struct walk *walk)
{
	struct path *path = &walk->path;

	walk_set_root(walk);
	do {
		if (path->dentry == walk->root.dentry && path->mount == walk->root.mount) {
			if (walk->resolve & RESOLVE_BENEATH)
				return -EXDEV;
			break;
		}
		if (path->dentry != path->mount->root) {
			struct dentry *parent = dget_parent(path->dentry);

			dput(path->dentry);
			path->dentry = parent;
			break;
		}
	} while (follow_up(path));
	follow_mounts(path);
	return 0;
}

/* What descriptor @number has open (even by O_PATH if @any), referenced. */
static noinline int descriptor_path(int number, bool any, bool directory, struct path *path)
{
	struct fd fd __free(fd) = any ? fdget_raw(number) : fdget(number);

	if (!fd.file)
		return -EBADF;
	if (directory && !S_ISDIR(fd.file->inode->mode))
		return -ENOTDIR;
	*path = fd.file->path;
	path_get(path);
	return 0;
}

static __always_inline int walk_start(struct walk *walk, int dfd, const char *name,
				      unsigned resolve)
{
	struct fs_context *fs = current->fs;

	bool absolute = *name == '/';

	walk->root.mount = NULL;
	walk->resolve = resolve;
	walk->directory = false;
	walk->depth = 0;
	walk->links = 0;
	if (unlikely(resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))) {
		if (absolute && (resolve & RESOLVE_BENEATH))
			return -EXDEV;
		absolute = false;
	}
	if (absolute)
		context_path(&walk->path, &fs->root);
	else if (likely(dfd == AT_FDCWD))
		context_path(&walk->path, &fs->cwd);
	else
		TRY(descriptor_path(dfd, true, *name, &walk->path));
	if (unlikely(resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))) {
		walk->root = walk->path; /* a tree that is not to be left */
		path_get(&walk->root);
	}
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

/* @dir->lock is held for writing: the one in the cache if somebody was faster, else the file
 * system's. */
static struct dentry *lookup_real(struct dentry *parent, const char *name, u32 length, u32 hash)
{
	struct inode *dir = parent->inode;

	if (length > NAME_MAX) /* what was removed has no name at all */
		return ERR_PTR(dir->flags & I_DEAD ? -ENOENT : -ENAMETOOLONG);
	struct dentry *dentry = d_lookup(parent, name, length, hash, false);
	if (dentry)
		return dentry;
	if (dir->flags & I_DEAD)
		return ERR_PTR(-ENOENT);
	if (!dir->op->lookup)
		return ERR_PTR(-ENOTDIR);
	dentry = d_alloc_hashed(parent, name, length, hash);
	int error = dentry ? dir->op->lookup(dir, dentry) : -ENOMEM;
	if (!error)
		return dentry;
	if (dentry)
		dput(dentry);
	return ERR_PTR(error);
}

struct dentry *lookup_locked(struct dentry *dir, const char *name, u32 length)
{
	u32 hash = dentry_name_hash(dir, name, length);
	struct dentry *dentry = length <= NAME_MAX ? d_lookup(dir, name, length, hash, true) : NULL;

	return dentry ? dentry : lookup_real(dir, name, length, hash);
}

/* Not in the cache: ask the file system, or make @create if it is not there. Referenced, positive
 * or negative, or ERR_PTR. */
static struct dentry *lookup_slow(const struct path *path, const char *name, u32 length,
				  struct new_name *create)
{
	struct dentry *parent = path->dentry;
	u32 hash = dentry_name_hash(parent, name, length);

	guard(parent, parent->inode);
	struct dentry *dentry = lookup_real(parent, name, length, hash);
	if (!create || IS_ERR(dentry) || dentry->inode)
		return dentry;
	int error = make_locked(path, dentry, create);
	if (!error) {
		create->made = true;
		return dentry;
	}
	dput(dentry);
	return ERR_PTR(error);
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

	if (walk->links == MAXSYMLINKS || (walk->resolve & RESOLVE_NO_SYMLINKS) ||
	    (inode->op->jump_link && (walk->resolve & RESOLVE_NO_MAGICLINKS))) {
		text = ERR_PTR(-ELOOP);
	} else if (inode->op->jump_link) {
		text = ERR_PTR(walk->resolve ? -EXDEV : inode->op->jump_link(inode, &place));
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
		if (walk->resolve & RESOLVE_BENEATH)
			return ERR_PTR(-EXDEV);
		walk_set_root(walk);
		path_put(&walk->path);
		walk->path = walk->root;
		path_get(&walk->path);
	}
	return text;
}

/*
 * Step onto component @name where it is not simple; @found is what the cache has, referenced, or
 * NULL. NULL: the walk stands on it. A text: it was a symbolic link, whose text is to be walked
 * first (only if @follow). ERR_PTR: -ENOENT and the like; the walk stays where it was.
 */
static const char *step_slowly(struct walk *walk, const char *name, u32 length,
			       struct dentry *found, bool follow, struct new_name *create)
{
	if (found && create && !found->inode) {
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
	if (S_ISLNK(inode->mode) && follow)
		return follow_link(walk, found);
	dput(walk->path.dentry);
	walk->path.dentry = found;
	follow_mounts(&walk->path);
	return NULL;
}

/* The same for the last component: what is simple is done here. */
static __always_inline const char *step(struct walk *walk, const char *name, u32 length,
					bool follow, struct new_name *create)
{
	struct dentry *parent = walk->path.dentry;
	struct dentry *dentry =
		d_lookup(parent, name, length, dentry_name_hash(parent, name, length), true);

	if (likely(dentry != NULL)) {
		struct inode *inode = smp_load_acquire(&dentry->inode);

		if (likely(inode != NULL) && likely(!(dentry->flags & D_MOUNTED)) &&
		    likely(!S_ISLNK(inode->mode))) {
			walk->path.dentry = dentry;
			dput(parent);
			return NULL;
		}
	}
	return step_slowly(walk, name, length, dentry, follow, create);
}

static __always_inline enum last_type component_type(const char *name, u32 length)
{
	if (likely(name[0] != '.' || length > 2))
		return LAST_NORM;
	if (length == 1)
		return LAST_DOT;
	return name[1] == '.' ? LAST_DOTDOT : LAST_NORM;
}

/* ---- all but the last component -------------------------------------------------------------- */

/* A component of the way that is not simply a cached directory. As step(). */
static noinline const char *walk_slowly(struct walk *walk, const char *name, u32 length,
					struct dentry *found)
{
	struct dentry *parent = walk->path.dentry;

	if (name[0] == '.') { /* not looked up yet */
		enum last_type type = component_type(name, length);

		if (type != LAST_NORM)
			return ERR_PTR(type == LAST_DOTDOT ? walk_up(walk) : 0);
		found = d_lookup(parent, name, length, dentry_name_hash(parent, name, length),
				 true);
	}
	return step_slowly(walk, name, length, found, true, NULL);
}

static __always_inline int walk_names(struct walk *walk, const char *name,
				      struct lookup_counts *counts)
{
	/* the walk's place, while all is simple */
	struct dentry *dentry = walk->path.dentry, *child;
	const char *next, *text;
	struct inode *inode;
	u32 length;

again:
	while (*name == '/')
		name++;
	if (unlikely(!*name)) {
		if (!walk->depth) {
			walk->last.type = LAST_ROOT;
			return 0;
		}
		name = walk->rest[--walk->depth];
	}
	for (;;) { /* @name is a component of the directory @dentry */
		inode = dentry->inode;
		if (unlikely((inode->mode & S_IXUGO) != S_IXUGO))
			TRY(inode_permission(inode, MAY_EXEC));
searchable:
		length = component_length(name);
		next = name + length;
		while (*next == '/')
			next++;
		if (!*next) {
			if (likely(!walk->depth)) {
				walk->last =
					(struct last){name, length, component_type(name, length),
						      next != name + length};
				walk->directory |= walk->last.trailing_slash;
				return 0;
			}
			next = walk->rest[--walk->depth];
		}
		child = NULL;
		if (likely(name[0] != '.')) {
			child = dentry_find(dentry, name, length,
					    dentry_name_hash(dentry, name, length), counts);
			inode = likely(child != NULL) ? smp_load_acquire(&child->inode) : NULL;
			/* A directory that everybody may search: one test, and no other at the next
			 * turn. */
			if (likely(inode != NULL) &&
			    likely((inode->mode & (S_IFMT | S_IXUGO)) == (S_IFDIR | S_IXUGO)) &&
			    likely(!(child->flags & D_MOUNTED))) {
				walk->path.dentry = child;
				dput(dentry);
				dentry = child;
				name = next;
				goto searchable;
			}
		}
		text = walk_slowly(walk, name, length, child);
		dentry = walk->path.dentry;
		if (text) {
			if (IS_ERR(text))
				return (int)PTR_ERR(text);
			walk->rest[walk->depth++] = next;
			name = text;
			goto again;
		}
		if (!S_ISDIR(dentry->inode->mode))
			return -ENOTDIR;
		name = next;
	}
}

/*
 * Walk @name up to the directory of its last component, which is left in walk->last. The directory
 * has been found to be one, and may be searched.
 */
static int walk_to_last(struct walk *walk, const char *name)
{
	struct lookup_counts counts = {0, 0, 0, 0, 0};
	int error = walk_names(walk, name, &counts);

	count_lookups(&counts);
	return error;
}

/* ---- the last component ---------------------------------------------------------------------- */

/* Step onto walk->last, following it as long as it is a symbolic link if @follow. */
static __always_inline int walk_last(struct walk *walk, bool follow, struct new_name *create)
{
	for (;;) {
		if (unlikely(walk->last.type != LAST_NORM)) /* with O_CREAT: do_open() */
			return walk->last.type == LAST_DOTDOT ? walk_up(walk) : 0;
		if (unlikely(create != NULL) && walk->last.trailing_slash)
			return -EISDIR;
		const char *text = step(walk, walk->last.name, walk->last.length,
					follow || walk->directory, create);
		if (likely(!text))
			return 0;
		if (IS_ERR(text))
			return (int)PTR_ERR(text);
		TRY(walk_to_last(walk, text));
	}
}

/* With @last, up to the directory of the last component only. */
static __always_inline int walk_path(int dfd, const char *name, unsigned flags,
				     struct new_name *create, struct path *path, struct last *last)
{
	struct walk walk;

	if (unlikely(!*name && !(flags & LOOKUP_EMPTY)))
		return -ENOENT;
	TRY(walk_start(&walk, dfd, name, flags / LOOKUP_RESOLVE));
	int error = likely(*name) ? walk_to_last(&walk, name) : 0;
	if (last) {
		*last = walk.last;
	} else if (likely(*name) && likely(!error)) {
		error = walk_last(&walk, flags & LOOKUP_FOLLOW, create);
		if (likely(!error) && unlikely(walk.directory) &&
		    !S_ISDIR(walk.path.dentry->inode->mode))
			error = -ENOTDIR;
	}
	if (unlikely(walk.links || walk.root.mount))
		walk_release(&walk);
	if (likely(!error))
		*path = walk.path;
	else
		path_put(&walk.path);
	return error;
}

int path_lookup(int dfd, const char *name, unsigned flags, struct new_name *create,
		struct path *path)
{
	return walk_path(dfd, name, flags, create, path, NULL);
}

int path_lookup_parent(int dfd, const char *name, struct path *parent, struct last *last)
{
	return walk_path(dfd, name, 0, NULL, parent, last);
}

/* ---- for everybody --------------------------------------------------------------------------- */

int user_path_at(int dfd, const char __user *from, unsigned flags, struct path *path)
{
	if (flags & (LOOKUP_FD | LOOKUP_FD_PATH))
		return descriptor_path(dfd, flags & LOOKUP_FD_PATH, false, path);
	struct path_name name __free(name);
	TRY(name_get(&name, from, false));
	return path_lookup(dfd, name.text, flags, NULL, path);
}

int kern_path(const char *from, unsigned flags, struct path *path)
{
	struct path_name name __free(name);

	TRY(path_name_get(&name, from, true));
	return path_lookup(AT_FDCWD, name.text, flags, NULL, path);
}
