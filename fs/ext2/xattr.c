/*
 * xattr.c - extended attributes, in a block of their own. See ext2.h.
 *
 * The block begins with a header; entries follow it, in order of prefix, length of name and name,
 * up to four zero bytes; their values fill the block from its end. A change makes the whole block
 * anew. A block may be shared by inodes (a refcount in the header, made by other systems): who
 * changes it takes a copy. Attributes with prefixes that are not known here stay as they are.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/string.h"
#include "mm/slab.h"

#define XATTR_MAGIC 0xea020000u

struct xattr_header {
	u32 magic, refcount, blocks, hash, reserved[4];
};

struct xattr_entry {
	u8 name_length, prefix;
	u16 value_offset;
	u32 value_block, value_size, hash;
	char name[];
};

static const char *const prefixes[] = {[1] = "user.", [4] = "trusted.", [6] = "security."};

static size_t entry_size(size_t name_length)
{
	return round_up(sizeof(struct xattr_entry) + name_length, 4);
}

static struct xattr_entry *first_entry(void *block)
{
	return (void *)((struct xattr_header *)block + 1);
}

static struct xattr_entry *next_entry(const struct xattr_entry *entry)
{
	return (struct xattr_entry *)((char *)entry + entry_size(entry->name_length));
}

static bool is_last(const struct xattr_entry *entry)
{
	return *(const u32 *)entry == 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool block_ok(char *block, size_t size)
{
	const struct xattr_header *header = (void *)block;
	const struct xattr_entry *entry = first_entry(block);

	if (header->magic != XATTR_MAGIC || header->blocks != 1)
		return false;
	for (; !is_last(entry); entry = next_entry(entry)) {
		if ((size_t)((char *)next_entry(entry) - block) + 4 > size || entry->value_block ||
		    entry->value_size > size || entry->value_offset + entry->value_size > size)
			return false;
	}
	return true;
}

/* The buffer of the inode's attributes, checked; NULL: it has none; ERR_PTR(-EIO, -ENOMEM). */
static struct buffer *read_attributes(struct inode *inode, bool patient)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 block = EXT2_I(inode)->attribute_block;
	struct buffer *buffer = block ? ext2_bread(fs, block, patient) : NULL;

	if (buffer == ERR_PTR(-EUCLEAN))
		return ERR_PTR(-EIO);
	if (IS_ERR_OR_NULL(buffer) || block_ok(buffer->data, buffer->size))
		return buffer;
	brelse(buffer);
	ext2_error(fs, "no attributes are in block", block);
	return ERR_PTR(-EIO);
}

/* @name without its prefix, whose number is *@prefix. */
static const char *split_name(const char *name, u8 *prefix)
{
	for (u8 i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t length = prefixes[i] ? strlen(prefixes[i]) : 0;

		if (length && !strncmp(name, prefixes[i], length)) {
			*prefix = i;
			return name + length;
		}
	}
	return NULL;
}

/* < 0, 0, > 0: the order of the attribute and the entry. */
static int compare(u8 prefix, const char *name, const struct xattr_entry *entry)
{
	size_t length = strlen(name);

	if (prefix != entry->prefix)
		return prefix - entry->prefix;
	if (length != entry->name_length)
		return (int)length - entry->name_length;
	return memcmp(name, entry->name, length);
}

static const struct xattr_entry *find(const struct buffer *buffer, u8 prefix, const char *name)
{
	const struct xattr_entry *entry;

	if (!buffer)
		return NULL;
	entry = first_entry(buffer->data);
	while (!is_last(entry) && compare(prefix, name, entry))
		entry = next_entry(entry);
	return is_last(entry) ? NULL : entry;
}

