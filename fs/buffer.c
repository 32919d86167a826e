/*
 * buffer.c - the buffer cache: the table, metadata buffers and their memory, the rings of file
 * pages.
 *
 * A metadata buffer has memory of its own and stands on the used list, which the shrinker walks
 * from the old end, giving what B_REFERENCED marks a second round. The buffers of file pages are
 * not on it; their page owns them. A lookup takes the lock of its bucket alone; list_lock is for
 * what comes and goes. See buffer.h for the rules; writeback.c for the dirty lists and I/O.
 */
#include "fs/buffer.h"

#include "hash/cache.h"
#include "mm/slab.h"

#define GFP_BUFFER (GFP_KERNEL | GFP_NOIO)

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
static u64 used_count, used_bytes;

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

/* ---- metadata -------------------------------------------------------------------------------- */

/* A buffer of @device with count 0; its caller sets what else it knows. NULL: out of memory. */
static struct buffer *make_buffer(struct block_device *device, unsigned long flags)
{
	struct buffer *buffer = kmem_cache_alloc(buffer_slab, GFP_BUFFER | GFP_ZERO);

	if (!buffer)
		return NULL;
	buffer->device = device;
	buffer->size = device->block_size;
	buffer->flags = flags;
	INIT_LIST_HEAD(&buffer->lru);
	INIT_LIST_HEAD(&buffer->dirty_link);
	return buffer;
}

/* With its memory, unless that is a file page's. */
static void free_buffer(struct buffer *buffer)
{
	ASSERT(list_empty(&buffer->dirty_link) && !test_bit(B_HASHED, &buffer->flags));
	if (!test_bit(B_ALIAS, &buffer->flags) && buffer->size == PAGE_SIZE)
		free_pages(buffer->data, 0);
	else if (!test_bit(B_ALIAS, &buffer->flags))
		kfree(buffer->data);
	kmem_cache_free(buffer_slab, buffer);
}

static struct buffer *make_metadata_buffer(struct block_device *device, u64 block)
{
	struct buffer *buffer = make_buffer(device, BIT(B_MAPPED) | BIT(B_REFERENCED));

	if (!buffer)
		return NULL;
	buffer->block = block;
	atomic_set(&buffer->refcount, 1);
	buffer->data = buffer->size == PAGE_SIZE ? get_free_pages(GFP_BUFFER, 0)
						 : kmalloc(buffer->size, GFP_BUFFER);
	if (buffer->data)
		return buffer;
	kmem_cache_free(buffer_slab, buffer);
	return NULL;
}

/* A metadata buffer comes or goes. Under list_lock. */
static void account(struct buffer *buffer, int sign)
{
	u64 pages = used_bytes / PAGE_SIZE;

	used_count += sign;
	used_bytes += (u64)sign * buffer->size;
	memory_use_add(MEMORY_BUFFER, (s64)(used_bytes / PAGE_SIZE - pages));
}

/* Free a used metadata buffer if nobody uses it. Under list_lock. */
static bool evict(struct buffer *buffer)
{
	if (!unhash(buffer, false))
		return false;
	list_del_init(&buffer->lru);
	account(buffer, -1);
	free_buffer(buffer);
	return true;
}

struct buffer *buffer_get(struct block_device *device, u64 block)
{
	struct buffer *buffer = find_buffer(device, block), *other;
	u32 bucket = bucket_of(device, block);

