/*
 * buffer.c - the buffer cache: the table, metadata buffers and their memory, the rings of file
 * pages.
 *
 * A metadata buffer is a slot of a page. A slot is free (on the free list of its size), or in use:
 * hashed and on the used list, which the shrinker walks from the old end, giving what B_REFERENCED
 * marks a second round. A page whose slots are all free goes back. The buffers of file pages are on
 * neither list; their page owns them. See buffer.h for the rules; writeback.c for the dirty list
 * and I/O.
 */
#include "fs/buffer.h"

#include "hash/cache.h"
#include "kernel/core/assert.h"
#include "kernel/core/errno.h"
#include "kernel/core/spinlock.h"
#include "kernel/core/string.h"
#include "kernel/core/wait.h"
#include "mm/slab.h"

#define GFP_BUFFER (GFP_KERNEL | GFP_NOIO)
#define SIZE_INDEX(size) (ilog2(size) - 9) /* 512, 1024, 2048, 4096 */
#define SIZES 4

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
static struct list_head free_lists[SIZES];
static u64 used_count, page_count;

static inline u32 bucket_of(const struct block_device *device, u64 block)
{
	return buffer_hash((u32)device->dev, block, buffer_cache_hash.bits);
}

/* Look (@device, @block) up in its locked bucket; counted if @count. */
static __always_inline struct buffer *lookup(u32 bucket, struct block_device *device, u64 block,
					     bool count)
{
	u64 steps = 0, compares = 0;
	struct buffer_key key = {device, block, &compares};
	struct buffer *buffer =
		buffer_table_find(&table, NULL, bucket, &key, buffer_compare, &steps);

	if (count) {
		HASH_COUNT_FIND(buffer, buffer, steps, compares);
	}
	return buffer;
}

struct buffer *find_buffer(struct block_device *device, u64 block)
{
	u32 bucket = bucket_of(device, block);
	struct buffer *buffer;

	buffer_table_lock(&table, NULL, bucket);
	buffer = lookup(bucket, device, block, true);
	if (buffer)
		atomic_inc(&buffer->refcount);
	buffer_table_unlock(&table, NULL, bucket);
	if (buffer && !test_bit(B_REFERENCED, &buffer->flags))
		set_bit(B_REFERENCED, &buffer->flags);
	return buffer;
}

static void table_insert(struct buffer *buffer, u32 bucket)
{
	u64 compares; /* an ordered structure compares; that is no lookup */
	struct buffer_key key = {buffer->device, buffer->block, &compares};

	buffer_table_insert(&table, NULL, bucket, buffer, &key, buffer_compare);
	set_bit(B_HASHED, &buffer->flags);
	HASH_COUNT(buffer, inserts, 1);
}

/* Under the bucket's lock. */
static void table_remove(struct buffer *buffer, u32 bucket)
{
	buffer_table_remove(&table, NULL, bucket, buffer);
	clear_bit(B_HASHED, &buffer->flags);
	HASH_COUNT(buffer, removes, 1);
}

/*
 * Take @buffer out of the table unless it is in use (@force: even then). false: it is in use.
 * Whoever finds a buffer counts it under the bucket lock, so once it is out at count 0 it is the
 * caller's alone.
 */
static bool unhash(struct buffer *buffer, bool force)
{
	u32 bucket = bucket_of(buffer->device, buffer->block);
	bool idle;

	buffer_table_lock(&table, NULL, bucket);
	idle = atomic_read(&buffer->refcount) == 0 &&
	       !(READ_ONCE(buffer->flags) & (BIT(B_DIRTY) | BIT(B_LOCKED)));
	if ((idle || force) && test_bit(B_HASHED, &buffer->flags))
		table_remove(buffer, bucket);
	buffer_table_unlock(&table, NULL, bucket);
	return idle;
}

/* ---- metadata: slots of pages ---------------------------------------------------------------- */

static void init_buffer(struct buffer *buffer, struct block_device *device, unsigned long flags)
{
	buffer->device = device;
	buffer->block = 0;
	buffer->flags = flags;
	buffer->next_in_io = NULL;
	atomic_set(&buffer->page_writes, 0);
	INIT_LIST_HEAD(&buffer->dirty_link);
}

/* A ring of buffers over the memory of @page, all with count 0. NULL: out of memory. */
static struct buffer *make_ring(struct page *page, unsigned size)
{
	struct buffer *first = NULL, *last = NULL;

