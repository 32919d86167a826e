/*
 * split.c - a bucket is added, and the records of one other are divided between the two.
 *
 * Which bucket that is, the order says (Litwin 1980, Larson 1988): bucket n is split off bucket n
 * without its highest bit. Everything that can fail comes first: both buckets are put together as
 * images in memory, then their chunks are taken, and only then is a page of the table written to.
 */
#include "buckets/split.h"
#include "buckets/hash.h"
#include "buckets/overflow.h"
#include "store/pool.h"

/* A page or chunk of one of the two buckets to be, of the size of a page. Bytes follow. */
struct image {
	u32 side; /* 0: the old bucket, 1: the new one */
};

enum { IMAGE_HEAD = 8 };

struct division {
	struct chainhash *table;
	u32 old, new, bit;
	size_t images;
	size_t last[2]; /* image of each side that is being filled */
};

void set_buckets(struct chainhash *t, u32 max_bucket)
{
	unsigned before = top_bit(t->max_bucket), now = top_bit(max_bucket);

	for (unsigned i = before + 1; i <= now; i++)
		t->spares[i] = t->spares[i - 1];
	t->max_bucket = max_bucket;
	set_masks(t);
}

bool split_wanted(const struct chainhash *t, u32 size)
{
	u64 buckets = (u64)t->max_bucket + 1;

	if (t->max_bucket >= BUCKETS_MOST - 1)
		return false;
	if (t->split != CHAINHASH_SPLIT_CONTROLLED && t->split_due)
		return true;
	if (t->split == CHAINHASH_SPLIT_UNCONTROLLED)
		return false;
	if (t->fill_factor)
		return t->records + 1 > buckets * t->fill_factor;
	return t->record_bytes + size > buckets * t->bytes_limit;
}

static struct image *image_at(const struct division *d, size_t number)
{
	return (struct image *)(void *)(d->table->scratch +
					number * (IMAGE_HEAD + d->table->page_size));
}

static u8 *image_base(const struct division *d, size_t number)
{
	return (u8 *)image_at(d, number) + IMAGE_HEAD;
}

/* Begin another image for @side. */
static int image_add(struct division *d, u32 side)
{
	struct chainhash *t = d->table;
	size_t each = IMAGE_HEAD + t->page_size;

	if (reserve(&t->scratch, &t->scratch_room, (d->images + 1) * each))
		return -ENOMEM;
	d->last[side] = d->images++;
	image_at(d, d->last[side])->side = side;
	memset(image_base(d, d->last[side]), 0, PAGE_HEAD);
	return 0;
}

/* Divide what is on one view of the old bucket. */
static int divide_view(struct division *d, const u8 *base, u32 size)
{
	struct chainhash *t = d->table;
	u32 count = view_count(base);

	if (!view_sound(base, size))
		return -EBADMSG;
	for (u32 i = 0; i < count; i++) {
		struct item item;
		u64 spread;
		u32 side;
		u8 *image;

		if (!item_read(base, size, i, &item))
			return -EBADMSG;
		spread = hash_spread(item.key ? hash_key(t, item.key, item.key_size) : item.hash);
		side = ((u32)(spread >> 32) & d->bit) != 0;
		image = image_base(d, d->last[side]);
		if (view_room(image, t->page_size) < (int)item.size) {
			if (image_add(d, side))
				return -ENOMEM;
			image = image_base(d, d->last[side]);
		}
		memcpy(view_append(image, t->page_size, hash_tag(spread), item.size),
		       base + load16(offset_at((u8 *)(uintptr_t)base, i)), item.size);
	}
	return 0;
}

/* Divide the old bucket's whole chain. Its pages are then in memory. */
static int divide(struct division *d)
{
	struct chainhash *t = d->table;
	u64 left = (u64)overflow_count(t) * t->slots + 1;
	struct view view = {.size = t->page_size};
	int error = image_add(d, 0);

	if (!error)
		error = image_add(d, 1);
	if (error)
		return error;
	view.base = page_get(t, primary_page(t, d->old), &error);
	while (view.base && !error) {
		error = divide_view(d, view.base, view.size);
		if (error || !view_next(view.base))
			break;
		error = left-- ? chunk_get(t, view_next(view.base), &view) : -EBADMSG;
	}
	return error;
}

/* Give back the chain that begins behind a view: nothing of it is needed any more. */
static void give_chain(struct chainhash *t, u32 address)
{
	struct view chunk;

	while (address && !chunk_get(t, address, &chunk)) {
		u32 slots = view_slots(chunk.base), next = view_next(chunk.base);

		overflow_give(t, address, slots);
		address = next;
	}
}

