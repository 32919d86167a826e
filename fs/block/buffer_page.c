/*
 * buffer_page.c - file pages over blocks: the address_space operations of a disk file system, given
 * its get_block. Declared in buffer.h.
 *
 * A page that is read gets no buffers: its blocks are read straight into it, those that continue
 * each other in one request, also of several pages. A page that is written gets a buffer for each
 * block; from then on they know which blocks are uptodate, dirty and mapped. PG_dirty only says
 * that writepage may find something to do: dirty buffers, and with PG_dirty_all (a program wrote
 * through a shared mapping) every block inside the file.
 *
 * All are called with the page locked. Blocks are allocated by write_begin, or by writepage for
 * mappings.
 */
#include "fs/block/dirty.h"
#include "fs/regular/file_io.h"
#include "fs/inode/inode.h"
#include "fs/path/super.h"

/* Blocks of the file: those from here on lie behind its end. */
static inline u64 file_blocks(const struct inode *inode)
{
	return DIV_ROUND_UP((u64)READ_ONCE(inode->data.size), inode->sb->block_size);
}

static inline u64 first_block(const struct inode *inode, const struct page *page)
{
	return page->index * (PAGE_SIZE / inode->sb->block_size);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One of the reads of @page has ended; the last unlocks it. */
static void end_read(struct page *page, int error)
{
	if (unlikely(error))
		set_bit(PG_error, &page->flags);
	if (!atomic_dec_and_test(&page->reads))
		return;
	if (likely(!test_bit(PG_error, &page->flags)))
		set_bit_release(PG_uptodate, &page->flags);
	unlock_page(page);
}

static void end_pages_read(struct block_request *request)
{
	for (unsigned i = 0; i < request->segment_count; i++) {
		char *data = request->segments[i].data, *end = data + request->segments[i].length;

		for (; data < end; data += request->device->block_size)
			end_read(virt_to_page(data), request->status);
	}
	block_request_end(request);
}

/* Start reading @page; its blocks that have buffers, which may be in use, are waited for. *@request
 * is what has been gathered of the pages before it, and then of this one too. 0 or -errno. */
static int start_read(struct inode *inode, struct page *page, struct block_request **request)
{
	u64 first = first_block(inode, page), end = file_blocks(inode);
	u32 size = inode->sb->block_size;

	for (unsigned i = 0; i < PAGE_SIZE / size; i++) {
		struct buffer *buffer = page->buffers ? &page->buffers[i] : NULL;
		char *data = (char *)page_address(page) + i * size;
		u64 block = 0;

		if (buffer && test_bit(B_UPTODATE, &buffer->flags))
			continue;
		*request = block_request_keep(*request);
		if (first + i < end)
			TRY(inode->data.ops->get_block(inode, first + i, &block, false));
		if (!block) {
			memset(data, 0, size);
			if (buffer)
				set_bit_release(B_UPTODATE, &buffer->flags);
		} else if (buffer) {
			if (!test_bit(B_MAPPED, &buffer->flags))
				map_page_buffer(buffer, block);
			TRY(read_buffer(buffer));
		} else {
			atomic_inc(&page->reads);
			*request = block_request_add(*request, inode->sb->bdev, BLOCK_READ,
						     block * (size / SECTOR_SIZE), data, size);
			(*request)->done = end_pages_read;
		}
	}
	return 0;
}

int block_read_pages(struct inode *inode, struct page **pages, unsigned count)
{
	struct block_request *request = NULL;
	int error = 0;

	for (unsigned i = 0; i < count; i++) {
		clear_bit(PG_error, &pages[i]->flags);
		atomic_set(&pages[i]->reads, 1); /* until all have been started */
		error = start_read(inode, pages[i], &request);
		end_read(pages[i], error);
	}
	submit_block_request(request);
	return error;
}

/* ---- writing out ----------------------------------------------------------------------------- */

/* Give @buffer a block to be written to. */
static int begin_buffer(struct inode *inode, struct buffer *buffer, u64 index)
{
	u64 block = buffer->block;
	int fresh = 0;

	if (likely(test_bit(B_HASHED, &buffer->flags)))
		return 0;
	if (!test_bit(B_MAPPED, &buffer->flags)) /* else it was pushed out */
		fresh = TRY(inode->data.ops->get_block(inode, index, &block, true));
	map_page_buffer(buffer, block);
	if (page_uptodate(buffer->page)) /* what it has is right, also where a truncation passed */
		set_bit_release(B_UPTODATE, &buffer->flags);
	if (fresh && test_bit(B_UPTODATE, &buffer->flags))
		mark_buffer_dirty(buffer); /* was a hole: whatever becomes of the write */
	else if (fresh)
		set_bit(B_NEW, &buffer->flags);
	return 0;
}

/* Map and dirty all blocks of the page, which is uptodate, that lie inside the file. */
static int dirty_all(struct inode *inode, struct page *page)
{
	u64 index = first_block(inode, page), end = file_blocks(inode);

	TRY(create_page_buffers(page, inode->sb->bdev));
	for (unsigned i = 0; i < buffers_of_page(page) && index + i < end; i++) {
		TRY(begin_buffer(inode, &page->buffers[i], index + i));
		mark_buffer_dirty(&page->buffers[i]);
	}
	return 0;
}

int block_write_page(struct inode *inode, struct page *page)
{
	bool all = test_bit(PG_dirty_all, &page->flags);
	int error = 0;

	if (all) /* first: from here on nothing is stored until the page is unlocked */
		mm_protect_page(page);
	/* What a mapping wrote behind the end is not the file's. Before a buffer is dirty, which
	 * others may write at once. */
	loff_t start = (loff_t)(page->index << PAGE_SHIFT);
	loff_t inside = max_t(loff_t, READ_ONCE(inode->data.size) - start, 0);
	if (inside < (loff_t)PAGE_SIZE)
		memset((char *)page_address(page) + inside, 0, PAGE_SIZE - (size_t)inside);
	clear_bit(PG_dirty_all, &page->flags);
	clear_page_dirty(page);
	if (all && page_uptodate(page))
		error = dirty_all(inode, page);

	if (unlikely(error == -ENOMEM)) { /* not lost: the next write-back tries again */
		atomic_inc(&inode->data.postponed);
		set_bit(PG_dirty_all, &page->flags);
		set_page_dirty(page);
	} else if (unlikely(error)) {
		mapping_set_error(&inode->data, error);
		pr_warn_once("a page that was written through a mapping is lost: error %d\n",
			     -error);
	}
	if (page->buffers)
		write_buffers(page->buffers, buffers_of_page(page));
	unlock_page(page);
	return error;
}

/* ---- write(2) -------------------------------------------------------------------------------- */

/* @buffer is B_NEW, and to get or read the page's next block may sleep. Meanwhile the pointer to
 * this one may go to the disk, and what lies there must not show: so it is dirty now, with zeros,
 * and its page too, which tells an fsync of another file that the pointer leads ahead. */
static void clear_new(struct buffer *buffer)
{
	memset(buffer->data, 0, buffer->size);
	clear_bit(B_NEW, &buffer->flags);
	set_bit_release(B_UPTODATE, &buffer->flags);
	mark_buffer_dirty(buffer);
	set_page_dirty(buffer->page);
}

int block_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	unsigned size = inode->sb->block_size;
	int error = 0;

	TRY(create_page_buffers(page, inode->sb->bdev));
	for (unsigned i = from / size; i * size < to && !error; i++) {
		struct buffer *buffer = &page->buffers[i];

		error = begin_buffer(inode, buffer, first_block(inode, page) + i);
		if (!error && (i * size < from || (i + 1) * size > to) &&
		    !test_bit(B_NEW, &buffer->flags))
			error = read_buffer(buffer);
		if ((i + 1) * size < to && test_bit(B_NEW, &buffer->flags))
			clear_new(buffer);
	}
	if (error)
		block_write_end(inode, page, from, from);
	return error;
}

