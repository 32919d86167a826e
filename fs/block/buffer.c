/*
 * buffer.c - the buffer cache: the table, metadata buffers and their memory, the buffers of file
 * pages; I/O on buffers, and when the dirty ones are written. See buffer.h for the rules.
 *
 * A metadata buffer has memory of its own and stands on the used list, which reclaim walks
 * from the old end, giving what B_REFERENCED marks a second round. The buffers of file pages are
 * not on it; their page owns them. A lookup takes the lock of its bucket alone; list_lock is for
 * what comes and goes.
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
#include "fs/block/buffer.h"

#include "fs/internal.h"
#include "core/memory/shrinker.h"

#define PERIOD_NS (30 * NSEC_PER_SEC)
#define BATCH 256
#define DIRTY_LISTS 16
#define REGION_SHIFT 10 /* blocks of one region: they are written in order */

struct buffer_key {
	const struct block_device *device;
	u64 block;
	u64 *compares; /* full compares are added here */
};

#define TABLE buffer_table
#define TABLE_OBJECT struct buffer
#define TABLE_LINK hash_link
#define TABLE_KEY struct buffer_key
#include BUFFER_TABLE_HEADER

static __always_inline int buffer_compare(const struct buffer *buffer, const struct buffer_key *key)
{
	if (buffer->block != key->block)
		return buffer->block < key->block ? -1 : 1;
	++*key->compares;
	if (buffer->device != key->device)
		return (uintptr_t)buffer->device < (uintptr_t)key->device ? -1 : 1;
	return 0;
}

static struct buffer_table table;
static struct kmem_cache *buffer_slab;

static DEFINE_SPINLOCK(list_lock);
static LIST_HEAD(used_list);
static u64 used_bytes;

static struct dirty_list {
	spinlock_t lock;
	struct list_head buffers[RANKS]; /* mostly oldest first */
} __aligned(64) dirty_lists[DIRTY_LISTS];

static atomic64_t dirty_bytes, flying_bytes; /* to be written; being written */
static atomic64_t metadata_writes = {1};     /* of metadata buffers, begun */
static u64 background_bytes, limit_bytes;    /* a tenth and a quarter of memory */
static DEFINE_WAIT_QUEUE(thread_wait);
static bool hurried;
struct rw_semaphore ranks_lock;

static inline u32 bucket_of(const struct block_device *device, u64 block)
{
	return buffer_hash((u32)device->dev, block, buffer_cache_hash.bits);
}

/* Look (@device, @block) up in its locked bucket; counted if @count. */
static CACHE_LOOKUP struct buffer *lookup(u32 bucket, struct block_device *device, u64 block,
					     bool count)
{
	u64 steps = 0, compares = 0;
	struct buffer_key key = {device, block, &compares};
	struct buffer *buffer =
		buffer_table_find(&table, NULL, bucket, &key, buffer_compare, &steps);

	if (count) {
		HASH_COUNT_FIND(buffer, buffer, steps, compares);
	}
	HASH_RECORD(buffer, count ? HASH_FIND : HASH_LOOK, buffer, device->dev, block);
	return buffer;
}

struct buffer *find_buffer(struct block_device *device, u64 block)
{
	REGION_MARK(HASH_buffer, 0);
	u32 bucket = bucket_of(device, block);

	buffer_table_lock(&table, NULL, bucket);
	struct buffer *buffer = lookup(bucket, device, block, true);

	if (buffer)
		atomic_inc(&buffer->refcount);
	buffer_table_unlock(&table, NULL, bucket);
	REGION_MARK(HASH_buffer, 1);
	if (buffer && !test_bit(B_REFERENCED, &buffer->flags))
		set_bit(B_REFERENCED, &buffer->flags);
	return buffer;
}

static void table_insert(struct buffer *buffer, u32 bucket)
{
	buffer_table_insert(&table, NULL, bucket, buffer);
	set_bit(B_HASHED, &buffer->flags);
	HASH_COUNT(buffer, inserts, 1);
	HASH_RECORD(buffer, HASH_INSERT, buffer, buffer->device->dev, buffer->block);
}

/*
 * Take @buffer out of the table unless it is in use (@force: even then). false: it is in use.
 * Whoever finds a buffer counts it under the bucket lock, so once it is out at count 0 it is the
 * caller's alone.
 */
