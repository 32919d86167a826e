/*
 * verify.c - what a table is like, and whether it is as it should be.
 */
#include "buckets/hash.h"
#include "buckets/overflow.h"
#include "store/pool.h"
#include "records.h"
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void chainhash_status(const struct chainhash *t, struct chainhash_status *status)
{
	u64 end = t->map.bytes ? t->map.end : t->store.end;

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
		.file_bytes = t->on_disk ? end << t->page_shift : 0,
		.page_reads = t->store.reads,
		.page_writes = t->store.writes,
	};
	memcpy(status->hash, t->hash_name, sizeof(status->hash));
}

/* The next view of a chain: 1, @view is it; 0, there is none; or an error. */
static int chain_next(struct chainhash *t, struct view *view, u64 *left)
{
	int error;

	if (!view_next(view->base))
		return 0;
	if (!(*left)--)
		return -EBADMSG;
	error = chunk_get(t, view_next(view->base), view);
	return error ? error : 1;
}

static int chain_first(struct chainhash *t, u32 bucket, struct view *view, u64 *left)
{
	int error = 0;

	if (!t->map.bytes)
		t->operation++;
	*left = (u64)overflow_count(t) * t->slots;
	*view = (struct view){.size = t->page_size, .logical = primary_page(t, bucket)};
	view->base = page_get(t, view->logical, &error);
	return view->base ? 1 : error;
}

/* Count one view of a chain: how many of its records have pages of their own. */
static u32 view_big(const struct view *view)
{
	u32 count = view_count(view->base), big = 0;

	for (u32 i = 0; i < count; i++) {
		struct item item;

		big += item_read(view->base, view->size, i, &item) && !item.key;
	}
	return big;
}

int chainhash_histogram(struct chainhash *t, struct chainhash_histogram *found)
{
	enum { LAST = sizeof(found->counts) / sizeof(found->counts[0]) - 1 };

	memset(found, 0, sizeof(*found));
	for (u32 bucket = 0; bucket <= t->max_bucket; bucket++) {
		struct view view;
		u64 records = 0, chunks = 0, left;
		int next = chain_first(t, bucket, &view, &left);

		for (; next > 0; next = chain_next(t, &view, &left)) {
			if (!view_sound(view.base, view.size))
				return -EBADMSG;
			records += view_count(view.base);
			found->big += view_big(&view);
			found->page_bytes += view.size;
			if (!view.address)
				continue;
			chunks++;
			found->overflow_records += view_count(view.base);
		}
		if (next < 0)
			return next;
		found->chunks += chunks;
		found->chained += chunks != 0;
		found->counts[records < LAST ? records : LAST]++;
		if (records > found->largest)
			found->largest = records;
	}
	return 0;
}

/* A check that goes on. */
struct check {
	struct chainhash *table;
	chainhash_report *report;
	void *context;
	int64_t problems;
	u8 *reached; /* slots of overflow pages, by ordinal */
	u64 records, bytes;
};

__attribute__((__format__(__printf__, 2, 3))) static void problem(struct check *check,
								  const char *format, ...)
{
	char text[200];
	va_list arguments;

	check->problems++;
	if (!check->report)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	check->report(check->context, text);
}

/* Note that a chunk is in use by one chain. */
static void reach(struct check *check, const struct view *chunk, u32 bucket)
{
	u32 ordinal = overflow_ordinal(check->table, chunk->address);
	u8 slots = (u8)(((1u << view_slots(chunk->base)) - 1) << (chunk->address & 7));

	if (check->reached[ordinal] & slots)
		problem(check, "bucket %u: chunk 0x%x is in two chains", (unsigned)bucket,
			(unsigned)chunk->address);
	check->reached[ordinal] |= slots;
}

static void check_big(struct check *check, u32 bucket, const struct item *item)
{
	struct chainhash *t = check->table;
	u64 left = (u64)item->key_size + item->data_size;
	u32 address = item->address;

	while (left) {
		struct view chunk;
		u32 part;

		if (chunk_get(t, address, &chunk)) {
			problem(check, "bucket %u: %llu bytes of a large record are lost",
				(unsigned)bucket, (unsigned long long)left);
			return;
		}
		reach(check, &chunk, bucket);
		part = chunk.size - PAGE_HEAD;
		left -= left < part ? left : part;
		address = view_next(chunk.base);
	}
	if (address)
		problem(check, "bucket %u: a large record is longer than it says",
			(unsigned)bucket);
}

