/*
 * xattr.c - extended attributes, in a block of their own. See ext2.h.
 *
 * The block begins with a header; entries follow it, in order of prefix, length of name and name,
 * up to four zero bytes; their values fill the block from its end. Each call makes a list of it
 * (fs/xattr.c), and a change makes a new block of the list, so that a power cut leaves the old ones
 * or the new ones. A block may be shared by inodes (a refcount in the header, made by other
 * systems).
 */
#include "fs/ext2/ext2.h"

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

/* By number. Those that are no name's beginning here are access lists, which are kept as they are.
 */
static const char *const prefixes[] = {"",
				       "user.",
				       "system.posix_acl_access",
				       "system.posix_acl_default",
				       "trusted.",
				       "lustre.",
				       "security.",
				       "system."};

static size_t entry_size(size_t name_length)
{
	return round_up(sizeof(struct xattr_entry) + name_length, 4);
}

/* @name without its prefix, whose number is *@prefix. */
static const char *split_name(const char *name, unsigned *prefix)
{
	*prefix = 1;
	while (*prefix < ARRAY_SIZE(prefixes) - 1 &&
	       strncmp(name, prefixes[*prefix], strlen(prefixes[*prefix])))
		++*prefix;
	return name + strlen(prefixes[*prefix]);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int add_entry(struct ext2_fs *fs, struct xattr **list, const struct buffer *buffer,
		     const struct xattr_entry *entry)
{
	size_t at = (size_t)((const char *)entry - (const char *)buffer->data), size = buffer->size;
	char name[32 + 256];

	if (at + entry_size(entry->name_length) + 4 > size || entry->value_block ||
	    entry->value_size > size || entry->value_offset + entry->value_size > size ||
	    !entry->prefix || entry->prefix >= ARRAY_SIZE(prefixes))
		return ext2_error(fs, "bad attributes in block", buffer->block);
	snprintf(name, sizeof(name), "%s%.*s", prefixes[entry->prefix], entry->name_length,
		 entry->name);
	return xattr_set(list, name, buffer->data + entry->value_offset, entry->value_size, 0);
}

/* The buffer of the inode's attributes, checked, or NULL: it has none; ERR_PTR. */
static struct buffer *get_block(struct inode *inode, bool patient)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	u32 block = EXT2_I(inode)->attribute_block;
	struct buffer *buffer = block ? ext2_bread(fs, block, patient) : NULL;

	if (IS_ERR_OR_NULL(buffer))
		return buffer;
	const struct xattr_header *header = buffer->data;
	if (header->magic == XATTR_MAGIC && header->blocks == 1)
		return buffer;
	brelse(buffer);
	return ERR_PTR(ext2_error(fs, "no attributes are in block", block));
}

