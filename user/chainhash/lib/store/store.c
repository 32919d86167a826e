/*
 * store.c - where pages are in the file, and which of its pages are free. See store.h.
 */
#include "store/store.h"
#include "store/lock.h"
#include "store/pool.h"

#include <stdlib.h>

int level_reserve(struct level *level, u64 count)
{
	int error = reserve(&level->entries, &level->room, count, sizeof(*level->entries));

	return error ? error : bits_reserve(&level->fresh, level->room);
}

/* Add a page to those that states from @sequence on will have no use for. */
static int retire(struct store *store, u32 physical, u64 sequence)
{
	if (reserve(&store->retired, &store->retired_room, store->retired_count + 1,
		    sizeof(*store->retired)))
		return -ENOMEM;
	store->retired[store->retired_count++] = (struct retired){sequence, physical};
	return 0;
}

static void free_page(struct store *store, u32 physical)
{
	bit_set(&store->free, physical);
	store->free_count++;
}

/* A physical page for something new. */
static int take_page(struct store *store, u32 *physical)
{
	u64 found;

	if (!store->free_count) {
		if (store->end == UINT32_MAX)
			return -EFBIG;
		if (bits_reserve(&store->free, (u64)store->end + 1))
			return -ENOMEM;
		*physical = store->end++;
		return 0;
	}
	found = bit_next(&store->free, store->free_from);
	if (found == UINT64_MAX)
		found = bit_next(&store->free, 0);
	bit_clear(&store->free, found);
	store->free_count--;
	store->free_from = (u32)found + 1;
	*physical = (u32)found;
	return 0;
}

int store_place(struct store *store, struct level *level, u64 index)
{
	struct entry *entry = &level->entries[index];
	u64 retired = store->retired_count;
	u32 physical;
	int error = 0;

	if (bit_test(&level->fresh, index) && entry->physical)
		return 0;
	if (entry->physical)
		error = retire(store, entry->physical, store->sequence + 1);
	if (!error)
		error = take_page(store, &physical);
	if (error) {
		store->retired_count = retired;
		return error;
	}
	entry->physical = physical;
	bit_set(&level->fresh, index);
	if (index >= level->count)
		level->count = index + 1;
	return 0;
}

int store_read_page(struct chainhash *t, u64 logical, u8 *page)
{
	struct entry entry = t->store.level[0].entries[logical];
	int error = read_all(t->store.descriptor, page, t->page_size,
			     (u64)entry.physical << t->page_shift);

	t->store.reads++;
	if (!error && t->checksums && checksum(page, t->page_size) != entry.checksum)
		error = -EBADMSG;
	return error;
}

/* Without memory to note it the page's place is lost until the file is opened anew. */
void store_drop_page(struct store *store, u64 logical)
{
	struct level *level = &store->level[0];
	struct entry *entry = &level->entries[logical];

	if (!store_has_page(store, logical))
		return;
	if (bit_test(&level->fresh, logical))
		free_page(store, entry->physical);
	else
		(void)retire(store, entry->physical, store->sequence + 1);
	*entry = (struct entry){0, 0};
	bit_set(&level->fresh, logical);
}

unsigned store_levels_for(const struct chainhash *t, u64 pages)
{
	unsigned shift = t->page_shift - 3, levels = 1;

	while (pages > 1ull << shift * levels)
		levels++;
	return levels;
}

int store_levels(struct chainhash *t)
{
	struct store *store = &t->store;
	u64 fan = t->page_size / sizeof(struct entry), count = store->level[0].count;

	store->levels = store_levels_for(t, count);
	for (unsigned level = 1; level <= store->levels; level++) {
		count = count ? (count + fan - 1) / fan : 1;
		if (level_reserve(&store->level[level], count))
			return -ENOMEM;
		store->level[level].count = count;
	}
	return 0;
}

/*
 * The places of a state's pages, as they are read: each but once, and none outside. Who is tolerant
 * tries both that lead to a page: which one is wrong, the checksum says.
 */
