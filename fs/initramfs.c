/*
 * initramfs.c - unpack the initial RAM disk, a cpio archive in "newc" form, into the root file
 * system.
 *
 * Used with root=tmpfs. Every object is made through the ordinary calls on kernel paths, so an
 * archive can do no more than a program could; a damaged archive ends with a message and -EINVAL,
 * with what came before the damage in place. A file with several names is refused: its data come
 * with one of them.
 */
#include "fs/file/open.h"
#include "fs/initramfs.h"
#include "fs/inode/attributes.h"
#include "fs/path/namei.h"
#include "core/memory/slab.h"

#define CPIO_MAGIC "070701"
#define CPIO_HEADER 110
#define CPIO_FIELDS 13

/* The fields of a newc header, eight hexadecimal digits each, in this order after the magic. */
struct cpio_entry {
	u32 ino, mode, uid, gid, nlink, mtime, size, major, minor, rdev_major, rdev_minor;
	u32 name_size, check;
	const char *name, *data;
};

/* Read the entry at *@at and step past it; false: damaged or truncated. */
static bool next_entry(const char **at, const char *end, struct cpio_entry *entry)
{
	size_t left = (size_t)(end - *at);

	if (left < CPIO_HEADER || memcmp(*at, CPIO_MAGIC, 6))
		return false;
	for (int i = 0; i < 8 * CPIO_FIELDS; i++) {
		char digit = (*at)[6 + i] | 32;
		u32 value = (u32)(digit <= '9' ? digit - '0' : digit - 'a' + 10);

		if (value > 15)
			return false;
		(&entry->ino)[i / 8] = (&entry->ino)[i / 8] << 4 | value;
	}
	size_t name_end = round_up((size_t)CPIO_HEADER + entry->name_size, 4);
	size_t data_end = name_end + entry->size;

	if (!entry->name_size || data_end > left)
		return false;
	entry->name = *at + CPIO_HEADER;
	entry->data = *at + name_end;
	*at += min(round_up(data_end, 4), left);
	return !entry->name[entry->name_size - 1];
}

static int make_regular(const struct cpio_entry *entry)
{
	struct io io = {.base = (void *)entry->data, .length = entry->size};
	u32 flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK; /* it may be there */
	struct file *file = TRY_PTR(filp_open(entry->name, flags, 0600));
	ssize_t written = S_ISREG(file->inode->mode) ? 1 : -EEXIST;
	loff_t position = 0;

	while (io.length && written > 0)
		written = vfs_write(file, &io, &position);
	fput(file);
	if (written < 0)
		return (int)written;
	return io.length ? -EIO : 0;
}

/* A directory, node, or symbolic link, whose text needs an end. */
static int make_other(const struct cpio_entry *entry)
{
	/* eight readable bytes behind it */
	char *target __free(kfree) = TRY_PTR(kzalloc((size_t)entry->size + 9, GFP_KERNEL));
	struct new_name new = {.mode = entry->mode,
			       .rdev = MKDEV(entry->rdev_major, entry->rdev_minor),
			       .target = target};
	struct path path __free(path) = {};

	memcpy(target, entry->data, entry->size);
	TRY(path_lookup(AT_FDCWD, entry->name, LOOKUP_EXCLUSIVE, &new, &path));
	if (new.made || (S_ISDIR(entry->mode) && S_ISDIR(path.dentry->inode->mode)))
		return 0;
	return -EEXIST;
}

static int make_entry(const struct cpio_entry *entry)
{
	struct path path __free(path) = {};

	if (S_ISREG(entry->mode) && entry->nlink > 1)
		return -EMLINK;
	if (S_ISREG(entry->mode))
		TRY(make_regular(entry));
	else
		TRY(make_other(entry));
	TRY(kern_path(entry->name, 0, &path));
	path.dentry->inode->mtime = (struct timespec64){.tv_sec = entry->mtime};
	TRY(vfs_chown(&path, entry->uid, entry->gid));
	/* after the owner: a change of owner clears set-id bits */
	if (S_ISLNK(entry->mode))
		return 0;
	return vfs_chmod(&path, entry->mode);
}

int initramfs_unpack(const void *start, size_t size)
{
	const char *at = start, *end = at + size;
	struct cpio_entry entry;

	while (next_entry(&at, end, &entry)) {
		if (!strcmp(entry.name, "TRAILER!!!"))
			return 0;
		int error = strcmp(entry.name, ".") ? make_entry(&entry) : 0;

		if (error) {
			pr_err("initramfs: %s: error %d\n", entry.name, error);
			return error;
		}
	}
	pr_err("initramfs: damaged cpio archive at byte %zu\n", (size_t)(at - (const char *)start));
	return -EINVAL;
}
