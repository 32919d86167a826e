/* lru.c - see lru.h. */
#include "fs/inode/lru.h"
#include "hash/cache.h"

static u64 lru_count(const struct lru *lru)
{
	u64 count = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++)
		count += READ_ONCE(lru->of_cpu[cpu].count);
	return count;
}

/* Look at one. */
static struct list_head *take_oldest(struct lru *lru, struct lru_list *list, void *argument)
{
	guard(spinlock, &list->lock);
	if (list_empty(&list->objects))
		return NULL;
	struct list_head *link = list->objects.prev;
	list_move(link, &list->objects);
	return lru->take(link, argument) ? link : NULL;
}

u64 lru_shrink(struct lru *lru, void *argument, u64 objects, u64 budget)
{
	u64 total = lru_count(lru), freed = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS && total; cpu++) {
		struct lru_list *list = &lru->of_cpu[cpu];
		u64 looks = (min(budget, 2 * total) * READ_ONCE(list->count) + total - 1) / total;

		while (looks-- && freed < objects) {
			struct list_head *link = take_oldest(lru, list, argument);

			freed += link && lru->evict(link, argument);
		}
	}
	return freed;
}

u64 lru_reclaim(struct lru *lru, u64 share)
{
	u64 wanted = lru_count(lru) / share;

	return lru_shrink(lru, NULL, wanted, 2 * wanted);
}

void lru_init(struct lru *lru, const char *class_name)
{
	for (unsigned cpu = 0; cpu < NR_CPUS; cpu++) {
		spin_lock_init(&lru->of_cpu[cpu].lock, class_name);
		INIT_LIST_HEAD(&lru->of_cpu[cpu].objects);
	}
}

#ifdef CONFIG_DEBUG
void lru_check(const struct lru *lru, struct hash_cache *cache)
{
	BUG_ON(hash_cache_objects(cache) != lru_count(lru));
}
#endif
