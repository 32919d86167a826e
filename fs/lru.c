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

static struct list_head *take_oldest(struct lru_list *list,
				     bool (*take)(struct list_head *link, void *argument),
				     void *argument)
{
	guard(spinlock, &list->lock);
	if (list_empty(&list->objects))
		return NULL;
	struct list_head *link = list->objects.prev;
	list_move(link, &list->objects);
	return take(link, argument) ? link : NULL;
}

u64 lru_each(struct lru *lru, bool (*take)(struct list_head *link, void *argument),
	     bool (*then)(struct list_head *link, void *argument), void *argument, u64 objects,
	     u64 budget)
{
	u64 total = lru_count(lru), freed = 0;

	for (unsigned cpu = 0; cpu < NR_CPUS && total; cpu++) {
		struct lru_list *list = &lru->of_cpu[cpu];
		u64 looks = (min(budget, 2 * total) * READ_ONCE(list->count) + total - 1) / total;

		while (looks-- && freed < objects) {
			struct list_head *link = take_oldest(list, take, argument);

			freed += link && then(link, argument);
		}
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
