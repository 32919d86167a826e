/*
 * overflow.c - chunks of overflow pages, and which of them are in use. See overflow.h.
 */
#include "buckets/overflow.h"
#include "store/store.h"

static inline unsigned point_of(const struct chainhash *t, u32 ordinal)
{
	unsigned point = top_bit(t->max_bucket);

	while (point && ordinal < t->spares[point - 1])
		point--;
	return point;
}

static inline u64 page_of_point(unsigned point, u32 ordinal)
{
	return (1ull << point) + ordinal;
}

u64 overflow_page(const struct chainhash *t, u32 ordinal)
{
	return page_of_point(point_of(t, ordinal), ordinal);
}

int chunk_at(struct chainhash *t, u32 address, struct view *chunk, bool change)
{
	u32 ordinal = overflow_ordinal(t, address), slot = address & 7, slots;
	int error = 0;
	u8 *page;

	if (ordinal == UINT32_MAX || slot >= t->slots)
		return -EBADMSG;
	chunk->logical = page_of_point(address >> NUMBER_BITS, ordinal);
	page = change ? page_change(t, chunk->logical, &error)
		      : page_get(t, chunk->logical, &error);
	if (!page)
		return error;
	chunk->base = page + (size_t)slot * t->slot_size;
	chunk->address = address;
	slots = view_slots(chunk->base);
	if (slot + slots > t->slots)
		return -EBADMSG;
	chunk->size = slots * t->slot_size;
	return 0;
}

int chain_follow(struct chainhash *t, struct chain *chain)
{
	int error;

	/*
	 * A way that leads back to itself comes by a mark again (Brent 1980, An improved Monte
	 * Carlo factorization algorithm).
	 */
	if (!(chain->number & (chain->number - 1)))
		chain->mark = chain->view.address;
	chain->number++;
	if (chain->next == chain->mark)
		return -EBADMSG;
	chain->before = chain->view;
	error = chunk_at(t, chain->next, &chain->view, false);
	if (error)
		return error;
	chain->next = view_next(chain->view.base);
	return view_sound(chain->view.base, chain->view.size) ? 1 : -EBADMSG;
}

int chain_extend(struct chainhash *t, struct view *before, struct view *view, u32 size)
{
	u32 all = index_size(view_count(view->base) + 1) + view_used(view->base) + size;
	bool grows = view->address && all <= t->page_size;
	struct view chunk;
	int error = overflow_take(t, slots_for(t, grows ? all : index_size(1) + size), &chunk);

	if (error)
		return error;
	if (grows) {
		view_copy(chunk.base, chunk.size, view->base, view->size);
		store32(before->base + 4, chunk.address);
		overflow_give(t, view->address, view_slots(view->base));
	} else {
		store32(view->base + 4, chunk.address);
		t->split_due = true;
		*before = *view;
	}
	*view = chunk;
	return 0;
}

void chain_give(struct chainhash *t, u32 address)
{
	struct chain chain = {.next = address};

	while (chain_next(t, &chain) > 0)
		overflow_give(t, chain.view.address, view_slots(chain.view.base));
}

/*
 * Of eight pages at a time, a byte of the account each: a bit where @slots slots in a row that are
 * free begin.
 */
static inline u64 free_runs(u64 used, u32 slots)
{
	u64 runs = ~used;

	while (--slots)
		runs &= runs >> 1 & 0x7f7f7f7f7f7f7f7full;
	return runs;
}

/* Add overflow page @ordinal to the account, and the bitmap before it where one begins. */
static int page_add(struct chainhash *t, u32 *ordinal)
{
	unsigned point = top_bit(t->max_bucket);
	u32 count = t->spares[point], next = count + (count % t->page_size == 0);

	if (next + 1 - pages_before(t, point) > PAGES_MOST)
		return -EFBIG;
	if (pages_reserve(t, page_of_point(point, next) + 1) ||
	    bits_reserve(&t->bitmap_changed, next / t->page_size + 1) ||
	    reserve(&t->slots_used, &t->slots_room, (u64)next + 9, 1))
		return -ENOMEM;
	if (next != count)
		t->slots_used[count] = 0xff;
	t->slots_used[next] = (u8)(0xff << t->slots);
	t->spares[point] = next + 1;
	*ordinal = next;
	return 0;
}

