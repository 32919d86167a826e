/*
 * dirty.c - I/O on buffers, and in which order the dirty ones are written. See dirty.h.
 *
 * A buffer that becomes dirty goes to the end of a dirty list: there are several, for regions of
 * blocks in turn, each with a lock of its own, so that writers of different files seldom meet; and
 * in each one for every rank. Write-back goes from rank to rank, waiting and flushing in between.
 * It takes a batch from the front of a list, sorts it by block and submits it, blocks that continue
 * each other in one request. What it takes is clean, locked, and counted as flying until it is
 * written, which is what a sync waits for in the end.
 *
 * Memory: while more than a tenth of it is dirty, writers write themselves, and wait while more
 * than a quarter is on its way to a disk.
 */
#include "fs/block/dirty.h"

#define BATCH 256
#define DIRTY_LISTS 16
#define REGION_SHIFT 10 /* blocks of one region: they are written in order */

static struct dirty_list {
	spinlock_t lock;
	struct list_head buffers[RANKS]; /* mostly oldest first */
} __aligned(64) dirty_lists[DIRTY_LISTS];

static atomic64_t dirty_bytes, flying_bytes; /* to be written; being written */
static atomic64_t metadata_writes = {1};     /* of metadata buffers, begun */
static atomic_t settling; /* who waits until nothing flies: others begin no more */
static u64 background_bytes, limit_bytes;    /* a tenth and a quarter of memory */
static DEFINE_WAIT_QUEUE(thread_wait);
static bool hurried;
struct rw_semaphore ranks_lock;

/* ---- locked, dirty --------------------------------------------------------------------------- */

static bool trylock_buffer(struct buffer *buffer)
{
	return !test_and_set_bit(B_LOCKED, &buffer->flags);
}

void lock_buffer(struct buffer *buffer)
{
	wait_event(block_wait, trylock_buffer(buffer));
}

void unlock_buffer(struct buffer *buffer)
{
	clear_bit(B_LOCKED, &buffer->flags); /* from here on it may go away */
	wake_up(&block_wait);
}

void wait_on_buffer(struct buffer *buffer)
{
	wait_event(block_wait, !test_bit(B_LOCKED, &buffer->flags));
}

/* A dirty buffer keeps its block. */
static struct dirty_list *list_of(const struct buffer *buffer)
{
	return &dirty_lists[(buffer->block >> REGION_SHIFT) % DIRTY_LISTS];
}

void __mark_buffer_dirty(struct buffer *buffer, enum buffer_rank rank)
{
	struct dirty_list *list = list_of(buffer);

	guard(spinlock, &list->lock);
	if (test_bit(B_DIRTY, &buffer->flags)) {
		if (buffer->rank <= RANK_FRESH || buffer->rank >= rank)
			return;
		list_del(&buffer->dirty_link);
	} else {
		/* A metadata buffer that was pushed out has no block any more. */
		if (!buffer->page && !test_bit(B_HASHED, &buffer->flags))
			return;
		set_bit(B_DIRTY, &buffer->flags);
		buffer->dirtied_ns = ktime_ns();
		atomic_add(buffer->size, &dirty_bytes);
	}
	WRITE_ONCE(buffer->rank, rank);
	list_add_tail(&buffer->dirty_link, &list->buffers[rank]);
}

/* clean_buffer() with the dirty list locked. A sync must see the buffer dirty, or counted as
 * flying: so it is counted before it is clean. */
static bool take_dirty(struct buffer *buffer, enum clean_purpose purpose)
{
	lockdep_assert_held(&list_of(buffer)->lock);
	if (!test_bit(B_DIRTY, &buffer->flags))
		return false;
	if (purpose == TO_WRITE) {
		atomic_add(buffer->size, &flying_bytes);
		clear_bit(B_ERROR, &buffer->flags);
		clear_bit(B_ARRIVED, &buffer->flags);
		clear_bit(B_LEADS, &buffer->flags);
		if (buffer->page)
			atomic_inc(&buffer->page->mapping->writes);
		else
			atomic_inc(&metadata_writes);
	}
	/* fully ordered: the disk reads what was stored before others find it dirty still */
	test_and_clear_bit(B_DIRTY, &buffer->flags);
	list_del_init(&buffer->dirty_link);
	atomic_sub(buffer->size, &dirty_bytes);
	return true;
}

bool clean_buffer(struct buffer *buffer, enum clean_purpose purpose)
{
	guard(spinlock, &list_of(buffer)->lock);
	return take_dirty(buffer, purpose);
}

