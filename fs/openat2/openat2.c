/*
 * openat2.c - openat2(2): a file is opened by a walk that asks, before and after each step that is
 * not simply down, whether it may take it.
 */
#include "fs/calls/calls.h"
#include "fs/file/open.h"
#include "fs/openat2/openat2.h"

struct restricted_walk {
	struct walk walk; /* its root: of a scoped one where it began */
	unsigned resolve; /* RESOLVE_* */
	int mount_id;	  /* where it began: with NO_XDEV it is there all the time */
};

/* The walk is not to leave a tree: may it take @step? */
static int check_scope(const struct restricted_walk *restricted, enum step step)
{
	bool beneath = restricted->resolve & RESOLVE_BENEATH;

	switch (step) {
	case STEP_TO_ROOT:
	case STEP_UP_FROM_ROOT:
		return beneath ? -EXDEV : 0;
	case STEPPED_UP: /* it did not leave by itself: a rename took it out */
		return path_is_under(&restricted->walk.path, &restricted->walk.root) ? 0 : -EAGAIN;
	case STEPPED_BY_LINK:
		return -EXDEV;
	default:
		return 0;
	}
}

static int check_mount(const struct restricted_walk *restricted, enum step step)
{
	const struct walk *walk = &restricted->walk;

	/* as on Linux a root that was not yet looked at is on another mount */
	if (step == STEP_TO_ROOT && walk->path.mount != walk->root.mount)
		return -EXDEV;
	return walk->path.mount->id == restricted->mount_id ? 0 : -EXDEV;
}

static int check_step(const struct walk *walk, enum step step)
{
	const struct restricted_walk *restricted = (const struct restricted_walk *)walk;
	unsigned resolve = restricted->resolve;

	if (step == STEP_THROUGH_LINK && (resolve & RESOLVE_NO_SYMLINKS))
		return -ELOOP;
	if (step == STEPPED_BY_LINK && (resolve & RESOLVE_NO_MAGICLINKS))
		return -ELOOP;
	if (step == STEP_UNCACHED && (resolve & RESOLVE_CACHED))
		return -EAGAIN;
	if (resolve & RESOLVE_NO_XDEV)
		TRY(check_mount(restricted, step));
	if (resolve & RESOLVE_SCOPED)
		return check_scope(restricted, step);
	return 0;
}

int path_lookup_restricted(int dfd, const char *name, unsigned flags, unsigned resolve,
			   struct new_name *create, struct path *path)
{
	bool absolute = *name == '/', scoped = resolve & RESOLVE_SCOPED;
	struct restricted_walk restricted = {
		.walk = {.flags = flags | LOOKUP_LIMITED, .create = create, .limit = check_step},
		.resolve = resolve,
	};
	struct walk *walk = &restricted.walk;

	if (!*name)
		return -ENOENT;
	if (absolute && (resolve & RESOLVE_BENEATH))
		return -EXDEV;
	TRY(walk_begin(walk, dfd, absolute && !scoped));
	if (absolute && !S_ISDIR(walk->path.dentry->inode->mode)) {
		path_put(&walk->path);
		return -ENOTDIR;
	}
	if (absolute || scoped) {
		walk->root = walk->path;
		path_get(&walk->root);
	}
	restricted.mount_id = walk->path.mount->id;
	struct path root __free(path) = walk->path; /* walk_finish() lets go of the walk's own */
	path_get(&root);
	int error = walk_finish(walk, name, path);
	if (error || !scoped || (create && create->made) || path_is_under(path, &root))
		return error;
	path_put(path); /* a rename took it, or what it is in, out of there meanwhile */
	path->mount = NULL;
	return -EXDEV;
}

static s64 open_restricted(int dfd, const char __user *from, int flags, umode_t mode,
			   unsigned resolve)
{
	struct new_name new = {.mode = (mode & S_IALLUGO) | S_IFREG};
	struct path_name name __free(name); /* not cleared: it is large */
	struct path path __free(path) = {0};
	struct file *file;

	TRY(path_name_get(&name, from));
	flags = TRY(open_flags(flags));
	TRY(fd_room());
	TRY(path_lookup_restricted(dfd, name.text, open_lookup(flags), resolve,
				   flags & O_CREAT ? &new : NULL, &path));
	TRY(open_place(&path, &new, flags, &file));
	return fd_add(file, 0, flags);
}

/* Unlike openat(2), what is not known or makes no sense is an error. */
s64 sys_openat2(int dfd, const char *name, const void *user_how, size_t size)
{
	const u64 of_path = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const u64 makes = O_CREAT | __O_TMPFILE;
	struct {
		u64 flags, mode, resolve;
	} how;

	if (size != sizeof(how))
		return size < sizeof(how) ? -EINVAL : -E2BIG;
	TRY(read_user(&how, user_how, sizeof(how)));
	if ((how.flags & ~(u64)OPEN_FLAGS) || (how.resolve & ~(u64)RESOLVE_ALL) ||
	    (how.resolve & RESOLVE_SCOPED) == RESOLVE_SCOPED ||
	    how.mode & (how.flags & makes ? ~(u64)S_IALLUGO : ~0ULL) ||
	    (how.flags & O_PATH && how.flags & ~of_path))
		return -EINVAL;
	if ((how.resolve & RESOLVE_CACHED) && (how.flags & (makes | O_TRUNC)))
		return -EAGAIN;
	if (!how.resolve)
		return sys_openat(dfd, name, (int)how.flags, (umode_t)how.mode);
	return open_restricted(dfd, name, (int)how.flags, (umode_t)how.mode, (unsigned)how.resolve);
}
