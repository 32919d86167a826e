/*
 * ext2.c - extended attributes on ext2, in a block of their own. See fs/ext2/ext2.h.
 *
 * The block begins with a header; entries follow it, in order of prefix, length of name and name,
 * up to four zero bytes; their values fill the block from its end. Who changes one copies the
 * others, entry by entry, into a new block, so that a power cut leaves the old ones or the new
 * ones; each call passes over the entries once. A block may be shared by inodes (a refcount in the
 * header, made by other systems).
 */
#include "fs/ext2/ext2.h"
#include "fs/xattr/xattr.h"
#include "core/memory/slab.h"

struct xattr_entry {
	u8 name_length, prefix;
	u16 value_offset;
	u32 value_block, value_size, hash;
	char name[];
};

/* An entry that is looked for, or made: with room for the longest name. */
union xattr_key {
	struct xattr_entry entry;
	char bytes[sizeof(struct xattr_entry) + XATTR_NAME_MAX + 1];
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

/* ---- entries --------------------------------------------------------------------------------- */

/* @buffer may be NULL, as an inode's without attributes: its only entry is the end. */
static const struct xattr_entry *first_entry(const struct buffer *buffer)
{
	if (buffer)
		return buffer->data + sizeof(struct ext2_xattr_header);
	return NULL;
}

static const struct xattr_entry *next_entry(const struct xattr_entry *entry)
{
	return (const void *)entry + entry_size(entry->name_length);
}

static bool is_end(const struct xattr_entry *entry)
{
	return !entry || !*(const u32 *)entry;
}

/* @name in the form of an entry; the rest of it is zeroes. */
static void make_key(union xattr_key *key, const char *name)
{
	unsigned prefix = 1;

	while (prefix < ARRAY_SIZE(prefixes) - 1 &&
	       strncmp(name, prefixes[prefix], strlen(prefixes[prefix])))
		prefix++;
	name += strlen(prefixes[prefix]);
	*key = (union xattr_key){.entry.prefix = (u8)prefix, .entry.name_length = (u8)strlen(name)};
	memcpy(key->entry.name, name, key->entry.name_length);
}

/* < 0, > 0: the order of the two on the disk. */
static int compare(const struct xattr_entry *a, const struct xattr_entry *b)
{
	if (a->prefix != b->prefix)
		return a->prefix - b->prefix;
	if (a->name_length != b->name_length)
		return a->name_length - b->name_length;
	return memcmp(a->name, b->name, a->name_length);
}

/* The entry of the name of @key, or the end. */
static const struct xattr_entry *find_entry(const struct buffer *buffer,
					    const struct xattr_entry *key)
{
	const struct xattr_entry *entry = first_entry(buffer);

	while (!is_end(entry) && compare(entry, key))
		entry = next_entry(entry);
	return entry;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Do the entries and their values lie in the block? */
static bool entries_ok(const struct buffer *buffer)
{
	const struct xattr_entry *entry = first_entry(buffer);
	size_t size = buffer->size;

	for (; !is_end(entry); entry = next_entry(entry)) {
		size_t at = (size_t)((const char *)entry - (const char *)buffer->data);

		if (at + entry_size(entry->name_length) + 4 > size || entry->value_block ||
		    entry->value_size > size || entry->value_offset + entry->value_size > size ||
		    !entry->prefix || entry->prefix >= ARRAY_SIZE(prefixes))
			return false;
	}
	return true;
}

static int add_to_list(struct xattr **list, const struct buffer *buffer,
		       const struct xattr_entry *entry)
{
	const char *prefix = prefixes[entry->prefix];
	size_t length = strlen(prefix);
	char name[32 + 256];

	memcpy(name, prefix, length);
	memcpy(name + length, entry->name, entry->name_length);
	name[length + entry->name_length] = '\0';
	return xattr_set(list, name, buffer->data + entry->value_offset, entry->value_size, 0);
}

/* The inode's attributes, checked, or NULL: it has none; ERR_PTR. */
static struct buffer *get_entries(struct inode *inode)
{
	struct buffer *buffer = ext2_xattr_block(inode, GIVE_UP);

	if (IS_ERR_OR_NULL(buffer) || entries_ok(buffer))
		return buffer;
	int error = ext2_error(EXT2_FS(inode->sb), "bad attributes in block", buffer->block);

	brelse(buffer);
	return ERR_PTR(error);
}

static int ext2_load_xattrs(struct inode *inode, const char *name, struct xattr **list)
{
	struct buffer *buffer __free(buffer) = get_entries(inode);

	lockdep_assert_held(&inode->lock);
	if (IS_ERR_OR_NULL(buffer))
		return PTR_ERR_OR_ZERO(buffer);
	const struct xattr_entry *entry = first_entry(buffer);
	if (name) {
		union xattr_key key;

		make_key(&key, name);
		entry = find_entry(buffer, &key.entry);
		if (is_end(entry))
			return 0;
		return add_to_list(list, buffer, entry);
	}
	for (; !is_end(entry); entry = next_entry(entry)) {
		TRY(add_to_list(list, buffer, entry));
		list = &(*list)->next; /* behind it: where nothing is there is nothing to search */
	}
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static u32 rotate(u32 value, unsigned by)
{
	return value << by | value >> (32 - by);
}

/* The format's hash of an attribute; its value counts as filled up with zeroes to four bytes. */
static u32 hash_of(const struct xattr_entry *entry, const char *value)
{
	u32 hash = 0;

	for (size_t i = 0; i < entry->name_length; i++)
		hash = rotate(hash, 5) ^ (u8)entry->name[i];
	for (size_t i = 0; i < entry->value_size; i += 4) {
		u32 word = 0;

		memcpy(&word, value + i, min_t(size_t, 4, entry->value_size - i));
		hash = rotate(hash, 16) ^ word;
	}
	return hash;
}

/* A block that is put together: entries from the front on, values from the end; between @at and
 * @value there are zeroes. */
struct xattr_image {
	struct ext2_xattr_header *header;
	char *at, *value;
};

/* One more attribute, named as @like is. */
static int append(struct xattr_image *image, const struct xattr_entry *like, const void *value)
{
	size_t bytes = entry_size(like->name_length), room = round_up(like->value_size, 4);
	struct xattr_entry *entry = (void *)image->at;

	if ((size_t)(image->value - image->at) < bytes + room + 4)
		return -ENOSPC;
	memcpy(entry, like, bytes);
	image->at += bytes;
	image->value -= room;
	memcpy(image->value, value, like->value_size);
	entry->value_offset = room ? (u16)(image->value - (char *)image->header) : 0;
	image->header->hash = rotate(image->header->hash, 16) ^ entry->hash;
	return 0;
}

/* All attributes of @old, but of the name of @key with @value (NULL: without it). */
static int append_all(struct xattr_image *image, const struct buffer *old,
		      const struct xattr_entry *key, const void *value)
{
	const struct xattr_entry *entry = first_entry(old);

	for (; !is_end(entry) && compare(entry, key) < 0; entry = next_entry(entry))
		TRY(append(image, entry, old->data + entry->value_offset));
	if (value)
		TRY(append(image, key, value));
	for (; !is_end(entry); entry = next_entry(entry))
		if (compare(entry, key))
			TRY(append(image, entry, old->data + entry->value_offset));
	return 0;
}

/* May the attributes in @buffer, if there are any, be written over? Not if others have them too,
 * and not if they are on the disk, where they may not become half of the new ones. */
static bool is_own(const struct buffer *buffer)
{
	const struct ext2_xattr_header *header = buffer ? buffer->data : NULL;

	return header && header->refcount == 1 && test_bit(B_DIRTY, &buffer->flags) &&
	       buffer->rank == RANK_FRESH;
}

/* Give the inode a block with the contents @image (NULL: none) in place of that in *@old, which may
 * be NULL. *@old is then what is to be released. */
static int replace_block(struct inode *inode, struct buffer **old, const char *image)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	struct ext2_inode *ei = EXT2_I(inode);
	struct buffer *new = NULL;
	struct ext2_gone gone;

	guard(write, &ei->map_lock);
	ext2_gone_begin(inode, &gone);
	if (image) {
		new = is_own(*old) ? *old : TRY_PTR(ext2_new_block(fs, ext2_group_start(inode)));
		memcpy(new->data, image, new->size);
		mark_buffer_ranked(new, RANK_FRESH);
	}
	smp_store_release(&ei->indirect_changes, ei->indirect_changes + 1);
	if (new == *old)
		return 0;
	ei->attribute_block = new ? (u32) new->block : 0;
	ext2_forget_pointers(inode);
	if (*old)
		ext2_drop_xattr_block(inode, *old, &gone);
	ext2_let_go(fs, &gone);
	*old = new;
	inode->blocks += new ? new->size / 512 : 0;
	return 0;
}

static int ext2_set_xattr(struct inode *inode, const char *name, const void *value, size_t size,
			  int flags)
{
	struct ext2_fs *fs = EXT2_FS(inode->sb);
	size_t block_size = inode->sb->block_size;
	union xattr_key key;

	lockdep_assert_held(&inode->lock);
	if (!fs->layout.revision)
		return -EOPNOTSUPP;
	char *block __free(kfree) = TRY_PTR(kzalloc(block_size, GFP_KERNEL));
	struct buffer *old __free(buffer) = get_entries(inode);
	if (IS_ERR(old))
		return (int)PTR_ERR(old);
	make_key(&key, name);
	bool found = !is_end(find_entry(old, &key.entry));
	if (found && flags & XATTR_CREATE)
		return -EEXIST;
	if (!found && (!value || flags & XATTR_REPLACE))
		return -ENODATA;
	if (size > block_size)
		return -ENOSPC;
	key.entry.value_size = (u32)size;
	key.entry.hash = hash_of(&key.entry, value);

	struct ext2_xattr_header *header = (void *)block;
	struct xattr_image image = {header, (char *)(header + 1), block + block_size};
	*header = (struct ext2_xattr_header){.magic = EXT2_XATTR_MAGIC, .refcount = 1, .blocks = 1};
	TRY(append_all(&image, old, &key.entry, value));
	return replace_block(inode, &old, image.at > (char *)(header + 1) ? block : NULL);
}

const struct xattr_operations ext2_xattrs = {
	.load = ext2_load_xattrs,
	.set = ext2_set_xattr,
	.user = true,
};