s64 ext2_getxattr(struct inode *inode, const char *name, void *value, size_t size)
{
	struct buffer *buffer = read_attributes(inode, false);
	const struct xattr_entry *entry;
	s64 result = -ENODATA;
	u8 prefix;

	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	name = split_name(name, &prefix);
	entry = name ? find(buffer, prefix, name) : NULL;
	if (entry) {
		result = entry->value_size;
		if (size && entry->value_size > size)
			result = -ERANGE;
		else if (size)
			memcpy(value, (char *)buffer->data + entry->value_offset,
			       entry->value_size);
	}
	brelse(buffer);
	return name ? result : -EOPNOTSUPP;
}

s64 ext2_listxattr(struct inode *inode, char *list, size_t size)
{
	struct buffer *buffer = read_attributes(inode, false);
	const struct xattr_entry *entry;
	size_t length = 0;

	if (IS_ERR_OR_NULL(buffer))
		return PTR_ERR(buffer);
	for (entry = first_entry(buffer->data); !is_last(entry); entry = next_entry(entry)) {
		const char *prefix =
			entry->prefix < ARRAY_SIZE(prefixes) ? prefixes[entry->prefix] : NULL;
		size_t here;

		if (!prefix || !xattr_listed(prefix))
			continue;
		here = strlen(prefix) + entry->name_length + 1u;
		if (length + here <= size)
			snprintf(list + length, here, "%s%.*s", prefix, entry->name_length,
				 entry->name);
		length += here;
	}
	brelse(buffer);
	return size && length > size ? -ERANGE : (s64)length;
}

/* ---- changing -------------------------------------------------------------------------------- */

/* A block in the making: where the next entry goes, and where the last value begins. */
struct image {
	char *block, *entry, *value;
};

static u32 rotate(u32 value, unsigned by)
{
	return value << by | value >> (32 - by);
}

/* The hash functions are the format's, of 1999. */
static u32 hash_entry(const struct xattr_entry *entry, const u32 *value)
{
	u32 hash = 0;

	for (unsigned i = 0; i < entry->name_length; i++)
		hash = rotate(hash, 5) ^ (u8)entry->name[i];
	for (u32 i = 0; i < (entry->value_size + 3) / 4; i++)
		hash = rotate(hash, 16) ^ value[i];
	return hash;
}

/* One more entry: 0, or -ENOSPC. */
static int append(struct image *image, u8 prefix, const char *name, size_t name_length,
		  const void *value, size_t size)
{
	struct xattr_entry *entry = (void *)image->entry;

	if ((size_t)(image->value - image->entry) < entry_size(name_length) + round_up(size, 4) + 4)
		return -ENOSPC;
	image->value -= round_up(size, 4);
	memcpy(image->value, value, size);
	entry->name_length = (u8)name_length;
	entry->prefix = prefix;
	entry->value_offset = size ? (u16)(image->value - image->block) : 0;
	entry->value_size = (u32)size;
	memcpy(entry->name, name, name_length);
	entry->hash = hash_entry(entry, (u32 *)image->value);
	image->entry = (char *)next_entry(entry);
	return 0;
}

/* What is to be in the block: what is in @old, but @name with @value (NULL: without it). */
static int make_image(struct image *image, const struct buffer *old, u8 prefix, const char *name,
		      const void *value, size_t size)
{
	static const struct xattr_entry none;
	const struct xattr_entry *entry = old ? first_entry(old->data) : &none;
	int error = 0, order;

	for (; !error && !is_last(entry); entry = next_entry(entry)) {
		order = compare(prefix, name, entry);
		if (order <= 0 && value) {
			error = append(image, prefix, name, strlen(name), value, size);
			value = NULL;
		}
		if (!error && order)
			error = append(image, entry->prefix, entry->name, entry->name_length,
				       (char *)old->data + entry->value_offset, entry->value_size);
	}
	if (!error && value)
		error = append(image, prefix, name, strlen(name), value, size);
	return error;
}

