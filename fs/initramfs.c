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

#include "fs/vfs.h"
#include "kernel/core/printk.h"
#include "kernel/core/string.h"
#include "mm/slab.h"

#define CPIO_MAGIC "070701"
#define CPIO_HEADER 110
#define CPIO_TRAILER "TRAILER!!!"
#define LINK_SLOTS 256

/* The fields of a newc header, eight hexadecimal digits each, in this order after the magic. */
enum cpio_field {
	CPIO_INO,
	CPIO_MODE,
	CPIO_UID,
	CPIO_GID,
	CPIO_NLINK,
	CPIO_MTIME,
	CPIO_FILESIZE,
	CPIO_DEVMAJOR,
	CPIO_DEVMINOR,
	CPIO_RDEVMAJOR,
	CPIO_RDEVMINOR,
	CPIO_NAMESIZE,
	CPIO_CHECK,
	CPIO_FIELDS
};

struct cpio_entry {
	u32 field[CPIO_FIELDS];
	const char *name;
	const char *data;
};

/* First name seen of a link group, by archive inode number. */
struct cpio_link {
	u32 ino;
	const char *name;
	struct cpio_link *next;
};

struct unpacker {
	const char *at, *end;
	struct cpio_link *links[LINK_SLOTS];
};

static bool parse_hex8(const char *text, u32 *value)
{
	*value = 0;
	for (int i = 0; i < 8; i++) {
		char c = text[i];
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (unsigned)((c | 32) - 'a') + 10;
		else
			return false;
		*value = *value << 4 | digit;
	}
	return true;
}

/* Read the entry at unpacker->at and step past it; false: damaged or truncated. */
static bool next_entry(struct unpacker *unpacker, struct cpio_entry *entry)
{
	size_t left = (size_t)(unpacker->end - unpacker->at);
	size_t name_end, data_end;

	if (left < CPIO_HEADER || memcmp(unpacker->at, CPIO_MAGIC, 6))
		return false;
	for (int i = 0; i < CPIO_FIELDS; i++)
		if (!parse_hex8(unpacker->at + 6 + 8 * i, &entry->field[i]))
			return false;
	name_end = round_up((size_t)CPIO_HEADER + entry->field[CPIO_NAMESIZE], 4);
	data_end = round_up(name_end + entry->field[CPIO_FILESIZE], 4);
	if (!entry->field[CPIO_NAMESIZE] || data_end > left + 3 ||
	    name_end + entry->field[CPIO_FILESIZE] > left)
		return false;
	entry->name = unpacker->at + CPIO_HEADER;
	if (entry->name[entry->field[CPIO_NAMESIZE] - 1])
		return false;
	entry->data = unpacker->at + name_end;
	unpacker->at += min(data_end, left);
	return true;
}

static int write_data(struct file *file, const char *data, size_t length)
{
	struct io io = {.base = (void *)data, .length = length, .user = false};
	loff_t position = 0;

	while (io.length) {
		ssize_t written = vfs_write(file, &io, &position);

		if (written <= 0)
			return written ? (int)written : -EIO;
	}
	return 0;
}

static int make_regular(const struct cpio_entry *entry)
{
	struct file *file = filp_open(entry->name, O_WRONLY | O_CREAT, 0600);
	int error;

	if (IS_ERR(file))
		return (int)PTR_ERR(file);
	error = write_data(file, entry->data, entry->field[CPIO_FILESIZE]);
	fput(file);
	return error;
}

static int make_symlink(const struct cpio_entry *entry)
{
	size_t length = entry->field[CPIO_FILESIZE];
	char *target = kmalloc(length + 1, GFP_KERNEL);
	int error;

	if (!target)
		return -ENOMEM;
	memcpy(target, entry->data, length);
	target[length] = 0;
	error = kern_make(entry->name, S_IFLNK | 0777, 0, target);
	kfree(target);
	return error;
}

static int set_attributes(const struct cpio_entry *entry)
{
	struct iattr attr = {
		.valid = ATTR_UID | ATTR_GID | ATTR_MTIME | ATTR_MTIME_SET,
		.uid = entry->field[CPIO_UID],
		.gid = entry->field[CPIO_GID],
		.mtime = {.tv_sec = entry->field[CPIO_MTIME]},
	};
	struct path path;
	int error = kern_path(entry->name, 0, &path);

	if (error)
		return error;
	error = vfs_setattr(&path, &attr);
	if (!error && !S_ISLNK(entry->field[CPIO_MODE])) {
		attr.valid = ATTR_MODE; /* after the owner: a change of owner clears set-id bits */
		attr.mode = entry->field[CPIO_MODE] & 07777;
		error = vfs_setattr(&path, &attr);
	}
	path_put(&path);
	return error;
}

/* If the entry is another name of a file already made, link it. 0: linked; 1: not a link; -errno.
 */
static int try_link(struct unpacker *unpacker, const struct cpio_entry *entry)
{
	u32 ino = entry->field[CPIO_INO];
	struct cpio_link **slot = &unpacker->links[ino % LINK_SLOTS];
	struct cpio_link *link;

	if (entry->field[CPIO_NLINK] < 2 || !S_ISREG(entry->field[CPIO_MODE]))
		return 1;
	for (link = *slot; link; link = link->next)
		if (link->ino == ino)
			return kern_link(link->name, entry->name);
	link = kmalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return -ENOMEM;
	link->ino = ino;
	link->name = entry->name; /* in the archive, which outlives us */
	link->next = *slot;
	*slot = link;
	return 1;
}

static int make_entry(struct unpacker *unpacker, const struct cpio_entry *entry)
{
	u32 mode = entry->field[CPIO_MODE];
	int error = try_link(unpacker, entry);

	if (error <= 0)
		return error || !entry->field[CPIO_FILESIZE] ? error : make_regular(entry);
	if (S_ISREG(mode))
		error = make_regular(entry);
	else if (S_ISDIR(mode))
		error = kern_make(entry->name, S_IFDIR | 0700, 0, "");
	else if (S_ISLNK(mode))
		error = make_symlink(entry);
	else
		error = kern_make(entry->name, mode,
				  MKDEV(entry->field[CPIO_RDEVMAJOR], entry->field[CPIO_RDEVMINOR]),
				  "");
	if (error == -EEXIST && S_ISDIR(mode))
		error = 0;
	return error ? error : set_attributes(entry);
}

static void free_links(struct unpacker *unpacker)
{
	for (int i = 0; i < LINK_SLOTS; i++) {
		struct cpio_link *next;

		for (struct cpio_link *link = unpacker->links[i]; link; link = next) {
			next = link->next;
			kfree(link);
		}
	}
}

int initramfs_unpack(const void *archive, size_t size)
{
	struct unpacker *unpacker = kzalloc(sizeof(*unpacker), GFP_KERNEL);
	struct cpio_entry entry;
	unsigned made = 0;
	int error = 0;

	if (!unpacker)
		return -ENOMEM;
	unpacker->at = archive;
	unpacker->end = unpacker->at + size;
	while (!error) {
		if (!next_entry(unpacker, &entry)) {
			pr_err("initramfs: damaged cpio archive after %u entries\n", made);
			error = -EINVAL;
			break;
		}
		if (!strcmp(entry.name, CPIO_TRAILER))
			break;
		if (!strcmp(entry.name, "."))
			continue;
		error = make_entry(unpacker, &entry);
		if (error)
			pr_err("initramfs: %s: error %d\n", entry.name, error);
		made++;
	}
	free_links(unpacker);
	kfree(unpacker);
	return error;
}
