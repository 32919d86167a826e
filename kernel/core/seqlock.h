/*
 * seqlock.h - readers that never write: they read, and read again if a writer was at work.
 *
 *	do {
 *		seq = read_seqbegin(&lock);
 *		... copy what it guards; pointers found may be stale: check before following ...
 *	} while (read_seqretry(&lock, seq));
 *
 * Writers must not sleep within (and hold off interrupts if interrupt handlers read).
 */
#pragma once

#include "kernel/core/spinlock.h"

typedef struct {
	u32 sequence; /* odd: a writer is at work */
	spinlock_t lock;
} seqlock_t;

#define DEFINE_SEQLOCK(name)                                                                       \
	seqlock_t name;                                                                            \
	NAME_LOCK(name, (name).lock, #name)

static __always_inline u32 read_seqbegin(const seqlock_t *s)
{
	u32 sequence;

	while (unlikely((sequence = smp_load_acquire(&s->sequence)) & 1))
		cpu_relax();
	return sequence;
}

/* true: what was read since read_seqbegin() may be inconsistent. */
static __always_inline bool read_seqretry(const seqlock_t *s, u32 sequence)
{
	smp_rmb();
	return unlikely(READ_ONCE(s->sequence) != sequence);
}

static __always_inline void write_seqlock(seqlock_t *s)
{
	spin_lock(&s->lock);
	WRITE_ONCE(s->sequence, s->sequence + 1);
	smp_wmb();
}

static __always_inline void write_sequnlock(seqlock_t *s)
{
	smp_wmb();
	WRITE_ONCE(s->sequence, s->sequence + 1);
	spin_unlock(&s->lock);
}
