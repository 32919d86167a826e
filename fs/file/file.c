/*
 * file.c - open files: made, read and written by their own operations, let go. See file.h.
 */
#include "fs/cred.h"
#include "fs/file/locks.h"
#include "core/memory/slab.h"

static struct kmem_cache *file_slab;
struct percpu_counter open_files;

/* What F_GETFL tells: not what only mattered while opening. */
#define KEPT_FLAGS (~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC))

/* ---- made and let go ------------------------------------------------------------------------- */

void (*file_drop_watches)(struct file *file);

static void free_memory(struct rcu_head *head)
{
	kmem_cache_free(file_slab, container_of(head, struct file, rcu));
}

static noinline void file_release(struct file *file)
{
	struct inode *inode = file->inode;

	notify_open(inode, IN_CLOSE, file);
	if (unlikely(file->watches != NULL))
		file_drop_watches(file);
	if (file->fop->release)
		file->fop->release(file);
	if (unlikely(inode->locks != NULL))
		locks_remove(inode, file);
	if ((file->mode & FMODE_WRITE) && S_ISREG(READ_ONCE(inode->mode))) {
		put_write_access(inode);
		mount_drop_write(file->path.mount);
	}
	if (file->mode & FMODE_EXEC)
		allow_write_access(inode);
	path_put(&file->path);
	call_rcu(&file->rcu, free_memory);
	percpu_counter_add(&open_files, -1);
}

void fput(struct file *file)
{
	might_lock(&mount_mutex); /* the last file on a mount that was taken away unmounts it */
	if (atomic_dec_return(&file->refcount) == 0)
		file_release(file);
}

struct file *file_open_path(struct path *path, u32 flags)
{
	struct inode *inode = path->dentry->inode;
	struct file *file = kmem_cache_alloc(file_slab, GFP_KERNEL);
	int error = 0;

	if (unlikely(!file))
		return ERR_PTR(-ENOMEM);
	if (unlikely(!percpu_counter_inc(&open_files))) {
		if (!capable(current->cred)) {
			kmem_cache_free(file_slab, file);
			return ERR_PTR(-ENFILE);
		}
		percpu_counter_add(&open_files, 1); /* root can end what took them all */
	}
	atomic_set(&file->refcount, 1);
	file->fop = inode->fop;
	file->inode = inode;
	file->flags = flags & (u32)KEPT_FLAGS;
	/* O_RDONLY, O_WRONLY and O_RDWR are FMODE_READ, FMODE_WRITE and both, less one */
	file->mode = (flags + 1) & O_ACCMODE;
	file->errors_told = READ_ONCE(inode->data.errors_told);
	file->path = *path;
	file->position = 0;
	file->readahead_next = file->readahead_size = 0;
	file->private = file->watches = NULL;
	if (unlikely(flags & O_PATH)) {
		file->fop = &bad_file_operations;
		file->mode = FMODE_PATH;
	}
	mutex_init(&file->position_lock, "file->position_lock");
	path->mount = NULL;
	if ((file->mode & FMODE_WRITE) && S_ISREG(READ_ONCE(inode->mode))) {
		error = get_write_access(inode);
		if (likely(!error) && IS_ERR(mount_want_write(file->path.mount))) {
			put_write_access(inode);
			error = -EROFS;
		}
		if (unlikely(error))
			file->mode = 0;
	}
	if (likely(!error) && file->fop->open)
		error = file->fop->open(inode, file);
	file->flags &= ~(u32)O_NOCTTY;
	if (likely(!error)) {
		notify_open(inode, IN_OPEN, file);
		return file;
	}
	file->fop = &bad_file_operations; /* not open, so not to be released */
	fput(file);
	return ERR_PTR(error);
}

/* ---- used ------------------------------------------------------------------------------------ */

ssize_t kernel_read(struct file *file, void *buf, size_t n, loff_t offset)
{
	struct io io = {.base = buf, .length = n};

	return vfs_read(file, &io, &offset);
}

int vfs_fsync(struct file *file, bool data_only)
{
	struct address_space *mapping = &file->inode->data;

	if (!file->fop->fsync)
		return -EINVAL;
	int error = file->fop->fsync(file, data_only);
	int failed = smp_load_acquire(&mapping->write_errors.counter);
	if (likely(file->errors_told == failed))
		return error;
	WRITE_ONCE(file->errors_told, failed);
	WRITE_ONCE(mapping->errors_told, failed);
	return error ?: READ_ONCE(mapping->write_error);
}

struct file *__file_lock_position(struct file *file)
{
	/* The others may wait long in a read. Of them only block devices have a position, which is
	 * not locked, as on Linux. */
	if (!S_ISREG(file->inode->mode) && !S_ISDIR(file->inode->mode))
		return NULL;
	mutex_lock(&file->position_lock);
	return file;
}

bool dir_emit_dots(struct file *file, struct dir_context *context)
{
	for (; context->position < 2; context->position++) {
		bool up = context->position == 1;
		struct dentry *dentry = file->path.dentry,
			      *dir __free(dput) = up ? dget_parent(dentry) : dget(dentry);

		if (!context->emit(context, "..", up ? 2 : 1, dir->inode->number, DT_DIR))
			return false;
	}
	return true;
}

void file_cache_init(void)
{
	file_slab = kmem_cache_create("file", sizeof(struct file), 8, 0);
	percpu_counter_init(&open_files, (s64)min(OPEN_FILES_MAX, page_alloc_total_pages() / 2));
}
