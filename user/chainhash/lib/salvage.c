/*
 * salvage.c - what can still be read of a damaged file.
 *
 * First by the map, bucket after bucket, as a scan would, but on past what can't be read. Then on
 * overflow pages that no chain reached: a chain that was cut leaves its chunks there, in use by
 * the account. A page whose checksum is wrong is not looked at: its records may be wrong, too.
 */
#include "buckets/hash.h"
#include "store/store.h"
#include "walk.h"

struct salvage {
	struct walk walk;
	struct chainhash *to;
	int64_t copied;
};

static void copy_record(struct salvage *s, struct item item)
{
	int error;

	if (!item.key && !walk_big(&s->walk, &item))
		return;
	error = chainhash_put(s->to, (struct chainhash_item){item.key, item.key_size},
			      (struct chainhash_item){item.data, item.data_size}, CHAINHASH_INSERT);
	s->copied += !error;
	if (error && error != -EEXIST)
		s->walk.error = error;
}

/* May the record's key have this tag, in a bucket of whatever level? */
static bool tag_right(const struct chainhash *t, const struct item *item, u16 tag)
{
	u32 place = hash_place(item_hash(t, item));

	return tag == (u16)place || tag == (u16)(place >> 8) || tag == place >> 16;
}

/* Copy what is on one view. Only a record whose tag its key has is one. */
static void copy_view(struct walk *walk, const struct view *view)
{
	struct salvage *s = (struct salvage *)walk;
	u32 lost = 0;

	for (u32 i = 0; i < view_count(view->base) && !s->walk.error; i++) {
		struct item item;

		if (item_read(view->base, view->size, i, &item) &&
		    tag_right(walk->table, &item, load16(tag_at(view->base, i))))
			copy_record(s, item);
		else
			lost++;
	}
	if (lost)
		problem(walk, "%u records are lost", lost);
}

/*
 * Chunks in use that nobody has led to. A bitmap that cannot be read has them all in use, and
 * records come back that were deleted.
 */
static void copy_orphans(struct salvage *s, u32 ordinal)
{
	struct chainhash *t = s->walk.table;
	bool bitmap = ordinal % t->page_size == 0;
	struct view view;

	s->walk.what = "overflow page";
	s->walk.number = ordinal;
	for (u32 slot = 0; slot < t->slots && !s->walk.error; slot++) {
		int error = 0;
		const u8 *page;

		if (!(t->slots_used[ordinal] & ~s->walk.reached[ordinal] & 1u << slot))
			continue;
		page = page_get(t, overflow_page(t, ordinal), &error);
		if (!page || (bitmap && page == empty_page)) {
			walk_failed(&s->walk, error);
			problem(&s->walk, "it cannot be read%s",
				bitmap ? ": deleted records may come back" : "");
			return;
		}
		if (bitmap)
			return;
		view = (struct view){.base = (u8 *)(uintptr_t)page + (size_t)slot * t->slot_size};
		view.size = view_slots(view.base) * t->slot_size;
		if (slot + view_slots(view.base) > t->slots || !view_sound(view.base, view.size))
			continue;
		slot += view_slots(view.base) - 1;
		walk_view(&s->walk, view, copy_view);
	}
}

static void copy_all(struct salvage *s)
{
	struct chainhash *t = s->walk.table;

	for (u32 bucket = 0; !s->walk.error && bucket <= t->max_bucket; bucket++)
		walk_bucket(&s->walk, bucket, copy_view);
	for (u32 i = 0; !s->walk.error && i < overflow_count(t); i++)
		copy_orphans(s, i);
	s->walk.what = NULL;
	if (!s->walk.error && (u64)s->copied != t->records)
		problem(&s->walk, "%lld records of %llu were read", (long long)s->copied,
			(unsigned long long)t->records);
}

int64_t chainhash_salvage(struct chainhash *from, struct chainhash *to, chainhash_report *report,
			  void *context)
{
	struct salvage s = {.walk = {.table = from, .report = report, .context = context},
			    .to = to};

	walk_begin(&s.walk);
	if (!s.walk.error && from->store.lost)
		problem(&s.walk, "%llu pages of the map are damaged, or lead nowhere",
			(unsigned long long)from->store.lost);
	if (!s.walk.error)
		copy_all(&s);
	walk_end(&s.walk);
	return s.walk.error ? s.walk.error : s.copied;
}
