/*
 * rcu.h - read-copy-update: readers that take no lock and write nothing, and when what they may
 * still be looking at can be freed.
 *
 * The problem. A reader who follows a pointer to an object needs the object to stay. A lock would
 * keep it, or a reference; but either is written by every reader, and a cache line that several
 * CPUs write goes back and forth between them, at the price of a hundred loads each time. The
 * object stays without that, too, if whoever takes it out of a structure waits before he frees it:
 * until all who might have found it there are through.
 *
 * Who might have? A reader says where he begins and ends:
 *
 *	rcu_read_lock();	follow pointers by READ_ONCE() or smp_load_acquire(); do not sleep
 *	rcu_read_unlock();
 *
 * The two are no instructions. For this kernel does not take the CPU from a task in the kernel, and
 * a reader may not sleep: so a CPU that runs a program, idles, or changes from one task to another
 * has no reader on it. Such a moment is called a quiescent state. Once each CPU has been in one
 * after the object was taken out, nobody has it: readers who began before are through, those who
 * began later did not find it. That time is called a grace period.
 *
 *	take the object out of the structure
 *	call_rcu(&object->rcu, free_it)		or synchronize_rcu(); free
 *
 * How a grace period is known to be over. They are numbered; `begun` is the number of the last one
 * that began. A CPU in a quiescent state notes that number (`seen`): it has no reader left from
 * before. Grace period n is over when each CPU has noted n or more, or idles. Callbacks gather on
 * the CPU that made them; from its next quiescent state on they wait for one grace period together,
 * while new ones gather for the following. So the cost is that of a few instructions each tick,
 * whatever the number of callbacks. In a quiescent state after that the CPU calls them: what they
 * free is again where it was used. For a CPU that idles meanwhile, the last that passes does it.
 *
 * Quiescent states are noted in the idle loop, and, where the tick or call_rcu() has asked for it
 * (TASK_PENDING_RCU), on the way back to the program or in schedule(): nothing else on those ways
 * but the test of a word that is tested anyway. When there are too many callbacks, CPUs that are
 * late are told so by an interrupt. With one CPU nobody else can be reading, and callbacks are
 * called at once.
 *
 * Not allowed: to sleep, to return to the program, and call_rcu(), between rcu_read_lock() and
 * rcu_read_unlock(); to follow a pointer outside of them; readers in interrupt handlers. Debug
 * builds panic at what comes first, and, where rcu_assert_reader() stands, at what is followed
 * outside; they name a CPU that has held a grace period up for two seconds. Freed objects are
 * poisoned by their slab, so that a reader who kept one is found.
 *
 * After McKenney and Slingwine, "Read-copy update: using execution history to solve concurrency
 * problems" (1998).
 */
#pragma once

#include <arch/cpu.h>

#include "core/base/atomic.h"

/* In an object that call_rcu() is to free; it may lie where a dead object has nothing else. */
struct rcu_head {
	struct rcu_head *next;
	void (*function)(struct rcu_head *head);
};

#ifdef CONFIG_DEBUG
void rcu_count_section(int step); /* this CPU has so many readers more */
void rcu_assert_no_reader(void);  /* panics if this CPU has one: the caller may sleep */
void rcu_assert_reader(void);	  /* panics if it has none: the caller follows a pointer */
#else
#define rcu_count_section(step) ((void)0)
#define rcu_assert_no_reader() ((void)0)
#define rcu_assert_reader() ((void)0)
#endif

/* A reader begins, and ends. They nest. */
static __always_inline void rcu_read_lock(void)
{
	rcu_count_section(1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the compiler moves nothing out */
}

static __always_inline void rcu_read_unlock(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	rcu_count_section(-1);
}

/* Call function(@head) after a grace period, in no task's name: it does not sleep and takes no lock
 * but a slab's or a wait queue's. Process context, outside of readers; does not sleep. */
void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head));

/* Returns after a grace period. Sleeps. */
void synchronize_rcu(void);

/* Returns when all callbacks that were given to call_rcu() before have been called. Sleeps. */
void rcu_barrier(void);

/* ---- for the scheduler ----------------------------------------------------------------------- */

/* Where current->pending has TASK_PENDING_RCU, and no lock is held: this CPU has no reader. Notes
 * it, clears the bit, and calls what may be called. */
void rcu_quiescent(void);

/* The same where this CPU is about to idle; from then until rcu_idle_exit() it has no readers.
 * Interrupts are off. */
void rcu_idle_enter(void);
void rcu_idle_exit(void);

/* The tick of this CPU has interrupted current: sets TASK_PENDING_RCU if there is something to
 * do. */
void rcu_tick(void);
