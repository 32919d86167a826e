/*
 * map.c - swap areas and their slots. Declared in swap.h and swap_hooks.h.
 *
 * Slots are given out in clusters: from the area of the highest priority that has room, in turn
 * where several have the same, one slot after the other to the end of an aligned group of
 * SWAP_CLUSTER, then from the next group that is free as a whole, if one is found soon. So pages
 * that leave memory together lie together: written in one request, read again by one.
 *
 * Lock: swap_lock, for all areas; innermost.
 */
#include "core/memory/slab.h"
#include "mm/swap/swap.h"

#define GROUPS_SEEN 64 /* groups that are looked at for one that is free */

struct swap_area {
	struct swap_backing *backing; /* NULL: there is none of this type */
	u16 *counts;		      /* of each slot: who wants it, or SWAP_BAD */
	u64 slots;		      /* with the header and the bad ones */
	u64 pages, used;
	u64 next; /* the slot to look at first */
	u64 turn; /* when a cluster of it was begun last */
	int priority;
	bool open;
};

DEFINE_SPINLOCK(swap_lock);
static struct swap_area areas[SWAP_AREAS];
static int lowest_priority = -1;
static u64 turns;
static u64 total_pages, used_pages;

static inline struct swap_area *area_of(u64 entry)
{
	lockdep_assert_held(&swap_lock);
	return &areas[swap_type(entry) % SWAP_AREAS];
}

/* ---- areas ----------------------------------------------------------------------------------- */

int swap_area_add(struct swap_backing *backing, u16 *counts, u64 slots, int priority)
{
	struct swap_area area = {
		.backing = backing,
		.counts = counts,
		.slots = slots,
		.next = 1,
		.open = true,
	};
	unsigned type = 0;

	for (u64 slot = 0; slot < slots; slot++)
		area.pages += counts[slot] != SWAP_BAD;
	guard(spinlock, &swap_lock);
	while (areas[type].backing)
		if (++type == SWAP_AREAS)
			return -EPERM;
	area.priority = priority < 0 ? --lowest_priority : priority;
	areas[type] = area;
	WRITE_ONCE(total_pages, total_pages + area.pages);
	return (int)type;
}

void swap_area_open(unsigned type, bool open)
{
	guard(spinlock, &swap_lock);
	if (areas[type].open == open)
		return;
	areas[type].open = open;
	WRITE_ONCE(total_pages, total_pages + (open ? areas[type].pages : -areas[type].pages));
}

u64 swap_area_used(unsigned type)
{
	guard(spinlock, &swap_lock);
	return areas[type].used;
}

struct swap_area_info swap_area_info(unsigned type)
{
	const struct swap_area *area = &areas[type];

	guard(spinlock, &swap_lock);
	return (struct swap_area_info){area->pages, area->used, area->priority};
}

void swap_area_remove(unsigned type)
{
	u16 *counts;
	{
		guard(spinlock, &swap_lock);
		BUG_ON(areas[type].used || areas[type].open);
		counts = areas[type].counts;
		areas[type] = (struct swap_area){0};
	}
	kfree(counts);
}

u64 swap_next_used(unsigned type, u64 entry)
{
	const struct swap_area *area = &areas[type];

	guard(spinlock, &swap_lock);
	for (u64 slot = swap_slot(entry) + 1; slot < area->slots; slot++)
		if (area->counts[slot] && area->counts[slot] != SWAP_BAD)
			return swap_entry(type, slot);
	return 0;
}

struct swap_backing *swap_backing(u64 entry)
{
	guard(spinlock, &swap_lock);
	return area_of(entry)->backing;
}

/* ---- slots that are given out ---------------------------------------------------------------- */

static bool group_is_free(const struct swap_area *area, u64 first)
{
	lockdep_assert_held(&swap_lock);
	for (u64 slot = first; slot < first + SWAP_CLUSTER; slot++)
		if (slot >= area->slots || area->counts[slot])
			return false;
	return true;
}

