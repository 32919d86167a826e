/*
 * writeback.c - the dirty list, I/O on buffers, and when they are written. Declared in buffer.h.
 *
 * A buffer that becomes dirty goes to the end of the dirty list. Write-back takes a batch from the
 * front, holding a reference to each, sorts it by block and submits it, blocks that continue each
 * other in one request. One batch at a time (batch_lock). A write in flight is counted in its
 * device, which is what a sync waits for in the end.
 *
 * Lock order: batch_lock -> B_LOCKED -> dirty_lock. Completion runs in interrupts: it takes no lock
 * of ours.
 */
#include "fs/buffer.h"
#include "fs/internal.h"
#include "fs/vfs.h"
#include "kernel/core/errno.h"
#include "kernel/core/mutex.h"
#include "kernel/core/printk.h"
#include "kernel/core/sched.h"
#include "kernel/core/time.h"
#include "kernel/core/wait.h"

#define DIRTY_EXPIRE_NS (30 * NSEC_PER_SEC)
#define PERIOD_NS (5 * NSEC_PER_SEC)
#define BATCH 256

static DEFINE_SPINLOCK(dirty_lock);
static LIST_HEAD(dirty_list); /* oldest first */
static u64 dirty_bytes;

static DEFINE_WAIT_QUEUE(device_wait); /* a device's writes_in_flight fell to 0 */
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

void __mark_buffer_dirty(struct buffer *buffer)
{
	spin_lock(&dirty_lock);
	/* A metadata buffer that was pushed out has no block any more. */
	if (!test_bit(B_DIRTY, &buffer->flags) &&
	    (READ_ONCE(buffer->flags) & (BIT(B_HASHED) | BIT(B_ALIAS)))) {
		set_bit(B_DIRTY, &buffer->flags);
		buffer->dirtied_ns = ktime_ns();
		list_add_tail(&buffer->dirty_link, &dirty_list);
		dirty_bytes += buffer->size;
	}
	spin_unlock(&dirty_lock);
}

bool clean_buffer(struct buffer *buffer)
{
	bool dirty;

	if (!test_bit(B_DIRTY, &buffer->flags))
		return false;
	spin_lock(&dirty_lock);
	dirty = test_and_clear_bit(B_DIRTY, &buffer->flags);
	if (dirty) {
		list_del_init(&buffer->dirty_link);
		dirty_bytes -= buffer->size;
	}
	spin_unlock(&dirty_lock);
	return dirty;
}

u64 buffer_dirty_bytes(void)
{
	return READ_ONCE(dirty_bytes);
}

/* ---- I/O ------------------------------------------------------------------------------------- */

static void end_write(struct buffer *buffer, int status)
{
	if (unlikely(status)) {
		set_bit(B_ERROR, &buffer->flags);
		buffer->device->write_error = -EIO;
		if (test_bit(B_ALIAS, &buffer->flags) && buffer->page->mapping)
			buffer->page->mapping->write_error = -EIO;
	}
	if (atomic_dec_and_test(&buffer->device->writes_in_flight))
		wake_up(&device_wait);
}

/* The block is on the disk, or in memory. Interrupt context. */
static void end_buffer(struct buffer *buffer, enum block_operation operation, int status)
{
	struct page *page = buffer->page;
	struct buffer *ring = NULL;

	if (unlikely(status))
		block_report_error(buffer->device, operation,
				   buffer->block * (buffer->size / SECTOR_SIZE));
	if (operation == BLOCK_WRITE)
		end_write(buffer, status);
	else if (likely(!status))
		set_bit(B_UPTODATE, &buffer->flags);
	else
		set_bit(B_ERROR, &buffer->flags);
	if (test_bit(B_PAGE_WRITE, &buffer->flags)) {
		clear_bit(B_PAGE_WRITE, &buffer->flags);
		ring = page->buffers; /* PG_writeback keeps it after the buffer is unlocked */
	}
	unlock_buffer(buffer);
	if (ring && atomic_dec_and_test(&ring->page_writes))
		end_page_writeback(page);
}

static void end_request(struct block_request *request)
{
	struct buffer *buffer = request->private, *next;

	for (; buffer; buffer = next) {
		next = buffer->next_in_io;
		end_buffer(buffer, request->operation, request->status);
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
	if ((char *)segment->data + segment->length == (char *)buffer->data) {
		segment->length += buffer->size;
	} else {
		if (request->segment_count == BLOCK_MAX_SEGMENTS)
			return false;
		block_request_add(request, buffer->data, buffer->size);
	}
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
			if (operation == BLOCK_WRITE)
				atomic_inc(&device->writes_in_flight);
			if (++i == count || !add_to_request(request, buffer, buffers[i]))
				break;
			buffer = buffers[i];
		}
		submit_block_request(device, request);
	}
}

/* ---- writing batches ------------------------------------------------------------------------- */