int block_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	unsigned size = inode->sb->block_size;
	bool uptodate = true;

	for (unsigned start = 0; start < PAGE_SIZE; start += size) {
		struct buffer *buffer = &page->buffers[start / size];
		unsigned end = start + size;

		if (unlikely(test_bit(B_NEW, &buffer->flags))) {
			/* Zero what was not written, so that no old contents show. */
			unsigned written = min(max(from, start), end);
			unsigned rest = min(max(to, written), end);

			memset((char *)page_address(page) + start, 0, written - start);
			memset((char *)page_address(page) + rest, 0, end - rest);
			clear_bit(B_NEW, &buffer->flags);
		} else if (from >= to || to <= start || end <= from) {
			uptodate &= test_bit(B_UPTODATE, &buffer->flags);
			continue;
		}
		set_bit_release(B_UPTODATE, &buffer->flags);
		mark_buffer_dirty(buffer);
	}
	if (uptodate && !page_uptodate(page))
		set_bit_release(PG_uptodate, &page->flags);
	set_page_dirty(page);
	return 0;
}

/* ---- going away ------------------------------------------------------------------------------ */

void block_invalidate_page(struct page *page, unsigned from)
{
	if (!page->buffers)
		return;
	for (unsigned i = DIV_ROUND_UP(from, page->buffers->size); i < buffers_of_page(page); i++)
		forget_page_buffer(&page->buffers[i]);
	if (!from)
		free_page_buffers(page);
}

int block_truncate_page(struct inode *inode, loff_t from)
{
	u64 block = 0, rest = -(u64)from & (inode->sb->block_size - 1);

	rest = min(rest, (u64)(inode->data.size - from));
	if (rest) /* else the block goes as a whole, whatever its pointer is worth */
		TRY(inode->data.ops->get_block(inode, (u64)from / inode->sb->block_size, &block,
					       false));
	if (block)
		return (int)min(page_cache_zero(inode, from, rest), (ssize_t)0);
	return 0;
}
