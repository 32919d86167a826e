/*
 * buffer_page.c - file pages over blocks: the address_space operations of a disk file system, given
 * its get_block. Declared in buffer.h.
 *
 * A page that is read gets no buffers: its blocks are read straight into it, and pages whose blocks
 * continue each other share a request. A page that is written gets a ring; from then on the ring
 * knows which blocks are uptodate, dirty and mapped. PG_dirty only says that writepage may find
 * something to do: dirty buffers, and with PG_dirty_all (a program wrote through a shared mapping)
 * every block inside the file.
 *
 * All are called with the page locked. Blocks are allocated by write_begin, or by writepage for
 * mappings.
 */
#include "fs/buffer.h"
#include "fs/vfs.h"

#define BLOCKS_PER_PAGE_MAX (PAGE_SIZE / SECTOR_SIZE)

static inline unsigned block_shift(const struct inode *inode)
{
	return ilog2(inode->sb->block_size);
}

/* Blocks of the file: those from here on lie behind its end. */
static inline u64 file_blocks(const struct inode *inode)
{
	return ((u64)READ_ONCE(inode->size) + inode->sb->block_size - 1) >> block_shift(inode);
}

static inline u64 first_block(const struct inode *inode, const struct page *page)
{
	return page->index << (PAGE_SHIFT - block_shift(inode));
}