static bool unhash(struct buffer *buffer, bool force)
{
	u32 bucket = bucket_of(buffer->device, buffer->block);

	buffer_table_lock(&table, NULL, bucket);
	bool idle = smp_load_acquire(&buffer->refcount.counter) == 0 &&
		    !(READ_ONCE(buffer->flags) & (BIT(B_DIRTY) | BIT(B_LOCKED)));

	if ((idle || force) && test_and_clear_bit(B_HASHED, &buffer->flags)) {
		buffer_table_remove(&table, NULL, bucket, buffer);
		HASH_COUNT(buffer, removes, 1);
		HASH_RECORD(buffer, HASH_REMOVE, buffer, buffer->device->dev, buffer->block);
	}
	buffer_table_unlock(&table, NULL, bucket);
	return idle;
}

/* ---- locked, dirty --------------------------------------------------------------------------- */

static bool trylock_buffer(struct buffer *buffer)
{
	return !test_and_set_bit(B_LOCKED, &buffer->flags);
}

static void unlock_buffer(struct buffer *buffer)
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

/*
 * Take @buffer off its dirty list, which is locked; was it dirty? With @write it is from now on in
 * flight, and B_LOCKED is the caller's; else its contents are void. A sync must see it dirty, or
 * counted as flying: so it is counted before it is clean.
 */
