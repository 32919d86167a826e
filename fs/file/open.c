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

static noinline void file_release(struct file *file)
{
	struct inode *inode = file->inode;

	if (file->fop->release)
		file->fop->release(file);
	if (unlikely(inode->locks != NULL))
		locks_remove(inode, file);
	if ((file->mode & FMODE_WRITE) && S_ISREG(inode->mode)) {
		put_write_access(inode);
		atomic_dec(&file->path.mount->writers);
	}
	if (file->mode & FMODE_EXEC)
		allow_write_access(inode);
	path_put(&file->path);
	kmem_cache_free(file_slab, file);
	atomic_dec(&open_files);
}

void fput(struct file *file)
{
	might_lock(&mount_mutex); /* the last file on a mount that was taken away unmounts it */
	if (atomic_dec_return(&file->refcount) == 0)
		file_release(file);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A file open on @path, which keeps its own references. Permission was checked. */
struct file *file_open_path(const struct path *path, u32 flags)
{
	struct inode *inode = path->dentry->inode;
	bool room = atomic_inc_return(&open_files) <= OPEN_FILES_MAX;
	struct file *file = likely(room) ? kmem_cache_alloc(file_slab, GFP_KERNEL) : NULL;
	int error = 0;

	if (unlikely(!file)) {
		atomic_dec(&open_files);
		return ERR_PTR(room ? -ENOMEM : -ENFILE);
	}
	*file = (struct file){
		.fop = flags & O_PATH ? &bad_file_operations : inode->fop,
		.inode = inode,
		.refcount = ATOMIC_INIT(1),
		.flags = flags & (u32)KEPT_FLAGS,
		/* O_RDONLY, O_WRONLY and O_RDWR are FMODE_READ, FMODE_WRITE and both, less one */
		.mode = flags & O_PATH ? FMODE_PATH : (flags + 1) & O_ACCMODE,
		.path = *path,
	};
	mutex_init(&file->position_lock, "file->position_lock");
	path_get(path);
	if ((file->mode & FMODE_WRITE) && S_ISREG(inode->mode)) {
		error = get_write_access(inode);
		if (likely(!error))
			atomic_inc(&path->mount->writers);
		else
			file->mode = 0;
	}
	if (likely(!error) && file->fop->open)
		error = file->fop->open(inode, file);
	if (likely(!error))
		return file;
	file->fop = &bad_file_operations; /* not open, so not to be released */
	fput(file);
	return ERR_PTR(error);
}

/* May what @path leads to be opened so? */
static int may_open(const struct path *path, int flags)
{
	static const u8 masks[4] = {MAY_READ, MAY_WRITE, MAY_READ | MAY_WRITE,
				    MAY_READ | MAY_WRITE};
	struct inode *inode = path->dentry->inode;
	umode_t mode = inode->mode;
	int mask = masks[flags & O_ACCMODE] | (flags & O_TRUNC ? MAY_WRITE : 0);

	if (S_ISLNK(mode))
		return -ELOOP;
	if (S_ISDIR(mode) && (mask & MAY_WRITE))
		return -EISDIR;
	if ((S_ISBLK(mode) || S_ISCHR(mode)) &&
	    ((path->mount->flags | inode->sb->flags) & SB_NODEV))
		return -EACCES;
	if ((flags & O_TRUNC) && S_ISREG(mode))
		TRY(mount_writable(path->mount));
	TRY(inode_permission(inode, mask));
	if ((flags & O_NOATIME) && current->cred->euid != inode->uid && current->cred->euid != 0)
		return -EPERM;
	return (mask & MAY_WRITE) && S_ISREG(mode) ? mount_writable(path->mount) : 0;
}

/* 0 and an open file in *@opened. */
static int do_open(int dfd, const char *name, int flags, umode_t mode, struct file **opened)
{
	bool exclusive = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	unsigned lookup = exclusive || (flags & O_NOFOLLOW) ? 0 : LOOKUP_FOLLOW;
	struct new_name new = {.mode = (mode & S_IALLUGO) | S_IFREG};
	struct path path __free(path) = {0};

	TRY(path_lookup(dfd, name, lookup, flags & O_CREAT ? &new : NULL, NULL, &path));
	struct inode *inode = path.dentry->inode;
	if (!new.made && (flags & O_CREAT) && ((flags & O_EXCL) || S_ISDIR(inode->mode)))
		return flags & O_EXCL ? -EEXIST : -EISDIR;
	if ((flags & O_DIRECTORY) && !S_ISDIR(inode->mode))
		return -ENOTDIR;
	if (!new.made && !(flags & O_PATH))
		TRY(may_open(&path, flags));
	struct file *file __free(fput) = TRY_PTR(file_open_path(&path, (u32)flags));
	if (!new.made && (flags & O_TRUNC) && S_ISREG(inode->mode))
		TRY(do_truncate(inode, 0, true));
	*opened = file;
	file = NULL;
	return 0;
}

s64 sys_openat(int dfd, const char *from, int flags, umode_t mode)
{
	struct path_name name __free(name); /* not cleared: it is large */

	TRY(path_name_get(&name, from));
	flags &= OPEN_FLAGS;
	if (flags & O_TMPFILE & ~O_DIRECTORY)
		return -EOPNOTSUPP;
	if (flags & O_PATH)
		flags &= O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC;
	if ((flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY))
		return -EINVAL;
	TRY(fd_room());
	struct file *file;
	TRY(do_open(dfd, name.text, flags, mode, &file));
	return fd_add(file, 0, flags & O_CLOEXEC);
}

/* Unlike openat(2), what is not known or makes no sense is an error. */
s64 sys_openat2(int dfd, const char *name, const void *user_how, size_t size)
{
	const u64 of_path = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct {
		u64 flags, mode, resolve;
	} how;

	if (size != sizeof(how))
		return size < sizeof(how) ? -EINVAL : -E2BIG;
	TRY(read_user(&how, user_how, sizeof(how)));
	if ((how.flags & ~(u64)OPEN_FLAGS) || how.resolve ||
	    how.mode & (how.flags & O_CREAT ? ~(u64)S_IALLUGO : ~0ULL) ||
	    (how.flags & O_PATH && how.flags & ~of_path))
		return -EINVAL;
	return sys_openat(dfd, name, (int)how.flags, (umode_t)how.mode);
}

struct file *filp_open(const char *name, int flags, umode_t mode)
{
	struct file *file = NULL;
	int error = do_open(AT_FDCWD, name, flags, mode, &file);

	return error ? ERR_PTR(error) : file;
}

void file_cache_init(void)
{
	file_slab = kmem_cache_create("file", sizeof(struct file), 8, 0);
}
