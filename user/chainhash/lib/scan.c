/*
 * scan.c - all records, bucket after bucket.
 *
 * A cursor is { bucket | view of the chain << 32, records of the view that are left + 1 }. On a
 * view it goes from the last record to the first: what deletes a record puts the last one in its
 * place, which the scan has met already.
 */
#include "buckets/big.h"
#include "buckets/overflow.h"
#include "store/pool.h"

/* View @number of a bucket's chain: -ENOENT if it is shorter. */
static int view_at(struct chainhash *t, u32 bucket, u32 number, struct view *view)
{
	int error = 0;

	*view = (struct view){.size = t->page_size, .logical = primary_page(t, bucket)};
	view->base = page_get(t, view->logical, &error);
	if (!view->base)
		return error;
	while (number-- && !error) {
		if (!view_next(view->base))
			return -ENOENT;
		error = chunk_get(t, view_next(view->base), view);
	}
	if (!error && !view_sound(view->base, view->size))
		error = -EBADMSG;
	return error;
}

/*
 * Go to the view that has the next record: @left counts those of it that are to come, one at least.
 * -ENOENT: there is none in this bucket.
 */
static int bucket_next(struct chainhash *t, u32 bucket, u32 *number, u64 *left, struct view *view)
{
	int error = view_at(t, bucket, *number, view);

	while (!error) {
		u32 count = view_count(view->base);

		/* At @left 0 the view is new; it may have lost records since it was looked at. */
		if (!*left || *left > (u64)count + 1)
			*left = (u64)count + 1;
		if (--*left)
			return 0;
		if (!view_next(view->base))
			return -ENOENT;
		if (*number > (u64)overflow_count(t) * t->slots)
			return -EBADMSG;
		++*number;
		error = chunk_get(t, view_next(view->base), view);
		if (!error && !view_sound(view->base, view->size))
			error = -EBADMSG;
	}
	return error;
}

int chainhash_scan(struct chainhash *t, struct chainhash_cursor *cursor, struct chainhash_item *key,
		   struct chainhash_item *data)
{
	u32 bucket = (u32)cursor->at[0], number = (u32)(cursor->at[0] >> 32);
	u64 left = cursor->at[1];
	struct item item;
	struct view view;
	int error = -ENOENT;

	if (!t->map.bytes) {
		t->operation++;
		t->changing = false;
	}
	for (; bucket <= t->max_bucket; bucket++, number = 0, left = 0) {
		error = bucket_next(t, bucket, &number, &left, &view);
		if (error != -ENOENT)
			break;
	}
	if (error && error != -ENOENT)
		return error;
	cursor->at[0] = bucket | (u64)number << 32;
	cursor->at[1] = left;
	if (error)
		return error;
	if (!item_read(view.base, view.size, (u32)left - 1, &item))
		return -EBADMSG;
	if (unlikely(!item.key)) {
		error = big_read(t, &item);
		if (error)
			return error;
		item.key = t->big;
		item.data = t->big + item.key_size;
	}
	if (key)
		*key = (struct chainhash_item){item.key, item.key_size};
	if (data)
		*data = (struct chainhash_item){item.data, item.data_size};
	return 0;
}
