/*
 * seqlock.h - readers that never write: they read, and read again if a writer was at work.
 *
 *	do {
 *		seq = read_seqbegin(&lock);
 *		... copy what it guards; pointers found may be stale: check before following ...
 *	} while (read_seqretry(&lock, seq));
 *
 * A seqcount_t needs its writers serialised by another lock; a seqlock_t has that spinlock itself.
 * Writers must not sleep within (and hold off interrupts if interrupt handlers read).
 */
#pragma once

#include "kernel/core/spinlock.h"

typedef struct {
	u32 sequence; /* odd: a writer is at work */
} seqcount_t;

typedef struct {
	seqcount_t seqcount;
	spinlock_t lock;
} seqlock_t;

#define SEQCOUNT_INIT {0}
/* clang-format off */
#define DEFINE_SEQLOCK(name) seqlock_t name = {.lock = SPINLOCK_INIT(#name)}
/* clang-format on */

static inline void seqcount_init(seqcount_t *s)
{
	s->sequence = 0;
}

static __always_inline u32 read_seqcount_begin(const seqcount_t *s)
{
	u32 sequence;

	while (unlikely((sequence = smp_load_acquire(&s->sequence)) & 1))
		cpu_relax();
	return sequence;
}

/* true: what was read since read_seqcount_begin() may be inconsistent. */
static __always_inline bool read_seqcount_retry(const seqcount_t *s, u32 sequence)
{
	smp_rmb();
	return unlikely(READ_ONCE(s->sequence) != sequence);
}

static __always_inline void write_seqcount_begin(seqcount_t *s)
{
	WRITE_ONCE(s->sequence, s->sequence + 1);
	smp_wmb();
}

static __always_inline void write_seqcount_end(seqcount_t *s)
{
	smp_wmb();
	WRITE_ONCE(s->sequence, s->sequence + 1);
}

static inline void seqlock_init(seqlock_t *s, const char *class_name)
{
	seqcount_init(&s->seqcount);
	spin_lock_init(&s->lock, class_name);
}

static __always_inline u32 read_seqbegin(const seqlock_t *s)
{
	return read_seqcount_begin(&s->seqcount);
}

static __always_inline bool read_seqretry(const seqlock_t *s, u32 sequence)
{
	return read_seqcount_retry(&s->seqcount, sequence);
}

static __always_inline void write_seqlock(seqlock_t *s)
{
	spin_lock(&s->lock);
	write_seqcount_begin(&s->seqcount);
}

static __always_inline void write_sequnlock(seqlock_t *s)
{
	write_seqcount_end(&s->seqcount);
	spin_unlock(&s->lock);
}
