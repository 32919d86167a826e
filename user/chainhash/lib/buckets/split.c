/*
 * split.c - a bucket is added, and the records of one other are divided between the two.
 *
 * Which bucket that is, the order says (Litwin 1980, Larson 1988): bucket n is split off bucket n
 * without its highest bit. Everything that can fail comes first. The records are counted, those of
 * both primary pages are put together beside the table, and those that have no room there go
 * straight to chunks that are taken for them; only then is a page of the table written to.
 */
#include "buckets/split.h"
#include "buckets/hash.h"
#include "buckets/overflow.h"

/* A record of the old bucket: where its item lies, and which of the two it goes to. */
struct move {
	const u8 *item;
	u32 size;
	u8 side, tag;
};

/* One of the two buckets as it fills. */
struct side {
	u8 *primary;	  /* what its primary page is to be */
	struct view view; /* the one that is being filled */
	u32 records;	  /* that are to come, and their bytes */
	u64 bytes;
};

struct division {
	u32 old, new, bit;
	struct side sides[2]; /* of the old bucket and of the new one */
	u64 moves;
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

/* See where each record of a view goes. */
static int gather(struct chainhash *t, struct division *d, const struct view *view)
{
	u32 count = view_count(view->base), left = view_used(view->base);

	if (reserve(&t->moves, &t->moves_room, d->moves + count, sizeof(*t->moves)))
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		struct move *move = &t->moves[d->moves++];
		struct item item;
		u64 spread;

		/* Items that lie on each other are more than there is room for. */
		if (!item_read(view->base, view->size, i, &item) || item.size > left)
			return -EBADMSG;
		left -= item.size;
		spread = hash_spread(item_hash(t, &item));
		move->item = view->base + load16(offset_at(view->base, i));
		move->size = item.size;
		move->side = ((u32)(spread >> 32) & d->bit) != 0;
		move->tag = hash_tag(spread);
		d->sides[move->side].records++;
		d->sides[move->side].bytes += item.size;
	}
	return 0;
}

/* Go on in a chunk with room for the records that are to come, or of a whole page. */
static int side_extend(struct chainhash *t, struct side *side)
{
	u64 bytes = index_size(side->records) - PAGE_HEAD + side->bytes;
	u32 slots = bytes < t->page_size ? slots_for(t, (u32)bytes) : t->slots;
	struct view chunk;
	int error = overflow_take(t, slots < t->slots ? slots : t->slots, &chunk);

	if (error)
		return error;
	store32(side->view.base + 4, chunk.address);
	side->view = chunk;
	return 0;
}

/* Move what was gathered, but for the table's own primary pages. */
static int divide(struct chainhash *t, struct division *d)
{
	for (u64 i = 0; i < d->moves; i++) {
		const struct move *move = &t->moves[i];
		struct side *side = &d->sides[move->side];
		struct view *view = &side->view;
		int error = 0;

		if (view_room(view->base, view->size) < (int)move->size)
			error = side_extend(t, side);
		if (error)
			return error;
		copy_bytes(view_append(view->base, view->size, move->tag, move->size), move->item,
			   move->size);
		side->records--;
		side->bytes -= move->size;
	}
	return 0;
}

static void primary_write(u8 *page, const u8 *image, u32 size)
{
	u32 used = view_used(image);

	memcpy(page, image, index_size(view_count(image)));
	memcpy(page + size - used, image + size - used, used);
}

/* Write both primary pages and let go of the old bucket's chunks. */
static int place(struct chainhash *t, const struct division *d)
{
	u8 *old, *new;
	int error = 0;

	/* The new bucket lies behind all overflow pages of the generation that it ends. */
	new = page_change(t, (u64)d->new + t->spares[top_bit(d->new) - 1], &error);
	old = new ? page_change(t, primary_page(t, d->old), &error) : NULL;
	if (!old)
		return error;
	chain_give(t, view_next(old));
	primary_write(old, d->sides[0].primary, t->page_size);
	primary_write(new, d->sides[1].primary, t->page_size);
	set_buckets(t, d->new);
	t->split_due = false;
	return 0;
}

int split(struct chainhash *t)
{
	struct division d = {.new = t->max_bucket + 1};
	struct chain chain;
	int error, next;

	d.bit = 1u << (top_bit(d.new) - 1);
	d.old = d.new & ~d.bit;
	if (reserve(&t->scratch, &t->scratch_room, 2ull * t->page_size, 1))
		return -ENOMEM;
	for (unsigned i = 0; i < 2; i++) {
		d.sides[i].primary = t->scratch + i * (size_t)t->page_size;
		d.sides[i].view = (struct view){d.sides[i].primary, t->page_size, 0, 0};
		memset(d.sides[i].primary, 0, PAGE_HEAD);
	}
	for (next = chain_first(t, d.old, &chain); next > 0; next = chain_next(t, &chain)) {
		error = gather(t, &d, &chain.view);
		if (error)
			return error;
	}
	if (next < 0)
		return next;
	error = divide(t, &d);
	if (!error)
		error = place(t, &d);
	for (unsigned i = 0; error && i < 2; i++)
		chain_give(t, view_next(d.sides[i].primary));
	return error;
}
