/*
 * seqcount.h - sequence counts: readers who write nothing, and find out whether they read in peace.
 *
 * A writer makes the count odd, changes what it guards, and makes it even again. A reader takes the
 * count, reads, and looks at the count again: if it is the same, and was even, all that he read
 * stood there at one moment. Else what he read means nothing, and he begins anew or goes another
 * way. So what is read must be of a kind that half a change does no harm to: numbers, and pointers
 * to what is not freed before a grace period (rcu.h).
 *
 * Writers of one count exclude each other by a lock of their own. They store by WRITE_ONCE(), and
 * readers load by READ_ONCE(), what both may touch at a time.
 */
#pragma once

#include "core/base/atomic.h"

typedef struct {
	u32 sequence;
} seqcount_t;

/* Around a change, by one writer at a time. */
static __always_inline void write_seqcount_begin(seqcount_t *count)
{
	WRITE_ONCE(count->sequence, count->sequence + 1);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* the odd count is seen before the change */
}

static __always_inline void write_seqcount_end(seqcount_t *count)
{
	smp_store_release(&count->sequence, count->sequence + 1);
}

/* The count to look for afterwards. An odd one, in the middle of a change, will not be found. */
static __always_inline u32 read_seqcount_begin(const seqcount_t *count)
{
	return smp_load_acquire(&count->sequence) & ~1u;
}

/* Has something changed since the count was @begin? Then what was read means nothing. */
static __always_inline bool read_seqcount_retry(const seqcount_t *count, u32 begin)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read is read before the look */
	return READ_ONCE(count->sequence) != begin;
}