	for (size_t offset = 0; offset < PAGE_SIZE; offset += size) {
		struct buffer *buffer = kmem_cache_alloc(buffer_slab, GFP_BUFFER);

		if (!buffer)
			break;
		buffer->size = size;
		buffer->data = (char *)page_address(page) + offset;
		buffer->page = page;
		atomic_set(&buffer->refcount, 0);
		if (!first)
			first = buffer;
		else
			last->next_in_page = buffer;
		last = buffer;
		buffer->next_in_page = first;
	}
	if (last && (char *)last->data + size != (char *)page_address(page) + PAGE_SIZE) {
		last->next_in_page = NULL;
		for (; first; first = last) {
			last = first->next_in_page;
			kmem_cache_free(buffer_slab, first);
		}
	}
	return first;
}

static void free_ring(struct page *page)
{
	struct buffer *buffer = page->buffers, *next;

	do {
		next = buffer->next_in_page;
		ASSERT(list_empty(&buffer->dirty_link) && !test_bit(B_HASHED, &buffer->flags));
		kmem_cache_free(buffer_slab, buffer);
		buffer = next;
	} while (buffer != page->buffers);
	page->buffers = NULL;
}

/* New free slots for blocks of @size. */
static int grow(unsigned size)
{
	struct page *page = alloc_page(GFP_BUFFER);
	struct buffer *buffer;

	if (!page)
		return -ENOMEM;
	page->mapping = NULL;
	page->index = 0;
	page->buffers = make_ring(page, size);
	if (!page->buffers) {
		put_page(page);
		return -ENOMEM;
	}
	spin_lock(&list_lock);
	buffer = page->buffers;
	do {
		buffer->flags = 0;
		INIT_LIST_HEAD(&buffer->dirty_link);
		list_add_tail(&buffer->lru, &free_lists[SIZE_INDEX(size)]);
		buffer = buffer->next_in_page;
	} while (buffer != page->buffers);
	page_count++;
	memory_use_add(MEMORY_BUFFER, 1);
	spin_unlock(&list_lock);
	return 0;
}

/* A slot with one reference, off the lists and unhashed. */
static struct buffer *take_slot(unsigned size)
{
	struct list_head *list = &free_lists[SIZE_INDEX(size)];
	struct buffer *buffer;

	spin_lock(&list_lock);
	while (list_empty(list)) {
		spin_unlock(&list_lock);
		if (grow(size) < 0)
			return NULL;
		spin_lock(&list_lock);
	}
	buffer = list_first_entry(list, struct buffer, lru);
	list_del_init(&buffer->lru);
	buffer->page->index++;
	spin_unlock(&list_lock);
	atomic_set(&buffer->refcount, 1);
	return buffer;
}

/* Give an unhashed, idle slot back; under list_lock. A page that becomes empty is returned, to be
 * freed. */
static struct page *put_slot(struct buffer *buffer)
{
	struct page *page = buffer->page;
	struct buffer *slot = buffer;

	buffer->flags = 0;
	list_add(&buffer->lru, &free_lists[SIZE_INDEX(buffer->size)]);
	if (--page->index)
		return NULL;
	do {
		list_del_init(&slot->lru);
		slot = slot->next_in_page;
	} while (slot != buffer);
	page_count--;
	memory_use_add(MEMORY_BUFFER, -1);
	return page;
}

static void free_slot_page(struct page *page)
{
	if (page) {
		free_ring(page);
		put_page(page);
	}
}

/* Free a used metadata buffer if nobody uses it. Under list_lock; *@page: its page, to be freed
 * afterwards. */
static bool evict(struct buffer *buffer, struct page **page)
{
	*page = NULL;
	if (!unhash(buffer, false))
		return false;
	list_del_init(&buffer->lru);
	used_count--;
	*page = put_slot(buffer);
	return true;
}

/* Enter a new slot for (device, block); if another was faster, that one. */
static struct buffer *insert_slot(struct buffer *buffer, struct block_device *device, u64 block)
{
	u32 bucket = bucket_of(device, block);
	struct buffer *other;
	struct page *page;

	init_buffer(buffer, device, BIT(B_MAPPED) | BIT(B_REFERENCED));
	buffer->block = block;
	buffer_table_lock(&table, NULL, bucket);
	other = lookup(bucket, device, block, false);
	if (other)
		atomic_inc(&other->refcount);
	else
		table_insert(buffer, bucket);
	buffer_table_unlock(&table, NULL, bucket);
	spin_lock(&list_lock);
	if (!other) {
		list_add_tail(&buffer->lru, &used_list);
		used_count++;
		page = NULL;
	} else {
		atomic_set(&buffer->refcount, 0);
		page = put_slot(buffer);
	}
	spin_unlock(&list_lock);
	free_slot_page(page);
	return other ? other : buffer;
}

struct buffer *buffer_get(struct block_device *device, u64 block)
{
	struct buffer *buffer = find_buffer(device, block);

