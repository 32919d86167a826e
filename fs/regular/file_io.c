/*
 * file_io.c - read and write of files through the page cache.
 *
 * A read takes no lock but the reference to the page it copies from: it sees each page as some
 * writer left it. A write holds inode->lock, and the page lock while it fills a page. It must not
 * take a fault then, since the fault might want this very page: so the program's memory is touched
 * first, and the copy runs with faults disabled; if it falls short nevertheless, it is tried again.
 */
#include "fs/regular/file_io.h"

#include "fs/block/dirty.h"
#include "fs/inode/attributes.h"
#include "fs/inode/permission.h"
#include "fs/inode/times.h"
#include "mm/cache/page_lookup.h"

#define WINDOW_MIN 4
#define WINDOW_MAX 32

/* ---- pages that are missing ------------------------------------------------------------------ */

/* Truncation may have passed before the locked page was in the cache: if it lies behind the end, it
 * goes, with the caller's reference, but for one that fallocate has reserved there (tmpfs). */
static bool dropped_behind_end(struct page *page)
{
	struct address_space *mapping = page->mapping;

	assert_page_locked(page);
	if (likely((u64)READ_ONCE(mapping->size) > (u64)page->index << PAGE_SHIFT))
		return false;
	bool reserved = !mapping->ops->writepage && test_bit(PG_dirty, &page->flags);
	if (!atomic_read(&page->mapcount) && !reserved) {
		mapping->ops->invalidate(page, 0);
		remove_from_page_cache(page);
	}
	unlock_page(page);
	put_page(page);
	return true;
}

/* Start reading the pages of [start, start + count) that are in the file and not in the cache.
 * @goes_on: the reader has come here from the window before. If he does not wait for a disk that is
 * slower, the second page is marked: who comes to it has the next window started. */
