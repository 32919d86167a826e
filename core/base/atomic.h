/*
 * atomic.h - atomic integers with Linux's names, over GCC's __atomic builtins, and memory barriers.
 *
 * As in Linux: what returns a value is fully ordered; what returns nothing (atomic_inc, atomic_set,
 * atomic_read) orders nothing but itself.
 */
#pragma once

#include "core/base/types.h"

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define ATOMIC_INIT(i) {(i)}

#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

#define xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
/* true if @new has been stored; else *old_p is set to the value found. */
#define try_cmpxchg(p, old_p, new)                                                                 \
	__atomic_compare_exchange_n(p, old_p, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* Each for both types. */
#define atomic_read(v) __atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_set(v, i) __atomic_store_n(&(v)->counter, i, __ATOMIC_RELAXED)
#define atomic_add(i, v) ((void)__atomic_fetch_add(&(v)->counter, i, __ATOMIC_RELAXED))
#define atomic_sub(i, v) ((void)__atomic_fetch_sub(&(v)->counter, i, __ATOMIC_RELAXED))
#define atomic_inc(v) atomic_add(1, v)
#define atomic_dec(v) atomic_sub(1, v)
#define atomic_inc_return(v) __atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_dec_return(v) __atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_dec_and_test(v) (atomic_dec_return(v) == 0)
/* Add @i unless the value is @u; was it added? */
#define atomic_add_unless(v, i, u)                                                                 \
	({                                                                                         \
		__typeof__((v)->counter) _old = atomic_read(v);                                    \
		while (_old != (u) && !try_cmpxchg(&(v)->counter, &_old, _old + (i)))              \
			;                                                                          \
		_old != (u);                                                                       \
	})

/* Take a reference, unless there is none: then who had the last one frees the object. */
static __always_inline bool atomic_inc_not_zero(atomic_t *v)
{
	int old = atomic_read(v);

	do {
		if (unlikely(!old))
			return false;
	} while (unlikely(!try_cmpxchg(&v->counter, &old, old + 1)));
	return true;
}
