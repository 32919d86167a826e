/*
 * atomic.h - atomic integers with Linux's names, over GCC's __atomic builtins, and memory barriers.
 *
 * As in Linux: what returns a value is fully ordered; what returns nothing (atomic_inc, atomic_set,
 * atomic_read) orders nothing but itself.
 */
#pragma once

#include "kernel/core/types.h"

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define ATOMIC_INIT(i) {(i)}

#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

#define xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
/* The value found at @p; it was @old exactly if @new has been stored. */
#define cmpxchg(p, old, new)                                                                       \
	({                                                                                         \
		__typeof__(*(p)) _cx_old = (old);                                                  \
		__atomic_compare_exchange_n(p, &_cx_old, new, false, __ATOMIC_SEQ_CST,             \
					    __ATOMIC_SEQ_CST);                                     \
		_cx_old;                                                                           \
	})
/* true if @new has been stored; else *old_p is set to the value found. */
#define try_cmpxchg(p, old_p, new)                                                                 \
	__atomic_compare_exchange_n(p, old_p, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#define DEFINE_ATOMIC(name, type, value_type)                                                      \
	static inline value_type name##_read(const type *v)                                        \
	{                                                                                          \
		return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);                             \
	}                                                                                          \
	static inline void name##_set(type *v, value_type i)                                       \
	{                                                                                          \
		__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED);                                \
	}                                                                                          \
	static inline void name##_add(value_type i, type *v)                                       \
	{                                                                                          \
		__atomic_fetch_add(&v->counter, i, __ATOMIC_RELAXED);                              \
	}                                                                                          \
	static inline void name##_sub(value_type i, type *v)                                       \
	{                                                                                          \
		__atomic_fetch_sub(&v->counter, i, __ATOMIC_RELAXED);                              \
	}                                                                                          \
	static inline void name##_inc(type *v)                                                     \
	{                                                                                          \
		name##_add(1, v);                                                                  \
	}                                                                                          \
	static inline void name##_dec(type *v)                                                     \
	{                                                                                          \
		name##_sub(1, v);                                                                  \
	}                                                                                          \
	static inline value_type name##_add_return(value_type i, type *v)                          \
	{                                                                                          \
		return __atomic_add_fetch(&v->counter, i, __ATOMIC_SEQ_CST);                       \
	}                                                                                          \
	static inline value_type name##_sub_return(value_type i, type *v)                          \
	{                                                                                          \
		return __atomic_sub_fetch(&v->counter, i, __ATOMIC_SEQ_CST);                       \
	}                                                                                          \
	static inline value_type name##_fetch_add(value_type i, type *v)                           \
	{                                                                                          \
		return __atomic_fetch_add(&v->counter, i, __ATOMIC_SEQ_CST);                       \
	}                                                                                          \
	static inline value_type name##_inc_return(type *v)                                        \
	{                                                                                          \
		return name##_add_return(1, v);                                                    \
	}                                                                                          \
	static inline value_type name##_dec_return(type *v)                                        \
	{                                                                                          \
		return name##_sub_return(1, v);                                                    \
	}                                                                                          \
	static inline bool name##_dec_and_test(type *v)                                            \
	{                                                                                          \
		return name##_sub_return(1, v) == 0;                                               \
	}                                                                                          \
	static inline value_type name##_xchg(type *v, value_type i)                                \
	{                                                                                          \
		return xchg(&v->counter, i);                                                       \
	}                                                                                          \
	static inline value_type name##_cmpxchg(type *v, value_type old, value_type new)           \
	{                                                                                          \
		return cmpxchg(&v->counter, old, new);                                             \
	}                                                                                          \
	/* Add @i unless the value is @u; was it added? */                                         \
	static inline bool name##_add_unless(type *v, value_type i, value_type u)                  \
	{                                                                                          \
		value_type old = name##_read(v);                                                   \
                                                                                                   \
		do {                                                                               \
			if (old == u)                                                              \
				return false;                                                      \
		} while (!try_cmpxchg(&v->counter, &old, old + i));                                \
		return true;                                                                       \
	}                                                                                          \
	static inline bool name##_inc_not_zero(type *v)                                            \
	{                                                                                          \
		return name##_add_unless(v, 1, 0);                                                 \
	}

DEFINE_ATOMIC(atomic, atomic_t, int)
DEFINE_ATOMIC(atomic64, atomic64_t, s64)
