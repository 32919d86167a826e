/* lru.c - see lru.h. */
#include "fs/lru.h"
#include "hash/cache.h"

void lru_init(struct lru *lru, const char *class_name)
{
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++) {
		spin_lock_init(&lru->of_cpu[cpu].lock, class_name);
		INIT_LIST_HEAD(&lru->of_cpu[cpu].objects);
	}
}

void lru_add(struct lru *lru, struct list_head *link, u8 *cpu)
{
	struct lru_list *list = &lru->of_cpu[ *cpu = (u8)cpu_id()];

	guard(spinlock, &list->lock);
	list_add(link, &list->objects);
	list->count++;
}

void lru_remove(struct lru *lru, struct list_head *link, u8 cpu)
{
	struct lru_list *list = &lru->of_cpu[cpu];

	guard(spinlock, &list->lock);
	list_del(link);
	list->count--;
}

u64 lru_count(const struct lru *lru)
{
	u64 count = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		count += READ_ONCE(lru->of_cpu[cpu].count);
	return count;
}

/* The oldest of @list that may go, or NULL. */
static struct list_head *take_oldest(struct lru *lru, struct lru_list *list, u64 *budget)
{
	guard(spinlock, &list->lock);
	while (*budget && !list_empty(&list->objects)) {
		struct list_head *link = list->objects.prev;

		(*budget)--;
		list_move(link, &list->objects);
		if (lru->take(link))
			return link;
	}
	return NULL;
}

u64 lru_shrink(struct lru *lru, u64 objects, u64 budget)
{
	u64 freed = 0;

	for (unsigned cpu = 0, without = 0; freed < objects && without < NR_CPUS;
	     cpu = (cpu + 1) % NR_CPUS) {
		struct list_head *link = take_oldest(lru, &lru->of_cpu[cpu], &budget);

		without = link ? 0 : without + 1;
		freed += link && lru->evict(link);
	}
	return freed;
}

static void add_size(u64 size, void *total)
{
	*(u64 *)total += size;
}

void lru_check(const struct lru *lru, struct hash_cache *cache)
{
	u64 hashed = 0;

	cache->walk(cache->table, add_size, &hashed);
	BUG_ON(hashed != lru_count(lru));
}