/* Take chunks for all images but the two first and link them. */
static int place_chunks(struct division *d)
{
	struct chainhash *t = d->table;
	u8 *before[2] = {image_base(d, 0), image_base(d, 1)};

	for (size_t i = 2; i < d->images; i++) {
		const u8 *image = image_base(d, i);
		u32 side = image_at(d, i)->side;
		u32 bytes = index_size(view_count(image)) - PAGE_HEAD + view_used(image);
		struct view chunk;
		int error = overflow_take(t, slots_for(t, bytes), &chunk);

		if (error)
			return error;
		view_copy(chunk.base, chunk.size, image, t->page_size);
		store32(before[side] + 4, chunk.address);
		before[side] = chunk.base;
	}
	return 0;
}

static void primary_write(const struct division *d, u8 *page, size_t number)
{
	u32 size = d->table->page_size;

	memset(page, 0, PAGE_HEAD);
	view_copy(page, size, image_base(d, number), size);
	store32(page + 4, view_next(image_base(d, number)));
}

static int place(struct division *d)
{
	struct chainhash *t = d->table;
	u8 *old = NULL, *new = NULL;
	int error = place_chunks(d);
	u64 page;

	/* The new bucket lies behind all overflow pages of the generation that it ends. */
	page = (u64)d->new + t->spares[top_bit(d->new) - 1];
	if (!error)
		new = page_change(t, page, &error);
	if (new)
		old = page_change(t, primary_page(t, d->old), &error);
	if (!old) {
		for (size_t i = 0; i < 2; i++)
			give_chain(t, view_next(image_base(d, i)));
		return error;
	}
	give_chain(t, view_next(old));
	primary_write(d, old, 0);
	primary_write(d, new, 1);
	set_buckets(t, d->new);
	return 0;
}

/*
 * The usual case: the old bucket has but its primary page. What is on it has room on two, so that
 * it can be divided on the pages themselves. 1: done; 0: not so; or an error.
 */
static int divide_page(struct division *d)
{
	struct chainhash *t = d->table;
	u32 size = t->page_size, count, used;
	u8 *pages[2], *copy;
	int error = 0;

	pages[0] = page_get(t, primary_page(t, d->old), &error);
	if (!pages[0])
		return error;
	if (view_next(pages[0]))
		return 0;
	if (!view_sound(pages[0], size))
		return -EBADMSG;
	if (reserve(&t->scratch, &t->scratch_room, size))
		return -ENOMEM;
	copy = t->scratch;
	count = view_count(pages[0]);
	used = view_used(pages[0]);
	memcpy(copy, pages[0], index_size(count));
	memcpy(copy + size - used, pages[0] + size - used, used);
	for (u32 i = 0, sum = 0; i < count; i++) {
		struct item item;

		/* Items that lie on each other are more than there is room for. */
		if (!item_read(copy, size, i, &item) || (sum += item.size) > used)
			return -EBADMSG;
	}
	pages[1] = page_change(t, (u64)d->new + t->spares[top_bit(d->new) - 1], &error);
	if (pages[1])
		pages[0] = page_change(t, primary_page(t, d->old), &error);
	if (error)
		return error;
	memset(pages[0], 0, PAGE_HEAD);
	memset(pages[1], 0, PAGE_HEAD);
	for (u32 i = 0; i < count; i++) {
		struct item item;
		u64 spread;
		u32 side;

		(void)item_read(copy, size, i, &item);
		spread = hash_spread(item.key ? hash_key(t, item.key, item.key_size) : item.hash);
		side = ((u32)(spread >> 32) & d->bit) != 0;
		copy_bytes(view_append(pages[side], size, hash_tag(spread), item.size),
			   copy + load16(offset_at(copy, i)), item.size);
	}
	set_buckets(t, d->new);
	return 1;
}

int split(struct chainhash *t)
{
	struct division division = {.table = t, .new = t->max_bucket + 1};
	int error;

	division.bit = 1u << (top_bit(division.new) - 1);
	division.old = division.new & ~division.bit;
	error = divide_page(&division);
	if (error) {
		t->split_due &= error < 0;
		return error < 0 ? error : 0;
	}
	error = divide(&division);
	if (!error)
		error = place(&division);
	if (!error)
		t->split_due = false;
	return error;
}
