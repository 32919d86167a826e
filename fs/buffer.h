/*
 * buffer.h - the buffer cache: disk blocks in memory, found by (device, block) through the buffer hash table.
 *
 * As in Linux 2.2 it holds metadata blocks and the blocks of dirty file pages. A metadata buffer has memory
 * of its own (a page of the page cache cut into blocks, without mapping). A file page that is written gets
 * one buffer a block whose data aliases the page's memory; it stays hashed until the page goes away, so that
 * write-back works on buffers alone, in block order.
 *
 * States (flags): B_UPTODATE, B_DIRTY (on the dirty list, with the time it became so), B_LOCKED (I/O; wait),
 * B_MAPPED (block number valid), B_ERROR. A buffer with refcount 0 that is clean may be reclaimed.
 * Lock order: page lock -> B_LOCKED -> bucket lock -> dirty/LRU list lock. Interrupts complete I/O.
 */
#ifndef FS_BUFFER_H
#define FS_BUFFER_H

#include <generated/hash_choice.h>

#include "fs/block.h"
#include "kernel/core/atomic.h"

enum buffer_flag { B_UPTODATE, B_DIRTY, B_LOCKED, B_MAPPED, B_ERROR, B_HASHED, B_REFERENCED, B_NEW };

struct buffer {
	struct buffer_table_link hash_link;
	u64 block;
	struct block_device *device;
	unsigned long flags;
	atomic_t refcount;
	u32 size;
	void *data;
	struct page *page;
	struct buffer *next_in_page; /* circular */
	struct list_head lru;	     /* clean or dirty list */
	u64 dirtied_ns;
	struct inode *owner;	     /* metadata (indirect blocks) that fsync of this inode must write; NULL */
	struct list_head owner_link;
};

/* Referenced buffer, uptodate or not; ERR_PTR(-ENOMEM), ERR_PTR(-EIO) when past the device. Sleeps. */
struct buffer *buffer_get(struct block_device *device, u64 block);
/* Referenced and uptodate: ERR_PTR(-EIO) when reading failed. Sleeps. Name as in every Unix: bread. */
struct buffer *bread(struct block_device *device, u64 block);
/* Find only; NULL if not cached. Counted. */
struct buffer *find_buffer(struct block_device *device, u64 block);
/* Start reading blocks that will be wanted. Does not wait. */
void buffer_readahead(struct block_device *device, u64 block, unsigned count);
void brelse(struct buffer *buffer); /* NULL is allowed */
void mark_buffer_dirty(struct buffer *buffer);
void mark_buffer_dirty_inode(struct buffer *buffer, struct inode *inode); /* fsync(inode) writes it too */
void bforget(struct buffer *buffer); /* the block was freed: drop contents unwritten, and the reference */
void lock_buffer(struct buffer *buffer);
void unlock_buffer(struct buffer *buffer);
int sync_dirty_buffer(struct buffer *buffer);		 /* write and wait */
int sync_inode_buffers(struct inode *inode);		 /* those of mark_buffer_dirty_inode: write and wait */
int sync_buffers(struct block_device *device, bool wait); /* NULL: all devices; block order */
void invalidate_buffers(struct block_device *device);	 /* umount: drop all clean ones */

/*
 * File pages over blocks. get_block maps file block @index of @inode to a disk block: sets *@block (0: hole),
 * allocating if @create (then *@fresh says that it is new). 0 or -errno.
 */
typedef int (*get_block_t)(struct inode *inode, u64 index, u64 *block, bool create, bool *fresh);
int block_read_page(struct inode *inode, struct page *page, get_block_t get_block);
int block_write_page(struct inode *inode, struct page *page, get_block_t get_block);
int block_write_begin(struct inode *inode, struct page *page, unsigned from, unsigned to, get_block_t get_block);
int block_write_end(struct inode *inode, struct page *page, unsigned from, unsigned to);
void block_invalidate_page(struct page *page, unsigned from);
bool block_release_page(struct page *page);
int block_truncate_page(struct inode *inode, loff_t from, get_block_t get_block); /* zero the tail of the last block */

/* The write-back thread: dirty buffers older than dirty_expire (30 s) every 5 s, and when too many are dirty. */
void writeback_start(void);
/* Called by writers: waits while more than the limit (share of memory) is dirty. */
void balance_dirty(void);

void buffer_cache_init(void);

#endif /* FS_BUFFER_H */