int ext2_load_xattrs(struct inode *inode, struct xattr **list)
{
	struct buffer *buffer __free(buffer) = get_block(inode, false);

	if (IS_ERR_OR_NULL(buffer))
		return PTR_ERR_OR_ZERO(buffer);
	const struct xattr_entry *entry = buffer->data + sizeof(struct xattr_header);
	for (; *(const u32 *)entry; entry = (const void *)entry + entry_size(entry->name_length))
		TRY(add_entry(EXT2_FS(inode->sb), list, buffer, entry));
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* < 0, > 0: the order of the two on the disk. */
static int compare(const struct xattr *a, const struct xattr *b)
{
	unsigned prefix_a, prefix_b;
	const char *name_a = split_name(a->name, &prefix_a);
	const char *name_b = split_name(b->name, &prefix_b);
	int length = (int)strlen(name_a) - (int)strlen(name_b);

	if (prefix_a != prefix_b)
		return (int)prefix_a - (int)prefix_b;
	return length ? length : strcmp(name_a, name_b);
}

/* The next of the list behind @last in that order, or NULL. */
static const struct xattr *next_in_order(const struct xattr *list, const struct xattr *last)
{
	const struct xattr *found = NULL;

	for (; list; list = list->next)
		if ((!last || compare(list, last) > 0) && (!found || compare(list, found) < 0))
			found = list;
	return found;
}

static u32 rotate(u32 value, unsigned by)
{
	return value << by | value >> (32 - by);
}

/* Make @block, which is zeroes, of the list: 0, or -ENOSPC. The hash functions are the format's. */
static int make_block(char *block, size_t size, const struct xattr *list)
{
	struct xattr_header *header = (void *)block;
	char *at = (char *)(header + 1), *value = block + size;
	const struct xattr *xattr = NULL;

	*header = (struct xattr_header){.magic = XATTR_MAGIC, .refcount = 1, .blocks = 1};
	while ((xattr = next_in_order(list, xattr)) != NULL) {
		struct xattr_entry *entry = (void *)at;
		size_t room = round_up(xattr->size, 4);
		unsigned prefix;
		const char *name = split_name(xattr->name, &prefix);
		size_t length = strlen(name);

		if ((size_t)(value - at) < entry_size(length) + room + 4)
			return -ENOSPC;
		value -= room;
		memcpy(value, xattr->value, xattr->size);
		memcpy(entry->name, name, length);
		entry->name_length = (u8)length;
		entry->prefix = (u8)prefix;
		entry->value_offset = room ? (u16)(value - block) : 0;
		entry->value_size = (u32)xattr->size;
		for (size_t i = 0; i < length; i++)
			entry->hash = rotate(entry->hash, 5) ^ (u8)name[i];
		for (size_t i = 0; i < room; i += 4)
			entry->hash = rotate(entry->hash, 16) ^ *(u32 *)(value + i);
		header->hash = rotate(header->hash, 16) ^ entry->hash;
		at += entry_size(length);
	}
	return 0;
}

/* @block, in @buffer, is one inode's less: freed with the last. */
static void drop_block(struct inode *inode, struct buffer *buffer, struct ext2_gone *gone)
{
	struct xattr_header *header = buffer->data;
	u32 block = (u32)buffer->block;

	inode->blocks -= min(inode->blocks, (u64)inode->sb->block_size / 512);
	if (header->refcount > 1) {
		header->refcount--;
		mark_buffer_dirty(buffer);
		brelse(buffer);
	} else {
		if (ext2_stays(gone))
			brelse(buffer);
		else
			bforget(buffer);
		ext2_gather(EXT2_FS(inode->sb), gone, EXT2_BLOCKS, block, 1, false);
	}
}

/* May the attributes in @buffer be written over? Not if others have them too, and not if they are
 * on the disk, where they may not become half of the new ones. */
static bool is_own(const struct buffer *buffer)
{
	const struct xattr_header *header = buffer->data;

	return header->refcount == 1 && test_bit(B_DIRTY, &buffer->flags) &&
	       buffer->rank == RANK_FRESH;
}

int ext2_store_xattrs(struct inode *inode, struct xattr **list)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	size_t size = inode->sb->block_size;

	if (!fs->layout.revision)
		return -EOPNOTSUPP;
	char *image __free(kfree) = TRY_PTR(kzalloc(size, GFP_KERNEL));
	TRY(make_block(image, size, *list));
	struct buffer *old __free(buffer) = get_block(inode, false), *new = NULL;
	if (IS_ERR(old))
		return (int)PTR_ERR(old);
	struct ext2_inode *ei = EXT2_I(inode);
	struct ext2_gone gone;

	guard(write, &ei->map_lock);
	ext2_gone_begin(inode, &gone, false);
	if (*list) {
		new = old && is_own(old) ? old
					 : TRY_PTR(ext2_new_block(fs, ext2_group_start(inode)));
		memcpy(new->data, image, size);
		mark_buffer_ranked(new, RANK_FRESH);
	}
	smp_store_release(&ei->indirect_changes, ei->indirect_changes + 1);
	if (new == old)
		return 0;
	ei->attribute_block = new ? (u32)new->block : 0;
	ext2_forget_pointers(inode);
	if (old)
		drop_block(inode, old, &gone);
	ext2_let_go(fs, &gone);
	old = new; /* to be released */
	inode->blocks += new ? size / 512 : 0;
	return 0;
}

void ext2_gather_attributes(struct inode *inode, struct ext2_gone *gone)
{
	struct buffer *buffer = get_block(inode, true);

	EXT2_I(inode)->attribute_block = 0;
	if (!IS_ERR_OR_NULL(buffer))
		drop_block(inode, buffer, gone);
}
