/*
 * buffer.h - the buffer cache: disk blocks in memory, found by (device, block) through the buffer
 * hash table.
 *
 * As in Linux 2.2 it holds metadata blocks and the blocks of dirty file pages. A metadata buffer
 * has memory of its own. A file page that is written gets one buffer a block whose data aliases the
 * page's memory (B_ALIAS); such a buffer stays hashed until the page goes away, so that write-back
 * works on buffers alone, in block order. Pages that are only read have no buffers.
 *
 * One block, one buffer: a block that a file page takes over pushes a metadata buffer of the same
 * block out of the table, unwritten; a file block is only freed after its page's buffers are gone,
 * a metadata block after bforget(). I/O in flight is waited for in both cases, so that an old write
 * cannot land on new data.
 *
 * States (flags): B_UPTODATE; B_DIRTY (on the dirty list with the time it became so, or in the
 * hands of write-back); B_LOCKED (I/O, or somebody is about to start it); B_MAPPED (block number
 * valid); B_HASHED; B_ERROR (the last I/O failed). A buffer may go away when its count is 0 and it
 * is neither B_DIRTY nor B_LOCKED. Nobody keeps a reference to a buffer while copying to user
 * memory or waiting for a page lock.
 *
 * Lock order: page lock -> B_LOCKED -> list lock -> bucket lock; B_LOCKED -> dirty list lock. Who
 * holds buffers locked that are not submitted may only try to lock further ones. Completion runs in
 * interrupts and takes none of these.
 *
 * Memory: every allocation here is GFP_NOIO, since file systems call in with their locks held.
 */
#pragma once

#include "fs/block.h"
#include "mm/page_cache.h"

enum buffer_flag {
	B_UPTODATE,
	B_DIRTY,
	B_LOCKED,
	B_MAPPED,
	B_ERROR,
	B_HASHED,
	B_REFERENCED, /* used since the shrinker last looked */
	B_NEW,	      /* freshly allocated file block, its contents void until write_end */
	B_ALIAS,      /* data lies in a file page */
	B_PAGE_WRITE, /* counted in the ring's page_writes */
	B_CHECKED,    /* free for the file system: contents validated (ext2: a bitmap) */
};

struct buffer {
	struct buffer_table_link hash_link;
	u64 block;
	struct block_device *device;
	unsigned long flags; /* set_bit() ... with enum buffer_flag */
	atomic_t refcount;
	u32 size;
	void *data;
	struct page *page;
	struct buffer *next_in_page; /* circular */
	struct buffer *next_in_io;   /* blocks of one request */
	struct list_head lru;	     /* metadata: used list (buffer.c) */
	struct list_head dirty_link; /* dirty list (writeback.c) */
	u64 dirtied_ns;
	atomic_t page_writes; /* in page->buffers only: blocks whose end will end PG_writeback */
};

/* ---- metadata -------------------------------------------------------------------------------- */

/* Referenced buffer, uptodate or not; ERR_PTR(-ENOMEM), ERR_PTR(-EIO) when past the device. Sleeps.
 */
struct buffer *buffer_get(struct block_device *device, u64 block);
/* Referenced and uptodate: ERR_PTR(-EIO) when reading failed. Sleeps. Name as in every Unix: bread.
 */
struct buffer *bread(struct block_device *device, u64 block);
/* Find only; NULL if not cached. Counted, as the finds of the calls above are: one a call. */
struct buffer *find_buffer(struct block_device *device, u64 block);

static inline void brelse(struct buffer *buffer) /* NULL is allowed */
{
	if (buffer)
		atomic_dec_return(&buffer->refcount); /* after all use of it */
}

/* struct buffer *buffer __free(buffer) = ...: released at the end of the scope */
DEFINE_FREE(buffer, struct buffer *, if (!IS_ERR(*variable)) brelse(*variable))

void __mark_buffer_dirty(struct buffer *buffer);
static inline void mark_buffer_dirty(struct buffer *buffer)
{
	if (!test_bit(B_DIRTY, &buffer->flags))
		__mark_buffer_dirty(buffer);
}
/* the block was freed: drop contents unwritten, and the reference */
void bforget(struct buffer *buffer);
void lock_buffer(struct buffer *buffer);
void unlock_buffer(struct buffer *buffer); /* any context */
static inline bool trylock_buffer(struct buffer *buffer)
{
	return !test_and_set_bit(B_LOCKED, &buffer->flags);
}
void wait_on_buffer(struct buffer *buffer); /* until it is not locked */
static inline void set_buffer_uptodate(struct buffer *buffer)
{
	set_bit(B_UPTODATE, &buffer->flags);
}

/* ---- write-back (writeback.c) ---------------------------------------------------------------- */

/* Take it off the dirty list: was it dirty? Before the write is started. */
bool clean_buffer(struct buffer *buffer);

int sync_dirty_buffer(struct buffer *buffer); /* write and wait: 0 or -EIO */
/* Write all dirty buffers (device NULL: of all devices) in block order. @wait: until they, and
 * writes that were in flight, are on the device; 0 or -EIO. */
int sync_buffers(struct block_device *device, bool wait);
void invalidate_buffers(struct block_device *device); /* umount: drop all clean, unused ones */
/* The write-back thread: dirty buffers older than 30 s every 5 s, and when too many are dirty. */
void writeback_start(void);
void writeback_once(void);  /* one round of it */
void writeback_hurry(void); /* memory is short: have it write everything soon */
/* Called by writers, holding no page or buffer lock: writes out while more than a share of memory
 * is dirty. */
void balance_dirty(void);

/* Locked buffers, in the order given: blocks that continue each other go in one request. Each is
 * unlocked when done. B_DIRTY must have been cleared by the caller for a write. */
void submit_buffers(enum block_operation operation, struct buffer **buffers, unsigned count);

/* Write those of @buffers that are dirty, without waiting for the end; the array is used up. @ring:
 * they are a page's, whose PG_writeback ends with them; NULL: a reference to each is given up. */
void write_buffers(struct buffer **buffers, unsigned count, struct buffer *ring);

u64 buffer_dirty_bytes(void);

void buffer_cache_check(void); /* CONFIG_DEBUG, tests: table, lists and counts agree, or panic */
void writeback_init(void);     /* called by: */
void buffer_cache_init(void);

/* ---- file pages over blocks (buffer_page.c) -------------------------------------------------- */

/* They find the blocks by address_space_operations.get_block (mm/page_cache.h). */
int block_read_page(struct inode *inode, struct page *page);
/* Start reading @count locked pages of consecutive indices, few requests. Errors come through the
 * pages. */
void block_read_pages(struct inode *inode, struct page **pages, unsigned count);
int block_write_page(struct inode *inode, struct page *page);
int block_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to);
int block_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to);
void block_invalidate_page(struct page *page, unsigned from);
bool block_release_page(struct page *page);
/* Zero the rest of the block in which @from lies, on disk too. Before a truncation. 0, -EIO,
 * -ENOMEM. */
int block_truncate_page(struct inode *inode, loff_t from);

/* buffer.c for buffer_page.c: the ring of a page's buffers. */
int create_page_buffers(struct page *page, struct block_device *device); /* 0 or -ENOMEM */
bool free_page_buffers(struct page *page);		/* false: one of them is busy */
void map_page_buffer(struct buffer *buffer, u64 block); /* and hash it, pushing others out */
/* unhash, drop unwritten, wait until nobody uses it */
void forget_page_buffer(struct buffer *buffer);
