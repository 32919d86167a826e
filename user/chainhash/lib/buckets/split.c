/*
 * split.c - a bucket is added, and the records of one other are divided between the two.
 *
 * Which bucket that is, the order says (Litwin 1980, Larson 1988): bucket n is split off bucket n
 * without its highest bit. A bit of the tag tells which of the two a record goes to, so that nearly
 * no split reads a key (hash.h). Everything that can fail comes first: both primary pages are put
 * together beside the table, and records that have no room there go straight to chunks that are
 * taken for them; only then is a page of the table written to.
 */
#include "buckets/split.h"
#include "buckets/hash.h"
#include "buckets/overflow.h"

/* One of the two buckets as it fills. */
struct side {
	u8 *primary;		  /* what its primary page is to be */
	struct view before, view; /* the one that is being filled, and what leads to it */
};

struct division {
	u32 old, new;
	unsigned level;	      /* of the old bucket: this bit of the place divides */
	u32 shift;	      /* the lowest bit of its tags */
	bool rehash;	      /* those of the new level begin at another one */
	struct side sides[2]; /* of the old bucket and of the new one */
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

/* The side of record @index, whose tag there is stored in *@tag; negative: it is damaged. */
static inline int side_of(struct chainhash *t, const struct division *d, const struct view *view,
			  u32 index, u16 *tag)
{
	struct item item;
	u32 place;

	*tag = load16(tag_at(view->base, index));
	if (likely(!d->rehash))
		return *tag >> (d->level - d->shift) & 1;
	if (!item_read(view->base, view->size, index, &item))
		return -EBADMSG;
	place = hash_place(item_hash(t, &item));
	*tag = (u16)(place >> tag_shift(d->level + 1));
	return (int)(place >> d->level & 1);
}

/*
 * Copy the records of a view to both sides. A chunk is looked at in a copy: where the account of a
 * damaged file says that its slots are free, they are taken here while its records are read.
 */
static int divide(struct chainhash *t, struct division *d, struct view *view)
{
	u32 count = view_count(view->base), depth, above = 0;

	if (view->address)
		view->base = memcpy(t->scratch + 2 * t->page_size, view->base, view->size);
	for (u32 i = 0; i < count; i++, above = depth) {
		u32 size = item_bytes(view->base, i, above, &depth);
		u16 tag;
		int number = side_of(t, d, view, i, &tag), error = 0;
		struct side *side;

		if (!size || number < 0)
			return -EBADMSG;
		side = &d->sides[number];
		if (view_room(side->view.base, side->view.size) < (int)size)
			error = chain_extend(t, &side->before, &side->view, size);
		if (error)
			return error;
		copy_bytes(view_append(side->view.base, side->view.size, tag, size),
			   view->base + view->size - depth, size);
	}
	return 0;
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
	view_copy(old, t->page_size, d->sides[0].primary, t->page_size);
	view_copy(new, t->page_size, d->sides[1].primary, t->page_size);
	store32(old + 4, view_next(d->sides[0].primary));
	store32(new + 4, view_next(d->sides[1].primary));
	set_buckets(t, d->new);
	t->split_due = false;
	return 0;
}

int split(struct chainhash *t)
{
	struct division d = {.new = t->max_bucket + 1};
	struct chain chain;
	int error = 0, next;
	u32 views = 0;

	d.level = top_bit(d.new) - 1;
	d.shift = tag_shift(d.level);
	d.rehash = d.shift != tag_shift(d.level + 1);
	d.old = d.new & ~(1u << d.level);
	if (reserve(&t->scratch, &t->scratch_room, 3ull * t->page_size, 1))
		return -ENOMEM;
	for (unsigned i = 0; i < 2; i++) {
		d.sides[i].primary = t->scratch + i * (size_t)t->page_size;
		d.sides[i].view = (struct view){d.sides[i].primary, t->page_size, 0, 0};
		memset(d.sides[i].primary, 0, PAGE_HEAD);
	}
	/* A damaged chain may lead on to what is taken here: no further than it led before. */
	for (next = chain_first(t, d.old, &chain); next > 0; next = chain_next(t, &chain))
		views++;
	if (!next)
		next = chain_first(t, d.old, &chain);
	for (; next > 0 && views && !error; next = chain_next(t, &chain), views--)
		error = divide(t, &d, &chain.view);
	if (!error)
		error = next < 0 ? next : place(t, &d);
	for (unsigned i = 0; error && i < 2; i++)
		chain_give(t, view_next(d.sides[i].primary));
	return error;
}