static int note_page(struct store *store, struct bits *used, u32 physical)
{
	bool again = bit_test(used, physical) && !store->tolerant;

	if (physical < store->first || physical >= store->end || again)
		return -EBADMSG;
	bit_set(used, physical);
	return 0;
}

/* Something of the map is damaged: who is tolerant counts it and goes on. */
static int damaged(struct store *store, int error)
{
	store->lost += store->tolerant && error;
	return store->tolerant ? 0 : error;
}

/* Read the map's page @index of @level into the entries one level below. */
static int load_page(struct chainhash *t, unsigned level, u64 index, struct bits *used, u8 *page)
{
	struct entry entry = t->store.level[level].entries[index];
	u64 fan = t->page_size / sizeof(struct entry);
	struct level *below = &t->store.level[level - 1];
	int error;

	if (!entry.physical)
		return 0;
	error = note_page(&t->store, used, entry.physical);
	if (!error)
		error = read_all(t->store.descriptor, page, t->page_size,
				 (u64)entry.physical << t->page_shift);
	if (error)
		return damaged(&t->store, error);
	/* Of a damaged page most entries are right, and what they lead to shows which. */
	if (t->checksums && checksum(page, t->page_size) != entry.checksum)
		error = damaged(&t->store, -EBADMSG);
	for (u64 i = 0; !error && i < fan && index * fan + i < below->count; i++) {
		struct entry *child = &below->entries[index * fan + i];

		*child = (struct entry){load32(page + i * 8), load32(page + i * 8 + 4)};
		if (level > 1 || !child->physical || !note_page(&t->store, used, child->physical))
			continue;
		child->physical = 0;
		error = damaged(&t->store, -EBADMSG);
	}
	return error;
}

static int load_levels(struct chainhash *t, struct bits *used)
{
	struct store *store = &t->store;
	u8 *page = malloc(t->page_size);
	int error = page ? 0 : -ENOMEM;

	store->level[store->levels].entries[0] = store->root;
	for (unsigned level = store->levels; level && !error; level--)
		for (u64 i = 0; i < store->level[level].count && !error; i++)
			error = load_page(t, level, i, used, page);
	free(page);
	return error;
}

/* All pages that the state does not use are retired by it, and free if no reader needs them. */
static int retire_rest(struct store *store, const struct bits *used)
{
	for (u32 page = store->first; page < store->end; page++)
		if (!bit_test(used, page) && retire(store, page, store->sequence))
			return -ENOMEM;
	return store_reclaim(store);
}

int store_load(struct chainhash *t)
{
	struct store *store = &t->store;
	u64 count = store->pages;
	struct bits used = {NULL, 0};
	int error;

	if (pages_reserve(t, count ? count : 1))
		return -ENOMEM;
	store->level[0].count = count;
	if (store_levels(t) || bits_reserve(&used, store->end) ||
	    bits_reserve(&store->free, store->end))
		error = -ENOMEM;
	else
		error = load_levels(t, &used);
	if (!error && !t->read_only)
		error = retire_rest(store, &used);
	free(used.words);
	return error;
}

int store_reclaim(struct store *store)
{
	size_t pages = 0;
	u64 oldest;
	int error;

	if (!store->retired_count)
		return 0;
	error = lock_oldest_reader(store->descriptor, store->sequence, &oldest);
	if (error)
		return error;
	while (pages < store->retired_count && store->retired[pages].sequence <= oldest)
		free_page(store, store->retired[pages++].physical);
	store->retired_count -= pages;
	memmove(store->retired, store->retired + pages,
		store->retired_count * sizeof(*store->retired));
	return 0;
}

void store_free(struct store *store)
{
	for (unsigned i = 0; i < LEVELS; i++) {
		free(store->level[i].entries);
		free(store->level[i].fresh.words);
	}
	free(store->free.words);
	free(store->retired);
	memset(store->level, 0, sizeof(store->level));
	store->free = (struct bits){NULL, 0};
}
