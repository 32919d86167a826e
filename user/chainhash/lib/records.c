/*
 * records.c - get, put and delete.
 *
 * A put comes in this order, so that an error leaves the table as it was: the lookup; the split
 * that is due; the chunks of a record that fits on no page; the place; and only then bytes of the
 * table.
 */
#include "buckets/big.h"
#include "buckets/hash.h"
#include "records.h"
#include "buckets/split.h"

/*
 * Compare keys that are mostly short: without a call, and with few branches that depend on the
 * size, since a processor guesses those wrong.
 */
static inline bool bytes_equal(const u8 *a, const u8 *b, size_t size)
{
	u64 differ = 0;

	if (size >= 8) {
		for (size_t i = 0; i < size - 8; i += 8)
			differ |= load64(a + i) ^ load64(b + i);
		return !(differ | (load64(a + size - 8) ^ load64(b + size - 8)));
	}
	if (size >= 4)
		return load32(a) == load32(b) && load32(a + size - 4) == load32(b + size - 4);
	for (size_t i = 0; i < size; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

/*
 * Look for the key on one view: 1, its index and item are in @lookup; 0, it is not there; or an
 * error.
 */
static inline int view_find(struct chainhash *t, const u8 *base, u32 size, struct lookup *lookup,
			    struct chainhash_item key)
{
	u32 count = view_count(base);
	const u8 *tags = base + PAGE_HEAD;

	for (u32 first = 0; first < count; first += 8, tags += GROUP) {
		u32 match = tags_matching(tags, lookup->tag);

		for (; match; match &= match - 1) {
			u32 index = first + (u32)__builtin_ctz(match);

			if (index >= count)
				break;
			if (unlikely(!item_read(base, size, index, &lookup->item)))
				return -EBADMSG;
			lookup->index = index;
			if (likely(lookup->item.key != NULL)) {
				if (lookup->item.key_size == key.size &&
				    bytes_equal(lookup->item.key, key.bytes, key.size))
					return 1;
			} else if (lookup->item.hash == lookup->hash) {
				int equal = big_equal(t, &lookup->item, key);

				if (equal)
					return equal;
			}
		}
	}
	return 0;
}

/* record_find() on the way of a get and a put, without a call. */
static inline_always int find(struct chainhash *t, struct lookup *lookup, struct chainhash_item key)
{
	struct chain *chain = &lookup->chain;
	u32 place;
	int found, next;

	lookup->hash = hash_key(t, key.bytes, key.size);
	place = hash_place(lookup->hash);
	lookup->bucket = hash_bucket(t, place);
	lookup->tag = hash_tag(t, lookup->bucket, place);
	for (next = chain_first(t, lookup->bucket, chain); next > 0; next = chain_next(t, chain)) {
		found = view_find(t, chain->view.base, chain->view.size, lookup, key);
		if (found)
			return found;
	}
	return next;
}

int record_find(struct chainhash *t, struct lookup *lookup, struct chainhash_item key)
{
	return find(t, lookup, key);
}

static inline bool lies_in(const u8 *bytes, const u8 *begin, u64 size)
{
	return (uintptr_t)bytes - (uintptr_t)begin < size;
}

/* Does the caller give us bytes that we have given him, and that may leave their place? */
static inline bool ours(const struct chainhash *t, struct chainhash_item item)
{
	return lies_in(item.bytes, t->pool.lowest, (u64)(t->pool.highest - t->pool.lowest)) ||
	       lies_in(item.bytes, t->big, t->big_room);
}

static inline int copy_ours(struct chainhash *t, struct chainhash_item *key,
			    struct chainhash_item *data)
{
	if (likely(!ours(t, *key) && !ours(t, *data)))
		return 0;
	if (reserve(&t->copy, &t->copy_room, (u64)key->size + data->size + 1, 1))
		return -ENOMEM;
	copy_bytes(t->copy, key->bytes, key->size);
	copy_bytes(t->copy + key->size, data->bytes, data->size);
	key->bytes = t->copy;
	data->bytes = t->copy + key->size;
	return 0;
}

int chainhash_get(struct chainhash *t, struct chainhash_item key, struct chainhash_item *data)
{
	struct chainhash_item none = {NULL, 0};
	struct lookup lookup;
	int found = copy_ours(t, &key, &none);

	if (unlikely(found))
		return found;
	operation_begin(t, false);
	found = find(t, &lookup, key);
	if (unlikely(found <= 0))
		return found ? found : -ENOENT;
	if (unlikely(!lookup.item.key)) {
		found = big_read(t, &lookup.item);
		if (found)
			return found;
	}
	*data = (struct chainhash_item){lookup.item.data, lookup.item.data_size};
	return 0;
}

/* Make a view of one that was looked at writable. */
static inline int view_change(struct chainhash *t, struct view *view)
{
	int error = 0;

	if (view->address)
		return chunk_at(t, view->address, view, true);
	view->base = page_change(t, view->logical, &error);
	return error;
}

/* What is to be stored: an item, or the place of a record in pages of its own. */
struct record {
	struct chainhash_item key, data;
	u32 size; /* of the item */
	u32 address;
	bool big;
};

static inline void item_write(u8 *p, const struct record *record, u32 hash)
{
	if (record->big) {
		*p = STUB;
		store32(p + 1, (u32)record->key.size);
		store32(p + 5, (u32)record->data.size);
		store32(p + 9, hash);
		store32(p + 13, record->address);
		return;
	}
	if (unlikely(record->key.size >= 0x80))
		*p++ = (u8)(0x80 | record->key.size >> 8);
	*p++ = (u8)record->key.size;
	copy_bytes(p, record->key.bytes, record->key.size);
	copy_bytes(p + record->key.size, record->data.bytes, record->data.size);
}

/*
 * Find a view with room for @size bytes in the bucket that was looked through, or make one: the
 * chain's last chunk grows, or gets a follower. @view is then writable.
 */
static int find_room(struct chainhash *t, const struct lookup *lookup, u32 size, struct view *view)
{
	struct chain chain = lookup->chain;
	bool full = !chain.next && chain.number == 1 &&
		    view_room(chain.before.base, chain.before.size) < (int)size;
	int error, next = 1;

	/* Of a chain of one chunk, which most are, both views are at hand. */
	if (!full)
		next = chain_first(t, lookup->bucket, &chain);
	while (next > 0 && view_room(chain.view.base, chain.view.size) < (int)size && chain.next)
		next = chain_next(t, &chain);
	if (next < 0)
		return next;
	*view = chain.view;
	error = view_change(t, view);
	if (error || view_room(view->base, view->size) >= (int)size)
		return error;
	if (view->address)
		error = view_change(t, &chain.before);
	return error ? error : chain_extend(t, &chain.before, view, size);
}

/* A record came (@by is 1) or went (-1): its item has @size bytes. */
static void count(struct chainhash *t, int by, u32 size)
{
	t->records += (u64)by;
	t->record_bytes += (u64)by * (size + INDEX_BYTES);
	t->changed = true;
}

static inline_always int insert(struct chainhash *t, const struct lookup *lookup,
				const struct record *record)
{
	struct view view = lookup->chain.view;
	int error;

	/* The usual case, in which the bucket has but its primary page, with room on it. */
	if (likely(!view.address && !lookup->chain.next &&
		   view_room(view.base, view.size) >= (int)record->size))
		error = view_change(t, &view);
	else
		error = find_room(t, lookup, record->size, &view);
	if (error)
		return error;
	item_write(view_append(view.base, view.size, lookup->tag, record->size), record,
		   lookup->hash);
	count(t, 1, record->size);
	return 0;
}

/* Put @record in the place of the one that was found. */
static int replace(struct chainhash *t, struct lookup *lookup, const struct record *record)
{
	struct view *view = &lookup->chain.view;
	u32 size = lookup->item.size;
	int error = view_change(t, view);
	u8 *item, *saved;

	if (!error && reserve(&t->scratch, &t->scratch_room, size, 1))
		error = -ENOMEM;
	if (error)
		return error;
	item = view->base + view->size - load16(depth_at(view->base, lookup->index));
	if (size == record->size) {
		item_write(item, record, lookup->hash);
		t->changed = true;
		return 0;
	}
	saved = memcpy(t->scratch, item, size);
	view_remove(view->base, view->size, lookup->index, size);
	count(t, -1, size);
	error = insert(t, lookup, record);
	if (error) {
		memcpy(view_append(view->base, view->size, lookup->tag, size), saved, size);
		count(t, 1, size);
	}
	return error;
}

/* May the handle be used for a change? */
static int may_change(const struct chainhash *t)
{
	if (t->read_only)
		return -EROFS;
	return t->store.failed ? -EIO : 0;
}

/*
 * Look for a record that is to go or to be replaced: as record_find(), and @read has its chunks, if
 * it has any, so that they can be given back when nothing may fail any more.
 */
static inline_always int find_old(struct chainhash *t, struct lookup *lookup,
				  struct chainhash_item key)
{
	int found = find(t, lookup, key), error;

	t->read.count = 0;
	if (likely(found <= 0 || lookup->item.key))
		return found;
	error = big_read(t, &lookup->item);
	/* Pages may have left memory meanwhile. */
	t->operation++;
	return error ? error : record_find(t, lookup, key);
}

/*
 * Split if that is due, write a record's own pages, if it is to have any, and put it in its place.
 * For a record that is replaced by one that is no larger nothing is split: a scan that has it at
 * hand would lose its place.
 */
static int store_record(struct chainhash *t, struct record *record, int how)
{
	struct lookup lookup;
	int found = find_old(t, &lookup, record->key), error = 0;
	bool again = record->big;

	t->written.count = 0;
	if (found > 0 && how == CHAINHASH_INSERT)
		return -EEXIST;
	if (found < 0)
		return found;
	if (unlikely((!found || record->size > lookup.item.size) &&
		     split_wanted(t, record->size + INDEX_BYTES))) {
		error = split(t);
		t->operation++;
		t->changed = again = true;
	}
	if (unlikely(record->big) && !error)
		error = big_write(t, record->key, record->data, &record->address);
	if (unlikely(again) && !error) {
		t->operation++;
		found = record_find(t, &lookup, record->key);
		error = found < 0 ? found : 0;
	}
	if (!error)
		error = found ? replace(t, &lookup, record) : insert(t, &lookup, record);
	if (unlikely(t->written.count | t->read.count))
		big_give(t, error ? &t->written : &t->read);
	return error;
}

int chainhash_put(struct chainhash *t, struct chainhash_item key, struct chainhash_item data,
		  int how)
{
	struct record record = {.key = key, .data = data};
	int error = may_change(t);

	if (error)
		return error;
	if (key.size > RECORD_SIZE_MOST || data.size > RECORD_SIZE_MOST - key.size)
		return -EMSGSIZE;
	error = copy_ours(t, &record.key, &record.data);
	if (error)
		return error;
	record.big = key.size >= KEY_SIZE_INLINE ||
		     item_size(key.size, data.size) > t->page_size - index_size(1);
	record.size = record.big ? STUB_SIZE : (u32)item_size(key.size, data.size);
	operation_begin(t, true);
	return store_record(t, &record, how);
}

/* Take chunks without records off the chain's end. All of it that matters is in memory. */
static void trim(struct chainhash *t, struct lookup *lookup)
{
	struct view *view = &lookup->chain.view;

	if (!view->address || view_count(view->base) || view_next(view->base) ||
	    view_change(t, &lookup->chain.before))
		return;
	store32(lookup->chain.before.base + 4, 0);
	overflow_give(t, view->address, view_slots(view->base));
}

int chainhash_delete(struct chainhash *t, struct chainhash_item key)
{
	struct chainhash_item none = {NULL, 0};
	struct lookup lookup;
	int error = may_change(t), found;

	if (!error)
		error = copy_ours(t, &key, &none);
	if (error)
		return error;
	operation_begin(t, true);
	found = find_old(t, &lookup, key);
	if (found <= 0)
		return found ? found : -ENOENT;
	error = view_change(t, &lookup.chain.view);
	if (error)
		return error;
	view_remove(lookup.chain.view.base, lookup.chain.view.size, lookup.index, lookup.item.size);
	count(t, -1, lookup.item.size);
	trim(t, &lookup);
	big_give(t, &t->read);
	return 0;
}
