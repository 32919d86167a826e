/*
 * verify.c - what a table is like, and whether it is as it should be.
 */
#include "buckets/hash.h"
#include "records.h"
#include "store/store.h"
#include "walk.h"

void chainhash_status(const struct chainhash *t, struct chainhash_status *status)
{
	*status = (struct chainhash_status){
		.bucket_size = t->page_size,
		.fill_factor = t->fill_factor,
		.split = t->split,
		.checksums = t->checksums,
		.records = t->records,
		.record_bytes = t->record_bytes,
		.buckets = (u64)t->max_bucket + 1,
		.overflow_pages = overflow_count(t),
		.sequence = t->store.sequence,
		.file_bytes = t->kind != IN_MEMORY ? (u64)t->store.end << t->page_shift : 0,
		.page_reads = t->store.reads,
		.page_writes = t->store.writes,
		.torn = t->store.torn,
	};
	memcpy(status->hash, t->hash_name, sizeof(status->hash));
}

int chainhash_histogram(struct chainhash *t, struct chainhash_histogram *found)
{
	enum { LAST = sizeof(found->counts) / sizeof(found->counts[0]) - 1 };

	memset(found, 0, sizeof(*found));
	for (u32 bucket = 0; bucket <= t->max_bucket; bucket++) {
		struct chain chain;
		u64 records = 0;
		int next;

		operation_begin(t, false);
		next = chain_first(t, bucket, &chain);
		for (; next > 0; next = chain_next(t, &chain)) {
			u32 count = view_count(chain.view.base);
			struct item item;

			records += count;
			for (u32 i = 0; i < count; i++)
				if (item_read(chain.view.base, chain.view.size, i, &item))
					found->big += !item.key;
			found->page_bytes += chain.view.size;
			found->overflow_records += chain.number ? count : 0;
		}
		if (next < 0)
			return next;
		found->chunks += chain.number;
		found->chained += chain.number != 0;
		found->counts[records < LAST ? records : LAST]++;
		if (records > found->largest)
			found->largest = records;
	}
	return 0;
}

/* A verification that goes on. */
struct check {
	struct walk walk;
	u64 records, bytes;
};

/* Does a lookup of the record find this very one? */
static void check_record(struct walk *walk, const struct view *view, u32 index, struct item *item)
{
	struct chainhash *t = walk->table;
	u32 place = hash_place(item_hash(t, item)), bucket = hash_bucket(t, place);
	struct lookup lookup;
	int found;

	if (bucket != walk->number) {
		problem(walk, "a record belongs to bucket %u", bucket);
		return;
	}
	if (load16(tag_at(view->base, index)) != hash_tag(t, bucket, place)) {
		problem(walk, "a record has the wrong tag");
		return;
	}
	if (!item->key && !walk_big(walk, item))
		return;
	found = record_find(t, &lookup, (struct chainhash_item){item->key, item->key_size});
	walk_failed(walk, found);
	if (found < 0)
		problem(walk, "a record cannot be looked up");
	else if (!found || lookup.index != index || lookup.chain.view.address != view->address)
		problem(walk, "a key is there twice");
}

static void check_view(struct walk *walk, const struct view *view)
{
	struct check *check = (struct check *)walk;
	u32 count = view_count(view->base), used = 0;

	for (u32 i = 0; i < count; i++) {
		struct item item;

		if (!item_read(view->base, view->size, i, &item)) {
			problem(walk, "record %u is not on its page", i);
			continue;
		}
		used += item.size;
		check->records++;
		check->bytes += item.size + INDEX_BYTES;
		check_record(walk, view, i, &item);
	}
	if (used != view_used(view->base))
		problem(walk, "its records have %u bytes, not %u", used, view_used(view->base));
}

static void check_account(struct check *check)
{
	const struct chainhash *t = check->walk.table;

	for (u32 i = 0; i < overflow_count(t); i++) {
		u8 used = t->slots_used[i] & (u8)((1u << t->slots) - 1);
		u8 reached = check->walk.reached[i];

		check->walk.what = "overflow page";
		check->walk.number = i;
		if (i % t->page_size && used != reached)
			problem(&check->walk, "slots 0x%x are in use, and counted are 0x%x",
				reached, used);
	}
	check->walk.what = NULL;
	if (check->records != t->records || check->bytes != t->record_bytes)
		problem(&check->walk, "%llu records of %llu bytes, not %llu of %llu",
			(unsigned long long)check->records, (unsigned long long)check->bytes,
			(unsigned long long)t->records, (unsigned long long)t->record_bytes);
}

/*
 * Pages in memory are as good as they were when they were read: look at those in the file. One that
 * has got a new place since the last sync may not have come there.
 */
static void check_file(struct walk *walk)
{
	struct chainhash *t = walk->table;

	for (u64 i = 0; i < t->store.level[0].count; i++) {
		if (!store_has_page(&t->store, i) || bit_test(&t->store.level[0].fresh, i))
			continue;
		if (store_read_page(t, i, walk->page))
			problem(walk, "page %llu has the wrong checksum or cannot be read",
				(unsigned long long)i);
	}
}

int64_t chainhash_verify(struct chainhash *t, chainhash_report *report,
			 void (*progress)(void *context, uint64_t done, uint64_t all),
			 void *context)
{
	struct check check = {.walk = {.table = t, .report = report, .context = context}};
	struct walk *walk = &check.walk;

	walk_begin(walk);
	/* Pages that were right when they were looked at first may have been damaged since. */
	if (t->map.bytes)
		memset(t->map.checked, 0, t->store.end);
	for (u64 i = 0; t->map.bytes && i < t->page_count; i++)
		if (t->pages[i]) /* what was not touched stays so */
			t->pages[i] = NULL;
	if (!walk->error && t->kind == IN_POOL && t->checksums)
		check_file(walk);
	for (u32 bucket = 0; !walk->error && bucket <= t->max_bucket; bucket++) {
		walk_bucket(walk, bucket, check_view);
		if (progress && bucket % 1024 == 0)
			progress(context, bucket, (u64)t->max_bucket + 1);
	}
	if (!walk->error)
		check_account(&check);
	walk_end(walk);
	return walk->error ? walk->error : walk->problems;
}
