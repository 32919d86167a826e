/*
 * readdir.c - getdents64: a directory's entries, packed into the program's buffer.
 *
 * Entries are built in the program's memory one by one. The position after an entry is known only
 * when the file system goes on to the next, so it is filled into an entry when its successor, or
 * the end, has come.
 */
#include "fs/internal.h"

/* As getdents64(2) gives it; the name is as long as it needs, so @bytes are less. */
struct entry {
	u64 ino;
	s64 next; /* position of the next entry */
	u16 bytes;
	u8 type;
	char name[NAME_MAX + 1 + 8];
};

struct getdents {
	struct dir_context context; /* first: emit() is given this */
	char *at;		    /* user memory: where the next entry goes */
	char *previous;		    /* the entry whose d_off is to be filled in; NULL: none */
	unsigned left;
	int error;
};

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
	int error = file->fop->iterate(file, &out.context);
	file->position = out.context.position;
	touch_atime(file);
	if (!out.previous)
		return error < 0 ? error : out.error;
	return put_user(out.context.position, (s64 *)(out.previous + 8)) ? -EFAULT
									 : (s64)(count - out.left);
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
