/*
 * mapped.c - open files as mm/ sees them: what may be mapped how, and what mapping one does to it.
 * The operations of mm/space/mapped_file.h.
 */
#include "mm/space/mapped_file.h"

#include "fs/file/file.h"
#include "fs/regular/file_io.h"
#include "fs/inode/times.h"
#include "fs/path/mount.h"
#include "fs/path/super.h"
#include "mm/space/vm.h"

static bool on_noexec(const struct file *file)
{
	return (file->path.mount->flags | file->inode->sb->flags) & SB_NOEXEC;
}

/* Would programs write to @file through an area with these flags, who may not? */
static bool writes_unasked(const struct file *file, unsigned flags)
{
	return flags & VM_SHARED && flags & VM_WRITE && !(file->mode & FMODE_WRITE);
}

static int map_file(struct file *file, unsigned flags, struct address_space **mapping)
{
	if (!(file->mode & FMODE_READ) || writes_unasked(file, flags))
		return -EACCES;
	if (flags & VM_SHARED && file->mode & FMODE_WRITE && file->inode->attributes & FS_APPEND_FL)
		return -EACCES; /* it could be made writable later */
	if (flags & VM_EXEC && on_noexec(file))
		return -EPERM;
	if (file->fop->mmap == NOT_MAPPED)
		return -ENODEV;
	if (flags & VM_GROWSDOWN)
		return -EINVAL;
	*mapping = NULL;
	if (file->fop->mmap == MAPPED_PAGES) {
		*mapping = &file->inode->data;
		touch_atime(file);
	}
	return 0;
}

static int protect_file(struct file *file, unsigned flags)
{
	if (writes_unasked(file, flags))
		return -EACCES;
	if (flags & VM_EXEC && on_noexec(file))
		return -EACCES;
	return 0;
}

static void stored(struct file *file)
{
	file_update_time(file->inode);
}

static int sync_file(struct file *file)
{
	return vfs_fsync(file, true);
}

void mapped_files_init(void)
{
	static const struct mapped_file_operations operations = {
		.get = get_file,
		.put = fput,
		.map = map_file,
		.protect = protect_file,
		.read_page = page_cache_get,
		.stored = stored,
		.sync = sync_file,
	};

	mapped_files = &operations;
}
