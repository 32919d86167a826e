/* shrinker.c - see shrinker.h. */
#include "core/memory/shrinker.h"

LIST_HEAD(shrinkers);
static u64 (*registered_reclaim)(u64 pages);

void shrinker_register(struct shrinker *shrinker)
{
	list_add_tail(&shrinker->link, &shrinkers);
}

void reclaim_register(u64 (*reclaim)(u64 pages))
{
	registered_reclaim = reclaim;
}

u64 reclaim_pages(u64 pages)
{
	return registered_reclaim ? registered_reclaim(pages) : 0;
}
