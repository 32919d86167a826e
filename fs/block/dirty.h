/*
 * dirty.h - I/O on buffers, and when and in which order what is dirty goes to the disk.
 *
 * States: clean -> dirty (mark_buffer_dirty(), on the list of its region and rank) -> in flight
 * (B_LOCKED, counted in bytes that fly, off the list) -> clean. One that changes in flight becomes
 * dirty again at once. The order of the ranks is that of enum buffer_rank (buffer.h).
 *
 * Who changes metadata: takes ranks_lock shared where what he writes leads to other blocks, waits
 * by wait_on_buffer() where what is in flight may not have the change, changes it, and calls
 * mark_buffer_ranked(). Who wants it on the disk calls sync_buffers(), or sync_dirty_buffer() for
 * one, and then block_flush() (block.h). A writer of files calls balance_dirty() once he has let go
 * of all locks.
 *
 * Lock order: ranks_lock -> B_LOCKED -> the dirty list's lock (see buffer.h).
 */
#pragma once

#include "fs/block/buffer.h"

/*
 * Who changes a block of metadata such that it leads to others, or leads there no more, holds this
 * shared for the change: so he comes before a round of all ranks, and what it leads to, dirty
 * before, is written by the same round or was by an earlier one; or after it. Inside of all locks
 * that sleep; nothing is allocated or written under it.
 */
extern struct rw_semaphore ranks_lock;

/* ---- marking --------------------------------------------------------------------------------- */

void __mark_buffer_dirty(struct buffer *buffer, enum buffer_rank rank);
/* The caller has changed the contents; they are written after this call. Any lock but the dirty
 * list's may be held. */
static inline void mark_buffer_dirty(struct buffer *buffer)
{
	smp_mb(); /* the change is seen by who takes the flag that we find set */
	if (!test_bit(B_DIRTY, &buffer->flags))
		__mark_buffer_dirty(buffer, buffer->page ? RANK_DATA : RANK_USUAL);
}
/* The same, to be written no sooner than @rank. What is dirty and fresh stays so. */
static inline void mark_buffer_ranked(struct buffer *buffer, enum buffer_rank rank)
{
	smp_mb();
	enum buffer_rank old = READ_ONCE(buffer->rank);
	if (!test_bit(B_DIRTY, &buffer->flags) || (old > RANK_FRESH && old < rank))
		__mark_buffer_dirty(buffer, rank);
}
/* Take it off its dirty list: was it there? TO_FORGET: what it holds is void. TO_WRITE: it is from
 * now on in flight, and its B_LOCKED is the caller's. */
enum clean_purpose { TO_FORGET, TO_WRITE };
bool clean_buffer(struct buffer *buffer, enum clean_purpose purpose);

/* ---- I/O on one ------------------------------------------------------------------------------ */

int __read_buffer(struct buffer *buffer);
/* If it is not uptodate, read it: 0 or -EIO. Sleeps. */
static inline int read_buffer(struct buffer *buffer)
{
	/* what made it so is seen by who reads it */
	if (likely(smp_load_acquire(&buffer->flags) & BIT(B_UPTODATE)))
		return 0;
	return __read_buffer(buffer);
}
/* Who gives a buffer that may not be uptodate new contents as a whole holds its B_LOCKED meanwhile,
 * so that nobody reads the block over them. Sleeps. */
void lock_buffer(struct buffer *buffer);
void unlock_buffer(struct buffer *buffer);
/* Until it is not locked. Also before a change that what is in flight may not have: that would be
 * there before its rank. Sleeps. */
void wait_on_buffer(struct buffer *buffer);
/* Start writing those of @count buffers side by side that are dirty. One in flight is waited for.
 */
void write_buffers(struct buffer *first, unsigned count);

/* ---- write-back ------------------------------------------------------------------------------ */

int sync_dirty_buffer(struct buffer *buffer); /* write and wait: 0 or -EIO */
/* Start writing all dirty buffers, rank by rank, in block order. WB_SYNC_ALL: wait until they, and
 * writes that were in flight, are on their devices; 0, or -EIO if one to @device (NULL: to any)
 * failed meanwhile. */
enum writeback_sync_modes { WB_SYNC_NONE, WB_SYNC_ALL };
int sync_buffers(struct block_device *device, enum writeback_sync_modes mode);
bool any_dirty(enum buffer_rank rank);
/* What was written until now is on the platters, of all devices, before what leads there is. -EIO:
 * not on @device; of others block_take_error() tells as well. Sleeps. */
int settle(const struct block_device *device);
/* What is on the disk: as long as the stamp is good (0 never is) no metadata has been written since
 * it was taken. So what was made and taken back in between never was on a disk. */
u64 buffers_stamp(void);
bool buffers_stamp_good(u64 stamp);
bool writeback_is_busy(void); /* something is dirty or on its way to a disk */
/* Called by writers, holding no page or buffer lock: writes out while more than a share of memory
 * is dirty. */
void balance_dirty(void);
u64 dirty_buffer_bytes(void); /* racy */
/* Memory is short: wake the write-back thread (fs/writeback.c) if it has anything to do. */
void hurry_writeback(void);
/* That thread sleeps until it is hurried, or until @deadline. */
void wait_for_hurry(u64 deadline);
void dirty_lists_init(void);