/* ---- I/O ------------------------------------------------------------------------------------- */

/* The blocks are on the disk, or in memory. Interrupt context. */
static void end_request(struct block_request *request)
{
	bool write = request->operation == BLOCK_WRITE;
	struct buffer *buffer = request->private, *next;

	if (write) /* before anybody can see that it is done, and ask for a flush */
		atomic_inc_return(&request->device->writes_done);
	for (; buffer; buffer = next) {
		struct address_space *mapping = buffer->page ? buffer->page->mapping : NULL;

		next = buffer->next_in_io;
		if (likely(!request->status)) {
			set_bit_release(B_UPTODATE, &buffer->flags);
		} else if (write) {
			set_bit(B_ERROR, &buffer->flags);
			atomic_inc(&request->device->write_errors);
			if (mapping)
				mapping_set_error(mapping, -EIO);
		}
		if (write && mapping) /* truncation waits for B_LOCKED: it is still there */
			end_mapping_write(mapping);
		clear_bit(B_LOCKED, &buffer->flags);
	}
	if (write)
		atomic_sub((s64)request->sectors * SECTOR_SIZE, &flying_bytes);
	block_request_end(request); /* wakes who waits for any of this */
}

/* One more locked buffer to read or write, after those of @request: the request that it is in. When
 * that is done it is unlocked. */
static struct block_request *add_buffer(struct block_request *request,
					enum block_operation operation, struct buffer *buffer)
{
	request = block_request_add(request, buffer->device, operation,
				    buffer->block * (buffer->size / SECTOR_SIZE), buffer->data,
				    buffer->size);
	request->done = end_request;
	buffer->next_in_io = request->private;
	request->private = buffer;
	return request;
}

int __read_buffer(struct buffer *buffer)
{
	lock_buffer(buffer);
	if (test_bit(B_UPTODATE, &buffer->flags)) {
		unlock_buffer(buffer);
		return 0;
	}
	submit_block_request(add_buffer(NULL, BLOCK_READ, buffer));
	wait_on_buffer(buffer);
	return test_bit(B_UPTODATE, &buffer->flags) ? 0 : -EIO;
}

void write_buffers(struct buffer *first, unsigned count)
{
	struct block_request *request = NULL;

	for (struct buffer *buffer = first; buffer < first + count; buffer++) {
		if (!test_bit(B_DIRTY, &buffer->flags))
			continue;
		if (!trylock_buffer(buffer)) {
			submit_block_request(request); /* let go before we wait */
			request = NULL;
			lock_buffer(buffer);
		}
		if (clean_buffer(buffer, TO_WRITE))
			request = add_buffer(request, BLOCK_WRITE, buffer);
		else
			unlock_buffer(buffer);
	}
	submit_block_request(request);
}

/* ---- writing batches ------------------------------------------------------------------------- */

/* Start writing a batch of what of @rank became dirty at @until or before; how many buffers.
 * *@busy: some are in flight since before they became dirty, and must wait. */
static unsigned write_batch(struct dirty_list *list, enum buffer_rank rank, u64 until, bool *busy)
{
	struct buffer *batch[BATCH], *buffer, *next;
	struct block_request *request = NULL;
	unsigned count = 0, at;

	spin_lock(&list->lock);
	list_for_each_entry_safe (buffer, next, &list->buffers[rank], dirty_link) {
		if (count == BATCH)
			break;
		if (buffer->dirtied_ns > until)
			continue;
		if (!trylock_buffer(buffer)) {
			*busy = true;
			continue;
		}
		take_dirty(buffer, TO_WRITE);
		/* by block: mostly they are in order already */
		for (at = count++; at && batch[at - 1]->block > buffer->block; at--)
			batch[at] = batch[at - 1];
		batch[at] = buffer;
	}
	spin_unlock(&list->lock);
	for (at = 0; at < count; at++)
		request = add_buffer(request, BLOCK_WRITE, batch[at]);
	submit_block_request(request);
	return count;
}

static void wait_for_flying(void)
{
	wait_event(block_wait, !atomic_read(&flying_bytes));
}

/* Start writing what of @rank became dirty at @until or before, until no more than @enough bytes
 * are dirty at all; what was in flight when it became so is waited for, and written again. */
static void write_rank(enum buffer_rank rank, u64 until, u64 enough)
{
	bool busy;

	do {
		busy = false;
		for (unsigned i = 0; i < DIRTY_LISTS; i++)
			while (!list_empty(&dirty_lists[i].buffers[rank]) &&
			       (u64)atomic_read(&dirty_bytes) > enough &&
			       write_batch(&dirty_lists[i], rank, until, &busy))
				cond_resched();
		if (busy)
			wait_for_flying();
	} while (busy);
}