/* Does a lookup of the record find this very one? */
static void check_record(struct check *check, u32 bucket, const struct view *view, u32 index,
			 const struct item *item)
{
	struct chainhash *t = check->table;
	struct chainhash_item key = {item->key, item->key_size};
	u32 hash = item->key ? hash_key(t, item->key, item->key_size) : item->hash;
	u64 spread = hash_spread(hash);
	struct lookup lookup;
	int found;

	if (hash_bucket(t, spread) != bucket) {
		problem(check, "bucket %u: a record belongs to bucket %u", (unsigned)bucket,
			(unsigned)hash_bucket(t, spread));
		return;
	}
	if (*tag_at(view->base, index) != hash_tag(spread)) {
		problem(check, "bucket %u: a record has the wrong tag", (unsigned)bucket);
		return;
	}
	if (!item->key)
		return;
	found = record_find(t, &lookup, key);
	if (found < 0)
		problem(check, "bucket %u: a record cannot be looked up", (unsigned)bucket);
	else if (!found || lookup.index != index || lookup.view.address != view->address)
		problem(check, "bucket %u: a key is there twice", (unsigned)bucket);
}

static void check_view(struct check *check, u32 bucket, const struct view *view)
{
	u32 count = view_count(view->base), used = 0;

	for (u32 i = 0; i < count; i++) {
		struct item item;

		if (!item_read(view->base, view->size, i, &item)) {
			problem(check, "bucket %u: record %u is not on its page", (unsigned)bucket,
				(unsigned)i);
			continue;
		}
		used += item.size;
		check->records++;
		check->bytes += item.size + 3;
		check_record(check, bucket, view, i, &item);
	}
	if (used != view_used(view->base))
		problem(check, "bucket %u: its records have %u bytes, not %u", (unsigned)bucket,
			(unsigned)used, (unsigned)view_used(view->base));
}

/* Large records are checked when all else of the bucket is: they let go of pages. */
static void check_big_records(struct check *check, u32 bucket)
{
	struct view view;
	u64 left;
	int next = chain_first(check->table, bucket, &view, &left);

	for (; next > 0; next = chain_next(check->table, &view, &left))
		for (u32 i = 0; view_sound(view.base, view.size) && i < view_count(view.base);
		     i++) {
			struct item item;

			if (item_read(view.base, view.size, i, &item) && !item.key)
				check_big(check, bucket, &item);
		}
}

static void check_bucket(struct check *check, u32 bucket)
{
	struct view view;
	u64 left;
	int next = chain_first(check->table, bucket, &view, &left);

	for (; next > 0; next = chain_next(check->table, &view, &left)) {
		if (!view_sound(view.base, view.size)) {
			problem(check, "bucket %u: a page's head is wrong", (unsigned)bucket);
			return;
		}
		if (view.address)
			reach(check, &view, bucket);
		check_view(check, bucket, &view);
	}
	if (next < 0)
		problem(check, "bucket %u: a page of its chain cannot be read (%s)",
			(unsigned)bucket, strerror(-next));
	else
		check_big_records(check, bucket);
}

static void check_account(struct check *check)
{
	const struct chainhash *t = check->table;

	for (u32 i = 0; i < overflow_count(t); i++) {
		u8 used = t->slots_used[i] & (u8)((1u << t->slots) - 1);

		if (i % t->page_size == 0)
			continue;
		if (check->reached[i] & ~used)
			problem(check, "overflow page %u: slots 0x%x are in use and counted free",
				(unsigned)i, (unsigned)(check->reached[i] & ~used));
		if (used & ~check->reached[i])
			problem(check, "overflow page %u: slots 0x%x are counted and nobody's",
				(unsigned)i, (unsigned)(used & ~check->reached[i]));
	}
	if (check->records != t->records)
		problem(check, "%llu records, not %llu", (unsigned long long)check->records,
			(unsigned long long)t->records);
	else if (check->bytes != t->record_bytes)
		problem(check, "records have %llu bytes, not %llu",
			(unsigned long long)check->bytes, (unsigned long long)t->record_bytes);
}

/* Pages in memory are as good as they were when they were read: look at those in the file. */
static void check_file(struct check *check)
{
	struct chainhash *t = check->table;
	u8 *page = malloc(t->page_size);

	for (u64 i = 0; page && i < t->store.level[0].count; i++) {
		if (!store_has_page(&t->store, i) || bit_test(&t->pool.changed, i))
			continue;
		if (store_read_page(t, i, page))
			problem(check, "page %llu has the wrong checksum or cannot be read",
				(unsigned long long)i);
	}
	free(page);
}

int64_t chainhash_verify(struct chainhash *t, chainhash_report *report,
			 void (*progress)(void *context, uint64_t done, uint64_t all),
			 void *context)
{
	struct check check = {.table = t, .report = report, .context = context};
	int error = t->slots_used || !overflow_count(t) ? 0 : overflow_load(t);

	if (error)
		return error;
	check.reached = calloc((size_t)overflow_count(t) + 1, 1);
	if (!check.reached)
		return -ENOMEM;
	if (t->on_disk && !t->map.bytes && t->checksums)
		check_file(&check);
	for (u32 bucket = 0; bucket <= t->max_bucket; bucket++) {
		check_bucket(&check, bucket);
		if (progress && bucket % 1024 == 0)
			progress(context, bucket, (u64)t->max_bucket + 1);
	}
	check_account(&check);
	free(check.reached);
	return check.problems;
}