	if (likely(buffer))
		return buffer;
	if (block >= device->sectors / (device->block_size / SECTOR_SIZE))
		return ERR_PTR(-EIO);
	buffer = take_slot(device->block_size);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	return insert_slot(buffer, device, block);
}

struct buffer *bread(struct block_device *device, u64 block)
{
	struct buffer *buffer = buffer_get(device, block);

	if (IS_ERR(buffer) || likely(test_bit(B_UPTODATE, &buffer->flags)))
		return buffer;
	lock_buffer(buffer);
	if (test_bit(B_UPTODATE, &buffer->flags)) {
		unlock_buffer(buffer);
		return buffer;
	}
	submit_buffers(BLOCK_READ, &buffer, 1);
	wait_on_buffer(buffer);
	if (likely(test_bit(B_UPTODATE, &buffer->flags)))
		return buffer;
	brelse(buffer);
	return ERR_PTR(-EIO);
}

#define READAHEAD_MAX 16

void buffer_readahead(struct block_device *device, u64 block, unsigned count)
{
	struct buffer *buffers[READAHEAD_MAX];
	unsigned n = 0;

	for (count = min_t(unsigned, count, READAHEAD_MAX); count; count--, block++) {
		struct buffer *buffer = buffer_get(device, block);

		if (IS_ERR(buffer))
			break;
		if (!test_bit(B_UPTODATE, &buffer->flags) && trylock_buffer(buffer)) {
			if (!test_bit(B_UPTODATE, &buffer->flags))
				buffers[n++] = buffer;
			else
				unlock_buffer(buffer);
		}
		brelse(buffer); /* B_LOCKED keeps it */
	}
	submit_buffers(BLOCK_READ, buffers, n);
}

void bforget(struct buffer *buffer)
{
	struct page *page = NULL;

	clean_buffer(buffer);
	if (test_bit(B_ALIAS, &buffer->flags)) { /* a damaged file system uses a file's block */
		brelse(buffer);
		return;
	}
	spin_lock(&list_lock);
	if (atomic_dec_and_test(&buffer->refcount) && !list_empty(&buffer->lru))
		evict(buffer, &page);
	spin_unlock(&list_lock);
	free_slot_page(page);
}

void forget_block(struct block_device *device, u64 block)
{
	struct buffer *buffer = find_buffer(device, block);

	if (buffer)
		bforget(buffer);
}

void invalidate_buffers(struct block_device *device)
{
	struct buffer *buffer, *next;
	struct page *page;
	LIST_HEAD(pages);

	spin_lock(&list_lock);
	list_for_each_entry_safe(buffer, next, &used_list, lru) {
		if (buffer->device != device || !evict(buffer, &page) || !page)
			continue;
		list_add(&page->mapping_link, &pages);
	}
	spin_unlock(&list_lock);
	while (!list_empty(&pages)) {
		page = list_first_entry(&pages, struct page, mapping_link);
		list_del(&page->mapping_link);
		free_slot_page(page);
	}
}

static u64 shrink_count(void)
{
	/* Not 0 while write-back could help. */
	return READ_ONCE(used_count) + buffer_dirty_bytes() / PAGE_SIZE +
	       memory_use_total(MEMORY_DIRTY);
}

/* Reclaim cannot take what is dirty: write-back is hurried along. */
static u64 shrink_scan(u64 objects, unsigned gfp)
{
	u64 freed = 0, scan;
	struct page *page;

	(void)gfp;
	spin_lock(&list_lock);
	for (scan = min(used_count, 2 * objects);
	     scan && freed < objects && !list_empty(&used_list); scan--) {
		struct buffer *buffer = list_first_entry(&used_list, struct buffer, lru);

		list_move_tail(&buffer->lru, &used_list);
		if (test_bit(B_REFERENCED, &buffer->flags)) {
			clear_bit(B_REFERENCED, &buffer->flags);
			continue;
		}
		if (evict(buffer, &page)) {
			freed++;
			free_slot_page(page);
		}
	}
	spin_unlock(&list_lock);
	writeback_hurry();
	return freed;
}

static struct shrinker buffer_shrinker = {
	.name = "buffer", .count = shrink_count, .scan = shrink_scan};

/* ---- the rings of file pages ----------------------------------------------------------------- */

int create_page_buffers(struct page *page, struct block_device *device)
{
	struct buffer *first = make_ring(page, device->block_size), *buffer = first;
	unsigned long flags = BIT(B_ALIAS);

	if (!first)
		return -ENOMEM;
	if (test_bit(PG_uptodate, &page->flags))
		flags |= BIT(B_UPTODATE);
	do {
		init_buffer(buffer, device, flags);
		INIT_LIST_HEAD(&buffer->lru);
		buffer = buffer->next_in_page;
	} while (buffer != first);
	page->buffers = first;
	return 0;
}

