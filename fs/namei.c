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
	struct dentry *dentry; /* referenced: keeps the inode, and so its text */
	void *cookie;
};

struct walk {
	struct path path; /* referenced */
	struct path root; /* mount NULL: not yet needed */
	bool root_counted;
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

void path_name_free(char *allocated)
{
	free_pages(allocated, 1);
}

/* A path that does not fit the caller's frame: PATH_MAX and slack. */
static noinline int path_name_get_long(struct path_name *name, const char __user *from)
{
	s64 length;

	name->allocated = get_free_pages(GFP_KERNEL, 1);
	if (!name->allocated)
		return -ENOMEM;
	length = strncpy_from_user(name->allocated, from, PATH_MAX);
	if (likely(length >= 0 && length < PATH_MAX)) {
		name->text = name->allocated;
		return 0;
	}
	path_name_put(name);
	name->allocated = NULL;
	return length < 0 ? (int)length : -ENAMETOOLONG;
}

int path_name_get(struct path_name *name, const char __user *from)
{
	s64 length = strncpy_from_user(name->small, from, NAME_SMALL);

	name->allocated = NULL;
	name->text = name->small;
	if (unlikely(length < 0))
		return (int)length;
	if (unlikely(length == NAME_SMALL))
		return path_name_get_long(name, from);
	return 0;
}

/* A kernel string has no slack behind it, so it is copied as a program's is. */
int path_name_copy(struct path_name *name, const char *from)
{
	size_t length = strlen(from);
	char *to = name->small;

	name->allocated = NULL;
	if (length >= PATH_MAX)
		return -ENAMETOOLONG;
	if (length >= NAME_SMALL) {
		to = name->allocated = get_free_pages(GFP_KERNEL, 1);
		if (!to)
			return -ENOMEM;
	}
	memcpy(to, from, length + 1);
	name->text = to;
	return 0;
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

/* A path of the task's context, referenced. Its lock is needed only if another task shares the
 * context. */
static __always_inline void context_path(struct path *path, struct fs_context *fs,
					 const struct path *from)
{
	bool shared = atomic_read(&fs->refcount) != 1;

	if (unlikely(shared))
		spin_lock(&fs->lock);
	*path = *from;
	path_get(path);
	if (unlikely(shared))
		spin_unlock(&fs->lock);
}

static void walk_set_root(struct walk *walk)
{
	struct fs_context *fs = current->fs;

	if (walk->root.mount)
		return;
	context_path(&walk->root, fs, &fs->root);
	walk->root_counted = true;
}

/* For the text of an absolute link. 0 or -EXDEV. */
static noinline int walk_to_root(struct walk *walk)
{
	walk_set_root(walk);
	if ((walk->resolve & RESOLVE_BENEATH) ||
	    ((walk->resolve & RESOLVE_NO_XDEV) && walk->root.mount != walk->path.mount))
		return -EXDEV;
	path_put(&walk->path);
	walk->path = walk->root;
	path_get(&walk->path);
	return 0;
}

/* "..": 0 or -EXDEV. */
static noinline int walk_up(struct walk *walk)
{
	struct path *path = &walk->path;
	struct mount *mount = path->mount;
	struct dentry *parent;

	walk_set_root(walk);
	do {
		if (path->dentry == walk->root.dentry && path->mount == walk->root.mount) {
			if (walk->resolve & RESOLVE_BENEATH)
				return -EXDEV;
			break;
		}
		if (path->dentry != path->mount->root) {
			parent = dget_parent(path->dentry);
			dput(path->dentry);
			path->dentry = parent;
			break;
		}
	} while (follow_up(path));
	if (path->dentry->flags & D_MOUNTED)
		follow_mounts(path);
	return (walk->resolve & RESOLVE_NO_XDEV) && path->mount != mount ? -EXDEV : 0;
}

static noinline int walk_start_at(struct walk *walk, int dfd, const char *name)
{
	struct fd fd __free(fd) = fdget_raw(dfd);

	if (!fd.file)
		return -EBADF;
	if (*name && !S_ISDIR(fd.file->inode->mode))
		return -ENOTDIR;
	walk->path = fd.file->path;
	path_get(&walk->path);
	return 0;
}

/* The start is the root as well: openat2(2) of a tree that is not to be left. */
static noinline int walk_start_scoped(struct walk *walk, int dfd, const char *name)
{
	struct fs_context *fs = current->fs;
	int error = 0;

	if (*name == '/' && (walk->resolve & RESOLVE_BENEATH))
		return -EXDEV;
	if (dfd == AT_FDCWD)
		context_path(&walk->path, fs, &fs->cwd);
	else
		error = walk_start_at(walk, dfd, "/");
	if (!error) {
		walk->root = walk->path;
		path_get(&walk->root);
		walk->root_counted = true;
	}
	return error;
}

static __always_inline int walk_start(struct walk *walk, int dfd, const char *name,
				      unsigned resolve)
{
	struct fs_context *fs = current->fs;

	walk->root.mount = NULL;
	walk->root_counted = false;
	walk->resolve = resolve;
	walk->directory = false;
	walk->depth = 0;
	walk->links = 0;
	if (unlikely(resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)))
		return walk_start_scoped(walk, dfd, name);
	if (*name == '/')
		context_path(&walk->path, fs, &fs->root);
	else if (likely(dfd == AT_FDCWD))
		context_path(&walk->path, fs, &fs->cwd);
	else
		return walk_start_at(walk, dfd, name);
	return 0;
}

static noinline void walk_release(struct walk *walk)
{
	while (walk->links) {
		struct held_link *link = &walk->held[--walk->links];
		struct inode *inode = link->dentry->inode;

		if (!inode->link && inode->op->put_link)
			inode->op->put_link(inode, link->cookie);
		dput(link->dentry);
	}
	if (walk->root_counted)
		path_put(&walk->root);
}

/* The links and the root are let go; the place is the caller's, or also let go after an error. */
static __always_inline int walk_end(struct walk *walk, int error)
{
	if (unlikely(walk->links || walk->root_counted))
		walk_release(walk);
	if (unlikely(error))
		path_put(&walk->path);
	return error;
}

/* ---- one component --------------------------------------------------------------------------- */

static bool still_valid(struct inode *dir, struct dentry *dentry)
{
	return !dir->op->revalidate || (dentry->flags & D_MOUNTED) || dir->op->revalidate(dentry);
}

/* @dir->lock is held for writing: the one in the cache if somebody was faster, else the file
 * system's. */
static struct dentry *lookup_real(struct dentry *parent, const char *name, u32 length, u32 hash)
{
	struct inode *dir = parent->inode;
	struct dentry *dentry;
	int error;