/* The block is one inode's less: freed with the last. Drops the buffer. */
static void drop_block(struct inode *inode, struct buffer *buffer)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct xattr_header *header = buffer->data;
	u32 block = (u32)buffer->block;

	if (header->refcount > 1) {
		header->refcount--;
		mark_buffer_dirty(buffer);
		brelse(buffer);
	} else {
		bforget(buffer);
		ext2_free(fs, EXT2_BLOCKS, block, 1, false);
	}
	inode->blocks -= min(inode->blocks, (u64)inode->sb->block_size / 512);
}

/* A block of the inode's own. */
static struct buffer *new_block(struct inode *inode)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 group = ((u32)inode->number - 1) / fs->per_group[EXT2_INODES];
	int error;
	u32 block = ext2_allocate(fs, EXT2_BLOCKS, group * fs->per_group[EXT2_BLOCKS] + 1, false,
				  &error);
	struct buffer *buffer = block ? ext2_clear_block(fs, block) : ERR_PTR(error);

	if (IS_ERR(buffer)) {
		if (block)
			ext2_free(fs, EXT2_BLOCKS, block, 1, false);
		return buffer;
	}
	EXT2_I(inode)->attribute_block = block;
	inode->blocks += inode->sb->block_size / 512;
	ext2_set_feature(fs, &fs->super->feature_compat, EXT2_COMPAT_EXT_ATTR);
	return buffer;
}

/* @image becomes what the inode has, in place of what is in @old, which is dropped. */
static int replace_block(struct inode *inode, struct buffer *old, const struct image *image)
{
	struct xattr_header *header = (void *)image->block;
	struct buffer *buffer = old;

	if (image->entry == (char *)first_entry(header)) {
		EXT2_I(inode)->attribute_block = 0;
		drop_block(inode, old);
		return 0;
	}
	header->magic = XATTR_MAGIC;
	header->refcount = header->blocks = 1;
	for (const struct xattr_entry *entry = first_entry(header); !is_last(entry);
	     entry = next_entry(entry))
		header->hash = rotate(header->hash, 16) ^ entry->hash;
	if (!old || ((struct xattr_header *)old->data)->refcount > 1) {
		buffer = new_block(inode);
		if (IS_ERR(buffer)) {
			brelse(old);
			return (int)PTR_ERR(buffer);
		}
		if (old)
			drop_block(inode, old);
	}
	memcpy(buffer->data, image->block, buffer->size);
	mark_buffer_dirty(buffer);
	brelse(buffer);
	return 0;
}

int ext2_setxattr(struct inode *inode, const char *name, const void *value, size_t size, int flags)
{
	size_t block_size = inode->sb->block_size;
	struct buffer *old = read_attributes(inode, false);
	struct image image;
	int error = 0;
	u8 prefix;

	if (IS_ERR(old))
		return (int)PTR_ERR(old);
	name = split_name(name, &prefix);
	if (!name || !EXT2_FS(inode->sb)->super->revision)
		error = -EOPNOTSUPP;
	else if (find(old, prefix, name))
		error = flags & XATTR_CREATE ? -EEXIST : 0;
	else if (!value || (flags & XATTR_REPLACE))
		error = -ENODATA;
	image.block = error ? NULL : kzalloc(block_size, GFP_KERNEL);
	if (!error && !image.block)
		error = -ENOMEM;
	if (!error) {
		image.entry = (char *)first_entry(image.block);
		image.value = image.block + block_size;
		error = make_image(&image, old, prefix, name, value, size);
	}
	if (error) {
		brelse(old);
	} else {
		down_write(&EXT2_I(inode)->map_lock);
		error = replace_block(inode, old, &image);
		up_write(&EXT2_I(inode)->map_lock);
		inode->ctime = current_time();
		mark_inode_dirty(inode);
	}
	kfree(image.block);
	return error;
}

void ext2_free_attributes(struct inode *inode)
{
	struct buffer *buffer = read_attributes(inode, true);

	if (!IS_ERR_OR_NULL(buffer))
		drop_block(inode, buffer);
	EXT2_I(inode)->attribute_block = 0;
}
