/*
 * lru.h - lists of what reclaim may take, newest first: one list a CPU, so that CPUs which make
 * and drop objects do not meet. An object stays on the list of the CPU that put it there, whose
 * number it keeps. Private to dcache.c and icache.c.
 */
#pragma once

#include <arch/cpu.h>

#include "kernel/core/cleanup.h"
#include "kernel/core/list.h"

struct lru_list {
	spinlock_t lock;
	struct list_head objects;
	u64 count;
} __aligned(64);

struct lru {
	struct lru_list of_cpu[NR_CPUS];
};

static inline void lru_init(struct lru *lru, const char *class_name)
{
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++) {
		spin_lock_init(&lru->of_cpu[cpu].lock, class_name);
		INIT_LIST_HEAD(&lru->of_cpu[cpu].objects);
	}
}

/* @link is on no list; *@cpu: the list it goes to. */
static __always_inline void lru_add(struct lru *lru, struct list_head *link, u8 *cpu)
{
	unsigned here = cpu_id();
	struct lru_list *list = &lru->of_cpu[here];

	*cpu = (u8)here;
	guard(spinlock, &list->lock);
	list_add(link, &list->objects);
	list->count++;
}

/* @link is on the list of @cpu. */
static __always_inline void lru_remove(struct lru *lru, struct list_head *link, u8 cpu)
{
	struct lru_list *list = &lru->of_cpu[cpu];

	guard(spinlock, &list->lock);
	list_del(link);
	list->count--;
}

static inline u64 lru_count(const struct lru *lru)
{
	u64 count = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		count += READ_ONCE(lru->of_cpu[cpu].count);
	return count;
}