static DEFINE_MUTEX(batch_lock);
static struct buffer *batch[BATCH], *ready[BATCH]; /* under batch_lock */

static bool before(const struct buffer *a, const struct buffer *b)
{
	if (a->device != b->device)
		return a->device->dev < b->device->dev;
	return a->block < b->block;
}

/* Shell sort (Ciura's gaps): no recursion, no memory, and batches are small and often sorted
 * already. */
static void sort_batch(unsigned count)
{
	static const unsigned gaps[] = {57, 23, 10, 4, 1};

	for (unsigned g = 0; g < ARRAY_SIZE(gaps); g++)
		for (unsigned i = gaps[g]; i < count; i++) {
			struct buffer *buffer = batch[i];
			unsigned j = i;

			for (; j >= gaps[g] && before(buffer, batch[j - gaps[g]]); j -= gaps[g])
				batch[j] = batch[j - gaps[g]];
			batch[j] = buffer;
		}
}

/* Take up to BATCH buffers of @device (NULL: any) that became dirty at @until or before off the
 * list. */
static unsigned gather(struct block_device *device, u64 until)
{
	struct buffer *buffer, *next;
	unsigned count = 0;

	spin_lock(&dirty_lock);
	list_for_each_entry_safe(buffer, next, &dirty_list, dirty_link) {
		if (count == BATCH || buffer->dirtied_ns > until)
			break;
		if (device && buffer->device != device)
			continue;
		list_del_init(&buffer->dirty_link);
		atomic_inc(&buffer->refcount);
		batch[count++] = buffer;
	}
	spin_unlock(&dirty_lock);
	return count;
}

/* Write one batch without waiting for the end; how many buffers it took. */
static unsigned write_batch(struct block_device *device, u64 until)
{
	unsigned count, n = 0;

	mutex_lock(&batch_lock);
	count = gather(device, until);
	sort_batch(count);
	for (unsigned i = 0; i < count; i++) {
		if (!trylock_buffer(batch[i])) {
			submit_buffers(BLOCK_WRITE, ready, n); /* let go of ours before we wait */
			n = 0;
			lock_buffer(batch[i]);
		}
		if (clean_buffer(batch[i]))
			ready[n++] = batch[i];
		else
			unlock_buffer(batch[i]);
	}
	submit_buffers(BLOCK_WRITE, ready, n);
	for (unsigned i = 0; i < count; i++)
		brelse(batch[i]);
	mutex_unlock(&batch_lock);
	return count;
}

static int wait_for_writes(struct block_device *device)
{
	wait_event(device_wait, atomic_read(&device->writes_in_flight) == 0);
	return xchg(&device->write_error, 0);
}

int sync_buffers(struct block_device *device, bool wait)
{
	struct block_device *each = NULL;
	u64 now = ktime_ns();
	int error = 0;

	while (write_batch(device, now))
		cond_resched();
	if (!wait)
		return 0;
	if (device)
		return wait_for_writes(device);
	while ((each = next_block_device(each)) != NULL) {
		int result = wait_for_writes(each);

		error = error ? error : result;
	}
	return error;
}

int sync_dirty_buffer(struct buffer *buffer)
{
	lock_buffer(buffer);
	if (!clean_buffer(buffer)) {
		unlock_buffer(buffer);
		return test_bit(B_ERROR, &buffer->flags) ? -EIO : 0;
	}
	clear_bit(B_ERROR, &buffer->flags);
	submit_buffers(BLOCK_WRITE, &buffer, 1);
	wait_on_buffer(buffer);
	return test_bit(B_ERROR, &buffer->flags) ? -EIO : 0;
}

/* ---- the thread and the brake ---------------------------------------------------------------- */

static u64 background_bytes, limit_bytes; /* a tenth and a quarter of memory */

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
	(void)unused;
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
	if (hurry)
		while (write_batch(NULL, now))
			cond_resched();
	while (write_batch(NULL, now > DIRTY_EXPIRE_NS ? now - DIRTY_EXPIRE_NS : 0))
		cond_resched();
	while (buffer_dirty_bytes() > background_bytes && write_batch(NULL, ~0ULL))
		cond_resched();
}

static int writeback_thread(void *unused)
{
	(void)unused;
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
	while (buffer_dirty_bytes() > limit_bytes && write_batch(NULL, ~0ULL))
		cond_resched();
}

void writeback_start(void)
{
	struct task *thread = kthread_create(writeback_thread, NULL, "writeback");

	if (IS_ERR(thread))
		pr_err("writeback: no thread, dirty buffers are written by sync and by writers alone\n");
}

void writeback_init(void)
{
	struct memory_info info;

	for (unsigned i = 0; i < WAIT_QUEUES; i++)
		init_waitqueue_head(&queues[i]);
	memory_info(&info);
	background_bytes = info.total_pages * PAGE_SIZE / 10;
	limit_bytes = info.total_pages * PAGE_SIZE / 4;
}
