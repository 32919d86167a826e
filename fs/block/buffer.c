/*
 * buffer.c - the buffer cache: the table, metadata buffers and their memory, the buffers of file
 * pages. See buffer.h for the rules; I/O on buffers, and when the dirty ones are written: dirty.c.
 *
 * A metadata buffer has memory of its own and stands on the used list, which reclaim walks
 * from the old end, giving what B_REFERENCED marks a second round. The buffers of file pages are
 * not on it; their page owns them. A lookup takes the lock of its bucket alone, or none
 * (unlocked.h); list_lock is for what comes and goes.
 */
#include "fs/block/dirty.h"

#include "core/memory/shrinker.h"
#include "core/memory/slab.h"

struct buffer_key {
	const struct block_device *device;
	u64 block;
	u64 *compares; /* full compares are added here */
};

#define TABLE buffer_table
#define TABLE_OBJECT struct buffer
#define TABLE_LINK hash_link
#define TABLE_KEY struct buffer_key
#define TABLE_LOCK_HEADER BUFFER_LOCK_HEADER
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

static inline u32 bucket_of(const struct block_device *device, u64 block)
{
	return buffer_hash((u32)device->dev, block, buffer_cache_hash.bits);
}

#ifdef CONFIG_BUFFER_LOCK_SEQUENCE
#include "fs/block/unlocked.h"
#else
#define unheld(buffer) (smp_load_acquire(&(buffer)->refcount.counter) == 0)
#define free_unseen(buffer, free_now) free_now
#endif

/* Look (@device, @block) up in its locked bucket: HASH_FIND, counted, or HASH_LOOK. */
static CACHE_LOOKUP struct buffer *lookup(u32 bucket, struct block_device *device, u64 block,
					     enum hash_operation operation)
{
	u64 steps = 0, compares = 0;
	struct buffer_key key = {device, block, &compares};
	struct buffer *buffer =
		buffer_table_find(&table, NULL, bucket, &key, buffer_compare, &steps);

	if (operation == HASH_FIND) {
		HASH_COUNT_FIND(buffer, buffer, steps, compares);
	}
	HASH_RECORD(buffer, operation, buffer, device->dev, block);
	return buffer;
}

struct buffer *find_buffer(struct block_device *device, u64 block)
{
	REGION_MARK(HASH_buffer, 0);
	u32 bucket = bucket_of(device, block);

#ifdef CONFIG_BUFFER_LOCK_SEQUENCE
	struct buffer *found;

	if (likely(find_unlocked(bucket, device, block, &found)))
		return found;
#endif
	buffer_table_lock_to_read(&table, NULL, bucket);
	struct buffer *buffer = lookup(bucket, device, block, HASH_FIND);

