/*
 * symlink.c - symbolic links: fast ones in the inode (below 60 bytes), slow ones in a block. See
 * ext2.h.
 */
#include "fs/ext2/ext2.h"
#include "kernel/core/string.h"
#include "mm/slab.h"

#define SLACK 8 /* readable bytes behind the NUL that a path walk wants */

/* A copy, since the text in the page cache has no NUL of its own. */
static const char *ext2_get_link(struct inode *inode, void **cookie)
{
	size_t length = (size_t)inode->size;
	struct page *page = read_cache_page(&inode->data, 0);
	char *text;

	if (IS_ERR(page))
		return ERR_CAST(page);
	text = kmalloc(length + 1 + SLACK, GFP_KERNEL);
	if (text) {
		memcpy(text, page_address(page), length);
		memset(text + length, 0, 1 + SLACK);
	}
	put_page(page);
	*cookie = text;
	return text ? text : ERR_PTR(-ENOMEM);
}

static void ext2_put_link(struct inode *inode, void *cookie)
{
	(void)inode;
	kfree(cookie);
}

static int write_slow(struct inode *inode, const char *target, unsigned length)
{
	const struct address_space_operations *ops = inode->data.ops;
	struct page *page = find_or_create_page(&inode->data, 0);
	int error;

	if (!page)
		return -ENOMEM;
	error = ops->write_begin(inode, page, 0, length);
	if (!error) {
		memcpy(page_address(page), target, length);
		error = ops->write_end(inode, page, 0, length);
	}
	unlock_page(page);
	put_page(page);
	return error;
}

int ext2_write_symlink(struct inode *inode, const char *target)
{
	struct ext2_inode *ei = EXT2_I(inode);
	unsigned length = (unsigned)strlen(target);
	int error = 0;

	if (length < sizeof(ei->data)) {
		memcpy(ei->data, target, length);
		inode->size = length;
		ext2_set_operations(inode);
	} else {
		inode->link = NULL;
		inode->op = &ext2_symlink_inode_operations;
		error = write_slow(inode, target, length);
		inode->size = length;
	}
	mark_inode_dirty(inode);
	return error;
}

const struct inode_operations ext2_symlink_inode_operations = {
	.get_link = ext2_get_link,
	.put_link = ext2_put_link,
	.setattr = ext2_setattr,
};

const struct inode_operations ext2_fast_symlink_inode_operations = {
	.setattr = ext2_setattr,
};
