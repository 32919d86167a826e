/*
 * directories.c - the calls that read a directory, and that ask and change where the task stands.
 */
#include "fs/calls/calls.h"
#include "fs/inode/times.h"
#include "core/memory/slab.h"

/* ---- getdents -------------------------------------------------------------------------------- */

/*
 * Entries are built in the program's memory one by one. The position after an entry is known only
 * when the file system goes on to the next, so it is filled into an entry when its successor, or
 * the end, has come.
 */

static bool getdents_emit(struct dir_context *context, const char *name, unsigned length, ino_t ino,
			  unsigned type)
{
	struct getdents *out = (struct getdents *)context;
	unsigned bytes = round_up(offsetof(struct entry, name) + length + 1, 8u);
	struct entry entry;

	if (unlikely(bytes > out->left || length > NAME_MAX)) {
		out->error = length > NAME_MAX ? -EIO : -EINVAL; /* if it is the first */
		return false;
	}
	entry.ino = ino;
	entry.next = 0;
	entry.bytes = (u16)bytes;
	entry.type = (u8)type;
	memcpy(entry.name, name, length);
	memset(entry.name + length, 0, 8);
	if ((out->previous && put_user(context->position, (s64 *)(out->previous + 8))) ||
	    copy_to_user(out->at, &entry, bytes)) {
		out->error = -EFAULT;
		return false;
	}
	out->previous = out->at;
	out->at += bytes;
	out->left -= bytes;
	return true;
}

s64 sys_getdents64(int number, void *buffer, u32 count)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct file *file = fd.file, *locked __free(position) = file_lock_position(file);
	struct getdents out = {{getdents_emit, file->position}, buffer, NULL, count, 0};

	if (!file->fop->iterate)
		return -ENOTDIR;
	guard(read, &file->inode->lock);
	if (is_dead(file->inode))
		return -ENOENT;
	int error = iterate_directory(file, &out);
	file->position = out.context.position;
	notify_open(file->inode, IN_ACCESS, file);
	touch_atime(file);
	if (!out.previous)
		return error < 0 ? error : out.error;
	return put_user(out.context.position, (s64 *)(out.previous + 8)) ? -EFAULT
									 : (s64)(count - out.left);
}

/* ---- where the task stands ------------------------------------------------------------------- */

/* Go to the directory that @name leads to from @dfd, as *@slot of the task's context. */
static s64 change_directory(int dfd, const char __user *name, unsigned lookup, struct path *slot)
{
	struct fs_context *fs = current->fs;
	struct path path __free(path) = {0};

	TRY(user_path_at(dfd, name, lookup, &path));
	struct inode *inode = path.dentry->inode;
	if (!S_ISDIR(inode->mode))
		return -ENOTDIR;
	TRY(inode_permission(inode, MAY_EXEC));
	if (slot == &fs->root && !capable(current->cred))
		return -EPERM;
	guard(spinlock, &fs->lock);
	struct path old = *slot;
	write_seqcount_begin(&fs->sequence);
	WRITE_ONCE(slot->mount, path.mount);
	WRITE_ONCE(slot->dentry, path.dentry);
	write_seqcount_end(&fs->sequence);
	path = old; /* let go once the lock is */
	return 0;
}

s64 sys_chdir(const char *name)
{
	return change_directory(AT_FDCWD, name, LOOKUP_FOLLOW, &current->fs->cwd);
}

s64 sys_fchdir(int fd)
{
	return change_directory(fd, NULL, LOOKUP_FD_PATH, &current->fs->cwd);
}

s64 sys_chroot(const char *name)
{
	return change_directory(AT_FDCWD, name, LOOKUP_FOLLOW, &current->fs->root);
}

/* A directory that was removed has no path: -ENOENT. */
s64 sys_getcwd(char *buffer, size_t size)
{
	char *page __free(kfree) = TRY_PTR(kmalloc(PAGE_SIZE, GFP_KERNEL));
	struct path root __free(path), cwd __free(path);

	context_path(&root, current->fs, &current->fs->root);
	context_path(&cwd, current->fs, &current->fs->cwd);
	if (d_unlinked(cwd.dentry))
		return -ENOENT;
	char *text = TRY_PTR(d_path(&cwd, &root, page, PAGE_SIZE));
	size_t length = (size_t)(page + PAGE_SIZE - text);
	if (length > size)
		return -ERANGE;
	return copy_to_user(buffer, text, length) ? -EFAULT : (s64)length;
}