	if (buffer)
		atomic_inc(&buffer->refcount);
	buffer_table_unlock_read(&table, NULL, bucket);
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
 * Take @buffer out of the table, unless it is in use and may stay. false: it is in use. Whoever
 * finds a buffer counts it under the bucket lock (or as unlocked.h says), so once it is out at
 * count 0 it is the caller's alone.
 */
enum unhash_when { IF_UNUSED, EVEN_IF_USED };
static bool unhash(struct buffer *buffer, enum unhash_when when)
{
	u32 bucket = bucket_of(buffer->device, buffer->block);

	buffer_table_lock(&table, NULL, bucket);
	bool idle = unheld(buffer) && !(READ_ONCE(buffer->flags) & (BIT(B_DIRTY) | BIT(B_LOCKED)));

	if ((idle || when == EVEN_IF_USED) && test_and_clear_bit(B_HASHED, &buffer->flags)) {
		buffer_table_remove(&table, NULL, bucket, buffer);
		HASH_COUNT(buffer, removes, 1);
		HASH_RECORD(buffer, HASH_REMOVE, buffer, buffer->device->dev, buffer->block);
	}
	buffer_table_unlock(&table, NULL, bucket);
	return idle;
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* A metadata buffer comes or goes. Under list_lock. */
static void account(struct buffer *buffer, int sign)
{
	u64 pages = used_bytes / PAGE_SIZE;

	lockdep_assert_held(&list_lock);
	used_bytes += (u64)sign * buffer->size;
	memory_use_add(MEMORY_BUFFER, (s64)(used_bytes / PAGE_SIZE - pages));
}

static void free_buffer(struct buffer *buffer)
{
	ASSERT(list_empty(&buffer->dirty_link) && !test_bit(B_HASHED, &buffer->flags));
	kfree(buffer->data);
	free_unseen(buffer, kmem_cache_free(buffer_slab, buffer));
}

/* Free a metadata buffer if nobody uses it. Under list_lock. */
static bool evict(struct buffer *buffer)
{
	lockdep_assert_held(&list_lock);
	if (!unhash(buffer, IF_UNUSED))
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
	struct buffer *other = lookup(bucket, device, block, HASH_LOOK);

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
	clean_buffer(buffer, TO_FORGET);
	wait_on_buffer(buffer);
}

void bforget(struct buffer *buffer)
{
	clean_buffer(buffer, TO_FORGET);
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

int set_block_size(struct block_device *device, unsigned size)
{
	guard(write, &device->size_lock);
	int error = sync_buffers(device, WB_SYNC_ALL);

	invalidate_buffers(device);
	device->block_size = size;
	return error;
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
		if (!unhash(&page->buffers[i], IF_UNUSED))
			return false;
	free_unseen(page->buffers, kfree(page->buffers));
	page->buffers = NULL;
	return true;
}

/*
 * The block of @buffer has another buffer, from a time when it was metadata, or was read through
 * the device, or because the file system is damaged. Its contents are void: the file page's count.
 */
static void push_out(struct buffer *other)
{
	unhash(other, EVEN_IF_USED);
	if (!other->page)
		clean_buffer(other, TO_FORGET);
	wait_on_buffer(other);
	brelse(other);
}

void map_page_buffer(struct buffer *buffer, u64 block)
{
	u32 bucket = bucket_of(buffer->device, block);
	struct buffer *other;

	buffer->block = block;
	buffer_table_lock(&table, NULL, bucket);
	while ((other = lookup(bucket, buffer->device, block, HASH_FIND)) != NULL) {
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
	unhash(buffer, EVEN_IF_USED);
	abandon_buffer(buffer);
	while (smp_load_acquire(&buffer->refcount.counter)) /* who reads the device: not long */
		sleep_ns(100 * NSEC_PER_USEC);
	buffer->flags = 0;
}

/* Reclaim cannot take what is dirty: write-back is hurried along. */
u64 shrink_buffers(unsigned priority)
{
	/* Not 0 while write-back could help. */
	u64 objects = ((READ_ONCE(used_bytes) + dirty_buffer_bytes()) / PAGE_SIZE +
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
	hurry_writeback();
	return freed;
}

/* ---- checks, statistics, start --------------------------------------------------------------- */

/* A metadata buffer is in its bucket, unless a file page pushed it out; what the table has, it was
 * given. */
#ifdef CONFIG_DEBUG
void buffer_cache_check(void)
{
	struct buffer *buffer;
	u64 bytes = 0;

	list_for_each_entry(buffer, &used_list, lru) {
		u32 bucket = bucket_of(buffer->device, buffer->block);

		BUG_ON(test_bit(B_HASHED, &buffer->flags) &&
		       lookup(bucket, buffer->device, buffer->block, HASH_LOOK) != buffer);
		BUG_ON(test_bit(B_DIRTY, &buffer->flags) == list_empty(&buffer->dirty_link));
		bytes += buffer->size;
	}
	BUG_ON(bytes != used_bytes);
	hash_cache_objects(&buffer_cache_hash);
}
#endif

DEFINE_HASH_CACHE(buffer, BUFFER, "Buffer", "buffers", "find_buffer");

void buffer_cache_init(void)
{
	static struct shrinker shrinker = {
		.name = "buffers",
		.after_pages = shrink_buffers,
		.is_busy = writeback_is_busy,
	};

	buffer_slab = kmem_cache_create("buffer", sizeof(struct buffer), 0, SLAB_RECLAIMABLE);
	buffer_table_create(&table, &buffer_cache_hash);
	dirty_lists_init();
	shrinker_register(&shrinker);
}
