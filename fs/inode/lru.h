/*
 * lru.h - the list of a cache's objects in order of use, of which reclaim takes: one list a CPU, so
 * that CPUs which make and drop objects do not meet.
 *
 * An object is listed as long as it is hashed, on the list of the CPU that put it there, whose
 * number it keeps. Being used only sets a mark in it: the list is a clock, in which what has been
 * used since the last look, or is in use, goes round again.
 */
#pragma once

#include "core/memory/page_alloc.h"

struct hash_cache;

struct lru_list {
	spinlock_t lock; /* inside bucket locks; around inode->spin */
	struct list_head objects;
	u64 count;
} __aligned(64);

struct lru {
	struct lru_list of_cpu[NR_CPUS];
	/* What reclaim calls: with the list locked, is @link's object to go? Then without: free it
	 * if it still is; was it? @argument is of lru_shrink(). */
	bool (*take)(struct list_head *link, void *argument);
	bool (*evict)(struct list_head *link, void *argument);
};
extern struct lru dentry_lru, inode_lru;

void lru_init(struct lru *lru, const char *class_name);
/* @link is on no list; *@cpu: the list it goes to. */
static __always_inline void lru_add(struct lru *lru, struct list_head *link, u8 *cpu)
{
	struct lru_list *list = &lru->of_cpu[cpu_id()];

	*cpu = (u8)cpu_id();
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

/*
 * Look at the oldest of each list, in proportion to its length, at @budget in all and each at most
 * twice; it becomes the newest. What is taken is evicted, until @objects were: how many.
 */
u64 lru_shrink(struct lru *lru, void *argument, u64 objects, u64 budget);
/* The same for reclaim, of 1/@share of the objects: a number of looks in proportion to it,
 * however many are in use; all of tmpfs's are. */
u64 lru_reclaim(struct lru *lru, u64 share);
/* In a debug kernel: panic unless as many are listed as @cache has. Nothing else runs. */
#ifdef CONFIG_DEBUG
void lru_check(const struct lru *lru, struct hash_cache *cache);
#else
static inline void lru_check(const struct lru *lru, struct hash_cache *cache) {}
#endif
