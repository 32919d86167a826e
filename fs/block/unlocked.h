/*
 * unlocked.h - buffers that are looked up without a lock, BUFFER_LOCK=sequence: a part of buffer.c,
 * which includes it where it has its table.
 *
 * The order is that of hash/lock/sequence_find.h: who looks counts himself first, whatever he has
 * come to, and then looks whether the bucket has changed; unhash() says that it changes, and then
 * looks at the count. So at most one of them goes on: a buffer that is out at count 0 is its
 * taker's alone, and whoever counts it from then on has looked in vain. All he does is to take his
 * count back, so the memory it is in has to stay until he has: the struct is freed after a grace
 * period (core/lock/rcu.h), and what it has for data, which he never comes to, at once.
 *
 * A buffer of a file page may be put back into the table meanwhile, under another block, with such
 * a count: it is one too many for a moment, and makes nobody do more than try again. Only where a
 * file shrinks nobody would; there unheld() knows that it means nothing.
 */
#pragma once

#include "hash/lock/sequence_find.h"

/* As buffer_compare(), of one that may be out by now, and another block's. */
static __always_inline int compare_changing(const struct buffer *buffer,
					    const struct buffer_key *key)
{
	if (data_race(buffer->block) != key->block)
		return 1;
	++*key->compares;
	return data_race(buffer->device) != key->device;
}

static __always_inline bool take_count(struct buffer *buffer)
{
	atomic_inc_return(&buffer->refcount);
	return true;
}

/* true: *@found is the buffer, referenced, or NULL, and the lookup is counted. false: look with the
 * lock, as always where keys are recorded, in the order in which buckets are locked. */
static __always_inline bool find_unlocked(u32 bucket, struct block_device *device, u64 block,
					  struct buffer **found)
{
#ifdef CONFIG_RECORD_KEYS
	return false;
#endif
	u64 steps = 0, compares = 0;
	const struct buffer_key key = {device, block, &compares};

	rcu_read_lock();
	bool sure = buffer_table_find_unlocked(&table, NULL, bucket, &key, compare_changing,
					       take_count, &steps, found);
	if (likely(sure)) {
		HASH_COUNT_FIND(buffer, *found, steps, compares);
	} else {
		brelse(*found); /* before the memory may go */
	}
	rcu_read_unlock();
	if (unlikely(!sure))
		return false;
	REGION_MARK(HASH_buffer, 1);
	if (*found && !test_bit(B_REFERENCED, &(*found)->flags))
		set_bit(B_REFERENCED, &(*found)->flags);
	return true;
}

/* Has nobody a reference to @buffer, whose bucket is locked? One that has no block has been waited
 * for since it left the table (forget_page_buffer()), or never was there. */
static inline bool unheld(const struct buffer *buffer)
{
	return smp_load_acquire(&buffer->refcount.counter) == 0 ||
	       !test_bit(B_MAPPED, &buffer->flags);
}

static void free_memory(struct rcu_head *head)
{
	struct buffer *buffer = container_of(head, struct buffer, rcu);

	if (buffer->page)
		kfree(buffer); /* the first of its array */
	else
		kmem_cache_free(buffer_slab, buffer);
}

#define free_unseen(buffer, free_now) call_rcu(&(buffer)->rcu, free_memory)