static bool take_dirty(struct buffer *buffer, bool write)
{
	if (!test_bit(B_DIRTY, &buffer->flags))
		return false;
	if (write) {
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

static bool clean_buffer(struct buffer *buffer, bool write)
{
	guard(spinlock, &list_of(buffer)->lock);
	return take_dirty(buffer, write);
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
			request->device->write_error = -EIO;
			if (mapping)
				mapping->write_error = -EIO;
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

int read_buffer(struct buffer *buffer)
{
	/* what made it so is seen by who reads it */
	if (likely(smp_load_acquire(&buffer->flags) & BIT(B_UPTODATE)))
		return 0;
	wait_event(block_wait, trylock_buffer(buffer));
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
			wait_event(block_wait, trylock_buffer(buffer));
		}
		if (clean_buffer(buffer, true))
			request = add_buffer(request, BLOCK_WRITE, buffer);
		else
			unlock_buffer(buffer);
	}
	submit_block_request(request);
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* A metadata buffer comes or goes. Under list_lock. */
static void account(struct buffer *buffer, int sign)
{
	u64 pages = used_bytes / PAGE_SIZE;

	used_bytes += (u64)sign * buffer->size;
	memory_use_add(MEMORY_BUFFER, (s64)(used_bytes / PAGE_SIZE - pages));
}

static void free_buffer(struct buffer *buffer)
{
	ASSERT(list_empty(&buffer->dirty_link) && !test_bit(B_HASHED, &buffer->flags));
	kfree(buffer->data);
	kmem_cache_free(buffer_slab, buffer);
}

/* Free a metadata buffer if nobody uses it. Under list_lock. */
static bool evict(struct buffer *buffer)
{
	if (!unhash(buffer, false))
		return false;
	list_del_init(&buffer->lru);
	account(buffer, -1);
	free_buffer(buffer);
	return true;
}

static void init_buffer(struct buffer *buffer, struct block_device *device, unsigned long flags)
{
	buffer->device = device;
	buffer->size = device->block_size;
	buffer->flags = flags;
	INIT_LIST_HEAD(&buffer->lru);
	INIT_LIST_HEAD(&buffer->dirty_link);
}

struct buffer *buffer_get(struct block_device *device, u64 block)
{
	struct buffer *buffer = find_buffer(device, block);
	u32 bucket = bucket_of(device, block);

	if (likely(buffer))
		return buffer;
	if (block >= device->sectors / (device->block_size / SECTOR_SIZE))
		return ERR_PTR(-EIO);
	buffer = kmem_cache_alloc(buffer_slab, GFP_KERNEL | GFP_ZERO);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	init_buffer(buffer, device, BIT(B_MAPPED) | BIT(B_REFERENCED));
	buffer->block = block;
	atomic_set(&buffer->refcount, 1);
	buffer->data = kmalloc(buffer->size, GFP_KERNEL);
	if (!buffer->data) {
		free_buffer(buffer);
		return ERR_PTR(-ENOMEM);
	}
	buffer_table_lock(&table, NULL, bucket);
	struct buffer *other = lookup(bucket, device, block, false);

	if (other)
		atomic_inc(&other->refcount);
	else
		table_insert(buffer, bucket);
	buffer_table_unlock(&table, NULL, bucket);
	if (unlikely(other)) { /* another was faster */
		free_buffer(buffer);
		return other;
	}
	guard(spinlock, &list_lock);
	list_add_tail(&buffer->lru, &used_list);
	account(buffer, 1);
	return buffer;
}

struct buffer *bread(struct block_device *device, u64 block)
{
	struct buffer *buffer = buffer_get(device, block);

	if (IS_ERR(buffer) || likely(!read_buffer(buffer)))
		return buffer;
	brelse(buffer);
	return ERR_PTR(-EIO);
}

void abandon_buffer(struct buffer *buffer)
{
	clean_buffer(buffer, false);
	wait_on_buffer(buffer);
}

void bforget(struct buffer *buffer)
{
	clean_buffer(buffer, false);
	brelse(buffer); /* now it is left to reclaim */
}

void invalidate_buffers(struct block_device *device)
{
	struct buffer *buffer, *next;

	guard(spinlock, &list_lock);
	list_for_each_entry_safe (buffer, next, &used_list, lru)
		if (buffer->device == device)
			evict(buffer);
}

/* ---- the buffers of file pages --------------------------------------------------------------- */

int create_page_buffers(struct page *page, struct block_device *device)
{
	unsigned long flags = page_uptodate(page) ? BIT(B_UPTODATE) : 0;
	unsigned count = (unsigned)PAGE_SIZE / device->block_size;

	if (page->buffers)
		return 0;
	page->buffers = TRY_PTR(kzalloc(count * sizeof(struct buffer), GFP_KERNEL));
	for (unsigned i = 0; i < count; i++) {
		struct buffer *buffer = &page->buffers[i];

		init_buffer(buffer, device, flags);
		buffer->page = page;
		buffer->data = (char *)page_address(page) + i * buffer->size;
	}
	return 0;
}

bool free_page_buffers(struct page *page)
{
	for (unsigned i = 0; i < buffers_of_page(page); i++)
		if (!unhash(&page->buffers[i], false))
			return false;
	kfree(page->buffers);
	page->buffers = NULL;
	return true;
}

/*
 * The block of @buffer has another buffer, from a time when it was metadata, or was read through
 * the device, or because the file system is damaged. Its contents are void: the file page's count.
 */
static void push_out(struct buffer *other)
{
	unhash(other, true);
	if (!other->page)
		clean_buffer(other, false);
	wait_on_buffer(other);
	brelse(other);
}

void map_page_buffer(struct buffer *buffer, u64 block)
{
	u32 bucket = bucket_of(buffer->device, block);
	struct buffer *other;

	buffer->block = block;
	buffer_table_lock(&table, NULL, bucket);
	while ((other = lookup(bucket, buffer->device, block, true)) != NULL) {
		atomic_inc(&other->refcount);
		buffer_table_unlock(&table, NULL, bucket);
		push_out(other);
		buffer_table_lock(&table, NULL, bucket);
	}
	table_insert(buffer, bucket);
	buffer_table_unlock(&table, NULL, bucket);
	set_bit(B_MAPPED, &buffer->flags);
}

void forget_page_buffer(struct buffer *buffer)
{
	unhash(buffer, true);
	clean_buffer(buffer, false);
	wait_on_buffer(buffer);
	while (smp_load_acquire(&buffer->refcount.counter)) /* who reads the device: not long */
		sleep_ns(100 * NSEC_PER_USEC);
	buffer->flags = 0;
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
		take_dirty(buffer, true);
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

static bool any_dirty(enum buffer_rank rank)
{
	for (unsigned i = 0; i < DIRTY_LISTS; i++)
		if (!list_empty(&dirty_lists[i].buffers[rank]))
			return true;
	return false;
}

/* What was written until now is on the platters, of all devices, before what leads there is. */
static void settle(void)
{
	struct block_device *each = NULL;

	wait_for_flying();
	while ((each = next_block_device(each)) != NULL)
		if (block_flush(each))
			each->write_error = -EIO;
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
			settle();
		write_rank(rank, until, 0);
	}
}

void sync_fresh_buffers(void)
{
	if (!any_dirty(RANK_FRESH))
		return;
	write_rank(RANK_FRESH, ktime_ns(), 0);
	wait_for_flying();
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

int sync_buffers(struct block_device *device, bool wait)
{
	struct block_device *each = NULL;
	int error = 0;

	write_dirty(ktime_ns(), 0);
	if (!wait)
		return 0;
	wait_for_flying();
	while ((each = next_block_device(each)) != NULL)
		if (!device || each == device)
			error = xchg(&each->write_error, 0) ?: error;
	return error;
}

int sync_dirty_buffer(struct buffer *buffer)
{
	write_buffers(buffer, 1);
	wait_on_buffer(buffer);
	return test_bit(B_ERROR, &buffer->flags) ? -EIO : 0;
}

/* ---- when ------------------------------------------------------------------------------------ */

/* Inodes keep their memory while they or their pages are dirty, and pages that were written to
 * through a mapping have no dirty buffers yet: so the inodes first. */
static int write_super(struct super_block *sb)
{
	int error = sync_inodes(sb);

	if (sb->op->write_back)
		sb->op->write_back(sb);
	return error;
}

void writeback_once(void)
{
	WRITE_ONCE(hurried, false);
	for_each_super(write_super);
	write_dirty(ktime_ns(), 0);
}

bool writeback_is_busy(void)
{
	return atomic_read(&dirty_bytes) || atomic_read(&flying_bytes) ||
	       memory_use_total(MEMORY_DIRTY);
}

static int writeback_thread(void *unused)
{
	current->in_reclaim = true; /* others wait for memory from us: we may use the reserve */
	for (;;) {
		u64 next = ktime_ns() + PERIOD_NS;

		wait_event_until(thread_wait, READ_ONCE(hurried), TASK_UNINTERRUPTIBLE, next);
		writeback_once();
	}
	return 0;
}

void balance_dirty(void)
{
	if (likely((u64)atomic_read(&dirty_bytes) <= background_bytes))
		return;
	write_dirty(~0ULL, background_bytes / 2);
	wait_event(block_wait, (u64)atomic_read(&flying_bytes) <= limit_bytes);
}

void writeback_start(void)
{
	if (IS_ERR(kthread_create(writeback_thread, NULL, "writeback")))
		pr_err("writeback: no thread, dirty buffers are written by sync and by writers alone\n");
}

/* Reclaim cannot take what is dirty: write-back is hurried along. */
u64 shrink_buffers(unsigned priority)
{
	/* Not 0 while write-back could help. */
	u64 objects = ((READ_ONCE(used_bytes) + (u64)atomic_read(&dirty_bytes)) / PAGE_SIZE +
		       memory_use_total(MEMORY_DIRTY)) >> priority;
	u64 freed = 0;

	if (!objects)
		return 0;
	spin_lock(&list_lock);
	for (u64 scan = min(2 * objects, used_bytes / SECTOR_SIZE);
	     scan && freed < objects && !list_empty(&used_list); scan--) {
		struct buffer *buffer = list_first_entry(&used_list, struct buffer, lru);

		list_move_tail(&buffer->lru, &used_list);
		if (!test_and_clear_bit(B_REFERENCED, &buffer->flags))
			freed += evict(buffer);
	}
	spin_unlock(&list_lock);
	if (!READ_ONCE(hurried) && writeback_is_busy()) {
		WRITE_ONCE(hurried, true);
		wake_up(&thread_wait);
	}
	return freed;
}

/* ---- checks, statistics, start --------------------------------------------------------------- */

/* A metadata buffer is in its bucket, unless a file page pushed it out; what the table has, it was
 * given. */
void buffer_cache_check(void)
{
	struct buffer *buffer;
	u64 bytes = 0;

	list_for_each_entry(buffer, &used_list, lru) {
		u32 bucket = bucket_of(buffer->device, buffer->block);

		BUG_ON(test_bit(B_HASHED, &buffer->flags) &&
		       lookup(bucket, buffer->device, buffer->block, false) != buffer);
		BUG_ON(test_bit(B_DIRTY, &buffer->flags) == list_empty(&buffer->dirty_link));
		bytes += buffer->size;
	}
	BUG_ON(bytes != used_bytes);
	hash_cache_objects(&buffer_cache_hash);
}

DEFINE_HASH_CACHE(buffer, BUFFER, "Buffer", "buffers", "find_buffer");

static u64 shrink_after_pages(unsigned priority, bool enough)
{
	return shrink_buffers(priority);
}

void buffer_cache_init(void)
{
	static struct shrinker shrinker = {
		.name = "buffers",
		.after_pages = shrink_after_pages,
		.is_busy = writeback_is_busy,
	};
	u64 bytes = page_alloc_total_pages() * PAGE_SIZE;

	buffer_slab = kmem_cache_create("buffer", sizeof(struct buffer), 0, SLAB_RECLAIMABLE);
	buffer_table_create(&table, &buffer_cache_hash);
	for (unsigned i = 0; i < DIRTY_LISTS; i++) {
		spin_lock_init(&dirty_lists[i].lock, "dirty_list");
		for (unsigned rank = 0; rank < RANKS; rank++)
			INIT_LIST_HEAD(&dirty_lists[i].buffers[rank]);
	}
	init_rwsem(&ranks_lock, "ranks");
	background_bytes = bytes / 10;
	limit_bytes = bytes / 4;
	shrinker_register(&shrinker);
}