static void start_window(struct address_space *mapping, pgoff_t start, pgoff_t count, bool goes_on)
{
	pgoff_t end = ((pgoff_t)READ_ONCE(mapping->size) + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct page *pages[WINDOW_MAX];
	unsigned n = 0;

	bool more = end > start + count;
	for (end = min(end, start + count); start < end; start++) {
		struct page *page = alloc_page(GFP_KERNEL | GFP_NOWARN);

		if (!page)
			break;
		struct page *old = add_to_page_cache(page, mapping, start);
		if (old) {
			put_page(old);
			put_page(page);
		} else if (!dropped_behind_end(page)) {
			pages[n++] = page;
		}
	}
	if (n)
		mapping->ops->readpages(mapping->host, pages, n);
	if (goes_on && more && n > 1 && test_bit(PG_locked, &pages[1]->flags))
		set_bit(PG_readahead, &pages[1]->flags);
	while (n)
		put_page(pages[--n]);
}

/* The next window of @file, from @index on. */
static void next_window(struct file *file, struct address_space *mapping, pgoff_t index,
			pgoff_t wanted)
{
	bool goes_on = index == file->readahead_next;

	/* Who goes on where the last window ended gets one twice as large. Racing readers of one
	 * open file may mix it up: then too much is read, or too little. */
	if (goes_on)
		wanted = max_t(pgoff_t, wanted, 2 * file->readahead_size + WINDOW_MIN);
	wanted = min_t(pgoff_t, wanted, WINDOW_MAX);
	file->readahead_next = index + wanted;
	file->readahead_size = wanted;
	start_window(mapping, index, wanted, goes_on);
}

struct page *page_cache_get(struct file *file, struct address_space *mapping, pgoff_t index,
			    pgoff_t wanted, struct page *page)
{
	if (page) {
		/* another reader's window may have been marked */
		if (test_and_clear_bit(PG_readahead, &page->flags) &&
		    file->readahead_next - index <= WINDOW_MAX)
			next_window(file, mapping, file->readahead_next, 0);
		put_page(page);
	} else if (mapping->ops->writepage) {
		next_window(file, mapping, index, wanted);
	}
	page = find_or_create_page(mapping, index);
	if (!page)
		return ERR_PTR(-ENOMEM);
	if (dropped_behind_end(page))
		return NULL;
	int error = 0;
	if (page_uptodate(page))
		unlock_page(page);
	else
		error = mapping->ops->readpages(mapping->host, &page, 1);
	if (!error && !page_uptodate(page))
		wait_on_page(page);
	if (!error && page_uptodate(page))
		return page;
	put_page(page);
	if (!error)
		error = -EIO;
	return ERR_PTR(error);
}

/* Uptodate, as page_uptodate(), and not where the next window is to be started. */
static inline bool page_ready(const struct page *page)
{
	return (smp_load_acquire(&page->flags) & (BIT(PG_uptodate) | BIT(PG_readahead))) ==
	       BIT(PG_uptodate);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Between two pages: let others run; -EINTR in *error if the process is to end. */
static __always_inline bool must_stop(ssize_t *error)
{
	if (likely(!current->pending))
		return false;
	if (fatal_signal_pending(current)) {
		*error = -EINTR;
		return true;
	}
	cond_resched();
	return false;
}

/* Whether page_lookup() has been asked for a page: it counts. */
enum looked { NOT_LOOKED_UP, LOOKED_UP };

/* From *@position on, page by page; @page: the first one, what was found if it was looked up
 * already. */
static noinline ssize_t read_pages(struct file *file, struct io *io, loff_t *position,
				   struct page *page, enum looked looked)
{
	struct inode *inode = file->inode;
	struct address_space *mapping = &inode->data;
	loff_t start = *position, at = start;
	ssize_t error = 0;

	if (unlikely(!io->length && inode->sb->bdev))
		return 0; /* without a new time, as Linux's ext2 has it; its tmpfs has one */
	while (io->length) {
		loff_t size = READ_ONCE(inode->data.size);
		pgoff_t index = (pgoff_t)at >> PAGE_SHIFT;
		size_t offset = (size_t)at & (PAGE_SIZE - 1), n, moved;

		if (at >= size)
			break;
		n = min(min(PAGE_SIZE - offset, io->length), (size_t)(size - at));
		if (looked == NOT_LOOKED_UP)
			page = page_lookup(mapping, index);
		looked = NOT_LOOKED_UP;
		if (unlikely(!page || !page_ready(page))) {
			page = page_cache_get(file, mapping, index,
					      DIV_ROUND_UP(offset + io->length, PAGE_SIZE), page);
			if (IS_ERR_OR_NULL(page)) {
				error = PTR_ERR(page);
				break;
			}
		}
		moved = io_put(io, (char *)page_address(page) + offset, n);
		put_page(page);
		at += (loff_t)moved;
		if (unlikely(moved < n)) {
			error = -EFAULT;
			break;
		}
		if (unlikely(must_stop(&error)))
			break;
	}
	if (unlikely(looked == LOOKED_UP && page)) /* the file has shrunk meanwhile */
		put_page(page);
	*position = at;
	touch_atime(file);
	return at > start ? at - start : error;
}

/* The common case first: all of it lies in one page, which is there. What the calls in between
 * would have to save is computed again. */
ssize_t page_cache_read(struct file *file, struct io *io, loff_t *position)
{
	struct inode *inode = file->inode;
	u64 at = (u64)*position, end = at + io->length;
	struct page *page;
	size_t n;

	if (unlikely(end - (at & PAGE_MASK) > PAGE_SIZE || end > (u64)READ_ONCE(inode->data.size) ||
		     end == at))
		return read_pages(file, io, position, NULL, NOT_LOOKED_UP);
	page = page_lookup(&inode->data, at >> PAGE_SHIFT);
	barrier();
	if (unlikely(!page || !page_ready(page)))
		return read_pages(file, io, position, page, LOOKED_UP);
	n = io_put(io, (char *)page_address(page) + (at & (PAGE_SIZE - 1)), io->length);
	put_page(page);
	if (unlikely(!n))
		return -EFAULT;
	*position = (loff_t)(at + n);
	touch_atime(file);
	return (ssize_t)n;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Fault in the first and the last byte of the @n at @first; how many will be there. */
static __always_inline size_t touch(const char *first, size_t n)
{
	const char *last = first + n - 1;
	char byte __maybe_unused;

	if (get_user(byte, first))
		return 0;
	if (((uintptr_t)first ^ (uintptr_t)last) & PAGE_MASK && get_user(byte, last))
		return PAGE_SIZE - ((uintptr_t)first & (PAGE_SIZE - 1));
	return n;
}

static noinline size_t touch_vector(struct io io, size_t n)
{
	size_t done = 0, part = 0, touched = 0;

	for (; done < n && touched == part; done += touched) {
		part = n - done;
		const char *piece = io_piece(&io, &part);
		touched = touch(piece, part);
		io_advance(&io, part);
	}
	return done;
}

/* The same of the next @n bytes that will be copied. */
static __always_inline size_t touch_source(const struct io *io, size_t n)
{
	if (likely(io->kind == IO_USER))
		return touch(io->base, n);
	if (io->kind == IO_VECTOR)
		return touch_vector(*io, n);
	return n; /* the kernel's own is there */
}

/*
 * Write what of @io lies in the page at @at: bytes written, 0 (the program's memory went away
 * meanwhile), or -errno. Of a page that is not uptodate write_begin has not read what the copy was
 * to replace: if that falls short there, nothing counts as written.
 */
static __always_inline ssize_t write_page(struct inode *inode, struct io *io, loff_t at)
{
	const struct address_space_operations *ops = inode->data.ops;
	unsigned from = (unsigned)at & (PAGE_SIZE - 1), n;
	size_t moved = 0;
	struct page *page;
	int error;

	n = (unsigned)touch_source(io, min(PAGE_SIZE - from, io->length));
	if (!n)
		return -EFAULT;
	page = TRY_PTR(find_or_create_page(&inode->data, (pgoff_t)at >> PAGE_SHIFT));
	error = ops->write_begin(inode, page, from, from + n);
	if (!error) {
		char *to = (char *)page_address(page) + from;

		current->pagefault_disabled = true;
		moved = io_get(io, to, n);
		current->pagefault_disabled = false;
		if (unlikely(moved < n) && !page_uptodate(page)) {
			if (!page->buffers) /* else write_end zeroes the new ones, and only those */
				memset(to, 0, n);
			io_retreat(io, moved);
			moved = 0;
		}
		error = ops->write_end(inode, page, from, from + (unsigned)moved);
	}
	if (!error && at + (loff_t)moved > inode->data.size)
		WRITE_ONCE(inode->data.size, at + (loff_t)moved);
	unlock_page(page);
	put_page(page);
	return error ? error : (ssize_t)moved;
}

ssize_t page_cache_zero(struct inode *inode, loff_t at, size_t length)
{
	static char zeros[PAGE_SIZE];
	struct io io = {zeros, length, IO_KERNEL, 0};

	lockdep_assert_held(&inode->lock);
	return write_page(inode, &io, at);
}

/* What write(2) checks and changes before the first byte, under inode->lock: 0 or -EFBIG. */
static int prepare_write(struct file *file, struct io *io, loff_t at)
{
	struct inode *inode = file->inode;
	u64 limit = min(inode->sb->max_bytes, current_limit(RLIMIT_FSIZE));

	lockdep_assert_held(&inode->lock);
	if (unlikely((u64)at >= limit)) {
		TRY(limit_growth(inode, at + 1));
		return -EFBIG;
	}
	if (io->length > limit - (u64)at)
		io->length = limit - (u64)at;
	if (unlikely(inode->mode & (S_ISUID | S_ISGID)) && S_ISREG(inode->mode) &&
	    current->cred->euid) {
		/* Who can write a set-id program must not gain its rights. */
		inode->mode = mode_unprivileged(inode, inode->mode);
		notify_open(inode, IN_ATTRIB, file);
		mark_inode_dirty(inode);
	}
	file_update_time(inode);
	return 0;
}

/* inode->lock is held: bytes written from @at on, or -errno. */
static ssize_t write_pages(struct inode *inode, struct io *io, loff_t at)
{
	loff_t start = at, old_size = inode->data.size;
	unsigned short_copies = 0;
	ssize_t result = 0;

	lockdep_assert_held(&inode->lock);
	while (io->length && result >= 0) {
		result = write_page(inode, io, at);
		if (result > 0)
			at += (loff_t)result;
		else if (result == 0 && ++short_copies > 16)
			result = -EFAULT; /* the memory goes away as fast as it is touched */
		if (unlikely(must_stop(&result)))
			break;
	}
	/* memory that was not there in the first place made nothing begin */
	bool begun = result != -EFAULT || short_copies || at > start;
	if (unlikely(io->length) && begun && inode->data.ops->write_failed)
		inode->data.ops->write_failed(inode);
	if (inode->data.size != old_size)
		mark_inode_dirty(inode);
	return at > start ? at - start : result;
}

ssize_t page_cache_write(struct file *file, struct io *io, loff_t *position)
{
	struct inode *inode = file->inode;
	ssize_t result;
	loff_t at;

	if (!io->length)
		return 0;
	down_write(&inode->lock);
	at = *position;
	if (file->flags & O_APPEND)
		at = inode->data.size;
	result = prepare_write(file, io, at);
	if (!result)
		result = write_pages(inode, io, at);
	up_write(&inode->lock);
	if (result <= 0)
		return result;
	*position = at + result;
	if (inode->data.ops->writepage)
		balance_dirty();
	if (unlikely(file->flags & O_DSYNC) && file->fop->fsync)
		TRY(vfs_fsync(file, !(file->flags & O_SYNC & ~O_DSYNC)));
	return result;
}
