/*
 * writeback.c - the dirty lists, I/O on buffers, and when they are written. Declared in buffer.h.
 *
 * A buffer that becomes dirty goes to the end of a dirty list: there are several, for regions of
 * blocks in turn, each with a lock of its own, so that writers of different files seldom meet.
 * Write-back takes a batch from the front of one, holding a reference to each, sorts it by block
 * and submits it, blocks that continue each other in one request. A write in flight, or about to
 * be, is counted in its device, which is what a sync waits for in the end.
 *
 * Memory: while more than a quarter of it is dirty or on its way to a disk, writers are slowed down
 * by writing themselves and by waiting.
 *
 * Lock order: B_LOCKED -> dirty list lock. Completion runs in interrupts: it takes no lock of ours.
 */
#include "fs/buffer.h"
#include "fs/internal.h"

#define DIRTY_EXPIRE_NS (30 * NSEC_PER_SEC)
#define PERIOD_NS (5 * NSEC_PER_SEC)
#define BATCH 256
#define DIRTY_LISTS 16
#define REGION_SHIFT 10 /* blocks of one region: they are written in order */

static struct dirty_list {
	spinlock_t lock;
	struct list_head buffers; /* oldest first */
} __aligned(64) dirty_lists[DIRTY_LISTS];

static atomic64_t dirty_bytes, flying_bytes; /* to be written; being written */
static u64 background_bytes, limit_bytes;    /* a tenth and a quarter of memory */

static DEFINE_WAIT_QUEUE(write_wait); /* a device's writes_in_flight fell to 0 */
static DEFINE_WAIT_QUEUE(brake_wait); /* a write has ended */
static DEFINE_WAIT_QUEUE(thread_wait);
static bool thread_wanted, hurried;

/* ---- locking: a few queues shared by all buffers --------------------------------------------- */

#define WAIT_QUEUES 16

static wait_queue_head_t queues[WAIT_QUEUES];

static inline wait_queue_head_t *queue_of(const struct buffer *buffer)
{
	return &queues[((uintptr_t)buffer >> 6) % WAIT_QUEUES];
}

void lock_buffer(struct buffer *buffer)
{
	wait_event(*queue_of(buffer), trylock_buffer(buffer));
}

void unlock_buffer(struct buffer *buffer)
{
	wait_queue_head_t *queue = queue_of(buffer);

	clear_bit_unlock(B_LOCKED, &buffer->flags); /* from here on it may go away */
	wake_up(queue);
}

void wait_on_buffer(struct buffer *buffer)
{
	wait_event(*queue_of(buffer), !test_bit(B_LOCKED, &buffer->flags));
}

/* ---- the dirty list -------------------------------------------------------------------------- */

/* A dirty buffer keeps its block. */
static struct dirty_list *list_of(const struct buffer *buffer)
{
	return &dirty_lists[(buffer->block >> REGION_SHIFT) % DIRTY_LISTS];
}

void __mark_buffer_dirty(struct buffer *buffer)
{
	struct dirty_list *list = list_of(buffer);

	spin_lock(&list->lock);
	/* A metadata buffer that was pushed out has no block any more. */
	if (!test_bit(B_DIRTY, &buffer->flags) &&
	    (READ_ONCE(buffer->flags) & (BIT(B_HASHED) | BIT(B_ALIAS)))) {
		set_bit(B_DIRTY, &buffer->flags);
		buffer->dirtied_ns = ktime_ns();
		list_add_tail(&buffer->dirty_link, &list->buffers);
		atomic_add(buffer->size, &dirty_bytes);
	}
	spin_unlock(&list->lock);
}

bool clean_buffer(struct buffer *buffer)
{
	struct dirty_list *list = list_of(buffer);
	bool dirty;

	if (!test_bit(B_DIRTY, &buffer->flags))
		return false;
	spin_lock(&list->lock);
	dirty = test_and_clear_bit(B_DIRTY, &buffer->flags);
	if (dirty) {
		list_del_init(&buffer->dirty_link);
		atomic_sub(buffer->size, &dirty_bytes);
	}
	spin_unlock(&list->lock);
	return dirty;
}

u64 buffer_dirty_bytes(void)
{
	return (u64)atomic_read(&dirty_bytes);
}

/* ---- I/O ------------------------------------------------------------------------------------- */

static void end_writes(struct block_device *device, int count)
{
	if (atomic_sub_return(count, &device->writes_in_flight) == 0)
		wake_up(&write_wait);
}