	if (length > NAME_MAX) /* what was removed has no name at all */
		return ERR_PTR(dir->flags & I_DEAD ? -ENOENT : -ENAMETOOLONG);
	dentry = dentry_find_again(parent, name, length, hash);
	if (dentry) {
		if (!(dentry->flags & D_REVALIDATE) || still_valid(dir, dentry))
			return dentry;
		d_drop(dentry);
		dput(dentry);
	}
	if (dir->flags & I_DEAD)
		return ERR_PTR(-ENOENT);
	if (!dir->op->lookup)
		return ERR_PTR(-ENOTDIR);
	dentry = d_alloc_hashed(parent, name, length, hash);
	if (!dentry)
		return ERR_PTR(-ENOMEM);
	error = dir->op->lookup(dir, dentry);
	if (error) {
		dput(dentry);
		return ERR_PTR(error);
	}
	return dentry;
}

/* In the cache, counted: referenced or NULL. */
static __always_inline struct dentry *lookup_cached(struct dentry *parent, const char *name,
						    u32 length, u32 hash)
{
	struct lookup_counts counts = {0, 0, 0, 0, 0};
	struct dentry *dentry = dentry_find(parent, name, length, hash, &counts);

	count_lookups(&counts);
	return dentry;
}

struct dentry *lookup_locked(struct dentry *dir, const char *name, u32 length)
{
	u32 hash = dentry_name_hash(dir, name, length);
	struct dentry *dentry;