static void finish_read(struct page *page, int error)
{
	if (likely(!error))
		set_bit(PG_uptodate, &page->flags);
	else
		set_bit(PG_error, &page->flags);
	unlock_page(page);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Read @block (0: a hole) to @data, and wait; with @buffer only if that is not uptodate. */
static int read_block(struct inode *inode, struct buffer *buffer, u64 block, void *data)
{
	unsigned size = inode->sb->block_size;
	int error = 0;

	if (buffer)
		lock_buffer(buffer);
	if (!buffer || !test_bit(B_UPTODATE, &buffer->flags)) {
		if (block)
			error = block_io(inode->sb->bdev, BLOCK_READ, block * (size / SECTOR_SIZE),
					 data, size);
		else
			memset(data, 0, size);
		if (buffer && !error)
			set_buffer_uptodate(buffer);
	}
	if (buffer)
		unlock_buffer(buffer);
	return error;
}

static void end_pages_read(struct block_request *request)
{
	const struct page *first = virt_to_page(request->segments[0].data);

	if (unlikely(request->status)) /* the pages are locked: the mapping is there */
		block_report_error(first->mapping->host->sb->bdev, BLOCK_READ, request->sector);
	for (unsigned i = 0; i < request->segment_count; i++)
		finish_read(virt_to_page(request->segments[i].data), request->status);
	block_request_put(request);
}

/*
 * The disk blocks of @page in @blocks (0: a hole, or behind the end). Returns the number of leading
 * blocks that continue each other on the disk if all others are behind the end of the file, else 0;
 * or -errno.
 */
static int map_page(struct inode *inode, struct page *page, u64 *blocks)
{
	unsigned per_page = 1u << (PAGE_SHIFT - block_shift(inode)), run = 0;
	u64 first = first_block(inode, page), end = file_blocks(inode);
	bool simple = true;

	for (unsigned i = 0; i < per_page; i++) {
		blocks[i] = 0;
		if (first + i >= end)
			continue;
		int error = inode->data.ops->get_block(inode, first + i, &blocks[i], false, NULL);

		if (error)
			return error;
		if (blocks[i] && run == i && (!i || blocks[i] == blocks[i - 1] + 1))
			run++;
		else
			simple = false;
	}
	return simple ? (int)run : 0;
}

/* Block by block, for pages with holes, scattered blocks, or buffers already. */
static int read_scattered(struct inode *inode, struct page *page, const u64 *blocks)
{
	struct buffer *buffer = page->buffers;
	char *data = page_address(page), *end = data + PAGE_SIZE;
	int error = 0;

	for (; data < end && !error; data += inode->sb->block_size) {
		error = read_block(inode, buffer, *blocks++, data);
		buffer = buffer ? buffer->next_in_page : NULL;
	}
	return error;
}

/* Pages gathered into one request. */
struct read_batch {
	struct block_request *request;
	u64 next_block;
	bool open; /* the last page was read whole: another may follow */
};

static void submit_batch(struct inode *inode, struct read_batch *batch)
{
	if (batch->request)
		submit_block_request(inode->sb->bdev, batch->request);
	batch->request = NULL;
}

static void add_page(struct inode *inode, struct read_batch *batch, struct page *page, u64 block,
		     unsigned count)
{
	unsigned bytes = count << block_shift(inode);

	if (batch->request && (!batch->open || batch->next_block != block ||
			       batch->request->segment_count == BLOCK_MAX_SEGMENTS))
		submit_batch(inode, batch);
	if (!batch->request)
		batch->request = block_request_get(BLOCK_READ, block << (block_shift(inode) - 9),
						   end_pages_read);
	if (bytes < PAGE_SIZE)
		memset((char *)page_address(page) + bytes, 0, PAGE_SIZE - bytes);
	block_request_add(batch->request, page_address(page), bytes);
	batch->next_block = block + count;
	batch->open = bytes == PAGE_SIZE;
}

static int read_page(struct inode *inode, struct page *page, struct read_batch *batch)
{
	u64 blocks[BLOCKS_PER_PAGE_MAX];
	int run = map_page(inode, page, blocks);

	if (run > 0 && !page->buffers) {
		add_page(inode, batch, page, blocks[0], (unsigned)run);
		return 0;
	}
	submit_batch(inode, batch); /* nobody waits with a request of the reserve in hand */
	if (run >= 0)
		run = read_scattered(inode, page, blocks);
	finish_read(page, run);
	return run;
}

int block_read_page(struct inode *inode, struct page *page)
{
	struct read_batch batch = {0};
	int error = read_page(inode, page, &batch);

	submit_batch(inode, &batch);
	return error;
}

void block_read_pages(struct inode *inode, struct page **pages, unsigned count)
{
	struct read_batch batch = {0};

	for (unsigned i = 0; i < count; i++)
		read_page(inode, pages[i], &batch);
	submit_batch(inode, &batch);
}

/* ---- writing out ----------------------------------------------------------------------------- */

/* Submit the dirty buffers of the page; PG_writeback ends with the last of them. */
static void write_ring(struct page *page)
{
	struct buffer *buffers[BLOCKS_PER_PAGE_MAX], *ring = page->buffers, *buffer = ring;
	unsigned n = 0;

	set_bit(PG_writeback, &page->flags);
	atomic_set(&ring->page_writes, 1);
	do {
		buffers[n++] = buffer;
		buffer = buffer->next_in_page;
	} while (buffer != ring);
	write_buffers(buffers, n, ring); /* those in flight are waited for: fsync wants it */
	unlock_page(page);
	if (atomic_dec_and_test(&ring->page_writes))
		page_done(page, PG_writeback);
}

/* Give @buffer a block to be written to. */
static int begin_buffer(struct inode *inode, struct buffer *buffer, u64 index)
{
	bool fresh = false;
	u64 block;
	int error;

	if (test_bit(B_MAPPED, &buffer->flags)) {
		if (unlikely(!test_bit(B_HASHED, &buffer->flags)))
			map_page_buffer(buffer, buffer->block);
		return 0;
	}
	error = inode->data.ops->get_block(inode, index, &block, true, &fresh);
	if (error)
		return error;
	map_page_buffer(buffer, block);
	if (fresh && test_bit(B_UPTODATE, &buffer->flags))
		mark_buffer_dirty(buffer); /* was a hole: whatever becomes of the write */
	else if (fresh)
		set_bit(B_NEW, &buffer->flags);
	return 0;
}

/* Map and dirty all blocks of the page that lie inside the file. */
static int dirty_all(struct inode *inode, struct page *page)
{
	u64 index = first_block(inode, page), end = file_blocks(inode);
	struct buffer *buffer;
	int error = 0;

	if (!page->buffers)
		error = create_page_buffers(page, inode->sb->bdev);
	if (error)
		return error;
	buffer = page->buffers;
	do {
		if (index++ < end && !error)
			error = begin_buffer(inode, buffer, index - 1);
		if (index <= end && !error) {
			clear_bit(B_NEW, &buffer->flags);
			set_buffer_uptodate(buffer);
			mark_buffer_dirty(buffer);
		}
		buffer = buffer->next_in_page;
	} while (buffer != page->buffers);
	return error;
}

int block_write_page(struct inode *inode, struct page *page)
{
	bool all = test_and_clear_bit(PG_dirty_all, &page->flags);
	loff_t inside = READ_ONCE(inode->size) - (loff_t)(page->index << PAGE_SHIFT);
	int error = 0;

	clear_page_dirty(page);
	if (all && page_uptodate(page))
		error = dirty_all(inode, page);
	if (unlikely(error == -ENOMEM)) { /* not lost: the next write-back tries again */
		set_bit(PG_dirty_all, &page->flags);
		set_page_dirty(page);
	}
	/* what a mapping wrote behind the end is not the file's */
	if (inside < (loff_t)PAGE_SIZE) {
		inside = max_t(loff_t, inside, 0);
		memset((char *)page_address(page) + inside, 0, PAGE_SIZE - (size_t)inside);
	}
	if (page->buffers)
		write_ring(page);
	else
		unlock_page(page);
	if (error && error != -ENOMEM) {
		inode->data.write_error = error;
		pr_warn_once("a page that was written through a mapping is lost: error %d\n",
			     -error);
	}
	return error;
}

/* ---- write(2) -------------------------------------------------------------------------------- */

static inline unsigned offset_in_page(const struct buffer *buffer)
{
	return (unsigned)((uintptr_t)buffer->data & (PAGE_SIZE - 1));
}

/* A fresh block of which [from, to) of the page was written: zero the rest, so that no old contents
 * show. */
static void finish_new(struct buffer *buffer, unsigned from, unsigned to)
{
	unsigned start = offset_in_page(buffer), end = start + buffer->size;
	char *page = (char *)buffer->data - start;

	from = min(max(from, start), end);
	to = min(max(to, from), end);
	memset(page + start, 0, from - start);
	memset(page + to, 0, end - to);
	clear_bit(B_NEW, &buffer->flags);
	set_buffer_uptodate(buffer);
	mark_buffer_dirty(buffer);
}

static bool needs_read(const struct buffer *buffer, unsigned from, unsigned to)
{
	unsigned start = offset_in_page(buffer);

	return (start < from || start + buffer->size > to) &&
	       !(READ_ONCE(buffer->flags) & (BIT(B_UPTODATE) | BIT(B_NEW)));
}

int block_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	unsigned size = inode->sb->block_size, position = 0;
	struct buffer *buffer;
	u64 index = first_block(inode, page);
	int error = 0;

	if (!page->buffers)
		error = create_page_buffers(page, inode->sb->bdev);
	if (error)
		return error;
	for (buffer = page->buffers; position < to && !error; buffer = buffer->next_in_page) {
		if (position + size > from) {
			error = begin_buffer(inode, buffer, index);
			if (!error && needs_read(buffer, from, to))
				error = read_block(inode, buffer, buffer->block, buffer->data);
		}
		position += size;
		index++;
	}
	if (error)
		block_write_end(inode, page, from, from);
	return error;
}

