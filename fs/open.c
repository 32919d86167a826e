/*
 * open.c - opening files and letting them go: from a path to a struct file and back.
 */
#include "fs/internal.h"

static struct kmem_cache *file_slab;
static atomic_t open_files;
#define OPEN_FILES_MAX 65536 /* ENFILE beyond it */

#define OPEN_FLAGS                                                                                 \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |      \
	 O_DSYNC | O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME |       \
	 O_CLOEXEC | O_PATH | O_TMPFILE)
/* What F_GETFL tells: not what only mattered while opening. */
#define KEPT_FLAGS (~(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC))

/* ---- struct file ----------------------------------------------------------------------------- */

struct file *file_alloc(void)
{
	struct file *file;

	if (unlikely(atomic_inc_return(&open_files) > OPEN_FILES_MAX)) {
		atomic_dec(&open_files);
		return ERR_PTR(-ENFILE);
	}
	file = kmem_cache_alloc(file_slab, GFP_KERNEL);
	if (unlikely(!file)) {
		atomic_dec(&open_files);
		return ERR_PTR(-ENOMEM);
	}
	file->fop = NULL;
	file->inode = NULL;
	atomic_set(&file->refcount, 1);
	file->flags = 0;
	file->mode = 0;
	mutex_init(&file->position_lock, "file->position_lock");
	file->position = 0;
	file->path.mount = NULL;
	file->path.dentry = NULL;
	file->readahead_next = 0;
	file->readahead_size = 0;
	file->private = NULL;
	return file;
}

/* Undo file_alloc() and what file_open_path() took. */
static void file_free(struct file *file)
{
	kmem_cache_free(file_slab, file);
	atomic_dec(&open_files);
}

static void put_write(struct file *file)
{
	put_write_access(file->inode);
	atomic_dec(&file->path.mount->writers);
}

static noinline void file_release(struct file *file)
{
	if (file->fop && file->fop->release && !(file->mode & FMODE_PATH))
		file->fop->release(file);
	if (unlikely(file->inode->locks != NULL))
		locks_remove(file->inode, file);
	if ((file->mode & FMODE_WRITE) && S_ISREG(file->inode->mode))
		put_write(file);
	if (file->mode & FMODE_EXEC)
		allow_write_access(file->inode);
	if (file->path.dentry)
		path_put(&file->path);
	file_free(file);
}

void fput(struct file *file)
{
	if (atomic_dec_return(&file->refcount) == 0)
		file_release(file);
}

/* ---- opening --------------------------------------------------------------------------------- */

static u32 flags_to_mode(int flags)
{
	static const u8 modes[4] = {FMODE_READ, FMODE_WRITE, FMODE_READ | FMODE_WRITE, 0};

	return flags & O_PATH ? FMODE_PATH : modes[flags & O_ACCMODE];
}

/* A file open on @path, which keeps its own references. Permission was checked. */
struct file *file_open_path(const struct path *path, u32 flags)
{
	struct inode *inode = path->dentry->inode;
	struct file *file = file_alloc();
	int error = 0;

	if (unlikely(IS_ERR(file)))
		return file;
	file->flags = flags & (u32)KEPT_FLAGS;
	file->mode = flags_to_mode((int)flags);
	file->inode = inode;
	if ((file->mode & FMODE_WRITE) && S_ISREG(inode->mode)) {
		error = get_write_access(inode);
		if (error)
			goto fail;
		atomic_inc(&path->mount->writers);
	}
	file->path = *path;
	path_get(path);
	if (file->mode & FMODE_PATH) {
		file->fop = &bad_file_operations;
		return file;
	}
	file->fop = inode->fop;
	if (file->fop->open)
		error = file->fop->open(inode, file);
	if (likely(!error))
		return file;
	if ((file->mode & FMODE_WRITE) && S_ISREG(inode->mode))
		put_write(file);
	path_put(path);
fail:
	file_free(file);
	return ERR_PTR(error);
}

static int access_mask(int flags)
{
	static const u8 masks[4] = {MAY_READ, MAY_WRITE, MAY_READ | MAY_WRITE,
				    MAY_READ | MAY_WRITE};

	return masks[flags & O_ACCMODE] | (flags & O_TRUNC ? MAY_WRITE : 0);
}

/* May what @path leads to be opened so? */
static int may_open(const struct path *path, int flags)
{
	struct inode *inode = path->dentry->inode;
	int mask = access_mask(flags), error;

	switch (inode->mode & S_IFMT) {
	case S_IFLNK:
		return -ELOOP;
	case S_IFDIR:
		if (mask & MAY_WRITE)
			return -EISDIR;
		break;
	case S_IFBLK:
	case S_IFCHR:
		if ((path->mount->flags | inode->sb->flags) & SB_NODEV)
			return -EACCES;
		break;
	}
	error = flags & O_TRUNC && S_ISREG(inode->mode) ? mount_writable(path->mount) : 0;
	if (!error)
		error = inode_permission(inode, mask);
	if (error)
		return error;
	if ((flags & O_NOATIME) && current->cred->fsuid != inode->uid && current->cred->fsuid != 0)
		return -EPERM;
	if ((mask & MAY_WRITE) && (S_ISREG(inode->mode)))
		return mount_writable(path->mount);
	return 0;
}