bool any_dirty(enum buffer_rank rank)
{
	for (unsigned i = 0; i < DIRTY_LISTS; i++)
		if (!list_empty(&dirty_lists[i].buffers[rank]))
			return true;
	return false;
}

int settle(const struct block_device *device)
{
	struct block_device *each = NULL;
	bool failed = false;

	atomic_inc(&settling);
	wait_for_flying();
	atomic_dec(&settling);
	wake_up(&block_wait);
	while ((each = next_block_device(each)) != NULL)
		if (block_flush(each)) {
			atomic_inc(&each->write_errors);
			failed |= each == device;
		}
	return failed ? -EIO : 0;
}

/* Data first, which may take long; once that is not enough, all ranks, each wholly. */
static void write_dirty(u64 until, u64 enough)
{
	write_rank(RANK_DATA, until, enough);
	if ((u64)atomic_read(&dirty_bytes) <= enough)
		return;
	guard(write, &ranks_lock);
	until = ktime_ns(); /* with all that led to what is dirty now */
	for (enum buffer_rank rank = RANK_DATA; rank < RANKS; rank++) {
		if (!any_dirty(rank))
			continue;
		if (rank > RANK_FRESH)
			(void)settle(NULL);
		write_rank(rank, until, 0);
	}
}

u64 buffers_stamp(void)
{
	u64 stamp = (u64)atomic_read(&metadata_writes);

	smp_mb(); /* take_dirty() has it the other way round */
	/* what is in flight may yet read what is changed now */
	return atomic_read(&flying_bytes) ? 0 : stamp;
}

bool buffers_stamp_good(u64 stamp)
{
	return stamp && stamp == (u64)atomic_read(&metadata_writes);
}

static s64 count_errors(const struct block_device *device)
{
	struct block_device *each = NULL;
	s64 errors = 0;

	while ((each = next_block_device(each)) != NULL)
		if (!device || each == device)
			errors += atomic_read(&each->write_errors);
	return errors;
}

int sync_buffers(struct block_device *device, enum writeback_sync_modes mode)
{
	s64 errors = count_errors(device);

	write_dirty(ktime_ns(), 0);
	if (mode == WB_SYNC_NONE)
		return 0;
	wait_for_flying();
	return count_errors(device) == errors ? 0 : -EIO;
}

int block_take_error(struct block_device *device)
{
	int errors = atomic_read(&device->write_errors);

	return xchg(&device->errors_told, errors) == errors ? 0 : -EIO;
}

int sync_dirty_buffer(struct buffer *buffer)
{
	write_buffers(buffer, 1);
	wait_on_buffer(buffer);
	return test_bit(B_ERROR, &buffer->flags) ? -EIO : 0;
}

/* ---- when ------------------------------------------------------------------------------------ */

u64 dirty_buffer_bytes(void)
{
	return (u64)atomic_read(&dirty_bytes);
}

bool writeback_is_busy(void)
{
	return atomic_read(&dirty_bytes) || atomic_read(&flying_bytes) ||
	       memory_use_total(MEMORY_DIRTY);
}

void hurry_writeback(void)
{
	if (READ_ONCE(hurried) || !writeback_is_busy())
		return;
	WRITE_ONCE(hurried, true);
	wake_up(&thread_wait);
}

void wait_for_hurry(u64 deadline)
{
	wait_event_until(thread_wait, READ_ONCE(hurried), TASK_UNINTERRUPTIBLE, deadline);
	WRITE_ONCE(hurried, false);
}

void balance_dirty(void)
{
	if (likely((u64)atomic_read(&dirty_bytes) <= background_bytes))
		return;
	wait_event(block_wait, !atomic_read(&settling));
	write_dirty(~0ULL, background_bytes / 2);
	wait_event(block_wait, (u64)atomic_read(&flying_bytes) <= limit_bytes);
}

void dirty_lists_init(void)
{
	u64 bytes = page_alloc_total_pages() * PAGE_SIZE;

	for (unsigned i = 0; i < DIRTY_LISTS; i++) {
		spin_lock_init(&dirty_lists[i].lock, "dirty_list");
		for (unsigned rank = 0; rank < RANKS; rank++)
			INIT_LIST_HEAD(&dirty_lists[i].buffers[rank]);
	}
	init_rwsem(&ranks_lock, "ranks");
	background_bytes = bytes / 10;
	limit_bytes = bytes / 4;
}
