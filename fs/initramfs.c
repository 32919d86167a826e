/*
 * initramfs.c - unpack the initial RAM disk, a cpio archive in "newc" form, into the root file
 * system.
 *
 * Used with root=tmpfs. Every object is made through the ordinary calls on kernel paths, so an
 * archive can do no more than a program could; a damaged archive ends with a message and -EINVAL,
 * with what came before the damage in place. Hard links: the archive's link groups (same inode,
 * count above one) become one file each when the data come with the last name, as cpio and its
 * relatives write them.
 */
#include "fs/initramfs.h"

#include "fs/internal.h"

#define CPIO_MAGIC "070701"
#define CPIO_HEADER 110
#define CPIO_TRAILER "TRAILER!!!"
/* The fields of a newc header, eight hexadecimal digits each, in this order after the magic. */
struct cpio_entry {
	u32 ino, mode, uid, gid, nlink, mtime, size, major, minor, rdev_major, rdev_minor;
	u32 name_size, check;
	const char *name;
	const char *data;
};
#define CPIO_FIELDS 13

/* First name seen of a link group, by archive inode number; in the archive, which outlives us. */
struct cpio_link {
	u32 ino;
	const char *name;
	struct cpio_link *next;
};

struct unpacker {
	const char *at, *end;
	struct cpio_link *links;
};

/* Read the entry at unpacker->at and step past it; false: damaged or truncated. */
static bool next_entry(struct unpacker *unpacker, struct cpio_entry *entry)
{
	size_t left = (size_t)(unpacker->end - unpacker->at), name_end, data_end;
	static const char hexadecimal[] = "0123456789abcdef";
	const char *digit;

	if (left < CPIO_HEADER || memcmp(unpacker->at, CPIO_MAGIC, 6))
		return false;
	for (int i = 0; i < 8 * CPIO_FIELDS; i++) {
		digit = strchr(hexadecimal, unpacker->at[6 + i] | 32);
		if (!digit)
			return false;
		(&entry->ino)[i / 8] = (&entry->ino)[i / 8] << 4 | (u32)(digit - hexadecimal);
	}
	name_end = round_up((size_t)CPIO_HEADER + entry->name_size, 4);
	data_end = name_end + entry->size;
	if (!entry->name_size || data_end > left)
		return false;
	entry->name = unpacker->at + CPIO_HEADER;
	entry->data = unpacker->at + name_end;
	unpacker->at += min(round_up(data_end, 4), left);
	return !entry->name[entry->name_size - 1];
}

static int make_regular(const struct cpio_entry *entry)
{
	struct io io = {.base = (void *)entry->data, .length = entry->size};
	struct file *file = filp_open(entry->name, O_WRONLY | O_CREAT, 0600);
	loff_t position = 0;
	ssize_t written = 1;

	if (IS_ERR(file))
		return (int)PTR_ERR(file);
	while (io.length && written > 0)
		written = vfs_write(file, &io, &position);
	fput(file);
	return written < 0 ? (int)written : io.length ? -EIO : 0;
}

/* A directory, node, or symbolic link, whose text needs an end. */
static int make_other(const struct cpio_entry *entry)
{
	/* eight readable bytes behind it */
	char *target __free(kfree) = kzalloc((size_t)entry->size + 9, GFP_KERNEL);
	struct new_name new = {.mode = entry->mode,
			       .rdev = MKDEV(entry->rdev_major, entry->rdev_minor),
			       .target = target};

	if (!target)
		return -ENOMEM;
	memcpy(target, entry->data, entry->size);
	int error = make_name(AT_FDCWD, entry->name, &new, true);
	return error == -EEXIST && S_ISDIR(entry->mode) ? 0 : error;
}

static int set_attributes(const struct cpio_entry *entry)
{
	struct iattr attr = {
		.valid = ATTR_UID | ATTR_GID | ATTR_MTIME | ATTR_MTIME_SET,
		.uid = entry->uid,
		.gid = entry->gid,
		.mtime = {.tv_sec = entry->mtime},
	};
	struct path path;
	int error = kern_path(entry->name, 0, &path);

	if (error)
		return error;
	error = vfs_setattr(&path, &attr);
	if (!error && !S_ISLNK(entry->mode)) {
		attr.valid = ATTR_MODE; /* after the owner: a change of owner clears set-id bits */
		attr.mode = entry->mode & 07777;
		error = vfs_setattr(&path, &attr);
	}
	path_put(&path);
	return error;
}

/* The file that the entry is another name of, or NULL after its name has been noted. */
static const char *linked_name(struct unpacker *unpacker, const struct cpio_entry *entry)
{
	struct cpio_link *link = unpacker->links;

	if (entry->nlink < 2 || !S_ISREG(entry->mode))
		return NULL;
	while (link && link->ino != entry->ino)
		link = link->next;
	if (link)
		return link->name;
	link = kmalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return ERR_PTR(-ENOMEM);
	*link = (struct cpio_link){entry->ino, entry->name, unpacker->links};
	unpacker->links = link;
	return NULL;
}

static int make_entry(struct unpacker *unpacker, const struct cpio_entry *entry)
{
	const char *other = linked_name(unpacker, entry);
	int error;

	if (IS_ERR(other))
		return (int)PTR_ERR(other);
	if (other) {
		struct path old __free(path) = {0};
		struct new_name new = {.old = &old};

		TRY(kern_path(other, 0, &old));
		TRY(make_name(AT_FDCWD, entry->name, &new, true));
		return entry->size ? make_regular(entry) : 0;
	}
	error = S_ISREG(entry->mode) ? make_regular(entry) : make_other(entry);
	return error ? error : set_attributes(entry);
}

int initramfs_unpack(const void *archive, size_t size)
{
	struct unpacker unpacker = {archive, (const char *)archive + size, NULL};
	struct cpio_entry entry;
	unsigned made = 0;
	int error = 0;

	for (; !error; made++) {
		if (!next_entry(&unpacker, &entry)) {
			pr_err("initramfs: damaged cpio archive after %u entries\n", made);
			error = -EINVAL;
		} else if (!strcmp(entry.name, CPIO_TRAILER)) {
			break;
		} else if (strcmp(entry.name, ".")) {
			error = make_entry(&unpacker, &entry);
			if (error)
				pr_err("initramfs: %s: error %d\n", entry.name, error);
		}
	}
	for (struct cpio_link *link = unpacker.links, *next; link; link = next) {
		next = link->next;
		kfree(link);
	}
	return error;
}