/* Where the next cluster begins: at the next free group, or, if none is near, at area->next. */
static void begin_cluster(struct swap_area *area)
{
	u64 groups = area->slots / SWAP_CLUSTER, group = area->next / SWAP_CLUSTER;

	lockdep_assert_held(&swap_lock);
	for (u64 seen = 0; seen < min(groups, (u64)GROUPS_SEEN); seen++, group++) {
		u64 first = groups ? group % groups * SWAP_CLUSTER : 0;

		if (!group_is_free(area, first))
			continue;
		area->next = first;
		break;
	}
	area->turn = ++turns;
}

/* A free slot of @area, which has one. */
static u64 take_slot(struct swap_area *area)
{
	lockdep_assert_held(&swap_lock);
	if (area->next % SWAP_CLUSTER == 0 || area->next == 1)
		begin_cluster(area);
	for (u64 looked = 0; looked < area->slots; looked++) {
		u64 slot = area->next;

		if (slot >= area->slots)
			slot = 1;
		area->next = slot + 1;
		if (area->counts[slot] == 0) {
			area->counts[slot] = 1;
			area->used++;
			return slot;
		}
	}
	BUG();
}

/* Should a slot be taken of @area sooner than of @best (NULL: always)? */
static bool is_better(const struct swap_area *area, const struct swap_area *best)
{
	lockdep_assert_held(&swap_lock);
	if (!area->open || area->used == area->pages)
		return false;
	if (!best || area->priority != best->priority)
		return !best || area->priority > best->priority;
	/* in the middle of a cluster it goes on; else who has not had one for longer */
	if (best->next % SWAP_CLUSTER && best->turn == turns)
		return false;
	return (area->next % SWAP_CLUSTER && area->turn == turns) || area->turn < best->turn;
}

u64 swap_alloc(void)
{
	struct swap_area *best = NULL;

	guard(spinlock, &swap_lock);
	for (struct swap_area *area = areas; area < areas + SWAP_AREAS; area++)
		if (is_better(area, best))
			best = area;
	if (!best)
		return 0;
	WRITE_ONCE(used_pages, used_pages + 1);
	return swap_entry((unsigned)(best - areas), take_slot(best));
}

/* ---- who wants them -------------------------------------------------------------------------- */

/* The count of @entry; NULL: there is no such slot. */
static u16 *count_of(u64 entry)
{
	struct swap_area *area = area_of(entry);

	lockdep_assert_held(&swap_lock);
	if (swap_slot(entry) >= area->slots)
		return NULL;
	return &area->counts[swap_slot(entry)];
}

bool swap_get_used(u64 entry)
{
	guard(spinlock, &swap_lock);
	u16 *count = count_of(entry);

	if (!count || !*count || *count == SWAP_BAD)
		return false;
	ASSERT(*count < SWAP_WANTED_MAX);
	++*count;
	return true;
}

void swap_get(u64 entry)
{
	bool used = swap_get_used(entry);

	BUG_ON(!used);
}

void swap_put(u64 entry)
{
	guard(spinlock, &swap_lock);
	u16 *count = count_of(entry);

	BUG_ON(!count || !*count || *count == SWAP_BAD);
	if (--*count)
		return;
	area_of(entry)->used--;
	WRITE_ONCE(used_pages, used_pages - 1);
}

unsigned swap_count(u64 entry)
{
	guard(spinlock, &swap_lock);
	const u16 *count = count_of(entry);

	return count ? *count : 0;
}

bool swap_is_open(u64 entry)
{
	guard(spinlock, &swap_lock);
	return area_of(entry)->open;
}

/* ---- how many there are ---------------------------------------------------------------------- */

u64 swap_total_pages(void)
{
	return READ_ONCE(total_pages);
}

bool swap_in_use(void)
{
	return READ_ONCE(used_pages);
}

u64 swap_free_pages(void)
{
	u64 total = READ_ONCE(total_pages);

	return total - min(total, READ_ONCE(used_pages));
}

bool swap_is_short(u64 entry)
{
	if (swap_free_pages() < swap_total_pages() / 2)
		return true;
	return !swap_is_open(entry);
}