	if (likely(buffer))
		return buffer;
	if (block >= device->sectors / (device->block_size / SECTOR_SIZE))
		return ERR_PTR(-EIO);
	buffer = make_metadata_buffer(device, block);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer_table_lock(&table, NULL, bucket);
	other = lookup(bucket, device, block, false);
	if (other)
		atomic_inc(&other->refcount);
	else
		table_insert(buffer, bucket);
	buffer_table_unlock(&table, NULL, bucket);
	if (unlikely(other)) { /* another was faster */
		free_buffer(buffer);
		return other;
	}
	spin_lock(&list_lock);
	list_add_tail(&buffer->lru, &used_list);
	account(buffer, 1);
	spin_unlock(&list_lock);
	return buffer;
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

void bforget(struct buffer *buffer)
{
	clean_buffer(buffer);
	if (test_bit(B_ALIAS, &buffer->flags)) { /* a damaged file system uses a file's block */
		brelse(buffer);
		return;
	}
	spin_lock(&list_lock);
	if (atomic_dec_and_test(&buffer->refcount) && !list_empty(&buffer->lru))
		evict(buffer);
	spin_unlock(&list_lock);
}

void invalidate_buffers(struct block_device *device)
{
	struct buffer *buffer, *next;

	spin_lock(&list_lock);
	list_for_each_entry_safe (buffer, next, &used_list, lru)
		if (buffer->device == device)
			evict(buffer);
	spin_unlock(&list_lock);
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

	spin_lock(&list_lock);
	for (scan = min(used_count, 2 * objects);
	     scan && freed < objects && !list_empty(&used_list); scan--) {
		struct buffer *buffer = list_first_entry(&used_list, struct buffer, lru);

		list_move_tail(&buffer->lru, &used_list);
		if (test_bit(B_REFERENCED, &buffer->flags))
			clear_bit(B_REFERENCED, &buffer->flags);
		else
			freed += evict(buffer);
	}
	spin_unlock(&list_lock);
	writeback_hurry();
	return freed;
}

static struct shrinker buffer_shrinker = {
	.name = "buffer", .count = shrink_count, .scan = shrink_scan};

/* ---- the rings of file pages ----------------------------------------------------------------- */

/* A ring of buffers, NULL or all of them. */
static void free_ring(struct buffer *ring)
{
	struct buffer *buffer = ring, *next;

	for (; buffer; buffer = next == ring ? NULL : next) {
		next = buffer->next_in_page;
		free_buffer(buffer);
	}
}

int create_page_buffers(struct page *page, struct block_device *device)
{
	bool uptodate = test_bit(PG_uptodate, &page->flags);
	unsigned long flags = BIT(B_ALIAS) | (uptodate ? BIT(B_UPTODATE) : 0);
	struct buffer *first = NULL, *last = NULL;
	size_t offset = PAGE_SIZE;

	while (offset) {
		struct buffer *buffer = make_buffer(device, flags);

		if (!buffer) {
			free_ring(first);
			return -ENOMEM;
		}
		offset -= buffer->size;
		buffer->page = page;
		buffer->data = (char *)page_address(page) + offset;
		buffer->next_in_page = first;
		first = buffer;
		last = last ? last : buffer;
	}
	last->next_in_page = first;
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
	free_ring(buffer);
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
	if (!test_bit(B_ALIAS, &other->flags))
		clean_buffer(other);
	wait_on_buffer(other);
	brelse(other); /* a metadata buffer is now left to the shrinker */
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

void forget_page_buffer(struct buffer *buffer)
{
	if (test_bit(B_MAPPED, &buffer->flags))
		unhash(buffer, true);
	clean_buffer(buffer);
	wait_on_buffer(buffer);
	while (atomic_read(&buffer->refcount)) /* write-back, or who reads the device: not long */
		sleep_ns(100 * NSEC_PER_USEC);
	buffer->flags = BIT(B_ALIAS);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void add_size(u64 size, void *total)
{
	*(u64 *)total += size;
}

/* A metadata buffer is in its bucket, unless a file page pushed it out; what the table has, it was
 * given. */
void buffer_cache_check(void)
{
	u64 hashed = 0, used = 0, bytes = 0;
	struct buffer *buffer;

	list_for_each_entry(buffer, &used_list, lru) {
		u32 bucket = bucket_of(buffer->device, buffer->block);

		BUG_ON(test_bit(B_ALIAS, &buffer->flags));
		if (test_bit(B_HASHED, &buffer->flags))
			BUG_ON(lookup(bucket, buffer->device, buffer->block, false) != buffer);
		BUG_ON(test_bit(B_DIRTY, &buffer->flags) == list_empty(&buffer->dirty_link));
		used++;
		bytes += buffer->size;
	}
	BUG_ON(used != used_count || bytes != used_bytes);
	buffer_cache_hash.walk(&table, add_size, &hashed);
#ifdef CONFIG_HASH_STATS
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		hashed -= buffer_counters[cpu].inserts - buffer_counters[cpu].removes;
	BUG_ON(hashed != 0);
#endif
}

/* ---- statistics, start ----------------------------------------------------------------------- */

DEFINE_HASH_CACHE(buffer, BUFFER, "Buffer", "buffers", "find_buffer");

void buffer_cache_init(void)
{
	buffer_slab = kmem_cache_create("buffer", sizeof(struct buffer), 0, SLAB_RECLAIMABLE);
	buffer_table_create(&table, &buffer_cache_hash);
	register_shrinker(&buffer_shrinker);
	writeback_init();
}