	if (unlikely(length > NAME_MAX))
		return ERR_PTR(dir->inode->flags & I_DEAD ? -ENOENT : -ENAMETOOLONG);
	dentry = lookup_cached(dir, name, length, hash);
	if (likely(dentry && !(dentry->flags & D_REVALIDATE)))
		return dentry;
	if (dentry)
		dput(dentry);
	return lookup_real(dir, name, length, hash);
}

/* Not in the cache, or no longer valid: ask the file system. Referenced, positive or negative, or
 * ERR_PTR. */
static struct dentry *lookup_slow(struct dentry *parent, const char *name, u32 length)
{
	struct inode *dir = parent->inode;
	struct dentry *dentry;

	down_write_nested(&dir->lock, LOCK_PARENT);
	dentry = lookup_real(parent, name, length, dentry_name_hash(parent, name, length));
	up_write(&dir->lock);
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
	void *cookie = NULL;
	struct path place;
	int error = 0;

	if (walk->links == MAXSYMLINKS || (walk->resolve & RESOLVE_NO_SYMLINKS))
		error = -ELOOP;
	if (!error && inode->op->jump_link) {
		error = walk->resolve & RESOLVE_NO_MAGICLINKS ? -ELOOP
			: walk->resolve			      ? -EXDEV
							      : inode->op->jump_link(inode, &place);
		if (!error) {
			path_put(&walk->path);
			walk->path = place;
			dput(link);
			return NULL;
		}
	}
	if (!error && !text)
		text = inode->op->get_link(inode, &cookie);
	if (error || IS_ERR(text)) {
		dput(link);
		return error ? ERR_PTR(error) : text;
	}
	touch_inode_atime(inode, walk->path.mount);
	walk->held[walk->links++] = (struct held_link){link, cookie};
	if (*text == '/')
		error = walk_to_root(walk);
	else if (!*text)
		error = -ENOENT;
	return error ? ERR_PTR(error) : text;
}

/* The walk moves to @dentry, whose reference is taken over. NULL or ERR_PTR(-EXDEV). */
static __always_inline const char *walk_to(struct walk *walk, struct dentry *dentry)
{
	struct dentry *parent = walk->path.dentry;
	struct mount *mount = walk->path.mount;

	walk->path.dentry = dentry;
	dput(parent);
	if (unlikely(dentry->flags & D_MOUNTED)) {
		follow_mounts(&walk->path);
		if ((walk->resolve & RESOLVE_NO_XDEV) && walk->path.mount != mount)
			return ERR_PTR(-EXDEV);
	}
	return NULL;
}

/*
 * Step onto component @name where it is not simple; @found is what the cache has, referenced, or
 * NULL. NULL: the walk stands on it. A text: it was a symbolic link, whose text is to be walked
 * first (only if @follow). ERR_PTR: -ENOENT and the like; the walk stays where it was.
 */
static const char *step_slowly(struct walk *walk, const char *name, u32 length,
			       struct dentry *found, bool follow)
{
	struct dentry *parent = walk->path.dentry;
	struct inode *inode;