int block_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to)
{
	struct buffer *buffer = page->buffers;
	unsigned position = 0, size = buffer->size;
	bool uptodate = true;

	(void)inode;
	do {
		if (unlikely(test_bit(B_NEW, &buffer->flags))) {
			finish_new(buffer, from, to);
		} else if (from < to && position < to && position + size > from) {
			set_buffer_uptodate(buffer);
			mark_buffer_dirty(buffer);
		} else if (!test_bit(B_UPTODATE, &buffer->flags)) {
			uptodate = false;
		}
		position += size;
		buffer = buffer->next_in_page;
	} while (buffer != page->buffers);
	if (uptodate && !test_bit(PG_uptodate, &page->flags))
		set_bit(PG_uptodate, &page->flags);
	set_page_dirty(page);
	return 0;
}

/* ---- going away ------------------------------------------------------------------------------ */

void block_invalidate_page(struct page *page, unsigned from)
{
	struct buffer *buffer = page->buffers;
	unsigned position = 0;

	if (!buffer)
		return;
	wait_on_page(page, PG_writeback);
	do {
		if (position >= from)
			forget_page_buffer(buffer);
		position += buffer->size;
		buffer = buffer->next_in_page;
	} while (buffer != page->buffers);
	if (!from)
		free_page_buffers(page);
}

bool block_release_page(struct page *page)
{
	if (!page->buffers)
		return true;
	return !test_bit(PG_writeback, &page->flags) && free_page_buffers(page);
}

int block_truncate_page(struct inode *inode, loff_t from)
{
	unsigned size = inode->sb->block_size, offset = (unsigned)(from & (loff_t)(PAGE_SIZE - 1));
	unsigned end = round_up(offset, size);
	struct page *page;
	u64 block;
	int error;

	if (offset == end)
		return 0;
	error = inode->data.ops->get_block(inode, (u64)from >> block_shift(inode), &block, false,
					   NULL);
	if (error || !block)
		return error;
	page = find_or_create_page(&inode->data, (pgoff_t)((u64)from >> PAGE_SHIFT));
	if (!page)
		return -ENOMEM;
	error = block_write_begin(inode, page, offset, end);
	if (!error) {
		memset((char *)page_address(page) + offset, 0, end - offset);
		block_write_end(inode, page, offset, end);
	}
	unlock_page(page);
	put_page(page);
	return error;
}