/* The block is on the disk, or in memory. Interrupt context. */
static void end_buffer(struct buffer *buffer, enum block_operation operation, int status)
{
	struct page *page = buffer->page;
	struct buffer *ring = NULL;

	if (unlikely(status)) {
		set_bit(B_ERROR, &buffer->flags);
		block_report_error(buffer->device, operation,
				   buffer->block * (buffer->size / SECTOR_SIZE));
	} else if (operation == BLOCK_READ) {
		set_bit(B_UPTODATE, &buffer->flags);
	}
	if (unlikely(status) && operation == BLOCK_WRITE) {
		buffer->device->write_error = -EIO;
		if (test_bit(B_ALIAS, &buffer->flags) && page->mapping)
			page->mapping->write_error = -EIO;
	}
	if (test_bit(B_PAGE_WRITE, &buffer->flags)) {
		clear_bit(B_PAGE_WRITE, &buffer->flags);
		ring = page->buffers; /* PG_writeback keeps it after the buffer is unlocked */
	}
	unlock_buffer(buffer);
	if (ring && atomic_dec_and_test(&ring->page_writes))
		page_done(page, PG_writeback);
}

static void end_request(struct block_request *request)
{
	struct buffer *buffer = request->private, *next;
	struct block_device *device = buffer->device;
	u64 bytes = 0;
	int count = 0;

	for (; buffer; buffer = next) {
		next = buffer->next_in_io;
		bytes += buffer->size;
		count++;
		end_buffer(buffer, request->operation, request->status);
	}
	if (request->operation == BLOCK_WRITE) {
		atomic_sub((s64)bytes, &flying_bytes);
		wake_up(&brake_wait);
		end_writes(device, count);
	}
	block_request_put(request);
}

/* Append @buffer to @request if it continues it. */
static bool add_to_request(struct block_request *request, struct buffer *last,
			   struct buffer *buffer)
{
	struct block_segment *segment = &request->segments[request->segment_count - 1];

	if (last->device != buffer->device || last->block + 1 != buffer->block ||
	    last->size != buffer->size)
		return false;
	if ((char *)segment->data + segment->length == (char *)buffer->data)
		segment->length += buffer->size;
	else if (request->segment_count < BLOCK_MAX_SEGMENTS)
		block_request_add(request, buffer->data, buffer->size);
	else
		return false;
	last->next_in_io = buffer;
	return true;
}

void submit_buffers(enum block_operation operation, struct buffer **buffers, unsigned count)
{
	struct block_request *request;
	unsigned i = 0;

	while (i < count) {
		struct buffer *buffer = buffers[i];
		struct block_device *device = buffer->device;
		u64 sector = buffer->block * (buffer->size / SECTOR_SIZE);

		request = block_request_get(operation, sector, end_request);
		block_request_add(request, buffer->data, buffer->size);
		request->private = buffer;
		for (;;) {
			buffer->next_in_io = NULL;
			if (operation == BLOCK_WRITE) {
				atomic_inc(&device->writes_in_flight);
				atomic_add(buffer->size, &flying_bytes);
			}
			if (++i == count || !add_to_request(request, buffer, buffers[i]))
				break;
			buffer = buffers[i];
		}
		submit_block_request(device, request);
	}
}

/* ---- writing batches ------------------------------------------------------------------------- */

/* Shell sort by block (Ciura's gaps): no recursion, no memory, and batches are small and often
 * sorted already. */
static void sort_batch(struct buffer **batch, unsigned count)
{
	static const unsigned gaps[] = {57, 23, 10, 4, 1};

	for (unsigned g = 0; g < ARRAY_SIZE(gaps); g++)
		for (unsigned i = gaps[g]; i < count; i++) {
			struct buffer *buffer = batch[i];
			unsigned j = i;

			for (; j >= gaps[g] && buffer->block < batch[j - gaps[g]]->block;
			     j -= gaps[g])
				batch[j] = batch[j - gaps[g]];
			batch[j] = buffer;
		}
}

/* Take up to BATCH buffers of *@device (NULL: set to that of the first) that became dirty at @until
 * or before off the list, each counted as a write in flight. */
static unsigned gather(struct dirty_list *list, struct block_device **device, u64 until,
		       struct buffer **batch)
{
	struct buffer *buffer, *next;
	unsigned count = 0;

	spin_lock(&list->lock);
	list_for_each_entry_safe (buffer, next, &list->buffers, dirty_link) {
		if (count == BATCH || buffer->dirtied_ns > until)
			break;
		if (!*device)
			*device = buffer->device;
		if (buffer->device != *device)
			continue;
		list_del_init(&buffer->dirty_link);
		atomic_inc(&buffer->refcount);
		atomic_inc(&buffer->device->writes_in_flight);
		batch[count++] = buffer;
	}
	spin_unlock(&list->lock);
	return count;
}

