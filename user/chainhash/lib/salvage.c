/*
 * salvage.c - what can still be read of a damaged file.
 *
 * First by the map, bucket after bucket, as a scan would, but on past what can't be read. Then on
 * overflow pages that no chain reached: a chain that was cut leaves its chunks there, in use by
 * the account. A page whose checksum is wrong is not looked at: its records may be wrong, too.
 */
#include "buckets/big.h"
#include "buckets/hash.h"
#include "open.h"
#include "walk.h"

#include <stdlib.h>

struct salvage {
	struct walk walk;
	struct chainhash *to;
	u8 *page; /* the view at hand, copied: reading a large record lets go of its page */
	int64_t copied;
	int error; /* of the new table: the end */
};

/* Where the record is that is read: "bucket 7", "overflow page 3". */
struct place {
	const char *what;
	u32 number;
};

/* Put a large record together, in place of what stands for it in its bucket. */
static int read_big(struct salvage *s, struct item *item)
{
	struct chainhash *t = s->walk.table;
	int error = big_read(t, item);

	for (u64 i = 0; i < t->read.count; i++) {
		u32 address = (u32)t->read.list[i], slots = (u32)(t->read.list[i] >> 32);

		s->walk.reached[overflow_ordinal(t, address)] |=
			(u8)(((1u << slots) - 1) << (address & 7));
	}
	item->key = t->big;
	item->data = t->big + item->key_size;
	if (!error && hash_key(t, item->key, item->key_size) != item->hash)
		error = -EBADMSG;
	return error;
}

static void copy_record(struct salvage *s, struct item item, struct place from)
{
	int error = item.key ? 0 : read_big(s, &item);

	if (error) {
		problem(&s->walk, "%s %u: a large record of %llu bytes is lost", from.what,
			from.number, (unsigned long long)item.key_size + item.data_size);
		return;
	}
	error = chainhash_put(s->to, (struct chainhash_item){item.key, item.key_size},
			      (struct chainhash_item){item.data, item.data_size}, CHAINHASH_INSERT);
	s->copied += !error;
	if (error && error != -EEXIST)
		s->error = error;
}

/* May the record's key have this tag, in a bucket of whatever level? */
static bool tag_right(const struct chainhash *t, const struct item *item, u16 tag)
{
	u32 place = hash_place(item_hash(t, item));

	return tag == (u16)place || tag == (u16)(place >> 8) || tag == place >> 16;
}

/* Copy what is on one view, which is sound. Only a record whose tag its key has is one. */
static void copy_view(struct salvage *s, const u8 *base, u32 size, struct place from)
{
	struct chainhash *t = s->walk.table;
	u8 *copy = memcpy(s->page, base, size);
	u32 lost = 0;

	for (u32 i = 0; i < view_count(copy) && !s->error; i++) {
		struct item item;

		if (item_read(copy, size, i, &item) &&
		    tag_right(t, &item, load16(tag_at(copy, i))))
			copy_record(s, item, from);
		else
			lost++;
	}
	if (lost)
		problem(&s->walk, "%s %u: %u records are lost", from.what, from.number, lost);
}

static void copy_bucket(struct salvage *s, u32 bucket)
{
	struct chainhash *t = s->walk.table;
	struct chain chain;
	int next = chain_first(t, bucket, &chain);

	while (next > 0 && !s->error) {
		if (chain.number && !walk_reach(&s->walk, &chain.view, bucket))
			return;
		copy_view(s, chain.view.base, chain.view.size, (struct place){"bucket", bucket});
		t->operation++;
		next = chain_next(t, &chain);
	}
	if (next < 0)
		walk_stopped(&s->walk, bucket, next);
}

/* Chunks in use that nobody has led to. */
static void copy_orphans(struct salvage *s, u32 ordinal)
{
	struct chainhash *t = s->walk.table;
	u8 used = t->slots_used[ordinal] & (u8)((1u << t->slots) - 1);

	for (u32 slot = 0, slots; slot < t->slots && !s->error; slot += slots) {
		const u8 *base;
		int error = 0;

		slots = 1;
		if (!(used & ~s->walk.reached[ordinal] & 1u << slot))
			continue;
		t->operation++;
		base = page_get(t, overflow_page(t, ordinal), &error);
		if (!base) {
			problem(&s->walk, "overflow page %u cannot be read", ordinal);
			return;
		}
		base += (size_t)slot * t->slot_size;
		if (slot + view_slots(base) > t->slots)
			continue;
		slots = view_slots(base);
		if (view_sound(base, slots * t->slot_size))
			copy_view(s, base, slots * t->slot_size,
				  (struct place){"overflow page", ordinal});
	}
}

static void copy_all(struct salvage *s)
{
	struct chainhash *t = s->walk.table;

	for (u32 bucket = 0; !s->error && bucket <= t->max_bucket; bucket++)
		copy_bucket(s, bucket);
	for (u32 i = 0; !s->error && i < overflow_count(t); i++)
		if (i % t->page_size)
			copy_orphans(s, i);
	if (!s->error && (u64)s->copied != t->records)
		problem(&s->walk, "%lld records of %llu were read", (long long)s->copied,
			(unsigned long long)t->records);
}

int64_t chainhash_salvage(const char *path, struct chainhash *to,
			  const struct chainhash_options *options, chainhash_report *report,
			  void *context)
{
	struct salvage s = {.walk = {.report = report, .context = context}, .to = to};
	int flags = CHAINHASH_READ_ONLY | CHAINHASH_POOL | OPEN_TOLERANT;

	s.error = table_open(&s.walk.table, path, flags, 0, options);
	if (s.error) {
		problem(&s.walk, "%s", chainhash_message());
		return s.error;
	}
	if (s.walk.table->store.lost)
		problem(&s.walk, "%llu pages of the map are damaged, or lead nowhere",
			(unsigned long long)s.walk.table->store.lost);
	s.page = malloc(s.walk.table->page_size);
	s.error = s.page ? walk_begin(&s.walk) : -ENOMEM;
	if (!s.error)
		copy_all(&s);
	free(s.page);
	free(s.walk.reached);
	chainhash_abandon(s.walk.table);
	return s.error ? s.error : s.copied;
}