	if (found && (found->flags & D_REVALIDATE) && !still_valid(parent->inode, found)) {
		d_drop(found);
		dput(found);
		found = NULL;
	}
	if (!found)
		found = lookup_slow(parent, name, length);
	if (IS_ERR(found))
		return ERR_CAST(found);
	inode = smp_load_acquire(&found->inode);
	if (!inode) {
		dput(found);
		return ERR_PTR(-ENOENT);
	}
	if (S_ISLNK(inode->mode) && follow)
		return follow_link(walk, found);
	return walk_to(walk, found);
}

/* The same for the last component: what is simple is done here. */
static __always_inline const char *step(struct walk *walk, const char *name, u32 length,
					bool follow)
{
	struct dentry *parent = walk->path.dentry, *dentry;
	struct inode *inode;

	dentry = lookup_cached(parent, name, length, dentry_name_hash(parent, name, length));
	if (likely(dentry != NULL)) {
		inode = smp_load_acquire(&dentry->inode);
		if (likely(inode != NULL) &&
		    likely(!(dentry->flags & (D_MOUNTED | D_REVALIDATE))) &&
		    likely(!S_ISLNK(inode->mode))) {
			walk->path.dentry = dentry;
			dput(parent);
			return NULL;
		}
	}
	return step_slowly(walk, name, length, dentry, follow);
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
		found = lookup_cached(parent, name, length, dentry_name_hash(parent, name, length));
	}
	return step_slowly(walk, name, length, found, true);
}

/* The text @name had no component: true if there is none left to walk either, else *@name is what
 * is left. */
static bool walk_empty(struct walk *walk, const char **name)
{
	if (!walk->depth) {
		walk->last.type = LAST_ROOT;
		return true;
	}
	*name = walk->rest[--walk->depth];
	return false;
}