void write_buffers(struct buffer **buffers, unsigned count, struct buffer *ring)
{
	unsigned ready = 0;

	for (unsigned i = 0; i < count; i++) {
		struct buffer *buffer = buffers[i];

		if (!trylock_buffer(buffer)) {
			submit_buffers(BLOCK_WRITE, buffers, ready); /* let go before we wait */
			ready = 0;
			lock_buffer(buffer);
		}
		if (!clean_buffer(buffer)) {
			unlock_buffer(buffer);
		} else {
			clear_bit(B_ERROR, &buffer->flags);
			if (ring) {
				atomic_inc(&ring->page_writes);
				set_bit(B_PAGE_WRITE, &buffer->flags);
			}
			buffers[ready++] = buffer; /* B_LOCKED keeps it */
		}
		if (!ring)
			brelse(buffer);
	}
	submit_buffers(BLOCK_WRITE, buffers, ready);
}

/* Write one batch without waiting for the end; how many buffers it took. */
static unsigned write_batch(struct dirty_list *list, struct block_device *device, u64 until)
{
	struct buffer *batch[BATCH];
	unsigned count = gather(list, &device, until, batch);

	if (!count)
		return 0;
	sort_batch(batch, count);
	write_buffers(batch, count, NULL);
	end_writes(device, (int)count);
	return count;
}

/* Write what became dirty at @until or before, until no more than @enough bytes are. */
static void write_dirty(struct block_device *device, u64 until, u64 enough)
{
	for (unsigned i = 0; i < DIRTY_LISTS; i++)
		while (buffer_dirty_bytes() > enough && write_batch(&dirty_lists[i], device, until))
			cond_resched();
}

static int wait_for_writes(struct block_device *device)
{
	wait_event(write_wait, atomic_read(&device->writes_in_flight) == 0);
	return xchg(&device->write_error, 0);
}

int sync_buffers(struct block_device *device, bool wait)
{
	struct block_device *each = NULL;
	int error = 0;

	write_dirty(device, ktime_ns(), 0);
	if (!wait)
		return 0;
	if (device)
		return wait_for_writes(device);
	while ((each = next_block_device(each)) != NULL)
		error = wait_for_writes(each) ?: error;
	return error;
}

int sync_dirty_buffer(struct buffer *buffer)
{
	atomic_inc(&buffer->refcount);
	write_buffers((struct buffer *[]){buffer}, 1, NULL);
	wait_on_buffer(buffer);
	return test_bit(B_ERROR, &buffer->flags) ? -EIO : 0;
}

/* ---- the thread and the brake ---------------------------------------------------------------- */

/* Memory is short: everything is written soon. Any context but interrupts. */
void writeback_hurry(void)
{
	if (READ_ONCE(hurried) || (!buffer_dirty_bytes() && !memory_use_total(MEMORY_DIRTY)))
		return;
	hurried = true;
	wake_up(&thread_wait);
}

static void write_inodes(struct super_block *sb, void *unused)
{
	sync_inodes(sb);
}

/* Inodes keep their memory while they or their pages are dirty, and pages that were written to
 * through a mapping have no dirty buffers yet: so from time to time, and when memory is short, the
 * inodes first. */
void writeback_once(void)
{
	static u64 inodes_due = DIRTY_EXPIRE_NS;
	u64 now = ktime_ns();
	bool hurry = xchg(&hurried, false);

	if (hurry || now >= inodes_due) {
		inodes_due = now + DIRTY_EXPIRE_NS;
		for_each_super(write_inodes, NULL);
	}
	write_dirty(NULL, hurry ? now : now - min(now, (u64)DIRTY_EXPIRE_NS), 0);
	write_dirty(NULL, ~0ULL, background_bytes);
}

static int writeback_thread(void *unused)
{
	for (;;) {
		wait_event_timeout(thread_wait, READ_ONCE(thread_wanted) || READ_ONCE(hurried),
				   PERIOD_NS);
		thread_wanted = false;
		writeback_once();
	}
	return 0;
}

void balance_dirty(void)
{
	u64 dirty = buffer_dirty_bytes();

	if (likely(dirty <= background_bytes))
		return;
	if (!thread_wanted) {
		thread_wanted = true;
		wake_up(&thread_wait);
	}
	write_dirty(NULL, ~0ULL, limit_bytes);
	wait_event(brake_wait,
		   buffer_dirty_bytes() + (u64)atomic_read(&flying_bytes) <= limit_bytes);
}

void writeback_start(void)
{
	struct task *thread = kthread_create(writeback_thread, NULL, "writeback");

	if (IS_ERR(thread))
		pr_err("writeback: no thread, dirty buffers are written by sync and by writers alone\n");
}

void writeback_init(void)
{
	u64 bytes = page_alloc_total_pages() * PAGE_SIZE;

	for (unsigned i = 0; i < WAIT_QUEUES; i++)
		init_waitqueue_head(&queues[i]);
	for (unsigned i = 0; i < DIRTY_LISTS; i++) {
		spin_lock_init(&dirty_lists[i].lock, "dirty_list");
		INIT_LIST_HEAD(&dirty_lists[i].buffers);
	}
	background_bytes = bytes / 10;
	limit_bytes = bytes / 4;
}