bool free_page_buffers(struct page *page)
{
	struct buffer *buffer = page->buffers;

	do {
		if (!unhash(buffer, false))
			return false;
		buffer = buffer->next_in_page;
	} while (buffer != page->buffers);
	free_ring(page);
	return true;
}

/*
 * The block of @buffer has another buffer, from a time when it was metadata, or was read through
 * the device, or because the file system is damaged. Its contents are void: the file page's count.
 */
static void push_out(struct buffer *other)
{
	unhash(other, true);
	if (!test_bit(B_ALIAS, &other->flags))
		clean_buffer(other);
	wait_on_buffer(other);
	brelse(other); /* a metadata slot is now left to the shrinker */
}

void map_page_buffer(struct buffer *buffer, u64 block)
{
	u32 bucket = bucket_of(buffer->device, block);
	struct buffer *other;

	buffer->block = block;
	for (;;) {
		buffer_table_lock(&table, NULL, bucket);
		other = lookup(bucket, buffer->device, block, true);
		if (!other)
			break;
		atomic_inc(&other->refcount);
		buffer_table_unlock(&table, NULL, bucket);
		push_out(other);
	}
	table_insert(buffer, bucket);
	buffer_table_unlock(&table, NULL, bucket);
	set_bit(B_MAPPED, &buffer->flags);
}

/* How the last one to let go of a buffer tells those who wait for it. */
u32 buffer_release_waiters;
static DEFINE_WAIT_QUEUE(release_wait);

void buffer_wake_release(void)
{
	wake_up(&release_wait);
}

void forget_page_buffer(struct buffer *buffer)
{
	if (test_bit(B_MAPPED, &buffer->flags))
		unhash(buffer, true);
	clean_buffer(buffer);
	wait_on_buffer(buffer);
	if (atomic_read(&buffer->refcount)) {
		__atomic_fetch_add(&buffer_release_waiters, 1, __ATOMIC_SEQ_CST);
		wait_event(release_wait, atomic_read(&buffer->refcount) == 0);
		__atomic_fetch_sub(&buffer_release_waiters, 1, __ATOMIC_SEQ_CST);
	}
	buffer->flags = BIT(B_ALIAS);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void add_size(u64 size, void *total)
{
	*(u64 *)total += size;
}

/* A slot in use is in its bucket, unless a file page pushed it out; what the table has, it was
 * given. */
void buffer_cache_check(void)
{
	u64 hashed = 0, used = 0, slots = 0, free = 0;
	struct buffer *buffer;

	list_for_each_entry(buffer, &used_list, lru) {
		u32 bucket = bucket_of(buffer->device, buffer->block);

		BUG_ON(test_bit(B_ALIAS, &buffer->flags));
		if (test_bit(B_HASHED, &buffer->flags))
			BUG_ON(lookup(bucket, buffer->device, buffer->block, false) != buffer);
		BUG_ON(test_bit(B_DIRTY, &buffer->flags) == list_empty(&buffer->dirty_link));
		used++;
		slots += buffer->size;
	}
	for (unsigned i = 0; i < SIZES; i++)
		list_for_each_entry(buffer, &free_lists[i], lru) {
			BUG_ON(buffer->flags || atomic_read(&buffer->refcount));
			free += buffer->size;
		}
	BUG_ON(used != used_count || slots + free != page_count * PAGE_SIZE);
	buffer_cache_hash.walk(&table, add_size, &hashed);
#ifdef CONFIG_HASH_STATS
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		hashed -= buffer_counters[cpu].inserts - buffer_counters[cpu].removes;
	BUG_ON(hashed != 0);
#endif
}

/* ---- statistics, start ----------------------------------------------------------------------- */

u64 buffer_cache_pages(void)
{
	return READ_ONCE(page_count);
}

struct hash_cache buffer_cache_hash = {
	.title = "Buffer",
	.object = "buffer",
	.finder = "find_buffer",
	.name = "buffer",
	.function = CONFIG_BUFFER_HASH,
	.structure = CONFIG_BUFFER_TABLE,
};

void buffer_cache_init(void)
{
	for (unsigned i = 0; i < SIZES; i++)
		INIT_LIST_HEAD(&free_lists[i]);
	buffer_slab = kmem_cache_create("buffer", sizeof(struct buffer), 0, SLAB_RECLAIMABLE, NULL);
	buffer_table_create(&table, &buffer_cache_hash);
	register_shrinker(&buffer_shrinker);
	writeback_init();
}