static __always_inline int walk_names(struct walk *walk, const char *name,
				      struct lookup_counts *counts)
{
	/* the walk's place, while all is simple */
	struct dentry *dentry = walk->path.dentry, *child;
	const char *next, *text;
	struct inode *inode;
	u32 length;
	int error;

again:
	while (*name == '/')
		name++;
	if (unlikely(!*name) && walk_empty(walk, &name))
		return 0;
	for (;;) { /* @name is a component of the directory @dentry */
		inode = dentry->inode;
		if (unlikely((inode->mode & S_IXUGO) != S_IXUGO)) {
			error = inode_permission(inode, MAY_EXEC);
			if (error)
				return error;
		}
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
			    likely(!(child->flags & (D_MOUNTED | D_REVALIDATE)))) {
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

/* What O_CREAT makes if the last name is not there. */
struct creation {
	umode_t mode;
	bool made;
};

/* The directory's lock is held: the object of the last name, made if it is not there. Referenced
 * and positive, or ERR_PTR. */
static struct dentry *create_locked(struct walk *walk, u32 hash, struct creation *create)
{
	struct dentry *parent = walk->path.dentry;
	struct dentry *dentry = lookup_real(parent, walk->last.name, walk->last.length, hash);
	struct inode *dir = parent->inode;
	int error;

	if (IS_ERR(dentry) || dentry->inode)
		return dentry;
	error = mount_writable(walk->path.mount);
	if (!error)
		error = may_create(dir, dentry);
	if (!error)
		error = dir->op->create ? dir->op->create(dir, dentry, create->mode) : -EACCES;
	if (error) {
		dput(dentry);
		return ERR_PTR(error);
	}
	create->made = true;
	return dentry;
}

/* Step onto the last component, created if need be. NULL, a link's text, or ERR_PTR, as step(). */
static noinline const char *step_create(struct walk *walk, bool follow, struct creation *create)
{
	struct dentry *parent = walk->path.dentry;
	const char *name = walk->last.name;
	u32 hash = dentry_name_hash(parent, name, walk->last.length);
	struct dentry *dentry = lookup_cached(parent, name, walk->last.length, hash);

	if (!dentry || !dentry->inode || (dentry->flags & D_REVALIDATE)) {
		if (dentry)
			dput(dentry);
		down_write_nested(&parent->inode->lock, LOCK_PARENT);
		dentry = create_locked(walk, hash, create);
		up_write(&parent->inode->lock);
		if (IS_ERR(dentry))
			return ERR_CAST(dentry);
	}
	if (S_ISLNK(dentry->inode->mode) && follow)
		return follow_link(walk, dentry);
	return walk_to(walk, dentry);
}

/* Step onto walk->last, following it as long as it is a symbolic link if @follow. */
static __always_inline int walk_last(struct walk *walk, bool follow, struct creation *create)
{
	const char *text;
	int error;

	for (;;) {
		if (unlikely(walk->last.type != LAST_NORM)) /* with O_CREAT: open_existing() */
			return walk->last.type == LAST_DOTDOT ? walk_up(walk) : 0;
		if (!create)
			text = step(walk, walk->last.name, walk->last.length,
				    follow || walk->directory);
		else if (walk->last.trailing_slash)
			return -EISDIR;
		else
			text = step_create(walk, follow, create);
		if (likely(!text))
			return 0;
		if (IS_ERR(text))
			return (int)PTR_ERR(text);
		error = walk_to_last(walk, text);
		if (error)
			return error;
	}
}

static __always_inline int walk_path(int dfd, const char *name, unsigned flags,
				     struct creation *create, struct path *path)
{
	struct walk walk;
	int error;

	if (unlikely(!*name && !(flags & LOOKUP_EMPTY)))
		return -ENOENT;
	error = walk_start(&walk, dfd, name, flags / LOOKUP_RESOLVE);
	if (unlikely(error))
		return error;
	if (likely(*name)) {
		error = walk_to_last(&walk, name);
		if (likely(!error))
			error = walk_last(&walk, flags & LOOKUP_FOLLOW, create);
		if (likely(!error) && unlikely(walk.directory || (flags & LOOKUP_DIRECTORY)) &&
		    !S_ISDIR(walk.path.dentry->inode->mode))
			error = -ENOTDIR;
	}
	if (likely(!error))
		*path = walk.path;
	return walk_end(&walk, error);
}

int path_lookup(int dfd, const char *name, unsigned flags, struct path *path)
{
	return walk_path(dfd, name, flags, NULL, path);
}

int path_create(int dfd, const char *name, unsigned flags, umode_t mode, struct path *path,
		bool *created)
{
	struct creation create = {.mode = mode};
	int error = walk_path(dfd, name, flags, &create, path);

	*created = create.made;
	return error;
}

/* The last component's text must outlive the walk, so @name is the caller's and no link holds it.
 */
int path_lookup_parent(int dfd, const char *name, struct path *parent, struct last *last)
{
	struct walk walk;
	int error;

	if (!*name)
		return -ENOENT;
	error = walk_start(&walk, dfd, name, 0);
	if (error)
		return error;
	error = walk_to_last(&walk, name);
	if (!error) {
		*parent = walk.path;
		*last = walk.last;
	}
	return walk_end(&walk, error);
}

/* ---- for everybody --------------------------------------------------------------------------- */

/* What descriptor @number has open. */
static int descriptor_path(int number, unsigned flags, struct path *path)
{
	struct fd fd __free(fd) = flags & LOOKUP_FD_PATH ? fdget_raw(number) : fdget(number);

	if (!fd.file)
		return -EBADF;
	*path = fd.file->path;
	path_get(path);
	return 0;
}

int user_path_at(int dfd, const char __user *from, unsigned flags, struct path *path)
{
	struct path_name name;
	int error;

	if (flags & (LOOKUP_FD | LOOKUP_FD_PATH))
		return descriptor_path(dfd, flags, path);
	error = path_name_get(&name, from);
	if (unlikely(error))
		return error;
	error = path_lookup(dfd, name.text, flags, path);
	path_name_put(&name);
	return error;
}

int kern_path(const char *from, unsigned flags, struct path *path)
{
	struct path_name name __free(name);
	int error = path_name_copy(&name, from);

	return error ? error : path_lookup(AT_FDCWD, name.text, flags, path);
}