static struct file *open_existing(const struct path *path, int flags, bool created)
{
	struct inode *inode = path->dentry->inode;
	struct file *file;
	int error;

	if (!created) {
		if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
			return ERR_PTR(-EEXIST);
		if ((flags & O_CREAT) && S_ISDIR(inode->mode))
			return ERR_PTR(-EISDIR);
	}
	if ((flags & O_DIRECTORY) && !S_ISDIR(inode->mode))
		return ERR_PTR(-ENOTDIR);
	if (!created && !(flags & O_PATH)) {
		error = may_open(path, flags);
		if (error)
			return ERR_PTR(error);
	}
	file = file_open_path(path, (u32)flags);
	if (IS_ERR(file) || created || !(flags & O_TRUNC) || !S_ISREG(inode->mode))
		return file;
	error = file->mode & FMODE_WRITE ? 0 : get_write_access(inode);
	if (!error) {
		error = do_truncate(inode, 0, ATTR_OPEN);
		if (!(file->mode & FMODE_WRITE))
			put_write_access(inode);
	}
	if (error) {
		fput(file);
		return ERR_PTR(error);
	}
	return file;
}

/* Flags that contradict each other; O_PATH ignores all but a few. */
static int check_flags(int *flags)
{
	*flags &= OPEN_FLAGS;
	if ((*flags & O_TMPFILE & ~O_DIRECTORY) != 0) {
		if ((*flags & O_TMPFILE) != O_TMPFILE || (*flags & O_CREAT) ||
		    !(*flags & (O_WRONLY | O_RDWR)))
			return -EINVAL;
		return -EOPNOTSUPP;
	}
	if ((*flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY) && !(*flags & O_PATH))
		return -EINVAL;
	if (*flags & O_PATH)
		*flags &= O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC;
	return 0;
}

static struct file *do_open(int dfd, const char *name, int flags, umode_t mode, unsigned resolve)
{
	unsigned lookup = resolve * LOOKUP_RESOLVE;
	struct path path __free(path) = {0};
	bool created = false;
	int error;

	if (!(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL))
		lookup |= LOOKUP_FOLLOW;
	mode = (mode & S_IALLUGO & ~current->fs->umask) | S_IFREG;
	error = flags & O_CREAT ? path_create(dfd, name, lookup, mode, &path, &created)
				: path_lookup(dfd, name, lookup, &path);
	return unlikely(error) ? ERR_PTR(error) : open_existing(&path, flags, created);
}

static s64 open_user(int dfd, const char __user *from, int flags, umode_t mode, unsigned resolve)
{
	struct path_name name __free(name); /* not cleared: it is large */
	struct file *file;
	int error = path_name_get(&name, from), fd;

	if (likely(!error))
		error = check_flags(&flags);
	if (unlikely(error))
		return error;
	fd = fd_alloc(0, flags & O_CLOEXEC);
	if (unlikely(fd < 0))
		return fd;
	file = do_open(dfd, name.text, flags, mode, resolve);
	if (unlikely(IS_ERR(file))) {
		fd_release(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}

s64 sys_openat(int dfd, const char *name, int flags, umode_t mode)
{
	return open_user(dfd, name, flags, mode, 0);
}

struct open_how {
	u64 flags, mode, resolve;
};

/* *@how from @size bytes of a program that may know more fields than we do: all zero then. */
static int get_open_how(struct open_how *how, const void __user *from, size_t size)
{
	const char *more = (const char *)from + sizeof(*how);
	char byte;

	if (size < sizeof(*how))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (copy_from_user(how, from, sizeof(*how)))
		return -EFAULT;
	for (size_t i = sizeof(*how); i < size; i++, more++)
		if (get_user(byte, more))
			return -EFAULT;
		else if (byte)
			return -E2BIG;
	return 0;
}

/* Unlike openat(2), what is not known or makes no sense is an error. */
s64 sys_openat2(int dfd, const char *name, const void *user_how, size_t size)
{
	const u64 of_path = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct open_how how;
	int error = get_open_how(&how, user_how, size);

	if (error)
		return error;
	if ((how.flags & ~(u64)OPEN_FLAGS) || (how.resolve & ~(u64)(2 * RESOLVE_CACHED - 1)) ||
	    (how.mode &
	     (how.flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? ~(u64)S_IALLUGO : ~0ULL)) ||
	    ((how.flags & O_PATH) && (how.flags & ~of_path)) ||
	    (how.resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) ==
		    (RESOLVE_BENEATH | RESOLVE_IN_ROOT))
		return -EINVAL;
	if (how.resolve & RESOLVE_CACHED)
		return -EAGAIN; /* "ask again without": no walk promises not to wait */
	return open_user(dfd, name, (int)how.flags, (umode_t)how.mode, (unsigned)how.resolve);
}

struct file *filp_open(const char *from, int flags, umode_t mode)
{
	struct path_name name __free(name);
	int error = path_name_copy(&name, from);

	if (!error)
		error = check_flags(&flags);
	return error ? ERR_PTR(error) : do_open(AT_FDCWD, name.text, flags, mode, 0);
}

void file_cache_init(void)
{
	file_slab = kmem_cache_create("file", sizeof(struct file), 8, 0, NULL);
}