/* A page with @slots free slots in a row, perhaps a new one. */
static int page_with_room(struct chainhash *t, u32 slots, u32 *ordinal, unsigned *first)
{
	u32 count = overflow_count(t), page = t->overflow_from[slots];

	for (; page < count; page += 8) {
		u64 runs = free_runs(load64(t->slots_used + page), slots);

		if (runs) {
			*first = (unsigned)__builtin_ctzll(runs) % 8;
			page += (u32)__builtin_ctzll(runs) / 8;
			break;
		}
	}
	t->overflow_from[slots] = *ordinal = page < count ? page : count;
	if (page < count)
		return 0;
	*first = 0;
	return page_add(t, ordinal);
}

int overflow_take(struct chainhash *t, u32 slots, struct view *chunk)
{
	u32 ordinal;
	unsigned first, point;
	u8 *page;
	int error = page_with_room(t, slots, &ordinal, &first);

	if (error)
		return error;
	point = point_of(t, ordinal);
	*chunk = (struct view){.size = slots * t->slot_size,
			       .logical = page_of_point(point, ordinal)};
	page = page_change(t, chunk->logical, &error);
	if (!page)
		return error;
	t->slots_used[ordinal] |= (u8)(((1u << slots) - 1) << first);
	bit_set(&t->bitmap_changed, ordinal >> t->page_shift);
	chunk->address = point << NUMBER_BITS | (ordinal - pages_before(t, point)) << 3 | first;
	chunk->base = page + (size_t)first * t->slot_size;
	memset(chunk->base, 0, chunk->size);
	store16(chunk->base, (slots - 1) << COUNT_BITS);
	return 0;
}

void overflow_give(struct chainhash *t, u32 address, u32 slots)
{
	u32 ordinal = overflow_ordinal(t, address);

	t->slots_used[ordinal] &= (u8) ~(((1u << slots) - 1) << (address & 7));
	bit_set(&t->bitmap_changed, ordinal >> t->page_shift);
	for (u32 i = 1; i <= t->slots; i++)
		if (ordinal < t->overflow_from[i] &&
		    free_runs(~0xffull | t->slots_used[ordinal], i))
			t->overflow_from[i] = ordinal;
	if (t->slots_used[ordinal] == (u8)(0xff << t->slots))
		page_drop(t, page_of_point(address >> NUMBER_BITS, ordinal));
}

int overflow_store(struct chainhash *t)
{
	u64 number = bit_next(&t->bitmap_changed, 0);
	int error = 0;

	for (; number != UINT64_MAX && !error; number = bit_next(&t->bitmap_changed, number + 1)) {
		u32 first = (u32)number << t->page_shift, count = overflow_count(t) - first;
		u8 *page = page_change(t, overflow_page(t, first), &error);

		if (page)
			memcpy(page, t->slots_used + first,
			       count < t->page_size ? count : t->page_size);
	}
	return error;
}

int overflow_load(struct chainhash *t)
{
	u32 count = overflow_count(t);
	int error = 0;

	if (bits_reserve(&t->bitmap_changed, count / t->page_size + 1) ||
	    reserve(&t->slots_used, &t->slots_room, (u64)count + 8, 1))
		return -ENOMEM;
	for (u32 first = 0; first < count && !error; first += t->page_size) {
		u32 part = count - first < t->page_size ? count - first : t->page_size;
		const u8 *page = page_get(t, overflow_page(t, first), &error);

		/* Each bitmap was written: an empty one's place is lost. */
		if (page && !(t->store.tolerant && page == empty_page)) {
			memcpy(t->slots_used + first, page, part);
		} else if (t->store.tolerant) {
			/* All may be in use: what is there says itself what it is (salvage.c). */
			memset(t->slots_used + first, 0xff, part);
			t->store.lost++;
			error = 0;
		}
		t->operation++;
	}
	/* Slots that no page has, and those of the bitmaps, are not free, whatever the file says.
	 */
	for (u32 i = 0; i < count; i++)
		t->slots_used[i] |= i % t->page_size ? (u8)(0xff << t->slots) : 0xff;
	return error;
}
