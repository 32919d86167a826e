/*
 * file.c - regular files: the page cache over ext2_get_block(). See ext2.h.
 */
#include "fs/ext2/ext2.h"

static int ext2_readpage(struct inode *inode, struct page *page)
{
	return block_read_page(inode, page, ext2_get_block);
}

static void ext2_readpages(struct inode *inode, struct page **pages, unsigned count)
{
	block_read_pages(inode, pages, count, ext2_get_block);
}

static int ext2_writepage(struct inode *inode, struct page *page)
{
	return block_write_page(inode, page, ext2_get_block);
}

/* Blocks that were allocated for bytes that did not come: none may lie behind the end of the file.
 */
static void drop_excess(struct inode *inode, struct page *page, u64 end)
{
	u64 page_start = (u64)page->index << PAGE_SHIFT;
	u64 keep = round_up(max(end, (u64)inode->size), (u64)inode->sb->block_size);

	if (keep < page_start + PAGE_SIZE && page->buffers)
		block_invalidate_page(page, keep > page_start ? (unsigned)(keep - page_start) : 0);
	ext2_truncate_blocks(inode, (loff_t)keep);
}

static int ext2_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	u64 end = ((u64)page->index << PAGE_SHIFT) + to;
	int error = block_write_begin(inode, page, from, to, ext2_get_block);

	EXT2_I(inode)->begun_to = end;
	if (unlikely(error) && end > (u64)inode->size)
		drop_excess(inode, page, 0);
	return error;
}

static int ext2_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	u64 end = ((u64)page->index << PAGE_SHIFT) + to;
	int error = block_write_end(inode, page, from, to);

	if (unlikely(end < EXT2_I(inode)->begun_to) && EXT2_I(inode)->begun_to > (u64)inode->size)
		drop_excess(inode, page, from == to ? 0 : end);
	return error;
}

int ext2_fsync(struct file *file, bool data_only)
{
	struct inode *inode = file->inode;
	int error = ext2_sync_inode(inode), second = 0;

	(void)data_only;
	if (S_ISDIR(inode->mode)) /* its blocks are anywhere among the dirty ones */
		second = sync_buffers(inode->sb->bdev, true);
	error = error ? error : second;
	second = block_flush(inode->sb->bdev);
	return error ? error : second;
}

const struct address_space_operations ext2_mapping_operations = {
	.readpage = ext2_readpage,
	.readpages = ext2_readpages,
	.writepage = ext2_writepage,
	.write_begin = ext2_write_begin,
	.write_end = ext2_write_end,
	.invalidate = block_invalidate_page,
	.release = block_release_page,
};

const struct file_operations ext2_file_operations = {
	.read = page_cache_read,
	.write = page_cache_write,
	.llseek = generic_file_llseek,
	.mmap = generic_file_mmap,
	.fsync = ext2_fsync,
};

const struct inode_operations ext2_file_inode_operations = {
	.setattr = ext2_setattr,
};
