/*
 * scan.c - all records, bucket after bucket.
 *
 * A cursor is { bucket | view of the chain << 32, records of the view that are left + 1 }. On a
 * view it goes from the last record to the first: where a record is deleted those behind it
 * move up, which the scan has met already.
 */
#include "buckets/big.h"

/*
 * Go to the view that has the next record: number *@number or one behind it. @left counts those
 * of it that are to come, one at least. 0: there is none in this bucket.
 */
static int bucket_next(struct chainhash *t, u32 bucket, u32 *number, u64 *left, struct chain *chain)
{
	int next = chain_first(t, bucket, chain);

	for (; next > 0; next = chain_next(t, chain)) {
		u64 all = (u64)view_count(chain->view.base) + 1;

		if (chain->number < *number)
			continue;
		/* At @left 0 the view is new; it may have lost records since it was looked at. */
		if (chain->number > *number || !*left || *left > all)
			*left = all;
		*number = chain->number;
		if (--*left)
			return 1;
	}
	return next;
}

int chainhash_scan(struct chainhash *t, struct chainhash_cursor *cursor, struct chainhash_item *key,
		   struct chainhash_item *data)
{
	u32 bucket = (u32)cursor->at[0], number = (u32)(cursor->at[0] >> 32);
	u64 left = cursor->at[1];
	struct item item;
	struct chain chain;
	int next = 0, error;

	operation_begin(t, false);
	for (; bucket <= t->max_bucket; bucket++, number = 0, left = 0) {
		next = bucket_next(t, bucket, &number, &left, &chain);
		if (next)
			break;
	}
	if (next < 0)
		return next;
	cursor->at[0] = bucket | (u64)number << 32;
	cursor->at[1] = left;
	if (!next)
		return -ENOENT;
	if (!item_read(chain.view.base, chain.view.size, (u32)left - 1, &item))
		return -EBADMSG;
	if (unlikely(!item.key)) {
		error = big_read(t, &item);
		if (error)
			return error;
	}
	if (key)
		*key = (struct chainhash_item){item.key, item.key_size};
	if (data)
		*data = (struct chainhash_item){item.data, item.data_size};
	return 0;
}
