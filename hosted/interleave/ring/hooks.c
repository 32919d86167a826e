/*
 * hooks.c - interleavings: what code compiled with -fsanitize=thread calls.
 *
 * Before an access: a point, then the checker. Atomic operations are done here, after their point.
 * A volatile access (READ_ONCE, WRITE_ONCE, test_bit) is marked. A marked read is taken to order
 * what depends on it, as on every machine that Linux runs on: it acquires; a marked write orders
 * nothing.
 */
#include <string.h>

#include "hosted/interleave/ring/ring.h"

#define PC ((u32)ring_place((uintptr_t)__builtin_return_address(0)))

static __always_inline void look(const volatile void *address, size_t size, enum ring_kind kind,
				 u32 pc)
{
	if (likely(!ring_active))
		return;
	stores_point();
	ring_point((uintptr_t)address, kind, pc);
	races_access((uintptr_t)address, size, kind, pc);
	stores_access((uintptr_t)address, size);
	if (kind == RING_MARKED_READ)
		races_load((uintptr_t)address, __ATOMIC_ACQUIRE);
	else if (kind == RING_MARKED_WRITE || kind == RING_WRITE)
		stores_follows((uintptr_t)address, size, kind);
}

/* ---- functions --------------------------------------------------------------------------------
 */

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *call_pc);
void __tsan_func_entry(void *call_pc)
{
	if (ring_active)
		stacks_enter((u32)ring_place((uintptr_t)call_pc));
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
	if (!ring_active)
		return;
	stacks_leave();
	if (!running->node)
		ring_stores_end(16); /* before the program looks at what its call has done */
}

/* ---- plain and volatile accesses --------------------------------------------------------------
 */

#define ACCESS(name, size, kind)                                                                   \
	void __tsan_##name(void *address);                                                         \
	void __tsan_##name(void *address)                                                          \
	{                                                                                          \
		look(address, size, kind, PC);                                                     \
	}
