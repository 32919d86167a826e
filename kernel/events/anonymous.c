/*
 * anonymous.c - files that no directory knows and that have operations of their own. See events.h.
 *
 * Each has an inode of the nameless tmpfs, of no type, as Linux shows them. It can be reached
 * through /proc/PID/fd, but to open it a second time would be to share what belongs to the file.
 */
#include "kernel/events/events.h"
#include "fs/tmpfs/tmpfs.h"

static int no_second_open(struct inode *inode, struct file *file)
{
	return -ENXIO;
}

static const struct file_operations opened_once = {.open = no_second_open};

struct file *anonymous_file(const char *name, const struct file_operations *fop, void *private,
			    u32 flags)
{
	struct path path __free(path) = {0};
	int error = tmpfs_nameless(0600, &path);

	if (error)
		return ERR_PTR(error);
	struct inode *inode = path.dentry->inode;
	inode->private = (void *)name;
	inode->fop = fop; /* which have no open */
	struct file *file = file_open_path(&path, flags & (O_ACCMODE | O_NONBLOCK));
	inode->fop = &opened_once;
	if (!IS_ERR(file))
		file->private = private;
	return file;
}
