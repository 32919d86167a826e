/*
 * buffer.h - the buffer cache: disk blocks in memory, found by (device, block) through the buffer
 * hash table.
 *
 * As in Linux 2.2 it holds metadata blocks and the blocks of dirty file pages. A metadata buffer
 * has memory of its own. A file page that is written gets one buffer a block whose data aliases the
 * page's memory (buffer->page); such a buffer stays hashed until the page goes away, so that
 * write-back works on buffers alone, in block order. Pages that are only read have no buffers.
 *
 * One block, one buffer: a block that a file page takes over pushes a metadata buffer of the same
 * block out of the table, unwritten; a file block is only freed after its page's buffers are gone,
 * a metadata block after bforget(). I/O in flight is waited for when a block is taken over, and
 * before a file block is freed, so that an old write cannot land on new data.
 *
 * States (flags): B_UPTODATE; B_DIRTY (on a dirty list with the time it became so); B_LOCKED (I/O,
 * or somebody is about to start it, or fills the block as a whole); B_MAPPED (block number valid);
 * B_HASHED. A buffer becomes clean when it is locked to be written, and dirty again when it changes
 * meanwhile. It may go away when its count is 0 and it is neither B_DIRTY nor B_LOCKED. Nobody
 * keeps a reference to a buffer while copying to user memory or waiting for a page lock.
 *
 * A caller has bread() give him the block, changes what lies at buffer->data, says so by
 * mark_buffer_dirty() (dirty.h), and lets go by brelse(); a new block comes from buffer_get(), a
 * block that was freed goes by bforget().
 *
 * Lock order: ranks_lock -> B_LOCKED;
 * page lock -> B_LOCKED -> list lock -> bucket lock; B_LOCKED -> dirty list lock. Who
 * holds buffers locked that are not submitted, or a list lock, may only try to lock further ones.
 * Completion runs in interrupts and takes none of these.
 */
#pragma once

#include "core/lock/rcu.h"
#include "fs/block/block.h"
#include "mm/cache/page_cache.h"

enum buffer_flag {
	B_UPTODATE,
	B_DIRTY,
	B_LOCKED,
	B_MAPPED,
	B_HASHED,
	B_ERROR,      /* the last write failed */
	B_REFERENCED, /* used since reclaim last looked */
	B_NEW,	      /* freshly allocated file block, its contents still void */
	B_ARRIVED,    /* dirty: a directory's, into which a file was moved */
	B_LEADS,      /* dirty: leads to what may not be on the disk yet */
};

/*
 * The order in which what is dirty goes to the disk. Before each rank from RANK_USUAL on the disk
 * is flushed, so after a power cut nothing there leads to what was never written.
 */
enum buffer_rank {
	RANK_DATA,  /* of files */
	RANK_FRESH, /* new blocks of pointers, names or attributes: nothing leads there yet */
	RANK_USUAL, /* inodes, blocks of pointers, bitmaps */
	RANK_NAMES, /* directories: after the inodes that they name */
	RANK_LAST,  /* those that a file has left: after those that have its new name */
	RANKS,
};

struct buffer {
	struct buffer_table_link hash_link;
	u64 block;
	struct block_device *device;
	unsigned long flags; /* set_bit() ... with enum buffer_flag */
	atomic_t refcount;
	u32 size;
	void *data;
	struct page *page;	   /* in whose memory the data lie; NULL: metadata */
	struct buffer *next_in_io; /* blocks of one request */
	struct list_head lru;	   /* metadata: used list */
	struct list_head dirty_link;
	u64 dirtied_ns;
	enum buffer_rank rank; /* while it is dirty; under its dirty list's lock */
#ifdef CONFIG_BUFFER_LOCK_SEQUENCE
	struct rcu_head rcu; /* once it is dead */
#endif
};

/* ---- metadata -------------------------------------------------------------------------------- */

/* Referenced buffer, uptodate or not; ERR_PTR(-ENOMEM), ERR_PTR(-EIO) when past the device. Sleeps.
 */
struct buffer *buffer_get(struct block_device *device, u64 block);
/* Referenced and uptodate; ERR_PTR(-EIO) when reading failed, or buffer_get()'s error. Sleeps. Name
 * as in every Unix: bread. */
struct buffer *bread(struct block_device *device, u64 block);
/* Find only: referenced; NULL if not cached. Counted, as the finds of the calls above are: one a
 * call. */
struct buffer *find_buffer(struct block_device *device, u64 block);

static inline void brelse(struct buffer *buffer) /* NULL is allowed */
{
	if (buffer)
		atomic_dec_return(&buffer->refcount); /* after all use of it */
}

/* struct buffer *buffer __free(buffer) = ...: released at the end of the scope */
DEFINE_FREE(buffer, struct buffer *, if (!IS_ERR(*variable)) brelse(*variable))

/* It is not to be written any more, nor being written. Sleeps. */
void abandon_buffer(struct buffer *buffer);
/* the block was freed: drop contents unwritten, and the reference; a write in flight goes on */
void bforget(struct buffer *buffer);
/* ---- the cache as a whole -------------------------------------------------------------------- */

/* Umount, swapon: drop all clean, unused metadata buffers. */
void invalidate_buffers(struct block_device *device);
/* Write out and forget the device's buffers, and use blocks of @size bytes (512, 1024, 2048 or
 * 4096) from now on, once nobody reads or writes the device as a file. 0; -EIO: not all could be
 * written, but the size is the new one. Sleeps. */
int set_block_size(struct block_device *device, unsigned size);
/* For reclaim and drop_caches: evict metadata buffers that are clean, unused and were not used
 * lately, no more than 1/2^@priority of the pages that such buffers and all that is dirty take: how
 * many. Hurries write-back. */
u64 shrink_buffers(unsigned priority);
/* In a debug kernel: table, lists and counts agree, or panic. */
#ifdef CONFIG_DEBUG
void buffer_cache_check(void);
#else
static inline void buffer_cache_check(void) {}
#endif
void buffer_cache_init(void);

/* ---- file pages over blocks (buffer_page.c) -------------------------------------------------- */

/* They find the blocks by address_space_operations.get_block (mm/cache/page_cache.h). */
int block_read_pages(struct inode *inode, struct page **pages, unsigned count);
int block_write_page(struct inode *inode, struct page *page);
int block_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to);
int block_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to);
void block_invalidate_page(struct page *page, unsigned from);
bool free_page_buffers(struct page *page); /* .free_buffers; buffer.c */
/* Zero the rest of the block in which @from lies, in the page, which becomes dirty; that is locked
 * for it. Before a truncation, whose inode->lock it needs. 0, -EIO, -ENOMEM, get_block's error. */
int block_truncate_page(struct inode *inode, loff_t from);

/* buffer.c for buffer_page.c: a page's buffers, an array. */
/* if it has none: 0 or -ENOMEM */
int create_page_buffers(struct page *page, struct block_device *device);
void map_page_buffer(struct buffer *buffer, u64 block); /* and hash it, pushing others out */
/* unhash, drop unwritten, wait until nobody uses it */
void forget_page_buffer(struct buffer *buffer);
static inline unsigned buffers_of_page(const struct page *page)
{
	return (unsigned)(PAGE_SIZE / page->buffers->size);
}