#define ACCESSES(size)                                                                             \
	ACCESS(read##size, size, RING_READ)                                                        \
	ACCESS(write##size, size, RING_WRITE)                                                      \
	ACCESS(unaligned_read##size, size, RING_READ)                                              \
	ACCESS(unaligned_write##size, size, RING_WRITE)                                            \
	ACCESS(volatile_read##size, size, RING_MARKED_READ)                                        \
	ACCESS(volatile_write##size, size, RING_MARKED_WRITE)                                      \
	ACCESS(unaligned_volatile_read##size, size, RING_MARKED_READ)                              \
	ACCESS(unaligned_volatile_write##size, size, RING_MARKED_WRITE)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void *address, size_t size);
void __tsan_read_range(void *address, size_t size)
{
	look(address, size, RING_READ, PC);
}

void __tsan_write_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size)
{
	look(address, size, RING_WRITE, PC);
}

/* ---- copies: calls are renamed to these (interleave.mk) ---------------------------------------
 */

/* What is copied there is not late, nor what was stored before. */
static __always_inline void look_at_target(const void *to, size_t size, u32 pc)
{
	look(to, size, RING_WRITE, pc);
	stores_seen();
}

void *ring_memcpy(void *to, const void *from, size_t size);
void *ring_memcpy(void *to, const void *from, size_t size)
{
	if (size) {
		look(from, size, RING_READ, PC);
		look_at_target(to, size, PC);
	}
	return memcpy(to, from, size);
}

void *ring_memmove(void *to, const void *from, size_t size);
void *ring_memmove(void *to, const void *from, size_t size)
{
	if (size) {
		look(from, size, RING_READ, PC);
		look_at_target(to, size, PC);
	}
	return memmove(to, from, size);
}

void *ring_memset(void *to, int byte, size_t size);
void *ring_memset(void *to, int byte, size_t size)
{
	if (size)
		look_at_target(to, size, PC);
	return memset(to, byte, size);
}

int ring_memcmp(const void *a, const void *b, size_t size);
int ring_memcmp(const void *a, const void *b, size_t size)
{
	if (size) {
		look(a, size, RING_READ, PC);
		look(b, size, RING_READ, PC);
	}
	return memcmp(a, b, size);
}

/* ---- atomic operations ------------------------------------------------------------------------
 */

static __always_inline void before(const volatile void *address, size_t size, enum ring_kind kind,
				   u32 pc)
{
	if (unlikely(ring_active)) {
		stores_point();
		ring_point((uintptr_t)address, kind, pc);
		races_access((uintptr_t)address, size, kind, pc);
		stores_access((uintptr_t)address, size);
	}
}

/* A locked instruction waits until all that was stored before it is seen. */
static __always_inline void before_locked(const volatile void *address, size_t size, u32 pc)
{
	before(address, size, RING_MARKED_WRITE, pc);
	stores_seen();
}

static __always_inline void exchanged(const volatile void *address, int order)
{
	if (unlikely(ring_active))
		races_exchange((uintptr_t)address, order);
}

#define FETCH(bits, type, name)                                                                    \
	type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order);         \
	type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order)          \
	{                                                                                          \
		before_locked(at, sizeof(type), PC);                                               \
		exchanged(at, order);                                                              \
		return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                         \
	}
#define COMPARE(bits, type, name)                                                                  \
	int __tsan_atomic##bits##_compare_exchange_##name(volatile type *at, type *expected,       \
							  type value, int order, int failed);      \
	int __tsan_atomic##bits##_compare_exchange_##name(volatile type *at, type *expected,       \
							  type value, int order, int failed)       \
	{                                                                                          \
		before_locked(at, sizeof(type), PC);                                               \
		if (__atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST,      \
						__ATOMIC_SEQ_CST)) {                               \
			exchanged(at, order);                                                      \
			return 1;                                                                  \
		}                                                                                  \
		if (ring_active)                                                                   \
			races_load((uintptr_t)at, failed);                                         \
		return 0;                                                                          \
	}
#define ATOMICS(bits, type)                                                                        \
	type __tsan_atomic##bits##_load(const volatile type *at, int order);                       \
	type __tsan_atomic##bits##_load(const volatile type *at, int order)                        \
	{                                                                                          \
		before(at, sizeof(type), RING_MARKED_READ, PC);                                    \
		if (ring_active)                                                                   \
			races_load((uintptr_t)at, order);                                          \
		return *at;                                                                        \
	}                                                                                          \
	void __tsan_atomic##bits##_store(volatile type *at, type value, int order);                \
	void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                 \
	{                                                                                          \
		before(at, sizeof(type), RING_MARKED_WRITE, PC);                                   \
		if (!ring_active || !stores_late((uintptr_t)at, sizeof(type), value, order))       \
			*at = value;                                                               \
	}                                                                                          \
	type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order);             \
	type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)              \
	{                                                                                          \
		before_locked(at, sizeof(type), PC);                                               \
		exchanged(at, order);                                                              \
		return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                           \
	}                                                                                          \
	FETCH(bits, type, add)                                                                     \
	FETCH(bits, type, sub)                                                                     \
	FETCH(bits, type, and)                                                                     \
	FETCH(bits, type, or)                                                                      \
	FETCH(bits, type, xor)                                                                     \
	FETCH(bits, type, nand)                                                                    \
	COMPARE(bits, type, strong)                                                                \
	COMPARE(bits, type, weak)
ATOMICS(8, u8)
ATOMICS(16, u16)
ATOMICS(32, u32)
ATOMICS(64, u64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	if (!ring_active)
		return;
	stores_point();
	ring_point(0, RING_MARKED_WRITE, PC);
	if (order == __ATOMIC_SEQ_CST)
		stores_seen();
	races_fence(order);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
	(void)order; /* of one CPU with itself */
}
